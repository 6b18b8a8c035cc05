"""Keep views side by side: each a page with the parameters of its address, and what a person says of it.

The collection is a text of an address itself: JSON, compressed, in the characters of addresses. All of it is hostile
until it is read: a text that is no collection is an empty one.
"""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viz.selection import moved
from viz.selection.fields import MAX_TEXT_IN_URL
from viz.selection.pages import PAGES, SECTIONS, Section
from viz.selection.selection import FIELDS, Selection
from viz.selection.url import parse, to_params

MAX_PINS: Final = 12
MAX_CAPTION: Final = 200
#: Characters of all pins before they are compressed.
MAX_JSON: Final = 40_000
_SHARED: Final = frozenset({"model", "common"})
#: Ways to look at a page, no part of the view; and the collection itself.
_LEFT_OUT: Final = frozenset({"presented", "screen", "story", "language", "pins", "picture_format", "picture_paper"})

#: Names of pages in older collections → their addresses then.
_OLD_SECTIONS: Final = {"masks_positions": "masks", "why_attention": "why", "decoding": "decode"}


@dataclass(frozen=True, slots=True)
class Pin:
    """A view that is kept."""

    page: Section  #: which
    params: tuple[tuple[str, str], ...]  #: the parameters of its address that say what is seen
    caption: str = ""  #: what a person says of it

    @property
    def selection(self) -> Selection:
        """What is chosen in the view; what is wrong or missing is the default."""
        return parse(dict(self.params), Selection())


def pin_of(selection: Selection, page: Section, always: Mapping[str, str]) -> Pin:
    """The view of a page. `always`: parameters that are named though they are as usual."""
    shown = {field.param for name, field in FIELDS.items() if _is_seen(name, field.section, page)}
    params = dict(always) | {name: value for name, value in to_params(selection).items() if name in shown}
    return Pin(page, tuple(sorted(params.items())))


def encode(pins: Sequence[Pin]) -> str:
    """The collection as a text of an address; "" for none."""
    if not pins:
        return ""
    views = [[pin.page, dict(pin.params), pin.caption] for pin in pins]
    text = json.dumps(views, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii").rstrip("=")


def fits(pins: Sequence[Pin]) -> bool:
    """Whether an address can carry so many, and so long ones."""
    return len(pins) <= MAX_PINS and len(encode(pins)) <= MAX_TEXT_IN_URL


def decode(code: str) -> tuple[Pin, ...]:
    """The collection behind a text of an address, without what is no view; nothing if it is none."""
    try:
        inflating = zlib.decompressobj()
        text = inflating.decompress(base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)), MAX_JSON)
        views = json.loads(text)
        # JSON can spell half of a surrogate pair, which no address can carry.
        json.dumps(views, ensure_ascii=False).encode("utf-8")
    except (ValueError, zlib.error, RecursionError):
        return ()
    if not isinstance(views, list):
        return ()
    return tuple(pin for view in views[:MAX_PINS] if (pin := _read(view)) is not None)


def _read(view: object) -> Pin | None:
    if not (isinstance(view, list) and len(view) == 3):
        return None
    name, params, caption = view
    if not isinstance(name, str) or not isinstance(params, dict) or not isinstance(caption, str):
        return None
    texts = {key: value for key, value in params.items() if isinstance(value, str)}
    address, now = moved.moved(_OLD_SECTIONS.get(name, ""), texts) or ("", {})
    page = SECTIONS[address] if address else next((section for section in PAGES if section == name), None)
    if page is None:
        return None
    shown = {field.param for name, field in FIELDS.items() if _is_seen(name, field.section, page)}
    read = moved.with_head({key: value for key, value in moved.renamed({**texts, **now}).items() if key in shown})
    return Pin(page, tuple(sorted(read.items())), caption[:MAX_CAPTION])


def _is_seen(name: str, section: str, page: str) -> bool:
    return FIELDS[name].in_address and name not in _LEFT_OUT and (section in _SHARED or section == page)

"""Read a selection from the parameters of an address, write it into them, and keep such addresses side by side.

All that comes in an address is hostile until it is read: what is missing or wrong becomes the default. How a value is
read and written follows from the type of its field. Old addresses still open what they meant. A head is "L5H2" in an
address, as pages name it; older ones have its layer and head, counted from 0.

A collection of kept views is a text of an address itself: JSON, compressed, in the characters of addresses. A text that
is no collection is an empty one.
"""

import base64
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from viz.selection.fields import MAX_TEXT_IN_URL, Field
from viz.selection.selection import FIELDS, PAGES, SECTIONS, Section, Selection
from viz.text.messages import _

#: A parameter, and its old value → the parameters that it has now; what the address says itself goes before these.
_RENAMED: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("learn", "Follow one token"): {"learn": "The Transformer", "depth": "layer"},
    ("learn", "Collection"): {"collection": "True"},
    ("claim", "Live switches"): {"switches": "True"},
    ("transformer", "One token"): {"depth": "layer"},
    ("transformer", "Whole model"): {},
    ("view", "Take it with you"): {},
    ("view", "QK and OV"): {"view": "Why"},
    ("view", "bertviz"): {},
    ("studio", "Take it with you"): {},
    ("studio", "Branches"): {},
    ("studio", "Beam search"): {"search": "Beam search"},
    ("studio", "Sampling"): {"search": "Sampling"},
    ("studio", "Logit lens"): {"studio": "Inside"},
    ("studio", "Attribution"): {"studio": "Inside", "inside": "Attribution"},
    ("about", "Architecture"): {"about": "Overview"},
    ("about", "Vocabulary"): {"about": "Overview"},
    ("about", "Training data"): {"about": "Data and training"},
    ("about", "Curves"): {"about": "Data and training"},
    ("about", "Translations"): {"about": "Scores"},
    ("atlas", "Layer × head"): {},
    ("atlas", "Maps"): {},
    ("atlas", "Table"): {"table": "True"},
    ("atlas", "Map of heads"): {"atlas": "Scatter"},
}

#: Topic of Explore → the lesson and the step, counted from 1, at which it is at home.
EXPLORED: Final[Mapping[str, tuple[str, int]]] = {
    "pooling": ("look-up", 6),
    "scores": ("scaled-dot-product", 7),
    "masks": ("three-attentions", 1),
    "positions": ("positions", 3),
    "table_one": ("why-attention", 2),
    "forcing": ("loss", 1),
    "smoothing": ("loss", 3),
    "schedule": ("training", 4),
    "cost": ("decoding", 1),
}


def _explored(topic: str) -> tuple[str, Mapping[str, str]]:
    lesson, step = EXPLORED[topic]
    return "learn", {"learn": "Lessons", "lesson": lesson, "step_of_lesson": str(step), "explore": "1"}


#: Tabs that the page of experiments had → the topic of Explore.
_CLAIMS: Final = {
    "Scores": "scores", "Positions": "positions", "Masks": "masks", "Pooling": "pooling", "Table 1": "table_one",
}  # fmt: skip
#: The old address of a page, a parameter there and its value ("" where it is absent) → the address of the page, and
#: the parameters that it has now.
_MOVED: Final[Mapping[tuple[str, str, str], tuple[str, Mapping[str, str]]]] = {
    ("masks", "part", ""): _explored("masks"),
    ("masks", "part", "Masks"): _explored("masks"),
    ("masks", "part", "Positional encodings"): _explored("positions"),
    **{
        (old, "claim", claim): _explored(topic)
        for old in ("experiments", "paper", "why")
        for claim, topic in _CLAIMS.items()
    },
    # Without a name it was the first tab.
    ("why", "claim", ""): _explored("scores"),
    ("paper", "claim", ""): _explored("scores"),
    ("why", "", ""): ("experiments", {}),
    ("paper", "", ""): ("experiments", {}),
    ("decode", "studio", "Cost"): _explored("cost"),
    ("decode", "studio", "Edit attention"): ("compare", {"lab": "Cause"}),
    ("", "view", "Where a weight comes from"): ("learn", {"learn": "The Transformer", "depth": "head"}),
}
#: Tabs that are gone, as links for a class name them, and those that have what they showed.
_TABS_SHOWN: Final = {
    "attention-qk-and-ov": "attention-why", "attention-bertviz": "attention-all-heads",
    "atlas-maps": "atlas-heads", "atlas-table": "atlas-heads", "atlas-map-of-heads": "atlas-scatter",
    "paper-ablations": "experiments-ablations", "paper-live-switches": "experiments-ablations",
    "paper-through-training": "experiments-through-training",
    **dict.fromkeys(
        (
            "decode-cost", "learn-training", "learn-collection", "paper-scores", "paper-positions", "paper-masks",
            "paper-pooling", "paper-table-1",
        ),
        "learn-lessons",
    ),
}  # fmt: skip
#: What the tab Training showed → the topic of Explore.
_TRAINING: Final = {"": "smoothing", "Warm-up": "schedule", "Teacher forcing": "forcing"}
_HEAD: Final = re.compile(r"L([1-9]\d{0,4})H([1-9]\d{0,4})")
#: Addresses that pages had.
OLD_ADDRESSES: Final = ("masks", "why", "paper")
#: Parameters that older addresses have: those that `renamed` and `moved` read, and those of which nothing is left.
_OLD: Final = frozenset({name for name, _value in _RENAMED} | {name for _page, name, _value in _MOVED}) | {
    "asked", "attention", "dimensions", "equals", "explain", "folder", "follow", "follow_token", "minus", "pairs",
    "picture", "plus", "stage", "training", "whose", "with",
}  # fmt: skip
#: Parameters that other software puts into any link, and those of Streamlit.
_FOREIGN: Final = re.compile(r"_.*|utm_.*|(fb|g|d|y)clid|msclkid|isappinstalled|embed(_options)?", re.DOTALL)


def renamed(params: Mapping[str, str]) -> dict[str, str]:
    """The parameters of an address as fields name them: today's names for old tabs, layer and head from 0."""
    now = dict(params)
    if (head := _HEAD.fullmatch(params.get("head", ""))) is not None:
        now |= {name: str(int(number) - 1) for name, number in zip(("layer", "head"), head.groups(), strict=True)}
    for (name, value), new in _RENAMED.items():
        if params.get(name) == value:
            del now[name]
            now = {**new, **now}
    if params.get("view") == "bertviz":
        # Its tab was open however the head was drawn in the other one.
        now["drawn"] = "bertviz"
    if "only" in now:
        now["only"] = ".".join(_TABS_SHOWN.get(code, code) for code in now["only"].split("."))
    return _asked(_followed(now))


def _asked(params: Mapping[str, str]) -> dict[str, str]:
    """The pair whose cause was asked for by a parameter of its own; "own" was a person's own texts."""
    now = dict(params)
    asked = now.pop("asked", "")
    # A translator to German, the first of the list, never read it.
    if asked and now.get("lab") == "Cause" and ("checkpoint" in now or "pair" not in now):
        now.pop("pair", None)
        now |= {} if asked == "own" else {"pair": asked}
    return now


def _followed(params: Mapping[str, str]) -> dict[str, str]:
    """A token that was followed through the layers, as the picture of the Transformer has it."""
    now = dict(params)
    stack, token, stage = (now.pop(name, "") for name in ("follow", "follow_token", "stage"))
    if stack in ("encoder", "decoder"):
        now = {"site": f"{stack}.self", **now}
    if token:
        now = {"token": token, **now}
    if stage == "0":
        now = {"end": "input", **now}
    elif stage.isdecimal():
        now = {"layer": str(int(stage[:4]) - 1), "head": "0", **now}
    return now


def moved(address: str, params: Mapping[str, str]) -> tuple[str, Mapping[str, str]] | None:
    """The address of the page on which a view is found today, and what its parameters become; None for the same page.

    `address` is that of the page that is asked for.
    """
    if address == "learn" and params.get("learn") == "Training":
        return _explored(_TRAINING.get(params.get("training", ""), "smoothing"))
    for (old, name, value), now in _MOVED.items():
        if old == address and params.get(name, "") == value:
            return now
    return None


def with_head(params: Mapping[str, str]) -> dict[str, str]:
    """The parameters of fields as an address has them: layer and head as one, "L5H2"."""
    if not {"layer", "head"} <= params.keys():
        return dict(params)
    head = f"L{int(params['layer']) + 1}H{int(params['head']) + 1}"
    return {name: head if name == "head" else value for name, value in params.items() if name != "layer"}


#: A number of more digits is wrong.
MAX_DIGITS: Final = 6
#: Sections whose choices several pages show.
_SHARED: Final = frozenset({"model", "common"})
_CODE_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-.")


def is_seen(selection: Selection, name: str, page: Section) -> bool:
    """Whether a choice defines what a page shows of this selection; only then the page's addresses and pins have it."""
    field = FIELDS[name]
    is_of_page = field.section == page or (field.section in _SHARED and (not field.shown_on or page in field.shown_on))
    if page == "learn" and field.shown_on and selection.learn.learn_tab == "Lessons":
        # The steps of a lesson have heads and words of their own.
        is_of_page = is_of_page and selection.learn.explore
    if not (field.in_address and is_of_page) or field.only_with is None:
        return field.in_address and is_of_page
    other, wanted = field.only_with
    return selection.value(other) == wanted and is_seen(selection, other, page)


def parse(params: Mapping[str, str], base: Selection, page: Section | None = None) -> Selection:
    """Read the parameters of an address of a page; what is missing or wrong becomes the default.

    Of `base` stays what such an address does not carry, and a text that is too long for one. Without a page, whichever
    could carry a choice is meant.
    """
    params = renamed(params)
    values = choices(params)
    asked = Selection().changed(**values)
    unsaid: dict[str, object] = {}
    for name, field in FIELDS.items():
        pages = PAGES if page is None else (page,)
        if any(is_seen(asked, name, each) for each in pages) and _fits(field, base.value(name)):
            unsaid[name] = field.default
            if field.chosen_in:
                unsaid[field.chosen_in] = False
    if "branches" in values:
        # Older addresses leave the first step out, and a branch is looked at from a step of it on.
        values.setdefault("step", 0)
    return base.changed(**unsaid).changed(**values)


def choices(params: Mapping[str, str]) -> dict[str, object]:
    """The names and values of the choices that parameters name, without what is wrong."""
    values: dict[str, object] = {}
    for name, field in FIELDS.items():
        if field.in_address and field.param in params:
            with suppress(ValueError):
                values[name] = _READERS[name](params[field.param])
    return values


def unreadable(params: Mapping[str, str]) -> list[str]:
    """The names of the choices that parameters name, of which what they say cannot be read."""
    read = choices(params)
    return [name for name, field in FIELDS.items() if field.in_address and field.param in params and name not in read]


def unknown(params: Mapping[str, str]) -> list[str]:
    """Those of the parameters that no choice has, nor had."""
    known = _OLD.union(field.param for field in FIELDS.values() if field.in_address)
    return [param for param in params if param not in known]


def is_foreign(param: str) -> bool:
    """Whether other software puts such a parameter into links, of which nobody needs to be told."""
    return _FOREIGN.fullmatch(param) is not None


def to_params(selection: Selection, page: Section) -> dict[str, str]:
    """The parameters of a page's address: every choice seen there that differs from the default.

    Where a page may propose, every choice that a person made.
    """
    params = {}
    for name, field in FIELDS.items():
        value = selection.value(name)
        is_chosen = selection.value(field.chosen_in) if field.chosen_in else value != field.default
        if is_chosen and is_seen(selection, name, page) and _fits(field, value):
            params[field.param] = written(value)
    return with_head(params)


def _fits(field: Field, value: object) -> bool:
    """Whether an address can hold a value; the default is held by leaving it out."""
    is_shaped = not field.shape or value == field.default or re.fullmatch(field.shape, written(value)) is not None
    return is_shaped and len(written(value)) <= MAX_TEXT_IN_URL


def written(value: object) -> str:
    """A value as an address has it."""
    return ".".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _reader(field: Field) -> Callable[[str], object]:
    """What reads a field's value from an address; it raises ValueError for a wrong one."""
    if field.options:
        return partial(_option, field.options)
    if field.kind is bool:
        return lambda value: _option(("True", "1", "False", "0"), value) in ("True", "1")
    if field.kind in (int, int | None):
        return _number
    if field.kind == tuple[int, ...]:
        return partial(_shaped, field.shape, _all_numbers) if field.shape else _numbers
    if field.kind == tuple[str, ...]:
        return _codes
    if field.kind is str:
        read = partial(_text, field.max_length)
        return partial(_shaped, field.shape, read) if field.shape else read
    raise TypeError(f"{field.name}: no way to read {field.kind} from an address")


def _option(options: tuple[str, ...], value: str) -> str:
    if value not in options:
        raise ValueError(value)
    return value


def _number(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS):
        raise ValueError(value)
    return int(value)


def _numbers(value: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_all_numbers(value)))


def _all_numbers(value: str) -> tuple[int, ...]:
    return tuple(_number(part) for part in value.split(".") if part)


def _shaped(pattern: str, read: Callable[[str], object], value: str) -> object:
    if not re.fullmatch(pattern, value):
        raise ValueError(value)
    return read(value)


def _codes(value: str) -> tuple[str, ...]:
    if not _CODE_CHARACTERS.issuperset(value):
        raise ValueError(value)
    return tuple(part for part in value.split(".") if part)


def _text(max_length: int | None, value: str) -> str:
    if max_length is not None and len(value) > max_length:
        raise ValueError(value)
    return value


_READERS: Final[Mapping[str, Callable[[str], object]]] = {name: _reader(field) for name, field in FIELDS.items()}


MAX_PINS: Final = 12
MAX_CAPTION: Final = 200
MAX_NOTE: Final = 400
#: Characters of all pins before they are compressed.
MAX_JSON: Final = 40_000
#: Ways to look at a page, no part of the view; and the collection itself.
_LEFT_OUT: Final = (
    "presented", "screen", "story", "language", "collection", "pins", "pin", "picture_format", "picture_paper",
)  # fmt: skip

#: Names of pages in older collections → their addresses then.
_OLD_SECTIONS: Final = {"masks_positions": "masks", "why_attention": "why", "decoding": "decode", "paper": "paper"}


@dataclass(frozen=True, slots=True)
class Pin:
    """A view that is kept."""

    page: Section  #: which
    params: tuple[tuple[str, str], ...]  #: the parameters of its address that say what is seen
    caption: str = ""  #: what a person says of it
    note: str = ""  #: what who presents it reads meanwhile, in a window of their own; the address has it too

    @property
    def selection(self) -> Selection:
        """What is chosen in the view; what is wrong or missing is the default."""
        return parse(dict(self.params), Selection())

    @property
    def title(self) -> str:
        """What the view is called before it is drawn."""
        page = PAGES[self.page]
        return _("{page}: {tab}", page=page.title, tab=_(str(self.selection.value(page.tab))))


def pin_of(selection: Selection, page: Section, always: Mapping[str, str]) -> Pin:
    """The view of a page. `always`: parameters that are named though they are as usual."""
    view = selection.changed(**{name: FIELDS[name].default for name in _LEFT_OUT})
    return Pin(page, tuple(sorted((dict(always) | to_params(view, page)).items())))


def encode(pins: Sequence[Pin]) -> str:
    """The collection as a text of an address; "" for none."""
    if not pins:
        return ""
    views = [[pin.page, dict(pin.params), pin.caption, *filter(None, (pin.note,))] for pin in pins]
    text = json.dumps(views, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii").rstrip("=")


def fits(pins: Sequence[Pin]) -> bool:
    """Whether an address can carry so many, and so long ones."""
    return len(pins) <= MAX_PINS and excess(pins) <= 0


def excess(pins: Sequence[Pin]) -> int:
    """By how many characters their text is too long for an address."""
    return len(encode(pins)) - MAX_TEXT_IN_URL


def decode(code: str) -> tuple[Pin, ...]:
    """The collection behind a text of an address, without what is not a view; nothing if it is none."""
    try:
        inflating = zlib.decompressobj()
        # What is too much of the padding is passed over.
        text = inflating.decompress(base64.urlsafe_b64decode(f"{code}=="), MAX_JSON)
        views = json.loads(text)
        # JSON can spell half of a surrogate pair, which no address can carry.
        json.dumps(views, ensure_ascii=False).encode("utf-8")
    except (ValueError, zlib.error, RecursionError):
        return ()
    if not isinstance(views, list):
        return ()
    return tuple(pin for view in views[:MAX_PINS] if (pin := _read(view)) is not None)


def _read(view: object) -> Pin | None:
    match view:
        case [str(name), dict(params), str(caption)]:
            note = ""
        case [str(name), dict(params), str(caption), str(note)]:
            pass
        case _:
            return None
    texts = {key: value for key, value in params.items() if isinstance(value, str)}
    address, now = moved(_OLD_SECTIONS.get(name, ""), texts) or ("", {})
    page = SECTIONS[address] if address else next((section for section in PAGES if section == name), None)
    if page is None:
        return None
    texts = renamed({**texts, **now})
    asked = Selection().changed(**choices(texts))
    shown = {FIELDS[name].param for name in FIELDS if name not in _LEFT_OUT and is_seen(asked, name, page)}
    read = with_head({key: value for key, value in texts.items() if key in shown})
    return Pin(page, tuple(sorted(read.items())), caption[:MAX_CAPTION], note[:MAX_NOTE])

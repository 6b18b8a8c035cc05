"""Put the first page's own pictures into its document, where they are drawn before Streamlit is there.

What a session that opens the bare address hands to the components of its first screen is kept, by language, as long as
the model's files stay as they are. The document of the next one has it, and the cover draws it with the same scripts
in the place where the page will (`cover.css`), until the page has taken over. Streamlit's own script begins once they
are drawn: beside it they would wait for each of its long tasks.
"""

import base64
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from http.cookies import CookieError, SimpleCookie
from typing import Final, NamedTuple
from urllib.parse import parse_qs

import streamlit as st
from starlette.datastructures import Headers
from starlette.types import Scope

from viz.server import limits, scripts
from viz.text import messages
from viz.text.templates import filled

#: The browser's cookie that says whether a person has closed the story “Start here”, and its value then.
STORY_COOKIE: Final = "headlight_story"
STORY_CLOSED: Final = "closed"
#: The keys of the components of the first screen; of those that keep tiles, the first one is of what is shown.
_STORY, _TILES, _SHOWN = "story-bar", "tiles-", frozenset({"words", "heads", "headline", "open-head"})


@dataclass(frozen=True, slots=True)
class Part:
    """What a component shows, and with what."""

    script: str  #: path in `viz` of its script
    style: str  #: its style sheet
    element: str  #: the class of the element that it draws into
    payload: bytes


@dataclass(slots=True, eq=False)
class _Screen:
    """The first screen of a session."""

    title: str  #: of its page
    parts: dict[str, Part] = field(default_factory=dict)  #: by their keys
    said: str = ""  #: what the open head does


#: What this run shows, if it is kept.
_SEEN: ContextVar[_Screen | None] = ContextVar("first picture", default=None)
#: Language and the story's cookie → the screen, what the model's files were, and what they are now.
_KEPT: Final[dict[tuple[str, bool], tuple[_Screen, object, Callable[[], object]]]] = {}


@contextmanager
def kept(title: str, files: Callable[[], object]) -> Iterator[None]:
    """Around the run of the first page at its bare address; `files` says what the model's files are.

    None of a model of which its document says nothing.
    """
    screen, before = _Screen(title), files()
    token = _SEEN.set(screen)
    try:
        yield
    finally:
        _SEEN.reset(token)
    if screen.parts.keys() >= _SHOWN:
        _KEPT[messages.language(), st.context.cookies.get(STORY_COOKIE) == STORY_CLOSED] = screen, before, files


def draw(key: str, part: Part) -> None:
    """A component is shown."""
    screen = _SEEN.get()
    if screen is None:
        return
    if key.startswith(_TILES):
        screen.parts.setdefault(_TILES, part)
    elif key in _SHOWN or key == _STORY:
        screen.parts[key] = part


def say(text: str) -> None:
    """It is said what the open head does."""
    if (screen := _SEEN.get()) is not None:
        screen.said = text


class Markup(NamedTuple):
    """What a document has more."""

    head: str  #: at the beginning of its head: links to the scripts, before all others
    cover: str  #: in its cover


def markup(scope: Scope) -> Markup | None:
    """What the document of this request has more: None where nothing is kept that its page will show."""
    headers, params = Headers(scope=scope), parse_qs(scope["query_string"].decode("latin-1"))
    if not scope["path"].endswith("/") or not params.keys() <= {"lang"}:
        return None
    asked = params.get("lang", [""])[-1]
    locale = headers.get("accept-language", "").partition(",")[0].partition(";")[0]
    language = asked if asked in messages.languages() else messages.nearest(locale)
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(STORY_COOKIE)
    except CookieError:
        cookie = None
    found = _KEPT.get((language, cookie is not None and cookie.value == STORY_CLOSED))
    if found is None or found[1] is None or found[1] != found[2]():
        return None
    # A browser may ask in another language than its scripts say that it has.
    return _written(found[0], "" if asked in messages.languages() else locale)


@lru_cache(maxsize=8)
def _written(screen: _Screen, locale: str) -> Markup:
    parts = screen.parts.values()
    header = {
        "arrays": [["uint8", len(part.payload)] for part in parts],
        "locale": locale,
        "parts": [{"key": key, "style": part.style, "element": part.element} for key, part in screen.parts.items()],
    }
    packed = json.dumps(header).encode()
    # As `viz.pictures.payload` packs.
    packed = b"".join((len(packed).to_bytes(4, "little"), packed, *(part.payload for part in parts)))
    paint = scripts.address("server/opening_page/first_picture.js")
    addresses = [paint, *(scripts.address(part.script) for part in parts)]
    cover = filled(
        "server/opening_page/first_picture.html",
        title=screen.title,
        said=screen.said,
        measures=limits.rules().measures_unasked,
        has_story=_STORY in screen.parts,
        packed=base64.b64encode(zlib.compress(packed)).decode("ascii"),
        addresses=addresses,
    )
    return Markup("".join(f'<link rel="modulepreload" href="{address}">' for address in addresses), cover)

"""Put the first page's own pictures into its document, where they are drawn before Streamlit is there.

What a session that opens the bare address hands to the components of its first screen is kept, by language, as long as
the model's files stay as they are. The document of the next one has it, and the cover draws it with the same scripts
in the place where the page will (`cover.css`), until the page has taken over. Streamlit's own script begins once they
are drawn: beside it they would wait for each of its long tasks. Nothing that a person has given is in it: a session is
kept in its first run alone, at an address without choices, and of that the components named here.
"""

import base64
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import streamlit as st
from starlette.requests import HTTPConnection
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


@dataclass(slots=True)
class _Screen:
    """The first screen of a session."""

    title: str  #: of its page
    parts: dict[str, Part] = field(default_factory=dict)  #: by their keys
    said: str = ""  #: what the open head does


#: What this run shows, if it is kept.
_SEEN: ContextVar[_Screen | None] = ContextVar("first picture", default=None)


class _Kept(NamedTuple):
    """A screen with what documents have of it."""

    screen: _Screen
    before: object  #: what the model's files were
    files: Callable[[], object]  #: what they are now
    packed: str


#: Language and whether the story is closed → the screen.
_KEPT: Final[dict[tuple[str, bool], _Kept]] = {}


@contextmanager
def kept(title: str, files: Callable[[], object]) -> Iterator[None]:
    """Around the run of the first page at its bare address; `files` says what the model's files are.

    It returns None if the model reads no text: nothing is drawn ahead then.
    """
    screen, before = _Screen(title), files()
    token = _SEEN.set(screen)
    try:
        yield
    finally:
        _SEEN.reset(token)
    if screen.parts.keys() >= _SHOWN:
        key = messages.language(), st.context.cookies.get(STORY_COOKIE) == STORY_CLOSED
        old = _KEPT.get(key)
        if old is None or old[:2] != (screen, before):
            _KEPT[key] = _Kept(screen, before, files, _packed(screen))


def draw(key: str, part: Part) -> None:
    """Keep what a component shows, if this run is kept."""
    screen = _SEEN.get()
    if screen is None:
        return
    if key.startswith(_TILES):
        screen.parts.setdefault(_TILES, part)
    elif key in _SHOWN or key == _STORY:
        screen.parts[key] = part


def say(text: str) -> None:
    """Keep the sentence about the open head, if this run is kept."""
    if (screen := _SEEN.get()) is not None:
        screen.said = text


class Markup(NamedTuple):
    """What is added to a document."""

    head: str  #: at the beginning of its head: links to the scripts, before all others
    cover: str  #: in its cover


def markup(scope: Scope) -> Markup | None:
    """What is added to the document of this request: None where nothing is kept that its page will show."""
    request = HTTPConnection(scope)
    if not scope["path"].endswith("/") or not request.query_params.keys() <= {"lang"}:
        return None
    asked = request.query_params.get("lang", "")
    locale = request.headers.get("accept-language", "").partition(",")[0].partition(";")[0]
    language = asked if asked in messages.languages() else messages.nearest(locale)
    found = _KEPT.get((language, request.cookies.get(STORY_COOKIE) == STORY_CLOSED))
    if found is None or found.before is None or found.before != found.files():
        return None
    screen = found.screen
    paint = scripts.address("server/opening_page/first_picture.js")
    addresses = [paint, *(scripts.address(part.script) for part in screen.parts.values())]
    cover = filled(
        "server/opening_page/first_picture.html",
        title=screen.title,
        said=screen.said,
        measures=limits.rules().measures_unasked,
        has_story=_STORY in screen.parts,
        packed=found.packed,
        # A browser may ask in another language than its scripts say that it has.
        locale="" if asked in messages.languages() else locale,
        addresses=addresses,
    )
    return Markup("".join(f'<link rel="modulepreload" href="{address}">' for address in addresses), cover)


def _packed(screen: _Screen) -> str:
    """The parts of a screen as `viz.pictures.payload` packs, in letters."""
    parts = screen.parts.values()
    header = {
        "arrays": [["uint8", len(part.payload)] for part in parts],
        "parts": [{"key": key, "style": part.style, "element": part.element} for key, part in screen.parts.items()],
    }
    packed = json.dumps(header).encode()
    packed = b"".join((len(packed).to_bytes(4, "little"), packed, *(part.payload for part in parts)))
    return base64.b64encode(zlib.compress(packed)).decode("ascii")

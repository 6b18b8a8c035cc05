"""Write HTML pages that open offline: text of ours, and pictures that the pages' components draw without a server.

What a component draws travels as bytes. A click on a head of a grid draws that head from them, so that nothing is asked
of Python. What may run is named by its hash in a Content-Security-Policy; everything else, and every request, is
refused by the browser itself.
"""

import base64
import hashlib
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final, Literal

import numpy as np
from jaxtyping import Float
from markupsafe import Markup

from viz.pictures import payload
from viz.pictures.component import Component
from viz.pictures.focus import FocusHead
from viz.pictures.head_grid import component as head_grid
from viz.pictures.head_grid.component import Grid, HeadChoice
from viz.pictures.matrix_picture import component as matrix_picture
from viz.pictures.matrix_picture.component import ColourScale, Kept, MatrixData
from viz.pictures.payload import fingerprint
from viz.pictures.tiles import codes
from viz.pictures.tiles.codes import Tiles
from viz.server import scripts
from viz.text import messages, written
from viz.text.messages import _
from viz.text.templates import filled

Scheme = Literal["light", "dark"]

_DRAW: Final = Path(__file__).parent / "shared" / "draw_parts.js"
_SETTINGS: Final = Path(__file__).parents[2] / ".streamlit" / "config.toml"
#: A site brings Headlight's own (`viz/gallery/typefaces.py`); a file alone is drawn in the reader's.
_FONTS: Final = {
    "--st-font": '"Headlight Sans", system-ui, sans-serif',
    "--st-heading-font": '"Headlight Serif", Georgia, serif',
    "--st-button-radius": "6px",
}
_ENDS_ITS_ELEMENT: Final = re.compile("</script|<!--", re.IGNORECASE)
#: What pages of text share; colours are those of the app, named as Streamlit names them.
_STYLE: Final = Path(__file__).with_name("offline.css").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Part:
    """One component of a picture."""

    component: Component  #: which
    payload: bytes  #: what it draws first
    #: what it draws when a head is chosen in another part, layer by layer; none where nothing is.
    choices: tuple[bytes, ...] = ()
    answers: tuple[str, ...] = ()  #: where a person asks this part itself: the question that each choice answers
    style: str = ""  #: rules of CSS for this page alone: sizes, and what only a page with a server can do, hidden


@dataclass(frozen=True)
class Drawing:
    """Components below one another."""

    parts: Sequence[Part]  #: the components
    heads: int  #: of each layer, where a head can be chosen
    alt: str  #: what the picture shows, for those who hear it

    def payloads(self) -> list[bytes]:
        """What all parts draw, one after another, in the language of this code."""
        return [
            payload.with_language(each, scripts.language_of(part.component.script))
            for part in self.parts
            for each in (part.payload, *part.choices)
        ]

    def scripts(self) -> dict[str, str]:
        """Path → text of the modules of all parts."""
        return {path: scripts.bundled(path) for path in sorted({part.component.script for part in self.parts})}

    def plan(self) -> dict[str, object]:
        """What `draw_parts.js` needs to know besides the bytes."""
        parts = [
            {
                "script": part.component.script,
                "element": part.component.element,
                "style": "" if part.component.style is None else scripts.styles(part.component.style) + part.style,
                "count": 1 + len(part.choices),
                "answers": part.answers,
                "hidden": part.component.style is None,
            }
            for part in self.parts
        ]
        palettes = {"light": colours("light"), "dark": colours("dark")}
        return {"parts": parts, "heads": self.heads, "alt": self.alt, **palettes}


def all_heads(
    weights: Float[np.ndarray, "layer head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    opened: tuple[int, int],
    *,
    only_opened: bool = False,
    focus: FocusHead | None = None,
    kept: Kept = Kept(),  # noqa: B008 - it never changes
) -> Drawing:
    """Every head as a tile, and the open one (from 0) large below; a click opens another one.

    `only_opened` leaves out the exact weights of the other heads, which then cannot be opened. `focus`: what its heads
    share, so that what is pointed at in one picture is marked in all. `kept`: row and column kept in the open head.
    """
    layers, heads = weights.shape[:2]

    def drawn(layer: int, head: int, kept: Kept) -> bytes:
        name = written.head_label(layer, head)
        own = None if focus is None else replace(focus, name=name)
        return _matrix(weights[layer, head], queries, keys, f"{title}, {name}", own, kept)

    every = () if only_opened else product(range(layers), range(heads))
    choices = tuple(drawn(layer, head, Kept()) for layer, head in every)
    grid = drawn_grid(weights, queries, keys, title, opened, focus)
    matrix = Part(matrix_picture.COMPONENT, drawn(*opened, kept), choices)
    alt = _("{site}: every head of {layers} layers as a tile, and one of them enlarged", site=title, layers=layers)
    return Drawing([*grid.parts, matrix], heads, alt)


def drawn_grid(
    weights: Float[np.ndarray, "layer head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    opened: tuple[int, int],
    focus: FocusHead | None = None,
) -> Drawing:
    """Every head as a tile; arguments as of `all_heads`."""
    address = f"offline-{fingerprint(title, *queries, weights)}"
    grid = Grid(address=address, shape=weights.shape[:2], selected=HeadChoice(*opened), caption=title)
    parts = [kept_tiles(weights, queries, keys, address, focus), Part(head_grid.COMPONENT, payload.pack(grid))]
    return Drawing(parts, weights.shape[1], title)


def kept_tiles(
    weights: Float[np.ndarray, "layer head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    address: str,
    focus: FocusHead | None,
) -> Part:
    """The tiles themselves, for parts that ask for them at this address; arguments as of `all_heads`."""
    tiles = Tiles.of(weights.shape, iter(weights))
    axes = None if focus is None else (focus.rows, focus.columns)
    frame = codes.Frame(spec=tiles.spec, query_tokens=queries, key_tokens=keys, address=address, axes=axes)
    return Part(codes.COMPONENT, payload.pack(frame, codes.as_array(tiles)))


def drawn_matrix(data: MatrixData, kept: Kept) -> Drawing:
    """One matrix."""
    packed = payload.pack(data, **matrix_picture.choices(kept))
    return Drawing([Part(matrix_picture.COMPONENT, packed)], 1, messages.shown(data.label))


def _matrix(
    weights: Float[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    focus: FocusHead | None,
    kept: Kept,
) -> bytes:
    data = MatrixData(
        values=weights,
        row_tokens=queries,
        column_tokens=keys,
        scale=ColourScale.root(_("weight"), 1.0),
        title=title,
        label=_("{title}: weights as a heatmap.", title=title),
        row_name=_("query"),
        column_name=_("key"),
        file_name="head",
        rows_write=focus is not None and focus.rows.ahead > 0,
        focus=focus,
    )
    return payload.pack(data, **matrix_picture.choices(kept))


@cache
def colours(scheme: Scheme) -> dict[str, str]:
    """The app's colours and fonts, which a file on a disk cannot see, as properties of CSS."""
    theme = tomllib.loads(_SETTINGS.read_text(encoding="utf-8"))["theme"][scheme]
    named = {re.sub("[A-Z]", lambda big: f"-{big[0].lower()}", name): value for name, value in theme.items()}
    properties = {f"--st-{name}": value for name, value in named.items() if isinstance(value, str)}
    return properties | _FONTS


def root_style(scheme: Scheme) -> str:
    """The rule of CSS that names the app's colours."""
    return ":root {" + "".join(f"{name}:{value};" for name, value in colours(scheme).items()) + "}"


def script_json(value: object) -> str:
    """JSON that neither closes a script element nor breaks a line of JavaScript."""
    return _without_ends(json.dumps(value, separators=(",", ":")))


def _without_ends(text: str) -> str:
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def text_page(
    title: str,
    body: str,
    style: str = "",
    drawings: Sequence[Drawing] = (),
    files: Sequence[str] = (),
    sheets: Sequence[str] = (),
) -> str:
    """A page of text (title as text, body as escaped HTML) in the colours that the reader's system prefers.

    Pictures go into the body's elements `#picture-0`, …; those in files beside the page are scripts at addresses, as
    are style sheets.
    """
    dark = f"@media (prefers-color-scheme: dark) {{ {root_style('dark')} }}"
    sheet = f"{root_style('light')}{dark}{_STYLE}{style}"
    modules = [_drawing_script(drawings)] if drawings else []
    return offline_page(title=title, style=sheet, body=body, modules=modules, files=files, sheets=sheets)


def _drawing_script(drawings: Sequence[Drawing]) -> str:
    pictures = [
        {"plan": each.plan(), "payloads": [base64.b64encode(part).decode("ascii") for part in each.payloads()]}
        for each in drawings
    ]
    scripts: dict[str, str] = {}
    for each in drawings:
        scripts |= each.scripts()
    return f"""{draw_parts()}
const bytes = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
const scripts = {script_json(scripts)};
for (const [number, {{ plan, payloads }}] of {script_json(pictures)}.entries())
  await draw(document.getElementById(`picture-${{number}}`), plan, payloads.map(bytes), scripts);
"""


def draw_parts() -> str:
    """The text of the script that defines `draw`."""
    return _DRAW.read_text(encoding="utf-8")


def offline_page(
    *,
    title: str,
    style: str,
    body: str,
    libraries: Sequence[str] = (),
    script: str = "",
    entry: str = "",
    modules: Sequence[str] = (),
    files: Sequence[str] = (),
    sheets: Sequence[str] = (),
) -> str:
    """The page, in the language in which it is made. Pictures may only be part of the page itself.

    Args:
        title: as text.
        body: as HTML, in which everything of people is escaped.
        libraries: scripts that others wrote; they run before `body` is there.
        script: the page's own, in which everything of people went through `script_json`; it runs after `body`.
        entry: module of ours (its path in `viz`) that exports nothing and finds the texts of this language; it runs
            after `script`.
        modules: texts of modules, which may import others that they hold themselves.
        files: addresses of scripts that come with the page, which may import others likewise; they run last.
        sheets: addresses of style sheets that come with the page, which may hold typefaces.
    """
    script += _of_module(entry) if entry else ""
    after = [script] if script else []
    for source in (*libraries, *after, *modules):
        assert not _ENDS_ITS_ELEMENT.search(source), "a script must not be able to end its element"
    assert "</style" not in style.lower(), "a style sheet must not be able to end its element"
    allowed = [f"'sha256-{_sha256(source)}'" for source in (*libraries, *after, *modules)]
    allowed += [*(["'self'"] if files else []), *(["blob:"] if modules or files else [])]
    # Without a source "script-src" allows nothing.
    policy = f"default-src 'none'; script-src {' '.join(allowed)}; style-src 'unsafe-inline'; img-src data: blob:"
    if sheets:
        policy = policy.replace("'unsafe-inline'", "'self' 'unsafe-inline'") + "; font-src data:"
    page = filled(
        "pictures/offline.html",
        language=messages.tag(messages.language()),
        policy=policy,
        title=title,
        # Checked above, or escaped by whoever made it.
        style=Markup(style),
        body=Markup(body),
        libraries=map(Markup, libraries),
        scripts=map(Markup, after),
        modules=map(Markup, modules),
        files=files,
        sheets=sheets,
    )
    return str(page)


def _of_module(entry: str) -> str:
    """A module as the text of a script, after the language that `messages.js` begins with."""
    language = scripts.language_of(entry)
    spoken = f"globalThis.headlightLanguage = {_without_ends(language)};\n" if language else ""
    return spoken + scripts.classic_script(entry)


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")

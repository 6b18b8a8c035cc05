"""A picture in a notebook: components of the pages, beside or below one another, without a server.

What is drawn travels once, as bytes; a click on a head of a grid draws that head from them, so that nothing is asked of
Python and a saved page does the same.
"""

import base64
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

import anywidget
import traitlets

from model.file_writing import write_text
from viz.components.component import Component
from viz.core import bundle
from viz.core.offline_page import script_json

#: All that a picture sends may take so many bytes.
MOST_BYTES: Final = 64 << 20
_DRAW: Final = Path(__file__).with_name("draw.js")
_SETTINGS: Final = Path(__file__).parents[2] / ".streamlit" / "config.toml"


@dataclass(frozen=True)
class Part:
    """One component of a picture.

    Attributes:
        component: which.
        payload: what it draws first.
        choices: what it draws when a head is chosen in another part, layer by layer; none where nothing is.
        hides: rules of CSS for what only a page can do.
    """

    component: Component
    payload: bytes
    choices: tuple[bytes, ...] = ()
    hides: str = ""


class Picture(anywidget.AnyWidget):
    """A picture: show it as the last line of a cell; `save` writes it into a file.

    Attributes:
        alt: what it shows, for those who hear it.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    plan = traitlets.Unicode().tag(sync=True)
    payloads = traitlets.List(traitlets.Bytes()).tag(sync=True)

    def __init__(self, parts: Sequence[Part], heads: int, alt: str) -> None:
        payloads = [payload for part in parts for payload in (part.payload, *part.choices)]
        if (total := sum(map(len, payloads))) > MOST_BYTES:
            raise ValueError(
                f"This picture takes {total / 1e6:.0f} MB, and a notebook's may take {MOST_BYTES / 1e6:.0f}: choose "
                "one attention, fewer layers or a shorter text."
            )
        self.alt = alt
        scripts = sorted({part.component.script for part in parts})
        self.scripts = {script: bundle.script(script) for script in scripts}
        super().__init__(_esm=_module(self.scripts), plan=json.dumps(_plan(parts, heads, alt)), payloads=payloads)


def checked_text(name: str, given: object) -> str:
    """A text that a file can hold.

    Raises:
        ValueError: it is not text, or has half of a surrogate pair, which UTF-8 cannot write.
    """
    if not isinstance(given, str):
        raise ValueError(f"Expected {name} to be text, got {given!r} of type {type(given).__name__}.")
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(
            f"Expected {name} to be text that UTF-8 can write, got {given!r}: half a surrogate pair."
        ) from None
    return given


def save(picture: Picture, path: str | Path, title: str = "Headlight") -> Path:
    """Write a picture into one HTML file that opens offline and does what it does in the notebook.

    Args:
        picture: of `heads`, `lines` or `film`.
        path: of the file; one that is there is written over.
        title: of the page.

    Raises:
        ValueError: the title is not text.
    """
    title = checked_text("title", title)
    given = [base64.b64encode(payload).decode("ascii") for payload in picture.payloads]
    plan, data, scripts = map(script_json, (json.loads(picture.plan), given, picture.scripts))
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<style>:root {{ color-scheme: light dark; }} body {{ margin: 1.5rem; font-family: sans-serif; }}</style></head>
<body><main id="picture"></main>
<script type="module">
{_DRAW.read_text(encoding="utf-8")}
const bytes = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
await draw(document.getElementById("picture"), {plan}, {data}.map(bytes), {scripts});
</script></body></html>
"""
    written = Path(path)
    write_text(written, page)
    return written


def _plan(parts: Sequence[Part], heads: int, alt: str) -> dict[str, object]:
    """What `draw.js` needs to know beside the bytes."""
    described = [
        {
            "script": part.component.script,
            "element": part.component.element,
            "style": "" if part.component.style is None else bundle.styles(part.component.style) + part.hides,
            "count": 1 + len(part.choices),
            "hidden": part.component.style is None,
        }
        for part in parts
    ]
    return {"parts": described, "heads": heads, "alt": alt, "light": _colours("light"), "dark": _colours("dark")}


def _colours(paper: str) -> dict[str, str]:
    """What components read of the page's theme, as properties of CSS."""
    theme = tomllib.loads(_SETTINGS.read_text(encoding="utf-8"))["theme"][paper]
    named = {re.sub("[A-Z]", lambda big: f"-{big[0].lower()}", name): value for name, value in theme.items()}
    colours = {f"--st-{name}": value for name, value in named.items() if isinstance(value, str)}
    return colours | {"--st-font": "sans-serif", "--st-heading-font": "serif", "--st-button-radius": "6px"}


def _module(scripts: dict[str, str]) -> str:
    """The script of the widget, for `anywidget`."""
    return f"""{_DRAW.read_text(encoding="utf-8")}
const scripts = {json.dumps(scripts)};
const bytes = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
export default {{
  async render({{ model, el }}) {{
    return draw(el, JSON.parse(model.get("plan")), model.get("payloads").map(bytes), scripts);
  }},
}};
"""

"""A picture in a notebook: components of the pages, below one another, without a server."""

import json
from pathlib import Path
from typing import Final

import anywidget
import traitlets

from model.file_writing import write_text
from viz.pictures.offline import Drawing, draw_parts, text_page

#: All that a picture sends may take so many bytes.
MOST_BYTES: Final = 64 << 20


class Picture(anywidget.AnyWidget):
    """A picture, shown as the last line of a cell; `save` writes it into a file; `alt` is for those who hear it."""

    _esm = traitlets.Unicode().tag(sync=True)
    plan = traitlets.Unicode().tag(sync=True)
    payloads = traitlets.List(traitlets.Bytes()).tag(sync=True)

    def __init__(self, drawing: Drawing) -> None:
        payloads = drawing.payloads()
        if (total := sum(map(len, payloads))) > MOST_BYTES:
            raise ValueError(
                f"This picture takes {total / 1e6:.0f} MB, and a notebook's may take {MOST_BYTES / 1e6:.0f}: choose "
                "one attention, fewer layers or a shorter text."
            )
        self.drawing, self.alt = drawing, drawing.alt
        super().__init__(_esm=_module(drawing), plan=json.dumps(drawing.plan()), payloads=payloads)


def checked_text(name: str, given: object) -> str:
    """A text. Raises a ValueError if it is none, or holds half of a surrogate pair, which UTF-8 cannot write."""
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

    One that is there is written over. Raises a ValueError if the title is not text.
    """
    written = Path(path)
    write_text(
        written, text_page(checked_text("title", title), '<main id="picture-0"></main>', drawings=[picture.drawing])
    )
    return written


def _module(drawing: Drawing) -> str:
    """The script of the widget, for `anywidget`."""
    return f"""{draw_parts()}
const scripts = {json.dumps(drawing.scripts())};
const bytes = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
export default {{
  async render({{ model, el }}) {{
    return draw(el, JSON.parse(model.get("plan")), model.get("payloads").map(bytes), scripts);
  }},
}};
"""

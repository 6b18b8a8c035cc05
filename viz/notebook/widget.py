"""The widget of a picture in a notebook, by anywidget, which nothing else of Headlight needs."""

import base64
import json

import anywidget
import traitlets

from viz.pictures.offline import Drawing, draw_parts

#: Characters of a still's start, its id among them, by which it is found where it was made part of an address.
_START = 120


class Widget(anywidget.AnyWidget):
    """Draws a picture in the browser, and then hides its still, which the same cell shows."""

    _esm = traitlets.Unicode().tag(sync=True)
    plan = traitlets.Unicode().tag(sync=True)
    payloads = traitlets.List(traitlets.Bytes()).tag(sync=True)


def script(drawing: Drawing, still: str) -> str:
    """The script of the widget, for `anywidget`."""
    name = still.partition(' id="')[2].partition('"')[0]
    # A frontend shows an SVG as an element, or as a picture whose address holds its text, plain or in base 64.
    coded = base64.b64encode(still[:_START].encode("utf-8")).decode("ascii")
    stills = f'#{name}, img[src*="{name}"], img[src*="{coded}"]'
    return f"""{draw_parts()}
const scripts = {json.dumps(drawing.scripts())};
const bytes = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
export default {{
  async render({{ model, el }}) {{
    const drawn = await draw(el, JSON.parse(model.get("plan")), model.get("payloads").map(bytes), scripts);
    const style = document.createElement("style");
    style.textContent = {json.dumps(stills + " { display: none; }")};
    el.append(style);
    return drawn;
  }},
}};
"""

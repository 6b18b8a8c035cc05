"""The widget of a picture in a notebook, by anywidget, which nothing else of Headlight needs."""

import base64
import json
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from viz.pictures.offline import Drawing, draw_parts
from viz.text.messages import _

if TYPE_CHECKING:
    from viz.notebook.reasons import Answering

#: Characters of a still's start, its id among them, by which it is found where it was made part of an address.
_START = 120
#: After so long without an answer a picture says so.
_PATIENCE_MS = 8_000


class Widget(anywidget.AnyWidget):
    """Draws a picture in the browser, and then hides its still, which the same cell shows."""

    _esm = traitlets.Unicode().tag(sync=True)
    plan = traitlets.Unicode().tag(sync=True)
    payloads = traitlets.List(traitlets.Bytes()).tag(sync=True)
    is_live = traitlets.Bool(False).tag(sync=True)

    def answer_with(self, answering: "Answering") -> None:
        """Let what a person asks in the browser be answered as long as the kernel runs."""

        def answer(_widget: object, content: Any, _buffers: object) -> None:
            if content["name"] == "test":
                # A run may take longer than a person waits for a kernel that is gone.
                self.send({"told": _("The kernel is running the model without this part …")})
            told = _("No result: the kernel was interrupted, or failed.")
            try:
                told = answering.hear(content["name"], content["value"])
                self.payloads = answering.drawing().payloads()
            finally:
                self.send({"told": told})

        self.is_live = True
        self.on_msg(answer)


def script(drawing: Drawing, still: str) -> str:
    """The script of the widget, for `anywidget`."""
    name = still.partition(' id="')[2].partition('"')[0]
    # A frontend shows an SVG as an element, or as a picture whose address holds its text, plain or in base 64.
    coded = base64.b64encode(still[:_START].encode("utf-8")).decode("ascii")
    no_answer = _("No answer yet. Is the kernel running, and was this cell run in it?")
    stills = f'#{name}, img[src*="{name}"], img[src*="{coded}"]'
    return f"""{draw_parts()}
const scripts = {json.dumps(drawing.scripts())};
const bytes = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
const asking = (model, el) => {{
  const told = Object.assign(document.createElement("p"), {{ role: "status" }});
  el.append(told);
  let silent;
  model.on("msg:custom", (message) => {{
    clearTimeout(silent);
    told.textContent = message.told;
  }});
  return {{
    ask(name, value) {{
      clearTimeout(silent);
      silent = setTimeout(() => (told.textContent = {json.dumps(no_answer)}), {_PATIENCE_MS});
      model.send({{ name, value }});
    }},
    hear: (then) => model.on("change:payloads", () => then(model.get("payloads").map(bytes))),
  }};
}};
export default {{
  async render({{ model, el }}) {{
    const live = model.get("is_live") === true ? asking(model, el) : undefined;
    const drawn = await draw(el, JSON.parse(model.get("plan")), model.get("payloads").map(bytes), scripts, live);
    const style = document.createElement("style");
    style.textContent = {json.dumps(stills + " { display: none; }")};
    el.append(style);
    return drawn;
  }},
}};
"""

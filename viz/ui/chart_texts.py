"""What plotly itself says on a chart, in the language of the page run: its buttons and its notes."""

from typing import Final

from viz.text import messages
from viz.text.messages import Message, said

#: As plotly.js has them in English; the texts of buttons that `frame.CHART_CONFIG` takes away are not among them.
_TEXTS: Final[tuple[Message, ...]] = (
    said("Download plot as a PNG"),
    said("Download plot"),
    said("Reset axes"),
    said("Double-click to zoom back out"),
    said("Double-click on legend to isolate one trace"),
    said("Sorry, there was a problem downloading your image!"),
    said("trace"),
)


def locale_config() -> dict[str, object]:
    """The part of plotly's configuration that gives it the language; nothing of it is fetched."""
    code = messages.language()
    if code == messages.ENGLISH:
        return {}
    tag = messages.tag(code)
    dictionary = {str(text): messages.template(text) for text in _TEXTS}
    return {"locale": tag, "locales": {tag: {"dictionary": dictionary}}}

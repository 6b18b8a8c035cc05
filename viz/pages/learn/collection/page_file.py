"""The collection as one HTML file that opens from a disk, without Headlight and without any network."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from viz.pages.learn.collection.drawing import Seen
from viz.pictures.offline import Drawing, text_page
from viz.text.html import literal
from viz.text.messages import ENGLISH, _, speaking

_STYLE: Final = """
h2 { font-size: 1.2rem; }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 20px; }
figure { margin: 0; padding: 16px; border: 1px solid var(--st-border-color); border-radius: 8px; min-width: 0; }
figcaption { margin-top: 0.6rem; font-size: 1.05rem; overflow-wrap: anywhere; }
code { font-size: 0.8rem; opacity: 0.8; }
"""


#: Bytes of a file without pictures, and of a number in one.
_REST, _NUMBER = 150_000, 5


@dataclass(frozen=True, slots=True)
class Card:
    """A view in the file: its title, what is seen of it, its caption, and the query that reopens it."""

    title: str
    seen: Seen | None
    caption: str
    address: str


def page_bytes(cards: Sequence[Card]) -> int:
    """About how large the file is."""
    numbers = (picture.size for card in cards if card.seen is not None for picture in card.seen.pictures)
    return _REST + _NUMBER * sum(numbers)


def page_file(cards: Sequence[Card], language: str = ENGLISH) -> bytes:
    """The file, in the language of this code: it is made when a person asks for it, which is in no page run."""
    with speaking(language):
        return _page(cards).encode("utf-8")


def _page(cards: Sequence[Card]) -> str:
    drawings: list[Drawing] = []
    body = "".join(
        f"<figure><h2>{literal(card.title)}</h2>{_pictures(card, drawings)}"
        + (f"<figcaption>{literal(card.caption)}</figcaption>" if card.caption else "")
        + f"<p><code>{literal(card.address)}</code></p></figure>"
        for card in cards
    )
    heading = literal(_("A collection of views"))
    note = literal(_("Add the text below a picture to the address of Headlight to open the view there."))
    page = f"<h1>{heading}</h1><p>{note}</p><main>{body}</main>"
    return text_page(_("Headlight: a collection of views"), page, _STYLE, drawings)


def _pictures(card: Card, drawings: list[Drawing]) -> str:
    """What is seen of a view as HTML; its drawings join the others."""
    html = ""
    for part in () if card.seen is None else card.seen.drawings():
        if isinstance(part, str):
            html += part
        else:
            html += f'<div id="picture-{len(drawings)}"></div>'
            drawings.append(part)
    return html

"""The collection as one HTML file that opens from a disk, without Headlight and without any network."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from viz.core.html import literal
from viz.core.messages import ENGLISH, _, speaking
from viz.core.offline_page import DARK, LIGHT, offline_page

_STYLE: Final = """
:root { color-scheme: light dark; --text: %(light_text)s; --paper: %(light_paper)s; --line: %(light_line)s; }
@media (prefers-color-scheme: dark) {
  :root { --text: %(dark_text)s; --paper: %(dark_paper)s; --line: %(dark_line)s; }
}
body { margin: 0 auto; max-width: 1160px; padding: 24px 20px 48px; color: var(--text); background: var(--paper);
       font: 16px/1.5 system-ui, sans-serif; }
h1, h2 { font-family: Georgia, serif; line-height: 1.2; margin: 0 0 0.6rem; }
h2 { font-size: 1.2rem; }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%%, 420px), 1fr)); gap: 20px; }
figure { margin: 0; padding: 16px; border: 1px solid var(--line); border-radius: 8px; min-width: 0; }
figcaption { margin-top: 0.6rem; font-size: 1.05rem; overflow-wrap: anywhere; }
code { font-size: 0.8rem; overflow-wrap: anywhere; opacity: 0.8; }
p { margin: 0.3rem 0; }
"""


@dataclass(frozen=True, slots=True)
class Card:
    """A view in the file: its title, its picture as HTML of ours, its caption, and the query that reopens it."""

    title: str
    picture: str
    caption: str
    address: str


def page_file(cards: Sequence[Card], language: str = ENGLISH) -> bytes:
    """The file, in the language of this code: it is made when a person asks for it, which is in no page run."""
    with speaking(language):
        return _page(cards).encode("utf-8")


def _page(cards: Sequence[Card]) -> str:
    body = "".join(
        f"<figure><h2>{literal(card.title)}</h2>{card.picture}"
        + (f"<figcaption>{literal(card.caption)}</figcaption>" if card.caption else "")
        + f"<p><code>{literal(card.address)}</code></p></figure>"
        for card in cards
    )
    style = _STYLE % (
        {f"light_{name}": colour for name, colour in LIGHT.items()}
        | {f"dark_{name}": colour for name, colour in DARK.items()}
    )
    heading = literal(_("A collection of views"))
    note = literal(_("Put what stands below a picture behind the address of Headlight, and the view opens there."))
    return offline_page(
        title=_("Headlight: a collection of views"),
        style=style,
        body=f"<h1>{heading}</h1><p>{note}</p><main>{body}</main>",
        libraries=[],
        script="",
    )

"""Draw pinned views: on the page by its components, and in a file that opens offline by the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.pictures.component import ignore
from viz.pictures.head_grid.component import head_grid
from viz.pictures.matrix_picture.component import Kept, MatrixData, matrix_picture
from viz.pictures.offline import Drawing, drawn_grid, drawn_matrix, grid_of, text_page
from viz.pictures.tiles.codes import send_tiles
from viz.text.html import Column, literal, table
from viz.text.messages import ENGLISH, _, shown, speaking
from viz.text.written import display_token

#: Characters of a sentence that are shown.
_LONGEST_TEXT: Final = 300
_NOTHING: Final = Kept()


@dataclass(frozen=True, eq=False, slots=True)
class Matrix:
    """A head, or rows of several, with the row and the column that are kept; None where the text is too long."""

    title: str
    data: MatrixData | None
    kept: Kept = _NOTHING

    def show(self, key: str) -> None:
        """Show it on the page."""
        if self.data is None:
            st.html(self.drawing())
        else:
            matrix_picture(self.data, self.kept, on_keep=ignore, key=key)

    def drawing(self) -> Drawing | str:
        """It in a file: components, or HTML."""
        if self.data is None:
            return f"<p>{literal(_('The text is too long for a small picture: open the view.'))}</p>"
        return drawn_matrix(self.data, self.kept)

    @property
    def size(self) -> int:
        """Numbers that are drawn."""
        return 0 if self.data is None else self.data.values.size


@dataclass(frozen=True, eq=False, slots=True)
class Heads:
    """All heads of an attention, of which one is framed."""

    title: str
    weights: Float[np.ndarray, "layer head query key"]
    queries: Sequence[str]
    keys: Sequence[str]
    framed: tuple[int, int]

    def show(self, key: str) -> None:
        """Show them on the page."""
        tiles, frame, grid = grid_of(self.weights, self.queries, self.keys, shown(self.title), self.framed)
        send_tiles(tiles, frame, key=f"{key}-tiles")
        head_grid(grid, on_open=ignore, key=key)

    def drawing(self) -> Drawing | str:
        """Them in a file."""
        return drawn_grid(self.weights, self.queries, self.keys, shown(self.title), self.framed)

    @property
    def size(self) -> int:
        """Numbers that are drawn."""
        return self.weights.size


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the film: what is written by then, and the candidates with their probabilities."""

    title: str
    written: tuple[str, ...]
    candidates: tuple[tuple[str, float], ...]
    size = 0

    def show(self, key: str) -> None:
        """Show it on the page."""
        with st.container(key=key):
            st.html(self.drawing())

    def drawing(self) -> str:
        """The words, and below them the candidates."""
        words = " ".join(f"<bdi>{literal(display_token(token))}</bdi>" for token in self.written[:-1])
        last = f"<strong><bdi>{literal(display_token(self.written[-1]))}</bdi></strong>"
        columns = [Column(_("Candidate")), Column(_("Probability"), is_number=True)]
        rows = [(display_token(token), f"{probability:.4f}") for token, probability in self.candidates]
        return f"<p>{words} {last}</p>{table(columns, rows, label=self.title)}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What is seen small of a view."""

    title: str
    text: str
    pictures: tuple[Matrix | Heads | Step, ...]

    def show(self, key: str) -> None:
        """Show the sentence, and the pictures below one another."""
        for number, part in enumerate(self._parts()):
            if isinstance(part, str):
                st.html(part)
            else:
                part.show(f"{key}-{number}")

    def drawings(self) -> list[Drawing | str]:
        """The same in a file."""
        return [part if isinstance(part, str) else part.drawing() for part in self._parts()]

    def _parts(self) -> list[Matrix | Heads | Step | str]:
        text = literal(" ".join(self.text.split())[:_LONGEST_TEXT])
        parts: list[Matrix | Heads | Step | str] = []
        if text:
            parts.append(f'<p dir="auto" style="overflow-wrap:anywhere">{text}</p>')
        for picture in self.pictures:
            if picture.title != self.title:
                parts.append(f"<p>{literal(picture.title)}</p>")
            parts.append(picture)
        if not self.pictures:
            parts.append(f"<p>{literal(_('Open the view to see it: there is no small picture of it.'))}</p>")
        return parts


_STYLE: Final = Path(__file__).with_name("collection.css").read_text(encoding="utf-8")


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

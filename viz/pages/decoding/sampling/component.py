"""Translations side by side as cards, each of which opens to show its tokens with their probabilities.

Knows nothing of how they were made: what a card says is passed in.
"""

from dataclasses import dataclass
from math import exp
from typing import Final

import streamlit as st

from viz.core import fingerprint, payload, scripts, theme, token_text
from viz.core.html import visible

_HTML: Final = """
<div class="sample-cards"></div>
"""
_COMPONENT = st.components.v2.component(
    "headlight_sample_cards",
    html=_HTML,
    css=scripts.sources("picture.css", "sample_cards.css"),
    js=scripts.script("wire.js", "picture.js", "drawing.js", "probability.js", "sample_cards.js"),
)
#: A probability is shown with three digits at most.
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A translation.

    Attributes:
        title, which: what it is, and which of several it stands for.
        pieces: its text in pieces that stand one space apart, each with whether it is marked.
        numbers: what is measured of it, by name.
        tokens: its tokens.
        log_probs: of each, in nats, under the model.
        filtered_log_probs: the same under the distribution that it was drawn from; None if it was not drawn.
        note: what else is to be known.
    """

    title: str
    which: str
    pieces: tuple[tuple[str, bool], ...]
    numbers: tuple[tuple[str, str], ...]
    tokens: tuple[str, ...]
    log_probs: tuple[float, ...]
    filtered_log_probs: tuple[float, ...] | None
    note: str = ""


def pack_cards(cards: tuple[Card, ...], language: str = "") -> bytes:
    """The payload of `sample_cards.js`."""
    packed = [_packed(card) for card in cards]
    header = {
        "scale": {"stops": theme.SEQUENTIAL, "dark": theme.NIGHT, "pale": theme.LIGHT},
        "colours": {"greedy": theme.HEAD_COLOURS[0], "mark": theme.HEAD_COLOURS[1]},
    }
    return payload.pack(
        {**header, "language": language, "cards": packed, "digest": fingerprint.digest(language, repr(packed))}
    )


def _packed(card: Card) -> dict[str, object]:
    filtered = card.filtered_log_probs
    drawn = [None] * len(card.tokens) if filtered is None else [round(exp(one), _DIGITS) for one in filtered]
    probabilities = [round(exp(one), _DIGITS) for one in card.log_probs]
    return {
        "title": card.title,
        "which": card.which,
        "isGreedy": filtered is None,
        "pieces": [(visible(text), is_marked) for text, is_marked in card.pieces],
        "numbers": card.numbers,
        "tokens": list(zip(token_text.display_tokens(card.tokens), probabilities, drawn, strict=True)),
        "note": card.note,
    }


def sample_cards(cards: tuple[Card, ...], *, key: str, language: str = "") -> None:
    """Show the cards, in this order; the language of their texts is as HTML names it, "" if nobody knows."""
    _COMPONENT(data=pack_cards(cards, language), key=key)

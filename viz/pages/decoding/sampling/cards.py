"""Translations side by side as cards, each of which opens to show its tokens with their probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from typing import Final

import streamlit as st

from viz import theme
from viz.pages.decoding.probabilities import percent
from viz.pictures.payload import fingerprint
from viz.text.html import Marked, literal
from viz.text.messages import _
from viz.text.token_text import display_token

_MUTED: Final = "opacity:0.7"
_NUMBERS: Final = "font-variant-numeric:tabular-nums"
_HEAD: Final = "display:flex;flex-wrap:wrap;justify-content:space-between;column-gap:0.8rem;font-size:0.8rem"
_TEXT: Final = "margin:0.4rem 0 0.5rem;line-height:1.45;overflow-wrap:anywhere"
_LIST: Final = (
    "display:grid;grid-template-columns:max-content max-content;gap:0 0.75rem;margin:0;padding:0;font-size:0.75rem"
)
_LINE: Final = "display:flex;flex-wrap:wrap;gap:4px;margin:0.6rem 0 0;padding:0;list-style:none;font-size:0.875rem"
_TOKEN: Final = (
    "margin:0;padding:3px 7px;border-radius:4px;text-align:center;line-height:1.25;font-size:inherit;"
    "box-shadow:inset 0 0 0 1px color-mix(in srgb,currentColor 18%,transparent)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A translation.

    Attributes:
        title, which: what it is, and which of several it stands for.
        text: its text, marked where it differs.
        numbers: what is measured of it, by name.
        tokens: its tokens.
        log_probs: of each, in nats, under the model.
        filtered_log_probs: the same under the distribution that it was drawn from; None if it was not drawn.
        note: what else is to be known.
    """

    title: str
    which: str
    text: Marked
    numbers: tuple[tuple[str, str], ...]
    tokens: tuple[str, ...]
    log_probs: tuple[float, ...]
    filtered_log_probs: tuple[float, ...] | None
    note: str = ""


def card_html(card: Card, language: str) -> str:
    """What a card says without its steps; what was not drawn has a coloured edge."""
    edge = "" if card.filtered_log_probs else f"border-left:3px solid {theme.HEAD_COLOURS[0]};padding-left:0.7rem"
    numbers = "".join(
        f'<dt style="{_MUTED};font-weight:400">{literal(name)}</dt>'
        f'<dd style="margin:0;text-align:end;{_NUMBERS}">{literal(value)}</dd>'
        for name, value in card.numbers
    )
    note = f'<p style="margin:0.4rem 0 0;font-size:0.75rem;{_MUTED}">{literal(card.note)}</p>' if card.note else ""
    return (
        f'<article style="{edge}"><div style="{_HEAD}"><b>{literal(card.title)}</b>'
        f'<span style="{_MUTED}">{literal(card.which)}</span></div>'
        f'<p lang="{literal(language)}" dir="auto" style="{_TEXT}">{card.text.html()}</p>'
        f'<dl style="{_LIST}">{numbers}</dl>{note}</article>'
    )


def steps_html(card: Card) -> str:
    """Every token on the colour of its probability, below a legend; pointing at one tells both its probabilities."""
    drawn = card.filtered_log_probs or (None,) * len(card.tokens)
    tokens = "".join(map(_token, range(len(card.tokens)), card.tokens, card.log_probs, drawn))
    return f'{_legend()}<ol style="{_LINE}">{tokens}</ol>'


def _token(step: int, token: str, log_prob: float, drawn: float | None) -> str:
    fill, ink = theme.sequential(exp(log_prob))
    shown = percent(exp(log_prob))
    numbers = {"step": step + 1, "own": shown}
    title = (
        _("Step {step}: {own} under the model", **numbers)
        if drawn is None
        else _("Step {step}: {own} under the model, {drawn} as drawn", drawn=percent(exp(drawn)), **numbers)
    )
    return (
        f'<li title="{literal(title)}" style="{_TOKEN};background:{fill};color:{ink}">'
        f'<bdi dir="auto" style="white-space:pre">{literal(display_token(token))}</bdi>'
        f'<small style="display:block;font-size:0.75rem;{_NUMBERS}">{literal(shown)}</small></li>'
    )


def _legend() -> str:
    ticks = "".join(
        f'<span style="position:absolute;left:{tick}%;transform:translateX(-50%)">{tick}</span>'
        for tick in (0, 25, 50, 75, 100)
    )
    label = _("Colour scale: probability from 0, dark, to 100 percent, light")
    return (
        f'<div role="img" aria-label="{literal(label)}" '
        f'style="display:flex;gap:0.7rem;font-size:0.75rem;line-height:1;{_NUMBERS}">{literal(_("Probability (%)"))}'
        '<div style="width:240px;max-width:50%"><div style="height:11px;border-radius:2px;box-shadow:0 0 0 1px '
        f"color-mix(in srgb,currentColor 22%,transparent);background:linear-gradient(to right,"
        f'{",".join(theme.SEQUENTIAL)})"></div>'
        f'<div style="position:relative;height:18px;top:5px;font-size:0.75rem">{ticks}</div></div></div>'
    )


def sample_cards(cards: Sequence[Card], *, language: str = "") -> None:
    """Show the cards, in this order; the language of their texts is as HTML names it, "" if nobody knows."""
    grid = st.container(key="samples").grid(min_column_width=300, border=True)
    for number, card in enumerate(cards):
        key = f"sample-{number}-{fingerprint(repr(card.tokens))}"
        # Its steps need more room than one column has.
        is_open = st.session_state.get(key, False)
        with grid.cell(column_span="all" if is_open else 1):
            st.html(card_html(card, language))
            with st.expander(_("Show steps"), type="compact", on_change="rerun", key=key) as steps:
                if steps.open:
                    st.html(steps_html(card))

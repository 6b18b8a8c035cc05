"""Sampling, of the decoding page: translations that are drawn, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, prod
from typing import TYPE_CHECKING, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz import theme
from viz.access import models, texts, traces
from viz.pages.decoding import export
from viz.pages.decoding.data import searches
from viz.pages.decoding.translations import label_smoothing_note, percent
from viz.pictures.payload import fingerprint
from viz.selection import state
from viz.selection.choices import LIKELY_TOKENS, NO_FILTER, TokenFilter
from viz.server.widgets import sent
from viz.text.html import Marked, literal
from viz.text.messages import _, in_a_row, plural, said
from viz.text.written import decimal, display_token, file_name
from viz.ui import controls, frame, long_work, terms, token_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model import DecodingStep, SampledTranslation, Trace

MAX_SAMPLES = 64
PRESETS: "Mapping[TokenFilter, str]" = {
    LIKELY_TOKENS: said("Likely tokens: temperature 0.7, top-p 0.9"),
    NO_FILTER: said("All tokens: temperature 1"),
}
#: Where fewer translations than this get an unlikely token, sampling from all tokens does not derail.
LEAST_DERAILED = 0.05
#: In hundredths.
LEAST_TEMPERATURE, MOST_TEMPERATURE = 1, 300
LEAST_MASS = 1
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
    """A translation."""

    #: title, which: what it is, and which of several it stands for.
    title: str
    which: str
    text: Marked  #: its text, marked where it differs
    numbers: tuple[tuple[str, str], ...]  #: what is measured of it, by name
    tokens: tuple[str, ...]  #: its tokens
    log_probs: tuple[float, ...]  #: of each, in nats, under the model
    #: the same under the distribution that it was drawn from; None if it was not drawn.
    filtered_log_probs: tuple[float, ...] | None
    note: str = ""  #: what else is to be known


@frame.fragment
def show(trace: "Trace") -> None:
    """The settings, the greedy translation and the samples beside it."""
    selection = state.current()
    writer = models.writer(selection.model)
    vocabulary = models.vocabulary(writer)
    greedy = traces.written(writer, trace.text)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _presets()
        settings = st.popover(_("Settings"), key="sampling-settings", icon=":material/tune:", on_change="rerun")
        st.button(
            _("Sample again"), icon=":material/casino:", on_click=_next_seed, help=_("Continues with the next seed.")
        )
    _settings(len(vocabulary), settings if settings.open else None)
    selection = state.current()
    task = searches.drawing(writer, trace.text, selection.decoding)
    drawn = long_work.outcome(task, _("Sample"), key="samples", start=True, patience=long_work.LONGER_PATIENCE)
    if drawn is None:
        return
    groups = grouped(drawn)
    sample_cards(
        (_greedy_card(greedy), *_cards(drawn, groups, greedy.translation, vocabulary)),
        language=models.target_language(selection.model),
    )
    frame.caption(
        "{num_drawn} samples, {num_groups} distinct; the most frequent first. Words that the greedy translation "
        "does not have are marked; {missing} marks where it has words that are missing here. “Log-probability” is the "
        "model's own; “as sampled” includes temperature, top-k and top-p. Both are in nats.",
        num_drawn=len(drawn),
        num_groups=len(groups),
        missing=token_labels.MISSING,
    )
    if len(groups) == 1 and drawn[0].text == greedy.translation:
        frame.caption(
            "All samples equal the greedy translation: the model is so confident that at these settings almost "
            "nothing else can be sampled. A higher temperature or top-p allows other tokens."
        )
    if reason := why_derailing(greedy.steps, len(vocabulary)):
        terms.caption(in_a_row((reason, label_smoothing_note())))
    name = file_name("samples", f"seed{selection.decoding.sampling_seed}", sentence=trace.text)
    with st.container(horizontal=True):
        controls.table_button(_("Samples (CSV)"), partial(export.samples, drawn), name)
        make = partial(export.sampled_tokens, drawn, vocabulary)
        controls.table_button(_("Their tokens (CSV)"), make, f"{name}-tokens")


def grouped(drawn: "Sequence[SampledTranslation]") -> list[list[int]]:
    """Which samples wrote the same tokens, the most frequent first; of equally frequent ones the first drawn."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, sample in enumerate(drawn):
        groups.setdefault(sample.token_ids, []).append(number)
    return sorted(groups.values(), key=lambda group: (-len(group), group[0]))


def why_derailing(steps: "Sequence[DecodingStep]", vocab_size: int) -> str:
    """Why translations that are sampled from all tokens derail, in numbers of these steps; "" where they do not."""
    listed = max(len(step.candidates) for step in steps)
    outside = [1 - sum(exp(candidate.log_prob) for candidate in step.candidates) for step in steps]
    mean, derailed = sum(outside) / len(outside), 1 - prod(1 - mass for mass in outside)
    if listed >= vocab_size or derailed < LEAST_DERAILED:
        return ""
    return _(
        "Why temperature 1 derails: the {others:,} tokens below the {listed} most probable ones of each step together "
        "have {share} of the probability. Of translations of {length} tokens, {derailed} contain at least one of "
        "them, and the model has to continue from it.",
        listed=listed,
        others=vocab_size - listed,
        share=percent(mean),
        length=len(steps),
        derailed=percent(derailed),
    )


def _presets() -> None:
    """Likely tokens only, or the model's own probabilities; none of them while other settings are chosen."""
    state.propose(**LIKELY_TOKENS._asdict())
    chosen = state.current().decoding.token_filter
    st.session_state["sampling-preset"] = chosen if chosen in PRESETS else None
    st.segmented_control(
        _("Sample from"),
        list(PRESETS),
        key="sampling-preset",
        format_func=lambda preset: _(PRESETS[preset]),
        wrap=True,
        help=_(
            "At each step a token is sampled by its probability; the most probable one is not always taken. The "
            "logits are divided by the temperature before the softmax; top-k keeps only the k most probable tokens, "
            "top-p only as many of the most probable ones as it takes for their probabilities to sum to p. The same "
            "seed gives the same translations."
        ),
        on_change=_take_preset,
    )


def _take_preset() -> None:
    for preset in PRESETS:
        if preset == sent("sampling-preset"):
            state.choose(**preset._asdict())


def _settings(vocab_size: int, slot: DeltaGenerator | None) -> None:
    """All that a sample depends on; a link's settings that cannot be are said on the page itself."""
    hundredths = controls.hundredths
    controls.settle("num_samples", 1, MAX_SAMPLES, said("Number of samples"))
    controls.settle("temperature", LEAST_TEMPERATURE, MOST_TEMPERATURE, said("Temperature"), hundredths)
    controls.settle("top_k", 0, vocab_size, said("Top-k"))
    controls.settle("top_p", LEAST_MASS, 100, said("Top-p"), hundredths)
    controls.settle("sampling_seed", 0, controls.MAX_SEED, said("Seed"))
    if slot is None:
        return
    with slot:
        help_text = _("How many translations are sampled; the first ones stay the same when the number grows.")
        controls.whole_slider("num_samples", _("Samples"), MAX_SAMPLES, help_text=help_text)
        help_text = _("Values below 1 sharpen the distribution, values above 1 flatten it.")
        controls.hundredths_slider(
            "temperature", _("Temperature"), LEAST_TEMPERATURE, MOST_TEMPERATURE, help_text=help_text
        )
        help_text = _(
            "Tokens are sampled only from the most probable ones, as many as it takes for their probabilities to sum "
            "to this value; 1 for all."
        )
        controls.hundredths_slider("top_p", _("Top-p"), LEAST_MASS, 100, help_text=help_text)
        help_text = _("Tokens are sampled only from this many of the most probable ones; 0 for all.")
        controls.number("top_k", _("Top-k"), 0, vocab_size, help_text=help_text)
        help_text = _("The same seed draws the same samples.")
        controls.number("sampling_seed", _("Seed"), 0, controls.MAX_SEED, help_text=help_text)


def _next_seed() -> None:
    state.change(sampling_seed=(state.current().decoding.sampling_seed + 1) % (controls.MAX_SEED + 1))


def _greedy_card(trace: "Trace") -> Card:
    log_probs = tuple(step.log_prob for step in trace.steps)
    return Card(
        title=_("Greedy"),
        which=_("the most probable token at each step"),
        text=Marked(((trace.translation, False),)),
        numbers=((_("Log-probability"), decimal(sum(log_probs))), (_("Tokens"), str(len(log_probs)))),
        tokens=tuple(step.token for step in trace.steps),
        log_probs=log_probs,
        filtered_log_probs=None,
    )


def _cards(
    drawn: "Sequence[SampledTranslation]", groups: list[list[int]], greedy: str, vocabulary: "Sequence[str]"
) -> list[Card]:
    ends = models.writer(state.current().model).end_ids
    cards, written = [], [drawn[group[0]].text for group in groups]
    for group, text in zip(groups, written, strict=True):
        sample = drawn[group[0]]
        notes = [_("Cut off at the maximum output length.")] if sample.token_ids[-1] not in ends else []
        if written.count(text) > 1:
            notes.append(_("Another card has the same text, split into different tokens."))
        if text == greedy:
            notes.append(_("The same text as the greedy translation."))
        numbers = (
            (_("Log-probability"), decimal(sample.log_prob)),
            (_("as sampled"), decimal(sample.filtered_log_prob)),
            (_("Tokens"), str(len(sample.token_ids))),
        )
        cards.append(
            Card(
                title=_("{count} of {drawn}", count=len(group), drawn=len(drawn)),
                which=_which(group),
                text=Marked(token_labels.pieces(texts.word_diff(greedy, text)) or ((_("(nothing)"), False),)),
                numbers=numbers,
                tokens=tuple(vocabulary[token_id] for token_id in sample.token_ids),
                log_probs=sample.log_probs,
                filtered_log_probs=sample.filtered_log_probs,
                note=in_a_row(notes),
            )
        )
    return cards


def _which(group: list[int]) -> str:
    """Number the samples of a card, from 1."""
    numbers = [str(number + 1) for number in group[:6]]
    if len(group) > len(numbers):
        numbers.append("…")
    return plural("sample {numbers}", "samples {numbers}", len(group), numbers=_(", ").join(numbers))


def card_html(card: Card, language: str) -> str:
    """What a card says without its steps; what was not drawn has a coloured edge."""
    edge = "" if card.filtered_log_probs else f"border-left:3px solid {theme.BLUE};padding-left:0.7rem"
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
    fill = theme.colour_at(exp(log_prob))
    shown = percent(exp(log_prob))
    numbers = {"step": step + 1, "own": shown}
    title = (
        _("Step {step}: {own} under the model", **numbers)
        if drawn is None
        else _("Step {step}: {own} under the model, {drawn} as sampled", drawn=percent(exp(drawn)), **numbers)
    )
    return (
        f'<li title="{literal(title)}" style="{_TOKEN};background:{fill};color:{theme.ink_on(fill)}">'
        f'<bdi dir="auto" style="white-space:pre">{literal(display_token(token))}</bdi>'
        f'<small style="display:block;font-size:0.75rem;{_NUMBERS}">{literal(shown)}</small></li>'
    )


def _legend() -> str:
    ticks = "".join(
        f'<span style="position:absolute;left:{tick}%;transform:translateX(-50%)">{tick}</span>'
        for tick in (0, 25, 50, 75, 100)
    )
    label = _("Colour scale: probability from 0% (dark) to 100% (light)")
    return (
        f'<div role="img" aria-label="{literal(label)}" '
        f'style="display:flex;gap:0.7rem;font-size:0.75rem;line-height:1;{_NUMBERS}">{literal(_("Probability (%)"))}'
        '<div style="width:240px;max-width:50%"><div style="height:11px;border-radius:2px;box-shadow:0 0 0 1px '
        f"color-mix(in srgb,currentColor 22%,transparent);background:linear-gradient(to right,"
        f'{",".join(theme.SEQUENTIAL)})"></div>'
        f'<div style="position:relative;height:18px;top:5px;font-size:0.75rem">{ticks}</div></div></div>'
    )


def sample_cards(cards: Sequence[Card], *, language: str) -> None:
    """Show the cards in order; `language` is the HTML code of their texts, "" if unknown."""
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

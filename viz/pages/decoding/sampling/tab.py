"""Sampling, of the decoding page: translations that are drawn, side by side."""

from functools import partial
from math import exp, prod
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.access import models, texts, traces
from viz.pages.decoding import tables as decoded_tables
from viz.pages.decoding.probabilities import label_smoothing_note, percent
from viz.pages.decoding.sampling import data
from viz.pages.decoding.sampling.cards import Card, sample_cards
from viz.selection import state
from viz.selection.decoding import LIKELY_TOKENS, NO_FILTER, TokenFilter
from viz.server.widgets import sent
from viz.text.html import Marked
from viz.text.messages import _, plural, said
from viz.text.numbers import decimal
from viz.text.sites import file_name
from viz.ui import controls, frame, long_work, number_controls, word_differences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model import DecodingStep, SampledTranslation, Trace

MAX_SAMPLES = 64
PRESETS: "Mapping[TokenFilter, str]" = {
    LIKELY_TOKENS: said("Likely tokens: temperature 0.7, top p 0.9"),
    NO_FILTER: said("All tokens: temperature 1"),
}
#: Where fewer translations than this get an unlikely token, sampling from all tokens does not derail.
LEAST_DERAILED = 0.05
#: In hundredths.
LEAST_TEMPERATURE, MOST_TEMPERATURE = 1, 300
LEAST_MASS = 1


@frame.fragment
def show(trace: "Trace") -> None:
    """The settings, the greedy translation and the samples beside it."""
    selection = state.current()
    writer = models.writer(selection.model)
    vocabulary = models.vocabulary(writer)
    greedy = traces.written(writer, trace.text)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _presets()
        settings = st.popover(_("Settings"), key="sampling-settings", icon=":material/tune:")
        st.button(_("Draw anew"), icon=":material/casino:", on_click=_next_seed, help=_("Goes on with the next seed."))
    _settings(len(vocabulary), settings)
    selection = state.current()
    task = data.drawing(writer, trace.text, selection.decoding)
    drawn = long_work.outcome(task, _("Draw"), key="samples", start=True, patience=long_work.LONGER_PATIENCE)
    if drawn is None:
        return
    groups = grouped(drawn)
    sample_cards(
        (_greedy_card(greedy), *_cards(drawn, groups, greedy.translation, vocabulary)),
        language=models.target_language(selection.model),
    )
    st.caption(
        _(
            "{num_drawn} drawn, {num_groups} distinct; the most frequent first. Words that the greedy translation "
            "does not have are marked, {missing} where it has more. “Log-probability” is the model's own; “as drawn” "
            "is that under temperature, top k and top p, all in nats.",
            num_drawn=len(drawn),
            num_groups=len(groups),
            missing=word_differences.MISSING,
        )
    )
    if len(groups) == 1 and drawn[0].text == greedy.translation:
        st.caption(
            _(
                "All samples are the greedy translation: at these settings little else can be sampled, so sure is "
                "the model. A higher temperature or top p lets other tokens in."
            )
        )
    if reason := why_derailing(greedy.steps, len(vocabulary)):
        st.caption(" ".join(filter(None, (reason, label_smoothing_note()))))
    name = file_name("samples", f"seed{selection.decoding.sampling_seed}", sentence=trace.text)
    with st.container(horizontal=True):
        number_controls.table_button(_("Samples (CSV)"), partial(decoded_tables.samples, drawn), name)
        make = partial(decoded_tables.sampled_tokens, drawn, vocabulary)
        number_controls.table_button(_("Their tokens (CSV)"), make, f"{name}-tokens")


def grouped(drawn: "Sequence[SampledTranslation]") -> list[list[int]]:
    """Which samples wrote the same tokens, the most frequent first; of equally frequent ones the first drawn."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, sample in enumerate(drawn):
        groups.setdefault(sample.token_ids, []).append(number)
    return sorted(groups.values(), key=lambda group: (-len(group), group[0]))


def why_derailing(steps: "Sequence[DecodingStep]", vocab_size: int) -> str:
    """Why translations that are sampled from all tokens derail, in numbers of these steps; "" where they do not."""
    listed = max(len(step.candidates) for step in steps)
    outside = [max(0.0, 1 - sum(exp(candidate.log_prob) for candidate in step.candidates)) for step in steps]
    mean, derailed = sum(outside) / len(outside), 1 - prod(1 - mass for mass in outside)
    if listed >= vocab_size or derailed < LEAST_DERAILED:
        return ""
    return _(
        "Why temperature 1 derails: beyond the {listed} likeliest tokens of each step the other {others:,} hold "
        "{share} together. Of translations of {length} tokens, {derailed} get at least one of these, and what follows "
        "has to go on from it.",
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
            "At each step a token is sampled by its probability, in place of the likeliest one. Temperature "
            "divides the logits before the softmax; top k keeps only the k likeliest tokens, top p only the "
            "fewest that together hold p. The same seed gives the same translations."
        ),
        on_change=_take_preset,
    )


def _take_preset() -> None:
    for preset in PRESETS:
        if preset == sent("sampling-preset"):
            state.choose(**preset._asdict())


def _settings(vocab_size: int, slot: DeltaGenerator) -> None:
    """All that a sample depends on; a link's settings that cannot be are said on the page itself."""
    hundredths = number_controls.hundredths
    number_controls.settle("num_samples", 1, MAX_SAMPLES, _("A number of samples of"))
    number_controls.settle("temperature", LEAST_TEMPERATURE, MOST_TEMPERATURE, _("A temperature of"), hundredths)
    number_controls.settle("top_k", 0, vocab_size, _("A top k of"))
    number_controls.settle("top_p", LEAST_MASS, 100, _("A top p of"), hundredths)
    number_controls.settle("sampling_seed", 0, controls.MAX_SEED, _("Seed"))
    with slot:
        help_text = _("How many translations are drawn; the first ones stay as they are when there are more.")
        number_controls.whole_slider("num_samples", _("Samples"), 1, MAX_SAMPLES, help_text=help_text)
        help_text = _("Below 1 the likely tokens gain, above 1 the unlikely ones do.")
        number_controls.hundredths_slider(
            "temperature", _("Temperature"), LEAST_TEMPERATURE, MOST_TEMPERATURE, help_text=help_text
        )
        help_text = _("Only the fewest likeliest tokens that together hold this much can be sampled; 1 for all.")
        number_controls.hundredths_slider("top_p", _("Top p"), LEAST_MASS, 100, help_text=help_text)
        help_text = _("Only so many of the likeliest tokens can be sampled; 0 for all.")
        number_controls.number("top_k", _("Top k"), 0, vocab_size, help_text=help_text)
        help_text = _("Names a series of samples.")
        number_controls.number("sampling_seed", _("Seed"), 0, controls.MAX_SEED, help_text=help_text)


def _next_seed() -> None:
    state.change(sampling_seed=(state.current().decoding.sampling_seed + 1) % (controls.MAX_SEED + 1))


def _greedy_card(trace: "Trace") -> Card:
    log_probs = tuple(step.log_prob for step in trace.steps)
    return Card(
        title=_("Greedy"),
        which=_("the likeliest token each time"),
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
        notes = [_("Cut at the longest text that the model may write.")] if sample.token_ids[-1] not in ends else []
        if written.count(text) > 1:
            notes.append(_("Another card has the same text, cut into other tokens."))
        if text == greedy:
            notes.append(_("The same text as the greedy translation."))
        numbers = (
            (_("Log-probability"), decimal(sample.log_prob)),
            (_("as drawn"), decimal(sample.filtered_log_prob)),
            (_("Tokens"), str(len(sample.token_ids))),
        )
        cards.append(
            Card(
                title=_("{count} of {drawn}", count=len(group), drawn=len(drawn)),
                which=_which(group),
                text=Marked(word_differences.pieces(texts.word_diff(greedy, text)) or ((_("(nothing)"), False),)),
                numbers=numbers,
                tokens=tuple(vocabulary[token_id] for token_id in sample.token_ids),
                log_probs=sample.log_probs,
                filtered_log_probs=sample.filtered_log_probs,
                note=" ".join(notes),
            )
        )
    return cards


def _which(group: list[int]) -> str:
    """Which samples a card stands for, counted from 1."""
    numbers = [str(number + 1) for number in group[:6]]
    if len(group) > len(numbers):
        numbers.append("…")
    return plural("sample {numbers}", "samples {numbers}", len(group), numbers=_(", ").join(numbers))

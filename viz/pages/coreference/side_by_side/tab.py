"""Compare two sentences: what the model makes of a pronoun in each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.access import models
from viz.core.file_names import file_name
from viz.pages.coreference import pair_controls
from viz.pages.coreference.marked_sentence import legend, marked_sentence
from viz.pages.coreference.pair_controls import NAMES
from viz.pages.coreference.side_by_side import data
from viz.pages.coreference.side_by_side.figures import form_bars
from viz.pages.coreference.side_by_side.heads import Side, show_heads
from viz.selection import state
from viz.selection.coreference import MARKS
from viz.ui import controls, frame, sentence
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.coreference.cases import PronounCase


@frame.fragment
def show() -> None:
    """The choice of a pair, its translations, the map of all heads, and the rows of one layer."""
    pair = pair_controls.chosen_pair()
    if pair is None:
        texts = [state.current().common.text, controls.sentence("other_text", "Compare with")]
    else:
        texts = [case.sentence for case in pair.cases]
    above = st.container()
    with st.grid(2, min_column_width=430, gap="medium"):
        slots = [st.container() for _ in texts]
    # A sentence that cannot be read must not hide the one before it.
    shown = [_read(number, text, slot) for number, (text, slot) in enumerate(zip(texts, slots, strict=True))]
    with above:
        cases = _own_cases(texts) if pair is None else list(pair.cases)
    for number, ((trace, line), case, slot) in enumerate(zip(shown, cases, slots, strict=True)):
        if case is not None:
            with slot:
                _show_choice(number, trace, case, line)
    if all(cases):
        st.html(legend())
        if models.abilities(state.current().model).is_headlight:
            st.caption(
                "Bars: how probable each German pronoun was in the place of the written one, given the words before "
                "it. They need not add up to 1, for other words could follow as well."
            )
    if pair is not None and pair.is_control:
        st.caption("A control: the pronoun stands for neither word, so that no head can be right.")
    sides = [Side(number, trace, case) for number, ((trace, _), case) in enumerate(zip(shown, cases, strict=True))]
    show_heads(sides)


def _read(number: int, text: str, slot: DeltaGenerator) -> tuple["Trace", DeltaGenerator]:
    """The trace of a sentence, and the element that shows it, to be marked."""
    with slot:
        line = st.empty()
        trace = sentence.read(text, f"trace-{number}")
        line.html(marked_sentence(trace.text, {}, trace.translation, None, _names()))
    return trace, line


def _names() -> tuple[str, str]:
    """What a sentence and what was written for it are called."""
    return ("EN", "DE") if models.is_english_german(state.current().model) else ("TEXT", "TARGET")


def _own_cases(texts: Sequence[str]) -> list["PronounCase | None"]:
    marks = pair_controls.marked_words(texts)
    cases = [data.marked_case(text, mark) for text, mark in zip(texts, marks, strict=True)]
    for name, mark, case in zip(NAMES, marks, cases, strict=True):
        if case is None and None not in mark.positions:
            st.warning(
                f"In the {name} sentence one word plays two roles. Pronoun, antecedent and distractor must be three "
                "words: click another one.",
                icon=":material/warning:",
            )
        elif case is None:
            missing = " and ".join(role for role, word in zip(MARKS, mark.positions, strict=True) if word is None)
            st.info(
                f"Click the {missing} in the {name} sentence to see which heads follow them. The rows of all heads are "
                "below in any case.",
                icon=":material/ads_click:",
            )
    return cases


def _show_choice(number: int, trace: "Trace", case: "PronounCase", line: DeltaGenerator) -> None:
    """Mark the pronoun in both languages, and show how probable the other German pronouns were."""
    spans = dict(zip(MARKS, case.spans, strict=True))
    model = state.current().model
    choice = data.pronoun_choice(models.translator(model), case) if models.abilities(model).is_headlight else None
    if choice is None or isinstance(choice.pronoun, str):
        line.html(marked_sentence(trace.text, spans, trace.translation, None, _names()))
        if choice is not None:
            why = plain(str(choice.pronoun))
            st.caption(f"Which German word stands for “{plain(case.pronoun_text)}” cannot be told: {why}.")
        return
    line.html(marked_sentence(trace.text, spans, choice.translation, choice.pronoun.span, _names()))
    frame.chart(
        form_bars(choice.probabilities, choice.pronoun.text),
        f"forms-{number}",
        file_name("pronoun", sentence=trace.text),
        "Probability of each German pronoun at that step: "
        + ", ".join(f"{form} {value:.3f}" for form, value in choice.probabilities.items()),
    )

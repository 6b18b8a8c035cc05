"""Two sentences side by side, of the compare page: what the model makes of a pronoun in each.

Knows nothing of heads, nor of how a probability is computed.
"""

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
    for number, ((trace, place), case, slot) in enumerate(zip(shown, cases, slots, strict=True)):
        if case is not None:
            with slot:
                _show_choice(number, trace, case, place)
    if all(cases):
        st.html(legend())
    if all(cases) and models.abilities(state.current().model).is_headlight:
        st.caption(
            "Bars: how probable each German pronoun was in the place of the written one, given the words before it. "
            "They need not add up to 1, for other words could follow as well."
        )
    if pair is not None and pair.is_control:
        st.caption("A control: the pronoun stands for neither word, so that no head can be right.")
    sides = [Side(number, trace, case) for number, ((trace, _), case) in enumerate(zip(shown, cases, strict=True))]
    show_heads(sides)


def _read(number: int, text: str, slot: DeltaGenerator) -> tuple["Trace", DeltaGenerator]:
    """The trace of a sentence, and the place where it stands, to be marked."""
    with slot:
        place = st.empty()
        trace = sentence.read(text, f"trace-{number}")
        place.html(marked_sentence(trace.text, {}, trace.translation, None, _names()))
    return trace, place


def _names() -> tuple[str, str]:
    """What stands before a sentence and what was written for it."""
    selection = state.current()
    return ("EN", "DE") if models.is_english_german(selection.model) else ("TEXT", "TARGET")


def _own_cases(texts: Sequence[str]) -> list["PronounCase | None"]:
    marks = pair_controls.marked_words(texts)
    cases = [data.marked_case(text, mark) for text, mark in zip(texts, marks, strict=True)]
    for name, mark, case in zip(NAMES, marks, cases, strict=True):
        if case is None and None not in mark.places:
            st.warning(
                f"In the {name} sentence one word plays two roles. Pronoun, antecedent and distractor must be three "
                "words: click another one.",
                icon=":material/warning:",
            )
        elif case is None:
            missing = " and ".join(role for role, place in zip(MARKS, mark.places, strict=True) if place is None)
            st.info(
                f"Click the {missing} in the {name} sentence to see which heads follow them. The rows of all heads are "
                "below in any case.",
                icon=":material/ads_click:",
            )
    return cases


def _show_choice(number: int, trace: "Trace", case: "PronounCase", place: DeltaGenerator) -> None:
    """Mark the pronoun in both languages, and show how probable the other German pronouns were."""
    if not models.abilities(state.current().model).is_headlight:
        spans = dict(zip(MARKS, case.spans, strict=True))
        place.html(marked_sentence(trace.text, spans, trace.translation, None, _names()))
        return
    choice = data.pronoun_choice(models.translator(state.current().model), case)
    spans = dict(zip(MARKS, case.spans, strict=True))
    found = choice.pronoun
    if isinstance(found, str):
        place.html(marked_sentence(trace.text, spans, trace.translation, None, _names()))
        st.caption(f"Which German word stands for “{plain(case.pronoun_text)}” cannot be told: {plain(found)}.")
        return
    place.html(marked_sentence(trace.text, spans, choice.translation, found.span, _names()))
    st.plotly_chart(
        form_bars(choice.probabilities, found.text),
        key=f"forms-{number}",
        config=frame.chart_config(file_name("pronoun", sentence=trace.text)),
        alt="Probability of each German pronoun at that step: "
        + ", ".join(f"{form} {value:.3f}" for form, value in choice.probabilities.items()),
    )

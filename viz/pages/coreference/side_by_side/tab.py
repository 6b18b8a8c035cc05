"""Compare two sentences: what the model makes of a pronoun in each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.access import models
from viz.pages.coreference import pair_controls
from viz.pages.coreference.data import marked_case, pronoun_choice
from viz.pages.coreference.marked_sentence import ROLES, legend, marked_sentence
from viz.pages.coreference.pair_controls import NAMES
from viz.pages.coreference.side_by_side import heads
from viz.pages.coreference.side_by_side.data import Side
from viz.pages.coreference.side_by_side.figures import form_bars
from viz.selection import state
from viz.selection.coreference import MARKS
from viz.text.messages import _, said, with_and, with_commas
from viz.text.sites import file_name
from viz.ui import frame, sentence
from viz.ui.controls import plain
from viz.ui.sentence import Line

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.coreference.cases import PronounCase
    from model.analysis.coreference.pronoun_choice import PronounChoice

CONTROL: Final = said("A control: the pronoun stands for neither word, so that no head can be right.")
DROPPED: Final = said(
    "A control without a pronoun: the subject is left out, as Chinese may do. Marked as “pronoun” is the predicate "
    "that lacks it, the place from which one looks; the antecedent is what the subject would be."
)


@frame.fragment
def show() -> None:
    """The choice of a pair, the map of all heads beside its translations, and the rows of one layer."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    pair = pair_controls.chosen_pair(row)
    if pair is None:
        texts = [state.current().common.text, pair_controls.second_sentence(row)]
    else:
        texts = [case.sentence for case in pair.cases]
    if not texts[1]:
        _read(0, texts[0], st.container())
        return
    with st.grid(2, min_column_width=430, gap="medium"):
        picture, words = st.container(), st.container()
    with words:
        found = st.container()
        slots = [st.container() for _ in texts]
        below, written = st.container(), st.container()
    # Side by side they need more room than a column has.
    choice = st.container(horizontal=True, vertical_alignment="bottom")
    # A sentence that cannot be read must not hide the one before it.
    shown = [_read(number, text, slot) for number, (text, slot) in enumerate(zip(texts, slots, strict=True))]
    with picture:
        cases, guesses = _own_cases(texts, row) if pair is None else (list(pair.cases), [False] * len(texts))
    with below:
        if all(cases):
            st.html(legend(is_guess=any(guesses)))
        if pair is not None and pair.is_control:
            st.caption(_(DROPPED if pair.cases[0].is_dropped else CONTROL))
    sides = [Side(number, trace, case) for number, ((trace, _), case) in enumerate(zip(shown, cases, strict=True))]
    choices = [
        _mark(side.trace, side.case, line, is_guess=is_guess) if side.case is not None else None
        for side, (_, line), is_guess in zip(sides, shown, guesses, strict=True)
    ]
    looking, site = heads.show_all(sides, heads.Slots(picture, found, choice))
    with written:
        _show_choices(sides, choices)
    heads.show_rows(looking, site)


def _read(number: int, text: str, slot: DeltaGenerator) -> tuple["Trace", DeltaGenerator]:
    """The trace of a sentence, and the element that shows it, to be marked."""
    with slot:
        line = st.empty()
        trace = sentence.read(text, f"trace-{number}")
        source, written = _lines(trace)
        line.html(marked_sentence(source, {}, written, None))
        # The sentences of a set are in the language that the model reads, or English.
        for caution in () if state.current().coreference.pair else sentence.cautions(source):
            st.caption(caution)
    return trace, line


def _lines(trace: "Trace") -> tuple[Line, Line | None]:
    """What was read, and what was written for it, if anything was."""
    source, *written = sentence.lines_of(trace)
    return source, written[0] if written else None


def _own_cases(texts: Sequence[str], row: DeltaGenerator) -> "tuple[list[PronounCase | None], list[bool]]":
    """A case for each of one's own sentences, None where words are missing, and whether its candidates are a guess."""
    own = pair_controls.marked_words(texts, row)
    marks = [one.marks for one in own]
    cases = [marked_case(text, mark) for text, mark in zip(texts, marks, strict=True)]
    for name, mark, case in zip(NAMES, marks, cases, strict=True):
        if case is None and None not in mark.positions:
            st.warning(
                _(
                    "In the {sentence} one word plays two roles. Pronoun, antecedent and distractor must be three "
                    "words: click another one.",
                    sentence=name,
                ),
                icon=":material/warning:",
            )
        elif case is None:
            missing = with_and(
                ROLES[role].name for role, word in zip(MARKS, mark.positions, strict=True) if word is None
            )
            st.info(
                _(
                    "Click the {missing} in the {sentence} to see which heads follow them. The rows of all heads "
                    "are below in any case.",
                    missing=missing,
                    sentence=name,
                ),
                icon=":material/ads_click:",
            )
    return cases, [one.is_guess for one in own]


def _mark(trace: "Trace", case: "PronounCase", line: DeltaGenerator, *, is_guess: bool) -> "PronounChoice | None":
    """Mark the words of a case in both lines; the choice of its German pronoun is returned, if there is one."""
    spans = dict(zip(MARKS, case.spans, strict=True))
    model = state.current().model
    choice = pronoun_choice(models.any_translator(model), case) if models.is_english_german(model) else None
    source, written = _lines(trace)
    pronoun = None if choice is None or isinstance(choice.pronoun, str) else choice.pronoun.span
    line.html(marked_sentence(source, spans, written, pronoun, is_guess=is_guess))
    return choice


def _show_choices(sides: Sequence[Side], choices: "Sequence[PronounChoice | None]") -> None:
    """How probable each German pronoun was where the model wrote one."""
    if not any(choices):
        return
    st.markdown(
        f"**{_('The pronoun that it writes')}**",
        help=_(
            "How probable each German pronoun was in the place of the written one, given the words before it. They "
            "need not add up to 1, for other words could follow as well."
        ),
    )
    with st.grid(2, min_column_width=200, gap="small"):
        for side, choice in zip(sides, choices, strict=True):
            with st.container():
                if side.case is not None and choice is not None:
                    _show_choice(side, side.case, choice)


def _show_choice(side: Side, case: "PronounCase", choice: "PronounChoice") -> None:
    if isinstance(choice.pronoun, str):
        st.caption(
            _(
                "Which German word stands for “{pronoun}” cannot be told: {reason}.",
                pronoun=plain(case.pronoun_text),
                reason=plain(choice.pronoun),
            )
        )
        return
    frame.chart(
        form_bars(choice.probabilities, choice.pronoun.text),
        f"forms-{side.number}",
        file_name("pronoun", sentence=side.trace.text),
        _(
            "Probability of each German pronoun at that step: {probabilities}",
            probabilities=with_commas(f"{form} {value:.3f}" for form, value in choice.probabilities.items()),
        ),
    )

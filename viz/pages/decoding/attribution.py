"""Attribution, of the decoding page: which words a written token comes from, and what hiding them does."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.access import attribution, head_verdict, models, traces
from viz.pages.decoding import translations
from viz.selection import state
from viz.selection.choices import ALONE
from viz.text.messages import _, said
from viz.text.written import display_token, file_name
from viz.ui import attribution as pictures
from viz.ui import controls, frame
from viz.ui.attribution import asked_label

if TYPE_CHECKING:
    from model import Trace


@frame.fragment
def show(trace: "Trace") -> None:
    """The question, what each method answers, and the deletion test of the answers."""
    model = state.current().model
    abilities = models.abilities(model)
    through = said("The attribution methods need self-attention: they follow it through every layer.")
    if frame.lacking(abilities, "self-attention", through) or frame.lacking(abilities, "word choice"):
        return
    if trace.edits:
        st.info(
            _(
                "This translation was written with edited heads; attribution applies to the unedited model. Choose "
                "another translation above."
            )
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        step = translations.slider(len(trace.steps))
        against = _rival(trace, step)
        seconds = pictures.asked_seconds(trace)
    task = attribution.explaining_step(models.text_chooser(model), trace, step, against, seconds)
    name = file_name("attribution", f"step{step + 1}", sentence=trace.text)
    pictures.show(task, _choice(trace, step, against), key="attribution", name=name)


@frame.fragment
def show_masked() -> None:
    """The same of an encoder, which writes nothing: of the word that it says in place of [MASK], else of the last; of a
    classifier of a label.
    """
    reader, text = models.chooser(state.current().model), state.current().common.text
    asked = head_verdict.own_question(reader, text, "", asked_label(reader, text))
    choice = pictures.choice_in_words(*asked.tokens)
    name = file_name("attribution", sentence=asked.texts[0])
    pictures.show(attribution.explaining(reader, asked), choice, key="attribution", name=name)


def _rival(trace: "Trace", step: int) -> int | None:
    """The token that the written one is set against; None for its own log-probability."""
    written = trace.steps[step]
    other = traces.rival(trace, step)
    proposed = ALONE if other is None else other.token_id + 1
    state.propose(rival=proposed)
    chosen = state.current().decoding.rival
    labels = {ALONE: _("nothing: only the token's own probability")} | {
        each.token_id + 1: _("rather than {token}", token=display_token(each.token))
        for each in written.candidates
        if each.token_id != written.token_id
    }
    shown = controls.dropdown(
        "rival", _("Compared with"), labels, shown=None if chosen in labels else proposed, width=320
    )
    return None if shown == ALONE else shown - 1


def _choice(trace: "Trace", step: int, against: int | None) -> str:
    """Name the token choice that is explained."""
    written = trace.steps[step]
    other = next((each.token for each in written.candidates if each.token_id == against), None)
    return pictures.choice_in_words(written.token, other)

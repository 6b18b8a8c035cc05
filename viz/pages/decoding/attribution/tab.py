"""Attribution, of the decoding page: which words a written token comes from, and which method to trust here."""

from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models
from viz.core import html
from viz.core.file_names import file_name
from viz.core.token_text import display_token
from viz.pages.decoding import opening, step_control
from viz.pages.decoding import tables as decoded_tables
from viz.pages.decoding.attribution import data, figures
from viz.selection import state
from viz.selection.decoding import ALONE
from viz.ui import controls, frame, long_work, number_controls
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.attribution.methods import Method
    from viz.pages.decoding.attribution.data import Explained

NAMES: "Final[dict[Method, str]]" = {
    "cross-attention": "Cross-attention, all heads",
    "rollout": "Rollout",
    "gradient": "Gradient × input",
    "integrated": "Integrated gradients",
    "zeroing": "Value zeroing",
    "alti": "ALTI",
}
METHODS_IN_WORDS: Final = """
- **Cross-attention**: the weights of the row that writes the token, the mean of all heads of all layers.
- **Rollout** (Abnar & Zuidema 2020): the last layer's weights, followed back through the encoder's.
- **Gradient × input** (Shrikumar et al. 2016): how the choice changes with a little more of each embedding.
- **Integrated gradients** (Sundararajan et al. 2017): the same, on average from no embedding to the whole one.
- **Value zeroing** (Mohebbi et al. 2023): how far each layer's outputs turn without the values of one token, followed
  through all layers. In the decoder both attentions share a row, so little is left for what was written before.
- **ALTI** (Ferrando et al. 2022): how much nearer each transformed vector brings an attention's output, with the
  residual connection, followed through all layers.
"""
_COLUMNS: Final = (
    html.Column("Method"),
    html.Column("Named first", language="en"),
    html.Column("Falls (nats)", is_number=True),
    html.Column("Beats random", is_number=True),
    html.Column("Written before", is_number=True),
)
#: Words of each method that the table names.
NAMED: Final = 3


@frame.fragment
def show(trace: "Trace") -> None:
    """The question, what each method answers, and the deletion test of the answers."""
    if frame.for_translators("These methods reach into every layer."):
        return
    if trace.edits:
        st.info("Heads are edited in this translation; attribution is of the model as it is. Choose another one above.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        step = step_control.slider(len(trace.steps))
        against = _rival(trace, step)
    task = data.explaining(models.translator(state.current().model), trace, step, against)
    explained = long_work.outcome(task, "Explain", key="attribution", start=True, patience=long_work.LONGER_PATIENCE)
    if explained is None:
        return
    choice, name = _choice(trace, step, against), file_name("attribution", f"step{step + 1}", sentence=trace.text)
    alt = f"What six methods give each word of the sentence for {choice}"
    frame.chart(figures.word_map(explained, NAMES), "attribution-words", f"{name}-words", alt)
    st.markdown(_answer(explained, choice))
    st.caption(
        "Warm: the word speaks for this choice; cold: against it. Each row has its own scale, to its largest number. "
        "Gradients know what the token is compared with; the other methods say what the row that writes it is made of, "
        "whatever is written there."
    )
    alt = f"{choice} while words are hidden, in the order of each method and in random orders"
    frame.chart(figures.deletion_lines(explained, NAMES, "nats"), "attribution-deletion", f"{name}-deletion", alt)
    st.caption(
        f"The deletion test: log-probability of {choice}, while the words that a method names are hidden one after "
        "the other, so that nothing attends to them. The sooner it falls, the more the words were needed that the "
        f"method names first. Grey: the range of {len(explained.random)} random orders."
    )
    st.html(html.table(_COLUMNS, [_row(explained, method) for method in NAMES], label="What each method names"))
    st.caption("Falls: on average over 1, 2 … all words hidden. Written before: what a method gives the tokens before.")
    with st.expander("What each method is", key="attribution-methods"):
        st.markdown(METHODS_IN_WORDS)
        st.caption(
            f"Integrated gradients miss what they should add up to by {explained.missing:+.2f} nats here (32 points, "
            "from a zero embedding at each position)."
        )
    number_controls.table_button("Table (CSV)", partial(decoded_tables.attributions, explained), name)


def _rival(trace: "Trace", step: int) -> int | None:
    """The token that the written one is set against; None for its own log-probability."""
    written = trace.steps[step]
    other = opening.rival(trace, step)
    proposed = ALONE if other is None else other.token_id + 1
    state.propose(rival=proposed)
    chosen = state.current().decoding.rival
    labels = {ALONE: "nothing: how probable it is"} | {
        each.token_id + 1: f"rather than {display_token(each.token)}"
        for each in written.candidates
        if each.token_id != written.token_id
    }
    shown = controls.dropdown("rival", "Compared with", labels, shown=None if chosen in labels else proposed, width=320)
    return None if shown == ALONE else shown - 1


def _choice(trace: "Trace", step: int, against: int | None) -> str:
    """What is explained, in words."""
    written = trace.steps[step]
    other = next((each.token for each in written.candidates if each.token_id == against), None)
    said = f"“{plain(_spoken(written.token))}”"
    return said if other is None else f"{said} rather than “{plain(_spoken(other))}”"


def _answer(explained: "Explained", choice: str) -> str:
    best, falls = explained.best, [drawn.fall for drawn in explained.random]
    if explained.deletions[best].fall <= sum(falls) / len(falls):
        return f"Why {choice}? None of these methods is to be trusted here: words in random order do as well."
    words = ", ".join(f"“{plain(word)}”" for word in _named(explained, best))
    return (
        f"Why {choice}? **{NAMES[best]}** is to be trusted most here: hide the words that it names, first {words}, and "
        f"the choice falls by {explained.deletions[best].fall:.1f} nats on average; in random orders by "
        f"{sum(falls) / len(falls):.1f} ({min(falls):.1f} to {max(falls):.1f})."
    )


def _named(explained: "Explained", method: "Method") -> list[str]:
    return [explained.words[word] for word in explained.deletions[method].order[:NAMED]]


def _row(explained: "Explained", method: "Method") -> tuple[str, ...]:
    written = explained.written[method]
    return (
        NAMES[method],
        ", ".join(_named(explained, method)),
        f"{explained.deletions[method].fall:.2f}",
        f"{explained.beaten(method)} of {len(explained.random)}",
        "—" if written is None else f"{written:+.2f}".replace("-", "−"),
    )


def _spoken(token: str) -> str:
    shown = display_token(token)
    return shown.lstrip("▁") or shown

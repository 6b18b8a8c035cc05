"""Open a page on what is most worth seeing of a trace, until a person chooses a head, and say it in a sentence."""

from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import findings, models
from viz.core.sites import NAMES, head_label
from viz.selection import state
from viz.ui import token_labels
from viz.ui.controls import plain
from viz.ui.head_metrics import TEXTS

if TYPE_CHECKING:
    from model import Trace
    from viz.access.findings import Finding

_GUESS: Final = "Which word is meant is a guess: of those with an article before them, the one with the largest weight."


def open_on_finding(trace: "Trace") -> None:
    """Propose the head that is most worth seeing, and fit the selection to the model."""
    found = of(trace)
    state.propose(site=found.site, layer=found.layer, head=found.head)
    state.put(state.current().for_model(trace.shapes))


def of(trace: "Trace") -> "Finding":
    """What is most worth seeing of a trace of the chosen model."""
    return findings.finding(trace, models.reader(state.current().model))


def kept(trace: "Trace") -> tuple[int | None, int | None]:
    """The query and the key that are kept: a person's, or those of the finding where a person chose no head."""
    common = state.current().common
    if common.head_chosen or (common.token, common.key_token) != (None, None):
        return common.token, common.key_token
    link = of(trace).link
    return (None, None) if link is None else (link.row, link.key)


def default_cell(trace: "Trace", site: str) -> tuple[int, int | None]:
    """The row to begin with where a page needs one, the finding's or else the pronoun's; and the finding's key."""
    common, link = state.current().common, of(trace).link
    if common.head_chosen or link is None:
        return token_labels.default_row(trace, site), None
    return link.row, link.key


def show(trace: "Trace") -> None:
    """What was found, in a sentence, while its head is open."""
    found, common = of(trace), state.current().common
    if (common.site, common.layer, common.head) == (found.site, found.layer, found.head):
        st.markdown(_sentence(found), help=_GUESS if found.is_guess else None)


def _sentence(found: "Finding") -> str:
    where = f"**{head_label(found.layer, found.head)}** of the {NAMES[found.site].phrase}"
    link = found.link
    if link is not None:
        pronoun, antecedent, written = (plain(word) for word in (link.pronoun, link.antecedent, link.written))
        while_writing = f" while it writes “{written}”" if written else ""
        return f"“{pronoun}” → {where} puts **{link.weight:.4f}** of its weight on “{antecedent}”{while_writing}."
    if found.surest is not None:
        metric = TEXTS[found.surest.job.metric]
        return f"{where} is the surest of its job: {metric.name.lower()}, **{found.surest.job.value:.2f}** on average."
    return ""

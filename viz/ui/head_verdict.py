"""Say in one sentence whether a choice between tokens depends on a head, from three interventions side by side.

Every page that states what a head does to a choice states it by this sentence, so that no two disagree.
"""

from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.server.background_jobs import Task
from viz.text.messages import Message, _, said
from viz.text.numbers import signed
from viz.text.sites import NAMES, head_label
from viz.text.token_text import spoken
from viz.ui import long_work
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model.analysis.interventions.head_verdict import Dependence, Intervention
    from viz.access.head_verdict import Stated

_VERDICTS: "Final[dict[Dependence, str]]" = {
    "needs": said("The choice of {choice} needs {head}: {off}; {swapped}; {pointed}."),
    "can change": said(
        "{head} can change the choice of {choice}, but the choice does not need it: {off}; {swapped}; {pointed}."
    ),
    "stays": said("{head} alone does not change the choice of {choice}: {off}; {swapped}; {pointed}."),
}
#: Whether the choice stays → what is said of it under each intervention.
_OFF: Final = {
    True: said("switched off, “{token}” stays ({change} nats)"),
    False: said("switched off, it becomes “{token}” ({change} nats)"),
}
_SWAPPED: Final = {
    True: said("with its output from the other sentence, “{token}” stays ({change} nats)"),
    False: said("with its output from the other sentence, it becomes “{token}” ({change} nats)"),
}
_POINTED: Final = {
    True: said("pointed at “{key}”, “{token}” stays ({change} nats)"),
    False: said("pointed at “{key}”, it becomes “{token}” ({change} nats)"),
}


def sentence(stated: "Stated") -> Message:
    """The verdict, in any language and without Markdown."""
    verdict = stated.verdict
    site, layer, head = verdict.head
    token, against = spoken(stated.token), spoken(stated.against)
    choice = said("“{token}” rather than “{other}”", token=token, other=against) if against else f"“{token}”"

    def of(found: "Intervention", texts: dict[bool, Message], said_then: str, key: str = "") -> Message:
        stays = found.said == verdict.said
        values = {"key": spoken(key)} if key else {}
        return said(texts[stays], token=spoken(said_then), change=signed(found.change, 1), **values)

    return said(
        _VERDICTS[verdict.dependence],
        head=said("{site} {head}", site=NAMES[site].short, head=head_label(layer, head)),
        choice=choice,
        off=of(verdict.off, _OFF, stated.off),
        swapped=said("there is no other sentence to take its output from")
        if verdict.swapped is None
        else of(verdict.swapped, _SWAPPED, stated.swapped),
        pointed=said("it cannot be pointed at a word")
        if verdict.pointed is None
        else of(verdict.pointed, _POINTED, stated.pointed, stated.key),
    )


def show(task: Task["Stated"], *, key: str, start: bool = True) -> None:
    """The sentence, once it is computed, and what was measured; `key` is of the widgets."""
    stated = long_work.outcome(task, _("Test this head"), key=key, start=start)
    if stated is None:
        return
    st.markdown(f"**{plain(_(sentence(stated)))}**")
    st.caption(
        _(
            "Three interventions on this head only, in every row. Nats: the change of log p of the first token − log "
            "p of the second (for one token alone, of its log p). Of all tokens that it could be pointed at, the one "
            "that costs most is used."
        )
    )

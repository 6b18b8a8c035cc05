"""Say in one sentence whether a choice between tokens depends on a head, from three interventions side by side.

Every page that states what a head does to a choice states it by this sentence, so that no two disagree.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from viz.access import head_verdict as access
from viz.selection import state
from viz.text.messages import Message, _, said
from viz.text.written import NamedHead, signed, spoken
from viz.ui import controls

if TYPE_CHECKING:
    from model.analysis.interventions.head_verdict import Dependence, Intervention
    from model.word_choice import Chooser
    from viz.access.head_verdict import Stated

_VERDICTS: "Final[dict[Dependence, str]]" = {
    "needs": said("The choice of {choice} needs {head}: {off}; {pointed}; {swapped}."),
    "can change": said(
        "{head} can change the choice of {choice}, but the choice does not need it: {off}; {pointed}; {swapped}."
    ),
    "stays": said("{head} alone does not change the choice of {choice}: {off}; {pointed}; {swapped}."),
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


@dataclass(frozen=True, slots=True)
class Tried:
    """An intervention, in words."""

    title: Message  #: what is done to the head
    token: str = ""  #: what the model then says; "" where the intervention cannot be made
    stays: bool = True  #: whether it says that without the intervention, too
    change: float = 0.0  #: of the choice, in nats
    how: str = ""  #: what the head does then
    why_not: str = ""  #: where it cannot be made, why


def tried(stated: "Stated") -> tuple[Tried, Tried, Tried]:
    """Switched off, pointed at a token, swapped from the other sentence."""

    def of(title: Message, found: "Intervention | None", token: str, how: str, why_not: str = "") -> Tried:
        if found is None:
            return Tried(title, why_not=why_not)
        return Tried(title, spoken(token), found.said == stated.verdict.said, found.change, how)

    verdict, (looks_at, weight) = stated.verdict, stated.looks_at
    point, how = said("Pointed at a token"), said("All its weight goes there.")
    if stated.key:
        point = said("Pointed at “{key}”", key=spoken(stated.key))
    if looks_at:
        how = said("By itself it attends to “{token}” ({weight:.2f}).", token=spoken(looks_at), weight=weight)
    swap, no_b = said("Swapped from the other sentence"), said("there is no other sentence to take its output from")
    return (
        of(said("Switched off"), verdict.off, stated.off, said("It adds nothing.")),
        of(point, verdict.pointed, stated.pointed, how, said("it cannot be pointed at a word")),
        of(swap, verdict.swapped, stated.swapped, said("It adds what it added reading B."), no_b),
    )


def sentence(stated: "Stated") -> Message:
    """The verdict, in any language and without Markdown."""

    def of(found: Tried, texts: dict[bool, Message]) -> str:
        if found.why_not:
            return found.why_not
        values = {"key": spoken(stated.key)} if texts is _POINTED else {}
        return said(texts[found.stays], token=found.token, change=signed(found.change, 1), **values)

    off, pointed, swapped = map(of, tried(stated), (_OFF, _POINTED, _SWAPPED))
    return said(
        _VERDICTS[stated.verdict.dependence],
        head=NamedHead(*stated.verdict.head, with_site=True),
        choice=said("“{token}” rather than “{other}”", token=spoken(stated.token), other=spoken(stated.against)),
        off=off,
        pointed=pointed,
        swapped=swapped,
    )


def chosen_label(reader: "Chooser", text: str) -> tuple[int, ...]:
    """The label of a classifier that a person has chosen, by its id; nothing of a model of words.

    Until a person chooses one it is what the model says. Raises a HeadlightError if the model cannot read the text.
    """
    names = reader.labels(text)
    return (state.position("label", len(names), access.said_label(reader, text)),) if names else ()


def asked_label(reader: "Chooser", text: str) -> tuple[int, ...]:
    """As `chosen_label`, chosen from a list."""
    labels = dict(enumerate(reader.labels(text)))
    return tuple(
        controls.dropdown("label", _("Label"), labels, shown=shown, width=190) for shown in chosen_label(reader, text)
    )

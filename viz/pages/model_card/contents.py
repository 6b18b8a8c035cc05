"""Show the contents of a page: a link for each section, which brings it to the top."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from viz.pictures.component import Component
from viz.pictures.payload import Text, hear
from viz.selection import state
from viz.selection.choices import ModelSection
from viz.text.messages import _

_CONTENTS: Final = Component("pages/model_card/contents.js", "pages/model_card/contents.css")


@dataclass(frozen=True, slots=True)
class Contents:
    """The labels of the sections, and which of them is asked for; the first is where the page opens."""

    sections: Sequence[Text]
    open: int


def contents(labels: Sequence[ModelSection]) -> None:
    """Show a link for each section; an address that names one of them brings it to the top, as a click does.

    The section with number n is a container with the key `section-n`.
    """
    asked = state.current().model_card.model_section
    _CONTENTS.show(
        Contents([_(label) for label in labels], labels.index(asked) if asked in labels else 0),
        key="contents",
        open=hear(lambda number: state.choose(model_section=labels[number]), int, to=range(len(labels))),
    )

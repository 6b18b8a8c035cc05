"""What an atlas may be made of, a module each: sentences, or recordings that a model writes about."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol

from model.errors import Message
from viz.access import models
from viz.pages.atlas import measuring, recordings
from viz.selection import state
from viz.ui.snippets import Snippet

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model.abilities import SourceKind
    from model.analysis.atlas.measure import Atlas


class Corpus(Protocol):
    """What the page asks of such a module."""

    @property
    def STRONGEST(self) -> Message:
        """Stands above its parts in which the metric `name` of a head is highest."""

    @property
    def IS_READ(self) -> bool:
        """Whether its parts are texts, in which a head looks from word to word."""

    def measured(self, above: "DeltaGenerator") -> "Atlas | None":
        """The atlas, once it is measured; until then, the means to measure it, what is to be done first in `above`."""

    def python(self, *lines: str) -> Snippet:
        """Lines about `atlas`, after those that make it."""

    def choose(self, text: str) -> None:
        """Choose the part that the atlas calls so, for every page."""


_OF_KIND: Final[Mapping["SourceKind | None", Corpus]] = {"sound": recordings}


def chosen() -> Corpus:
    """What an atlas of the chosen model is made of."""
    return _OF_KIND.get(models.reads(state.current().model), measuring)

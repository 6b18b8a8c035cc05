"""What is chosen on the page of masks and positional encodings."""

from dataclasses import dataclass
from typing import Annotated, Literal

from viz.selection.examples import BATCH_SENTENCES
from viz.selection.fields import Param

MasksTab = Literal["Masks", "Positional encodings"]
Side = Literal["source", "target"]


@dataclass(frozen=True, slots=True)
class MasksPositionsChoices:
    """What is chosen on the page of masks and positional encodings.

    Attributes:
        masks_tab: the open tab.
        batch_sentences: what shares a batch with the text, one sentence a line.
        batch_member: which sentence of the batch is looked at; None leaves that to the page.
        side: the source or its translation.
        position, dimension, shift: which curves of the encodings are drawn.
        width: dimensions that the encodings' formula is given; 0 for the model's own.
        base: of the formula's wavelengths.
    """

    masks_tab: Annotated[MasksTab, Param("part")] = "Masks"
    batch_sentences: Annotated[str, Param("companion")] = BATCH_SENTENCES
    batch_member: Annotated[int | None, Param("member")] = None
    side: Side = "source"
    position: int = 10
    dimension: int = 20
    shift: int = 3
    width: int = 0
    base: int = 10_000

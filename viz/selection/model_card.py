"""What is chosen on the model page."""

from dataclasses import dataclass
from typing import Annotated, Literal

from viz.selection.fields import Param

ModelCardTab = Literal["Overview", "Data and training", "Scores", "Card"]


@dataclass(frozen=True, slots=True)
class ModelCardChoices:
    """What is chosen on the model page."""

    model_card_tab: Annotated[ModelCardTab, Param("about")] = "Overview"  #: the open tab
    example_seed: Annotated[int, Param("seed")] = 1  #: which of the training sentences are drawn as examples

"""What is chosen on the page that teaches the paper."""

from dataclasses import dataclass
from typing import Annotated, Literal

from viz.selection.fields import Param, ResetBy

LearnTab = Literal["Lessons", "The Transformer", "Follow one token", "Training", "Collection"]


@dataclass(frozen=True, slots=True)
class LearnChoices:
    """What is chosen on the page that teaches the paper.

    Attributes:
        learn_tab: the open tab.
        lesson: the open lesson, by the name of its file; "" for the first.
        lesson_step: the step of it that is shown, counted from 1.
        answer: what a person predicts there, counted from 1; 0 before that.
    """

    learn_tab: Annotated[LearnTab, Param("learn")] = "Lessons"
    lesson: str = ""
    lesson_step: Annotated[int, Param("step_of_lesson"), ResetBy("lesson")] = 1
    answer: Annotated[int, Param("answer"), ResetBy("lesson", "lesson_step")] = 0

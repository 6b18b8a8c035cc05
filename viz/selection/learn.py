"""What is chosen on the page that teaches the paper."""

from dataclasses import dataclass
from typing import Annotated, Literal

from viz.selection.fields import MAX_TEXT_IN_URL, MaxLength, OnlyWith, Param, ResetBy

TrainingView = Literal["Label smoothing", "Warm-up", "Teacher forcing"]
Stack = Literal["encoder", "decoder"]
LearnTab = Literal["Lessons", "The Transformer", "Training", "Collection"]
TransformerView = Literal["Whole model", "One token"]


@dataclass(frozen=True, slots=True)
class LearnChoices:
    """What is chosen on the page that teaches the paper.

    Attributes:
        learn_tab: the open tab.
        lesson: the open lesson, by the name of its file; "" for the first.
        lesson_step: the step of it that is shown, counted from 1.
        answer: what a person predicts there, counted from 1; 0 before that.
        transformer_view: what is shown of the Transformer.
        followed_stack: which stack's token is followed.
        followed_token: its position there; None leaves token and stack to the page.
        followed_stage: which of its stages is open: 0 for the input, then the layers, then the output; None leaves that
            to the page.
        map_step: where the film over the map stands.
        training_view: what is shown of training.
        smoothed_step: the step whose target is smoothed; None leaves that to the page.
        smoothing: ε, in hundredths.
        schedule_width, schedule_warmup: d_model and the warm-up's steps in the paper's schedule.
        forced_reference: the translation that the decoder is made to read; "" leaves that to the page.
        forced_step: where the two films stand; None where they part.
        pins: the views that are kept, as `viz.selection.pins` writes them.
        sum_plus, sum_minus, sum_with, sum_expected: the words of plus − minus + with = expected.
    """

    learn_tab: Annotated[LearnTab, Param("learn")] = "Lessons"
    lesson: str = ""
    lesson_step: Annotated[int, Param("step_of_lesson"), ResetBy("lesson")] = 1
    answer: Annotated[int, Param("answer"), ResetBy("lesson", "lesson_step")] = 0
    transformer_view: Annotated[TransformerView, Param("transformer")] = "Whole model"
    followed_stack: Annotated[Stack, Param("follow"), ResetBy("text", "checkpoint", "chat")] = "encoder"
    followed_token: Annotated[int | None, Param("follow_token"), ResetBy("text", "checkpoint", "chat")] = None
    followed_stage: Annotated[int | None, Param("stage"), ResetBy("text", "checkpoint", "chat")] = None
    map_step: Annotated[int, Param("map"), ResetBy("text", "checkpoint", "chat")] = 0
    training_view: Annotated[TrainingView, Param("training")] = "Label smoothing"
    smoothed_step: Annotated[int | None, Param("target_of"), ResetBy("text", "checkpoint", "chat")] = None
    smoothing: Annotated[int, Param("epsilon")] = 10
    schedule_width: int = 512
    schedule_warmup: int = 4_000
    forced_reference: Annotated[str, Param("reference"), MaxLength(2_000), ResetBy("text", "checkpoint", "chat")] = ""
    forced_step: Annotated[int | None, Param("forced"), ResetBy("text", "checkpoint", "chat", "forced_reference")] = (
        None
    )
    pins: Annotated[str, OnlyWith("learn_tab", "Collection"), MaxLength(MAX_TEXT_IN_URL)] = ""
    sum_plus: Annotated[str, Param("plus"), MaxLength(40)] = "father"
    sum_minus: Annotated[str, Param("minus"), MaxLength(40)] = "man"
    sum_with: Annotated[str, Param("with"), MaxLength(40)] = "woman"
    sum_expected: Annotated[str, Param("equals"), MaxLength(40)] = "mother"

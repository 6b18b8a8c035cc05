"""What is chosen on the page that teaches the paper."""

from dataclasses import dataclass
from typing import Annotated, Literal

from viz.selection.fields import MAX_TEXT_IN_URL, MaxLength, OnlyWith, Param, ResetBy

TrainingView = Literal["Label smoothing", "Warm-up", "Teacher forcing"]
LearnTab = Literal["Lessons", "The Transformer", "Training", "Collection"]
Depth = Literal["model", "layer", "head", "cell", "number"]
PathEnd = Literal["", "input", "output"]
Lines = Literal["strongest", "mean", "chosen"]
WalkEdit = Literal["", "off", "point", "forced"]


@dataclass(frozen=True, slots=True)
class LearnChoices:
    """What is chosen on the page that teaches the paper.

    Attributes:
        learn_tab: the open tab.
        lesson: the open lesson, by the name of its file; "" for the first.
        lesson_step: the step of it that is shown, counted from 1.
        answer: what a person predicts there, counted from 1; 0 before that.
        classroom: the class whose answers are counted together; "" for none.
        depth: how far the picture of the Transformer is zoomed in; its layer, head, row and key are those of all pages.
        path_end: at the depth of a layer, the input or the output of the stack instead.
        component: of query and key, the one that is looked at; None leaves that to the page.
        walk_stop: the stop of the way through the picture, counted from 1; 0 for whoever goes where they like.
        lines: whose weights the lines of the whole model are: each cell's strongest head, the mean, or the open head.
        walk_edit: what the model is compared with: the open head switched off, or pointed at the key; or (forced) the
            decoder reading the reference.
        map_step: where the film of the model stands; None for its end, where all is drawn.
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
    classroom: Annotated[str, Param("class"), MaxLength(16)] = ""
    depth: Depth = "model"
    path_end: Annotated[PathEnd, Param("end")] = ""
    component: Annotated[int | None, Param("dim"), ResetBy("checkpoint")] = None
    walk_stop: Annotated[int, Param("walk"), ResetBy("checkpoint")] = 0
    lines: Lines = "strongest"
    walk_edit: Annotated[WalkEdit, Param("change"), ResetBy("text", "checkpoint", "chat")] = ""
    map_step: Annotated[int | None, Param("map"), ResetBy("text", "checkpoint", "chat")] = None
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

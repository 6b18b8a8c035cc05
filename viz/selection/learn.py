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
    """What is chosen on the page that teaches the paper."""

    learn_tab: Annotated[LearnTab, Param("learn")] = "Lessons"  #: the open tab
    lesson: str = ""  #: the open lesson, by the name of its file; "" for the first
    #: the step of it that is shown, counted from 1.
    lesson_step: Annotated[int, Param("step_of_lesson"), ResetBy("lesson")] = 1
    #: what a person predicts there, counted from 1; 0 before that.
    answer: Annotated[int, Param("answer"), ResetBy("lesson", "lesson_step")] = 0
    #: the class whose answers are counted together; "" for none.
    classroom: Annotated[str, Param("class"), MaxLength(16)] = ""
    #: how far the picture of the Transformer is zoomed in; its layer, head, row and key are those of all pages.
    depth: Depth = "model"
    #: at the depth of a layer, the input or the output of the stack instead.
    path_end: Annotated[PathEnd, Param("end")] = ""
    #: of query and key, the one that is looked at; None leaves that to the page.
    component: Annotated[int | None, Param("dim"), ResetBy("checkpoint")] = None
    #: the stop of the way through the picture, counted from 1; 0 for whoever goes where they like.
    walk_stop: Annotated[int, Param("walk"), ResetBy("checkpoint")] = 0
    #: whose weights the lines of the whole model are: each cell's strongest head, the mean, or the open head.
    lines: Lines = "strongest"
    #: what the model is compared with: the open head switched off, or pointed at the key; or (forced) the decoder
    #: reading the reference.
    walk_edit: Annotated[WalkEdit, Param("change"), ResetBy("text", "checkpoint", "chat")] = ""
    #: where the film of the model stands; None for its end, where all is drawn.
    map_step: Annotated[int | None, Param("map"), ResetBy("text", "checkpoint", "chat")] = None
    training_view: Annotated[TrainingView, Param("training")] = "Label smoothing"  #: what is shown of training
    #: the step whose target is smoothed; None leaves that to the page.
    smoothed_step: Annotated[int | None, Param("target_of"), ResetBy("text", "checkpoint", "chat")] = None
    smoothing: Annotated[int, Param("epsilon")] = 10  #: ε, in hundredths
    #: schedule_width, schedule_warmup: d_model and the warm-up's steps in the paper's schedule.
    schedule_width: int = 512
    schedule_warmup: int = 4_000
    #: the translation that the decoder is made to read; "" leaves that to the page.
    forced_reference: Annotated[str, Param("reference"), MaxLength(2_000), ResetBy("text", "checkpoint", "chat")] = ""
    #: where the two films stand; None where they part.
    forced_step: Annotated[int | None, Param("forced"), ResetBy("text", "checkpoint", "chat", "forced_reference")] = (
        None
    )
    #: the views that are kept, as `viz.selection.pins` writes them.
    pins: Annotated[str, OnlyWith("learn_tab", "Collection"), MaxLength(MAX_TEXT_IN_URL)] = ""
    #: sum_plus, sum_minus, sum_with, sum_expected: the words of plus − minus + with = expected.
    sum_plus: Annotated[str, Param("plus"), MaxLength(40)] = "father"
    sum_minus: Annotated[str, Param("minus"), MaxLength(40)] = "man"
    sum_with: Annotated[str, Param("with"), MaxLength(40)] = "woman"
    sum_expected: Annotated[str, Param("equals"), MaxLength(40)] = "mother"

"""The views that lessons name: each computes a picture and what it shows from the model that ships."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any, Final

from viz.pages.learn.lessons.data import (
    by_hand,
    claims,
    formulas,
    heads,
    layer_kinds,
    parameters,
    positions,
    reasons,
    rows,
    search,
    stream,
    three_kinds,
    training,
)
from viz.pages.learn.lessons.lesson import Lesson, LessonFileError
from viz.pages.learn.lessons.pictures import View
from viz.server.background_jobs import Progress, Task
from viz.text.messages import said

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

_MODULES: Final = (
    by_hand, claims, formulas, heads, layer_kinds, parameters, positions, reasons, rows, search, stream, three_kinds,
    training,
)  # fmt: skip
_NAMED: Final = [
    (name, view)
    for module in _MODULES
    for name, view in vars(module).items()
    if getattr(view, "__annotations__", {}).get("return") is View
]
#: The name that files use → what computes the view; the parameters beside the model are the keys of `given`.
VIEWS: Final[Mapping[str, Callable[..., View]]] = dict(_NAMED)
assert len(VIEWS) == len(_NAMED), "two modules have a view of the same name"


def view(shipped: "Shipped", lesson: Lesson, number: int) -> View:
    """The view of a step, counted from 1.

    Raises:
        LessonFileError: the file names no such view, or gives it something else than it takes.
        HeadlightError: the model cannot read the sentence.
    """
    step = lesson.steps[number - 1]
    return _view(step.view, step.given)(shipped, **step.given)


def task(shipped: "Shipped", lesson: Lesson, number: int) -> Task[View]:
    """The same as a job of its own."""

    def compute(progress: Progress) -> View:
        return view(shipped, lesson, number)

    step = lesson.steps[number - 1]
    identity = ("lesson", step.view, repr(step.given), shipped.translator.key)
    return Task(identity, 0, said("steps"), compute, said("Computing the picture …"))


def _view(name: str, given: Mapping[str, Any]) -> Callable[..., View]:
    if name not in VIEWS:
        raise LessonFileError(f"There is no view {name!r}; views are {', '.join(VIEWS)}.")
    try:
        signature(VIEWS[name]).bind(None, **given)
    except TypeError as error:
        raise LessonFileError(f"View {name}: {error}.") from error
    return VIEWS[name]

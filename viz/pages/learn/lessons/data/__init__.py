"""The views that lessons name: each computes a picture and what it shows from the model that ships."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any, Final

from viz.pages.learn.lessons.data import (
    claims,
    embeddings,
    experiments,
    heads,
    layer_kinds,
    masks,
    outputs,
    positions,
    rows,
    search,
    stream,
    training,
)
from viz.pages.learn.lessons.lesson import Lesson, LessonFileError
from viz.pages.learn.lessons.pictures import View
from viz.server.background_jobs import Progress, Task
from viz.text.messages import said

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

#: The name that files use → what computes the view; the parameters beside the model are the keys of `given`.
VIEWS: Final[Mapping[str, Callable[..., View]]] = {
    view.__name__: view
    for view in (
        rows.row, rows.two_rows, rows.derived, rows.unscaled, rows.head_output, rows.sharp_and_soft,
        rows.two_heads, rows.averaged, rows.unmasked,
        heads.opened, heads.grid, heads.jobs, heads.parts, heads.links, heads.followed,
        layer_kinds.saturation,
        masks.mask, masks.shifted, masks.padding,
        outputs.without_heads, outputs.without_each, outputs.without_part,
        outputs.hidden_words, outputs.three_interventions,
        stream.fired, stream.units, stream.additions, stream.normed, stream.pre_and_post,
        embeddings.tokens, embeddings.lengths, embeddings.neighbours, embeddings.logits, embeddings.shared,
        positions.backwards, positions.encodings, positions.waves, positions.likeness, positions.shift,
        layer_kinds.operations, layer_kinds.projections, layer_kinds.in_turn, layer_kinds.influence,
        layer_kinds.looks_far,
        training.schedule, training.own_rate, training.own_loss, training.smoothed, training.loss_over_certainty,
        training.sureness, training.dropout,
        search.candidates, search.greedy_and_beam, search.living, search.widths, search.penalty, search.alphas,
        claims.strongest_off, claims.shares, claims.saturated, claims.keys_of_memory, claims.weight_and_norm,
        claims.order_without_positions,
        experiments.through, experiments.bleu, experiments.differences,
    )
}  # fmt: skip


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

    identity = ("lesson", lesson.name, number, shipped.translator.key)
    return Task(identity, 0, said("steps"), compute, said("Computing the picture …"))


def _view(name: str, given: Mapping[str, Any]) -> Callable[..., View]:
    if name not in VIEWS:
        raise LessonFileError(f"There is no view {name!r}; views are {', '.join(VIEWS)}.")
    try:
        signature(VIEWS[name]).bind(None, **given)
    except TypeError as error:
        raise LessonFileError(f"View {name}: {error}.") from error
    return VIEWS[name]

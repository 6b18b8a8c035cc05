"""What every method of attribution gives each word, and what hiding words does to the choice, as a job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model import later
from model.errors import DataError, TraceError
from viz.server.background_jobs import Progress, Task
from viz.text.messages import said

if TYPE_CHECKING:
    from torch import Tensor

    from model import Trace
    from model.analysis.attribution.choice import ChoiceRun, TokenChoice
    from model.analysis.attribution.methods import Deletion, HiddenAlone, Integration, Method
    from model.word_choice import Chooser
    from viz.access.head_verdict import Question


#: Runs × positions² at most, of all in which spans of a sound are hidden together.
MOST_CELLS: Final = 400_000_000


@dataclass(frozen=True, eq=False)
class Explained:
    """A token explained."""

    words: tuple[str, ...]  #: of what was read, as people read them, without the one that says the token itself
    scores: "Mapping[Method, Float[np.ndarray, 'word']]"  #: method → what it gives each word, the sum over its tokens
    #: method → what it gives all that had been written before; in a model that reads one text, all else in it. None
    #: where it looks at the source alone.
    rest: "Mapping[Method, float | None]"
    deletions: "Mapping[Method, Deletion]"  #: method → the words hidden in its order
    random: "tuple[Deletion, ...]"  #: the same in random orders
    alone: "HiddenAlone"  #: each word hidden alone
    tokens: tuple[str, ...]  #: the token that the model says there without each word
    integration: "Integration | None"  #: how certain integrated gradients are; None where they cannot be had
    #: how far what they give each word may be off, in nats; none where they cannot be had.
    uncertain: Float[np.ndarray, "word"]
    lacking: "Mapping[Method, str]"  #: the other methods → why this model has none of it
    #: why no spans of a sound are hidden one after another, where that takes too long: then there is nothing of it.
    untested: str = ""
    of_spans: bool = False  #: whether its words are spans of time

    @property
    def best(self) -> "Method":
        """The method whose order makes the choice fall fastest."""
        return max(self.deletions, key=lambda method: self.deletions[method].fall)

    def beaten(self, method: "Method") -> int:
        """How many random orders fall more slowly than a method's."""
        return sum(drawn.fall < self.deletions[method].fall for drawn in self.random)

    def rank(self, method: "Method") -> int:
        """At which place, from 1, a method names the word whose loss alone costs the choice most."""
        return self.deletions[method].order.index(self.alone.most_needed) + 1


def explaining_step(
    reader: "Chooser", trace: "Trace", step: int, against: int | None, seconds: float
) -> Task[Explained]:
    """Every method on the token of a step, from 0, alone or against another; of a sound by spans of so many seconds."""
    return _explaining(reader, later.attribution_choice.choice_at(trace, step, against), seconds)


def explaining(reader: "Chooser", asked: "Question") -> Task[Explained]:
    """Every method on what a model says in A rather than the other token."""
    return _explaining(reader, later.attribution_choice.TokenChoice(asked.a.place, asked.a.right, asked.a.wrong), 0)


def _explaining(reader: "Chooser", choice: "TokenChoice", seconds: float) -> Task[Explained]:
    def compute(progress: Progress) -> Explained:
        return _explain(later.attribution_methods.choice_run(reader, choice), reader, progress, seconds)

    return Task(("attribution", reader.key, choice, seconds), 0, said("runs"), compute)


def _explain(run: "ChoiceRun", reader: "Chooser", progress: Progress, seconds: float) -> Explained:
    words, groups = hidden_words(run, seconds)
    found, lacking = {}, {}
    methods = len(later.attribution_methods.METHODS)
    of_spans = bool(run.trace.source.span_choices)
    untested = _too_many(run, len(words), methods) if of_spans else ""
    # How many points are enough, and how many sets of hidden words differ, is known only afterwards.
    most = (
        methods
        + later.attribution_methods.MOST_POINTS
        + later.attribution_methods.most_runs(len(words), 0 if untested else methods + later.attribution_methods.DRAWS)
    )

    def points_taken(before: int, points: int) -> None:
        progress.reached(before + points, most)

    for method in later.attribution_methods.METHODS:
        try:
            found[method] = later.attribution_methods.attribute(run, method, partial(points_taken, progress.done))
        except TraceError as error:
            lacking[method] = error.message
        progress.reached(progress.done + 1, most)
    scores = {method: _of_words(each.read, groups) for method, each in found.items()}
    rest = {
        method: (None if each.prefix is None else float(each.prefix.sum()))
        if run.choice.own is None
        else float(each.read.sum()) - float(scores[method].sum())
        for method, each in found.items()
    }
    orders = (
        []
        if untested
        else [
            *(later.attribution_methods.order_of(of_words.tolist()) for of_words in scores.values()),
            *later.attribution_methods.random_orders(len(words)),
        ]
    )
    integrated = found.get("integrated")
    doubts = None if integrated is None else integrated.uncertain
    begun = progress.done
    hidden, alone = later.attribution_methods.delete(
        run, groups, orders, lambda done, total: progress.reached(begun + done, begun + total)
    )
    return Explained(
        words=words,
        scores=scores,
        rest=rest,
        deletions=dict(zip(found, hidden, strict=False)),
        random=tuple(hidden[len(found) :]),
        alone=alone,
        tokens=tuple(reader.vocabulary.tokens(alone.said)),
        integration=None if integrated is None else integrated.integration,
        uncertain=np.zeros(0) if doubts is None else _of_words(doubts, groups),
        lacking=lacking,
        untested=untested,
        of_spans=of_spans,
    )


def _too_many(run: "ChoiceRun", words: int, methods: int) -> str:
    """Why words are not hidden one after another; "" if they can be."""
    orders, positions = methods + later.attribution_methods.DRAWS, run.choice.place.length
    runs = later.attribution_methods.most_runs(words, orders)
    message = (
        "The deletion test is not run: hiding {words} spans in {orders} orders takes {runs:,} runs over {positions:,} "
        "positions. Choose longer spans, or a shorter sound."
    )
    too_many = runs * positions**2 > MOST_CELLS
    return said(message, words=words, orders=orders, runs=runs, positions=positions) if too_many else ""


def _of_words(tokens: "Tensor", groups: Sequence[Sequence[int]]) -> Float[np.ndarray, "word"]:
    """The sum over the tokens of each word."""
    return np.array([float(tokens[list(group)].sum()) for group in groups])


def hidden_words(run: "ChoiceRun", seconds: float) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """The words that can be hidden, or spans of a sound, and the positions of their tokens.

    Raises a DataError if there is none.
    """
    trace, own = run.trace, run.choice.own
    if trace.source.span_choices:
        return trace.source.span_names(seconds), tuple(map(tuple, trace.source.spans(seconds)))
    tokens = trace.source_tokens if run.choice.source else trace.target_tokens[: len(run.choice.read)]
    whole = trace.words_of(tokens).without_special_tokens(trace.special_tokens)
    kept = [each for each in zip(whole.labels, whole.groups, strict=True) if own not in each[1]]
    if not kept:
        raise DataError(
            "No word comes before the one that contains this token, so nothing can be hidden. Choose a later step."
        )
    labels, groups = zip(*kept, strict=True)
    return labels, groups

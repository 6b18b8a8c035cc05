"""Is a head the cause of a word? Three interventions on one head, or on each in turn, as jobs.

A question is a choice between two tokens at one place of a text, made by any model that says words. The interventions
are those of `model.analysis.interventions`: switched off, swapped from the other text of a pair, pointed at a token.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Bool, Float

from model import later
from viz.selection.branch_codes import EditHead
from viz.server.background_jobs import Progress, Task
from viz.server.caches import cached
from viz.text.messages import said
from viz.text.written import DECODER, ENCODER

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.attribution.choice import TokenChoice
    from model.analysis.interventions.edit_comparison import EditComparison
    from model.analysis.interventions.head_verdict import HeadVerdict
    from model.analysis.interventions.word_pairs import WordPair
    from model.analysis.metrics.head_metrics import HeadName
    from model.nn.edits import HeadEdit
    from model.reader import Writer
    from model.word_choice import Chooser, WordChoice

MAX_QUESTIONS: Final = 200


@dataclass(frozen=True)
class Question:
    """Why a model says one token in a text, and not another."""

    name: str  #: of the pair, if it is one of a set; "" of a person's own text
    texts: tuple[str, str]  #: A, and B, the other text of the pair; "" where there is none
    a: "WordChoice"  #: the choice in A: what is right there, or what the model says, against what it says in B
    b: "WordChoice | None"  #: the same choice in the same place of B; None without one
    tokens: tuple[str, str]  #: both, as the model spells them


def question(pair: "WordPair", name: str = "") -> Question:
    """A pair of choices as what is asked."""
    return Question(name, pair.texts, pair.pair.a, pair.pair.b if pair.texts[1] else None, pair.words)


@cached(max_entries=MAX_QUESTIONS)
def own_question(reader: "Chooser", text: str, other: str, written: tuple[int, ...] = ()) -> Question:
    """What is asked of a person's own text; arguments as of `own_pair`. Raises what the model does."""
    return question(later.word_pairs.own_pair(reader, text, other, written))


def at_step(reader: "Chooser", trace: "Trace", step: int, other: str) -> Question:
    """What is asked of the token that a model wrote at a step, from 0. Raises what the model does."""
    return own_question(reader, trace.text, other, tuple(each.token_id for each in trace.steps[: step + 1]))


def asked_step(trace: "Trace", other: "Trace | None") -> int:
    """The first step at which two translations differ; else the one at which the first is least sure."""
    if other is not None:
        both = zip(trace.steps, other.steps, strict=False)
        differs = next((number for number, (a, b) in enumerate(both) if a.token_id != b.token_id), None)
        if differs is not None:
            return differs
    return least_sure_step(trace)


def least_sure_step(trace: "Trace") -> int:
    """The step at which the best other token comes closest to the one that was written."""

    def lead(step: int) -> float:
        of = trace.steps[step]
        others = [candidate.log_prob for candidate in of.candidates if candidate.token_id != of.token_id]
        return of.log_prob - max(others) if others else float("inf")

    return min(range(len(trace.steps)), key=lead)


@dataclass(frozen=True, eq=False)
class Stated:
    """What three interventions on one head do, with their tokens."""

    verdict: "HeadVerdict"  #: of the head
    #: token, against: between which the model chooses; the first is the one that it prefers.
    token: str
    against: str
    #: off, swapped, pointed: what the model says under each intervention; "" where there is none.
    off: str
    swapped: str
    pointed: str
    key: str  #: at which it points; "" where it cannot
    #: where the head looks by itself while a decoder says the token, and with which weight; "" and 0 of an encoder's
    #: head.
    looks_at: tuple[str, float] = ("", 0.0)


def tested(reader: "Chooser", asked: Question, head: tuple[str, int, int]) -> Task[Stated]:
    """Three interventions on a head: site, layer, head."""

    def compute(progress: Progress) -> Stated:
        choice = _preferred(reader, asked)
        trace = reader.trace_place(choice.place, choice.token)
        other = None if asked.b is None else asked.b.place
        verdict = later.head_verdict.head_verdict(reader, choice, later.head_metrics.HeadName(*head), trace, other)

        def spelled(token_id: int | None) -> str:
            return "" if token_id is None else reader.vocabulary.tokens([token_id])[0]

        off, swapped, pointed = (
            spelled(None if each is None else each.said) for each in (verdict.off, verdict.swapped, verdict.pointed)
        )
        keys = trace.axis_names(head[0])[1]
        key, looks_at = "" if verdict.key is None else keys[verdict.key], ("", 0.0)
        if head[0] != ENCODER:
            row = trace.weights(head[0], head[1], [head[2]], [choice.place.row])[0, 0]
            looks_at = keys[int(row.argmax())], float(row.max())
        progress(1)
        return Stated(verdict, spelled(choice.token), spelled(choice.against), off, swapped, pointed, key, looks_at)

    return Task(("head verdict", reader.key, asked, tuple(head)), 1, said("attention heads"), compute)


@dataclass(frozen=True, eq=False)
class EveryHead:
    """What switching off, and swapping, each head in turn adds to a choice (nats), in the order of `all_heads`."""

    before: float  #: the choice as the model makes it, at least 0: of what it prefers against the other token
    prefers_right: bool  #: whether that is the right token of the question
    in_b: float | None  #: the same choice in B; None without one
    #: off, swapped: the changes; `swapped` is None without B.
    off: Float[np.ndarray, "head"]
    swapped: Float[np.ndarray, "head"] | None

    def flips(self, changes: Float[np.ndarray, "head"]) -> Bool[np.ndarray, "head"]:
        """Whether the model then prefers the other token."""
        return self.before + changes < 0

    @property
    def strongest(self) -> int:
        """The number of the head most worth seeing: whose loss flips the choice, else whose output of B does; of these,
        the one that moves it most."""
        swapped = self.off if self.swapped is None else self.swapped
        return int(np.lexsort((np.minimum(self.off, swapped), ~self.flips(swapped), ~self.flips(self.off)))[0])


def every_head(reader: "Chooser", asked: Question) -> Task[EveryHead]:
    """Each head switched off, and swapped, in turn."""
    heads, runs = all_heads(reader), 1 if asked.b is None else 2

    def compute(progress: Progress) -> EveryHead:
        off, swapped = later.head_effects.measure_effects(reader, [asked.a], progress=progress), None
        before = float(off.intact[0])
        sign = 1.0 if before >= 0 else -1.0
        if asked.b is not None:
            swapped = later.patching.patch_heads(reader, [later.patching.ChoicePair(asked.a, asked.b)], progress)
        return EveryHead(
            before=sign * before,
            prefers_right=before >= 0,
            in_b=None if swapped is None else sign * float(swapped.b[0]),
            off=sign * off.changes[0].double().numpy(),
            swapped=None if swapped is None else sign * swapped.changes[0].double().numpy(),
        )

    return Task(("every head", reader.key, asked), len(heads) * runs, said("runs"), compute)


@dataclass(frozen=True, eq=False)
class PointedHeads:
    """Each head pointed at the token that costs the choice most: what that adds (nats), and which token it is.

    NaN and "" where a head cannot be pointed. In the order of `all_heads`.
    """

    changes: Float[np.ndarray, "head"]
    keys: tuple[str, ...]


def every_head_pointed(reader: "Chooser", asked: Question) -> Task[PointedHeads]:
    """Each head in turn pointed at each token that it may look at."""
    heads = all_heads(reader)

    def compute(progress: Progress) -> PointedHeads:
        choice = _preferred(reader, asked)
        trace = reader.trace_place(choice.place, choice.token)
        found = later.head_verdict.point_heads(reader, choice, trace, progress)
        keys = zip(heads, found.keys.tolist(), strict=True)
        names = tuple("" if key < 0 else trace.axis_names(head.site)[1][key] for head, key in keys)
        return PointedHeads(found.changes.double().numpy(), names)

    return Task(("every head pointed", reader.key, asked), len(heads), said("attention heads"), compute)


def edited(
    writer: "Writer", text: str, edits: Sequence[tuple[int, EditHead]], rows_before: int
) -> Task[tuple["EditComparison", ...]]:
    """What is written under each of some edits of a head, each from its step on (from 0); beside what is without.

    `rows_before`: rows of the decoder that come before what is written, as of `Trace`.
    """

    def compute(progress: Progress) -> tuple["EditComparison", ...]:
        found = []
        for step, edit in edits:
            found.append(later.edit_comparison.compare_edit(writer, text, step, [head_edit(rows_before + step, edit)]))
            progress(1)
        return tuple(found)

    return Task(("edited", writer.key, text, tuple(edits)), len(edits), said("texts"), compute)


def first_step(edit: EditHead, rows_before: int) -> int:
    """The first step at which a head can be pointed at its key: a row of the decoder sees no token after itself."""
    return max(0, (edit.key or 0) - rows_before) if edit.site == DECODER else 0


def head_edit(row: int, edit: EditHead) -> "HeadEdit":
    """An edit as the model makes it, from a row of the decoder on, or in that row alone."""
    head = (edit.site, edit.layer, edit.head)
    only, since = (row, 0) if edit.once else (None, 0 if edit.is_of_encoder else row)
    if edit.key is not None:
        return later.edits.PointAt(*head, edit.key, row=only, since=since)
    return (later.edits.SwitchOff if edit.edit == "off" else later.edits.MakeUniform)(*head, row=only, since=since)


def all_heads(reader: "Reader") -> "tuple[HeadName, ...]":
    """Every head of a model, in the order of tables [site, layer, head]."""
    return later.head_metrics.all_heads(reader.abilities.heads)


def _preferred(reader: "Chooser", asked: Question) -> "TokenChoice":
    """What the model itself prefers in A, against the other token."""
    choice = later.attribution_choice.TokenChoice(asked.a.place, asked.a.right, asked.a.wrong)
    if int(choice.said(reader.place_logits(asked.a.place))) == choice.token:
        return choice
    return later.attribution_choice.TokenChoice(asked.a.place, asked.a.wrong, asked.a.right)

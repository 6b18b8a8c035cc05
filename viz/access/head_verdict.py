"""Three interventions on one head, as a job: whether a choice between tokens depends on it, with the words for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from viz.server.background_jobs import Progress, Task
from viz.text.messages import said

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.attribution.choice import TokenChoice
    from model.analysis.interventions.head_verdict import HeadVerdict
    from model.word_choice import Chooser, TokenPlace, WordChoice


@dataclass(frozen=True, eq=False)
class Stated:
    """A verdict with its tokens.

    Attributes:
        verdict: of one head.
        token, against: between which the model chooses; `against` is "" where it is the token alone.
        off, swapped, pointed: what the model says under each intervention; "" where there is none.
        key: at which it points; "" where it cannot.
    """

    verdict: "HeadVerdict"
    token: str
    against: str
    off: str
    swapped: str
    pointed: str
    key: str


def on_step(reader: "Chooser", trace: "Trace", step: int, head: tuple[str, int, int], other: str) -> Task[Stated]:
    """The token of a step, from 0, against the one that the model says there after another sentence.

    Args:
        reader: the model.
        trace: what it wrote, without edits.
        step: of that trace.
        head: site, layer and head.
        other: the other sentence of the pair; "" where there is none.
    """

    def compute(progress: Progress) -> Stated:
        from model.analysis.attribution.choice import choice_at
        from model.analysis.interventions.head_verdict import against_other

        choice, place = choice_at(trace, step), None
        if other:
            choice, place = against_other(reader, choice, trace.text, other)
        return _stated(reader, choice, trace.text, head, place)

    return _task(("step", trace.key, step, other), reader, head, compute)


def on_words(
    reader: "Chooser", a: "WordChoice", b: "WordChoice", text: str, head: tuple[str, int, int]
) -> Task[Stated]:
    """The word of A that the model prefers, rather than the other one, in `text`; B is the same place in the other text
    of the pair.
    """

    def compute(progress: Progress) -> Stated:
        from model.analysis.attribution.choice import TokenChoice

        choice = TokenChoice(a.place, a.right, a.wrong)
        if int(choice.said(reader.place_logits(a.place))) != a.right:
            choice = TokenChoice(a.place, a.wrong, a.right)
        return _stated(reader, choice, text, head, b.place)

    return _task(("words", a, b.place), reader, head, compute)


def _task(
    key: tuple[object, ...], reader: "Chooser", head: tuple[str, int, int], compute: Callable[[Progress], Stated]
) -> Task[Stated]:
    def counted(progress: Progress) -> Stated:
        stated = compute(progress)
        progress(1)
        return stated

    return Task(("head verdict", reader.key, tuple(head), *key), 1, said("heads"), counted)


def _stated(
    reader: "Chooser", choice: "TokenChoice", text: str, head: tuple[str, int, int], other: "TokenPlace | None"
) -> Stated:
    from model.analysis.attribution.methods import run_of
    from model.analysis.interventions.head_verdict import head_verdict
    from model.analysis.metrics.head_names import HeadName
    from model.sequence_translator import SequenceTranslator

    if isinstance(reader, SequenceTranslator):
        trace = reader.trace_tokens(text, [*choice.prefix[1:], choice.token])
    else:
        trace = run_of(reader, choice, text).trace
    verdict = head_verdict(reader, choice, HeadName(*head), trace, other)

    def spelled(token_id: int | None) -> str:
        return "" if token_id is None else reader.vocabulary.tokens([token_id])[0]

    off, swapped, pointed = (
        spelled(None if each is None else each.said) for each in (verdict.off, verdict.swapped, verdict.pointed)
    )
    key = "" if verdict.key is None else trace.axis_tokens(head[0])[1][verdict.key]
    return Stated(verdict, spelled(choice.token), spelled(choice.against), off, swapped, pointed, key)

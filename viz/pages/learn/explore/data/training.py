"""One step against its smoothed target, the schedule of a training, and a translation read along."""

from dataclasses import dataclass
from math import exp
from typing import Final

import numpy as np
from jaxtyping import Float

from model import Trace
from model.analysis.label_smoothing import StepLoss, step_log_probs, step_loss
from model.errors import HeadlightError
from model.reader import Writer
from model.training.optimizer import learning_rate
from model.training_record import Curve, read_log
from model.word_choice import Chooser
from viz.access import models, traces
from viz.selection.choices import ModelChoice
from viz.server.caches import cached

#: Tokens of a step that are drawn one by one.
TOP: Final = 9
#: Points of a schedule's curve.
POINTS: Final = 400


@dataclass(frozen=True, eq=False, slots=True)
class SmoothedStep:
    """What the model says at a step, and what a smoothed target asks."""

    tokens: tuple[str, ...]  #: the likeliest, the right one first
    probabilities: Float[np.ndarray, "token"]  #: of these
    others: int  #: how many tokens are not among them, and `rest` their mean probability
    rest: float
    asked: float  #: by the smoothed target for each token but the right one
    loss: StepLoss  #: of the step


@cached(max_entries=200)
def smoothed_step(translator: Chooser, trace: Trace, step: int, hundredths: int) -> SmoothedStep:
    """A step of a translation that is its own reference: the right token is the one that was written."""
    right, smoothing = trace.steps[step].token_id, hundredths / 100
    log_probs = step_log_probs(translator, trace.text, trace.target_ids[: step + 1])
    best = [int(token_id) for token_id in log_probs.topk(min(TOP + 1, len(log_probs))).indices]
    shown = [right, *(token_id for token_id in best if token_id != right)][:TOP]
    vocabulary = translator.all_tokens()
    probabilities = log_probs[shown].exp().numpy()
    written = int(log_probs.isfinite().sum())  # of which none is Marian's padding
    others = written - len(shown)
    return SmoothedStep(
        tokens=tuple(vocabulary[token_id] for token_id in shown),
        probabilities=probabilities,
        others=others,
        rest=max(0.0, 1 - float(probabilities.sum())) / max(1, others),
        asked=smoothing / written,
        loss=step_loss(log_probs, right, smoothing),
    )


def least_probable_step(trace: Trace) -> int:
    """The step whose token has the lowest probability, among those that write letters if there are any."""

    def rank(step: int) -> tuple[bool, float]:
        token = trace.steps[step].token
        writes = token not in trace.special_tokens and any(map(str.isalpha, token))
        return not writes, trace.steps[step].log_prob

    return min(range(len(trace.steps)), key=rank)


def paper_schedule(d_model: int, warmup: int, last: int) -> tuple[Float[np.ndarray, "step"], Float[np.ndarray, "step"]]:
    """The learning rate of the paper (§5.3, eq. 3) at steps from 1 to `last`, by the function that trainings use."""
    steps = np.unique(np.linspace(1, last, POINTS).astype(int))
    rates = [
        learning_rate(int(step), decay="paper", warmup=warmup, d_model=d_model, peak=1.0, total=last) for step in steps
    ]
    return steps.astype(float), np.array(rates)


def trained_schedule(choice: ModelChoice) -> Curve | None:
    """The learning rate that the chosen model was trained with, as its log has it; None where there is no log."""
    try:
        log = read_log(models.folder(choice))
    except HeadlightError:
        return None
    return log.learning_rate if log is not None and log.learning_rate.steps else None


@dataclass(frozen=True, slots=True)
class ForcedStep:
    """One position of a translation that the decoder is made to read."""

    read: str  #: the token of the reference that it reads
    asked: str  #: the token of the reference that it should write, and `probability` what it gives that
    probability: float
    favourite: str  #: what it would have written, and `favourite_probability`
    favourite_probability: float


@dataclass(frozen=True, slots=True)
class FreeStep:
    """One position of a translation that the model writes by itself: what it reads, writes, and how likely that is."""

    read: str
    written: str
    probability: float


@dataclass(frozen=True, slots=True)
class TwoRuns:
    """Teacher forcing beside free running, position by position."""

    key: str  #: of both together
    translation: str  #: what the model writes by itself
    #: forced, free: the steps of each.
    forced: tuple[ForcedStep, ...]
    free: tuple[FreeStep, ...]
    parting: int  #: the first position at which they do not write the same, or have not read the same; the last if none
    differ: bool  #: whether they part at all
    loss: float  #: mean −log p of the reference's tokens, in nats


@dataclass(frozen=True, slots=True)
class OtherTranslation:
    """What the model writes after one other choice: the text, and its tokens, for a text may be cut into others."""

    text: str
    token_ids: tuple[int, ...]


@cached(max_entries=50)
def other_translation(translator: Writer, trace: Trace, step: int | None) -> OtherTranslation:
    """Return the translation after taking the second-best token once; the model's own if there is none.

    It is taken at `step`; None for the step where the second choice comes closest to the first.
    """
    # The end of the sentence is no other wording.
    steps = range(max(1, len(trace.steps) - 1)) if step is None else [step]
    rivals = {at: rival for at in steps if (rival := traces.rival(trace, at)) is not None}
    session = traces.session(translator, trace.text).branch()
    if rivals:
        at = min(rivals, key=lambda at: trace.steps[at].log_prob - rivals[at].log_prob)
        while len(session.steps) > at:
            session.back()
        session.force(rivals[at].token_id)
        session.run()
    return OtherTranslation(session.translation, tuple(step.token_id for step in session.steps))


def forced_trace(translator: Writer, trace: Trace, reference: str | OtherTranslation) -> Trace:
    """The decoder's run over a reference, typed or written. Raises an InputTextError if it is blank or too long."""
    if isinstance(reference, str):
        return translator.trace(trace.text, reference)
    return translator.trace_tokens(trace.text, reference.token_ids)


@cached(max_entries=50)
def two_runs(translator: Writer, trace: Trace, reference: str | OtherTranslation) -> TwoRuns:
    """The decoder over a reference, and over its own words. Raises as `forced_trace`."""
    forced = forced_trace(translator, trace, reference)
    steps = tuple(
        ForcedStep(read, step.token, exp(step.log_prob), step.candidates[0].token, exp(step.candidates[0].log_prob))
        for read, step in zip(forced.target_tokens, forced.steps, strict=True)
    )
    free = tuple(
        FreeStep(read, step.token, exp(step.log_prob))
        for read, step in zip(trace.target_tokens, trace.steps, strict=True)
    )
    pairs = zip(forced.steps, trace.steps, strict=False)
    parting = next((at for at, (one, other) in enumerate(pairs) if one.token_id != other.token_id), None)
    last = min(len(steps), len(free)) - 1
    if parting is None and len(steps) != len(free):
        parting = last
    return TwoRuns(
        key=f"{forced.key}-{trace.key}",
        translation=trace.translation,
        forced=steps,
        free=free,
        parting=last if parting is None else parting,
        differ=parting is not None,
        loss=-float(np.mean([step.log_prob for step in forced.steps])),
    )

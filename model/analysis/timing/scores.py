"""Score cross-attention heads as keepers of time against word times that a person gives.

A word's start is found by warping (`warping.first_frames`): the first frame of the row that writes its first token. The
first word is left out: warping puts it at 0 s whatever the head looks at. Words are matched by spelling, without
capitals and punctuation; a word that was written otherwise than given is left out, too.

An error has two parts. *Lag* is what a head is late by throughout, the median of found minus given; whoever uses the
times can take it off. So each head has three numbers: the median absolute error, the median lag, and the median
absolute error with the lag of the other half of the sounds taken off. Odd sounds are one half. Intervals draw sounds,
with these lags held fixed; of a single sound, words.

Without given times nothing is known about errors, only whether heads agree (`agreement`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model import interruption
from model.analysis.metrics.estimates import Estimate, bootstrap_median, bootstrap_median_gain
from model.analysis.metrics.head_metrics import LayerHead
from model.analysis.timing.transcript import Transcript
from model.errors import DataError, TraceError

#: A set of more heads is not searched for.
LARGEST_SET: Final = 10
#: With fewer sounds, a half says nothing about the other.
FEWEST_TO_SEARCH: Final = 4


def check_order(task: str) -> None:
    """Raise a TraceError for a task that writes the words in another order than they are spoken in."""
    if task == "translate":
        message = (
            "The words of a translation and their order differ from those spoken, so they have no times in the sound. "
            "Choose the task “transcribe”."
        )
        raise TraceError(message)


@dataclass(frozen=True, eq=False)
class Timing:
    """How far word starts are off, in seconds: of each head, or of one set of heads."""

    error: Estimate  #: median absolute error
    lag: Estimate  #: median of found minus given: above 0 is late
    without_lag: Estimate  #: median absolute error with the lag of the other half taken off


@dataclass(frozen=True, eq=False)
class FoundSet:
    """A set of heads that was found on one half of the sounds, and its numbers on the other."""

    heads: tuple[LayerHead, ...]
    chosen_on: int  #: 1 or 2: the half
    timing: Timing
    #: by how much its error is below that of the model's own set on the same half, and the same without lags; None
    #: without an own set.
    gain: Estimate | None
    gain_without_lag: Estimate | None


@dataclass(frozen=True, eq=False)
class TimingScores:
    """All heads of a model over a set of sounds."""

    sounds: int
    words: int  #: that were scored
    left_out: int  #: given words that were written otherwise, or first
    heads: tuple[LayerHead, ...]  #: the order of what follows
    each: Timing
    evenly: Timing  #: baseline: the words spread evenly over the sound
    own_heads: tuple[LayerHead, ...]  #: the model's own `alignment_heads`
    own: Timing | None
    found: tuple[FoundSet, ...]  #: on either half; empty with few sounds


@dataclass(frozen=True, eq=False)
class _Errors:
    """Signed errors of words, as found and with the lag of the other half taken off, and what each word is of."""

    seconds: Float[Tensor, "word head"]
    without_lag: Float[Tensor, "word head"]
    groups: list[str]  #: the sound; of a single sound, the word
    halves: Int[Tensor, "word"]

    @classmethod
    def of(cls, sounds: Sequence[Float[Tensor, "matched head"]]) -> "_Errors":
        counts = [len(sound) for sound in sounds] if len(sounds) > 1 else [1] * len(sounds[0])
        numbers = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
        seconds, halves = torch.cat(list(sounds)), numbers % 2
        lags = torch.stack([seconds[halves != half].quantile(0.5, dim=0) for half in (0, 1)])
        return cls(seconds, seconds - lags[halves], [str(number) for number in numbers.tolist()], halves)

    def only(self, half: int) -> "_Errors":
        """The words of one half."""
        kept = self.halves == half
        groups = [group for group, is_kept in zip(self.groups, kept.tolist(), strict=True) if is_kept]
        return _Errors(self.seconds[kept], self.without_lag[kept], groups, self.halves[kept])

    def timing(self) -> Timing:
        """The three numbers of each head."""
        every = (self.seconds.abs(), self.seconds, self.without_lag.abs())
        return Timing(*(_each_median(values, self.groups) for values in every))


def _each_median(values: Float[Tensor, "word head"], groups: Sequence[str]) -> Estimate:
    """Head by head: all samples of all heads at once may not fit into memory."""
    each = [bootstrap_median(column, groups) for column in values.T]
    return Estimate(*(torch.stack([getattr(one, end) for one in each]) for end in ("value", "low", "high")))


def score_timing(
    transcripts: Sequence[Transcript], heads: Sequence[LayerHead], own: Sequence[LayerHead] = ()
) -> TimingScores:
    """Score all heads, the model's own set, and sets that are found.

    Raises a DataError if fewer than two words are left to be scored.

    Args:
        transcripts: of the sounds, with given times.
        heads: names of the heads of `Transcript.matrices`.
        own: the model's own set, of these.
    """
    sounds = [sound for sound in transcripts if sound.matched]
    words = sum(len(sound.matched) for sound in sounds)
    if words < 2:
        message = (
            "The model wrote only {words} of the given words, too few to score heads (the first word of a "
            "recording is left out). Provide the times of the words that are spoken, in the language of the "
            "recording."
        )
        raise DataError(message, words=words)
    numbers = [list(heads).index(head) for head in own]
    of_own = _of_set(sounds, numbers) if numbers else None
    return TimingScores(
        sounds=len(sounds),
        words=words,
        left_out=sum(len(sound.given) for sound in transcripts) - words,
        heads=tuple(heads),
        each=_Errors.of([sound.errors(sound.starts(sound.matrices)) for sound in sounds]).timing(),
        evenly=_Errors.of([sound.errors(_evenly(sound)) for sound in sounds]).timing(),
        own_heads=tuple(own),
        own=None if of_own is None else of_own.timing(),
        found=_found_sets(sounds, heads, of_own) if len(sounds) >= FEWEST_TO_SEARCH else (),
    )


def _evenly(sound: Transcript) -> Float[Tensor, "1 word"]:
    count = len(sound.words)
    return sound.begin + torch.arange(count)[None] * (sound.duration / count)


def _of_set(sounds: Sequence[Transcript], heads: Sequence[int]) -> _Errors:
    return _Errors.of([sound.errors(sound.starts(sound.of_set(heads))) for sound in sounds])


def _found_sets(sounds: Sequence[Transcript], heads: Sequence[LayerHead], own: _Errors | None) -> tuple[FoundSet, ...]:
    """A set found on each half, scored on the other."""
    found = []
    for half in (0, 1):
        chosen = find_set(sounds[half::2])
        errors = _of_set(sounds, chosen).only(1 - half)
        gain = without_lag = None
        if own is not None:
            before = own.only(1 - half)
            gain, without_lag = (
                bootstrap_median_gain(first[:, 0].abs(), second[:, 0].abs(), errors.groups)
                for first, second in ((before.seconds, errors.seconds), (before.without_lag, errors.without_lag))
            )
        found.append(FoundSet(tuple(heads[each] for each in chosen), half + 1, errors.timing(), gain, without_lag))
    return tuple(found)


def find_set(sounds: Sequence[Transcript]) -> tuple[int, ...]:
    """Indices of heads that together keep time best: the best head, then whichever helps most.

    It ends where the interval of the gain, in median absolute error, includes 0.
    """
    chosen: list[int] = []
    now: Tensor | None = None
    while len(chosen) < min(LARGEST_SET, len(sounds[0].matrices)):
        errors = []
        for sound in sounds:
            interruption.pause()
            together = sound.matrices[chosen].sum(0) + sound.matrices
            errors.append(sound.errors(sound.starts(together)))
        tried = _Errors.of(errors)
        medians = tried.seconds.abs().quantile(0.5, dim=0)
        medians[chosen] = torch.inf
        best = int(medians.argmin())
        after = tried.seconds[:, best].abs()
        if now is not None and bootstrap_median_gain(now, after, tried.groups).low <= 0:
            break
        chosen.append(best)
        now = after
    return tuple(chosen)


def agreement(transcripts: Sequence[Transcript], own: Sequence[int] = ()) -> Estimate:
    """Seconds by which each head's word starts differ from the others', as a median over words: no error.

    The others are the model's own set without the head itself, their matrices averaged; without an own set, all other
    heads. NaN where there is no other.
    """
    among = list(own) or list(range(len(transcripts[0].matrices)))
    is_member = torch.zeros(len(transcripts[0].matrices), 1, 1)
    is_member[among] = 1
    others = len(among) - is_member
    differences, groups = [], []
    for number, sound in enumerate(transcripts):
        interruption.pause()
        rest = (sound.matrices[among].sum(0) - is_member * sound.matrices) / others.clamp_min(1)
        apart = (sound.starts(sound.matrices) - sound.starts(rest)).abs()[:, 1:].T
        differences.append(apart.masked_fill(others[:, 0, 0] == 0, torch.nan))
        groups += [str(number)] * len(apart)
    return _each_median(torch.cat(differences), groups)

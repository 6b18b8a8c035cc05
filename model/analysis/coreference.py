"""Which encoder heads look from a pronoun to what it stands for. Knows nothing of files or the command line.

A head is right about a sentence if the pronoun's weight on the antecedent is larger than that on the other candidate.
With two candidates, chance is one half; Voita et al. 2018 ("Context-Aware Neural Machine Translation Learns Anaphora
Resolution") hold attention against such baselines too.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.coreference_data import PronounCase, PronounCases
from model.analysis.heads import HeadCounts, HeadScores, rounded, score_heads
from model.analysis.words import Span, attention_between_words, pieces_of_spans, with_mean_of_heads
from model.errors import DataError, InputTextError
from model.trace import Trace
from model.translator import Translator

SITE = "encoder.self"
CHANCE = 0.5
ANY_TARGET = "."
"""What the decoder reads along: the encoder, which is all that is measured, does not see it."""


@dataclass(frozen=True)
class CoreferenceScores:
    """Accuracies of a set.

    Attributes:
        rows, skipped: sentences scored, and reason → rows left out.
        nearest, first: accuracy of the candidate nearest to the pronoun, and of the one that comes first.
        heads: accuracies of all heads of the encoder.
    """

    rows: int
    skipped: dict[str, int]
    nearest: float
    first: float
    heads: HeadScores

    @property
    def skipped_rows(self) -> int:
        """How many rows were left out."""
        return sum(self.skipped.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "rows": self.rows,
            "skipped": self.skipped_rows,
            "skipped_because": self.skipped,
            "chance": CHANCE,
            "baselines": rounded({"nearest": self.nearest, "first": self.first}),
            **self.heads.to_dict(),
        }


def candidate_weights(
    trace: Trace, pronoun: Sequence[int], candidates: Sequence[Sequence[int]]
) -> Float[Tensor, "layer head_or_mean candidate"]:
    """Attention of the encoder from a pronoun to candidates, per head and for the mean of each layer's heads.

    Args:
        trace: of the sentence.
        pronoun: positions of the pronoun's pieces; the mean of their rows is taken.
        candidates: positions of each candidate's pieces; their weights are summed.
    """
    layers = []
    for layer in range(len(trace.inputs[SITE])):
        weights = with_mean_of_heads(trace.weights(SITE, layer, rows=list(pronoun)))
        layers.append(attention_between_words(weights, [range(len(pronoun))], candidates)[:, 0])
    return torch.stack(layers)


def hits(weights: Float[Tensor, "*batch candidate"]) -> Float[Tensor, "*batch"]:
    """1 where the first candidate, the antecedent, has more weight than the second, ½ where both have the same."""
    return ((weights[..., 0] - weights[..., 1]).sign() + 1) / 2


def nearest_hit(case: PronounCase) -> float:
    """`hits` of the baseline that takes the candidate with fewer characters between it and the pronoun."""

    def closeness(candidate: Span) -> float:
        return -float(max(case.pronoun[0] - candidate[1], candidate[0] - case.pronoun[1]))

    return float(hits(torch.tensor([closeness(case.antecedent), closeness(case.distractor)])))


def first_hit(case: PronounCase) -> float:
    """`hits` of the baseline that takes the candidate that comes first in the sentence."""
    return float(case.antecedent < case.distractor)


def halves(cases: Sequence[PronounCase]) -> list[int]:
    """0 or 1 for each case, the same for all with the same two candidates.

    Winograd sentences come in twins with opposite answers. With a twin in each half, a head that is right by chance on
    one half is wrong on the other, and a figure from the other half would be too low.
    """
    groups: dict[frozenset[str], int] = {}
    return [groups.setdefault(case.candidates, len(groups)) % 2 for case in cases]


def score_coreference(
    translator: Translator, given: PronounCases, progress: Callable[[int], object] = lambda done: None
) -> CoreferenceScores:
    """Read every sentence and score all heads of the encoder.

    Args:
        translator: the model that is measured.
        given: the cases; sentences that the model refuses are left out and counted with those left out before.
        progress: called with the number of cases done since the last call.

    Raises:
        DataError: no sentence could be read.
    """
    scored: list[PronounCase] = []
    skipped = Counter(given.skipped)
    right: list[Tensor] = []
    for case in given.cases:
        try:
            trace = translator.trace(case.sentence, ANY_TARGET)
        except InputTextError:
            skipped["too long or blank for this model"] += 1
        else:
            pronoun, *candidates = pieces_of_spans(translator.tokenizer.offsets(case.sentence), case[1:])
            if pronoun and all(candidates):
                right.append(hits(candidate_weights(trace, pronoun, candidates)))
                scored.append(case)
            else:
                skipped["pronoun or candidate without tokens"] += 1
        progress(1)
    if not scored:
        raise DataError(f"No row could be scored: {', '.join(skipped)}.")
    counts = HeadCounts(torch.stack(right), torch.ones(len(scored)), torch.tensor(halves(scored)))
    return CoreferenceScores(
        rows=len(scored),
        skipped=dict(skipped),
        nearest=sum(map(nearest_hit, scored)) / len(scored),
        first=sum(map(first_hit, scored)) / len(scored),
        heads=score_heads(counts, "accuracy"),
    )

"""Heads switched off, or their outputs exchanged: what becomes of the choice of a pronoun, as long computations."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model.errors import DataError
from viz.access.models import MAX_MODELS
from viz.core.background_jobs import Progress, Task
from viz.core.caching import cached
from viz.pages.coreference.data import curated

if TYPE_CHECKING:
    from torch import Tensor

    from model import Translator
    from model.analysis.coreference.cases import PronounCase
    from model.analysis.interventions.contrast import ContrastCase
    from model.analysis.interventions.head_effects import HeadEffects, RemovalEffect
    from model.analysis.interventions.patching import Patching
    from model.analysis.metrics.head_names import HeadName
    from model.pairs import Pair

#: A slice of sentence pairs for BLEU is no longer than this.
MOST_PAIRS: Final = 200


@dataclass(frozen=True, eq=False)
class ChoicePair:
    """Two sentences of the curated set that differ in what the pronoun stands for, with German for either answer."""

    name: str
    a: "PronounCase"
    b: "PronounCase"


@dataclass(frozen=True, eq=False)
class SetEffects:
    """What becomes of the choice over a set when one head is switched off: measured, and estimated by gradients."""

    measured: "HeadEffects"
    estimated: "HeadEffects"


@dataclass(frozen=True)
class BleuChange:
    """BLEU of a slice of sentence pairs with every head on, and with some switched off."""

    intact: float
    removed: float
    sentences: int


@cache
def choice_pairs() -> tuple[ChoicePair, ...]:
    """The pairs of the curated set whose German pronoun depends on what is meant."""
    of_pair: dict[str, list[PronounCase]] = {}
    for case in curated().cases.cases:
        if case.german is not None and not case.is_control:
            of_pair.setdefault(case.pair, []).append(case)
    return tuple(ChoicePair(name, *cases) for name, cases in of_pair.items() if len(cases) == 2)


def all_heads(translator: "Translator") -> tuple["HeadName", ...]:
    """Every head of the model, in the order of tables [site, layer, head]."""
    from model.analysis.metrics.head_names import all_heads

    return tuple(all_heads(translator.config))


def removed_heads(
    translator: "Translator", chosen: Collection["HeadName"], *, others_off: bool
) -> frozenset["HeadName"]:
    """What is switched off: the chosen heads, or all others."""
    return frozenset(all_heads(translator)) - set(chosen) if others_off else frozenset(chosen)


def removal(
    translator: "Translator", cases: Sequence["PronounCase"], off: frozenset["HeadName"], instead: str
) -> Task["RemovalEffect"]:
    """What becomes of the choice in these sentences when heads are switched off at once."""

    def compute(progress: Progress) -> "RemovalEffect":
        from model.analysis.interventions.head_effects import remove_heads

        effect = remove_heads(translator, _contrasts(cases), off, _replacement(translator, instead))
        progress(len(cases))
        return effect

    return Task(_key("removal", translator, cases, (off, instead)), len(cases), "sentences", compute)


def effects(translator: "Translator", cases: Sequence["PronounCase"], instead: str) -> Task[SetEffects]:
    """Every head switched off in turn in these sentences, and the gradient estimate of the same."""

    def compute(progress: Progress) -> SetEffects:
        from model.analysis.interventions.head_effects import estimate_effects, measure_effects

        contrasts, replacement = _contrasts(cases), _replacement(translator, instead)
        estimated = estimate_effects(translator, contrasts, replacement, progress=lambda done: progress(0))
        return SetEffects(measure_effects(translator, contrasts, replacement, progress=progress), estimated)

    runs = len(cases) * len(all_heads(translator))
    return Task(_key("effects", translator, cases, instead), runs, "runs", compute)


def patching(translator: "Translator", pairs: Sequence[ChoicePair]) -> Task["Patching"]:
    """Each head's output taken from the second sentence while the first is read, over these pairs."""

    def compute(progress: Progress) -> "Patching":
        from model.analysis.interventions.patching import PatchPair, patch_heads

        read = [
            PatchPair(pair.a.sentence, pair.b.sentence, pair.a.german.right, pair.a.german.wrong)
            for pair in pairs
            if pair.a.german is not None
        ]
        return patch_heads(translator, read, progress=progress)

    firsts = [pair.a for pair in pairs]
    return Task(_key("patching", translator, firsts, ""), len(pairs) * len(all_heads(translator)), "runs", compute)


def uploaded_pairs(content: bytes) -> "tuple[Pair, ...]":
    """The first `MOST_PAIRS` pairs of a text file, English TAB German.

    Raises:
        DataError: it is not UTF-8, or a line is not two texts with a tab between them.
    """
    from model.pairs import parse_pairs

    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise DataError("Expected a text file in UTF-8: a sentence, a tab, its German, one pair a line.") from error
    return tuple(parse_pairs(lines, "The file", MOST_PAIRS))


def bleu_change(
    translator: "Translator", pairs: "tuple[Pair, ...]", off: frozenset["HeadName"], instead: str
) -> Task[BleuChange]:
    """BLEU of greedy translations with every head on, and with these switched off."""

    def compute(progress: Progress) -> BleuChange:
        from model.analysis.interventions.head_effects import scores_without

        replacement = _replacement(translator, instead)
        intact, removed = (
            scores_without(translator, pairs, heads, replacement, progress) for heads in (frozenset(), off)
        )
        return BleuChange(intact.bleu, removed.bleu, len(pairs))

    key = ("bleu", translator.key, pairs, off, instead)
    return Task(key, 2 * len(pairs), "translations", compute)


def rank_correlation(first: Float[np.ndarray, "*shape"], second: Float[np.ndarray, "*shape"]) -> float:
    """Spearman's ρ of the figures of the same heads; NaN where there is none."""
    from model.analysis.metrics.head_names import rank_correlation

    return rank_correlation(first, second)


def _contrasts(cases: Sequence["PronounCase"]) -> list["ContrastCase"]:
    from model.analysis.interventions.contrast import ContrastCase

    return [
        ContrastCase(case.sentence, case.german.right, case.german.wrong) for case in cases if case.german is not None
    ]


def _replacement(translator: "Translator", instead: str) -> "Tensor":
    """What stands in place of a head: nothing, or its mean over all rows of the sentences that ask for a choice."""
    from model.analysis.interventions.replacement import zero_outputs

    return zero_outputs(translator.config) if instead == "zero" else _mean_outputs(translator)


@cached(max_entries=MAX_MODELS)
def _mean_outputs(translator: "Translator") -> "Tensor":
    from model.analysis.corpus import CorpusSentence
    from model.analysis.interventions.replacement import mean_outputs

    cases = [case for pair in choice_pairs() for case in (pair.a, pair.b)]
    sentences = [CorpusSentence(case.sentence, case.german.right) for case in cases if case.german is not None]
    return mean_outputs(translator, sentences)


def _key(kind: str, translator: "Translator", cases: Sequence["PronounCase"], asked: object) -> tuple[object, ...]:
    return kind, translator.key, tuple(case.sentence for case in cases), asked

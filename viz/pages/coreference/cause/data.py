"""Heads switched off, or their outputs exchanged: what becomes of the choice of a pronoun, as long computations."""

from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model.errors import DataError
from viz.access.models import MAX_MODELS
from viz.core.background_jobs import Progress, Task
from viz.core.caching import cached
from viz.pages.coreference.data import Pair, curated_pairs

if TYPE_CHECKING:
    from torch import Tensor

    from model import Translator
    from model.analysis.coreference.cases import PronounCase
    from model.analysis.interventions.contrast import ContrastCase
    from model.analysis.interventions.head_effects import HeadEffects, RemovalEffect
    from model.analysis.interventions.patching import Patching
    from model.analysis.metrics.head_names import HeadName
    from model.pairs import Pair as SentencePair

#: A slice of sentence pairs for BLEU is no longer than this.
MOST_PAIRS: Final = 200


@cache
def choice_pairs() -> tuple[Pair, ...]:
    """The pairs of the curated set whose German pronoun depends on what is meant."""
    pairs = curated_pairs().values()
    return tuple(pair for pair in pairs if not pair.is_control and all(case.german for case in pair.cases))


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


def effects(
    translator: "Translator", cases: Sequence["PronounCase"], instead: str
) -> Task[tuple["HeadEffects", "HeadEffects"]]:
    """Every head switched off in turn in these sentences: the effects measured, and estimated by gradients."""

    def compute(progress: Progress) -> tuple["HeadEffects", "HeadEffects"]:
        from model.analysis.interventions.head_effects import estimate_effects, measure_effects

        contrasts, replacement = _contrasts(cases), _replacement(translator, instead)
        estimated = estimate_effects(translator, contrasts, replacement, progress=lambda done: progress(0))
        return measure_effects(translator, contrasts, replacement, progress=progress), estimated

    runs = len(cases) * len(all_heads(translator))
    return Task(_key("effects", translator, cases, instead), runs, "runs", compute)


def patching(translator: "Translator", pairs: Sequence[Pair]) -> Task["Patching"]:
    """Each head's output taken from the second sentence while the first is read, over these pairs."""

    def compute(progress: Progress) -> "Patching":
        from model.analysis.interventions.patching import PatchPair, patch_heads

        read = [
            PatchPair(a.sentence, b.sentence, a.german.right, a.german.wrong)
            for a, b in (pair.cases for pair in pairs)
            if a.german is not None
        ]
        return patch_heads(translator, read, progress=progress)

    firsts = [pair.cases[0] for pair in pairs]
    return Task(_key("patching", translator, firsts, ""), len(pairs) * len(all_heads(translator)), "runs", compute)


def uploaded_pairs(content: bytes) -> "tuple[SentencePair, ...]":
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
    translator: "Translator", pairs: "tuple[SentencePair, ...]", off: frozenset["HeadName"], instead: str
) -> Task[tuple[float, float]]:
    """BLEU of greedy translations with every head on, and with these switched off."""

    def compute(progress: Progress) -> tuple[float, float]:
        from model.analysis.interventions.head_effects import scores_without

        replacement = _replacement(translator, instead)
        nothing: frozenset[HeadName] = frozenset()
        intact, removed = (scores_without(translator, pairs, heads, replacement, progress) for heads in (nothing, off))
        return intact.bleu, removed.bleu

    key = ("bleu", translator.key, pairs, off, instead)
    return Task(key, 2 * len(pairs), "translations", compute)


def rank_correlation(first: Float[np.ndarray, "*shape"], second: Float[np.ndarray, "*shape"]) -> float:
    """Spearman's ρ of the metrics of the same heads; NaN where there is none."""
    from model.analysis.metrics.head_names import rank_correlation

    return rank_correlation(first, second)


def _contrasts(cases: Sequence["PronounCase"]) -> list["ContrastCase"]:
    from model.analysis.interventions.contrast import ContrastCase

    return [
        ContrastCase(case.sentence, case.german.right, case.german.wrong) for case in cases if case.german is not None
    ]


def _replacement(translator: "Translator", instead: str) -> "Tensor":
    """What replaces the output of a head: nothing, or its mean over all rows of the sentences that ask for a choice."""
    from model.analysis.interventions.replacement import zero_outputs

    return zero_outputs(translator.config) if instead == "zero" else _mean_outputs(translator)


@cached(max_entries=MAX_MODELS)
def _mean_outputs(translator: "Translator") -> "Tensor":
    from model.analysis.corpus import CorpusSentence
    from model.analysis.interventions.replacement import mean_outputs

    cases = [case for pair in choice_pairs() for case in pair.cases]
    sentences = [CorpusSentence(case.sentence, case.german.right) for case in cases if case.german is not None]
    return mean_outputs(translator, sentences)


def _key(kind: str, translator: "Translator", cases: Sequence["PronounCase"], asked: object) -> tuple[object, ...]:
    return kind, translator.key, tuple(case.sentence for case in cases), asked

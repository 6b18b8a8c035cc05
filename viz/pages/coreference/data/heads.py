"""Heads measured on pronouns, and heads switched off: the door from the coreference lab to the model.

Together with `viz.access.loader` and the other doors the only modules of viz that call the model; torch is imported
in it
inside functions. Long work comes as a `viz.core.background_jobs.Task`, named by (digest, device, what is asked),
never by arrays.
Knows nothing of widgets or figures.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from jaxtyping import Float

from model.errors import DataError
from viz.access import loader
from viz.core.background_jobs import Progress, Task
from viz.core.bounded_cache import BoundedCache
from viz.selection.selection import Selection

if TYPE_CHECKING:
    from model import Translator
    from model.analysis.coreference.cases import PronounCase, PronounCases
    from model.analysis.coreference.measure_translator import CoreferenceScores
    from model.analysis.interventions.head_effects import HeadEffects, RemovalEffect
    from model.analysis.interventions.patching import Patching
    from model.analysis.metrics.head_names import HeadName
    from model.pairs import Pair

#: The three measures as the pages name them → as the model does.
MODEL_MEASURES: Final = {"weights": "raw", "norms": "norm", "rollout": "rollout"}
#: A slice of sentence pairs for BLEU is no longer than this.
MOST_PAIRS: Final = 200


@dataclass(frozen=True, eq=False)
class GivenCases:
    """A set of sentences with pronouns: its name, its cases, and what tells it from others."""

    name: str
    cases: "PronounCases"
    digest: str


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
def curated() -> GivenCases:
    """The set that ships."""
    from model.analysis.coreference.case_files import curated_cases

    return GivenCases("the curated set", curated_cases(), "curated")


def read_cases(content: bytes, name: str) -> GivenCases:
    """The cases of a file that someone chose.

    Raises:
        DataError: it is of no form that can be read, too large, or none of its lines can be used.
    """
    from model.analysis.coreference.case_files import parse_pronoun_cases

    digest = hashlib.sha256(content).hexdigest()
    return GivenCases(name, parse_pronoun_cases(content, name), f"{digest}/{name.rpartition('.')[2].lower()}")


def measuring(given: GivenCases, measure: str, selection: Selection) -> Task["CoreferenceScores"]:
    """All heads scored over a set; `measure` is one of `MODEL_MEASURES`."""
    loaded = loader.reader(selection)

    def compute(progress: Progress) -> "CoreferenceScores":
        from model import Translator
        from model.analysis.coreference.measure_reader import measure_reading
        from model.analysis.coreference.measure_translator import measure_coreference

        way: Any = MODEL_MEASURES[measure]
        if not isinstance(loaded, Translator):
            return measure_reading(loaded, given.cases, measure=way, progress=progress)
        return measure_coreference(loaded, given.cases, measure=way, progress=progress)

    place = ("coreference", loaded.digest, str(loaded.device), given.digest, measure)
    return Task(place, len(given.cases.cases), "sentences", compute)


@cache
def choice_pairs() -> tuple[ChoicePair, ...]:
    """The pairs of the curated set whose German pronoun depends on what is meant."""
    of_pair: dict[str, list[PronounCase]] = {}
    for case in curated().cases.cases:
        if case.german is not None and not case.is_control:
            of_pair.setdefault(case.pair, []).append(case)
    return tuple(ChoicePair(name, *cases) for name, cases in of_pair.items() if len(cases) == 2)


def places(selection: Selection) -> tuple["HeadName", ...]:
    """Every head of the model, in the order of tables [site, layer, head]."""
    from model.analysis.metrics.head_names import all_heads

    return tuple(all_heads(loader.translator(selection).config))


def removed_places(chosen: Collection["HeadName"], selection: Selection) -> frozenset["HeadName"]:
    """What is switched off: the chosen heads or, where `spare` says so, all others."""
    return frozenset(places(selection)) - set(chosen) if selection.coreference.others_off else frozenset(chosen)


def removal(
    cases: Sequence["PronounCase"], off: frozenset["HeadName"], instead: str, selection: Selection
) -> Task["RemovalEffect"]:
    """What becomes of the choice in these sentences when heads are switched off at once."""
    loaded = loader.translator(selection)

    def compute(progress: Progress) -> "RemovalEffect":
        from model.analysis.interventions.head_effects import remove_heads

        effect = remove_heads(loaded, _contrasts(cases), off, _replacement(loaded, instead))
        progress(len(cases))
        return effect

    return Task(_place("removal", loaded, cases, (off, instead)), len(cases), "sentences", compute)


def effects(cases: Sequence["PronounCase"], instead: str, selection: Selection) -> Task[SetEffects]:
    """Every head switched off in turn in these sentences, and the gradient estimate of the same."""
    loaded = loader.translator(selection)

    def compute(progress: Progress) -> SetEffects:
        from model.analysis.interventions.head_effects import estimate_effects, measure_effects

        contrasts, replacement = _contrasts(cases), _replacement(loaded, instead)
        estimated = estimate_effects(loaded, contrasts, replacement, progress=lambda done: progress(0))
        return SetEffects(measure_effects(loaded, contrasts, replacement, progress=progress), estimated)

    runs = len(cases) * len(places(selection))
    return Task(_place("effects", loaded, cases, instead), runs, "runs", compute)


def patching(pairs: Sequence[ChoicePair], selection: Selection) -> Task["Patching"]:
    """Each head's output taken from the second sentence while the first is read, over these pairs."""
    loaded = loader.translator(selection)

    def compute(progress: Progress) -> "Patching":
        from model.analysis.interventions.patching import PatchPair, patch_heads

        read = [
            PatchPair(pair.a.sentence, pair.b.sentence, pair.a.german.right, pair.a.german.wrong)
            for pair in pairs
            if pair.a.german is not None
        ]
        return patch_heads(loaded, read, progress=progress)

    firsts = [pair.a for pair in pairs]
    return Task(_place("patching", loaded, firsts, ""), len(pairs) * len(places(selection)), "runs", compute)


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
    pairs: "tuple[Pair, ...]", off: frozenset["HeadName"], instead: str, selection: Selection
) -> Task[BleuChange]:
    """BLEU of greedy translations with every head on, and with these switched off."""
    loaded = loader.translator(selection)

    def compute(progress: Progress) -> BleuChange:
        from model.analysis.interventions.head_effects import scores_without

        replacement = _replacement(loaded, instead)
        intact, removed = (scores_without(loaded, pairs, heads, replacement, progress) for heads in (frozenset(), off))
        return BleuChange(intact.bleu, removed.bleu, len(pairs))

    place = ("bleu", loaded.digest, str(loaded.device), pairs, off, instead)
    return Task(place, 2 * len(pairs), "translations", compute)


def rank_correlation(first: Float[np.ndarray, "*shape"], second: Float[np.ndarray, "*shape"]) -> float:
    """Spearman's ρ of the figures of the same heads; NaN where there is none."""
    from model.analysis.metrics.head_names import rank_correlation

    return rank_correlation(first, second)


def _place(kind: str, loaded: "Translator", cases: Sequence["PronounCase"], asked: object) -> tuple[object, ...]:
    return (kind, loaded.digest, str(loaded.device), tuple(case.sentence for case in cases), asked)


def _contrasts(cases: Sequence["PronounCase"]) -> list[Any]:
    from model.analysis.interventions.contrast import ContrastCase

    return [
        ContrastCase(case.sentence, case.german.right, case.german.wrong) for case in cases if case.german is not None
    ]


def _replacement(loaded: "Translator", instead: str) -> Any:
    """What stands in place of a head: nothing, or its mean over all rows of the sentences that ask for a choice."""
    from model.analysis.interventions.replacement import zero_outputs

    return zero_outputs(loaded.config) if instead == "zero" else _means(loaded)


_MEANS: Final = BoundedCache[tuple[str, str], Any](loader.MAX_TRANSLATORS)


def _means(loaded: "Translator") -> Any:
    from model.analysis.corpus import CorpusSentence
    from model.analysis.interventions.replacement import mean_outputs

    place = (loaded.digest, str(loaded.device))
    found = _MEANS.get(place)
    if found is None:
        cases = [case for pair in choice_pairs() for case in (pair.a, pair.b)]
        sentences = [CorpusSentence(case.sentence, case.german.right) for case in cases if case.german is not None]
        found = _MEANS.put(place, mean_outputs(loaded, sentences))
    return found

"""Heads of an English–German translator: what becomes of the choice of a pronoun without them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model.errors import DataError
from viz.access import attribution, head_verdict
from viz.access.models import MAX_MODELS
from viz.core.background_jobs import Progress, Task
from viz.core.caching import cached
from viz.core.messages import said
from viz.pages.coreference.cause import verdicts
from viz.pages.coreference.cause.data.asked import Asked, Removal, all_heads
from viz.pages.coreference.data import MAX_CHOICES, Pair, curated_pairs, pronoun_choice

if TYPE_CHECKING:
    from torch import Tensor

    from model import Translator
    from model.analysis.coreference.cases import PronounCase
    from model.analysis.interventions.contrast import ContrastCase
    from model.analysis.interventions.head_effects import HeadEffects
    from model.analysis.interventions.patching import Patching
    from model.analysis.metrics.head_names import HeadName
    from model.pairs import Pair as SentencePair

#: A slice of sentence pairs for BLEU is no longer than this.
MOST_PAIRS: Final = 200
#: Of so many sentences translations are shown.
SENTENCES_OF_PAIR: Final = 2


@cache
def choice_pairs() -> tuple[Pair, ...]:
    """The pairs of the curated set whose German pronoun depends on what is meant."""
    pairs = curated_pairs().values()
    return tuple(pair for pair in pairs if not pair.is_control and all(case.german for case in pair.cases))


@cached(max_entries=MAX_CHOICES)
def own_pair(translator: "Translator", cases: "tuple[PronounCase, PronounCase]") -> Pair | str:
    """A person's two sentences as a choice: the pronoun that the model writes in each, against that of the other.

    Where it writes the same in both, the other one is the most probable of the rest. A text says why there is none.

    Raises:
        InputTextError: a sentence is blank or too long.
    """
    choices = [pronoun_choice(translator, case) for case in cases]
    words = ["" if isinstance(choice.pronoun, str) else choice.pronoun.text for choice in choices]
    first, second = (choice.against(other) for choice, other in zip(choices, reversed(words), strict=True))
    if isinstance(first, str) or isinstance(second, str):
        return str(first if isinstance(first, str) else second)
    return Pair("", "", (replace(cases[0], german=first), replace(cases[1], german=second)))


def asked(
    translator: "Translator", pairs: Sequence[Pair], instead: str, accuracy: Float[np.ndarray, "head"] | None = None
) -> Asked:
    """What is asked of a translator in these pairs; `instead` is "zero" or "mean", `accuracy` as of `Asked`."""
    cases = [case for pair in pairs for case in pair.cases]
    is_own, words = pairs[0].is_own, tuple(map(verdicts.german_words, cases))
    given = verdicts.all_words_given(is_own=is_own)
    return Asked(
        heads=all_heads(translator),
        words=words,
        is_one=len(pairs) == 1,
        name=pairs[0].name or "own pair" if len(pairs) == 1 else "all pairs",
        helps=said("the pronoun that is written") if is_own else said("the right pronoun"),
        given=given,
        effects=effects(translator, cases, instead),
        removal=lambda off: removal(translator, cases, off, instead),
        verdict=lambda removal: verdicts.removal_sentence(removal, words, given),
        has_right=not is_own,
        compared=said("Compared is the first German token that differs."),
        patching=patching(translator, pairs),
        explained=lambda sentence: _explained(translator, cases[sentence]),
        tested=(lambda head: _tested(translator, pairs[0], head)) if len(pairs) == 1 else None,
        accuracy=accuracy,
    )


def _explained(translator: "Translator", case: "PronounCase") -> Task[attribution.Explained]:
    assert case.german is not None
    choice = translator.word_choice(case.sentence, case.german.right, case.german.wrong)
    return attribution.explaining_words(translator, choice, case.sentence)


def _tested(translator: "Translator", pair: Pair, head: "HeadName") -> Task[head_verdict.Stated]:
    a, b = pair.cases
    assert a.german is not None
    of_a, of_b = (translator.word_choice(case.sentence, a.german.right, a.german.wrong) for case in (a, b))
    return head_verdict.on_words(translator, of_a, of_b, a.sentence, head)


def removal(
    translator: "Translator", cases: Sequence["PronounCase"], off: frozenset["HeadName"], instead: str
) -> Task[Removal]:
    """What becomes of the choice in these sentences, and of the translations of a pair, without some heads."""

    def compute(progress: Progress) -> Removal:
        from model.analysis.interventions.head_effects import remove_heads, translate_without
        from model.analysis.word_diff import word_diff

        replacement = _replacement(translator, instead)
        effect = remove_heads(translator, _contrasts(cases), off, replacement)
        written, pronouns = [], []
        for case in cases if len(cases) == SENTENCES_OF_PAIR else ():
            whole, without = (translate_without(translator, case.sentence, heads, replacement) for heads in ((), off))
            written.append(word_diff(whole, without))
            pronouns.append((_german_pronoun(case, whole), _german_pronoun(case, without)))
            progress(1)
        return Removal(effect, tuple(written), tuple(pronouns))

    return Task(_key("removal", translator, cases, (off, instead)), len(cases), said("sentences"), compute)


def effects(
    translator: "Translator", cases: Sequence["PronounCase"], instead: str
) -> Task[tuple["HeadEffects", "HeadEffects"]]:
    """Every head switched off in turn in these sentences: the effects measured, and estimated by gradients."""

    def compute(progress: Progress) -> tuple["HeadEffects", "HeadEffects"]:
        from model.analysis.interventions.head_effects import estimate_effects, measure_effects

        contrasts, replacement = _contrasts(cases), _replacement(translator, instead)
        estimated = estimate_effects(translator, contrasts, replacement, progress=lambda done: progress(0))
        return _flat(measure_effects(translator, contrasts, replacement, progress=progress)), _flat(estimated)

    runs = len(cases) * len(all_heads(translator))
    return Task(_key("effects", translator, cases, instead), runs, said("runs"), compute)


def patching(translator: "Translator", pairs: Sequence[Pair]) -> Task["Patching"]:
    """Each head's output taken from the second sentence while the first is read, over these pairs."""

    def compute(progress: Progress) -> "Patching":
        from model.analysis.interventions.patching import PatchPair, patch_heads

        read = [
            PatchPair(a.sentence, b.sentence, a.german.right, a.german.wrong)
            for a, b in (pair.cases for pair in pairs)
            if a.german is not None
        ]
        patching = patch_heads(translator, read, progress=progress)
        return replace(patching, patched=patching.patched.flatten(1))

    firsts = [pair.cases[0] for pair in pairs]
    return Task(
        _key("patching", translator, firsts, ""), len(pairs) * len(all_heads(translator)), said("runs"), compute
    )


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
    return tuple(parse_pairs(lines, said("The file"), MOST_PAIRS))


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
    return Task(key, 2 * len(pairs), said("translations"), compute)


def _flat(effects: "HeadEffects") -> "HeadEffects":
    """The same, with all heads in one list."""
    return replace(effects, changes=effects.changes.flatten(1))


def _german_pronoun(case: "PronounCase", german: str) -> str:
    from model.analysis.coreference.german_pronouns import translated_pronoun

    span = translated_pronoun(case.sentence, case.pronoun, german)
    return "" if isinstance(span, str) else german[slice(*span)]


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
    return kind, translator.key, tuple((case.sentence, case.german) for case in cases), asked

"""Ask an English–German translator which pronoun it writes, in the pairs of the set or in a person's own."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model.errors import DataError
from viz.pages.coreference.cause import verdicts
from viz.pages.coreference.cause.data.asked import Asked, Question, Removal, in_place
from viz.pages.coreference.data import MAX_CHOICES, Pair, curated_pairs, pronoun_choice
from viz.server.background_jobs import Progress, Task
from viz.server.caches import cached
from viz.text.messages import said

if TYPE_CHECKING:
    from model import Translator
    from model.analysis.coreference.cases import PronounCase
    from model.analysis.interventions.head_effects import RemovalEffect, Replacement
    from model.analysis.metrics.head_names import HeadName
    from model.pairs import Pair as SentencePair

#: A slice of sentence pairs for BLEU is no longer than this.
MOST_PAIRS: Final = 200


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


@cached(max_entries=MAX_CHOICES)
def question(translator: "Translator", pair: Pair) -> Question:
    """What is asked in a pair: the German of the set, or what the model itself writes, against its wrong pronoun.

    Raises:
        InputTextError: a text is too long for the model.
    """
    from model.analysis.interventions.patching import ChoicePair

    german = [(case.sentence, case.german.right, case.german.wrong) for case in pair.cases if case.german is not None]
    of_a, of_b = (translator.word_choice(*case) for case in german)
    (text_a, *words_of_a), (text_b, _, _) = german
    return Question(
        pair.name,
        (text_a, text_b),
        (verdicts.german_words(pair.cases[0]), verdicts.german_words(pair.cases[1])),
        (translator.text_choice(*german[0]), translator.text_choice(*german[1])),
        (of_a, of_b),
        ChoicePair(of_a, translator.word_choice(text_b, *words_of_a)),
    )


def asked(
    translator: "Translator", pairs: Sequence[Pair], instead: str, accuracy: Float[np.ndarray, "head"] | None = None
) -> Asked:
    """What is asked of a translator in these pairs; `instead` is "zero" or "mean", `accuracy` as of `Asked`."""
    is_own = pairs[0].is_own
    given = verdicts.all_words_given(is_own=is_own)
    made = Asked(
        reader=translator,
        questions=[question(translator, pair) for pair in pairs],
        of_set=lambda: _of_set(translator),
        instead=instead,
        helps=said("the pronoun that is written") if is_own else said("the right pronoun"),
        given=given,
        verdict=lambda removal: verdicts.removal_sentence(removal, made.words, given),
        compared=said("Compared is the first German token that differs."),
        follows_paths=False,
        seen=lambda *removed: _written(translator, pairs, *removed),
        accuracy=accuracy,
    )
    return made


def _of_set(translator: "Translator") -> list[Question]:
    return [question(translator, pair) for pair in choice_pairs()]


def _written(
    translator: "Translator",
    pairs: Sequence[Pair],
    effect: "RemovalEffect",
    off: "frozenset[HeadName]",
    replacement: "Replacement | None",
) -> Removal:
    """The translations of one pair, with every head and without some."""
    from model.analysis.interventions.head_effects import heads_off
    from model.analysis.word_diff import word_diff

    written, pronouns = [], []
    for case in pairs[0].cases if len(pairs) == 1 else ():
        whole = translator.translate(case.sentence)
        with heads_off(translator, off, replacement):
            without = translator.translate(case.sentence)
        written.append(word_diff(whole, without))
        pronouns.append((_german_pronoun(case, whole), _german_pronoun(case, without)))
    return Removal(effect, tuple(written), tuple(pronouns))


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
        from model.analysis.interventions.head_effects import heads_off
        from model.evaluation import evaluate

        replacement = in_place(translator, _of_set(translator), instead)
        intact = evaluate(translator.model, translator.tokenizer, pairs, progress=progress)
        with heads_off(translator, off, replacement):
            removed = evaluate(translator.model, translator.tokenizer, pairs, progress=progress)
        return intact.bleu, removed.bleu

    key = ("bleu", translator.key, pairs, off, instead)
    return Task(key, 2 * len(pairs), said("translations"), compute)


def _german_pronoun(case: "PronounCase", german: str) -> str:
    from model.analysis.coreference.german_pronouns import translated_pronoun

    span = translated_pronoun(case.sentence, case.pronoun, german)
    return "" if isinstance(span, str) else german[slice(*span)]

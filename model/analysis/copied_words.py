"""Score how a translator copies what it cannot know, and find translations that babble."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from model.training.copying import CopiedKind, CopyingCase

Translate = Callable[[Sequence[str]], list[str]]

_REPEATED_LETTERS: Final = re.compile(r"([^\W\d_]{3,})\1", re.IGNORECASE)
_REPEATED_WORD: Final = re.compile(r"\b(\w+)(?:\W+\1\b){2}", re.IGNORECASE)
#: German words that repeat themselves by right.
_DOUBLED: Final = ("bonbon", "purpur", "kuckuc", "barbar", "berber", "couscous", "tamtam", "wauwau")


@dataclass(frozen=True)
class CopyingScores:
    """How often what is to be copied stands in the translation letter by letter.

    Attributes:
        copied: share of sentences in which all of it does (0 to 1).
        kinds: share of the made-up words, names and numbers, each for itself.
        babbling: how many translations repeat themselves.
        failures: each sentence that was not copied or babbles, with its translation.
    """

    sentences: int
    copied: float
    kinds: dict[CopiedKind, float]
    babbling: int
    failures: tuple[tuple[str, str], ...]


def score_copying(cases: Sequence[CopyingCase], translate: Translate) -> CopyingScores:
    """Translate every case and look for what is to be copied."""
    outputs = translate([case.pair.source for case in cases])
    kept = [
        {kind: is_copied(text, output) for kind, text in case.to_copy.items()}
        for case, output in zip(cases, outputs, strict=True)
    ]
    babbles = [is_babble(output, case.pair.source) for case, output in zip(cases, outputs, strict=True)]
    by_kind: dict[CopiedKind, list[bool]] = {}
    for of_case in kept:
        for kind, is_kept in of_case.items():
            by_kind.setdefault(kind, []).append(is_kept)
    return CopyingScores(
        sentences=len(cases),
        copied=round(sum(all(of_case.values()) for of_case in kept) / len(cases), 4),
        kinds={kind: round(sum(found) / len(found), 4) for kind, found in sorted(by_kind.items())},
        babbling=sum(babbles),
        failures=tuple(
            (case.pair.source, output)
            for case, output, of_case, babble in zip(cases, outputs, kept, babbles, strict=True)
            if babble or not all(of_case.values())
        ),
    )


def is_copied(text: str, output: str) -> bool:
    """Whether a text stands in the output as a word of its own; a name may have the genitive's s."""
    genitive = "" if text.isdecimal() else "s?"
    return re.search(rf"(?<!\w){re.escape(text)}{genitive}(?!\w)", output) is not None


def is_babble(output: str, source: str) -> bool:
    """Whether a translation repeats itself where its source does not.

    That is three letters or more twice in a row within a word (“Deckedecke”), or one word three times in a row.
    """
    in_words = (
        found[0].lower()
        for found in _REPEATED_LETTERS.finditer(output)
        if found[0].lower() not in source.lower() and not found[0].lower().startswith(_DOUBLED)
    )
    return any(in_words) or (_REPEATED_WORD.search(output) is not None and _REPEATED_WORD.search(source) is None)

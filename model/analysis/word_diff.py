"""Compare two texts word by word."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Final
from unicodedata import category

#: Between spaces: one character of a script that is written without them, or a run of others.
_RUN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


@dataclass(frozen=True)
class WordSpan:
    """Words that both texts have, or that one has where the other has something else, or nothing."""

    #: first, second: the words in each text, each with a space before it where it follows one there or begins the text;
    #: the same words where nothing changes, empty where a text has none.
    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether both texts have these words."""
        return _bare(self.first) == _bare(self.second)

    @property
    def first_text(self) -> str:
        """The words of the first text as they stand there."""
        return "".join(self.first)

    @property
    def second_text(self) -> str:
        """The words of the second text as they stand there."""
        return "".join(self.second)


def word_diff(first: str, second: str) -> tuple[WordSpan, ...]:
    """Spans in reading order, matched by difflib's longest common blocks of words.

    A punctuation mark before or after a word is a word of its own, so that a word stays the same with or without it;
    within a word it is part of it. So is each character of Chinese or Japanese.
    """
    a, b = _words(first), _words(second)
    matcher = SequenceMatcher(None, _bare(a), _bare(b), autojunk=False)
    return tuple(WordSpan(tuple(a[i:j]), tuple(b[k:m])) for _, i, j, k, m in matcher.get_opcodes())


def _words(text: str) -> list[str]:
    """The words of a text, with a space before each that follows white space, and before the first."""
    return [
        word if at or (run.start() and not text[run.start() - 1].isspace()) else f" {word}"
        for run in _RUN.finditer(text)
        for at, word in enumerate(_without_punctuation(run[0]))
    ]


def _without_punctuation(run: str) -> list[str]:
    """A run of characters without white space as a word, and the punctuation marks before and after it."""
    before = _punctuation(run)
    after = _punctuation(reversed(run[len(before) :]))
    word = run[len(before) : len(run) - len(after)]
    return [*before, *([word] if word else []), *reversed(after)]


def _punctuation(characters: Iterable[str]) -> list[str]:
    return list(takewhile(lambda character: category(character).startswith("P"), characters))


def _bare(words: Sequence[str]) -> list[str]:
    return [word.lstrip(" ") for word in words]

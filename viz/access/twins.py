"""Find a second sentence for a first: its twin where one is known, or the first with the words changed as before."""

from collections.abc import Mapping
from difflib import SequenceMatcher
from functools import cache
from typing import Final

from model import later
from viz.access.findings import set_of
from viz.selection.examples import ALL_EXAMPLES
from viz.text.marks import word_spans

#: Twins differ in a run of at most so many words.
MAX_CHANGED: Final = 4
#: What differs: the words of the first sentence, and those of the second instead.
Change = tuple[tuple[str, ...], tuple[str, ...]]


def known_twin(text: str) -> str:
    """The twin of an example, or of a sentence of the curated set; "" where none is known."""
    return _examples().get(text) or _curated(set_of(text)).get(text, "")


def change(first: str, second: str) -> Change | None:
    """The words in which two sentences differ; None where these are too many, or none."""
    words, others = _words(first), _words(second)
    shortest = min(len(words), len(others))
    begin = next((i for i in range(shortest) if words[i] != others[i]), shortest)
    left = shortest - begin
    end = next((i for i in range(left) if words[-1 - i] != others[-1 - i]), left)
    changed = tuple(words[begin : len(words) - end]), tuple(others[begin : len(others) - end])
    return changed if all(1 <= len(run) <= MAX_CHANGED for run in changed) else None


def changed(text: str, how: Change) -> str:
    """A sentence with these words changed; "" where they do not stand in it, or more than once."""
    before, after = how
    words, spans = _words(text), word_spans(text)
    starts = [i for i in range(len(words)) if tuple(words[i : i + len(before)]) == before]
    if len(starts) != 1:
        return ""
    begin, end = spans[starts[0]][0], spans[starts[0] + len(before) - 1][1]
    return text[:begin] + (" " if " " in text else "").join(after) + text[end:]


def shared_words(first: str, second: str) -> tuple[int, int]:
    """How many words both sentences have in the same order, and how many the longer one has."""
    words, others = _words(first.lower()), _words(second.lower())
    blocks = SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks), max(len(words), len(others))


def _words(text: str) -> list[str]:
    return [text[slice(*span)] for span in word_spans(text)]


@cache
def _examples() -> Mapping[str, str]:
    return _both_ways([(example.text, example.twin) for example in reversed(ALL_EXAMPLES)])


@cache
def _curated(language: str) -> Mapping[str, str]:
    of_pair: dict[str, list[str]] = {}
    for case in later.case_files.curated_cases(language).cases:
        of_pair.setdefault(case.pair, []).append(case.sentence)
    return _both_ways([(pair[0], pair[1]) for pair in of_pair.values() if len(pair) == 2])


def _both_ways(pairs: list[tuple[str, str]]) -> dict[str, str]:
    return {second: first for first, second in pairs} | dict(pairs)

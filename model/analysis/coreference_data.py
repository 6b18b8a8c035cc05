"""Sentences with a pronoun and two candidates, from Winograd and WinoBias files. Knows nothing of heads.

WinoBias (Zhao et al. 2018) marks one candidate only. The other one is known all the same: its lines come in pairs, 1
and 2, 3 and 4, …, that name the same two occupations, and what the pronoun means in one line is what it does not mean
in the other. So the distractor of a line is the antecedent of its partner, and chance is one half, as for Winograd.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from model.analysis.rows import JsonRow, read_json_rows, read_lines
from model.analysis.words import Span, find_words
from model.errors import DataError

PRONOUNS = frozenset(("he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs"))
NOT_TWO = "does not have one antecedent and one pronoun in brackets"
NO_PARTNER = "other candidate not found through the neighbouring line"
OVERLAP = "pronoun and candidates overlap"


class PronounCase(NamedTuple):
    """A sentence, and the characters of its pronoun, of what it stands for, and of what it does not stand for."""

    sentence: str
    pronoun: Span
    antecedent: Span
    distractor: Span

    @property
    def candidates(self) -> frozenset[str]:
        """Both candidates as text, the same for sentences that differ in the answer only."""
        return frozenset(self.sentence[slice(*span)].lower() for span in (self.antecedent, self.distractor))

    @property
    def overlapping(self) -> bool:
        """Whether two of the three spans share a character."""
        spans = sorted((self.pronoun, self.antecedent, self.distractor))
        return any(first[1] > second[0] for first, second in pairwise(spans))


@dataclass(frozen=True)
class PronounCases:
    """The cases of a file, and reason → rows left out."""

    cases: tuple[PronounCase, ...]
    skipped: dict[str, int]


def read_pronoun_cases(path: Path) -> PronounCases:
    """Read Winograd rows (.jsonl) or WinoBias lines (.txt).

    Raises:
        DataError: the file is of another kind, cannot be read, a row is malformed, or no row can be used.
    """
    readers = {".jsonl": read_winograd, ".txt": read_winobias}
    if path.suffix not in readers:
        raise DataError(f"Expected a file .jsonl (Winograd rows) or .txt (WinoBias lines), got {path.name}.")
    cases: list[PronounCase] = []
    skipped: Counter[str] = Counter()
    for case in readers[path.suffix](path):
        if isinstance(case, str):
            skipped[case] += 1
        elif case.overlapping:
            skipped[OVERLAP] += 1
        else:
            cases.append(case)
    if not cases:
        reasons = "; ".join(f"{count} × {reason}" for reason, count in skipped.items()) or "it is empty"
        raise DataError(f"{path} holds no row with a pronoun and two candidates: {reasons}.")
    return PronounCases(tuple(cases), dict(skipped))


def read_winograd(path: Path) -> Iterator[PronounCase | str]:
    """The rows of a JSONL file: `sentence`, `tokens`, half-open token spans `pronoun`, `antecedent`, `distractor`.

    Raises:
        DataError: the file cannot be read, or a row is malformed.
    """
    for row in read_json_rows(path):
        yield winograd_case(row)


def winograd_case(row: JsonRow) -> PronounCase:
    """The spans of characters of one row's spans of tokens.

    Raises:
        DataError: a field is malformed, or the tokens are not those of the sentence.
    """
    sentence, tokens = row.text("sentence"), row.words("tokens")
    tokens_of = [row.span(name, len(tokens)) for name in ("pronoun", "antecedent", "distractor")]
    try:
        found = find_words(sentence, tokens)
    except DataError as error:
        raise row.error(str(error)) from error
    return PronounCase(sentence, *((found[begin][0], found[end - 1][1]) for begin, end in tokens_of))


class MarkedLine(NamedTuple):
    """A line of WinoBias without its number and brackets, and where the brackets were."""

    sentence: str
    antecedents: tuple[Span, ...]
    pronouns: tuple[Span, ...]

    @property
    def occupation(self) -> str | None:
        """The antecedent without article, if there is one antecedent."""
        if len(self.antecedents) != 1:
            return None
        return re.sub(r"^(the|an?)\s+", "", self.sentence[slice(*self.antecedents[0])], flags=re.IGNORECASE)


def read_winobias(path: Path) -> Iterator[PronounCase | str]:
    """For each line of a file "N sentence" with `[antecedent]` and `[pronoun]`, its case, or why there is none.

    Raises:
        DataError: the file cannot be read.
    """
    lines = [read_brackets(line) for _, line in read_lines(path)]
    for i, line in enumerate(lines):
        partner = lines[i ^ 1] if i ^ 1 < len(lines) else None
        yield winobias_case(line, None if partner is None else partner.occupation)


def read_brackets(line: str) -> MarkedLine:
    """Take number and brackets off; a bracket that holds a pronoun marks one, any other an antecedent."""
    sentence = ""
    antecedents: list[Span] = []
    pronouns: list[Span] = []
    for i, between in enumerate(re.split(r"\[([^\[\]]*)\]", re.sub(r"^\d+\s+", "", line))):
        part = between.strip() if i % 2 else between
        span = (len(sentence), len(sentence) + len(part))
        sentence += part
        if i % 2 and part:
            (pronouns if part.lower() in PRONOUNS else antecedents).append(span)
    return MarkedLine(sentence, tuple(antecedents), tuple(pronouns))


def winobias_case(line: MarkedLine, other: str | None) -> PronounCase | str:
    """The case of a line, or why there is none.

    Args:
        line: the line.
        other: the antecedent of its partner, without article; it must stand once before the pronoun.
    """
    own = line.occupation
    if own is None or len(line.pronouns) != 1:
        return NOT_TWO
    if other is None or other.lower() == own.lower():
        return NO_PARTNER
    pronoun, (_, end) = line.pronouns[0], line.antecedents[0]
    # Both candidates with their articles, or the one with more tokens would draw more attention.
    antecedent = next((span for span in phrases(line.sentence, own) if span[1] == end), None)
    others = [span for span in phrases(line.sentence, other) if span[1] <= pronoun[0]]
    if antecedent is None or len(others) != 1:
        return NO_PARTNER
    return PronounCase(line.sentence, pronoun, antecedent, others[0])


def phrases(sentence: str, noun: str) -> list[Span]:
    """Where a noun stands in a sentence, with its article if it has one."""
    pattern = rf"(?<!\w)(?:(?:the|an?)\s+)?{re.escape(noun)}(?!\w)"
    return [match.span() for match in re.finditer(pattern, sentence, flags=re.IGNORECASE)]

"""A sentence with a pronoun and two candidates, and a set of such cases."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from model.unspaced import has_unspaced, word_starts
from model.words import Span


@dataclass(frozen=True)
class GermanChoice:
    """Two translations that differ in the pronoun alone; only that of `right` fits what is meant."""

    right: str
    wrong: str


@dataclass(frozen=True)
class PronounCase:
    """A sentence, and the characters of its pronoun, of what it refers to, and of a noun that it does not refer to."""

    sentence: str
    #: pronoun, antecedent, distractor: characters [begin, end) of the sentence.
    pronoun: Span
    antecedent: Span
    distractor: Span
    name: str = ""  #: of the row, where its file has one
    #: pair, group: what the rows of one minimal pair share, and the kind of sentence, where the file says so.
    pair: str = ""
    group: str = ""
    german: GermanChoice | None = None  #: translations to choose from, where the pronoun's meaning decides between them
    #: the pronoun refers to neither candidate ("it" of weather and time); then `antecedent` is only one of two nouns,
    #: and no head can be right. Or there is no pronoun (`is_dropped`).
    is_control: bool = False
    #: the subject is left out, as Chinese may do: `pronoun` is the predicate that lacks it, the place from which one
    #: looks for it, and `antecedent` is what it would be. Always a control.
    is_dropped: bool = False

    @property
    def spans(self) -> tuple[Span, Span, Span]:
        """Pronoun, antecedent, distractor."""
        return self.pronoun, self.antecedent, self.distractor

    @property
    def candidates(self) -> frozenset[str]:
        """Both candidates as text, the same for sentences that differ in the answer only."""
        return frozenset(self.sentence[slice(*span)].lower() for span in (self.antecedent, self.distractor))

    @property
    def pair_name(self) -> str:
        """The pair it belongs to: the one its file names, or else its candidates, which twins have in common."""
        return self.pair or " / ".join(sorted(self.candidates))

    @property
    def pronoun_text(self) -> str:
        """The pronoun, lower-cased."""
        return self.sentence[slice(*self.pronoun)].lower()

    @property
    def overlapping(self) -> bool:
        """Whether two of the three spans share a character."""
        return any(first[1] > second[0] for first, second in pairwise(sorted(self.spans)))


@dataclass(frozen=True)
class RejectedLine:
    """A line of a file that holds no case: its number from 1, and why."""

    number: int
    reason: str


@dataclass(frozen=True)
class PronounCases:
    """The cases of a file, in its order, and the lines that hold none."""

    cases: tuple[PronounCase, ...]
    rejected: tuple[RejectedLine, ...] = ()

    @property
    def skipped(self) -> dict[str, int]:
        """Reason → lines left out."""
        return dict(Counter(line.reason for line in self.rejected))


def phrase_spans(sentence: str, phrase: str) -> list[Span]:
    """Spans of whole words in a sentence; capitals matter only if they distinguish what else would be several.

    In Chinese and Japanese a phrase is of whole words if it begins and ends where `model.unspaced` cuts.
    """
    if has_unspaced(phrase):
        return _unspaced_spans(sentence, phrase)
    spans = [
        [match.span() for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", sentence, flags=flags)]
        for flags in (re.NOFLAG, re.IGNORECASE)
    ]
    return spans[0] if len(spans[0]) == 1 else spans[1]


def _unspaced_spans(sentence: str, phrase: str) -> list[Span]:
    runs = re.finditer(r"\S+", sentence)
    starts = {run.start() + start for run in runs for start in word_starts(run[0])}

    def is_cut(at: int) -> bool:
        return at in starts or not re.fullmatch(r"\w\w", sentence[max(0, at - 1) : at + 1])

    spans = (match.span() for match in re.finditer(re.escape(phrase), sentence))
    return [(begin, end) for begin, end in spans if is_cut(begin) and is_cut(end)]

"""Turn WinoBias lines into pronoun cases.

WinoBias (Zhao et al. 2018) marks one candidate only. The other one is known all the same: its lines come in pairs, 1
and 2, 3 and 4, …, that name the same two occupations, and what the pronoun means in one line is what it does not mean
in the other. So the distractor of a line is the antecedent of its partner, and chance is one half, as for Winograd.
"""

import re
from typing import NamedTuple

from model.analysis.coreference.cases import PronounCase
from model.messages import said
from model.words import Span

PRONOUNS = frozenset(("he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs"))
NOT_TWO = said("does not have one antecedent and one pronoun in brackets")
NO_PARTNER = said("other candidate not found through the neighbouring line")


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

    `other` is the antecedent of its partner, without article; it must occur once before the pronoun.
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
    """Spans of a noun in a sentence, with its article if it has one."""
    pattern = rf"(?<!\w)(?:(?:the|an?)\s+)?{re.escape(noun)}(?!\w)"
    return [match.span() for match in re.finditer(pattern, sentence, flags=re.IGNORECASE)]

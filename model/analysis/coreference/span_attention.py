"""What a model reads of a pronoun case, and the attention of all its heads between pronoun and candidates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.analysis.coreference.cases import PronounCase
from model.errors import InputTextError
from model.messages import said
from model.reader import Reader
from model.sequence_translator import SequenceTranslator
from model.words import Span, pieces_of_spans, word_spans

Measure = Literal["raw", "norm", "rollout"]
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)
"""What counts as a weight: the weight itself, its value-weighted norm, or rollout up to the layer (heads averaged)."""

REFUSED: Final = said("too long or blank for this model")
NO_TOKENS: Final = said("pronoun or candidate without tokens")
NO_OFFSETS: Final = said("this tokenizer does not report which characters belong to a token")


@dataclass(frozen=True)
class ReadCase:
    """A case as the model reads it.

    Attributes:
        case: the sentence.
        source_ids: its tokens, </s> last.
        pieces: positions of the pronoun's, the antecedent's and the distractor's tokens.
        words: for antecedent and distractor, the positions of each word's tokens.
        german: tokens of the right and of the wrong German sentence, </s> last; None where the case has none, or the
            model cannot read one.
    """

    case: PronounCase
    source_ids: tuple[int, ...]
    pieces: tuple[tuple[int, ...], ...]
    words: tuple[tuple[tuple[int, ...], ...], ...]
    german: tuple[tuple[int, ...], tuple[int, ...]] | None


@dataclass(frozen=True, eq=False)
class CandidateWeights:
    """Attention between pronoun and candidates; the first candidate is the antecedent, the last head the layer's mean.

    Attributes:
        to: from the pronoun to each candidate: summed over the candidate's tokens, averaged over the pronoun's rows.
        strongest_word: the same to that word of each candidate which gets most.
        back: from each candidate to the pronoun; None where the pronoun is no key of the site.
    """

    to: Float[Tensor, "row layer head_or_mean candidate"]
    strongest_word: Float[Tensor, "row layer head_or_mean candidate"]
    back: Float[Tensor, "row layer head_or_mean candidate"] | None

    @classmethod
    def joined(cls, parts: Sequence["CandidateWeights"]) -> "CandidateWeights":
        """The rows of all parts, one part after the other."""
        backs = [part.back for part in parts if part.back is not None]
        return cls(
            torch.cat([part.to for part in parts]),
            torch.cat([part.strongest_word for part in parts]),
            torch.cat(backs) if backs else None,
        )

    def reordered(self, rows: Int[Tensor, "kept"]) -> "CandidateWeights":
        """These rows, in this order."""
        return CandidateWeights(
            self.to[rows], self.strongest_word[rows], None if self.back is None else self.back[rows]
        )


def read_case(translator: Reader, case: PronounCase) -> ReadCase | str:
    """The tokens of a case's sentence and spans, or why the model cannot score it."""
    try:
        source_ids, offsets = _tokens_of(translator, case.sentence)
    except InputTextError:
        return REFUSED
    if offsets is None:
        return NO_OFFSETS
    pieces = pieces_of_spans(offsets, case.spans)
    if not all(pieces):
        return NO_TOKENS
    words = tuple(
        tuple(tuple(word) for word in pieces_of_spans(offsets, _words_within(case.sentence, span)))
        for span in (case.antecedent, case.distractor)
    )
    return ReadCase(case, tuple(source_ids), tuple(map(tuple, pieces)), words, _german_ids(translator, case))


def _tokens_of(reader: Reader, text: str) -> tuple[Sequence[int], Sequence[Span] | None]:
    """Token ids of a text, and the characters behind each."""
    if isinstance(reader, SequenceTranslator):
        return reader.source_ids(text), reader.tokenizer.offsets(text)
    text_reader: Any = reader
    return text_reader.source(text).ids, text_reader.source_offsets(text)


def _german_ids(translator: Reader, case: PronounCase) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    if case.german is None or not isinstance(translator, SequenceTranslator) or not translator.is_english_german:
        return None
    try:
        return tuple(translator.target_ids(case.german.right)), tuple(translator.target_ids(case.german.wrong))
    except InputTextError:
        return None


def _words_within(sentence: str, span: Span) -> list[Span]:
    begin, end = span
    return [(begin + first, begin + last) for first, last in word_spans(sentence[begin:end])]

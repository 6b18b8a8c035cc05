"""Score cross-attention as a word aligner against alignments made by hand.

A head links each target word to the source word it attends to most. A target word has two rows in the decoder that can
be asked: the row that predicts it (the token being predicted) and the row that reads it (the token just read), one
later. Chen et al. 2020 ("Accurate Word Alignment Induction from Neural Machine Translation", SHIFT-ATT) find the second
better.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.analysis.corpus import read_json_rows
from model.analysis.metrics.estimates import ErrorRates, HeadCounts, score_heads
from model.errors import DataError, InputTextError, said
from model.interruption import Progress, no_progress
from model.reader import Writer
from model.trace.trace import Trace
from model.words import attention_between_words, find_words, pieces_of_spans, with_mean_of_heads

SITE = "decoder.cross"
ROW_OF_PIECE = {"word_in": 1, "word_out": 0}
"""Way of asking → decoder row of the target's piece 0. Row 0 reads <s> and predicts piece 0; row 1 reads piece 0."""

NO_LINK = -1
Link = tuple[int, int]
"""Index of a source word, index of a target word."""

Matrix = Callable[[Trace, int], Tensor]
"""A trace and a layer → what its cross-attention heads give to each key in each row [head, row, key], at least 0."""

LinkOrNumbered = TypeVar("LinkOrNumbered", Link, tuple[int, int, int])


class AlignedPair(NamedTuple):
    """A sentence pair in words, and the links that people are sure of."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[Link]


Aligned = Sequence[AlignedPair]


class AlignedWords(NamedTuple):
    """For each word of the source and of the target, the positions of its pieces."""

    source: list[list[int]]
    target: list[list[int]]


@dataclass(frozen=True)
class AlignmentScores:
    """Alignment error rates of a set."""

    #: rows, skipped: sentence pairs scored, and reason → pairs left out.
    rows: int
    skipped: dict[str, int]
    #: sure_links, predicted_links: links made by hand, and those of each head, one per target word.
    sure_links: int
    predicted_links: int
    diagonal: float  #: error rate of the diagonal
    ways: dict[str, ErrorRates]  #: "word_in" and "word_out" → error rates of all heads

    @property
    def skipped_rows(self) -> int:
        """How many rows were left out."""
        return sum(self.skipped.values())


def read_alignments(path: str | Path) -> list[AlignedPair]:
    """Read a JSONL file with `en`, `de` (lists of words) and `sure` ([[en index, de index], …]) in each row.

    Raises a DataError if the file cannot be read, a row is malformed, or there is none.
    """
    path = Path(path)
    pairs: list[AlignedPair] = []
    for row in read_json_rows(path):
        source, target = row.words("en"), row.words("de")
        pairs.append(AlignedPair(tuple(source), tuple(target), row.links("sure", len(source), len(target))))
    if not pairs:
        message = "{path} contains no row; expected one JSON object with “en”, “de” and “sure” per line."
        raise DataError(message, path=path)
    return pairs


def alignment_error_rate(
    predicted: Collection[LinkOrNumbered], sure: Collection[LinkOrNumbered], possible: Collection[LinkOrNumbered]
) -> float:
    """AER = 1 − (|A∩S| + |A∩P|) / (|A| + |S|) (Och & Ney 2003), for at least one link in A or S.

    A is predicted, S (`sure`) must be there, P (`possible`) may be: it contains S, and is S if people marked only that.
    """
    a, s, p = set(predicted), set(sure), set(possible) | set(sure)
    return 1 - (len(a & s) + len(a & p)) / (len(a) + len(s))


def corpus_error_rate(predicted: Sequence[Collection[Link]], pairs: Aligned) -> float:
    """Error rate of a whole set, only sure links given: the links of all rows are counted together."""
    sure = {(row, *link) for row, pair in enumerate(pairs) for link in pair.sure}
    return alignment_error_rate({(row, *link) for row, links in enumerate(predicted) for link in links}, sure, sure)


def diagonal_links(num_source: int, num_target: int) -> list[Link]:
    """The baseline that looks at nothing: target word j ↔ source word round(j · num_source / num_target)."""
    return [(min(round(j * num_source / num_target), num_source - 1), j) for j in range(num_target)]


def cross_weights(trace: Trace, layer: int) -> Float[Tensor, "head row key"]:
    """Attention weights of a layer's cross-attention."""
    return trace.weights(SITE, layer)


def linked_words(
    trace: Trace, words: AlignedWords, way: str, matrix: Matrix = cross_weights
) -> Int[Tensor, "layer head_or_mean target_word"]:
    """The source word that each target word attends to most, per head and for the mean of each layer's heads.

    Weights are summed over the pieces of a source word and averaged over the rows of a target word; </s> is no word. A
    target word without pieces is linked to NO_LINK.

    Args:
        trace, words: of the sentence pair, read along, and the pieces of its words.
        way: "word_in" or "word_out", a key of `ROW_OF_PIECE`.
        matrix: what is read off a layer: its weights, or say its value-weighted norms.
    """
    rows = [[piece + ROW_OF_PIECE[way] for piece in pieces] for pieces in words.target]
    without_pieces = torch.tensor([not pieces for pieces in words.target])
    layers = []
    for layer in range(len(trace.inputs[SITE])):
        weights = with_mean_of_heads(matrix(trace, layer))
        layers.append(attention_between_words(weights, rows, words.source).argmax(-1))
    return torch.stack(layers).masked_fill(without_pieces, NO_LINK)


def count_links(links: Sequence[Int[Tensor, "layer head_or_mean _target_word"]], pairs: Aligned) -> HeadCounts:
    """What the error rate needs: hits are |A∩S| + |A∩P| with P = S, totals |A| + |S|; odd rows are the first half."""
    hits, totals = [], []
    for linked, pair in zip(links, pairs, strict=True):
        sure = torch.zeros(len(pair.target), len(pair.source), dtype=torch.bool)
        for source, target in pair.sure:
            sure[target, source] = True
        right = sure[torch.arange(len(pair.target)), linked] & (linked != NO_LINK)
        hits.append(2.0 * right.sum(-1))
        totals.append(float((linked[0, 0] != NO_LINK).sum() + len(pair.sure)))
    folds = torch.arange(len(pairs)) % 2
    return HeadCounts(torch.stack(hits), torch.tensor(totals), folds)


def score_alignment(
    translator: Writer, pairs: Aligned, progress: Progress = no_progress, matrix: Matrix = cross_weights
) -> AlignmentScores:
    """Read every pair along and score all cross-attention heads. Raises a DataError if no pair could be read.

    Pairs that the model refuses are left out and counted. `matrix`: what is read off a layer, as in `linked_words`.
    """
    scored: list[AlignedPair] = []
    skipped: Counter[str] = Counter()
    links: dict[str, list[Tensor]] = {way: [] for way in ROW_OF_PIECE}
    for pair in pairs:
        source, target = " ".join(pair.source), " ".join(pair.target)
        try:
            trace = translator.trace(source, target)
        except InputTextError:
            skipped[said("too long or blank for this model")] += 1
        else:
            read, written = translator.source_offsets(source), translator.target_offsets(target)
            if read is None or written is None:
                raise DataError("The tokenizer of this model does not report which characters belong to a token.")
            # The words of the file, not those that the text would be cut into: Chinese has no spaces between them.
            both = ((read, source, pair.source), (written, target, pair.target))
            words = AlignedWords(*(pieces_of_spans(offsets, find_words(text, of)) for offsets, text, of in both))
            for way, of_way in links.items():
                of_way.append(linked_words(trace, words, way, matrix))
            scored.append(pair)
        progress(1)
    if not scored:
        raise DataError("No row could be scored: all are blank or too long for this model.")
    return AlignmentScores(
        rows=len(scored),
        skipped=dict(skipped),
        sure_links=sum(len(pair.sure) for pair in scored),
        predicted_links=int(sum((linked[0, 0] != NO_LINK).sum() for linked in links["word_in"])),
        diagonal=corpus_error_rate([diagonal_links(len(pair.source), len(pair.target)) for pair in scored], scored),
        ways={way: score_heads(count_links(of_way, scored)) for way, of_way in links.items()},
    )

"""Score cross-attention as a word aligner against alignments made by hand.

A head links each target word to the source word it attends to most. A target word has two rows in the decoder that can
be asked: the row that predicts it (the token being predicted) and the row that reads it (the token just read), one
later. Chen et al. 2020 ("Accurate Word Alignment Induction from Neural Machine Translation", SHIFT-ATT) find the second
better.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.analysis.data_files import read_json_rows
from model.analysis.metrics.estimates import ErrorRates, HeadCounts, score_heads
from model.errors import DataError, InputTextError, said
from model.interruption import Progress, no_progress
from model.over_corpus import ByModels, Partial, Sum, over_corpus
from model.reader import Writer
from model.trace.trace import Trace
from model.words import attention_between_words, find_words, pieces_of_spans, with_mean_of_heads

SITE = "decoder.cross"
ROW_OF_PIECE = {"word_in": 1, "word_out": 0}
"""Way of asking → decoder row of the target's piece 0. Row 0 reads <s> and predicts piece 0; row 1 reads piece 0."""

NO_LINK = -1
#: Names in a partial result: pairs that the model refused, and what the error rates are divided by.
_REFUSED, _TOTALS = "refused", "totals"
Link = tuple[int, int]
"""Index of a source word, index of a target word."""

Matrix = Callable[[Trace, int], Tensor]
"""A trace and a layer → what its cross-attention heads give to each key in each row [head, row, key], at least 0."""


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
    #: "word_in" and "word_out" → error rates of all heads; of a matrix with a name, the same after its name.
    ways: dict[str, ErrorRates]

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


def count_links(
    linked: Int[Tensor, "*of_heads target_word"], pair: AlignedPair
) -> tuple[Float[Tensor, "*of_heads"], int]:
    """What the error rate of a set is made of: AER = 1 − (|A∩S| + |A∩P|) / (|A| + |S|) (Och & Ney 2003).

    Numerator and denominator of one pair; those of a set are added first. A is `linked`, S the links that must be there
    and P those that may: the same here, for people marked only sure ones.
    """
    sure = torch.zeros(len(pair.target), len(pair.source), dtype=torch.bool)
    for source, target in pair.sure:
        sure[target, source] = True
    is_linked = linked != NO_LINK
    hits = sure[torch.arange(len(pair.target)), linked] & is_linked
    return 2.0 * hits.sum(-1), int(is_linked.sum(-1).amax()) + len(pair.sure)


def of_weights(_translator: Writer) -> Mapping[str, Matrix]:
    """What is read off a layer where nothing else is asked for."""
    return {"": cross_weights}


def score_alignment(
    translator: Writer,
    pairs: Aligned,
    progress: Progress = no_progress,
    matrices: Callable[[Writer], Mapping[str, Matrix]] = of_weights,
    unfinished: Path | None = None,
) -> AlignmentScores:
    """Read every pair along and score all cross-attention heads. Raises a DataError if no pair could be read.

    Pairs that the model refuses are left out and counted.

    Args:
        translator, pairs: who reads along, and what.
        progress: called with the number of pairs done since the last call.
        matrices: gives for the model name → what is read off a layer, as in `linked_words`.
        unfinished: as of `over_corpus`.
    """

    def finish(total: Partial) -> AlignmentScores:
        if _TOTALS not in total.rows:
            raise DataError("No row could be scored: all are blank or too long for this model.")
        totals, sums = torch.from_numpy(total.rows[_TOTALS]), total.sums
        # Odd rows are the first half.
        folds = torch.arange(len(totals)) % 2
        return AlignmentScores(
            rows=len(totals),
            skipped={said("blank, or too long for this model"): int(sums[_REFUSED])} if _REFUSED in sums else {},
            sure_links=int(sums["sure"]),
            predicted_links=int(totals.sum()) - int(sums["sure"]),
            diagonal=1 - int(sums["diagonal"]) / int(sums["of_diagonal"]),
            ways={
                name: score_heads(HeadCounts(torch.from_numpy(of_pairs), totals, folds))
                for name, of_pairs in total.rows.items()
                if name != _TOTALS
            },
        )

    summed = Sum(
        of_chunk=ByModels(partial(_of_chunk, matrices=matrices), (translator,)),
        finish=finish,
        name=lambda: " ".join(("alignment 1", translator.weights_digest, translator.key, *matrices(translator))),
    )
    return over_corpus(pairs, summed, progress, unfinished)


def _of_chunk(
    translator: Writer, chunk: Aligned, progress: Progress, *, matrices: Callable[[Writer], Mapping[str, Matrix]]
) -> Partial:
    sums: Counter[str] = Counter()
    rows: dict[str, list[Tensor]] = {}
    of_model = matrices(translator)
    for pair in chunk:
        read = _read_along(translator, pair)
        if read is None:
            sums[_REFUSED] += 1
        else:
            trace, words = read
            diagonal = torch.tensor([source for source, _ in diagonal_links(len(pair.source), len(pair.target))])
            hits, total = count_links(diagonal, pair)
            sums.update({"diagonal": int(hits), "of_diagonal": total, "sure": len(pair.sure)})
            for name, matrix in of_model.items():
                for way in ROW_OF_PIECE:
                    hits, total = count_links(linked_words(trace, words, way, matrix), pair)
                    rows.setdefault(f"{name}{way}", []).append(hits)
            rows.setdefault(_TOTALS, []).append(torch.tensor(float(total)))
        progress(1)
    return Partial(sums, {name: torch.stack(of_pairs).numpy() for name, of_pairs in rows.items()})


def _read_along(translator: Writer, pair: AlignedPair) -> tuple[Trace, AlignedWords] | None:
    """The trace of a pair, and the pieces of its words; None if the model refuses it."""
    source, target = " ".join(pair.source), " ".join(pair.target)
    try:
        trace = translator.trace(source, target)
    except InputTextError:
        return None
    read, written = translator.source_offsets(source), translator.target_offsets(target)
    if read is None or written is None:
        raise DataError("The tokenizer of this model does not report which characters belong to a token.")
    # The words of the file, not those that the text would be cut into: Chinese has no spaces between them.
    both = ((read, source, pair.source), (written, target, pair.target))
    return trace, AlignedWords(*(pieces_of_spans(offsets, find_words(text, of)) for offsets, text, of in both))

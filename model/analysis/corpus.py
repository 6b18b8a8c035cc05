"""Read the sentences of a corpus, and what every head of a model computed for each of them."""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import compress, count, islice
from pathlib import Path
from typing import Final, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis.data_files import UNNAMED, Columns, LineError, read_columns
from model.errors import DataError, said
from model.nn.attention import AttentionInputs, attention_weights
from model.nn.score_functions import joined
from model.trace.trace import Trace

#: 200 everyday sentences that we wrote, one a line.
OWN_CORPUS: Final = Path(__file__).parent / "corpus.txt"


class CorpusSentence(NamedTuple):
    """A sentence, and the translation to read along; None for the model's own, decoded greedily."""

    text: str
    target: str | None = None


@dataclass(frozen=True, eq=False)
class SiteRun:
    """What the heads of all layers of one attention site computed for one sentence, those of layer 0 first."""

    weights: Float[Tensor, "layer_and_head row key"]
    value: Float[Tensor, "layer_and_head key d_v"] | None  #: each head's values; None where the model does not tell
    #: which heads have which mask: layers with a window see less than others.
    masks: tuple[tuple[slice, Bool[Tensor, "row key"]], ...]

    @classmethod
    def of(cls, trace: Trace, site: str, *, with_values: bool) -> "SiteRun":
        """The site of a trace; values only where the model tells them."""
        layers = trace.inputs[site]
        masks: list[tuple[slice, Tensor]] = []
        first = 0
        for before, layer in zip((None, *layers), layers, strict=False):
            is_same = before is not None and layer.mask is before.mask
            mask, last = masks[-1][1] if is_same else layer.mask.rows()[0], first + layer.num_heads
            if masks and (is_same or torch.equal(masks[-1][1], mask)):
                masks[-1] = (slice(masks[-1][0].start, last), mask)
            else:
                masks.append((slice(first, last), mask))
            first = last
        plain = [layer for layer in layers if isinstance(layer, AttentionInputs) and _is_plain(layer)]
        if len(masks) > 1 or len(plain) < len(layers) or len({layer.scale for layer in plain}) > 1:
            value = torch.cat([layer.values().float() for layer in layers]) if with_values else None
            return cls(torch.cat([layer.weights() for layer in layers]), value, tuple(masks))
        # All layers at once, for speed.
        query, key = torch.cat([layer.query for layer in plain]).float(), torch.cat([layer.keys() for layer in plain])
        score = joined([layer.score for layer in plain])
        weights = attention_weights(query, key, scale=plain[0].scale, score=score, mask=masks[0][1][None]).weights
        return cls(weights, torch.cat([layer.values() for layer in plain]) if with_values else None, tuple(masks))


def _is_plain(layer: AttentionInputs) -> bool:
    """Whether its weights are the softmax of masked, scaled scores."""
    return all(one is None for one in (layer.bias, layer.softcap, layer.sinks)) and not layer.edits


class Origin(NamedTuple):
    """Where the sentences of a corpus come from, in words that a report repeats."""

    name: str  #: of the file or folder
    rows: int  #: sentences that it has, up to the limit
    columns: Columns = UNNAMED
    limit: int | None = None
    sample: int | None = None  #: how many of the rows were drawn; None for all
    seed: int = 0


@dataclass(frozen=True)
class Corpus(Collection[CorpusSentence]):
    """The sentences of a file that has been looked through, read from it each time that they are gone through."""

    path: Path
    origin: Origin

    def __len__(self) -> int:
        """How many sentences there are."""
        rows, sample = self.origin.rows, self.origin.sample
        return rows if sample is None else min(rows, sample)

    def __iter__(self) -> Iterator[CorpusSentence]:
        """The sentences in order. Raises as `read_text`."""
        rows = islice(_sentences(self.path, self.origin.columns), self.origin.limit)
        return rows if self.origin.sample is None else compress(rows, map(self._drawn.__contains__, count()))

    def __contains__(self, sentence: object) -> bool:
        """Whether a sentence is among them."""
        return any(sentence == other for other in self)

    @cached_property
    def _drawn(self) -> frozenset[int]:
        return sampled(self.origin.rows, len(self), self.origin.seed)


def sampled(rows: int, size: int, seed: int) -> frozenset[int]:
    """`size` of the numbers below `rows`: those whose SHA-256 with the seed is smallest, the same on every machine."""
    return frozenset(nsmallest(size, range(rows), lambda row: hashlib.sha256(f"{seed} {row}".encode()).digest()))


def read_text(
    path: str | Path, limit: int | None = None, *, columns: Columns = UNNAMED, sample: int | None = None, seed: int = 0
) -> Corpus:
    """Look through a file of sentences, of which one at a time is in memory.

    A line is a sentence, or `English TAB German` where the translation is given. Of a .csv, .tsv, .jsonl or .parquet,
    or of a folder that the library `datasets` saved, these are the columns that are named, or else “text” and perhaps
    “translation”; a .csv or .tsv without such headings has them in this order. Text may be packed (`pairs.OPENERS`).
    Blank rows do not count; of `limit`, only the first so many are read, and of these, `sample` are drawn. Raises a
    DataError if the file cannot be read or holds no sentence, and a LineError for a row that is none of these.
    """
    path = Path(path)
    rows = sum(1 for _ in islice(_sentences(path, columns), limit))
    if not rows:
        raise DataError("{path} contains no sentence; expected one per line.", path=path)
    return Corpus(path, Origin(path.name, rows, columns, limit, sample, seed))


def _sentences(path: Path, columns: Columns) -> Iterator[CorpusSentence]:
    for number, cells in read_columns(path, columns):
        if not 1 <= len(cells) <= 2:
            message = "expected a sentence, or a sentence, a tab and its translation, got {num_columns} columns"
            raise LineError(path, number, said(message, num_columns=len(cells)))
        text, target = (*cells, "")[:2]
        yield CorpusSentence(text, target if target.strip() else None)


def corpus_digest(sentences: Iterable[CorpusSentence]) -> str:
    """SHA-256 that names exactly these sentences and given translations, in this order."""
    digest = hashlib.sha256()
    for sentence in sentences:
        for text in sentence:
            # The length before the text keeps ("ab", "c") and ("a", "bc") apart.
            encoded = b"" if text is None else text.encode("utf-8", errors="surrogatepass")
            digest.update(f"{-1 if text is None else len(encoded)}:".encode())
            digest.update(encoded)
    return digest.hexdigest()

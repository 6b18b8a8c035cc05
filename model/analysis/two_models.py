"""Two models on the same texts: how far each head of one is from each head of the other, word by word.

Tokenizers differ, so weights are summed over the pieces of words on both sides (Clark et al. 2019, §4.1), and words are
matched: those of the longest runs that both models have in common, in any case of letters; rows by the word that they
stand for (`Trace.rows_write`). What a head gives to words
or special tokens that the other model does not have is one more column, so that rows still sum to 1. The distance of
two heads is the Jensen–Shannon divergence of their rows (bits), on average over all matched words of all texts.
"""

import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from model.analysis.metrics.head_metrics import HeadName, all_heads
from model.errors import DataError, InputTextError
from model.interruption import Progress, no_progress
from model.nn.encoder_decoder import SITES
from model.over_corpus import ByModels, Partial, Sum, over_corpus
from model.reader import Reader
from model.trace.axes import Axis, between, row_parts
from model.trace.row_blocks import row_slices
from model.trace.trace import Trace


class Matched(NamedTuple):
    """Words that two models have in common: of each model, their indices among its words."""

    first: tuple[int, ...]
    second: tuple[int, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadDistances:
    """How far the heads of one attention of a model are from those of another's."""

    #: first, second: the heads, in the order of rows and of columns.
    first: tuple[HeadName, ...]
    second: tuple[HeadName, ...]
    distances: Float[Tensor, "first second"]  #: mean Jensen–Shannon divergence, in bits
    #: texts, rows: how many texts were read, and how many matched words were compared.
    texts: int
    rows: int
    skipped: int  #: texts that one of the models refuses, or in which no word is matched

    def matching(self) -> list[tuple[int, int]]:
        """The one-to-one matching of heads with the least sum of distances, nearest pairs first (Kuhn 1955)."""
        rows, columns = linear_sum_assignment(self.distances.numpy())
        pairs = zip(rows.tolist(), columns.tolist(), strict=True)
        return sorted(pairs, key=lambda pair: float(self.distances[pair]))


def sites_of(first: Reader, second: Reader) -> dict[str, str]:
    """Attention of the first model → of the second: the same one if both have all three, else what reads the text."""
    ours, theirs = first.abilities.heads, second.abilities.heads
    both = {site: site for site in SITES if site in ours and site in theirs}
    if "decoder.cross" in ours and "decoder.cross" in theirs:
        return both
    reading = [next(iter(heads)) for heads in (ours, theirs)]
    return {reading[0]: reading[1]}


def matched_words(first: Sequence[str], second: Sequence[str]) -> Matched:
    """The words that both models have, in order."""
    a, b = ([word.casefold() for word in words] for words in (first, second))
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    pairs = [(block.a + i, block.b + i) for block in blocks for i in range(block.size)]
    return Matched(tuple(i for i, _ in pairs), tuple(j for _, j in pairs))


def words_of(trace: Trace, site: str) -> tuple[Axis, Axis]:
    """The rows of a trace and the words that are looked at, without special tokens (`Trace.axes`)."""
    return trace.axes(site, whole_words=True, special_tokens=False)


def matched_rows(
    trace: Trace, site: str, queries: Sequence[int], keys: Sequence[int]
) -> Float[Tensor, "layer_and_head query key_or_rest"]:
    """The weights of all heads of a site between these words of a trace, and last what all else is given."""
    rows, columns = words_of(trace, site)
    layers = [between(trace.weights(site, layer), rows, columns) for layer in range(trace.layers_of(site))]
    weights = torch.cat(layers)[:, list(queries)][:, :, list(keys)]
    return torch.cat([weights, (1 - weights.sum(-1, keepdim=True)).clamp_min(0.0)], dim=-1)


def cross_divergences(
    first: Float[Tensor, "first row key"], second: Float[Tensor, "second row key"]
) -> Float[Tensor, "first second"]:
    """Σ over rows of the Jensen–Shannon divergence of each two heads, in bits, as `divergence_sums` computes it."""
    first, second = first.double(), second.double()
    sums = torch.empty(len(first), len(second), dtype=torch.float64)
    own, theirs = (torch.special.entr(weights).sum((1, 2)) for weights in (first, second))
    for some in row_slices(0, len(first), second.numel()):
        middle = torch.special.entr((first[some, None] + second) / 2).sum((2, 3))
        sums[some] = (middle - (own[some, None] + theirs) / 2) / math.log(2)
    return sums.clamp_min(0.0)


def matched(first: Trace, second: Trace, sites: tuple[str, str]) -> tuple[Matched, Matched]:
    """The rows of words in common, each by the word that it stands for, and the words that are looked at."""
    named, columns = [], []
    for trace, site in zip((first, second), sites, strict=True):
        rows, keys = words_of(trace, site)
        named.append([row_parts(name, writes=trace.rows_write(site))[1] for name in rows.labels])
        columns.append(keys.labels)
    return matched_words(*named), matched_words(*columns)


def read_by_both(first: Reader, second: Reader, text: str) -> tuple[Trace, Trace]:
    """What both models did with a text; two decoders behind encoders read the same, what the first one wrote.

    Raises an InputTextError if one of them refuses it.
    """
    own = first.trace(text)
    has_both = all("decoder.cross" in reader.abilities.heads for reader in (first, second))
    if has_both and own.translation.strip():
        # A text that one of them cannot read as a target leaves each with its own.
        with suppress(InputTextError):
            return first.trace(text, own.translation), second.trace(text, own.translation)
    return own, second.trace(text)


def head_distances(
    first: Reader,
    second: Reader,
    texts: Collection[str],
    sites: tuple[str, str],
    progress: Progress = no_progress,
    unfinished: Path | None = None,
) -> HeadDistances:
    """Read texts once with both models (`read_by_both`) and compare the heads of an attention of each.

    `unfinished` is that of `over_corpus`. Raises a DataError if no text has words that both models read.
    """
    ours, theirs = (
        tuple(head for head in all_heads(reader.abilities.heads) if head.site == site)
        for reader, site in zip((first, second), sites, strict=True)
    )

    def finish(total: Partial) -> HeadDistances:
        rows, read = (int(total.sums.get(name, 0)) for name in ("rows", "read"))
        if not rows:
            raise DataError(
                "Expected texts with words that both models read, but no word of these texts could be matched. Use "
                "other texts."
            )
        distances = torch.as_tensor(total.sums["totals"] / rows).float()
        return HeadDistances(
            first=ours, second=theirs, distances=distances, texts=read, rows=rows, skipped=len(texts) - read
        )

    def name() -> str:
        return " ".join(("two models 1", first.weights_digest, first.key, second.weights_digest, second.key, *sites))

    of_chunk = ByModels(partial(_of_chunk, sites=sites), (first, second))
    return over_corpus(texts, Sum(of_chunk=of_chunk, finish=finish, name=name), progress, unfinished)


@torch.inference_mode()
def _of_chunk(
    first: Reader, second: Reader, texts: Sequence[str], progress: Progress, *, sites: tuple[str, str]
) -> Partial:
    heads = [sum(reader.abilities.heads[site]) for reader, site in zip((first, second), sites, strict=True)]
    totals, rows, read = torch.zeros(*heads, dtype=torch.float64), 0, 0
    for text in texts:
        # A text that one of them refuses is skipped.
        with suppress(InputTextError):
            traces = read_by_both(first, second, text)
            queries, keys = matched(*traces, sites)
            if queries.first and keys.first:
                weights = [
                    matched_rows(trace, site, queries[number], keys[number])
                    for number, (trace, site) in enumerate(zip(traces, sites, strict=True))
                ]
                totals += cross_divergences(*weights)
                rows += len(queries.first)
                read += 1
        progress(1)
    return Partial({"totals": totals, "rows": rows, "read": read}, {})

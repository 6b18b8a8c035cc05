"""Every metric of a head: how sharply it looks, how far, at which keys; an entry of `METRICS` each. Heads by name.

Rows i are queries and columns j keys; α_ij is a weight, the model's own. Rows in which nothing else was possible, such
as the decoder's first, which sees only itself, say nothing about a head and are left out of every mean. A metric for
which no row is left is NaN.

A metric of rows is computed for a sentence (`head_metrics`), for a long text in blocks of rows
(`streamed_head_metrics`), over a film of a training (`film_metrics`) and over a corpus (`model.analysis.atlas`), there
also with the shares of value-weighted norms for weights, as `NORM` + its name. Others are measured on texts of their
own. What a metric is called and means on a page is the entry of `viz.text.metrics` with its key.

Sources: Vig & Belinkov 2019, "Analyzing the Structure of Attention in a Transformer Language Model" (entropy, mean
distance); Clark et al. 2019, "What Does BERT Look At?", §3.1–3.3 (neighbours, separators and punctuation, entropy);
Kovaleva et al. 2019, "Revealing the Dark Secrets of BERT" (diagonal heads); Voita et al. 2019, "Analyzing Multi-Head
Self-Attention", §4 (confidence); Olsson et al. 2022, "In-context Learning and Induction Heads" (induction: prefix
matching).

Tables of heads are arrays [site, layer, head]; sites come in the order of `model.nn.transformer.SITES`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.errors import EditError
from model.nn.attention import AttentionInputs, entropy_bits
from model.nn.encoder_decoder import SITES
from model.nn.masks import AttentionMask
from model.trace.axes import is_punctuation
from model.trace.row_blocks import row_slices
from model.training.film import Film, FilmSentence

#: How far from the diagonal, in keys, still counts as on it.
DIAGONAL_REACH: Final = 1.0
NORM: Final = "norm_"
"""Prefix of a metric that is read off value-weighted norms."""
#: At decoder.cross only: the share of a row's weight on the source words that a word renders, by links made by hand.
#: The row is the one that reads the word, or the one before, that predicts it (`model.analysis.metrics.alignment`).
WORD_IN: Final = "word_in"
WORD_OUT: Final = "word_out"

#: At decoder.cross of a model that hears: how far the starts of words that a head gives are from those that a person
#: gives, their median lag, the first without the second, and how far they are from those that other heads give; seconds
#: (`model.analysis.timing`).
TIMING: Final = ("timing_error", "timing_lag", "timing_less_lag", "timing_apart")


@dataclass(frozen=True, eq=False)
class AttentionRows:
    """Some rows of weights of the heads of one attention site, and what their queries and keys are."""

    weights: Float[Tensor, "head row key"]  #: of the heads of one layer, or of several side by side
    mask: Bool[Tensor, "row key"]  #: True where a query may look at a key
    site: str  #: for example "decoder.self"
    key_tokens: Sequence[str]  #: one for each key
    query_tokens: Sequence[str] = ()  #: one for each row; needed by metrics over a corpus only
    end_token: str = ""  #: how the end of a sentence is spelled; likewise
    #: first_row, num_queries: which of how many queries these rows are; by default all.
    first_row: int = 0
    num_queries: int | None = None

    def without(self, keys: Sequence[int]) -> Self:
        """The same rows without the weight on some keys, as if a query could not look at them; nothing is renormalised.

        Rows that then have one key or none do not count.
        """
        if not keys:
            return self
        weights, mask = self.weights.clone(), self.mask.clone()
        weights[..., list(keys)], mask[..., list(keys)] = 0.0, False
        return replace(self, weights=weights, mask=mask)

    @property
    def positions(self) -> Int[Tensor, "row"]:
        """i of every row."""
        return torch.arange(self.first_row, self.first_row + len(self.mask))

    @property
    def columns(self) -> Int[Tensor, "row key"]:
        """j of every weight."""
        return torch.arange(self.mask.size(1)).expand(self.mask.shape)

    @cached_property
    def off_diagonal(self) -> Float[Tensor, "row key"]:
        """|j − d_i| with d_i = i · (keys − 1) / (queries − 1): how far a key is from the diagonal, counted in keys.

        The diagonal leads from first query and first key to last query and last key. With as many queries as keys
        d_i = i; otherwise it compares positions relative to the lengths of the two sentences. A single query is at the
        first key.
        """
        queries, keys = self.num_queries or len(self.mask), self.mask.size(1)
        # Divided last, so that a whole number comes out as one: a key just within reach must not fall out of it.
        return (self.columns - self.positions[:, None] * (keys - 1) / max(1, queries - 1)).abs()


class RowMetric(NamedTuple):
    """A metric of each head in each row; values of rows that do not count mean nothing."""

    values: Float[Tensor, "head row"]
    counts: Bool[Tensor, "row"]

    def mean(self) -> Float[Tensor, "head"]:
        """The mean over the rows that count; NaN if none does."""
        return self.values[:, self.counts].mean(-1)


Factor = Callable[[AttentionRows], Bool[Tensor, "row key"] | Float[Tensor, "row key"]]


@dataclass(frozen=True)
class WeightedSum:
    """A metric Σ_j α_ij f_ij."""

    #: f. Of booleans the sum is the share of the weight on some keys, and rows count that may look at one of them and
    #: also at another; otherwise rows that may look at more than one key.
    factor: Factor
    sites: Collection[str] = SITES  #: where it means something
    over_corpus_only: bool = False  #: whether it says too little about a single sentence


@dataclass(frozen=True)
class RowFunction:
    """A metric that is any other function of the rows."""

    compute: Callable[[AttentionRows], RowMetric]
    sites: Collection[str] = SITES
    over_corpus_only: bool = False


@dataclass(frozen=True)
class OwnTexts:
    """A metric that is measured on texts of its own, by a module of its own."""

    module: str  #: below `model.analysis`
    sites: Collection[str]
    of_films: bool = False  #: whether over a film of a training, else beside a corpus
    reads_norms: bool = False  #: whether also with shares of norms


def has_choice(mask: Bool[Tensor, "row key"]) -> Bool[Tensor, "row"]:
    """Rows that may look at more than one key."""
    return mask.sum(-1) > 1


def entropy(rows: AttentionRows) -> RowMetric:
    """−Σ_j α_ij log₂ α_ij, in bits: 0 for one key alone, log₂ k for k keys evenly."""
    return RowMetric(entropy_bits(rows.weights), has_choice(rows.mask))


def confidence(rows: AttentionRows) -> RowMetric:
    """max_j α_ij, the end of a sentence left out as a query and as a key, for it is not a word."""
    ends_query, ends_key = (
        torch.tensor([token == rows.end_token for token in tokens]) for tokens in (rows.query_tokens, rows.key_tokens)
    )
    values = rows.weights.masked_fill(ends_key, 0.0).amax(-1)
    return RowMetric(values, has_choice(rows.mask) & ~ends_query)


def neighbour(shift: int) -> Factor:
    """Whether j = i + shift."""
    return lambda rows: rows.columns == rows.positions[:, None] + shift


def marks(rows: AttentionRows) -> Bool[Tensor, "row key"]:
    """Whether the key is punctuation."""
    return torch.tensor([is_punctuation(token) for token in rows.key_tokens]).expand(rows.mask.shape)


def after_earlier_copy(rows: AttentionRows) -> Bool[Tensor, "row key"]:
    """Whether j < i comes right after an earlier copy of token i: token j − 1 is token i."""
    numbers: dict[str, int] = {}
    ids: Int[Tensor, " token"] = torch.tensor([numbers.setdefault(token, len(numbers)) for token in rows.key_tokens])
    follows = torch.zeros(rows.mask.shape, dtype=torch.bool)
    follows[:, 1:] = ids[rows.first_row : rows.first_row + len(follows), None] == ids[None, :-1]
    return follows & (rows.columns < rows.positions[:, None])


ENCODER, DECODER, CROSS = SITES
#: Where queries and keys are the same tokens.
SELF: Final = (ENCODER, DECODER)

METRICS: Final[Mapping[str, WeightedSum | RowFunction | OwnTexts]] = {
    "entropy": RowFunction(entropy),
    "distance": WeightedSum(lambda rows: rows.off_diagonal),
    "confidence": RowFunction(confidence, over_corpus_only=True),
    "previous": WeightedSum(neighbour(-1), SELF),
    "same": WeightedSum(neighbour(0), SELF),
    "next": WeightedSum(neighbour(1), SELF),
    "first": WeightedSum(lambda rows: rows.columns == 0),
    "last": WeightedSum(lambda rows: rows.columns == rows.mask.size(1) - 1),
    "diagonal": WeightedSum(lambda rows: rows.off_diagonal <= DIAGONAL_REACH),
    "punctuation": WeightedSum(marks),
    "induction": WeightedSum(after_earlier_copy, [DECODER], over_corpus_only=True),
    "antecedent": OwnTexts("coreference.measure", SITES),
    "aer_word_in": OwnTexts("metrics.alignment", [CROSS], reads_norms=True),
    "aer_word_out": OwnTexts("metrics.alignment", [CROSS], reads_norms=True),
    **dict.fromkeys(
        ("prefix_matching", "duplicate", "repeat_previous", "copying"), OwnTexts("metrics.repeated_tokens", [DECODER])
    ),
    **dict.fromkeys(TIMING, OwnTexts("timing.recordings", [CROSS])),
    **dict.fromkeys((WORD_IN, WORD_OUT), OwnTexts("metrics.head_metrics", [CROSS], of_films=True)),
}
#: Those that every text tells.
ROW_METRICS: Final = {name: metric for name, metric in METRICS.items() if not isinstance(metric, OwnTexts)}
SENTENCE_METRICS: Final = tuple(name for name, metric in ROW_METRICS.items() if not metric.over_corpus_only)


def row_metrics(rows: AttentionRows, names: Collection[str] = SENTENCE_METRICS) -> dict[str, RowMetric]:
    """Some metrics of every head in each row, by name; a metric that means nothing at this site counts no row."""
    chosen = {name: ROW_METRICS[name] for name in names}
    nowhere = torch.zeros(rows.mask.shape, dtype=torch.bool)
    factors = {
        name: metric.factor(rows) if rows.site in metric.sites else nowhere
        for name, metric in chosen.items()
        if isinstance(metric, WeightedSum)
    }
    # One product for all of them: the weights of a long text are read once.
    joined = torch.stack(list(factors.values()), dim=-1).to(rows.weights.dtype)
    sums = dict(zip(factors, torch.bmm(rows.weights.transpose(0, 1), joined).permute(2, 1, 0), strict=True))
    return {
        name: metric.compute(rows)
        if isinstance(metric, RowFunction)
        else RowMetric(sums[name], _counted_rows(rows.mask, factors[name]))
        for name, metric in chosen.items()
    }


def head_metrics(rows: AttentionRows) -> dict[str, Float[Tensor, "head"]]:
    """Every metric of every head, by name: the mean over these rows."""
    return {name: metric.mean() for name, metric in row_metrics(rows).items()}


def streamed_head_metrics(
    inputs: AttentionInputs, key_tokens: Sequence[str], site: str, left_out: Sequence[int] = ()
) -> dict[str, Float[Tensor, "head"]]:
    """`head_metrics` of all heads of one layer, from a block of rows at a time, without the keys that are left out."""
    heads, queries, keys = inputs.shape
    blocks = []
    for block in row_slices(0, queries, heads * keys):
        weights, mask = inputs.scores_and_weights(rows=block).weights, inputs.mask.rows(block)[0]
        rows = AttentionRows(weights, mask, site, key_tokens, first_row=block.start, num_queries=queries)
        blocks.append(row_metrics(rows.without(left_out)))
    return {
        name: RowMetric(
            torch.cat([block[name].values for block in blocks], -1), torch.cat([block[name].counts for block in blocks])
        ).mean()
        for name in SENTENCE_METRICS
    }


def _counted_rows(mask: Bool[Tensor, "row key"], factor: Tensor) -> Bool[Tensor, "row"]:
    if factor.dtype != torch.bool:
        return has_choice(mask)
    return (mask & factor).any(-1) & (mask & ~factor).any(-1)


def film_metrics(film: Film, site: str) -> Mapping[str, Float[np.ndarray, "frame layer head"]]:
    """Every metric of every head of a site at each frame: the mean over the rows of all sentences that count.

    NaN where no row counts. At decoder.cross also `WORD_IN` and `WORD_OUT`.
    """
    parts = [_of_sentence(sentence, site) for sentence in film.sentences]
    frames, layers, heads = film.sentences[0].weights[site].shape[:3]
    return MappingProxyType(
        {name: _mean_over_sentences([part[name] for part in parts]).reshape(frames, layers, heads) for name in parts[0]}
    )


def _of_sentence(sentence: FilmSentence, site: str) -> dict[str, RowMetric]:
    """Values for frame · layer · head side by side."""
    of_frames = sentence.weights[site]
    queries, keys = of_frames.shape[3:]
    weights = torch.tensor(of_frames, dtype=torch.float32).flatten(0, 2) / 255
    mask = AttentionMask(num_queries=queries, num_keys=keys, causal=site == "decoder.self").rows()[0]
    key_tokens = sentence.target_tokens if site == "decoder.self" else sentence.source_tokens
    metrics = row_metrics(AttentionRows(weights, mask, site, key_tokens), SENTENCE_METRICS)
    if site == CROSS:
        metrics |= {name: _alignment(weights, sentence, before) for name, before in ((WORD_IN, 0), (WORD_OUT, 1))}
    return metrics


def _alignment(weights: Float[torch.Tensor, "head row key"], sentence: FilmSentence, before: int) -> RowMetric:
    linked = torch.zeros(weights.shape[1:], dtype=torch.bool)
    for row, keys in sentence.links:
        # No row predicts what the first one reads.
        if row >= before:
            linked[row - before, list(keys)] = True
    return RowMetric((weights * linked).sum(-1), linked.any(-1))


def _mean_over_sentences(parts: list[RowMetric]) -> Float[np.ndarray, "head"]:
    values = torch.cat([part.values[:, part.counts] for part in parts], dim=-1)
    result: Float[np.ndarray, " head"] = values.mean(-1).numpy()
    return result


class LayerHead(NamedTuple):
    """One head of a site; layer and head from 0."""

    layer: int
    head: int


class HeadName(NamedTuple):
    """One head of the model; layer and head from 0."""

    site: str
    layer: int
    head: int


class RankedHead(NamedTuple):
    """A head and its metric."""

    name: HeadName
    value: float


Heads = Mapping[str, Sequence[int]]
"""Site → the number of heads of each of its layers, as `Abilities` has it; stacks may differ."""


def all_heads(heads: Heads) -> tuple[HeadName, ...]:
    """Every head, in the order of a table [site, layer, head] where all layers have as many."""
    return tuple(
        HeadName(site, layer, head)
        for site in SITES
        for layer, count in enumerate(heads.get(site, ()))
        for head in range(count)
    )


def check_heads(heads: Heads, chosen: Collection[HeadName]) -> None:
    """Make sure that these are heads of the model. Raises an EditError if a head does not exist."""
    known = all_heads(heads)
    if unknown := set(chosen).difference(known):
        site, layer, head = min(unknown)
        layers = heads.get(site, ())
        named: dict[str, object] = {"head": head, "layer": layer, "site": site}
        if not layers:
            message = "There is no head {head} in layer {layer} of {site!r}; the model's attentions are {sites}."
            raise EditError(message, sites=", ".join(heads), **named)
        message = (
            "There is no head {head} in layer {layer} of {site!r}; layers run from 0 to {last_layer}, heads from 0 to "
            "{last_head}."
        )
        raise EditError(message, last_layer=len(layers) - 1, last_head=max(layers) - 1, **named)


def ranked(values: Float[npt.NDArray[np.floating], "site layer head"]) -> list[RankedHead]:
    """All heads that have a value, the largest first; equal ones in the order of the table."""
    numbers = np.asarray(values, dtype=np.float64)
    flat = numbers.ravel()
    order = [int(i) for i in np.argsort(-flat, kind="stable") if not np.isnan(flat[i])]
    indices = (np.unravel_index(i, numbers.shape) for i in order)
    named = (HeadName(SITES[int(site)], int(layer), int(head)) for site, layer, head in indices)
    return [RankedHead(name, float(flat[i])) for name, i in zip(named, order, strict=True)]


def rank_correlation(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Spearman's ρ: Pearson's correlation of the ranks, equal values sharing their mean rank; NaN values are left out.

    −1 to 1; NaN where fewer than two heads are left or all of one side are equal.
    """
    a, b = (np.asarray(values, dtype=np.float64).ravel() for values in (first, second))
    known = ~(np.isnan(a) | np.isnan(b))
    x, y = (_ranks(values[known]) for values in (a, b))
    x, y = x - x.mean() if x.size else x, y - y.mean() if y.size else y
    scale = float(np.sqrt((x**2).sum() * (y**2).sum()))
    return float((x * y).sum() / scale) if scale else float("nan")


def _ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    # As of scipy.stats, whose import alone takes a second or two, but for a number that is the same for all.
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - counts / 2)[group]

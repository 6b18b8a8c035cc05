"""Measure an atlas of heads: what every head of a model does over a whole corpus.

Metrics are means over all rows of the corpus that say something about a head (`model.analysis.metrics.head_metrics`),
so that a long sentence counts for more than a short one. Tables are arrays [site, layer, head].
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.analysis.atlas.head_distance import divergence_sums, head_map
from model.analysis.atlas.intervals import RatioInterval
from model.analysis.atlas.strongest import Strongest
from model.analysis.coreference.cases import PronounCases
from model.analysis.coreference.measure_translator import measure_coreference
from model.analysis.corpus import MOST_SENTENCES, CorpusSentence, Progress, SentenceRun, corpus_digest, read_corpus
from model.analysis.interventions.replacement import MeanOutputs
from model.analysis.metrics.alignment import AlignedPair, score_alignment
from model.analysis.metrics.head_jobs import ANTECEDENT
from model.analysis.metrics.head_metrics import METRICS, NORM, AttentionRows, RowMetric, has_choice, row_metrics
from model.analysis.metrics.norms import norm_shares, value_weighted_norms
from model.checkpoint import model_digest
from model.nn.encoder_decoder import SITES
from model.trace.trace import Trace
from model.translator import Translator

#: Sentences that are named for each metric of each head.
STRONGEST: Final = 5

AER: Final = ("aer_word_in", "aer_word_out")
"""Alignment error rates of cross-attention heads: asked when a word goes in, and when it comes out."""

Table = npt.NDArray[np.float32]
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, eq=False, kw_only=True)
class Atlas:
    """What every head of a model does over a corpus. Arrays cannot be written to.

    Attributes:
        model, corpus: digests of the model and of everything it was given to read.
        texts, translations: the sentences that were read, in their order.
        skipped: reason → sentences left out.
        metrics: name → [site, layer, head], NaN where it means nothing; `head_metrics.METRICS`, the same with the
            prefix "norm_", where gold alignments were given, `AER`, and where pronoun cases were, `ANTECEDENT`.
        intervals: name → [site, layer, head, end], the ends of 95 % intervals; not of error rates.
        rows: name → over how many rows of each site it is the mean; of error rates, links made by hand.
        strongest: name → [site, layer, head, rank], the sentences in which the metric of the head is highest, best
            first; −1 where there are no more.
        divergences: [site, layer · head, layer · head], mean Jensen–Shannon divergence over all rows, in bits.
        mean_outputs: [site, layer, head, d_v], the mean of each head's output, for `analysis.replacement`.
    """

    model: str
    corpus: str
    texts: tuple[str, ...]
    translations: tuple[str, ...]
    skipped: Mapping[str, int]
    metrics: Mapping[str, Float[Table, "site layer head"]]
    intervals: Mapping[str, Float[Table, "site layer head end"]]
    rows: Mapping[str, tuple[int, ...]]
    strongest: Mapping[str, Int[npt.NDArray[np.int32], "site layer head rank"]]
    divergences: Float[Table, "site layer_head layer_head"]
    mean_outputs: Float[Table, "site layer head d_v"]

    @cached_property
    def map_positions(self) -> Float[npt.NDArray[np.floating], "site layer head 2"]:
        """The heads of each site on a map on which near ones look alike (`head_distance.head_map`)."""
        maps = np.stack([head_map(of_site) for of_site in self.divergences])
        return maps.reshape(*self.mean_outputs.shape[:3], 2)


def build_atlas(
    translator: Translator,
    sentences: Iterable[CorpusSentence],
    aligned: Sequence[AlignedPair] = (),
    progress: Progress = lambda done: None,
    cases: PronounCases | None = None,
) -> Atlas:
    """Read a corpus and measure every head.

    Args:
        translator: the model.
        sentences: at most `corpus.MOST_SENTENCES`, with translations or without: then the model's own, greedy ones.
        aligned: sentence pairs with links made by hand, for error rates; a set of its own.
        progress: called with the number of sentences and aligned pairs done since the last call; each aligned pair is
            read twice.
        cases: sentences with a pronoun and two candidates, for `ANTECEDENT`; a set of its own.

    Raises:
        DataError: no sentence could be read, or there are too many.
    """
    given = list(islice(sentences, MOST_SENTENCES + 1))
    survey = _Survey(translator)
    reading = read_corpus(translator, given, progress)
    for run in reading.runs:
        survey.add(run)
    metrics, intervals, rows = survey.tables()
    if aligned:
        error_rates, links = _error_rates(translator, aligned, progress)
        metrics |= error_rates
        rows |= dict.fromkeys(error_rates, (0, 0, links))
    if cases is not None:
        metrics[ANTECEDENT], intervals[ANTECEDENT], rows[ANTECEDENT] = _antecedents(translator, cases, progress)
    texts, translations = zip(*(survey.texts[number] for number in range(len(survey.texts))), strict=True)
    return Atlas(
        model=model_digest(translator.model, translator.tokenizer),
        corpus=reading_digest(given, aligned),
        texts=texts,
        translations=translations,
        skipped=MappingProxyType(dict(reading.skipped)),
        metrics=MappingProxyType({name: _frozen(table) for name, table in metrics.items()}),
        intervals=MappingProxyType({name: _frozen(ends) for name, ends in intervals.items()}),
        rows=MappingProxyType(rows),
        strongest=MappingProxyType({name: _frozen(table) for name, table in survey.strongest().items()}),
        divergences=_frozen(survey.divergences()),
        mean_outputs=_frozen(survey.by_head(survey.outputs.means())),
    )


def reading_digest(sentences: Sequence[CorpusSentence], aligned: Sequence[AlignedPair]) -> str:
    """SHA-256 that names exactly what an atlas is made from."""
    as_sentences = [
        CorpusSentence(" ".join(pair.source), f"{' '.join(pair.target)}\t{sorted(pair.sure)}") for pair in aligned
    ]
    return corpus_digest([*sentences, CorpusSentence(f"{len(sentences)} sentences, then alignments"), *as_sentences])


class _Survey:
    """What has been seen of the corpus so far."""

    def __init__(self, translator: Translator) -> None:
        config = self.config = translator.config
        self.texts: dict[int, tuple[str, str]] = {}
        self.outputs = MeanOutputs()
        self._end_token = translator.tokenizer.tokens([config.eos_id])[0]
        self._projections = {
            site: torch.cat([translator.output_projection(site, layer) for layer in range(config.equal_layers)])
            for site in SITES
        }
        heads = config.equal_layers * config.num_heads
        names = [prefix + name for prefix in ("", NORM) for name in METRICS]
        self._means = {name: [RatioInterval(heads) for _ in SITES] for name in names}
        self._best = {name: [Strongest(heads, STRONGEST) for _ in SITES] for name in names}
        self._divergences = torch.zeros(len(SITES), heads, heads, dtype=torch.float64)
        self._compared = [0] * len(SITES)

    @torch.inference_mode()
    def add(self, run: SentenceRun) -> None:
        """Take in one sentence."""
        self.texts[run.number] = (run.text, run.translation)
        for site_number, site in enumerate(SITES):
            inputs = run.sites[site]
            weights = inputs.weights()
            shares = norm_shares(value_weighted_norms(weights, inputs.value, self._projections[site]))
            stack, kind = site.split(".")
            queries = run.source_tokens if stack == "encoder" else run.target_tokens
            keys = run.source_tokens if kind == "cross" else queries
            for prefix, matrix in (("", weights), (NORM, shares)):
                rows = AttentionRows(matrix, inputs.mask, site, keys, queries, self._end_token)
                for name, metric in row_metrics(rows, METRICS).items():
                    self._add_metric(prefix + name, site_number, run.number, metric)
            chosen = has_choice(inputs.mask)
            self._divergences[site_number] += divergence_sums(weights, chosen)
            self._compared[site_number] += int(chosen.sum())
            self.outputs.add(site, weights @ inputs.value)

    def tables(self) -> tuple[dict[str, Table], dict[str, Table], dict[str, tuple[int, ...]]]:
        """Means over all rows, their intervals, and how many rows there were."""
        means = {
            name: self.by_head(torch.stack([of_site.mean() for of_site in sites]))
            for name, sites in self._means.items()
        }
        ends = {
            name: self.by_head(torch.stack([of_site.ends() for of_site in sites]))
            for name, sites in self._means.items()
        }
        return means, ends, {name: tuple(of_site.rows for of_site in sites) for name, sites in self._means.items()}

    def strongest(self) -> dict[str, npt.NDArray[np.int32]]:
        """Numbers of the strongest sentences."""
        shape = (len(SITES), self.config.equal_layers, self.config.num_heads, STRONGEST)
        return {
            name: np.stack([of_site.numbers() for of_site in best]).reshape(shape) for name, best in self._best.items()
        }

    def divergences(self) -> Table:
        """Means over all rows; 0 where no row has a choice."""
        rows = torch.tensor(self._compared).clamp_min(1)
        means: Table = (self._divergences / rows[:, None, None]).float().numpy()
        return means

    def by_head(self, values: Float[Tensor, "site layer_head *rest"]) -> Table:
        """Heads of all layers side by side, apart again."""
        table: Table = values.float().numpy()
        return table.reshape(len(SITES), self.config.equal_layers, self.config.num_heads, *table.shape[2:])

    def _add_metric(self, name: str, site_number: int, sentence: int, metric: RowMetric) -> None:
        rows = int(metric.counts.sum())
        if rows:
            total = metric.values[:, metric.counts].double().sum(1)
            self._means[name][site_number].add(total, rows)
            self._best[name][site_number].add(sentence, (total / rows).numpy())


def _antecedents(
    translator: Translator, cases: PronounCases, progress: Progress
) -> tuple[Table, Table, tuple[int, ...]]:
    """Shares of cases in which a head looks more at the antecedent, their intervals, and how many cases there were.

    NaN where a site cannot be scored.
    """
    shape = (len(SITES), translator.config.equal_layers, translator.config.num_heads)
    shares, ends = np.full(shape, np.nan, np.float32), np.full((*shape, 2), np.nan, np.float32)
    rows = [0] * len(SITES)
    # A stop is heard between two sentences; they are not counted.
    scores = measure_coreference(translator, cases, progress=lambda done: progress(0))
    for name, scored in scores.sites.items():
        site = SITES.index(name)
        accuracy = scored.accuracy
        shares[site] = accuracy.value
        ends[site] = torch.stack([accuracy.low, accuracy.high], -1)
        rows[site] = len(scored.cases)
    return shares, ends, tuple(rows)


def _error_rates(
    translator: Translator, aligned: Sequence[AlignedPair], progress: Progress
) -> tuple[dict[str, Table], int]:
    """Tables of error rates by weights and by norms, and how many links they were held against."""
    projections = [translator.output_projection("decoder.cross", i) for i in range(translator.config.equal_layers)]

    def cross_norms(trace: Trace, layer: int) -> Tensor:
        inputs = trace.attention("decoder.cross", layer)
        return value_weighted_norms(trace.weights("decoder.cross", layer), inputs.values(), projections[layer])

    by_weight = score_alignment(translator, aligned, progress)
    by_norm = score_alignment(translator, aligned, progress, cross_norms)
    shape = (len(SITES), translator.config.equal_layers, translator.config.num_heads)
    tables = {prefix + name: np.full(shape, np.nan, dtype=np.float32) for prefix in ("", NORM) for name in AER}
    for prefix, scores in (("", by_weight), (NORM, by_norm)):
        for name in AER:
            tables[prefix + name][SITES.index("decoder.cross")] = scores.ways[name.removeprefix("aer_")].heads
    return tables, by_weight.sure_links


def _frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    array.setflags(write=False)
    return array

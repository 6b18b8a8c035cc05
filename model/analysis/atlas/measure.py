"""Measure an atlas of heads: what every head of a model does over a whole corpus.

Metrics are means over all rows of the corpus that say something about a head (`model.analysis.metrics.head_metrics`),
so that a long sentence counts for more than a short one. Tables are arrays [site, layer, head], for every site of
`SITES` and for as many layers and heads as the largest has: NaN where a model has no such head.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

from model.analysis.atlas.head_distance import RatioInterval, divergence_sums
from model.analysis.coreference.case_files import PronounCases
from model.analysis.coreference.measure import measure_coreference
from model.analysis.corpus import MOST_SENTENCES, CorpusSentence, SiteRun, corpus_digest, read_corpus
from model.analysis.metrics.alignment import AlignedPair, score_alignment
from model.analysis.metrics.head_jobs import ANTECEDENT
from model.analysis.metrics.head_metrics import (
    NORM,
    ROW_METRICS,
    AttentionRows,
    Heads,
    RowMetric,
    has_choice,
    row_metrics,
)
from model.analysis.metrics.measures import norm_shares, value_weighted_norms
from model.checkpoint import model_digest
from model.errors import DataError
from model.interruption import Progress, no_progress
from model.nn.encoder_decoder import SITES
from model.opening import as_writer
from model.reader import Reader, Writer
from model.trace.trace import Trace
from model.translator import Translator

NONE: Final = -1
#: Values that are held beside the largest ones before they are sorted in.
HELD: Final = 64


class Strongest:
    """For each of `rows`, the numbers of the `count` largest values; of equal ones, the smaller number first."""

    def __init__(self, rows: int, count: int) -> None:
        self._count = count
        self._values = np.full((rows, count), -np.inf)
        self._numbers = np.full((rows, count), NONE, dtype=np.int32)
        self._held: list[tuple[int, npt.NDArray[np.float64]]] = []

    def add(self, number: int, values: Float[npt.NDArray[np.float64], " some_row"], rows: slice = slice(None)) -> None:
        """One value for each of some rows, by default of all, under a number of its own in each."""
        held = np.full(len(self._values), -np.inf)
        held[rows] = values
        self._held.append((number, held))
        if len(self._held) == HELD:
            self._sort_in()

    def numbers(self) -> Int[npt.NDArray[np.int32], "row rank"]:
        """The numbers, largest value first; −1 where there were fewer values."""
        self._sort_in()
        return self._numbers.copy()

    def _sort_in(self) -> None:
        if not self._held:
            return
        numbers, values = zip(*self._held, strict=True)
        held = np.broadcast_to(np.array(numbers, dtype=np.int32), (len(self._values), len(numbers)))
        all_values = np.concatenate((self._values, np.stack(values, axis=1)), axis=1)
        all_numbers = np.concatenate((self._numbers, held), axis=1)
        order = np.lexsort((all_numbers, -all_values))[:, : self._count]
        self._values = np.take_along_axis(all_values, order, axis=1)
        self._numbers = np.take_along_axis(all_numbers, order, axis=1)
        self._held = []


#: Sentences that are named for each metric of each head.
STRONGEST: Final = 5

AER: Final = ("aer_word_in", "aer_word_out")
"""Alignment error rates of cross-attention heads: asked when a word goes in, and when it comes out."""

Table = npt.NDArray[np.float32]
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, eq=False, kw_only=True)
class Atlas:
    """What every head of a model does over a corpus. Arrays cannot be written to."""

    #: model, corpus: digests of the model and of everything it was given to read.
    model: str
    corpus: str
    #: texts, translations: the sentences that were read, in their order.
    texts: tuple[str, ...]
    translations: tuple[str, ...]
    skipped: Mapping[str, int]  #: reason → sentences left out
    #: name → [site, layer, head], NaN where it means nothing; `head_metrics.ROW_METRICS`, the same with the prefix
    #: "norm_", where gold alignments were given, `AER`, where pronoun cases were, `ANTECEDENT`, and of decoders alone
    #: those of `repeated_tokens`, which are measured on random tokens.
    metrics: Mapping[str, Float[Table, "site layer head"]]
    #: name → [site, layer, head, end], the ends of 95 % intervals; not of error rates.
    intervals: Mapping[str, Float[Table, "site layer head end"]]
    #: name → over how many rows of each site it is the mean; of error rates, links made by hand.
    rows: Mapping[str, tuple[int, ...]]
    #: name → [site, layer, head, rank], the sentences in which the metric of the head is highest, best first; −1 where
    #: there are no more.
    strongest: Mapping[str, Int[npt.NDArray[np.int32], "site layer head rank"]]
    #: [site, layer · head, layer · head], mean Jensen–Shannon divergence over all rows, in bits; 0 where a model has no
    #: such head.
    divergences: Float[Table, "site layer_head layer_head"]
    #: [site, layer, head, d_v], the mean of each head's output; NaN where it is not known.
    mean_outputs: Float[Table, "site layer head d_v"]
    heads: Mapping[str, tuple[int, ...]]  #: site → the heads of each of its layers

    def own(self, site: str) -> Int[npt.NDArray[np.int64], "head"]:
        """Which of the layer · head indices of a site the model has heads for."""
        return own_indices(self.heads.get(site, ()), self.mean_outputs.shape[2])


def own_indices(heads: Sequence[int], most: int) -> Int[npt.NDArray[np.int64], "head"]:
    """The places of the heads of a site in a list that has room for `most` heads in each layer."""
    return np.array([layer * most + head for layer, count in enumerate(heads) for head in range(count)], np.int64)


def build_atlas(
    reader: Reader,
    sentences: Iterable[CorpusSentence],
    aligned: Sequence[AlignedPair] = (),
    progress: Progress = no_progress,
    cases: PronounCases | None = None,
) -> Atlas:
    """Read a corpus and measure every head. Raises a DataError if no sentence could be read, or there are too many.

    Args:
        reader: any model that reads text.
        sentences: at most `corpus.MOST_SENTENCES`; an encoder–decoder reads a translation that is given, or else its
            own, greedy one.
        aligned: sentence pairs with links made by hand, for error rates of a `Translator`; a set of its own.
        progress: called with the number of sentences and aligned pairs done since the last call; each aligned pair is
            read twice.
        cases: sentences with a pronoun and two candidates, for `ANTECEDENT`; a set of its own.
    """
    given = list(islice(sentences, MOST_SENTENCES + 1))
    survey = _Survey(reader.abilities.heads, _projections(reader))
    reading = read_corpus(reader, given, progress)
    for number, trace in reading.traces:
        survey.add(number, trace)
    metrics, intervals, rows = survey.tables()
    if aligned and reader.abilities.has("alignment links"):
        error_rates, links = _error_rates(as_writer(reader), aligned, progress)
        metrics |= {name: survey.by_head({"decoder.cross": values}) for name, values in error_rates.items()}
        rows |= dict.fromkeys(error_rates, (0, 0, links))
    # A model from before the Transformer reads no sentence by a self-attention.
    if cases is not None and reader.abilities.has("self-attention"):
        # Where no case can be read, the table is left out.
        with suppress(DataError):
            metrics[ANTECEDENT], intervals[ANTECEDENT], rows[ANTECEDENT] = _antecedents(reader, survey, cases, progress)
    if reader.abilities.kind == "decoder":
        # With it comes the library transformers, which such a model has loaded already.
        from model.analysis.metrics import repeated_tokens as repeating

        if repeating.can_be_asked(reader):
            repeated = repeating.repeated_tokens(reader, progress=progress)
            metrics |= {name: survey.by_head({repeating.SITE: values}) for name, values in repeated.items()}
            counted = repeating.DRAWS * (repeating.copies_of(reader) - 1) * repeating.TOKENS
            rows |= dict.fromkeys(repeated, (0, counted, 0))
    texts, translations = zip(*(survey.texts[number] for number in range(len(survey.texts))), strict=True)
    return Atlas(
        model=digest_of(reader),
        corpus=reading_digest(given, aligned),
        texts=texts,
        translations=translations,
        skipped=MappingProxyType(dict(reading.skipped)),
        metrics=MappingProxyType({name: _frozen(table) for name, table in metrics.items()}),
        intervals=MappingProxyType({name: _frozen(ends) for name, ends in intervals.items()}),
        rows=MappingProxyType(rows),
        strongest=MappingProxyType({name: _frozen(table) for name, table in survey.strongest().items()}),
        divergences=_frozen(survey.divergences()),
        mean_outputs=_frozen(survey.mean_outputs()),
        heads=MappingProxyType({site: tuple(of_layers) for site, of_layers in reader.abilities.heads.items()}),
    )


def digest_of(reader: Reader) -> str:
    """What names exactly this model in an atlas."""
    if isinstance(reader, Translator):
        return model_digest(reader.model, reader.tokenizer)
    return reader.digest


def _projections(reader: Reader) -> dict[str, Float[Tensor, "layer_and_head d_v d_model"]]:
    """Site → W_O of the heads of all its layers; nothing of a model that does not tell."""
    if "norms" in reader.abilities.lacks:
        return {}
    return {
        site: torch.cat([reader.output_projection(site, layer) for layer in range(len(heads))])
        for site, heads in reader.abilities.heads.items()
    }


def reading_digest(sentences: Sequence[CorpusSentence], aligned: Sequence[AlignedPair]) -> str:
    """SHA-256 that names exactly what an atlas is made from."""
    as_sentences = [
        CorpusSentence(" ".join(pair.source), f"{' '.join(pair.target)}\t{sorted(pair.sure)}") for pair in aligned
    ]
    return corpus_digest([*sentences, CorpusSentence(f"{len(sentences)} sentences, then alignments"), *as_sentences])


class _Survey:
    """What has been seen of the corpus so far; heads of a site are one list, those of layer 0 first."""

    def __init__(self, heads: Heads, projections: Mapping[str, Tensor]) -> None:
        self.heads = heads
        self.shape = (len(SITES), max(map(len, heads.values())), max(max(of_layers) for of_layers in heads.values()))
        self.texts: dict[int, tuple[str, str]] = {}
        #: Site → the sums of the heads' outputs over rows, and how many rows these were.
        self._outputs: dict[str, tuple[Tensor, int]] = {}
        self._projections = projections
        counts = {site: sum(of_layers) for site, of_layers in heads.items()}
        names = [prefix + name for prefix in (("", NORM) if projections else ("",)) for name in ROW_METRICS]
        self._means = {name: {site: RatioInterval(count) for site, count in counts.items()} for name in names}
        self._best = {name: {site: Strongest(count, STRONGEST) for site, count in counts.items()} for name in names}
        self._divergences = {site: torch.zeros(count, count, dtype=torch.float64) for site, count in counts.items()}
        self._compared = dict.fromkeys(heads, 0)

    @torch.inference_mode()
    def add(self, number: int, trace: Trace) -> None:
        """Take in one sentence."""
        self.texts[number] = (trace.text, trace.translation)
        last = (trace.source_tokens or trace.target_tokens)[-1]
        end_token = last if last in trace.special_tokens else ""
        for site in self.heads:
            computed = SiteRun.of(trace, site, with_values=site in self._projections)
            weights, value = computed.weights, computed.value
            matrices = {"": weights}
            if value is not None:
                matrices[NORM] = norm_shares(value_weighted_norms(weights, value, self._projections[site]))
                total, count = self._outputs.get(site, (torch.zeros(()), 0))
                self._outputs[site] = total + (weights @ value).double().sum(1), count + weights.size(1)
            queries, keys = trace.axis_tokens(site)
            for prefix, matrix in matrices.items():
                for heads, mask in computed.masks:
                    rows = AttentionRows(matrix[heads], mask, site, keys, queries, end_token)
                    for name, metric in row_metrics(rows, ROW_METRICS).items():
                        self._add_metric(prefix + name, site, number, metric, heads)
            chosen = torch.stack([has_choice(mask) for _, mask in computed.masks]).any(0)
            self._divergences[site] += divergence_sums(weights, chosen)
            self._compared[site] += int(chosen.sum())

    def tables(self) -> tuple[dict[str, Table], dict[str, Table], dict[str, tuple[int, ...]]]:
        """Means over all rows, their intervals, and how many rows there were."""
        means, ends = (
            {
                name: self.by_head({site: read(interval) for site, interval in of_sites.items()})
                for name, of_sites in self._means.items()
            }
            for read in (RatioInterval.mean, RatioInterval.ends)
        )
        rows = {
            name: tuple(of_sites[site].rows if site in of_sites else 0 for site in SITES)
            for name, of_sites in self._means.items()
        }
        return means, ends, rows

    def strongest(self) -> dict[str, npt.NDArray[np.int32]]:
        """Numbers of the strongest sentences."""
        return {
            name: self.by_head({site: torch.from_numpy(best.numbers()) for site, best in of_sites.items()}, float(NONE))
            for name, of_sites in self._best.items()
        }

    def divergences(self) -> Table:
        """Means over all rows; 0 where no row has a choice."""
        places = self.shape[1] * self.shape[2]
        means = np.zeros((len(SITES), places, places), np.float32)
        for site, sums in self._divergences.items():
            own = own_indices(self.heads[site], self.shape[2])
            means[SITES.index(site)][np.ix_(own, own)] = (sums / max(1, self._compared[site])).float().numpy()
        return means

    def mean_outputs(self) -> Table:
        """The mean of each head's output; NaN where it is not known."""
        means = {site: (total / rows).float() for site, (total, rows) in self._outputs.items()}
        if not means:
            return np.full((*self.shape, 1), np.nan, np.float32)
        width = max(of_site.size(1) for of_site in means.values())
        return self.by_head(
            {site: pad(of_site, (0, width - of_site.size(1)), value=math.nan) for site, of_site in means.items()}
        )

    def by_head(self, values: Mapping[str, Tensor], missing: float = math.nan) -> npt.NDArray[Any]:
        """Site → numbers of its heads in one list, as a table [site, layer, head, …]."""
        first = next(iter(values.values()))
        kind = np.int32 if first.dtype == torch.int32 else np.float32
        table = np.full((len(SITES), self.shape[1] * self.shape[2], *first.shape[1:]), missing, kind)
        for site, of_heads in values.items():
            table[SITES.index(site), own_indices(self.heads[site], self.shape[2])] = of_heads.numpy().astype(kind)
        return table.reshape(*self.shape, *first.shape[1:])

    def _add_metric(self, name: str, site: str, sentence: int, metric: RowMetric, heads: slice) -> None:
        rows = int(metric.counts.sum())
        if rows:
            total = metric.values[:, metric.counts].double().sum(1)
            self._means[name][site].add(total, rows, heads)
            self._best[name][site].add(sentence, (total / rows).numpy(), heads)


def _antecedents(
    reader: Reader, survey: _Survey, cases: PronounCases, progress: Progress
) -> tuple[Table, Table, tuple[int, ...]]:
    """Shares of cases in which a head looks more at the antecedent, intervals, and how many; NaN without scores."""

    def heard(done: int) -> None:
        # A stop is heard between two sentences; they are not counted.
        progress(0)

    scored = measure_coreference(reader, cases, progress=heard).sites
    shares = {site: of_site.accuracy.value.flatten() for site, of_site in scored.items()}
    ends = {
        site: torch.stack([of_site.accuracy.low.flatten(), of_site.accuracy.high.flatten()], -1)
        for site, of_site in scored.items()
    }
    rows = tuple(len(scored[site].cases) if site in scored else 0 for site in SITES)
    return survey.by_head(shares), survey.by_head(ends), rows


def _error_rates(
    translator: Writer, aligned: Sequence[AlignedPair], progress: Progress
) -> tuple[dict[str, Tensor], int]:
    """Error rates of cross-attention by weights and by norms, and how many links they were held against."""
    layers = range(len(translator.abilities.heads["decoder.cross"]))
    projections = [translator.output_projection("decoder.cross", layer) for layer in layers]

    def cross_norms(trace: Trace, layer: int) -> Tensor:
        inputs = trace.attention("decoder.cross", layer)
        return value_weighted_norms(trace.weights("decoder.cross", layer), inputs.values(), projections[layer])

    by_weight = score_alignment(translator, aligned, progress)
    by_norm = score_alignment(translator, aligned, progress, cross_norms)
    tables = {
        prefix + name: torch.tensor(scores.ways[name.removeprefix("aer_")].heads).flatten()
        for prefix, scores in (("", by_weight), (NORM, by_norm))
        for name in AER
    }
    return tables, by_weight.sure_links


def _frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    array.setflags(write=False)
    return array

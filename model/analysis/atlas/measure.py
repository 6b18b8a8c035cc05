"""Measure an atlas of heads: what every head of a model does over a whole corpus.

Metrics are means over all rows of the corpus that say something about a head (`model.analysis.metrics.head_metrics`),
so that a long sentence counts for more than a short one. Tables are arrays [site, layer, head], for every site of
`SITES` and for as many layers and heads as the largest has: NaN where a model has no such head.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, compress
from pathlib import Path
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
from model.analysis.corpus import Corpus, CorpusSentence, Origin, SiteRun, corpus_digest
from model.analysis.metrics.alignment import AlignedPair, Matrix, of_weights, score_alignment
from model.analysis.metrics.head_jobs import ANTECEDENT, HeadJob, jobs_of_heads
from model.analysis.metrics.head_metrics import NORM, ROW_METRICS, AttentionRows, Heads, has_choice, row_metrics
from model.analysis.metrics.measures import norm_shares, value_weighted_norms
from model.arrays_file import Array
from model.errors import DataError, InputTextError, said
from model.interruption import Progress, no_progress
from model.nn.encoder_decoder import SITES
from model.opening import as_attending, as_writer
from model.over_corpus import ByModels, Partial, Sum, over_corpus, packed, unpacked
from model.reader import Reader, Writer
from model.trace.trace import Trace

NONE: Final = -1


def strongest(
    values: Float[Array, "*row candidate"], numbers: Int[Array, "*row candidate"], count: int
) -> tuple[Float[Array, "*row rank"], Int[Array, "*row rank"]]:
    """In each row the `count` largest values and their numbers; of equal ones, the smaller number first.

    −∞ is no value: its number becomes −1, and so are places that are not filled.
    """
    room = [(0, 0)] * (values.ndim - 1) + [(0, max(0, count - values.shape[-1]))]
    values = np.pad(values, room, constant_values=-np.inf)
    numbers = np.where(values == -np.inf, NONE, np.pad(numbers, room))
    order = np.lexsort((numbers, -values))[..., :count]
    return np.take_along_axis(values, order, -1), np.take_along_axis(numbers, order, -1)


#: Sentences that are named for each metric of each head.
STRONGEST: Final = 5

#: Sentences of which an atlas keeps the texts; of more, it keeps those that are named for a head.
MOST_TEXTS: Final = 10_000
#: Bits of a metric that decide which sentence is stronger: what is less is rounding, and equal ones keep their order.
BITS: Final = 20

AER: Final = ("aer_word_in", "aer_word_out")
"""Alignment error rates of cross-attention heads: asked when a word goes in, and when it comes out."""

Table = npt.NDArray[np.float32]
Read = Callable[[Sequence[CorpusSentence]], Iterator[tuple[int, Trace | InputTextError]]]
"""Gives the traces of some sentences, as `trace_batch` of a `Reader` does."""
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, eq=False, kw_only=True)
class Atlas:
    """What every head of a model does over a corpus. Arrays cannot be written to."""

    #: model, corpus: digests of the model and of everything it was given to read.
    model: str
    corpus: str
    sentences: int  #: how many were read
    #: texts, translations: the sentences that were read, in their order; of more than `MOST_TEXTS` the strongest.
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
    origin: Origin | None = None  #: where the sentences come from, if that is known
    #: [site, layer, head], the share of its weight that sinks (`Trace.sinks`) held, on average over all rows, where
    #: metrics of rows, their intervals and divergences leave these out as keys and renormalise nothing, but error
    #: rates, antecedents and repeated tokens keep them; None where they are keys.
    held: Float[Table, "site layer head"] | None = None

    def own(self, site: str) -> Int[npt.NDArray[np.int64], "head"]:
        """Which of the layer · head indices of a site the model has heads for."""
        return own_indices(self.heads.get(site, ()), self.mean_outputs.shape[2])


def jobs_in(atlas: Atlas, site: str) -> dict[tuple[int, int], tuple[HeadJob, ...]]:
    """Layer and head of a site → its jobs over the corpus, the surest first; heads without a job are not there."""
    at, layers, most = SITES.index(site), len(atlas.heads[site]), max(atlas.heads[site])
    metrics, intervals = (
        {name: table[at, :layers, :most] for name, table in of.items()} for of in (atlas.metrics, atlas.intervals)
    )
    return jobs_of_heads(site, metrics, intervals)


def own_indices(heads: Sequence[int], most: int) -> Int[npt.NDArray[np.int64], "head"]:
    """The places of the heads of a site in a list that has room for `most` heads in each layer."""
    return np.array([layer * most + head for layer, count in enumerate(heads) for head in range(count)], np.int64)


def build_atlas(
    reader: Reader,
    sentences: Collection[CorpusSentence],
    aligned: Sequence[AlignedPair] = (),
    progress: Progress = no_progress,
    cases: PronounCases | None = None,
    unfinished: Path | None = None,
    *,
    sites: Collection[str] = SITES,
    read: Read | None = None,
    sinks: bool = True,
) -> Atlas:
    """Read a corpus and measure every head. Raises a DataError if no sentence could be read, or as `as_attending`.

    Args:
        reader: any model that reads text.
        sentences: an encoder–decoder reads a translation that is given, or else its own, greedy one. A `Corpus` is read
            from its file as it is needed.
        aligned: sentence pairs with links made by hand, for error rates of a translator; a set of its own.
        progress: called with the number of sentences and aligned pairs done since the last call.
        cases: sentences with a pronoun and two candidates, for `ANTECEDENT`; a set of its own.
        unfinished: as of `over_corpus`.
        sites: whose heads are measured, of those that the model has.
        read: what gives the traces; by default the reader.
        sinks: whether keys on which heads rest count (`Atlas.held`).
    """
    survey = Survey(as_attending(reader), sites, read or reader.trace_batch, sinks=sinks)

    def finish(total: Partial) -> Atlas:
        read = int(total.sums.get("read", 0))
        if not read and reader.abilities.reads != "text":
            raise DataError("This model ({name}) is a vision model: it reads no text.", name=reader.abilities.family)
        if not read:
            raise DataError("No sentence could be read: there is none, or all are blank or too long for this model.")
        metrics, intervals, rows = survey.tables(total)
        if aligned and reader.abilities.has("alignment links"):
            error_rates, links = _error_rates(as_writer(reader), aligned, progress, unfinished)
            metrics |= {name: survey.by_head({"decoder.cross": values}) for name, values in error_rates.items()}
            rows |= dict.fromkeys(error_rates, (0, 0, links))
        # A model from before the Transformer reads no sentence by a self-attention.
        if cases is not None and reader.abilities.has("self-attention"):
            # Where no case can be read, the table is left out.
            with suppress(DataError):
                found = _antecedents(reader, survey, cases, progress, unfinished)
                metrics[ANTECEDENT], intervals[ANTECEDENT], rows[ANTECEDENT] = found
        if reader.abilities.kind == "decoder":
            # With it comes the library transformers, which such a model has loaded already.
            from model.analysis.metrics import repeated_tokens as repeating

            if repeating.can_be_asked(reader):
                repeated = repeating.repeated_tokens(reader, progress=progress)
                metrics |= {name: survey.by_head({repeating.SITE: values}) for name, values in repeated.items()}
                counted = repeating.DRAWS * (repeating.copies_of(reader) - 1) * repeating.TOKENS
                rows |= dict.fromkeys(repeated, (0, counted, 0))
        origin = sentences.origin if isinstance(sentences, Corpus) else None
        return survey.atlas(
            total, reader, reading_digest(sentences, aligned, sinks=sinks), origin, (metrics, intervals, rows)
        )

    summed = Sum(
        # What gives traces in its own way is not to be had elsewhere.
        of_chunk=survey.of_chunk if read else ByModels(partial(_of_chunk, sites=tuple(sites), sinks=sinks), (reader,)),
        merge=merged,
        finish=finish,
        name=lambda: f"atlas 1 {reader.weights_digest} {reader.key}{'' if sinks else ' without sinks'}",
    )
    return over_corpus(sentences, summed, progress, unfinished)


def _projections(reader: Reader) -> dict[str, Float[Tensor, "layer_and_head d_v d_model"]]:
    """Site → W_O of the heads of all its layers; nothing of a model that does not tell."""
    if "norms" in reader.abilities.lacks:
        return {}
    return {
        site: torch.cat([reader.output_projection(site, layer) for layer in range(len(heads))])
        for site, heads in reader.abilities.heads.items()
    }


def reading_digest(sentences: Collection[CorpusSentence], aligned: Sequence[AlignedPair], *, sinks: bool = True) -> str:
    """SHA-256 that names exactly what an atlas is made from."""
    as_sentences = [
        CorpusSentence(" ".join(pair.source), f"{' '.join(pair.target)}\t{sorted(pair.sure)}") for pair in aligned
    ]
    then = CorpusSentence(f"{len(sentences)} sentences, then alignments{'' if sinks else '; without sinks'}")
    return corpus_digest(chain(sentences, [then], as_sentences))


SKIPPED: Final = "skipped/"


class Survey:
    """What a model's heads do in some sentences; heads of a site are one list, those of layer 0 first."""

    def __init__(self, reader: Reader, sites: Collection[str], read: Read, *, sinks: bool = True) -> None:
        self._sinks = sinks
        self.heads: Heads = {site: heads for site, heads in reader.abilities.heads.items() if site in sites}
        most = max(max(of_layers) for of_layers in self.heads.values())
        self.shape = (len(SITES), max(map(len, self.heads.values())), most)
        self._read, self._projections = read, _projections(reader)
        prefixes = ("", NORM) if self._projections else ("",)
        self._names = [prefix + name for prefix in prefixes for name in ROW_METRICS]

    @torch.inference_mode()
    def of_chunk(self, sentences: Sequence[CorpusSentence], progress: Progress) -> Partial:
        """Read some sentences.

        Of each site `moments` [metric, moment, head] are summed, and `outputs`, `divergences` and over how many rows
        these go. `strongest` and `numbers` [metric, head, rank] say in which sentences a metric is highest, counted
        from the first of `given`; `listed` are the numbers of `texts`.
        """
        sums: dict[str, Any] = {"given": len(sentences), "read": 0}
        rows: dict[str, Array] = {}
        values = {}
        for site, of_layers in self.heads.items():
            count = sum(of_layers)
            sums[f"moments/{site}"] = torch.stack([RatioInterval.empty(count).moments for _ in self._names])
            sums[f"divergences/{site}"] = torch.zeros(count, count, dtype=torch.float64)
            sums[f"compared/{site}"] = 0
            values[site] = np.full((len(self._names), count, len(sentences)), -np.inf)
        texts: dict[int, tuple[str, str]] = {}
        for number, trace in self._read(sentences):
            if isinstance(trace, InputTextError):
                refused = SKIPPED + said("blank, or too long for this model")
                sums[refused] = sums.get(refused, 0) + 1
            else:
                texts[number] = (trace.text, trace.translation)
                for site, of_site in values.items():
                    self._add(trace, site, sums, of_site[..., number])
            progress(1)
        sums["read"] = len(texts)
        numbers = np.arange(len(sentences))
        for site, of_site in values.items():
            best = strongest(of_site, np.broadcast_to(numbers, of_site.shape), STRONGEST)
            rows[f"strongest/{site}"], rows[f"numbers/{site}"] = best
        listed = sorted(texts)
        rows |= packed("texts", (texts[number][0] for number in listed))
        rows |= packed("translations", (texts[number][1] for number in listed))
        return Partial(sums, rows | {"listed": np.array(listed, np.int64)})

    def _add(self, trace: Trace, site: str, sums: dict[str, Any], values: npt.NDArray[np.float64]) -> None:
        """Take in what the heads of a site do in one sentence."""
        last = (trace.source_tokens or trace.target_tokens)[-1]
        end_token = last if last in trace.special_tokens else ""
        computed = SiteRun.of(trace, site, with_values=site in self._projections)
        weights, value = computed.weights, computed.value
        matrices = {"": weights}
        if value is not None:
            matrices[NORM] = norm_shares(value_weighted_norms(weights, value, self._projections[site]))
            outputs = (weights @ value).double().sum(1)
            sums[f"outputs/{site}"] = sums.get(f"outputs/{site}", 0) + outputs
            sums[f"output_rows/{site}"] = sums.get(f"output_rows/{site}", 0) + weights.size(1)
        queries, keys = trace.axis_tokens(site)
        left_out = () if self._sinks else trace.sinks(site)
        if not self._sinks:
            held = weights[..., list(left_out)].double().sum((1, 2))
            sums[f"held/{site}"] = sums.get(f"held/{site}", 0) + held
            sums[f"held_rows/{site}"] = sums.get(f"held_rows/{site}", 0) + weights.size(1)
            weights = weights.index_fill(-1, torch.tensor(left_out, dtype=torch.int64), 0.0)
        for prefix, matrix in matrices.items():
            for heads, mask in computed.masks:
                rows = AttentionRows(matrix[heads], mask, site, keys, queries, end_token).without(left_out)
                for name, metric in row_metrics(rows, ROW_METRICS).items():
                    index, count = self._names.index(prefix + name), int(metric.counts.sum())
                    if count:
                        total = metric.values[:, metric.counts].double().sum(1)
                        RatioInterval(sums[f"moments/{site}"][index]).add(total, count, heads)
                        mantissa, exponent = np.frexp((total / count).numpy())
                        values[index, heads] = np.ldexp(np.round(np.ldexp(mantissa, BITS)), exponent)
        chosen = torch.stack([has_choice(mask) for _, mask in computed.masks]).any(0)
        sums[f"divergences/{site}"] += divergence_sums(weights, chosen)
        sums[f"compared/{site}"] += int(chosen.sum())

    def atlas(
        self,
        total: Partial,
        reader: Reader,
        corpus: str,
        origin: Origin | None,
        tables: tuple[Mapping[str, Table], Mapping[str, Table], Mapping[str, tuple[int, ...]]] | None = None,
    ) -> Atlas:
        """What is known after the last text: means, intervals and rows are `tables`, with what else was measured."""
        metrics, intervals, rows = tables or self.tables(total)
        skipped = {name.removeprefix(SKIPPED): int(n) for name, n in total.sums.items() if name.startswith(SKIPPED)}
        return Atlas(
            model=reader.weights_digest,
            corpus=corpus,
            sentences=int(total.sums["read"]),
            texts=tuple(unpacked("texts", total.rows)),
            translations=tuple(unpacked("translations", total.rows)),
            skipped=MappingProxyType(skipped),
            metrics=MappingProxyType({name: _frozen(table) for name, table in metrics.items()}),
            intervals=MappingProxyType({name: _frozen(ends) for name, ends in intervals.items()}),
            rows=MappingProxyType(dict(rows)),
            strongest=MappingProxyType({name: _frozen(table) for name, table in self.strongest(total).items()}),
            divergences=_frozen(self.divergences(total)),
            mean_outputs=_frozen(self.mean_outputs(total)),
            heads=MappingProxyType({site: tuple(of_layers) for site, of_layers in self.heads.items()}),
            origin=origin,
            held=None if self._sinks else _frozen(self.held(total)),
        )

    def held(self, total: Partial) -> Table:
        """The mean share of their weight that heads give to sinks."""
        means = {
            site: torch.as_tensor(total.sums[f"held/{site}"]) / int(total.sums[f"held_rows/{site}"])
            for site in self.heads
        }
        return self.by_head(means)

    def tables(self, total: Partial) -> tuple[dict[str, Table], dict[str, Table], dict[str, tuple[int, ...]]]:
        """Means over all rows, their intervals, and how many rows there were."""
        means, ends, rows = {}, {}, {}
        for index, name in enumerate(self._names):
            moments = {site: torch.as_tensor(total.sums[f"moments/{site}"])[index] for site in self.heads}
            of_sites = {site: RatioInterval(of_site) for site, of_site in moments.items()}
            means[name] = self.by_head({site: interval.mean() for site, interval in of_sites.items()})
            ends[name] = self.by_head({site: interval.ends() for site, interval in of_sites.items()})
            rows[name] = tuple(of_sites[site].rows if site in of_sites else 0 for site in SITES)
        return means, ends, rows

    def strongest(self, total: Partial) -> dict[str, npt.NDArray[np.int32]]:
        """Of each metric the texts of the strongest sentences, by their places among all that are kept."""
        numbers = {site: total.rows[f"numbers/{site}"] for site in self.heads}
        found = {
            site: np.where(of_site == NONE, NONE, np.searchsorted(total.rows["listed"], of_site)).astype(np.int32)
            for site, of_site in numbers.items()
        }
        return {
            name: self.by_head({site: torch.from_numpy(of[index]) for site, of in found.items()}, float(NONE))
            for index, name in enumerate(self._names)
        }

    def divergences(self, total: Partial) -> Table:
        """Means over all rows; 0 where no row has a choice."""
        places = self.shape[1] * self.shape[2]
        means = np.zeros((len(SITES), places, places), np.float32)
        for site in self.heads:
            own = own_indices(self.heads[site], self.shape[2])
            compared = max(1, int(total.sums[f"compared/{site}"]))
            means[SITES.index(site)][np.ix_(own, own)] = np.asarray(total.sums[f"divergences/{site}"]) / compared
        return means

    def mean_outputs(self, total: Partial) -> Table:
        """The mean of each head's output; NaN where it is not known."""
        means = {
            site: torch.as_tensor(total.sums[f"outputs/{site}"] / total.sums[f"output_rows/{site}"]).float()
            for site in self.heads
            if f"outputs/{site}" in total.sums
        }
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


def _of_chunk(
    reader: Reader, sentences: Sequence[CorpusSentence], progress: Progress, *, sites: Collection[str], sinks: bool
) -> Partial:
    return Survey(reader, sites, reader.trace_batch, sinks=sinks).of_chunk(sentences, progress)


def merged(first: Partial, second: Partial) -> Partial:
    """Two parts of a corpus; of the strongest sentences of both, the strongest, and of many texts those of these."""
    both, offset = first + second, int(first.sums["given"])
    rows = {**both.rows, "listed": np.concatenate([first.rows["listed"], second.rows["listed"] + offset])}
    named: list[Array] = []
    for key in [name for name in rows if name.startswith("strongest/")]:
        place = key.replace("strongest/", "numbers/")
        later = second.rows[place]
        later = np.where(later == NONE, NONE, later + offset)
        values = np.concatenate([first.rows[key], second.rows[key]], -1)
        rows[key], rows[place] = strongest(values, np.concatenate([first.rows[place], later], -1), STRONGEST)
        named.append(rows[place].ravel())
    if both.sums["read"] > MOST_TEXTS:
        keeps = np.isin(rows["listed"], np.concatenate(named)).tolist()
        for name in ("texts", "translations"):
            rows |= packed(name, compress(unpacked(name, rows), keeps))
        rows["listed"] = rows["listed"][keeps]
    return Partial(both.sums, rows)


def _antecedents(
    reader: Reader, survey: Survey, cases: PronounCases, progress: Progress, unfinished: Path | None
) -> tuple[Table, Table, tuple[int, ...]]:
    """Shares of cases in which a head looks more at the antecedent, intervals, and how many; NaN without scores."""

    def heard(done: int) -> None:
        # A stop is heard between two sentences; they are not counted.
        progress(0)

    scored = measure_coreference(reader, cases, progress=heard, unfinished=unfinished).sites
    shares = {site: of_site.accuracy.value.flatten() for site, of_site in scored.items()}
    ends = {
        site: torch.stack([of_site.accuracy.low.flatten(), of_site.accuracy.high.flatten()], -1)
        for site, of_site in scored.items()
    }
    rows = tuple(len(scored[site].cases) if site in scored else 0 for site in SITES)
    return survey.by_head(shares), survey.by_head(ends), rows


def _weights_and_norms(translator: Writer) -> Mapping[str, Matrix]:
    layers = range(len(translator.abilities.heads["decoder.cross"]))
    projections = [translator.output_projection("decoder.cross", layer) for layer in layers]

    def cross_norms(trace: Trace, layer: int) -> Tensor:
        inputs = trace.attention("decoder.cross", layer)
        return value_weighted_norms(trace.weights("decoder.cross", layer), inputs.values(), projections[layer])

    return {**of_weights(translator), NORM: cross_norms}


def _error_rates(
    translator: Writer, aligned: Sequence[AlignedPair], progress: Progress, unfinished: Path | None
) -> tuple[dict[str, Tensor], int]:
    """Error rates of cross-attention by weights and by norms, and how many links they were held against."""
    scores = score_alignment(translator, aligned, progress, _weights_and_norms, unfinished)
    tables = {
        prefix + name: torch.tensor(scores.ways[prefix + name.removeprefix("aer_")].heads).flatten()
        for prefix in ("", NORM)
        for name in AER
    }
    return tables, scores.sure_links


def _frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    array.setflags(write=False)
    return array

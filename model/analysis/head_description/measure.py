"""Measure what `describe` says about heads: where the weight of each goes in each text, beside an even look.

Weight at rest is set aside first: what a row gives to a special token at the first or last place, in a decoder to the
first token whatever it is, and what a sink takes that is no token. The rest is *free*. An even look gives every key
that is free the same; its numbers are summed with the head's own free weight in each row, so that both are shares of
the same. Everything is a sum over the rows of ordinary tokens that have a choice, kept by text: so an interval comes
from texts, not from rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from model.analysis.atlas.measure import Read
from model.analysis.corpus import CorpusSentence, SiteRun, corpus_digest
from model.analysis.head_description.cells import CROSS_CELLS, KINDS, SELF_CELLS, SPECIAL, Place, sources_of
from model.analysis.head_description.corpora import FIRST
from model.analysis.metrics import repeated_tokens
from model.analysis.metrics.head_metrics import CROSS, DECODER, HeadName, Heads
from model.arrays_file import Array
from model.errors import DataError, InputTextError
from model.interruption import Progress, no_progress
from model.opening import as_attending
from model.over_corpus import ByModels, Partial, Sum, forget, over_corpus, packed, unpacked
from model.reader import Reader
from model.sources.source import WORD_BEGIN
from model.trace.steps import without_steps
from model.trace.trace import Trace

Numbers = npt.NDArray[np.float32]
#: Texts that are read between two looks at whether to stop.
TEXTS_AT_ONCE: Final = 20
#: Sets of random tokens that are read beside the first texts; beside all of them as many as for an atlas.
FIRST_DRAWS: Final = 2
#: Keys that must be free in a row, so that it says something about the head.
LEAST_FREE: Final = 3
#: Distances beyond this count as one.
FARTHEST: Final = 12
#: Texts in which a token must occur for its own numbers to be kept.
TEXTS_OF_TOKEN: Final = 8
#: Metrics beside the shares of cells: the last two are shares of a head's picture.
OTHERS: Final = ("rests", "distance", "fill", "by distance", "same keys")
_LEAST: Final = 1e-6


@dataclass(frozen=True, eq=False, kw_only=True)
class SiteSums:
    """Sums over rows; heads are one list, those of layer 0 first. `overall` divides them."""

    weight: Float[Numbers, "text head cell"]  #: free weight on the keys of a cell
    even: Float[Numbers, "text head cell"]  #: what an even look with as much free weight would give them
    weighed: Float[Numbers, "text head cell"]  #: free weight of the rows that have such a key
    rows_with: Float[Numbers, "text cell"]  #: how many rows have such a key
    rows: Float[Numbers, "text"]
    free: Float[Numbers, "text head"]
    #: at rest on the first key, on the last, and on no key
    resting: Float[Numbers, "text head place"]
    distance: Float[Numbers, "text head"]  #: free weight times how far its key is from the row, or the diagonal
    even_distance: Float[Numbers, "text head"]  #: the same of an even look
    divergence: Float[Numbers, "text head"]  #: free weight times nats between a row's free part and an even look
    fill: Float[Numbers, "text head"]  #: free weight times 2^entropy as a share of the keys that are free
    #: squares of the weights less an even look, and those of their means by distance and by column
    squares: Float[Numbers, "text head"]
    by_distance: Float[Numbers, "text head"]
    by_column: Float[Numbers, "text head"]
    #: how many weights, distances and columns these are
    weights: Float[Numbers, "text"]
    distances: Float[Numbers, "text"]
    columns: Float[Numbers, "text"]
    #: The same by the kind of the row's token (`KINDS`), over all texts.
    weight_by: Float[Numbers, "head cell kind"]
    even_by: Float[Numbers, "head cell kind"]
    weighed_by: Float[Numbers, "head cell kind"]
    rows_with_by: Float[Numbers, "cell kind"]
    free_by: Float[Numbers, "head kind"]
    rows_by: Float[Numbers, "kind"]
    texts_by: Float[Numbers, "kind"]  #: how many texts have such a row
    #: tokens, of_tokens, texts_of_tokens: free weight that each token got of other rows and would get by an even look;
    #: in how many texts it stands, and for each head in how many it got more than that.
    tokens: tuple[str, ...]
    of_tokens: Float[Numbers, "token look head"]
    texts_of_tokens: Float[Numbers, "token"]
    above_in: Float[Numbers, "token head"]

    def of_heads(self, heads: Int[npt.NDArray[np.int64], "some"]) -> "SiteSums":
        """Those of some heads alone."""
        found: dict[str, Any] = {}
        for field in fields(self):
            axes = getattr(field.type, "dim_str", "").split()
            if "head" in axes:
                found[field.name] = getattr(self, field.name).take(heads, axes.index("head"))
        return replace(self, **found)


BY_TEXT: Final = (
    "weight", "even", "weighed", "rows_with", "rows", "free", "resting", "distance", "even_distance", "divergence",
    "fill", "squares", "by_distance", "by_column", "weights", "distances", "columns",
)  # fmt: skip
BY_KIND: Final = ("weight_by", "even_by", "weighed_by", "rows_with_by", "free_by", "rows_by", "texts_by")


@dataclass(frozen=True, eq=False, kw_only=True)
class Measured:
    """What every head of a model does over some texts."""

    model: str  #: `Reader.weights_digest`
    corpus: str  #: `corpus_digest` of all texts of the corpus
    total: int  #: how many these are
    given: int  #: how many of them have been gone through; fewer were read where some are too long or blank
    texts: tuple[str, ...]  #: those that were read, in order
    translations: tuple[str, ...]
    heads: Heads
    sites: Mapping[str, SiteSums]
    repeated: Mapping[str, Float[Numbers, "head"]]  #: of a decoder alone, on random tokens that come again

    def index(self, head: HeadName) -> int:
        """The place of a head among those of its site."""
        return sum(self.heads[head.site][: head.layer]) + head.head

    def names(self, site: str) -> tuple[HeadName, ...]:
        """The heads of a site, in the order of its arrays."""
        return tuple(
            HeadName(site, layer, head) for layer, count in enumerate(self.heads[site]) for head in range(count)
        )

    def values(self, site: str, metric: str) -> Float[Numbers, "text head"]:
        """A metric in each text alone; NaN where no row of the text has it."""
        sums = self.sites[site]
        of, by = parts_of(sums, site, metric)
        rows = sums.rows_with[:, cells_of(site).index(metric)] if metric in cells_of(site) else sums.rows
        return np.where((rows > 0)[:, None] & (by > _LEAST), of / np.maximum(by, _LEAST), np.nan).astype(np.float32)

    def overall(self, site: str) -> Mapping[str, Float[Numbers, "head"]]:
        """Each metric over all texts."""
        parts = {name: parts_of(self.sites[site], site, name) for name in (*cells_of(site), *OTHERS)}
        return {name: of.sum(0) / np.maximum(by.sum(0), _LEAST) for name, (of, by) in parts.items()}


def cells_of(site: str) -> tuple[str, ...]:
    """The cells that a site has."""
    return CROSS_CELLS if site == CROSS else SELF_CELLS


def parts_of(sums: SiteSums, site: str, metric: str) -> tuple[Numbers, Numbers]:
    """What a metric is the quotient of, over texts that are added up: both [text, head]."""
    match metric:
        case "rests":
            return sums.resting.sum(2), np.broadcast_to(sums.rows[:, None], sums.free.shape)
        case "distance":
            return sums.distance, sums.even_distance
        case "fill":
            return sums.fill, sums.free
        case "by distance" | "same keys":
            return (sums.by_distance if metric == "by distance" else sums.by_column), sums.squares
    cell = cells_of(site).index(metric)
    return sums.weight[..., cell], sums.weighed[..., cell]


def measure_in_stages(
    reader: Reader,
    sentences: Sequence[CorpusSentence],
    progress: Progress = no_progress,
    unfinished: Path | None = None,
    *,
    quick: Sequence[CorpusSentence] = (),
    read: Read | None = None,
) -> Iterator[Measured]:
    """Read a corpus; what is known after its first texts, and then after all. Raises a DataError if none can be read.

    `progress` and `unfinished` as of `over_corpus`; `quick`: texts that are read first instead, and then not counted;
    `read` gives the traces, by default the reader.
    """
    survey = _Survey(reader, read or reader.trace_batch)
    of_chunk = survey.of_chunk if read is not None else ByModels(_of_chunk, (reader,))
    summed = Sum(of_chunk=of_chunk, finish=lambda total: total, name=lambda: f"heads 4 {reader.key}")
    first, rest = (quick, sentences) if quick else (sentences[:FIRST], sentences[FIRST:])
    # What is read first stays until all is read: after a kill it is not read again.
    total = over_corpus(first, summed, progress, unfinished, texts_at_once=TEXTS_AT_ONCE, leaves=bool(rest))
    yield survey.finish(total, sentences, _on_random_tokens(reader, FIRST_DRAWS, progress))
    if not rest:
        return
    of_rest = over_corpus(rest, summed, progress, unfinished, texts_at_once=TEXTS_AT_ONCE)
    total = of_rest if quick else total + of_rest
    yield survey.finish(total, sentences, _on_random_tokens(reader, repeated_tokens.DRAWS, progress))
    if unfinished is not None:
        forget(first, summed, unfinished, texts_at_once=TEXTS_AT_ONCE)


def measure_heads(
    reader: Reader,
    sentences: Sequence[CorpusSentence],
    progress: Progress = no_progress,
    unfinished: Path | None = None,
    *,
    read: Read | None = None,
) -> Measured:
    """The last of `measure_in_stages`."""
    *_, whole = measure_in_stages(reader, sentences, progress, unfinished, read=read)
    return whole


def _on_random_tokens(reader: Reader, draws: int, progress: Progress) -> Mapping[str, Numbers]:
    if not repeated_tokens.can_be_asked(reader):
        return MappingProxyType({})
    found = repeated_tokens.repeated_tokens(reader, draws, progress=progress, names=repeated_tokens.OF_WEIGHTS)
    return MappingProxyType({name: _frozen(values.numpy().astype(np.float32)) for name, values in found.items()})


def resting_keys(trace: Trace, site: str) -> Bool[Tensor, "key"]:
    """The keys on which weight counts as at rest."""
    keys = trace.axis_tokens(site)[1]
    found = torch.zeros(len(keys), dtype=torch.bool)
    found[0] = site == DECODER or keys[0] in trace.special_tokens
    found[-1] |= keys[-1] in trace.special_tokens
    return found


@dataclass(frozen=True, eq=False)
class SiteRows:
    """The rows of one attention site in one text that count."""

    place: Place
    counts: Bool[Tensor, "any_row"]  #: which of all rows these are
    rest: Bool[Tensor, "key"]
    weights: Float[Tensor, "head row key"]
    #: which heads have which keys free: layers with a window see less than others
    free: tuple[tuple[slice, Bool[Tensor, "row key"]], ...]
    cells: Bool[Tensor, "cell row key"]  #: without keys at rest
    apart: Float[Tensor, "row key"]  #: how far a key is from the row, or from the diagonal, in keys; before it below 0
    kinds: Float[Tensor, "row kind"]

    @classmethod
    def of(cls, trace: Trace, site: str) -> "SiteRows":
        """The rows of a site that stand for an ordinary token and have a choice."""
        place, run, rest = Place.of(trace, site), SiteRun.of(trace, site, with_values=False), resting_keys(trace, site)
        counts = ~place.rows.are(SPECIAL)
        for _heads, mask in run.masks:
            counts &= (mask & ~rest).sum(1) >= LEAST_FREE
        weights = run.weights.float()
        sources = sources_of(weights, rest) if site == CROSS else None
        columns, rows = torch.arange(len(rest)), torch.arange(len(counts))[:, None]
        at = rows * (len(rest) - 1) / max(1, len(counts) - 1) if site == CROSS else rows
        return cls(
            place=place,
            counts=counts,
            rest=rest,
            weights=weights[:, counts],
            free=tuple((heads, (mask & ~rest)[counts]) for heads, mask in run.masks),
            cells=(place.cells(sources) & ~rest)[:, counts],
            apart=(columns - at)[counts].float(),
            kinds=torch.stack([place.rows.are(kind) for kind in KINDS], 1)[counts].float(),
        )

    def sums(self) -> dict[str, Tensor]:
        """What these rows add to `SiteSums`, but for tokens."""
        parts = [self._sums(self.weights[heads] * free, free, self.cells & free) for heads, free in self.free]
        found = {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
        has, free = self.cells.any(2).float(), self.free[0][1]
        given = self.weights.sum(2)
        places = (self.weights[..., 0] * self.rest[0], self.weights[..., -1] * self.rest[-1], (1 - given).clamp(min=0))
        return found | {
            "rows_with": has.sum(1),
            "rows": self.counts.sum().float(),
            "resting": torch.stack([place.sum(1) for place in places], 1),
            "weights": free.sum().float(),
            "distances": torch.tensor(float(len(set(self._distances[free].tolist())))),
            "columns": free.any(0).sum().float(),
            "rows_with_by": has @ self.kinds,
            "rows_by": self.kinds.sum(0),
            "texts_by": self.kinds.any(0).float(),
        }

    @property
    def _distances(self) -> Int[Tensor, "row key"]:
        return self.apart.round().long().clamp(-FARTHEST, FARTHEST) + FARTHEST

    def _sums(
        self, weight: Float[Tensor, "head row key"], free: Bool[Tensor, "row key"], cells: Bool[Tensor, "cell row key"]
    ) -> dict[str, Tensor]:
        keys, of_cells = free.sum(1), cells.float()
        even = free / keys[:, None]
        moved = weight.sum(2)
        by_row = torch.bmm(weight.transpose(0, 1), of_cells.permute(1, 2, 0)).permute(1, 2, 0)
        even_by_row = moved[:, None] * torch.einsum("rk,crk->cr", even, of_cells)
        weighed_by_row = moved[:, None] * cells.any(2)
        entropy = _entropy(weight / moved.clamp(min=_LEAST)[..., None])
        over = weight - moved[..., None] * even
        distances = one_hot(self._distances, 2 * FARTHEST + 1).float() * free[..., None]
        by_distance = (over.flatten(1) @ distances.flatten(0, 1)).square() / distances.sum((0, 1)).clamp(min=1)
        return {
            "weight": by_row.sum(2),
            "even": even_by_row.sum(2),
            "weighed": weighed_by_row.sum(2),
            "free": moved.sum(1),
            "distance": (weight * self.apart.abs()).sum((1, 2)),
            "even_distance": moved @ (even * self.apart.abs()).sum(1),
            "divergence": (moved * (keys.log() - entropy)).sum(1),
            "fill": (moved * entropy.exp() / keys).sum(1),
            "squares": over.square().sum((1, 2)),
            "by_distance": by_distance.sum(1),
            "by_column": (over.sum(1).square() / free.sum(0).clamp(min=1)).sum(1),
            "weight_by": by_row @ self.kinds,
            "even_by": even_by_row @ self.kinds,
            "weighed_by": weighed_by_row @ self.kinds,
            "free_by": moved @ self.kinds,
        }

    def of_tokens(self) -> tuple[list[str], Float[Tensor, "token look head"]]:
        """The tokens of free keys, and free weight that each gets of other rows and would get by an even look."""
        parts = []
        for heads, free in self.free:
            others = free if self.place.site == CROSS else free & (self.apart != 0)
            weight = self.weights[heads] * free
            even = weight.sum(2) @ (others / free.sum(1, keepdim=True))
            parts.append(torch.stack([(weight * others).sum(1), even]))
        names = [token.removeprefix(WORD_BEGIN).casefold() or token for token in self.place.key_tokens]
        distinct = sorted({name for name, aside in zip(names, self.rest.tolist(), strict=True) if not aside})
        numbers = {name: number for number, name in enumerate(distinct)}
        owner = torch.tensor([numbers.get(name, -1) for name in names])[~self.rest]
        found = torch.zeros(len(distinct), 2, len(self.weights))
        return distinct, found.index_add_(0, owner, torch.cat(parts, 1).permute(2, 0, 1)[~self.rest])

    def values(self, head: int, metric: str) -> Float[Tensor, "row"]:
        """A metric of one of the heads in each row; NaN where a row has no such key."""
        free = next(free for heads, free in self.free if heads.start <= head < heads.stop)
        weight = self.weights[head] * free
        moved = weight.sum(1)
        share = weight / moved.clamp(min=_LEAST)[:, None]
        match metric:
            case "rests":
                return 1 - moved
            case "distance":
                even = (free * self.apart.abs()).sum(1) / free.sum(1)
                return (share * self.apart.abs()).sum(1) / even.clamp(min=_LEAST)
            case "fill":
                return _entropy(share).exp() / free.sum(1)
        cell = self.cells[self.place.names.index(metric)] & free
        return (share * cell).sum(1).masked_fill(~cell.any(1), torch.nan)


def _entropy(share: Float[Tensor, "*row key"]) -> Float[Tensor, "*row"]:
    """In nats."""
    return -(share * share.clamp(min=1e-9).log()).sum(-1)


class _Survey:
    """Reads texts with a model and adds up what its heads do."""

    def __init__(self, reader: Reader, read: Read) -> None:
        if reader.abilities.reads != "text":
            raise DataError("This model ({name}) reads no text.", name=reader.abilities.family)
        self._reader, self._read, self._heads = reader, read, as_attending(reader).abilities.heads

    @torch.inference_mode()
    def of_chunk(self, sentences: Sequence[CorpusSentence], progress: Progress) -> Partial:
        """Read some texts."""
        traces: dict[int, tuple[str, str, dict[str, Array]]] = {}
        sums: dict[str, Any] = {"given": len(sentences)}
        for number, trace in self._traces(sentences):
            if not isinstance(trace, InputTextError):
                rows: dict[str, Array] = {}
                for site in self._heads:
                    for name, value in self._of_site(trace, site, rows).items():
                        sums[f"{site}/{name}"] = sums.get(f"{site}/{name}", 0) + value.double().numpy()
                traces[number] = (trace.text, trace.translation, rows)
            progress(1)
        texts, translations, found = (
            zip(*(traces[number] for number in sorted(traces)), strict=True) if traces else ((), (), ())
        )
        joined = {name: np.concatenate([rows[name] for rows in found]) for name in (found[0] if found else ())}
        return Partial(sums, joined | packed("texts", texts) | packed("translations", translations))

    def _traces(self, sentences: Sequence[CorpusSentence]) -> Iterator[tuple[int, Trace | InputTextError]]:
        # What a model writes itself is told by its steps.
        if CROSS in self._heads and not all(target for _text, target in sentences):
            yield from self._read(sentences)
            return
        with without_steps():
            yield from self._read(sentences)

    def _of_site(self, trace: Trace, site: str, rows: dict[str, Array]) -> dict[str, Tensor]:
        """What is added over all texts; what is kept by text goes into `rows`."""
        of_site = SiteRows.of(trace, site)
        found = of_site.sums()
        tokens, values = of_site.of_tokens()
        rows |= {f"{site}/{name}": found.pop(name)[None].numpy() for name in BY_TEXT}
        rows |= packed(f"{site}/tokens", tokens) | {f"{site}/of_tokens": values.numpy()}
        return found

    def finish(self, total: Partial, sentences: Sequence[CorpusSentence], repeated: Mapping[str, Numbers]) -> Measured:
        """What was added, by its names."""
        texts = tuple(unpacked("texts", total.rows))
        if not texts:
            raise DataError("No text could be read: there is none, or all are blank or too long for this model.")
        return Measured(
            model=self._reader.weights_digest,
            corpus=corpus_digest(sentences),
            total=len(sentences),
            given=int(total.sums["given"]),
            texts=texts,
            translations=tuple(unpacked("translations", total.rows)),
            heads=MappingProxyType({site: tuple(layers) for site, layers in self._heads.items()}),
            sites=MappingProxyType({site: _site_sums(total, site) for site in self._heads}),
            repeated=repeated,
        )


def _of_chunk(reader: Reader, sentences: Sequence[CorpusSentence], progress: Progress) -> Partial:
    return _Survey(reader, reader.trace_batch).of_chunk(sentences, progress)


def _site_sums(total: Partial, site: str) -> SiteSums:
    arrays = {name: total.rows[f"{site}/{name}"] for name in BY_TEXT}
    arrays |= {name: total.sums[f"{site}/{name}"].astype(np.float32) for name in BY_KIND}
    listed = unpacked(f"{site}/tokens", total.rows)
    numbers = {token: number for number, token in enumerate(sorted(set(listed)))}
    owner = np.array([numbers[token] for token in listed], np.int64)
    of_pairs = total.rows[f"{site}/of_tokens"]
    texts = np.bincount(owner, minlength=len(numbers))
    kept = np.flatnonzero(texts >= TEXTS_OF_TOKEN)
    of_tokens, above = (
        np.zeros((len(numbers), *of_pairs.shape[1:]), np.float32),
        np.zeros((len(numbers), of_pairs.shape[2]), np.float32),
    )
    np.add.at(of_tokens, owner, of_pairs)
    np.add.at(above, owner, (of_pairs[:, 0] > of_pairs[:, 1]).astype(np.float32))
    arrays |= {"of_tokens": of_tokens[kept], "texts_of_tokens": texts[kept].astype(np.float32), "above_in": above[kept]}
    tokens = tuple(token for token, number in numbers.items() if texts[number] >= TEXTS_OF_TOKEN)
    return SiteSums(tokens=tokens, **{name: _frozen(array) for name, array in arrays.items()})


def _frozen(array: Numbers) -> Numbers:
    array.setflags(write=False)
    return array


@torch.inference_mode()
def row_values(trace: Trace, site: str, layer: int, head: int, metric: str) -> Float[Numbers, "row"]:
    """A metric of one head in each row of a text, as in `Measured.values`; NaN where a row does not count or has none.

    `metric`: a cell, or "rests", "distance" or "fill".
    """
    rows = SiteRows.of(trace, site)
    values = np.full(len(rows.counts), np.nan, np.float32)
    number = sum(of.num_heads for of in trace.inputs[site][:layer]) + head
    values[rows.counts.numpy()] = rows.values(number, metric).numpy()
    return values

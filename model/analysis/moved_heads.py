"""How far each head of a model moved: two models with the same heads over a corpus, head by head.

Base against fine-tuned, before against after quantisation, or two checkpoints of a training. The distance of a head is
the Jensen–Shannon divergence of its rows in the one model and in the other (bits), on average over all rows of the
corpus that have several keys to choose from; its interval is by text. Both models read the same target. Where their
tokens are the same, rows are those of tokens, else those of the words that both have (`two_models`). Metrics, jobs and
log-likelihoods of both are of the same runs.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.atlas.head_distance import RatioInterval
from model.analysis.atlas.measure import Atlas, Survey, jobs_in, merged
from model.analysis.corpus import Corpus, CorpusSentence, Origin, SiteRun, corpus_digest
from model.analysis.metrics.head_jobs import HeadJob
from model.analysis.metrics.head_metrics import HeadName, all_heads, has_choice
from model.analysis.two_models import matched, matched_rows
from model.arrays_file import Array
from model.errors import DataError, InputTextError
from model.interruption import Progress, no_progress
from model.over_corpus import ByModels, Partial, Sum, over_corpus, packed, unpacked
from model.reader import Reader
from model.trace.trace import Trace

#: Texts that are read at once: their traces are in memory for both models.
READ_AT_ONCE: Final = 16
#: Texts whose own distances are kept; of a longer corpus every second, fourth, … one.
MOST_TEXTS: Final = 10_000
DECILES: Final = 10
SIDES: Final = ("first", "second")


class Interval(NamedTuple):
    """A mean and the ends of its 95 % interval by text (`RatioInterval`)."""

    value: float
    low: float
    high: float


class ChangedJob(NamedTuple):
    """A head that is for something else in the second model; None where it has no job."""

    head: HeadName
    first: HeadJob | None
    second: HeadJob | None


@dataclass(frozen=True, eq=False, kw_only=True)
class MovedHeads:
    """Two models over a corpus."""

    heads: tuple[HeadName, ...]  #: those that both have, in the order of all arrays here
    distances: Float[Array, "head"]  #: bits; NaN where no row of a head has a choice
    ends: Float[Array, "head end"]  #: of 95 % intervals by text
    atlases: tuple[Atlas, Atlas]  #: metrics of the first model and of the second over the same runs
    rows: Mapping[str, int]  #: site → rows that were compared
    by_words: int  #: texts in which the tokens differ, so that words were compared
    skipped: int  #: texts that one of the models refuses, or in which nothing can be compared
    #: mean log-likelihood of a token (nats) of the second model less that of the first; None of models that write
    #: nothing. Over the tokens of the first, where tokens differ.
    gain: Interval | None
    texts: tuple[str, ...]  #: those that are kept
    of_texts: Float[Array, "text head"]  #: each head's distance in each of these; NaN where it has none
    likelihoods: Float[Array, "text side"]  #: log-likelihood of each of these (nats); NaN where there is none
    origin: Origin | None = None  #: where the texts come from

    def ranked(self) -> list[int]:
        """The places of heads, the one that moved most first."""
        return [int(at) for at in np.argsort(-np.nan_to_num(self.distances, nan=-1.0), kind="stable")]

    def deciles(self, at: int) -> list[int]:
        """The text in the middle of each tenth of the kept texts by how far a head moved in it, the least first."""
        known = np.flatnonzero(~np.isnan(self.of_texts[:, at]))
        order = known[np.argsort(self.of_texts[known, at], kind="stable")]
        count = min(DECILES, len(order))
        return [int(order[int((tenth + 0.5) * len(order) / count)]) for tenth in range(count)]

    def changed_jobs(self) -> list[ChangedJob]:
        """Heads whose surest job is another one in the second model, the one that moved most first."""
        jobs = [{site: jobs_in(atlas, site) for site in atlas.heads} for atlas in self.atlases]
        found = []
        for head in (self.heads[at] for at in self.ranked()):
            first, second = (next(iter(of[head.site].get(head[1:], ())), None) for of in jobs)
            if (first and first.metric) != (second and second.metric):
                found.append(ChangedJob(head, first, second))
        return found


def moved_heads(
    first: Reader,
    second: Reader,
    texts: Collection[CorpusSentence],
    progress: Progress = no_progress,
    unfinished: Path | None = None,
) -> MovedHeads:
    """Read texts with both models and compare each head with itself. `progress`, `unfinished`: as of `over_corpus`.

    Raises a DataError if the models have no attention with the same heads, or no text can be compared.
    """
    sites = same_sites(first, second)
    readers = first, second
    shared = {site: first.abilities.heads[site] for site in sites}
    heads = all_heads(shared)

    def finish(total: Partial) -> MovedHeads:
        if not int(total.sums.get("compared", 0)):
            raise DataError(
                "Expected texts with words that both models read, but no word of these texts could be matched. Use "
                "other texts."
            )
        intervals = [RatioInterval(torch.as_tensor(total.sums[f"moved/{site}"])) for site in sites]
        gain = RatioInterval(torch.as_tensor(total.sums["gain"]))
        origin = texts.origin if isinstance(texts, Corpus) else None
        first_atlas, second_atlas = (
            Survey(reader, sites, reader.trace_batch).atlas(_side(total, side), reader, corpus_digest(texts), origin)
            for side, reader in zip(SIDES, readers, strict=True)
        )
        return MovedHeads(
            heads=heads,
            distances=torch.cat([interval.mean() for interval in intervals]).numpy(),
            ends=torch.cat([interval.ends() for interval in intervals]).numpy(),
            atlases=(first_atlas, second_atlas),
            rows={site: interval.rows for site, interval in zip(sites, intervals, strict=True)},
            by_words=int(total.sums["by words"]),
            skipped=int(total.sums["given"]) - int(total.sums["compared"]),
            gain=Interval(float(gain.mean()), *gain.ends()[0].tolist()) if gain.rows else None,
            texts=tuple(unpacked("kept", total.rows)),
            of_texts=total.rows["of texts"],
            likelihoods=total.rows["likelihoods"],
            origin=origin,
        )

    def name() -> str:
        return " ".join(["moved heads 1", *(f"{reader.weights_digest} {reader.key}" for reader in readers), *sites])

    of_chunk = ByModels(_of_chunk, readers)
    return over_corpus(texts, Sum(of_chunk=of_chunk, merge=_merged, finish=finish, name=name), progress, unfinished)


def same_sites(first: Reader, second: Reader) -> tuple[str, ...]:
    """The attentions of which both models have the same heads. Raises a DataError if there are none."""
    ours, theirs = first.abilities.heads, second.abilities.heads
    sites = tuple(site for site in ours if tuple(theirs.get(site, ())) == tuple(ours[site]))
    if not sites or {first.abilities.reads, second.abilities.reads} != {"text"}:
        message = (
            "Expected two models that read text and have the same heads, such as one before and after fine-tuning; got "
            "{first} and {second}."
        )
        raise DataError(message, first=first.abilities.family, second=second.abilities.family)
    return sites


def row_divergences(
    first: Float[Tensor, "head row key"], second: Float[Tensor, "head row key"]
) -> Float[Tensor, "head row"]:
    """JS(α_i, β_i) = H((α_i + β_i)/2) − (H(α_i) + H(β_i))/2 of each row of each head in two models, in bits."""
    first, second = first.double(), second.double()
    own, theirs, middle = (torch.special.entr(of).sum(-1) for of in (first, second, (first + second) / 2))
    divergences: Tensor = (middle - (own + theirs) / 2) / math.log(2)
    return divergences.clamp_min(0.0)


@torch.inference_mode()
def _of_chunk(first: Reader, second: Reader, sentences: Sequence[CorpusSentence], progress: Progress) -> Partial:
    """Read some texts; the sums and rows of both `Survey`s have the name of their side before theirs."""
    sites = same_sites(first, second)
    total: Partial | None = None
    for begin in range(0, len(sentences), READ_AT_ONCE):
        some = sentences[begin : begin + READ_AT_ONCE]
        read = dict(_read_both(first, second, some))
        added = _compared(first, read, sites, len(some))
        for number, (side, reader) in enumerate(zip(SIDES, (first, second), strict=True)):
            of_side = Survey(reader, sites, partial(_of_side, read, number)).of_chunk(some, no_progress)
            added = Partial(
                {**added.sums, **{f"{side}/{name}": value for name, value in of_side.sums.items()}},
                {**added.rows, **{f"{side}/{name}": value for name, value in of_side.rows.items()}},
            )
        total = added if total is None else _merged(total, added)
        progress(len(some))
    assert total is not None, "a chunk has texts"
    return total


def _of_side(
    read: Mapping[int, tuple[Trace, Trace]], side: int, _texts: Sequence[CorpusSentence]
) -> Iterator[tuple[int, Trace]]:
    """What a `Survey` asks for, of texts that were read."""
    return ((number, traces[side]) for number, traces in read.items())


def _read_both(
    first: Reader, second: Reader, sentences: Sequence[CorpusSentence]
) -> Iterator[tuple[int, tuple[Trace, Trace]]]:
    """The texts that both models read; two decoders behind encoders read what is given, or what the first one wrote."""
    ours = {number: trace for number, trace in first.trace_batch(sentences) if isinstance(trace, Trace)}
    has_both = all("decoder.cross" in reader.abilities.heads for reader in (first, second))
    asked = [
        (sentences[number].text, trace.translation if has_both and trace.translation.strip() else None)
        for number, trace in ours.items()
    ]
    theirs = dict(second.trace_batch(asked))
    for at, (number, own) in enumerate(ours.items()):
        other = theirs.get(at)
        if not isinstance(other, Trace):
            continue
        if asked[at][1] is not None and own.target_ids != other.target_ids:
            # What it wrote need not be the tokens into which its text is split.
            with suppress(InputTextError):
                own = first.trace(*asked[at])
        yield number, (own, other)


def _compared(first: Reader, read: Mapping[int, tuple[Trace, Trace]], sites: Sequence[str], given: int) -> Partial:
    """Distances and likelihoods of some texts that were read by both."""
    counts = {site: sum(first.abilities.heads[site]) for site in sites}
    sums: dict[str, Any] = {"given": given, "compared": 0, "by words": 0}
    sums |= {f"moved/{site}": RatioInterval.empty(count).moments for site, count in counts.items()}
    sums["gain"] = RatioInterval.empty(1).moments
    kept: list[int] = []
    of_texts, likelihoods = [], []
    for number, traces in read.items():
        ours, theirs = traces
        is_same = (ours.source_tokens, ours.target_tokens) == (theirs.source_tokens, theirs.target_tokens)
        of_text = []
        for site, count in counts.items():
            moved = _rows_of_tokens(traces, site) if is_same else _rows_of_words(traces, site)
            rows = moved.size(1)
            if rows:
                RatioInterval(sums[f"moved/{site}"]).add(moved.sum(1), rows)
            of_text.append(moved.mean(1) if rows else torch.full((count,), math.nan, dtype=torch.float64))
        if all(bool(of.isnan().all()) for of in of_text):
            continue
        scored = [likelihood(trace) for trace in traces]
        if scored[0][1] and scored[1][1]:
            RatioInterval(sums["gain"]).add(torch.tensor([scored[1][0] - scored[0][0]]), scored[0][1])
        sums["compared"] += 1
        sums["by words"] += not is_same
        kept.append(number)
        of_texts.append(torch.cat(of_text).float().numpy())
        likelihoods.append([value if tokens else math.nan for value, tokens in scored])
    rows_of: dict[str, Array] = {
        "of texts": np.array(of_texts, np.float32).reshape(len(kept), sum(counts.values())),
        "likelihoods": np.array(likelihoods, np.float64).reshape(len(kept), len(SIDES)),
        "numbers": np.array(kept, np.int64),
    }
    return Partial(sums, rows_of | packed("kept", (read[number][0].text for number in kept)))


def _rows_of_tokens(traces: tuple[Trace, Trace], site: str) -> Float[Tensor, "head row"]:
    runs = [SiteRun.of(trace, site, with_values=False) for trace in traces]
    chosen = torch.stack([has_choice(mask) for run in runs for _, mask in run.masks]).any(0)
    first, second = (run.weights[:, chosen] for run in runs)
    return row_divergences(first, second)


def _rows_of_words(traces: tuple[Trace, Trace], site: str) -> Float[Tensor, "head row"]:
    queries, keys = matched(*traces, (site, site))
    first, second = (matched_rows(trace, site, queries[at], keys[at]) for at, trace in enumerate(traces))
    return row_divergences(first, second) if keys.first else first.new_zeros(len(first), 0).double()


def likelihood(trace: Trace) -> tuple[float, int]:
    """The log-likelihood of a target, or of what a decoder alone read after its first token, and of how many tokens."""
    # A decoder alone reads: its last step is what it would write next.
    steps = trace.steps if trace.source_tokens else trace.steps[:-1]
    return sum(step.log_prob for step in steps), len(steps)


def _side(whole: Partial, side: str) -> Partial:
    """What a `Survey` of this side gave."""
    begin = f"{side}/"
    sums, rows = (
        {name.removeprefix(begin): value for name, value in of.items() if name.startswith(begin)}
        for of in (whole.sums, whole.rows)
    )
    return Partial(sums, rows)


def _merged(first: Partial, second: Partial) -> Partial:
    """Two parts of a corpus; of many texts, evenly spread ones keep their own distances."""
    both, offset = first + second, int(first.sums["given"])
    rows = {**both.rows, "numbers": np.concatenate([first.rows["numbers"], second.rows["numbers"] + offset])}
    given = int(both.sums["given"])
    step = 1 << max(0, math.ceil(math.log2(given / MOST_TEXTS)))
    if step > 1:
        keeps = np.flatnonzero(rows["numbers"] % step == 0)
        texts = unpacked("kept", rows)
        rows |= {name: rows[name][keeps] for name in ("of texts", "likelihoods", "numbers")}
        rows |= packed("kept", [texts[at] for at in keeps])
    sums = dict(both.sums)
    for side in SIDES:
        of_side = merged(_side(first, side), _side(second, side))
        sums |= {f"{side}/{name}": value for name, value in of_side.sums.items()}
        rows |= {f"{side}/{name}": value for name, value in of_side.rows.items()}
    return Partial(sums, rows)

"""Read a corpus with a model of any kind, a sentence after the other, from its traces."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import MappingProxyType

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis.corpus import (
    MOST_SENTENCES,
    CorpusReading,
    CorpusSentence,
    HeadsOfSite,
    Progress,
    SentenceRun,
    read_corpus,
)
from model.errors import DataError, InputTextError
from model.messages import said
from model.reader import Reader
from model.trace.trace import Trace
from model.translator import Translator


@dataclass(frozen=True, eq=False)
class TracedSite:
    """The heads of all layers of one site of a trace, as `HeadsOfSite` says."""

    held: Float[Tensor, "layer_and_head row key"]
    value: Float[Tensor, "layer_and_head key d_v"] | None
    masks: tuple[tuple[slice, Bool[Tensor, "row key"]], ...]

    @classmethod
    def of(cls, trace: Trace, site: str, *, with_values: bool) -> "TracedSite":
        """The site of a trace; values only where the model tells them."""
        layers = trace.inputs[site]
        masks: list[tuple[slice, Tensor]] = []
        first = 0
        for layer in layers:
            mask, last = layer.mask.rows()[0], first + layer.num_heads
            if masks and torch.equal(masks[-1][1], mask):
                masks[-1] = (slice(masks[-1][0].start, last), mask)
            else:
                masks.append((slice(first, last), mask))
            first = last
        value = torch.cat([layer.values().float() for layer in layers]) if with_values else None
        return cls(torch.cat([layer.weights() for layer in layers]), value, tuple(masks))

    def weights(self) -> Float[Tensor, "layer_and_head row key"]:
        """Attention weights."""
        return self.held


def read_sentences(
    reader: Reader, sentences: Iterable[CorpusSentence], progress: Progress = lambda done: None
) -> CorpusReading:
    """`read_corpus` for a model of any kind that reads text.

    An encoder–decoder reads a translation that is given, or else its own; other models read the sentences alone.
    """
    if isinstance(reader, Translator):
        return read_corpus(reader, sentences, progress)
    skipped: Counter[str] = Counter()
    return CorpusReading(_runs(reader, sentences, skipped, progress), skipped)


def _runs(
    reader: Reader, sentences: Iterable[CorpusSentence], skipped: Counter[str], progress: Progress
) -> Iterator[SentenceRun]:
    number = 0
    has_both = "decoder.cross" in reader.abilities.heads
    for sentence in sentences:
        if number + sum(skipped.values()) == MOST_SENTENCES:
            raise DataError(
                "At most {most_sentences:,} sentences can be read at once; take a part of them.",
                most_sentences=MOST_SENTENCES,
            )
        try:
            trace = reader.trace(sentence.text, sentence.target if has_both else None)
        except InputTextError:
            skipped[said("too long or blank for this model")] += 1
        else:
            yield _run(reader, trace, number)
            number += 1
        progress(1)
    if not number:
        raise DataError("No sentence could be read: all are too long or blank for this model, or there is none.")


def _run(reader: Reader, trace: Trace, number: int) -> SentenceRun:
    with_values = "norms" not in reader.abilities.lacks
    sites: dict[str, HeadsOfSite] = {
        site: TracedSite.of(trace, site, with_values=with_values) for site in reader.abilities.heads
    }
    last = (trace.source_tokens or trace.target_tokens)[-1]
    return SentenceRun(
        number=number,
        text=trace.text,
        translation=trace.translation,
        source_ids=tuple(trace.source_ids),
        target_ids=tuple(trace.target_ids),
        source_tokens=tuple(trace.source_tokens),
        target_tokens=tuple(trace.target_tokens),
        end_token=last if last in trace.special_tokens else "",
        sites=MappingProxyType(sites),
    )

"""What the tab Why asks the model: why a head looks where it looks, and QK and OV, computed once for all viewers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from jaxtyping import Float

from model import later
from model.errors import TraceError
from model.interruption import no_progress
from viz.access import attention, models
from viz.server.background_jobs import Progress, Task
from viz.server.caches import BoundedCache, cached
from viz.text.messages import said

if TYPE_CHECKING:
    from model import Trace
    from model.abilities import Abilities
    from model.analysis.head_circuits import HeadCircuits, TokenPair
    from model.analysis.reasons.held_run import Part
    from model.analysis.reasons.pairs import Pairs
    from model.analysis.reasons.score import Question, Reason
    from model.analysis.reasons.trail import Trail
    from model.analysis.reasons.without import Asked as Test
    from model.analysis.reasons.without import Measured, Outcome, Product
    from model.errors import Message
    from model.parts.weights import Stack
    from model.reader import Reader


class OpenHead(NamedTuple):
    """A head, from 0, and how many tokens before its query each key stands, where that counts."""

    site: str
    layer: int
    head: int
    distance: int


#: A head's are four matrices as long as the vocabulary.
MAX_HEADS: Final = 2
_CIRCUITS: "Final[BoundedCache[tuple[str, OpenHead], HeadCircuits]]" = BoundedCache(MAX_HEADS)


def largest_distance(abilities: "Abilities", site: str) -> int:
    """How far a key may stand before its query; 0 where scores by tokens alone have no distance."""
    return later.head_circuits.largest_distance(abilities, site)


def circuits(reader: "Reader", head: OpenHead) -> Task["HeadCircuits"]:
    """QK and OV of a head."""
    site, layer, number, distance = head

    def compute(progress: Progress) -> "HeadCircuits":
        of_head = partial(later.head_circuits.head_circuits, reader, site, layer, number, distance=distance)
        found = _CIRCUITS.get_or_make((reader.key, head), lambda: of_head(progress=progress), lambda found: 0)
        progress.reached(progress.total, progress.total)
        return found

    return Task(("circuits", reader.key, head), len(models.vocabulary(reader)), said("tokens"), compute)


def best_pairs(reader: "Reader", head: OpenHead, circuits: "HeadCircuits", count: int) -> Task[list["TokenPair"]]:
    """The pairs of tokens of the vocabulary that a head links most strongly."""
    compute = partial(circuits.best_pairs, count)
    return Task(("best pairs", reader.key, head, count), len(circuits.queries), said("tokens"), compute)


def copying(reader: "Reader", site: str) -> Task[Float[np.ndarray, "layer head"]]:
    """The copying score of every head of an attention."""

    def compute(progress: Progress) -> Float[np.ndarray, "layer head"]:
        return later.head_circuits.copying_scores(reader, site, progress).numpy()

    return Task(("copying", reader.key, site), len(reader.abilities.heads[site]), said("layers"), compute)


MAX_REASONS: Final = 32
#: Scores of longer texts are not split.
MOST_TOKENS: Final = attention.SHORT
#: Of a step, or of a test: those of the way to it, and at the end what is tested there.
Codes = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as a person has chosen it."""

    #: site, layer, head, row, key: the cell that is asked about, from 0; without a key, that with most weight.
    site: str
    layer: int
    head: int
    row: int
    key: int | None
    rival: int | None  #: None for the default rival
    twin: str  #: the text of the twin; "" for none


@cached(max_entries=MAX_REASONS)
def twin_trace(reader: "Reader", trace: "Trace", text: str) -> "Trace":
    """The twin, over the same target."""
    return later.reasons_twins.trace_twin(reader, trace, text)


def is_read_by(twin: "Trace", trace: "Trace", row: int) -> bool:
    """Whether a row of a decoder alone has read what its twin differs in."""
    return twin.target_ids[: row + 1] != trace.target_ids[: row + 1]


def check_length(trace: "Trace") -> None:
    """Raise a TraceError if each run of the model and each step would take seconds."""
    if max(len(trace.source.spans()), len(trace.target_tokens)) > MOST_TOKENS:
        raise TraceError("Scores can be split only for texts of at most {most:,} tokens.", most=MOST_TOKENS)


def positions(trace: "Trace") -> range:
    """Where a key may be."""
    return range(max(len(trace.source_tokens), len(trace.target_tokens)))


@cached(max_entries=MAX_REASONS)
def reason(reader: "Reader", trace: "Trace", asked: Asked) -> "Reason":
    """The answer to a question. Raises a TraceError, in one sentence, where a score cannot be split."""
    twin = twin_trace(reader, trace, asked.twin) if asked.twin else None
    weights = trace.weights(asked.site, asked.layer, [asked.head], [asked.row])[0, 0]
    key = asked.key if asked.key is not None and asked.key < len(weights) else int(weights.argmax())
    question = later.reasons_score.Question(
        site=asked.site, layer=asked.layer, head=asked.head, row=asked.row, key=key, rival=asked.rival or 0
    )
    if asked.rival is None or asked.rival == key or asked.rival >= len(weights):
        question = replace(question, rival=later.reasons_score.default_rival(question, trace, twin))
    return later.reasons_score.explain(reader.parts, trace, question, twin)


@cached(max_entries=MAX_REASONS)
def trail(reader: "Reader", trace: "Trace", asked: Asked, codes: tuple[str, ...]) -> "Trail":
    """The answers along a trail, as far as it can be answered."""
    return later.reasons_trail.follow_trail(reason(reader, trace, asked), codes)


@cached(max_entries=MAX_REASONS)
def ahead(reader: "Reader", trace: "Trace", asked: Asked, codes: tuple[str, ...]) -> "Trail":
    """The same trail, continued by what gives most."""
    return later.reasons_trail.leading(reason(reader, trace, asked), codes)


@cached(max_entries=MAX_REASONS)
def telling_cell(reader: "Reader", trace: "Trace", twin: str) -> "Question | None":
    """The cell of a trace that is most worth asking about, with a twin or without ("")."""
    return later.reasons_cell.telling_cell(trace, twin_trace(reader, trace, twin) if twin else None)


def largest_of_words(trace: "Trace", site: str, layer: int, head: int, row: int, key: int) -> tuple[int, int]:
    """Of the words that begin with a row and with a key, the row and the key with the largest weight."""
    queries, keys = trace.axes(site, whole_words=True)
    looking, looked_at = (
        next((list(group) for group in axis.groups if group[0] == first), [first])
        for axis, first in ((queries, row), (keys, key))
    )
    weights = trace.weights(site, layer, [head], looking)[0][:, looked_at]
    at_row, at_key = divmod(int(weights.argmax()), len(looked_at))
    return looking[at_row], looked_at[at_key]


@cached(max_entries=MAX_REASONS)
def pairs(reader: "Reader", trace: "Trace", asked: Asked) -> "Pairs":
    """The answer to a question as a table: a part at the query × a part at the keys."""
    return later.reasons_pairs.pairs(reason(reader, trace, asked))


class Tested(NamedTuple):
    """What a test gave, and what the model gives without it."""

    intact: "Measured"
    outcome: "Outcome"
    of_twin: bool  #: whether of the twin's run


def products(
    reader: "Reader",
    trace: "Trace",
    asked: Asked,
    tests: Sequence[Codes],
    progress: Callable[[int], None] = no_progress,
) -> "Mapping[Codes, Product | Message]":
    """What each of these tests leaves by one product, or why it cannot be tested."""
    found: dict[Codes, Product | Message] = {}
    whole, ordered = reason(reader, trace, asked), sorted(tests)

    def each() -> "Iterator[Test]":
        for before, group in groupby(ordered, key=lambda codes: codes[:-1]):
            to = later.reasons_trail.follow_trail(whole, before)
            yield from (later.reasons_trail.asked_at(to, codes[-1]) for codes in group)

    for codes, product in zip(ordered, later.reasons_without.products(whole, each()), strict=True):
        found[codes] = product
        progress(1)
    return found


def finding_products(
    reader: "Reader", trace: "Trace", asked: Asked, tests: Sequence[Codes]
) -> Task["Mapping[Codes, Product | Message]"]:
    """The same, on a page."""
    key = ("products", reader.key, trace.key, asked, tuple(tests))
    return Task(key, len(tests), said("parts and words"), partial(products, reader, trace, asked, tests))


def test(reader: "Reader", trace: "Trace", asked: Asked, codes: Codes) -> Task[Tested]:
    """A test by a run: what a code of a step names is exchanged, and all above it runs again."""

    def compute(progress: Progress) -> Tested:
        whole = reason(reader, trace, asked)
        to = later.reasons_trail.follow_trail(whole, codes[:-1])
        if to.refused is not None:
            raise TraceError(to.refused)
        one, chooser = later.reasons_trail.asked_at(to, codes[-1]), later.opening.as_chooser(reader)
        as_it_is = _intact(reader, trace, asked, one.of_twin)
        progress(1)
        (outcome,) = later.reasons_without.outcomes(chooser, whole, [one], word_row(reader, trace, asked))
        progress(1)
        return Tested(as_it_is, outcome, one.of_twin)

    return Task(("test", reader.key, trace.key, asked, codes), 2, said("runs"), compute)


@cached(max_entries=MAX_REASONS)
def _intact(reader: "Reader", trace: "Trace", asked: Asked, of_twin: bool) -> "Measured":
    whole, chooser = reason(reader, trace, asked), later.opening.as_chooser(reader)
    return later.reasons_without.as_it_is(chooser, whole, word_row(reader, trace, asked), of_twin=of_twin)


def word_row(reader: "Reader", trace: "Trace", asked: Asked) -> int | None:
    """Whose word is weighed in a question of the encoder of an encoder–decoder: the first that the twin changes."""
    if asked.site != "encoder.self" or not trace.target_ids or not asked.twin:
        return None
    both = zip(trace.predicted_ids, twin_trace(reader, trace, asked.twin).predicted_ids, strict=False)
    return next((row for row, (own, other) in enumerate(both) if own != other), None)


def most_read(trace: "Trace", question: "Question", weights: Sequence[float], count: int) -> list[int]:
    """The keys with most weight, of a sound one of each span, and the rival, in the order of the text."""
    spans = later.reasons_score.spans_of(trace, later.reasons_score.stacks_of(question.site)[1])
    of_spans = [max(span, key=lambda at: weights[at]) for span in spans if span.start < len(weights)]
    return sorted({*sorted(of_spans, key=lambda at: -weights[at])[:count], question.rival})


def is_cancelling(factor: float) -> bool:
    """Whether parts cancel so much that shares of their sum say nothing."""
    return factor > later.reasons_score.CANCELLING


def partners(here: "Trace", there: "Trace") -> "Mapping[Stack, tuple[int, ...]]":
    """Stack → for each position of a text that of its twin, −1 for none."""
    return later.reasons_score.align(here, there)


def unlike(here: "Trace", there: "Trace") -> "Mapping[Stack, tuple[int, ...]]":
    """Stack → the positions of a text that read another token than the twin's, or have no partner there."""
    return later.reasons_score.unlike(here, there)


def code_of_words(stack: "Stack", words: range) -> str:
    """The code by which a trail names the positions of words."""
    return later.reasons_trail.code_of_words(stack, words)


def code_of(part: "Part") -> str:
    """The code by which a trail names a part."""
    return later.reasons_trail.code_of(part)

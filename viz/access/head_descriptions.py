"""What each head of a model does, said from a corpus of ours or a person's: measured once, kept by both contents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from model import later
from model.errors import InputTextError
from viz.access import models
from viz.access.elsewhere import computed_elsewhere, places_of
from viz.access.findings import HeadJobs
from viz.selection.choices import ModelChoice
from viz.server import limits
from viz.server.background_jobs import Progress, Task
from viz.server.caches import BoundedCache
from viz.text.messages import said
from viz.text.written import CROSS, DECODER, ENCODER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model import Reader
    from model.analysis.corpus import CorpusSentence
    from model.analysis.head_description.describe import HeadDescription
    from model.analysis.head_description.measure import Measured, SiteSums
    from model.analysis.head_description.writing import Cost, Promoted
    from model.analysis.metrics.head_metrics import HeadName

#: Models of which descriptions stay in memory.
MAX_MODELS: Final = 8
#: Texts of a file that are read; of a longer one, so many are drawn.
MOST_TEXTS: Final = 500
#: The folder of the cache in which what was measured is kept.
FOLDER: Final = "heads"
#: The same of what it costs to switch heads off.
COSTS: Final = "heads-off"
#: Metrics that each text has, beside the shares of cells.
BY_TEXT: Final = ("rests", "distance", "fill")
#: Shares that are shown: of kinds of tokens, and of places; those that a site has.
KINDS: Final = (
    "content words", "names", "persons", "punctuation", "articles", "prepositions", "pronouns", "auxiliaries",
    "conjunctions", "particles", "numbers",
)  # fmt: skip
PLACES: Final = (
    "self", "back1", "back2", "ahead1", "ahead2", "far", "same", "after same", "word", "source written",
    "source read", "source next", "diagonal", "second half", "copied", "copied before",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Described:
    """What each head does, from the texts that are read so far."""

    heads: "Mapping[HeadName, HeadDescription]"
    measured: "Measured"
    #: site → each metric over all texts, as of `Measured.overall`.
    overall: "Mapping[str, Mapping[str, Float[np.ndarray, 'head']]]"
    #: site → the share of its free weight that a head gives to each cell; and that of an even look.
    shares: "Mapping[str, Float[np.ndarray, '2 head cell']]"
    language: str  #: the code of our corpus; "" for a person's texts
    file: str  #: the file of these
    is_whole: bool  #: whether all its texts are read


@dataclass
class Known:
    """What is known of the heads of a model by now."""

    described: Described | None = None  #: from the texts that are read so far; None before the first
    why_none: str = ""  #: why none of our corpora suits the model, as a sentence

    @property
    def is_whole(self) -> bool:
        """Whether there is nothing left to measure."""
        return bool(self.why_none) or (self.described is not None and self.described.is_whole)

    def of(self, site: str, layer: int, head: int) -> "tuple[Described | None, HeadDescription | None]":
        """What is known of all heads, and of this one; None where nothing is yet, or the model has no such head."""
        described, name = self.described, later.head_metrics.HeadName(site, layer, head)
        return described, None if described is None else described.heads.get(name)


def with_job(found: "HeadDescription", measured: HeadJobs | None) -> "HeadDescription":
    """A description that begins with what an atlas has measured the head to do, where no rule here says that."""
    _site, layer, head = found.head
    jobs = () if measured is None else measured.of_heads.get((layer, head), ())
    own = next((job for job in jobs if job.metric in later.head_describing.OWN_JOBS), None)
    return found if own is None else replace(found, job=own)


@dataclass(frozen=True)
class OwnTexts:
    """Texts that a person gives."""

    file: str
    sentences: "tuple[CorpusSentence, ...]"
    digest: str  #: names exactly these

    @classmethod
    def of(cls, file: str, sentences: "Sequence[CorpusSentence]") -> "OwnTexts":
        """Those of a file, or `MOST_TEXTS` of them."""
        corpus = later.corpus
        drawn = corpus.sampled(len(sentences), min(len(sentences), MOST_TEXTS), 0)
        some = tuple(sentences[number] for number in sorted(drawn))
        return cls(file, some, corpus.corpus_digest(some))


def known(reader: "Reader", own: OwnTexts | None = None) -> Known:
    """What is known of the heads of a model from a person's texts, or from ours; `describing` writes into it."""
    return _all_known().get_or_make((reader.key, own.digest if own else ""), Known, size_of=lambda known: 0)


def describing(choice: ModelChoice, own: OwnTexts | None = None) -> Task[None]:
    """Reads a person's texts, or ours that suit a model, a part of them first; `known` has what was found so far.

    Nobody need ask for it, but on a shared server. It reads nothing where an earlier run has kept the result, and reads
    on the server's cluster if there is one.
    """
    reader, places = models.reader(choice), places_of(choice)
    found, folder = known(reader, own), limits.cache_folder(FOLDER)

    def compute(progress: Progress) -> None:
        if own is None:
            corpus = later.head_corpora.corpus_for(reader)
            found.why_none = corpus.why
            if not corpus.language:
                return
            language, texts, quick = corpus.language, corpus.sentences, corpus.quick
        else:
            language, texts, quick = "", own.sentences, ()
        progress.reached(0, len(quick) + len(texts))
        stages = (
            later.head_measuring.measure_in_stages(reader, texts, progress, quick=quick)
            if folder is None
            else later.head_files.cached_in_stages(reader, texts, folder, progress, quick=quick)
        )
        with computed_elsewhere(places):
            _take(found, stages, language, own.file if own else "")

    text = said("Reading texts to describe each head: {done:,} of {total:,} {unit}")
    unasked = limits.rules().measures_unasked
    key = ("head descriptions", reader.key, own.digest if own else "")
    return Task(key, 0, said("texts"), compute, text, is_unasked=unasked)


def _take(found: Known, stages: "Iterable[Measured]", language: str, file: str) -> None:
    """What is measured, as it comes, into what is known."""
    for measured in stages:
        heads = later.head_describing.describe_heads(measured)
        overall = {site: measured.overall(site) for site in measured.sites}
        shares = {site: _shares(sums) for site, sums in measured.sites.items()}
        is_whole = measured.given == measured.total
        found.described = Described(heads, measured, overall, shares, language, file, is_whole)


@st.cache_resource(show_spinner=False)
def _all_known() -> BoundedCache[tuple[str, str], Known]:
    return BoundedCache(MAX_MODELS)


@dataclass(frozen=True, slots=True)
class Share:
    """How much of its free weight a head gives to a cell."""

    cell: str
    value: float
    layer: float  #: the mean of its layer
    even: float  #: that of an even look


def shares(described: Described, head: "HeadName", cells: Sequence[str]) -> list[Share]:
    """The free weight that a head gives to those of some cells that its site has; kinds of tokens may overlap."""
    measured, (part, even) = described.measured, described.shares[head.site]
    of_site, at = later.head_measuring.cells_of(head.site), measured.index(head)
    layer = part[at - head.head :][: measured.heads[head.site][head.layer]].mean(0)
    numbers = {cell: of_site.index(cell) for cell in cells if cell in of_site}
    return [Share(cell, *(float(of[number]) for of in (part[at], layer, even[at]))) for cell, number in numbers.items()]


def _shares(sums: "SiteSums") -> Float[np.ndarray, "2 head cell"]:
    free = np.maximum(sums.free.sum(0), 1e-6)[:, None]
    return np.stack([sums.weight.sum(0) / free, sums.even.sum(0) / free])


@dataclass(frozen=True, eq=False)
class Strength:
    """How much a head does in each text of what is said of it."""

    metric: str  #: of `Measured.values`; "rests" where it is rather how little is at rest
    values: Float[np.ndarray, "text"]  #: NaN where a text has no such row
    order: tuple[int, ...]  #: the texts that have one, from the weakest to the strongest

    @property
    def is_awake(self) -> bool:
        """Whether it is the weight that is not at rest."""
        return self.metric == "rests"


def strength(described: Described, head: "HeadName") -> Strength:
    """By what is said of the head; where nothing is, or no text has it alone, by how much is not at rest."""
    measured, description = described.measured, described.heads[head]
    own = None if description.main is None else description.main.metric
    metric = own if own in (*BY_TEXT, *later.head_measuring.cells_of(head.site)) else "rests"
    values = measured.values(head.site, metric)[:, measured.index(head)]
    values = 1 - values if metric == "rests" else values
    known = np.flatnonzero(~np.isnan(values))
    return Strength(metric, values, tuple(known[np.argsort(values[known], kind="stable")].tolist()))


def containing(described: Described, site: str, wanted: str) -> list[int]:
    """The texts that contain something, in capitals or not, or with * and ? a word of that pattern."""
    measured, wanted = described.measured, wanted.strip().casefold()
    texts = measured.translations if site == DECODER and any(measured.translations) else measured.texts
    return [number for number, text in enumerate(texts) if wanted and _is_in(text.casefold(), wanted)]


def _is_in(text: str, wanted: str) -> bool:
    if not {"*", "?"} & set(wanted):
        return wanted in text
    return any(fnmatchcase(word.strip(".,;:!?\"'()“”„«»。，！？"), wanted) for word in text.split())


@dataclass(frozen=True, eq=False)
class ExampleRow:
    """The row of a text that shows best what a head does there."""

    text: str
    row: int
    row_name: str  #: what the row is called
    is_key: bool  #: whether its token is one of those that it looks at
    tokens: tuple[str, ...]  #: what it looks at
    weights: Float[np.ndarray, "key"]
    resting: tuple[int, ...]  #: the tokens on which weight counts as at rest


def example_rows(
    reader: "Reader", described: Described, head: "HeadName", strength: Strength, numbers: Sequence[int]
) -> Task[tuple[ExampleRow | None, ...]]:
    """Reads some texts of the corpus again. Of each the row nearest to its mean; or the one that is most awake; None
    where a translation cannot be read again, or has no such row.
    """

    def compute(progress: Progress) -> tuple[ExampleRow | None, ...]:
        found = []
        for number in numbers:
            found.append(_example(reader, described, head, strength, number))
            progress(1)
        return tuple(found)

    key = ("head examples", reader.key, *_corpus(described.measured), head, strength.metric, tuple(numbers))
    return Task(key, len(numbers), said("texts"), compute)


def _example(
    reader: "Reader", described: Described, head: "HeadName", strength: Strength, number: int
) -> ExampleRow | None:
    text, translation = described.measured.texts[number], described.measured.translations[number]
    # An encoder reads what it reads whatever the decoder is given; what a decoder wrote may be no text.
    target = text if head.site == ENCODER else translation
    try:
        trace = reader.trace(text, target) if CROSS in reader.abilities.heads else reader.trace(text)
    except InputTextError:
        return None
    values = later.head_measuring.row_values(trace, head.site, head.layer, head.head, strength.metric)
    if np.isnan(values).all():
        return None
    row = int(np.nanargmin(values if strength.is_awake else np.abs(values - strength.values[number])))
    weights = trace.weights(head.site, head.layer, [head.head], [row])[0, 0].numpy()
    resting = np.flatnonzero(later.head_measuring.resting_keys(trace, head.site).numpy())
    return ExampleRow(
        text, row, trace.row_tokens(head.site)[row], head.site != CROSS, trace.axis_tokens(head.site)[1], weights,
        tuple(resting.tolist()),
    )  # fmt: skip


def promoting(reader: "Reader", described: Described, head: "HeadName") -> "Task[tuple[Promoted, ...]]":
    """Reads off the weights of a head what it promotes on the tokens that it looks at."""
    measured, vocabulary = described.measured, len(models.vocabulary(reader))

    def compute(progress: Progress) -> "tuple[Promoted, ...]":
        return later.head_writing.promoted(reader, measured, head, progress)

    return Task(("promoted", reader.key, *_corpus(measured), head), vocabulary, said("tokens"), compute)


def costing(reader: "Reader", described: Described, head: "HeadName") -> "Task[Cost]":
    """Reads the corpus with a head and without it, unless an earlier run has kept the result."""
    measured, folder = described.measured, limits.cache_folder(COSTS)

    def compute(progress: Progress) -> "Cost":
        return later.head_writing.cost(reader, measured, head, progress, folder)

    text = said("{done:,} of {total:,} {unit}, about {left:.0f} s left")
    return Task(("without", reader.key, *_corpus(measured), head), len(measured.texts), said("texts"), compute, text)


def _corpus(measured: "Measured") -> tuple[str, int]:
    return measured.corpus, measured.given

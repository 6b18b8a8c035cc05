"""Atlases of heads: what is to be read, and the atlas of it from the checkpoint, a cache, or measured now.

An atlas is named by the digests of the model and of what it read, so one of something else is never shown.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import streamlit as st
from jaxtyping import Float, Int

from model import Reader
from model.analysis import report
from model.analysis.atlas.file import cache_path, cached_atlas, load_atlas
from model.analysis.atlas.measure import Atlas, build_atlas, reading_digest
from model.analysis.atlas.measure import jobs_in as jobs_in
from model.analysis.coreference.case_files import cases_for
from model.analysis.corpus import OWN_CORPUS, CorpusSentence, Origin, read_text
from model.analysis.metrics.alignment import AlignedPair
from model.analysis.metrics.head_jobs import RULES, Metrics, jobs_of_heads, rules_at
from model.analysis.metrics.head_metrics import ROW_METRICS
from model.errors import DataError, HeadlightError
from viz.access import attention, models, texts, traces
from viz.access.elsewhere import computed_elsewhere, places_of
from viz.access.models import MAX_MODELS
from viz.selection.choices import ModelChoice
from viz.server import limits
from viz.server.background_jobs import Progress, Task
from viz.server.caches import BoundedCache, cached
from viz.text.messages import said
from viz.text.written import SITES

#: The file in a checkpoint's folder that `python -m model atlas` wrote for our own sentences.
SHIPPED: Final = "atlas.npz"
MAX_ATLASES: Final = 8


@dataclass(frozen=True)
class Reading:
    """What a model is to read."""

    sentences: tuple[CorpusSentence, ...]  #: a corpus, in order
    aligned: tuple[AlignedPair, ...]  #: sentence pairs with links made by hand; for error rates, a set of its own
    digest: str  #: names exactly this
    is_own: bool  #: whether the corpus is the one that we wrote
    origin: Origin | None = None  #: where the sentences come from
    sinks: bool = True  #: whether keys on which heads rest count

    @property
    def work(self) -> int:
        """How many sentences and aligned pairs have to be read for it."""
        return len(self.sentences) + len(self.aligned)


@dataclass(frozen=True, eq=False)
class StoredAtlas:
    """An atlas, or none yet."""

    atlas: Atlas | None  #: of this model and what it read
    path: Path | None = None  #: the file that holds it; None if only this process does
    refused: str = ""  #: why a file that should have held it was not taken; "" if none was refused


def reading(
    sentences: tuple[CorpusSentence, ...] | None,
    aligned: tuple[AlignedPair, ...],
    origin: Origin | None = None,
    *,
    sinks: bool = True,
) -> Reading:
    """A person's sentences, or where there are none our own, and aligned pairs if there are any; with sinks or not."""
    read = _own_sentences(OWN_CORPUS) if sentences is None else sentences
    return Reading(read, aligned, reading_digest(read, aligned, sinks=sinks), sentences is None, origin, sinks)


def find(reading: Reading, choice: ModelChoice) -> StoredAtlas:
    """The atlas of this reading by this model, if there is one. Raises as `models.reader`.

    Our own sentences may have been measured with error rates; such a file holds all that is asked for, and more.
    """
    model = _model_digest(models.reader(choice))
    known, key = atlases(), (model, reading.digest)
    if (kept := known.get(key)) is not None:
        return kept
    refused = ""
    if reading.is_own and not reading.aligned and reading.sinks:
        stored = _load(models.folder(choice) / SHIPPED, lambda atlas: atlas.model == model and _is_of(atlas, reading))
        if stored.atlas is not None:
            return known.put(key, stored)
        refused = stored.refused
    if (folder := cache_folder()) is not None:
        path = cache_path(folder, model, reading.digest)
        stored = _load(path, lambda atlas: (atlas.model, atlas.corpus) == (model, reading.digest))
        refused = refused or stored.refused
        if stored.atlas is not None:
            return known.put(key, StoredAtlas(stored.atlas, stored.path, refused))
    return StoredAtlas(None, refused=refused)


def measuring(reading: Reading, choice: ModelChoice) -> Task[StoredAtlas]:
    """Reads everything, on the server's cluster if it has one, and keeps the atlas, here and in the cache: for `find`.

    Raises a HeadlightError if the checkpoint or the device will not do. The task raises one if nothing could be read.
    """
    reader, places, folder, known = models.reader(choice), places_of(choice), cache_folder(), atlases()

    def compute(progress: Progress) -> StoredAtlas:
        cases = cases_for(reader)
        with computed_elsewhere(places):
            if folder is None:
                made = build_atlas(reader, reading.sentences, reading.aligned, progress, cases, sinks=reading.sinks)
            else:
                made = cached_atlas(
                    reader, reading.sentences, folder, reading.aligned, progress, cases, sinks=reading.sinks
                )
        atlas = replace(made, origin=reading.origin)
        if folder is None:
            return known.put((atlas.model, atlas.corpus), StoredAtlas(atlas))
        path = cache_path(folder, atlas.model, atlas.corpus)
        # A folder that cannot be written to costs time the next time, not the result now.
        return known.put((atlas.model, atlas.corpus), StoredAtlas(atlas, path if path.is_file() else None))

    key = ("atlas", reader.key, reading.digest)
    text = said("{done:,} of {total:,} {unit}, about {left:.0f} s left")
    return Task(key, reading.work, said("sentences"), compute, text)


def cache_folder() -> Path | None:
    """Where atlases are kept; None as of `limits.cache_folder`."""
    return limits.cache_folder("atlases")


def distances(atlas: Atlas, site: str) -> Float[np.ndarray, "layer_head layer_head"]:
    """How differently heads attend: the root of the mean Jensen–Shannon divergence of their weights, 0 to 1.

    For as many layers and heads as the site has; NaN where a layer has fewer.
    """
    own = atlas.own(site)
    places = own_places(atlas, site)
    roots = np.full((math.prod(shape_of(atlas, site)),) * 2, np.nan)
    roots[np.ix_(places, places)] = np.sqrt(atlas.divergences[SITES.index(site)][np.ix_(own, own)])
    return roots


#: The metrics of keys on which heads rest that have nothing to do.
RESTS: Final = tuple(rule.metric for rule in RULES if rule.is_rest)


def rests_at(site: str) -> tuple[str, ...]:
    """Those of a site: the last token is none where one row alone sees it."""
    return tuple(rule.metric for rule in rules_at(site) if rule.is_rest)


def is_rest(metric: str) -> bool:
    """Whether a head with a job by this metric rests."""
    return metric in RESTS


def job_metrics(site: str, metrics: Metrics) -> dict[tuple[int, int], set[str]]:
    """Head → the metrics for which it has a job; where heads rest that have nothing to do is none."""
    found = jobs_of_heads(site, metrics, {})
    return {head: {job.metric for job in jobs}.difference(RESTS) for head, jobs in found.items()}


def table(atlas: Atlas) -> bytes:
    """Every metric of every head, as a file."""
    return report.atlas_csv(atlas).encode()


def lacking(atlas: Atlas) -> list[str]:
    """The metrics of every corpus that an atlas does not have, because a version from before them measured it."""
    return [name for name in ROW_METRICS if name not in atlas.metrics]


def shape_of(atlas: Atlas, site: str) -> tuple[int, int]:
    """Layers of a site, and the most heads that one of them has."""
    return len(atlas.heads[site]), max(atlas.heads[site])


def own_places(atlas: Atlas, site: str) -> Int[np.ndarray, "head"]:
    """The places of a site's heads in a list with room for as many in every layer as the largest has."""
    most = max(atlas.heads[site])
    return np.array([layer * most + head for layer, count in enumerate(atlas.heads[site]) for head in range(count)])


@lru_cache(maxsize=1)
def _own_sentences(path: Path) -> tuple[CorpusSentence, ...]:
    return tuple(read_text(path))


def _load(path: Path, fits: Callable[[Atlas], bool]) -> StoredAtlas:
    """The atlas in a file, if it is there and fits."""
    if not path.is_file():
        return StoredAtlas(None)
    try:
        atlas = load_atlas(path)
    except DataError as error:
        return StoredAtlas(None, refused=error.message)
    if not fits(atlas):
        return StoredAtlas(
            None, refused=said("{name} was made with another model or from other sentences.", name=path.name)
        )
    return StoredAtlas(atlas, path)


def _is_of(atlas: Atlas, reading: Reading) -> bool:
    """Whether an atlas, perhaps with error rates of pairs that are not known here, is of exactly these sentences."""
    if atlas.corpus == reading.digest:
        return True
    texts = [sentence.text for sentence in reading.sentences]
    read = set(atlas.texts)
    return (
        list(atlas.texts) == [text for text in texts if text in read]
        and len(atlas.texts) + sum(atlas.skipped.values()) == len(texts)
        and any(name.endswith("aer_word_in") for name in atlas.metrics)
    )


@st.cache_resource(show_spinner=False)
def atlases() -> "BoundedCache[tuple[str, str], StoredAtlas]":
    """The atlases that were read or measured, by the digests of model and reading, for all viewers."""
    return BoundedCache(MAX_ATLASES)


@cached(max_entries=MAX_MODELS)
def _model_digest(reader: Reader) -> str:
    return reader.weights_digest


@dataclass(frozen=True, slots=True)
class Look:
    """The largest weight of a head in a sentence: which of its words looks, and which is looked at."""

    words: texts.Words
    looking: int
    looked_at: int
    cell: tuple[int, int] | None  #: its row and its key; None where it cannot be asked why


def looks(reader: Reader, texts: tuple[str, ...], site: str, layer: int, head: int) -> "Task[tuple[Look | None, ...]]":
    """Where a head looks in each text, between words; None for a text that the model cannot read, or without words."""

    def compute(progress: Progress) -> tuple[Look | None, ...]:
        found = []
        for text in texts:
            found.append(_look(reader, text, site, layer, head))
            progress(1)
        return tuple(found)

    return Task(("looks", reader.key, texts, site, layer, head), len(texts), said("sentences"), compute)


def _look(reader: Reader, text: str, site: str, layer: int, head: int) -> Look | None:
    try:
        trace = traces.trace(reader, text)
    except HeadlightError:
        return None
    weights = trace.weights(site, layer)[head].numpy()
    for index in np.argsort(-weights, axis=None):
        row, key = divmod(int(index), weights.shape[1])
        looking, looked_at = texts.words_of_cell(trace, site, row, key)
        if looking is not None and looked_at is not None:
            cell = (row, key) if attention.can_ask_why(trace, reader) else None
            return Look(texts.as_typed(trace), looking, looked_at, cell)
    return None

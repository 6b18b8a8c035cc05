"""Find what is most worth seeing of a trace or an atlas, so that a page can open on it; and what each head is for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from model import later
from model.errors import CheckpointError, DataError
from model.unspaced import has_unspaced
from viz.access import attention, models
from viz.selection.choices import ModelChoice
from viz.selection.examples import known_marks
from viz.server.caches import FileState, cached
from viz.text.marks import Span, pronoun_and_nouns, word_spans
from viz.text.written import CROSS, ENCODER, SITES

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.atlas.measure import Atlas
    from model.analysis.coreference.case_files import PronounCase
    from model.analysis.coreference.pronoun_rows import PronounLink
    from model.analysis.metrics.head_jobs import HeadJob, Metrics, SurestHead

MAX_FINDINGS: Final = 200
#: Of the words before a pronoun, only so many of the nearest are looked at.
MAX_CANDIDATES: Final = 8


@dataclass(frozen=True)
class TellingCell:
    """What a head looks at while it writes a word, where the habits of the head expect it least."""

    row: int
    key: int
    weight: float  #: of a word of several tokens, the mean of their rows
    written: str  #: the word that the row writes
    looked_at: str  #: what the key is called
    is_moment: bool  #: whether that is seconds of a sound


@dataclass(frozen=True)
class Finding:
    """The head of a trace that is most worth seeing, and why."""

    #: site, layer, head: which head.
    site: str
    layer: int = 0
    head: int = 0
    link: "PronounLink | None" = None  #: the pronoun and antecedent that it links, if it is known for that
    #: whether that antecedent is not known, but of the words that could be it the one that a head puts most weight on.
    is_guess: bool = False
    cell: TellingCell | None = None  #: of a text that is written about something else than words
    #: else the head that does its measured job most clearly here, or if none has a job, the surest of this text; None
    #: of a text too long to measure all heads.
    surest: "SurestHead | None" = None
    has_job: bool = True  #: whether that is a measured job of that head


@cached(max_entries=MAX_FINDINGS)
def finding(trace: "Trace", choice: ModelChoice) -> Finding:
    """The head that looks most from a pronoun at its antecedent; without one, the head that is surest of its job.

    Where no words are read, the head of cross-attention that looks where its habits expect it least (`telling_cell`). A
    head that training told to look at antecedents is not a finding.
    """
    reader, taught = models.text_reader(choice), models.taught_head(choice, ENCODER)
    pronoun, candidates, is_guess = _known(trace.text) or _guessed(trace.text)
    if trace.source.has_words and pronoun is not None:
        told = None if taught is None else later.head_metrics.HeadName(ENCODER, *taught)
        link = later.pronoun_rows.pronoun_link(reader, trace, pronoun, candidates, taught=told)
        if link is not None:
            return Finding(link.site, link.layer, link.head, link, is_guess=is_guess)
    if CROSS in trace.sites and not trace.source.has_words:
        return _of_what_is_written(trace)
    if any(attention.is_long(trace, site) for site in trace.sites):
        return Finding(trace.sites[0])
    metrics = {site: attention.head_metrics(trace, site) for site in trace.sites}
    jobs = {site: of_model(choice, site) or in_sentence(trace, site) for site in trace.sites}
    doing = later.head_jobs.surest_head({site: _of_jobs(of, jobs[site]) for site, of in metrics.items()})
    surest = doing or later.head_jobs.surest_head(metrics)
    if surest is None:
        return Finding(trace.sites[0])
    return Finding(surest.site, surest.layer, surest.head, surest=surest, has_job=doing is not None)


def _of_what_is_written(trace: "Trace") -> Finding:
    found = later.reasons_cell.telling_cell(trace)
    if found is None:
        return Finding(CROSS)
    queries, _ = trace.axes(CROSS, whole_words=True)
    rows = next(list(group) for group in queries.groups if found.row in group)
    weight = float(trace.weights(CROSS, found.layer, [found.head], rows)[0, :, found.key].mean())
    names = "".join(trace.row_tokens(CROSS)[row] for row in rows), trace.axis_tokens(CROSS)[1][found.key]
    is_moment = bool(trace.source.span_choices)
    return Finding(CROSS, found.layer, found.head, cell=TellingCell(found.row, found.key, weight, *names, is_moment))


def _of_jobs(metrics: "Metrics", measured: "HeadJobs") -> "Metrics":
    """The metrics of a site, each for those heads alone whose job it is: in a short text others reach it too."""
    kept = {name: np.full_like(table, np.nan) for name, table in metrics.items()}
    for head, jobs in measured.of_heads.items():
        for job in jobs:
            if job.metric in kept:
                kept[job.metric][head] = metrics[job.metric][head]
    return kept


def in_atlas(atlas: "Atlas") -> "SurestHead | None":
    """The head that follows antecedents most; of an atlas without that metric, the surest head.

    Of an atlas of recordings, the head that keeps time best, by given times or else by the other heads.
    """
    metrics = {
        str(site): {name: table[index] for name, table in atlas.metrics.items()} for index, site in enumerate(SITES)
    }
    error, *_others, apart = later.head_metrics.TIMING
    for name in (error, apart):
        # One head alone is apart from none.
        if name in atlas.metrics and not np.isnan(of_heads := metrics[CROSS][name]).all():
            layer, head = divmod(int(np.nanargmin(of_heads)), of_heads.shape[1])
            return later.head_jobs.SurestHead(
                CROSS, layer, head, later.head_jobs.HeadJob(name, float(of_heads[layer, head]))
            )
    followed = {
        site: {later.head_jobs.ANTECEDENT: of[later.head_jobs.ANTECEDENT]}
        for site, of in metrics.items()
        if later.head_jobs.ANTECEDENT in of
    }
    return later.head_jobs.surest_head(followed) or later.head_jobs.surest_head(metrics)


def set_of(text: str) -> str:
    """The language of the curated set that could hold a text: each set has a script of its own."""
    return "zh" if has_unspaced(text) else "en"


def _known(text: str) -> tuple[Span | None, Sequence[Span], bool] | None:
    """Pronoun and antecedent of an example or a sentence of the curated sets; its controls have no antecedent."""
    if (case := _curated(set_of(text)).get(text)) is not None:
        return case.pronoun, (case.antecedent,), False
    if (marks := known_marks(text)) is None or marks.pronoun is None or marks.antecedent is None:
        return None
    spans = word_spans(text)
    return spans[marks.pronoun], (spans[marks.antecedent],), False


def _guessed(text: str) -> tuple[Span | None, Sequence[Span], bool]:
    """The first pronoun of a text, and the words before it that it could stand for."""
    spans, (pronoun, nouns) = word_spans(text), pronoun_and_nouns(text)
    return None if pronoun is None else spans[pronoun], [spans[noun] for noun in nouns[-MAX_CANDIDATES:]], True


@cache
def _curated(language: str) -> "Mapping[str, PronounCase]":
    """Sentence → its case, of the set in a language."""
    return {case.sentence: case for case in later.case_files.curated_cases(language).cases if not case.is_control}


MAX_ATLASES: Final = 4
MAX_SITES: Final = 64
#: The atlas that lies beside a model.
SHIPPED: Final = "atlas.npz"


@dataclass(frozen=True, eq=False)
class HeadJobs:
    """Layer and head → its jobs, the surest first; heads without a job are not there."""

    of_heads: "Mapping[tuple[int, int], tuple[HeadJob, ...]]"
    sentences: int  #: how many the corpus has; 0 where the open sentence alone was measured


def of_model(choice: ModelChoice, site: str) -> HeadJobs | None:
    """What the heads of a site do over a corpus; None for a model without an atlas beside it. Raises as `reader`."""
    reader = models.reader(choice)
    try:
        file = FileState.of(models.folder(choice) / SHIPPED)
    except (OSError, CheckpointError):
        return None
    return _of_atlas(reader, site, file)


@cached(max_entries=MAX_SITES)
def _of_atlas(reader: "Reader", site: str, file: FileState) -> HeadJobs | None:
    atlas = _read(reader, file)
    if atlas is None:
        return None
    return HeadJobs(later.atlas_measure.jobs_in(atlas, site), atlas.sentences)


def in_sentence(trace: "Trace", site: str) -> HeadJobs:
    """What the heads of a site do in one sentence that is not long; without intervals."""
    return HeadJobs(later.head_jobs.jobs_of_heads(site, attention.head_metrics(trace, site), {}), 0)


@cached(max_entries=MAX_ATLASES)
def _read(reader: "Reader", file: FileState) -> "Atlas | None":
    """The atlas in a file, if it was made with exactly this model."""
    try:
        atlas = later.atlas_file.load_atlas(Path(file.path))
    except DataError:
        # The atlas page says what is wrong with the file.
        return None
    has_these_heads = dict(atlas.heads) == {site: tuple(heads) for site, heads in reader.abilities.heads.items()}
    return atlas if has_these_heads and atlas.model == reader.weights_digest else None

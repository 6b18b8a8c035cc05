"""Find what is most worth seeing of a trace or an atlas, so that a page can open on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from model import later
from model.unspaced import has_unspaced
from viz.access import attention, long_texts
from viz.selection.examples import known_marks
from viz.server.caches import cached
from viz.text.marks import Span, pronoun_and_nouns, word_spans
from viz.text.written import ENCODER, SITES

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.atlas.measure import Atlas
    from model.analysis.coreference.cases import PronounCase
    from model.analysis.coreference.pronoun_rows import PronounLink
    from model.analysis.metrics.head_jobs import SurestHead

MAX_FINDINGS: Final = 200
#: Of the words before a pronoun, only so many of the nearest are looked at.
MAX_CANDIDATES: Final = 8


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
    #: else the metric in which no head is surer; None of a text too long to measure all heads.
    surest: "SurestHead | None" = None


@cached(max_entries=MAX_FINDINGS)
def finding(trace: "Trace", reader: "Reader", taught: tuple[int, int] | None) -> Finding:
    """The head that looks most from a pronoun at its antecedent; without one, the head that is surest of its job.

    `taught`: layer and head of the encoder that training told to look there, and that is no finding.
    """
    pronoun, candidates, is_guess = _known(trace.text) or _guessed(trace.text)
    if trace.picture is None and pronoun is not None:
        told = None if taught is None else later.head_names.HeadName(ENCODER, *taught)
        link = later.pronoun_rows.pronoun_link(reader, trace, pronoun, candidates, taught=told)
        if link is not None:
            return Finding(link.site, link.layer, link.head, link, is_guess=is_guess)
    if any(long_texts.is_long(trace, site) for site in trace.sites):
        return Finding(trace.sites[0])
    surest = later.head_jobs.surest_head({site: attention.head_metrics(trace, site) for site in trace.sites})
    return Finding(trace.sites[0]) if surest is None else Finding(surest.site, surest.layer, surest.head, surest=surest)


def in_atlas(atlas: "Atlas") -> "SurestHead | None":
    """The head that follows antecedents most; of an atlas without that metric, the surest head."""
    metrics = {
        str(site): {name: table[index] for name, table in atlas.metrics.items()} for index, site in enumerate(SITES)
    }
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

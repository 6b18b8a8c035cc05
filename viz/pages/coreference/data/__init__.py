"""Sentences with pronouns: all heads scored over a set, a pair in every head, and how far two models are apart."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model import Reader, Trace, later
from model.analysis.coreference import pronoun_rows as model_pronoun_rows
from model.analysis.coreference.case_files import PronounCase, PronounCases, curated_cases, parse_pronoun_cases
from model.analysis.coreference.case_files import set_language as model_set_language
from model.analysis.coreference.measure import CoreferenceScores, measure_coreference
from model.analysis.coreference.pronoun_choice import PronounChoice
from model.analysis.coreference.pronoun_choice import pronoun_choice as model_pronoun_choice
from model.analysis.coreference.pronoun_rows import Measure as ModelMeasure
from model.analysis.coreference.pronoun_rows import read_case, reads_sentence
from model.analysis.corpus import OWN_CORPUS, read_text
from model.analysis.word_diff import WordSpan, word_diff
from model.errors import HeadlightError
from model.reader import Writer
from model.trace import axes
from model.trace.axes import Axis, between
from viz.access import findings, models, texts
from viz.access.elsewhere import computed_elsewhere, places_of
from viz.selection.choices import MARKS as ROLES
from viz.selection.choices import Measure, ModelChoice
from viz.server import limits
from viz.server.background_jobs import Progress, Task
from viz.server.caches import cached
from viz.text.marks import Marks, word_spans
from viz.text.messages import said
from viz.text.written import CROSS

if TYPE_CHECKING:
    from model.analysis.moved_heads import MovedHeads
    from model.analysis.two_models import HeadDistances
#: What the selection calls a measure → what the model's analysis does.
MEASURES: Final[Mapping[Measure, ModelMeasure]] = {"weights": "raw", "norms": "norm", "rollout": "rollout"}
MAX_CHOICES: Final = 200
#: Sentences of a set by whose time that of all is expected.
FIRST_CASES: Final = 4


@dataclass(frozen=True, eq=False)
class CaseSet:
    """A set of sentences with pronouns: its name, its cases, and what tells it from others."""

    name: str
    cases: PronounCases
    key: str  #: a digest of both


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts that are compared: a pair of a set, or a person's own, which has no name."""

    #: name, group: "" of one's own texts.
    name: str
    group: str
    texts: tuple[str, str]  #: of one's own the second is "" where there is none
    #: a case for each text; None where no words are marked, or one has two roles.
    cases: tuple[PronounCase | None, PronounCase | None] = (None, None)
    is_control: bool = False  #: whether its pronouns stand for neither candidate, or there are none
    are_guesses: tuple[bool, bool] = (False, False)  #: of each text, whether its marked words are guessed


MAX_WEIGHTS: Final = 64
Positions = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two sentences: its trace, its marked words if all are marked, and the rows that are looked at."""

    number: int
    trace: Trace
    case: PronounCase | None
    rows: Positions = ()
    query: str = ""  #: what these rows are called
    is_another: bool = False  #: whether they are of another word than that in the place of the other sentence's


@dataclass(frozen=True, eq=False)
class Movement:
    """How far every head moves toward the right antecedent; rollout has one "head"."""

    values: Float[np.ndarray, "layer head"]  #: (antecedent − distractor) in the first sentence + the same in the second
    #: what is given to antecedent and distractor in each sentence.
    parts: Float[np.ndarray, "layer head sentence candidate"]

    @property
    def farthest(self) -> tuple[int, int]:
        """Layer and head with the largest value."""
        layer, head = np.unravel_index(int(self.values.argmax()), self.values.shape)
        return int(layer), int(head)


@dataclass(frozen=True, eq=False)
class Row:
    """The mean of some query rows in every head of a layer; a rollout has one "head"."""

    values: Float[np.ndarray, "head column"]  #: read-only
    labels: tuple[str, ...]  #: of the columns
    groups: tuple[Positions, ...]  #: the tokens of each
    #: role → the columns that hold it; empty where no column is a source token of the case.
    marked: Mapping[str, Positions]
    held: Float[np.ndarray, "head"] | None = None  #: what sinks hold, shown as columns or not

    def at(self, columns: Positions) -> "Row":
        """The same with these columns only, none of them marked."""
        labels, groups = tuple(map(self.labels.__getitem__, columns)), tuple(map(self.groups.__getitem__, columns))
        return Row(self.values[:, list(columns)], labels, groups, {})


MAX_PAIRS = 8


@dataclass(frozen=True, eq=False)
class HeadPicture:
    """The weights of one head between the words of a text."""

    weights: Float[np.ndarray, "row column"]
    queries: Axis
    keys: Axis
    rows_write: bool  #: whether rows stand for what they write


def set_language(source: str) -> str:
    """The language of the set that is offered to models that read this one."""
    return model_set_language(source)


@cache
def curated(language: str = "en") -> CaseSet:
    """The set that ships in a language for which `set_language` has one."""
    is_english = language == "en"
    name, digest = ("the curated set", "curated") if is_english else (f"curated {language}", f"curated-{language}")
    return CaseSet(name, curated_cases(language), digest)


def read_cases(content: bytes, name: str) -> CaseSet:
    """The cases of a file that someone chose.

    Raises a DataError if it is of no form that can be read, too large, or none of its lines can be used.
    """
    digest = hashlib.sha256(content).hexdigest()
    return CaseSet(name, parse_pronoun_cases(content, name), f"{digest}/{name.rpartition('.')[2].lower()}")


def pairs_of(text: str) -> Mapping[str, Pair]:
    """The pairs of the set that could hold a text, by their names."""
    return curated_pairs(findings.set_of(text))


def pairs_for(source: str) -> Mapping[str, Pair]:
    """The pairs that are offered to models that read this language."""
    return curated_pairs(set_language(source))


@cache
def curated_pairs(language: str = "en") -> Mapping[str, Pair]:
    """The pairs that ship in a language, by their names, in the order of their file."""
    of_pair: dict[str, list[PronounCase]] = {}
    for case in curated_cases(language).cases:
        of_pair.setdefault(case.pair, []).append(case)
    both = {name: (cases[0], cases[1]) for name, cases in of_pair.items() if len(cases) == 2}
    return MappingProxyType(
        {
            name: Pair(name, of[0].group, (of[0].sentence, of[1].sentence), of, of[0].is_control)
            for name, of in both.items()
        }
    )


def marked_case(text: str, marks: Marks) -> PronounCase | None:
    """A sentence with its pronoun and candidates, by word positions; None where one is missing or two are one."""
    spans = word_spans(text)
    pronoun, antecedent, distractor = marks.positions
    if pronoun is None or antecedent is None or distractor is None or len(set(marks.positions)) < 3:
        return None
    return PronounCase(text, spans[pronoun], spans[antecedent], spans[distractor])


@cached(max_entries=MAX_CHOICES)
def pronoun_choice(translator: Writer, trace: Trace, case: PronounCase) -> PronounChoice:
    """What the model writes for a pronoun, and how probable each of its rivals is there. Raises what the model does."""
    return model_pronoun_choice(translator, trace, case)


def scores_task(cases: CaseSet, reader: Reader, measure: Measure) -> Task[CoreferenceScores]:
    """All heads scored over a set."""
    unfinished = limits.cache_folder("unfinished")

    def compute(progress: Progress) -> CoreferenceScores:
        return measure_coreference(
            reader, cases.cases, measure=MEASURES[measure], progress=progress, unfinished=unfinished
        )

    key = ("coreference", reader.key, cases.key, measure)
    return Task(key, len(cases.cases.cases), said("sentences"), compute)


@cached(max_entries=MAX_CHOICES)
def expected_seconds(reader: Reader, cases: CaseSet, measure: Measure) -> float:
    """How long all heads would take over a set, if all its sentences take as long as the first ones."""
    first = cases.cases.cases[:FIRST_CASES]
    began = time.monotonic()
    # What cannot be scored is said by the measurement.
    with suppress(HeadlightError):
        measure_coreference(reader, PronounCases(first), measure=MEASURES[measure])
    return (time.monotonic() - began) / max(1, len(first)) * len(cases.cases.cases)


def pronoun_rows(trace: Trace, reader: Reader, case: PronounCase, site: str) -> Positions | str:
    """The query rows that speak for a pronoun: its own in the encoder, the one that predicts it in the decoder.

    Where there is none, the reason.
    """
    return model_pronoun_rows.pronoun_rows(reader, trace, case, site)


def candidate_weights(
    trace: Trace, reader: Reader, case: PronounCase, site: str, rows: Positions, measure: Measure
) -> Float[np.ndarray, "layer head candidate"] | str:
    """From these rows to antecedent and distractor, by a measure, or why that cannot be said."""
    both = candidates(trace, reader, case, site)
    return both if isinstance(both, str) else _candidate_weights(trace, reader, site, rows, both, measure)


def candidates(trace: Trace, reader: Reader, case: PronounCase, site: str) -> tuple[Positions, ...] | str:
    """The tokens of antecedent and distractor among the keys of an attention; or why there are none."""
    if not (reads_sentence(trace, site) or site == CROSS):
        return said("neither candidate is among the tokens that this attention sees")
    read = read_case(reader, case)
    return read if isinstance(read, str) else tuple(map(tuple, read.pieces[1:]))


def movement(sides: "Sequence[Side]", reader: Reader, site: str, measure: Measure) -> Movement | str:
    """How far the heads of an attention move, from the rows of both sides; or why that cannot be said."""
    weights = []
    for side in sides:
        if side.case is None:
            return said("pronoun and candidates are not marked in both sentences")
        of_side = candidate_weights(side.trace, reader, side.case, site, side.rows, measure)
        if isinstance(of_side, str):
            return of_side
        weights.append(of_side)
    return Movement(model_pronoun_rows.movement(*weights), np.stack(weights, axis=2))


def movements(sides: "Sequence[Side]", reader: Reader, measure: Measure) -> Mapping[str, Movement]:
    """The same from the rows of the pronouns, of every attention in which both have some."""
    of_site = {}
    for site in sides[0].trace.sites:
        looking = [own_rows(side, reader, site) for side in sides]
        moved = movement(looking, reader, site, measure) if all(side.rows for side in looking) else ""
        if not isinstance(moved, str):
            of_site[site] = moved
    return of_site


def words_of_case(trace: Trace, reader: Reader, case: PronounCase) -> dict[int, str]:
    """Word, as `word_links` counts them → its role; the German pronoun is one, too, where it is known."""
    known, read = texts.words(trace), read_case(reader, case)
    pieces = [] if isinstance(read, str) else [*zip(ROLES, read.pieces, strict=True)]
    is_source = known.num_source > 0
    found = {known.at(piece, is_source=is_source): role for role, of_role in pieces for piece in of_role}
    written = pronoun_rows(trace, reader, case, CROSS) if CROSS in trace.sites else ""
    # A row writes the token after it.
    found |= {} if isinstance(written, str) else {known.at(row + 1, is_source=False): ROLES[0] for row in written}
    return {word: role for word, role in found.items() if word is not None}


def own_rows(side: Side, reader: Reader, site: str) -> Side:
    """The same side looking from the rows of its pronoun; from none where there are none."""
    rows = "" if side.case is None else pronoun_rows(side.trace, reader, side.case, site)
    return replace(side, rows=() if isinstance(rows, str) else rows)


def query_axis(side: Side, reader: Reader, site: str, *, whole_words: bool) -> Axis:
    """The rows from which a sentence can be looked at: tokens or words, of a pronoun's word what is not punctuation."""
    axis, own = side.trace.axes(site, whole_words=whole_words)[0], own_rows(side, reader, site).rows
    at = axis.index_of(own[-1]) if own else None
    if at is None or not set(own) < set(axis.groups[at]):
        return axis
    tokens = side.trace.axis_tokens(site)[0]
    name = axes.spelled([tokens[row] for row in own])
    if side.trace.rows_write(site):
        written = side.trace.written_tokens(site)
        read = axes.spelled([tokens[own[0]]])
        name = axes.row_name(read, axes.spelled([written[row - len(tokens)] for row in own]))
    labels = (*axis.labels[:at], name, *axis.labels[at + 1 :])
    return Axis(labels, (*axis.groups[:at], own, *axis.groups[at + 1 :]))


def opened_row(
    trace: Trace,
    reader: Reader,
    case: PronounCase | None,
    site: str,
    layer: int,
    rows: Positions,
    *,
    measure: Measure,
    whole_words: bool,
    sinks: bool,
) -> Row:
    """The mean of these rows in a layer, over tokens or whole words, with sinks or without, with the columns of the
    case's three spans, and what sinks hold.
    """
    values = model_pronoun_rows.measured_rows(reader, trace, site, layer, rows, MEASURES[measure])
    keys = trace.axes(site, whole_words=whole_words, sinks=sinks)[1]
    held = values[:, :, list(trace.sinks(site))].sum(-1).mean(-1).numpy()
    joined = axes.between(values, axes.Axis(("",), (tuple(range(len(rows))),)), keys)[:, 0].numpy()
    joined.setflags(write=False)
    holds_case = model_pronoun_rows.reads_sentence(trace, site) or site == CROSS
    read = read_case(reader, case) if case is not None and holds_case else None
    pieces = () if read is None or isinstance(read, str) else read.pieces
    columns = [sorted({i for piece in span if (i := keys.index_of(piece)) is not None}) for span in pieces]
    return Row(joined, keys.labels, keys.groups, dict(zip(ROLES, map(tuple, columns), strict=False)), held)


@cached(max_entries=MAX_WEIGHTS)
def _candidate_weights(
    trace: Trace, reader: Reader, site: str, rows: Positions, candidates: tuple[Positions, ...], measure: Measure
) -> Float[np.ndarray, "layer head candidate"]:
    weights = model_pronoun_rows.candidate_weights(reader, trace, site, rows, candidates, MEASURES[measure]).numpy()
    weights.setflags(write=False)
    return weights


def sites_of(first: Reader, second: Reader) -> dict[str, str]:
    """Attention of the first model → the one of the second that is compared with it."""
    return later.two_models.sites_of(first, second)


@cached(max_entries=MAX_PAIRS)
def read_by_both(first: Reader, second: Reader, text: str) -> tuple[Trace, Trace]:
    """The traces whose heads are compared. Raises what the models do."""
    return later.two_models.read_by_both(first, second, text)


def own_sentences() -> tuple[str, ...]:
    """The sentences that ship."""
    return tuple(sentence.text for sentence in read_text(OWN_CORPUS))


def distances(
    compared: tuple[ModelChoice, ModelChoice], texts: Sequence[str], sites: tuple[str, str]
) -> Task["HeadDistances"]:
    """How far each head of an attention of the first model is from each of the second's."""
    first, second = map(models.reader, compared)
    unfinished, places = limits.cache_folder("unfinished"), places_of(*compared) if len(texts) > 1 else {}

    def compute(progress: Progress) -> "HeadDistances":
        with computed_elsewhere(places):
            return later.two_models.head_distances(first, second, texts, sites, progress, unfinished)

    key = ("two models", first.key, second.key, tuple(texts), sites)
    return Task(key, len(texts), said("sentences"), compute)


def have_same_heads(first: Reader, second: Reader) -> bool:
    """Whether each head of an attention of the one model can be compared with itself in the other."""
    try:
        later.moved_heads.same_sites(first, second)
    except HeadlightError:
        return False
    return True


def moving(compared: tuple[ModelChoice, ModelChoice]) -> Task["MovedHeads"]:
    """How far each head moved between two models over the sentences that ship."""
    first, second = map(models.reader, compared)
    unfinished, places = limits.cache_folder("unfinished"), places_of(*compared)
    sentences = tuple(read_text(OWN_CORPUS))

    def compute(progress: Progress) -> "MovedHeads":
        with computed_elsewhere(places):
            return later.moved_heads.moved_heads(first, second, sentences, progress, unfinished)

    return Task(("moved heads", first.key, second.key), len(sentences), said("sentences"), compute)


def moved_table(found: "MovedHeads") -> bytes:
    """How far each head moved, and its metrics in both models, as a file."""
    return later.moved_report.moved_csv(found).encode()


def head_picture(trace: Trace, site: str, layer: int, head: int) -> HeadPicture:
    """A head's weights between whole words, special tokens left out."""
    queries, keys = later.two_models.words_of(trace, site)
    weights = between(trace.weights(site, layer, [head]), queries, keys)[0].numpy()
    return HeadPicture(weights, queries, keys, trace.rows_write(site))


def written_differences(first: str, second: str) -> tuple[WordSpan, ...]:
    """What two models wrote, word by word."""
    return word_diff(first, second)

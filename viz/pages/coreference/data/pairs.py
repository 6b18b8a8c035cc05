"""Pairs of sentences of the coreference lab, and what the model does with their pronouns.

A door from the pages to the model, as `viz.access.derived`: torch is imported inside functions, what is cached, for all
viewers, is read-only and keyed by texts, places, settings and checkpoint digest, never by arrays. Knows nothing of
widgets or figures.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import loader
from viz.pages.coreference.marks import Marks, Span, word_spans
from viz.selection.coreference import MARKS as ROLES
from viz.selection.selection import Selection

if TYPE_CHECKING:
    from model import Reader, Trace, Translator
    from model.analysis.coreference.cases import PronounCase
    from model.analysis.coreference.pronoun_choice import PronounChoice

Measure = Literal["raw", "norm", "rollout"]
#: What the selection calls a measure → what the model's analysis does.
MEASURES: Final[Mapping[str, Measure]] = {"weights": "raw", "norms": "norm", "rollout": "rollout"}
MAX_WEIGHTS: Final = 64
MAX_CHOICES: Final = 200
Places = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A minimal pair of the curated set; where `is_control`, its pronouns stand for neither candidate."""

    name: str
    group: str
    cases: "tuple[PronounCase, PronounCase]"
    is_control: bool


@dataclass(frozen=True, eq=False)
class Row:
    """The mean of some query rows in every head of a layer; a rollout has one "head".

    Attributes:
        values: read-only.
        labels: of the columns.
        marked: role → the columns that hold it; empty where no column is a source token of the case.
    """

    values: Float[np.ndarray, "head column"]
    labels: tuple[str, ...]
    marked: Mapping[str, Places]


@cache
def curated_pairs() -> Mapping[str, Pair]:
    """The pairs that ship, by their names, in the order of their file."""
    from model.analysis.coreference.case_files import curated_cases

    found: dict[str, list[PronounCase]] = {}
    for case in curated_cases().cases:
        found.setdefault(case.pair, []).append(case)
    return MappingProxyType(
        {
            name: Pair(name, first.group, (first, second), first.is_control)
            for name, (first, second) in ((name, cases) for name, cases in found.items() if len(cases) == 2)
        }
    )


def marked_case(text: str, marks: Marks) -> "PronounCase | None":
    """A sentence with its pronoun and candidates, by the places of words; None where one is missing or two are one."""
    from model.analysis.coreference.cases import PronounCase

    spans = word_spans(text)
    pronoun, antecedent, distractor = marks.places
    if pronoun is None or antecedent is None or distractor is None or len(set(marks.places)) < 3:
        return None
    return PronounCase(text, spans[pronoun], spans[antecedent], spans[distractor])


def pronoun_choice(case: "PronounCase", selection: Selection) -> "PronounChoice":
    """What the model writes for a pronoun, and how probable each of its rivals is there. Raises as `loader.trace`."""
    loaded = loader.translator(selection)
    return _pronoun_choice(case.sentence, case.spans, loaded.digest, str(loaded.device), case, loaded)


def pronoun_rows(trace: "Trace", case: "PronounCase", site: str, selection: Selection) -> Places | str:
    """The query rows that speak for a pronoun: its own in the encoder, the one that predicts it in the decoder.

    Where there is none, the reason.
    """
    from model.analysis.coreference import pronoun_rows

    return pronoun_rows.pronoun_rows(loader.reader(selection), trace, case, site)


def candidate_weights(
    trace: "Trace", case: "PronounCase", site: str, rows: Places, selection: Selection
) -> Float[np.ndarray, "layer head candidate"] | str:
    """From these rows to antecedent and distractor, by the measure of the selection, or why that cannot be said."""
    from model.analysis.coreference.pronoun_rows import reads_sentence
    from model.analysis.coreference.span_attention import read_case

    loaded = loader.reader(selection)
    if not (reads_sentence(trace, site) or site == "decoder.cross"):
        return "neither candidate is among the tokens that this attention looks at"
    read = read_case(loaded, case)
    if isinstance(read, str):
        return read
    candidates = read.pieces[1:]
    measure = MEASURES[selection.common.measure]
    return _candidate_weights(
        trace.text, site, rows, candidates, measure, loaded.digest, str(loaded.device), trace, loaded
    )


def movement(
    first: Float[np.ndarray, "layer head candidate"], second: Float[np.ndarray, "layer head candidate"]
) -> Float[np.ndarray, "layer head"]:
    """How far each head moves toward the right antecedent (`model.analysis.coreference.pronoun_rows.movement`)."""
    from model.analysis.coreference import pronoun_rows

    return pronoun_rows.movement(first, second)


def opened_row(
    trace: "Trace", case: "PronounCase | None", site: str, layer: int, rows: Places, selection: Selection
) -> Row:
    """The mean of these rows in a layer, over tokens or whole words, with the columns of the case's three spans."""
    from model.analysis.coreference import pronoun_rows
    from model.analysis.coreference.span_attention import read_case
    from model.trace import axes

    loaded = loader.reader(selection)
    values = pronoun_rows.measured_rows(loaded, trace, site, layer, rows, MEASURES[selection.common.measure])
    tokens = trace.axis_tokens(site)[1]
    keys = (
        axes.whole_words(tokens, trace.special_tokens) if selection.common.whole_words else axes.single_tokens(tokens)
    )
    joined = axes.between(values, axes.Axis(("",), (tuple(range(len(rows))),)), keys)[:, 0].numpy()
    joined.setflags(write=False)
    holds_case = pronoun_rows.reads_sentence(trace, site) or site == "decoder.cross"
    read = read_case(loaded, case) if case is not None and holds_case else None
    pieces = () if read is None or isinstance(read, str) else read.pieces
    columns = [sorted({place for piece in span if (place := keys.index_of(piece)) is not None}) for span in pieces]
    return Row(joined, keys.labels, dict(zip(ROLES, map(tuple, columns), strict=False)))


@st.cache_resource(max_entries=MAX_CHOICES, show_spinner=False)
def _pronoun_choice(
    text: str, spans: tuple[Span, ...], digest: str, device: str, _case: "PronounCase", _translator: "Translator"
) -> "PronounChoice":
    from model.analysis.coreference.pronoun_choice import pronoun_choice

    return pronoun_choice(_translator, _case)


@st.cache_resource(max_entries=MAX_WEIGHTS, show_spinner=False)
def _candidate_weights(
    text: str,
    site: str,
    rows: Places,
    candidates: tuple[Places, ...],
    measure: Measure,
    digest: str,
    device: str,
    _trace: "Trace",
    _translator: "Reader",
) -> Float[np.ndarray, "layer head candidate"]:
    from model.analysis.coreference import pronoun_rows

    weights = pronoun_rows.candidate_weights(_translator, _trace, site, rows, candidates, measure).numpy()
    weights.setflags(write=False)
    return weights

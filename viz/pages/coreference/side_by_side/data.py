"""What the model does with the pronouns of two sentences, computed once for all viewers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from viz.core.caching import cached
from viz.core.sites import CROSS
from viz.pages.coreference.data import MEASURES
from viz.pages.coreference.marks import Marks, word_spans
from viz.selection.common import Measure
from viz.selection.coreference import MARKS as ROLES

if TYPE_CHECKING:
    from model import Reader, Trace, Translator
    from model.analysis.coreference.cases import PronounCase
    from model.analysis.coreference.pronoun_choice import PronounChoice

MAX_WEIGHTS: Final = 64
MAX_CHOICES: Final = 200
Positions = tuple[int, ...]


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
    marked: Mapping[str, Positions]


def marked_case(text: str, marks: Marks) -> "PronounCase | None":
    """A sentence with its pronoun and candidates, by word positions; None where one is missing or two are one."""
    from model.analysis.coreference.cases import PronounCase

    spans = word_spans(text)
    pronoun, antecedent, distractor = marks.positions
    if pronoun is None or antecedent is None or distractor is None or len(set(marks.positions)) < 3:
        return None
    return PronounCase(text, spans[pronoun], spans[antecedent], spans[distractor])


@cached(max_entries=MAX_CHOICES)
def pronoun_choice(translator: "Translator", case: "PronounCase") -> "PronounChoice":
    """What the model writes for a pronoun, and how probable each of its rivals is there. Raises what the model does."""
    from model.analysis.coreference.pronoun_choice import pronoun_choice

    return pronoun_choice(translator, case)


def pronoun_rows(trace: "Trace", reader: "Reader", case: "PronounCase", site: str) -> Positions | str:
    """The query rows that speak for a pronoun: its own in the encoder, the one that predicts it in the decoder.

    Where there is none, the reason.
    """
    from model.analysis.coreference import pronoun_rows

    return pronoun_rows.pronoun_rows(reader, trace, case, site)


def candidate_weights(
    trace: "Trace", reader: "Reader", case: "PronounCase", site: str, rows: Positions, measure: Measure
) -> Float[np.ndarray, "layer head candidate"] | str:
    """From these rows to antecedent and distractor, by a measure, or why that cannot be said."""
    from model.analysis.coreference.pronoun_rows import reads_sentence
    from model.analysis.coreference.span_attention import read_case

    if not (reads_sentence(trace, site) or site == CROSS):
        return "neither candidate is among the tokens that this attention looks at"
    read = read_case(reader, case)
    if isinstance(read, str):
        return read
    return _candidate_weights(trace, reader, site, rows, tuple(map(tuple, read.pieces[1:])), measure)


def movement(
    first: Float[np.ndarray, "layer head candidate"], second: Float[np.ndarray, "layer head candidate"]
) -> Float[np.ndarray, "layer head"]:
    """How far each head moves toward the right antecedent (`model.analysis.coreference.pronoun_rows.movement`)."""
    from model.analysis.coreference import pronoun_rows

    return pronoun_rows.movement(first, second)


def opened_row(
    trace: "Trace",
    reader: "Reader",
    case: "PronounCase | None",
    site: str,
    layer: int,
    rows: Positions,
    *,
    measure: Measure,
    whole_words: bool,
) -> Row:
    """The mean of these rows in a layer, over tokens or whole words, with the columns of the case's three spans."""
    from model.analysis.coreference import pronoun_rows
    from model.analysis.coreference.span_attention import read_case
    from model.trace import axes

    values = pronoun_rows.measured_rows(reader, trace, site, layer, rows, MEASURES[measure])
    tokens = trace.axis_tokens(site)[1]
    keys = axes.whole_words(tokens, trace.special_tokens) if whole_words else axes.single_tokens(tokens)
    joined = axes.between(values, axes.Axis(("",), (tuple(range(len(rows))),)), keys)[:, 0].numpy()
    joined.setflags(write=False)
    holds_case = pronoun_rows.reads_sentence(trace, site) or site == CROSS
    read = read_case(reader, case) if case is not None and holds_case else None
    pieces = () if read is None or isinstance(read, str) else read.pieces
    columns = [sorted({i for piece in span if (i := keys.index_of(piece)) is not None}) for span in pieces]
    return Row(joined, keys.labels, dict(zip(ROLES, map(tuple, columns), strict=False)))


@cached(max_entries=MAX_WEIGHTS)
def _candidate_weights(
    trace: "Trace",
    reader: "Reader",
    site: str,
    rows: Positions,
    candidates: tuple[Positions, ...],
    measure: Measure,
) -> Float[np.ndarray, "layer head candidate"]:
    from model.analysis.coreference import pronoun_rows

    weights = pronoun_rows.candidate_weights(reader, trace, site, rows, candidates, MEASURES[measure]).numpy()
    weights.setflags(write=False)
    return weights

"""What the model does with the pronouns of two sentences, computed once for all viewers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from viz.pages.coreference.data import MEASURES
from viz.selection.common import Measure
from viz.selection.coreference import MARKS as ROLES
from viz.server.caches import cached
from viz.text.messages import said
from viz.text.sites import CROSS

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.coreference.cases import PronounCase

MAX_WEIGHTS: Final = 64
Positions = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two sentences: its trace, its marked words if all are marked, and the rows that are looked at."""

    number: int
    trace: "Trace"
    case: "PronounCase | None"
    rows: Positions = ()


@dataclass(frozen=True, eq=False)
class Movement:
    """How far every head moves toward the right antecedent; rollout has one "head".

    Attributes:
        values: (antecedent − distractor) in the first sentence + the same in the second.
        parts: what is given to antecedent and distractor in each sentence.
    """

    values: Float[np.ndarray, "layer head"]
    parts: Float[np.ndarray, "layer head sentence candidate"]

    @property
    def farthest(self) -> tuple[int, int]:
        """Layer and head with the largest value."""
        layer, head = np.unravel_index(int(self.values.argmax()), self.values.shape)
        return int(layer), int(head)


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
        return said("neither candidate is among the tokens that this attention looks at")
    read = read_case(reader, case)
    if isinstance(read, str):
        return read
    return _candidate_weights(trace, reader, site, rows, tuple(map(tuple, read.pieces[1:])), measure)


def movement(sides: "Sequence[Side]", reader: "Reader", site: str, measure: Measure) -> Movement | str:
    """How far the heads of an attention move, from the rows of both sides; or why that cannot be said."""
    from model.analysis.coreference import pronoun_rows

    weights = []
    for side in sides:
        if side.case is None:
            return said("pronoun and candidates are not marked in both sentences")
        of_side = candidate_weights(side.trace, reader, side.case, site, side.rows, measure)
        if isinstance(of_side, str):
            return of_side
        weights.append(of_side)
    return Movement(pronoun_rows.movement(*weights), np.stack(weights, axis=2))


def movements(sides: "Sequence[Side]", reader: "Reader", measure: Measure) -> Mapping[str, Movement]:
    """The same from the rows of the pronouns, of every attention in which both have some."""
    of_site = {}
    for site in sides[0].trace.sites:
        looking = [own_rows(side, reader, site) for side in sides]
        moved = movement(looking, reader, site, measure) if all(side.rows for side in looking) else ""
        if not isinstance(moved, str):
            of_site[site] = moved
    return of_site


def own_rows(side: Side, reader: "Reader", site: str) -> Side:
    """The same side looking from the rows of its pronoun; from none where there are none."""
    rows = "" if side.case is None else pronoun_rows(side.trace, reader, side.case, site)
    return replace(side, rows=() if isinstance(rows, str) else rows)


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

"""The logit lens, of the decoding page: what each layer would have said."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp
from typing import TYPE_CHECKING, Annotated, Final, Self

import streamlit as st

from viz.access import models
from viz.pages.decoding import export, steps
from viz.pages.decoding.data import searches
from viz.pages.decoding.film.data import written_axis
from viz.pages.decoding.translations import label_smoothing_note
from viz.pictures.component import Component
from viz.pictures.focus import FocusAxis
from viz.pictures.payload import CHOSEN, Tokens, hear, rounded
from viz.selection import state
from viz.text.messages import _
from viz.text.written import file_name, scientific
from viz.theme import SEQUENTIAL_INKS, Inks
from viz.ui import controls, frame, terms

if TYPE_CHECKING:
    from model import Trace
    from model.decoding.logit_lens import LogitLens
    from model.reader import Writer


_COMPONENT: Final = Component("pages/decoding/logit_lens/lens_table.js", "pages/decoding/logit_lens/lens_table.css")
#: A probability, shown with three digits at most.
_Probability = Annotated[float, rounded(6)]


@dataclass(frozen=True, slots=True)
class LensCell:
    """A level at a step: its likeliest tokens, whether the likeliest was written, and the rank of the one that was."""

    tokens: Tokens
    probabilities: Sequence[_Probability]
    as_written: bool
    chosen: _Probability
    rank: int


@dataclass(frozen=True, eq=False, slots=True)
class LensTable:
    """The table: `read` goes in at each step, of which `axis` has the tokens; `step` is chosen, `name` is for files."""

    levels: Sequence[str]
    read: Tokens
    written: Tokens
    cells: Sequence[Sequence[LensCell]]
    axis: FocusAxis
    step: Annotated[int, CHOSEN]
    name: Annotated[str, CHOSEN]
    scale: Inks = SEQUENTIAL_INKS

    @classmethod
    def of(cls, lens: "LogitLens", read: Sequence[str], axis: FocusAxis, *, step: int, name: str) -> Self:
        """The table of a lens."""
        cells = [_level(lens, level) for level in range(len(lens.tokens))]
        return cls(level_names(len(cells)), read, lens.chosen_tokens, cells, axis, step, name)


@frame.fragment
def show(trace: "Trace") -> None:
    """Layers by steps, the proof that the last layer is the model's output, and the table to take along."""
    if frame.lacking(models.abilities(state.current().model), "logit lens"):
        return
    terms.caption(
        _(
            "What would the model write if each decoder layer were its last? A ✓ marks each answer that is what was "
            "written in the end."
        ),
        help=_(
            "The output of each layer goes through the model's own final norm and output projection. Read a column "
            "downwards: the token read, what each layer would write next, and at the bottom what was written. Where "
            "input and output share one embedding matrix, the first layers mostly repeat the token read. Point at "
            "a cell to see its five most probable tokens; click it to choose its step."
        ),
    )
    steps.follow(trace)
    writer = models.writer(state.current().model)
    lens = searches.logit_lens(trace, writer)
    name, read = file_name("logit lens", sentence=trace.text), trace.target_tokens[-len(trace.steps) :]
    table = LensTable.of(lens, read, written_axis(trace), step=state.current().common.step, name=name)
    lens_table(table, on_choose=_choose, key="lens")
    _badge(trace, lens, writer)
    if note := label_smoothing_note():
        terms.caption(note)
    controls.table_button(_("Table (CSV)"), partial(export.lens, lens, read), name)


def _badge(trace: "Trace", lens: "LogitLens", writer: "Writer") -> None:
    tolerance, largest = writer.parts.tolerance, searches.lens_deviation(trace, writer)
    difference = scientific(largest)
    if largest <= tolerance:
        same = _(
            "last layer = the model's output: the largest difference in a probability is {value}", value=difference
        )
        st.badge(same, icon=":material/check:", color="green")
    else:
        other = _(
            "last layer ≠ the model's output: the largest difference in a probability is {value}", value=difference
        )
        st.badge(other, icon=":material/warning:", color="red")
    written = zip(lens.chosen_probabilities[-1].tolist(), trace.steps, strict=True)
    by_rules = max(abs(probability - exp(step.log_prob)) for probability, step in written)
    # Where the lens is right and the written probability differs, this is why.
    if largest <= tolerance < by_rules:
        frame.caption(
            "The model's own rules forbid some tokens at some steps. The film gives these a probability of 0, the "
            "logit lens does not: the probability of what was written differs by up to {value}.",
            value=scientific(by_rules),
        )


def _choose(step: int) -> None:
    state.change(step=step)


def level_names(count: int) -> list[str]:
    """What the levels of a lens are called; the last of them is the model's own output."""
    between = (_("Layer {number}", number=level) for level in range(1, count - 1))
    return [_("Input"), *between, _("Layer {number} = output", number=count - 1)]


def _level(lens: "LogitLens", level: int) -> list[LensCell]:
    rows = zip(
        lens.tokens[level],
        lens.probabilities[level].tolist(),
        lens.token_ids[level, :, 0].tolist(),
        lens.chosen_ids,
        lens.chosen_probabilities[level].tolist(),
        lens.chosen_ranks[level].tolist(),
        strict=True,
    )
    return [
        LensCell(tokens, probabilities, best == written, chosen, rank)
        for tokens, probabilities, best, written, chosen, rank in rows
    ]


def lens_table(table: LensTable, *, on_choose: Callable[[int], object], key: str) -> None:
    """Show the table; `on_choose` is called before the next run with the step that a person chose."""
    _COMPONENT.show(table, key=key, step=hear(on_choose, int, step=range(len(table.read))))

"""Masks, positions and cost, a section of the model page: which keys each attention sees, and what n tokens take."""

from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import mechanisms, models, traces
from viz.selection import state
from viz.selection.examples import EXAMPLES
from viz.selection.selection import Selection
from viz.text import written
from viz.text.html import Column, table
from viz.text.messages import _, said
from viz.text.written import byte_count
from viz.ui import frame, present, sentence
from viz.ui import mechanisms as pictures
from viz.ui.snippets import Snippet, line, of_text

if TYPE_CHECKING:
    from model import Trace

#: The text that is read for it; masks and positions are the same for every text.
TEXT: Final = EXAMPLES[0].text
#: Lengths of the table, as far as the model reads so many.
LENGTHS: Final = (64, 512, 4_096, 32_768)
_MASKS: Final = (Column(said("Attention")), Column(said("Layers")), Column(said("Keys")))
_LENGTHS: Final = Column(said("Read"), is_number=True), Column(said("Written"), is_number=True)
_COSTS: Final = (
    Column(said("Multiply-adds, millions"), is_number=True),
    Column(said("Keys and values"), is_number=True),
    Column(said("All weights"), is_number=True),
)


def show(selection: Selection) -> None:
    """The masks and the cost in tables, the positions as a picture."""
    trace = _trace()
    rows = [
        (written.label(site), pictures.layers_in_words(mask.layers, trace.layers_of(site)), mask.rule)
        for site in trace.sites
        for mask in mechanisms.masks_in_use(trace, site)
    ]
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            st.html(table(_MASKS, rows, label=_("Which keys a row can see")))
            frame.unfolding(_("The masks of one sentence, as pictures"), "card-masks", pictures.masks, trace)
        with st.container():
            _cost(trace, selection)
    pictures.positions(trace)


def _trace() -> "Trace":
    return sentence.read(TEXT, key="mechanisms")


def lengths(most: int | None) -> tuple[int, ...]:
    """The lengths of a text that are counted for a model that reads at most so many tokens, this one last."""
    return LENGTHS if most is None else (*(length for length in LENGTHS if length < most), most)


def _cost(trace: "Trace", selection: Selection) -> None:
    abilities = models.abilities(selection.model)
    if not trace.knows_inputs:
        frame.lacking(abilities, "scores")
        return
    # Only who attends to an encoder writes another text than it reads.
    columns = (*_LENGTHS[: 1 + (written.CROSS in trace.sites)], *_COSTS)
    asked = lengths(abilities.max_length)
    if abilities.reads != "text":
        asked = asked[-1:]
    rows = []
    for length in asked:
        # About a text as much is written as was read, about anything else as much as the model can write.
        most = abilities.max_target_length or length
        target = min(length, most) if abilities.reads == "text" else most
        cost = mechanisms.attention_cost(trace, length, target)
        of_both = _(trace.source.limit, count=length), _("{count:,} tokens", count=target)
        numbers = f"{cost.multiply_adds / 1e6:,.1f}", byte_count(4 * cost.cached), byte_count(4 * cost.weights)
        rows.append((*of_both[: len(columns) - len(numbers)], *numbers))
    st.html(table(columns, rows, label=_("What attention to this many tokens costs")))
    frame.caption(
        "Totals over all layers and heads for an input and an output of these lengths. Multiply-adds are those of QKᵀ "
        "and of weights · V. They and the weights grow with the square of the length; where a window limits the keys, "
        "multiply-adds grow in proportion to the length. Keys and values are what a decoder keeps in its cache. Sizes "
        "are in float32."
    )
    if abilities.generates:
        st.button(
            _("What the cache saves at each step: Lessons"),
            key="cost-of-steps",
            icon=":material/open_in_new:",
            type="tertiary",
            on_click=present.open_explore,
            args=("cost",),
        )


def python() -> Snippet:
    """The masks and the position scheme, and the multiply-adds at one length."""
    selection = state.current()
    trace = traces.trace(models.text_reader(selection.model), TEXT)
    return of_text(
        trace,
        {"analysis.positions": "position_schemes", "decoding.cost": "attention_cost"},
        "masks = {site: trace.mask(site, 0) for site in trace.sites}  # True where allowed",
        line("schemes = position_schemes(reader, trace, {})", mechanisms.positions_drawn(trace))
        + line("; cost = attention_cost(trace, {})", LENGTHS[1]),
    )

"""Table 1, of the page on claims: how far influence comes, what a layer costs by count."""

from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz import theme
from viz.pages.learn.explore import figures
from viz.pages.learn.explore.data import table_one as data
from viz.selection import state
from viz.text import html
from viz.text.messages import _, said
from viz.text.written import amount, file_name
from viz.ui import controls, frame, terms
from viz.ui.snippets import Snippet, alone, line

if TYPE_CHECKING:
    from model.analysis.layer_kinds import Kind

#: What the paper's Table 1 has for each: operations, sequential operations, longest path.
PAPER: "Final[dict[Kind, tuple[str, str, str]]]" = {
    "self-attention": ("O(n² · d)", "O(1)", "O(1)"),
    "recurrent": ("O(n · d²)", "O(n)", "O(n)"),
    "convolution": ("O(k · n · d²)", "O(1)", "O(n / k), §4"),
    "dilated": ("O(k · n · d²)", "O(1)", "O(logₖ n)"),
    "restricted": ("O(r · n · d)", "O(1)", "O(n / r)"),
}
_COLUMNS: Final = (
    html.Column(said("Layer")),
    html.Column(said("Operations, paper")),
    html.Column(said("Counted"), is_number=True),
    html.Column(said("Sequential operations, paper")),
    html.Column(said("Counted"), is_number=True),
    html.Column(said("Longest path, paper")),
    html.Column(said("Layers to connect both ends"), is_number=True),
)
_SHARES: Final = said("exactly 0"), said("1/100,000 of the largest"), said("about 1/1,000"), said("the largest")
_SHADES: Final = figures.shades(np.array([[0.0, 1e-5, 1e-3, 1.0]])).ravel().tolist()
_LEGEND: Final = [(theme.colour_at(shade), name) for shade, name in zip(_SHADES, _SHARES, strict=True)]


@frame.fragment
def show() -> None:
    """Influence after 1 to 4 layers and the table as counted."""
    with st.container(horizontal=True, gap="medium"):
        with st.container(width=200):
            kernel = controls.stepped("kernel_width", _("k, kernel width of the convolution"), data.KERNELS)
        with st.container(width=260):
            window = controls.stepped("window_size", _("r, keys of restricted attention"), data.WINDOWS)
    influences = data.influences(kernel, window)
    with st.grid(len(data.KINDS), min_column_width=125, gap="small"):
        for kind in data.KINDS:
            name = _(figures.NAMES[kind])
            message = "{name}: influence of each input on each output after 1 to {layers} layers"
            alt = _(message, name=name, layers=data.LAYERS)
            figure = figures.influence_maps(influences[kind], name)
            frame.chart(figure, f"influence-{kind}", file_name("influence", kind), alt)
    st.html(html.swatches(_LEGEND))
    frame.caption(
        "How strongly output i (row) changes with input j (column): ‖∂ output / ∂ input‖, computed exactly for "
        "random layers over 32 positions, on a logarithmic scale relative to the largest value of each map. "
        "**Self-attention** connects all positions in one layer. In a **recurrent** layer distant inputs have "
        "faded, and later positions have no influence; more layers do not change this. A **convolution** and "
        "**restricted** attention widen by the same few positions with each layer, a **dilated** convolution "
        "(dilation 1, k, k² …) by a factor of k."
    )
    _table(kernel, window)


def python() -> Snippet:
    """How far influence comes, and what a layer costs by count."""
    choices = state.current().learn
    settings = line("settings = Settings({}, {})", choices.kernel_width, choices.window_size)
    template = "reached = {{kind: influence(kind, {}, settings) for kind in KINDS}}  # [output, input] by depth"
    counted = "counted = {{kind: multiply_adds(kind, {}, {}, settings) for kind in KINDS}}"
    return alone(
        {"analysis.layer_kinds": "KINDS, Settings, influence, multiply_adds"},
        settings,
        line(template, data.LAYERS),
        line(counted, choices.layer_length, choices.layer_width),
    )


def _table(kernel: int, window: int) -> None:
    st.subheader(_("Table 1 of the paper and our counts"), anchor=False)
    length, width = _sizes()
    rows = []
    for kind, (in_paper, steps_in_paper, path_in_paper) in PAPER.items():
        operations, steps, layers = data.counted(kind, length, width, kernel, window)
        met = f"{layers:,}" if kind != "recurrent" else _("1 ({length:,} sequential steps)", length=length)
        cells = in_paper, amount(operations), steps_in_paper, f"{steps:,}", path_in_paper, met
        rows.append((figures.NAMES[kind], *cells))
    st.html(html.table(_COLUMNS, rows, label=_("Table 1 of the paper compared with our counts")))
    ours, steps, _layers = data.counted("self-attention", length, width, kernel, window)
    theirs, in_turn, _layers = data.counted("recurrent", length, width, kernel, window)
    message = (
        "**By count, self-attention takes {ratio:.2g} × the multiply-adds of a GRU here, and {steps:,} sequential step "
        "instead of {in_turn:,}; how much time that saves depends on the hardware.**"
    )
    terms.markdown(_(message, ratio=ours / theirs, steps=steps, in_turn=in_turn))
    frame.caption(
        "Multiply-adds of one layer of n = {length:,} positions with d = {width:,}. **The paper** (§4, Table 1) "
        "counts the dominant terms: for self-attention 2 n² d, here plus the 4 n d² of its projections. A GRU "
        "has 6 n d². So by count the two are equal at **n = d**, as §4 says: “self-attention layers are faster "
        "than recurrent layers when the sequence length n is smaller than the representation dimensionality d”.",
        length=length,
        width=width,
    )
    frame.caption("The time of each layer on your machine: `python -m model claims`.")


def _sizes() -> tuple[int, int]:
    with st.container(horizontal=True, gap="medium"):
        with st.container(width=330):
            length = controls.stepped("layer_length", _("n, positions"), data.LENGTHS)
        with st.container(width=260):
            width = controls.stepped("layer_width", _("d, components"), data.LAYER_WIDTHS)
    return length, width

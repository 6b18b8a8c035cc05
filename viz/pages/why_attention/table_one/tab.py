"""Table 1, of the page on claims: how far influence comes, what a layer costs by count and by the clock."""

from typing import TYPE_CHECKING, Final

import streamlit as st

from viz import theme
from viz.pages.why_attention.amounts import amount
from viz.pages.why_attention.table_one import data, figures, times
from viz.text import html
from viz.text.messages import _, said
from viz.text.sites import file_name
from viz.ui import controls, frame

if TYPE_CHECKING:
    from model.analysis.layer_kinds.kinds import Kind

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
    html.Column(said("Steps in turn, paper")),
    html.Column(said("Counted"), is_number=True),
    html.Column(said("Longest path, paper")),
    html.Column(said("Layers until the ends meet"), is_number=True),
)


_LEGEND: Final = (
    (theme.SEQUENTIAL[0], said("none at all")),
    (theme.SEQUENTIAL[2], said("1/100,000 of the largest")),
    (theme.SEQUENTIAL[5], said("about 1/1,000")),
    (theme.SEQUENTIAL[9], said("the largest")),
)


@frame.fragment
def show(trace: object) -> None:
    """Influence after 1 to 4 layers, the table as counted, and the times."""
    with st.container(horizontal=True, gap="medium"):
        with st.container(width=200):
            kernel = controls.stepped("kernel_width", _("k, kernel of a convolution"), data.KERNELS)
        with st.container(width=260):
            window = controls.stepped("window_size", _("r, keys of restricted attention"), data.WINDOWS)
    influences = data.influences(kernel, window)
    with st.grid(len(data.KINDS), min_column_width=125, gap="small"):
        for kind in data.KINDS:
            name = _(figures.NAMES[kind])
            alt = _(
                "{name}: influence of each input on each output after 1 to {layers} layers",
                name=name,
                layers=data.LAYERS,
            )
            figure = figures.influence_maps(influences[kind], name)
            frame.chart(figure, f"influence-{kind}", file_name("influence", kind), alt)
    st.html(html.swatches(_LEGEND))
    st.caption(
        _(
            "How strongly output i (row) changes with input j (column): ‖∂ output / ∂ input‖, computed exactly "
            "through random layers over 32 positions, on a logarithmic scale, each map by its own largest. "
            "**Self-attention** joins all positions in one layer. In a **recurrent** layer what lies far back has "
            "faded, and nothing comes from the right; more layers bring no other order. A **convolution** and "
            "**restricted** attention widen by the same few positions with each layer, a **dilated** one (dilation "
            "1, k, k² …) by k times more each time."
        )
    )
    _table(kernel, window)
    times.show(kernel, window)


def _table(kernel: int, window: int) -> None:
    st.subheader(_("Table 1, counted"), anchor=False)
    length, width = _sizes()
    rows = []
    for kind in data.KINDS:
        operations, steps, layers = data.counted(kind, length, width, kernel, window)
        paper = PAPER[kind]
        met = f"{layers:,}" if kind != "recurrent" else _("1, of {length:,} steps", length=length)
        rows.append((figures.NAMES[kind], paper[0], amount(operations), paper[1], f"{steps:,}", paper[2], met))
    st.html(html.table(_COLUMNS, rows, label=_("Table 1 of the paper beside what is counted")))
    st.caption(
        _(
            "Multiply-adds of one layer of n = {length:,} positions with d = {width:,}. **The paper** (§4, Table 1) "
            "counts what grows: of self-attention 2 n² d, here with the 4 n d² of its projections as well. A GRU has "
            "6 n d². So by count the two are equal at **n = d**, which is where §4 puts it: “self-attention layers "
            "are faster than recurrent layers when the sequence length n is smaller than the representation "
            "dimensionality d”.",
            length=length,
            width=width,
        )
    )


def _sizes() -> tuple[int, int]:
    with st.container(horizontal=True, gap="medium"):
        with st.container(width=330):
            length = controls.stepped("layer_length", _("n, positions"), data.LENGTHS)
        with st.container(width=260):
            width = controls.stepped("layer_width", _("d, components"), data.WIDTHS)
    return length, width

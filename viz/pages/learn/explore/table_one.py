"""Table 1, of the page on claims: how far influence comes, what a layer costs by count and by the clock."""

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz import theme
from viz.pages.learn.explore import figures
from viz.pages.learn.explore.data import table_one as data
from viz.pages.learn.explore.timing import DEVICES, Line, cost_lines, duration, say_unsteady
from viz.selection import state
from viz.text import html
from viz.text.messages import _, said
from viz.text.written import amount, file_name
from viz.ui import controls, frame, long_work
from viz.ui.snippets import Snippet, alone, line
from viz.ui.trace_tables import table

if TYPE_CHECKING:
    from model.analysis.layer_kinds import Kind, LayerTimes

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
_LEGEND: Final = [(theme.sequential(shade)[0], name) for shade, name in zip(_SHADES, _SHARES, strict=True)]
_TIME_COLUMNS: Final = (
    html.Column(said("Layer")),
    html.Column(said("Device")),
    html.Column(said("Time"), is_number=True),
    html.Column(said("Multiply-adds per second"), is_number=True),
    html.Column(said("n to the …, paper"), is_number=True),
    html.Column(said("counted"), is_number=True),
    html.Column(said("measured"), is_number=True),
    html.Column(said("d to the …, paper"), is_number=True),
    html.Column(said("counted"), is_number=True),
    html.Column(said("measured"), is_number=True),
)


@frame.fragment
def show() -> None:
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
            message = "{name}: influence of each input on each output after 1 to {layers} layers"
            alt = _(message, name=name, layers=data.LAYERS)
            figure = figures.influence_maps(influences[kind], name)
            frame.chart(figure, f"influence-{kind}", file_name("influence", kind), alt)
    st.html(html.swatches(_LEGEND))
    frame.small_print(
        "How strongly output i (row) changes with input j (column): ‖∂ output / ∂ input‖, computed exactly for "
        "random layers over 32 positions, on a logarithmic scale relative to the largest value of each map. "
        "**Self-attention** connects all positions in one layer. In a **recurrent** layer distant inputs have "
        "faded, and later positions have no influence; more layers do not change this. A **convolution** and "
        "**restricted** attention widen by the same few positions with each layer, a **dilated** convolution "
        "(dilation 1, k, k² …) by a factor of k."
    )
    _table(kernel, window)
    _show_times(kernel, window)


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
    st.subheader(_("Table 1, counted"), anchor=False)
    length, width = _sizes()
    rows = []
    for kind, (in_paper, steps_in_paper, path_in_paper) in PAPER.items():
        operations, steps, layers = data.counted(kind, length, width, kernel, window)
        met = f"{layers:,}" if kind != "recurrent" else _("1, of {length:,} steps", length=length)
        cells = in_paper, amount(operations), steps_in_paper, f"{steps:,}", path_in_paper, met
        rows.append((figures.NAMES[kind], *cells))
    st.html(html.table(_COLUMNS, rows, label=_("Table 1 of the paper compared with our counts")))
    ours, steps, _layers = data.counted("self-attention", length, width, kernel, window)
    theirs, in_turn, _layers = data.counted("recurrent", length, width, kernel, window)
    message = (
        "**By count, self-attention takes {ratio:.2g} × the multiply-adds of a GRU here, and {steps:,} sequential step "
        "instead of {in_turn:,}; how much time that saves depends on the hardware.**"
    )
    st.markdown(_(message, ratio=ours / theirs, steps=steps, in_turn=in_turn))
    frame.small_print(
        "Multiply-adds of one layer of n = {length:,} positions with d = {width:,}. **The paper** (§4, Table 1) "
        "counts the dominant terms: for self-attention 2 n² d, here plus the 4 n d² of its projections. A GRU "
        "has 6 n d². So by count the two are equal at **n = d**, as §4 says: “self-attention layers are faster "
        "than recurrent layers when the sequence length n is smaller than the representation dimensionality d”.",
        length=length,
        width=width,
    )


def _sizes() -> tuple[int, int]:
    with st.container(horizontal=True, gap="medium"):
        with st.container(width=330):
            length = controls.stepped("layer_length", _("n, positions"), data.LENGTHS)
        with st.container(width=260):
            width = controls.stepped("layer_width", _("d, components"), data.LAYER_WIDTHS)
    return length, width


def _show_times(kernel: int, window: int) -> None:
    """The button that measures, and what was measured."""
    choices = state.current().learn
    length, width = choices.layer_length, choices.layer_width
    st.subheader(_("Table 1, timed on this machine"), anchor=False)
    task = data.times_task(length, width, kernel, window)
    times = long_work.outcome(
        task, _("Measure up to n = {length:,}, d = {width:,}", length=length, width=width), key="layer-times"
    )
    if times is None:
        frame.small_print(
            "One layer of each kind runs forward: for n up to the chosen value, and for several d. Then an "
            "exponent is fitted to each line and compared with the paper's O(·)."
        )
        return
    devices = tuple(dict.fromkeys(one.device for one in times.over_length))
    st.html(html.swatches([(figures.COLOURS[kind], figures.NAMES[kind]) for kind in data.KINDS]))
    with st.grid(2, min_column_width=330, gap="medium"):
        sizes = ((True, _("n, positions (d = {width:,})", width=width)), (False, _("d, components (n = 128)")))
        for over_length, size in sizes:
            lines = [_line(times, kind, device, over_length) for device in devices for kind in data.KINDS]
            which = "n" if over_length else "d"
            alt = _("Time of one layer by {size}, one line per kind", size=which)
            frame.chart(cost_lines(lines, size), f"layer-times-{which}", file_name("layers", "time", which), alt)
    st.html(html.table(_TIME_COLUMNS, _rows(times, devices), label=_("Exponents of the paper, counted and measured")))
    for device in devices:
        st.caption(_crossing(times, device))
    say_unsteady(times.unsteadiness)
    controls.table_button(_("All measurements (CSV)"), partial(_csv, times), file_name("layers"))


def _line(times: "LayerTimes", kind: "Kind", device: str, over_length: bool) -> Line:
    curve = times.of(kind, device, over_length=over_length)
    return Line(
        f"{_(figures.NAMES[kind])}, {DEVICES[device]}",
        figures.COLOURS[kind],
        tuple(one.length if over_length else one.width for one in curve),
        tuple(one.seconds for one in curve),
        is_dashed=device != "cpu",
    )


def _rows(times: "LayerTimes", devices: tuple[str, ...]) -> list[tuple[str, ...]]:
    rows = []
    for device in devices:
        for kind in data.KINDS:
            last = times.of(kind, device, over_length=True)[-1]
            exponents = []
            for paper, over_length in zip(data.PAPER_EXPONENTS[kind], (True, False), strict=True):
                counted, measured = times.exponents(kind, device, over_length=over_length)
                exponents += [str(paper), f"{counted:.1f}", f"{measured:.1f}"]
            rate = f"{amount(_rate(times, kind, device))}"
            rows.append((figures.NAMES[kind], DEVICES[device], duration(last.seconds), rate, *exponents))
    return rows


def _rate(times: "LayerTimes", kind: "Kind", device: str) -> float:
    """Multiply-adds a second at the largest n."""
    last = times.of(kind, device, over_length=True)[-1]
    settings = times.settings
    counted, _, _ = data.counted(kind, last.length, last.width, settings.kernel, settings.window)
    return counted / last.seconds


def _crossing(times: "LayerTimes", device: str) -> str:
    """Where self-attention and the recurrent layer cross, by count and by the clock."""
    found, known = data.crossing(times, device), {"width": times.width, "device": DEVICES[device]}
    if found is None:
        message = (
            "By count, self-attention and the GRU cross at n = d = {width:,}. Timed on the {device}, they do not cross "
            "up to n = {length:,}: self-attention stays faster."
        )
        return _(message, **known, length=times.length)
    if found == 0:
        return _(
            "By count, self-attention and the GRU cross at n = d = {width:,}. Timed on the {device}, self-attention "
            "takes longer at every measured n.",
            **known,
        )
    message = (
        "By count, self-attention and the GRU cross at n = d = {width:,}. Timed on the {device}, they cross at **n ≈ "
        "{length:,.0f}**."
    )
    return _(message, **known, length=found)


def _csv(times: "LayerTimes") -> bytes:
    """A row for each layer that was measured: its kind, sizes and device, and the least of its times."""
    titles = ("kind", "device", "n", "d", "kernel", "window", "seconds")
    settings = (times.settings.kernel, times.settings.window)
    measured = (*times.over_length, *times.over_width)
    return table(titles, ((one.kind, one.device, one.length, one.width, *settings, one.seconds) for one in measured))

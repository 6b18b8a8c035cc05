"""The wall time of the layers of Table 1, with the exponents that are fitted to it, beside the paper's."""

from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.pages.why_attention import tables
from viz.pages.why_attention.amounts import amount, duration
from viz.pages.why_attention.clock import say_unsteady
from viz.pages.why_attention.cost_lines import Line, time_lines
from viz.pages.why_attention.table_one import data, figures
from viz.selection import state
from viz.text import html, messages
from viz.text.messages import _, said
from viz.text.sites import file_name
from viz.ui import frame, long_work, number_controls

if TYPE_CHECKING:
    from model.analysis.layer_kinds.kinds import Kind
    from model.analysis.layer_kinds.times import LayerTimes

DEVICES: Final = {"cpu": "CPU", "cuda": "GPU"}
#: A measured exponent so much below the counted one is called flatter.
FLAT: Final = 0.25
_COLUMNS: Final = (
    html.Column(said("Layer")),
    html.Column(said("On")),
    html.Column(said("Time"), is_number=True),
    html.Column(said("Multiply-adds a second"), is_number=True),
    html.Column(said("n to the …, paper"), is_number=True),
    html.Column(said("counted"), is_number=True),
    html.Column(said("measured"), is_number=True),
    html.Column(said("d to the …, paper"), is_number=True),
    html.Column(said("counted"), is_number=True),
    html.Column(said("measured"), is_number=True),
)


def show(kernel: int, window: int) -> None:
    """The button that measures, and what was measured."""
    choices = state.current().why_attention
    length, width = choices.layer_length, choices.layer_width
    st.subheader(_("Table 1, by this machine's clock"), anchor=False)
    task = data.times_task(length, width, kernel, window)
    times = long_work.outcome(
        task, _("Measure up to n = {length:,}, d = {width:,}", length=length, width=width), key="layer-times"
    )
    if times is None:
        st.caption(
            _(
                "One layer of each kind runs forward: over n up to the chosen one, and over d. Then an exponent is "
                "fitted to each line and stands beside the paper's O(·)."
            )
        )
        return
    devices = tuple(dict.fromkeys(one.device for one in times.over_length))
    st.html(html.swatches([(figures.COLOURS[kind], figures.NAMES[kind]) for kind in data.KINDS]))
    with st.grid(2, min_column_width=330, gap="medium"):
        sizes = ((True, _("n, positions (d = {width:,})", width=width)), (False, _("d, components (n = 128)")))
        for over_length, size in sizes:
            lines = [_line(times, kind, device, over_length) for device in devices for kind in data.KINDS]
            which = "n" if over_length else "d"
            alt = _("Time of one layer over {size}, a line for each kind", size=which)
            frame.chart(time_lines(lines, size), f"layer-times-{which}", file_name("layers", "time", which), alt)
    st.html(html.table(_COLUMNS, _rows(times, devices), label=_("Exponents of the paper, counted and measured")))
    for device in devices:
        st.caption(messages.in_a_row((_crossing(times, device), _bends(times, device))))
    say_unsteady(times.unsteadiness)
    number_controls.table_button(_("All measurements (CSV)"), partial(tables.layer_times, times), file_name("layers"))


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
            for paper, over_length in zip(data.paper_exponents(kind), (True, False), strict=True):
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
        return _(
            "By count, self-attention and the GRU cross at n = d = {width:,}. By the clock of the {device} they do not "
            "cross up to n = {length:,}: self-attention stays faster.",
            **known,
            length=times.length,
        )
    if found == 0:
        return _(
            "By count, self-attention and the GRU cross at n = d = {width:,}. By the clock of the {device} "
            "self-attention takes longer at every n that was measured.",
            **known,
        )
    return _(
        "By count, self-attention and the GRU cross at n = d = {width:,}. By the clock of the {device} they cross at "
        "**n ≈ {length:,.0f}**.",
        **known,
        length=found,
    )


def _bends(times: "LayerTimes", device: str) -> str:
    """Where the hardware bends an O(·): what is told from the measured figures alone."""
    rates = {kind: _rate(times, kind, device) for kind in data.KINDS}
    fastest, slowest = max(rates, key=lambda kind: rates[kind]), min(rates, key=lambda kind: rates[kind])
    sentences = [
        _(
            "**Where the hardware bends the O(·):** it does not do all multiply-adds equally fast. {fastest} gets "
            "through {most} a second, {slowest} through {least}, {times:.0f} × fewer.",
            fastest=figures.NAMES[fastest],
            most=amount(rates[fastest]),
            slowest=figures.NAMES[slowest],
            least=amount(rates[slowest]),
            times=rates[fastest] / rates[slowest],
        )
    ]
    if rates["recurrent"] < rates["self-attention"]:
        sentences.append(
            _(
                "The GRU's {length:,} steps wait for one another, each too small to fill the machine: O(n) steps in "
                "turn are what it pays for.",
                length=times.length,
            )
        )
    if rates["restricted"] < rates["self-attention"]:
        sentences.append(
            _(
                "Restricted attention has fewer to do but reads every key r times, in small products; one large "
                "product over all keys runs nearer to what the machine can do."
            )
        )
    exponents = {kind: times.exponents(kind, device, over_length=True) for kind in data.KINDS}
    flat = [figures.NAMES[kind] for kind, (counted, measured) in exponents.items() if measured < counted - FLAT]
    if flat:
        sentences.append(
            _(
                "Flatter in n than counted, for the fixed cost of a call still shows: {kinds}.",
                kinds=messages.with_commas(flat),
            )
        )
    return messages.in_a_row(sentences)

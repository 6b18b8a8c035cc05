"""What each score function costs on this machine: time and memory, measured when asked for, and operations counted."""

from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.pages.why_attention import tables
from viz.pages.why_attention.amounts import amount, duration, memory
from viz.pages.why_attention.clock import say_unsteady
from viz.pages.why_attention.cost_lines import Line, memory_lines, time_lines
from viz.pages.why_attention.scores import data, figures
from viz.text import html
from viz.text.messages import _, said
from viz.text.sites import file_name
from viz.ui import controls, frame, long_work, number_controls

if TYPE_CHECKING:
    from model.analysis.scoring.costs import ScoreCost

N: Final = said("n, queries and keys")
_ALTS: Final = {
    "seconds": said("time of the scores over n, a line for each function"),
    "num_bytes": said("memory of the scores over n, a line for each function"),
}
DEVICES: Final = {"cpu": "CPU", "cuda": "GPU"}
_COLUMNS: Final = (
    html.Column(said("Score function")),
    html.Column(said("Multiply-adds"), is_number=True),
    html.Column("tanh", is_number=True),
    html.Column(said("On")),
    html.Column(said("Time"), is_number=True),
    html.Column(said("Against dot"), is_number=True),
    html.Column(said("Memory"), is_number=True),
)


def show(width: int) -> None:
    """The largest number of keys, the button that measures, and what was measured."""
    st.subheader(_("What each costs on this machine"), anchor=False)
    with st.container(width=460):
        size = controls.stepped(
            "score_size", _(N), data.SIZES, help_text=_("Measured from 64 on, each time twice as many.")
        )
    st.caption(
        _(
            "**The paper** (§3.2.1) calls dot-product and additive attention “similar in theoretical complexity”, "
            "but the dot product “much faster and more space-efficient in practice”, for it is one product of "
            "matrices; it gives no figures. **Here** the scores of n queries and n keys are computed by each "
            "function, with d_k as chosen at the top. Scaling is left out: it costs nothing that could be measured."
        )
    )
    task = data.cost_task(size, width)
    measured = long_work.outcome(
        task, _("Measure up to n = {size:,}, d_k = {width:,}", size=size, width=width), key="score-costs"
    )
    if measured is not None:
        _measured(measured, size, width)


def _measured(measured: "tuple[ScoreCost, ...]", size: int, width: int) -> None:
    devices = dict.fromkeys(one.device for one in measured)
    st.html(html.swatches([(figures.COLOURS[name], figures.LABELS[name][0]) for name in data.COSTED]))
    with st.grid(2, min_column_width=330, gap="medium"):
        for what, draw in (("seconds", time_lines), ("num_bytes", memory_lines)):
            frame.chart(
                draw([_line(measured, name, device, what) for name in data.COSTED for device in devices], _(N)),
                f"score-cost-{what}",
                file_name("scores", "cost", what, f"dk{width}"),
                _(_ALTS[what]),
            )
    last = [one for one in measured if one.size == max(other.size for other in measured)]
    dots = {one.device: one.measured.seconds for one in last if one.name == "dot"}
    rows = []
    for one in last:
        counted = data.operations(one.name, one.size, width)
        rows.append(
            (
                figures.LABELS[one.name][0],
                amount(counted.multiply_adds),
                amount(counted.tanh) if counted.tanh else "–",
                DEVICES[one.device],
                duration(one.measured.seconds),
                f"{one.measured.seconds / dots[one.device]:.1f} ×",
                memory(one.measured.num_bytes),
            )
        )
    st.html(html.table(_COLUMNS, rows, label=_("What the scores cost at the largest n")))
    dashed = _(" Dashed lines are the GPU.") if len(devices) > 1 else ""
    st.caption(
        _(
            "The table is n = {size:,}. Both axes of the picture are logarithmic: a line that is four times as high "
            "where n is twice as large is n². Time is the least of several runs, memory the most that was held at "
            "once.{dashed} The additive function is computed for some rows at a time, or its n · n · d_k values of "
            "tanh would need {memory} at once.",
            size=last[0].size,
            dashed=dashed,
            memory=memory(4 * last[0].size ** 2 * width),
        )
    )
    say_unsteady(data.unsteadiness(measured))
    number_controls.table_button(
        _("All measurements (CSV)"),
        partial(tables.score_costs, measured, width),
        file_name("scores", "costs", f"n{size}"),
    )


def _line(measured: "tuple[ScoreCost, ...]", name: str, device: str, what: str) -> Line:
    """Seconds or bytes of one function on one device."""
    of_line = [one for one in measured if (one.name, one.device) == (name, device)]
    return Line(
        f"{_(figures.LABELS[name][0])}, {DEVICES[device]}",
        figures.COLOURS[name],
        tuple(one.size for one in of_line),
        tuple(getattr(one.measured, what) for one in of_line),
        is_dashed=device != "cpu",
    )

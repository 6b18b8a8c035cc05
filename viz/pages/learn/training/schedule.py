"""The learning rate: the paper's warm-up with its two numbers to move, and the chosen model's own."""

from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models
from viz.pages.learn.training import data, figures
from viz.selection import state
from viz.text.messages import _, said
from viz.text.sites import file_name
from viz.ui import controls, frame
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

#: The paper's models: name → d_model and the warm-up's steps (§5.3, Table 3).
PAPER: Final[dict[str, tuple[int, int]]] = {
    said("base, d_model 512"): (512, 4_000),
    said("big, d_model 1,024"): (1_024, 4_000),
}
FORMULA: Final = r"$lr = d_\text{model}^{-0.5} \cdot \min(step^{-0.5},\ step \cdot warmup^{-1.5})$"
#: Steps over which schedules are drawn: as many as the paper trained its base model.
LAST: Final = 100_000
SHOWN: Final = 30_000


def show(controls_row: "DeltaGenerator") -> None:
    """Two sliders, the schedule, and below it what the chosen model was trained with."""
    with controls_row:
        width = controls.slider("schedule_width", "d_model", 64, 2_048)
        warmup = controls.slider("schedule_warmup", _("Warm-up, steps"), 100, 20_000)
    chosen = data.paper_schedule(width, warmup, SHOWN)
    peak = (width * warmup) ** -0.5
    paper = {name: data.paper_schedule(*numbers, SHOWN) for name, numbers in PAPER.items()}
    frame.chart(
        figures.schedule_curves(chosen, paper, warmup),
        "schedule",
        file_name("schedule", str(width), str(warmup)),
        _("The learning rate over the steps, for the chosen numbers and for the paper's models."),
    )
    st.markdown(
        _(
            "{formula}: the rate rises for {warmup:,} steps to **{peak:.2e}** = 1 ÷ √(d_model · warm-up), then falls "
            "as 1/√step, to {rate:.2e} at {last:,}.",
            formula=FORMULA,
            warmup=warmup,
            peak=peak,
            rate=chosen[1][-1],
            last=SHOWN,
        )
    )
    st.caption(
        _(
            "The first {shown:,} of the {last:,} steps that the paper trained its base model (§5.2). Dotted: the end "
            "of the warm-up. A wider model gets a lower rate, a longer warm-up a lower peak.",
            shown=SHOWN,
            last=LAST,
        )
    )
    own = data.trained_schedule(state.current().model)
    name = plain(models.name_of(state.current().model))
    if own is None:
        frame.note(_("No log of its training lies beside {name}, so its own schedule is not known.", name=name))
        return
    st.subheader(_("How {name} was trained", name=name), anchor=False)
    frame.chart(
        figures.trained_curve(own.steps, own.values),
        "trained-schedule",
        file_name("trained schedule"),
        _("The learning rate of the chosen model's training over its steps."),
    )
    st.caption(
        _(
            "The highest rate of its log is {rate:.1e}. Where the line starts anew, a stage began: every "
            "stage has a warm-up of its own.",
            rate=max(own.values),
        )
    )

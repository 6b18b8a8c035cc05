"""Hide a rectangle of the picture that is read, as a check: what the model then writes, and where it then looks."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import attention, models, texts, traces
from viz.access.given_files import Given
from viz.pages.attention.opened_head import picture_panel
from viz.selection import state
from viz.selection.choices import ModelChoice
from viz.server.caches import cached
from viz.text import html
from viz.text.messages import _, said, shown
from viz.text.written import DECODER, NamedHead, display_token, file_name
from viz.ui import controls, finding, frame, terms
from viz.ui.controls import plain
from viz.ui.trace_tables import cell, digits, table

if TYPE_CHECKING:
    from model import Trace

#: What hides → the label of its button.
_BY: Final = {"grey": said("Hide it: grey"), "mean": said("Hide it: mean colour")}
_COLUMNS: Final = (
    html.Column(said("Written")),
    html.Column(said("Log-probability (nats)"), is_number=True),
    html.Column(said("With the part hidden"), is_number=True),
    html.Column(said("Most probable with the part hidden")),
)
MAX_CHECKS: Final = 16


def show(trace: "Trace", site: str) -> None:
    """Buttons that hide the rectangle that is drawn; where one is hidden, what that changes. Nothing of a text."""
    if trace.source.grid is None:
        return
    chosen = Given.read(state.current().model.given_file)
    if not chosen.hidden:
        if texts.patches_in(trace, state.current().attention.area):
            with st.container(horizontal=True, gap="xsmall"):
                for colour, label in _BY.items():
                    st.button(_(label), key=f"hide-{colour}", on_click=_hide, args=(trace, colour))
        return
    st.button(_("Show the part again"), key="show-part", icon=":material/visibility:", on_click=_hide, args=(trace, ""))
    with frame.errors_shown():
        _compare(trace, _whole(trace), site)


def _hide(trace: "Trace", colour: str) -> None:
    """Hide the rectangle, or with no colour show it again; what is kept stays kept."""
    selection = state.current()
    chosen, row, area = Given.read(selection.model.given_file), finding.kept(trace)[0], selection.attention.area
    given = chosen._replace(hidden=area if colour else (), colour=colour)
    state.choose(given_file=given.written)
    state.change(token=row, head_chosen=True, area=area or chosen.hidden)


def _whole(trace: "Trace") -> "Trace":
    """What the model did with the whole picture. Raises an InputTextError if it is not kept any more."""
    choice = state.current().model
    given = Given.read(choice.given_file)._replace(hidden=(), colour="")
    return traces.trace(models.text_reader(_reading(choice, given)), "")


def _reading(choice: ModelChoice, given: Given) -> ModelChoice:
    return state.current().changed(given_file=given.written).model


@cached(max_entries=MAX_CHECKS)
def forced(whole: "Trace", choice: ModelChoice) -> "Trace":
    """What the model does with the picture that is chosen while it writes what it wrote about the whole one."""
    return models.writer(choice).trace_tokens("", [step.token_id for step in whole.steps])


def moved(before: "Trace", after: "Trace", site: str, rows: Sequence[int]) -> Float[np.ndarray, "layer head"]:
    """How much of the weight of some rows, on average, is elsewhere in each head, of two runs with the same rows: half
    of all differences.
    """
    layers, heads = before.shapes[site]
    values = np.full((layers, heads), np.nan)
    for layer in range(layers):
        first, second = (trace.weights(site, layer, rows=list(rows)).mean(1) for trace in (before, after))
        values[layer, : len(first)] = (first - second).abs().sum(-1).div(2).numpy()
    return values


def _compare(trace: "Trace", whole: "Trace", site: str) -> None:
    after = trace
    if whole.steps:
        choice = state.current().model
        after = forced(whole, choice)
        diff = texts.word_diff(whole.translation, trace.translation)
        names = _("Whole picture"), _("Part hidden")
        if whole.translation == trace.translation:
            terms.caption(_("The model writes the same text as for the whole picture."))
        else:
            st.html(html.word_changes(diff, names=names, language=models.target_language(choice)))
    _say_weights(after, whole, site)
    if not whole.steps:
        return
    rows = [
        (
            display_token(step.token),
            f"{step.log_prob:.2f}",
            f"{then.log_prob:.2f}",
            display_token(then.candidates[0].token),
        )
        for step, then in zip(whole.steps, after.steps, strict=True)
    ]
    with st.expander(_("Each token, with the part hidden"), key="hidden-part-tokens"):
        st.html(html.table(_COLUMNS, rows, label=_("What hiding the part does to each token")))
        frame.caption(
            "The tokens that the model wrote for the whole picture are written again while the part is hidden."
        )
        controls.table_button(_("Table (CSV)"), partial(_numbers, whole, after), file_name("hidden part", sentence=""))


def _say_weights(after: "Trace", whole: "Trace", site: str) -> None:
    """Which head looks elsewhere most in the row that is kept, and what it gives to the part."""
    row = finding.kept(after)[0]
    patches = texts.patches_in(whole, Given.read(state.current().model.given_file).hidden)
    if row is None or site == DECODER or row >= len(whole.axis_tokens(site)[0]):
        return
    queries, _keys = attention.shown_axes(whole, site, picture_panel.view_of(site))
    if (at := queries.index_of(row)) is None:
        return
    rows = queries.groups[at]
    shift = moved(whole, after, site, rows)
    layer, head = np.unravel_index(int(np.nanargmax(shift)), shift.shape)
    on_part = [attention.cell_weights(each, site, rows, patches)[layer, head] for each in (whole, after)]
    message = (
        "In the row “{row}”, {head} changes most: {moved:.3f} of its weight has moved. It gave the hidden part "
        "{before:.3f}; now it gives {after:.3f}."
    )
    terms.caption(
        _(
            message,
            row=plain(shown(queries.labels[at])),
            head=NamedHead(site, int(layer), int(head)),
            moved=float(shift[layer, head]),
            before=float(on_part[0]),
            after=float(on_part[1]),
        )
    )


def _numbers(whole: "Trace", after: "Trace") -> bytes:
    """A row for each token that was written about the whole picture."""
    pairs = list(zip(whole.steps, after.steps, strict=True))
    before, then = (digits(np.array([pair[side].log_prob for pair in pairs], np.float32)) for side in (0, 1))
    rows = [
        (first.index, cell(first.token), first.token_id, *numbers, cell(second.candidates[0].token))
        for (first, second), *numbers in zip(pairs, before, then, strict=True)
    ]
    titles = ("step", "token_written", "token_id", "log_prob", "log_prob_hidden", "likeliest_hidden")
    return table(titles, rows)

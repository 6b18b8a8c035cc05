"""One head's attention changed at one step, and what becomes of the translation."""

from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models
from viz.pages.decoding import opening, translation_controls, translations
from viz.pages.decoding.data import effects
from viz.pages.decoding.edit_attention.results import show_all_heads, show_numbers, show_row, show_verdict
from viz.pages.decoding.edit_attention.tried import Tried, try_edit
from viz.selection import state
from viz.selection.branch_codes import Choice, EditHead
from viz.selection.decoding import EDITS
from viz.text.messages import _, said
from viz.text.sites import DECODER, ENCODER, NAMES, head_label
from viz.text.token_text import display_token
from viz.ui import controls, frame
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace

LABELS: Final = {"off": said("Switch off"), "uniform": said("Make uniform"), "point": said("Point at a token")}
MEANINGS: Final = {
    "off": said("The head’s output is set to zero; all other heads stay as they are."),
    "uniform": said("The head gives every token that the mask allows the same weight."),
    "point": said("The head gives one token all of its weight."),
}
#: With more tokens than this a list is easier to read than a field of buttons.
MAX_PILLS: Final = 60


@frame.fragment
def show(trace: "Trace") -> None:
    """The choice of an edit, what it does, and the button that makes it a branch."""
    if frame.lacking(models.abilities(state.current().model), "edits"):
        return
    proposed = _propose(trace)
    with st.grid(2, min_column_width=430, gap="medium"):
        picture, choice = st.container(), st.container()
    with choice:
        site = controls.site(trace.sites)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            step = translation_controls.step(trace)
            layer, head = controls.layer(trace.layers_of(site)), controls.head(trace.heads_of(site))
        action = _action(trace, step, site, layer, head)
        made = translations.choices()
        tried = try_edit(made, _base(made, step), step, action)
        if action == proposed:
            st.caption(
                _(
                    "This opens on the edit that makes “{token}” least probable: of all heads of the {attention} the "
                    "loss of {head} costs most, and of all that can be done to it this does.",
                    token=plain(display_token(tried.original.steps[step].token)),
                    attention=NAMES[site].phrase,
                    head=head_label(layer, head),
                )
            )
    with picture:
        show_row(tried, action)
        show_numbers(tried)
        _keep(made, tried)
    show_verdict(tried, site, layer, head)
    show_all_heads(tried, site)


def _propose(trace: "Trace") -> EditHead | None:
    """Propose the strongest edit at the chosen step, where no person chose a head."""
    selection = state.current()
    if selection.common.head_chosen:
        state.propose(edit=EDITS[0])
        return None
    with st.spinner(_("Trying edits …"), show_time=True):
        strongest = opening.strongest_edit(min(selection.common.step, len(trace.steps) - 1))
    if strongest is not None:
        state.propose(site=strongest.site, layer=strongest.layer, head=strongest.head, edit=strongest.edit)
    return strongest


def _action(trace: "Trace", step: int, site: str, layer: int, head: int) -> EditHead:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        intro = _(
            "Everything from the step on is computed anew. An edit of the encoder acts on the whole sentence, but the "
            "tokens before the step are kept."
        )
        edits = (_("{name}: {meaning}", name=LABELS[kind], meaning=MEANINGS[kind]) for kind in EDITS)
        help_text = f"{intro}\n\n" + "\n".join(f"- {edit}" for edit in edits)
        edit = controls.segmented("edit", _("What to do with the head"), LABELS, help_text=help_text)
        is_of_encoder = site == ENCODER
        once = st.toggle(
            _("In this step only"),
            key=state.bind("edit_once", False if is_of_encoder else None),
            disabled=is_of_encoder,
            help=_("Otherwise from this step on. The encoder has run before the first step, so its edits always hold."),
            on_change=state.take,
            args=("edit_once",),
        )
    key = _key(trace, step, site, layer, head) if edit == "point" else None
    return EditHead(edit, site, layer, head, key, once and not is_of_encoder)


def _key(trace: "Trace", step: int, site: str, layer: int, head: int) -> int:
    """The token to point at, one that the row at this step may see; by default that which changes most."""
    tokens = trace.axis_tokens(site)[1]
    allowed = tokens[: trace.rows_before + step + 1] if site == DECODER else tokens
    names = [f"{position} · {display_token(token)}" for position, token in enumerate(allowed, start=1)]
    chosen = state.position("key_token", len(allowed), 0)
    selection = state.current()
    if selection.common.key_token is None and not selection.decoding.branch:
        writer = models.writer(selection.model)
        chosen = effects.strongest_key(writer, selection.common.text, step, site, layer, head)
    if len(allowed) > MAX_PILLS:
        return controls.token("key_token", _("Point at"), names, default=chosen)
    picked = st.pills(
        _("Point at"),
        range(len(allowed)),
        key=state.bind("key_token", chosen),
        # Buttons read Markdown, a list does not.
        format_func=lambda position: plain(names[position]),
        required=True,
        on_change=state.take,
        args=("key_token",),
    )
    return chosen if picked is None else int(picked)


def _base(made: tuple[Choice, ...], step: int) -> int:
    """The branch to edit: the one shown; but where that is an edit of this very step, the one that it was made of."""
    shown = state.current().decoding.branch
    if not shown:
        return 0
    own = made[shown - 1]
    if not isinstance(own.action, EditHead) or own.step != step:
        return shown
    added = st.toggle(
        _("In addition to the edit of branch {number}", number=shown),
        key="edit/added",
        help=_("Otherwise in its place: what is edited and compared is then branch {number}.", number=own.parent)
        if own.parent
        else _("Otherwise in its place: what is edited and compared is then the model’s own translation."),
    )
    return shown if added else own.parent


def _keep(made: tuple[Choice, ...], tried: Tried) -> None:
    number = made.index(tried.choice) + 1 if tried.choice in made else None
    is_shown = number is not None and number == state.current().decoding.branch
    if number is None:
        label = _("Keep as a branch")
    else:
        label = _("This is branch {number}", number=number) if is_shown else _("Show branch {number}", number=number)
    st.button(
        label,
        key="keep-edit",
        type="primary",
        icon=":material/call_split:",
        disabled=is_shown,
        on_click=_add,
        args=(tried.choice,),
    )


def _add(choice: Choice) -> None:
    translations.add(choice.step, choice.action, parent=choice.parent)
    st.rerun()

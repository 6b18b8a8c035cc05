"""One head's attention changed at one step, and what becomes of the translation."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import models, texts
from viz.core.file_names import file_name, head_name
from viz.core.html import word_changes
from viz.core.messages import _
from viz.core.numbers import decimal, signed
from viz.core.sites import DECODER, ENCODER, NAMES, head_label
from viz.core.token_text import display_token
from viz.pages.decoding import opening, translation_controls, translations
from viz.pages.decoding.branch_codes import Choice, EditHead, Path, origin_of, path_of
from viz.pages.decoding.branch_names import ORIGINAL
from viz.pages.decoding.data import branches, effects
from viz.pages.decoding.figures import effects_map, row_before_after
from viz.selection import state
from viz.selection.decoding import EDITS
from viz.ui import controls, frame, long_work, token_labels
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace

LABELS: Final = {"off": "Switch off", "uniform": "Make uniform", "point": "Point at a token"}
MEANINGS: Final = {
    "off": "The head’s output is set to zero; all other heads stay as they are.",
    "uniform": "The head gives every token that the mask allows the same weight.",
    "point": "The head gives one token all of its weight.",
}
#: With more tokens than this a list is easier to read than a field of buttons.
MAX_PILLS: Final = 60


@dataclass(frozen=True, eq=False, kw_only=True)
class _Tried:
    """An edit that is tried and not kept: the branch that it would be, the path and trace of its parent, its trace.

    `log_prob` is that of the original's token at the step, under the edit.
    """

    choice: Choice
    before: Path
    original: "Trace"
    edited: "Trace"
    log_prob: float


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
        tried = _try(made, _base(made, step), step, action)
        if action == proposed:
            st.caption(
                _(
                    "This opens on the edit that makes “{display_token}” least probable: of all heads of the "
                    "{phrase} the loss of {head_label} costs most, and of all that can be done to it this does.",
                    display_token=plain(display_token(tried.original.steps[step].token)),
                    phrase=NAMES[site].phrase,
                    head_label=head_label(layer, head),
                )
            )
    with picture:
        _show_row(tried, action)
        _show_numbers(tried)
        _keep(made, tried)
    _show_all_heads(tried, site)


def _propose(trace: "Trace") -> EditHead | None:
    """Propose the strongest edit at the chosen step, where no person chose a head."""
    selection = state.current()
    if selection.common.head_chosen:
        state.propose(edit=EDITS[0])
        return None
    with st.spinner(_("Trying edits …"), show_time=True):
        strongest = opening.strongest_edit(min(selection.decoding.step, len(trace.steps) - 1))
    if strongest is not None:
        state.propose(site=strongest.site, layer=strongest.layer, head=strongest.head, edit=strongest.edit)
    return strongest


def _action(trace: "Trace", step: int, site: str, layer: int, head: int) -> EditHead:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        help_text = (
            "Everything from the step on is computed anew. An edit of the encoder acts on the whole sentence, but the "
            "tokens before the step are kept.\n\n" + "\n".join(f"- {LABELS[kind]}: {MEANINGS[kind]}" for kind in EDITS)
        )
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
        _("In addition to the edit of branch {shown}", shown=shown),
        key="edit/added",
        help=_("Otherwise in its place: what is edited and compared is then {name}.", name=_name(own.parent)),
    )
    return shown if added else own.parent


def _name(number: int) -> str:
    return f"branch {number}" if number else "the model’s own translation"


def _try(made: tuple[Choice, ...], base: int, step: int, action: EditHead) -> _Tried:
    origin = origin_of(made, base, step, action)
    before = path_of(made, origin)
    path = (*before, (step, action))
    with st.spinner(_("Translating under the edit …"), show_time=True):
        original = translations.looked_at_along(before, "trace-before")
        edited = translations.looked_at_along(path, "trace-edited")
        log_prob = branches.log_prob(*translations.source(), path, step, original.steps[step].token_id)
    choice = Choice(origin, step, action)
    return _Tried(choice=choice, before=before, original=original, edited=edited, log_prob=log_prob)


def _show_numbers(tried: _Tried) -> None:
    step, original, edited = tried.choice.step, tried.original, tried.edited
    was = original.steps[step]
    change = tried.log_prob - was.log_prob
    token, instead = (plain(display_token(trace.steps[step].token)) for trace in (original, edited))
    with st.container(border=True, gap="small"):
        st.markdown(
            f"Log-probability of “{token}” at step {step + 1}: {decimal(was.log_prob, 3)} → "
            f"**{decimal(tried.log_prob, 3)}**, a change of **{signed(change, 3)}** nats. "
            + ("It is still what the model writes." if instead == token else f"The model writes “{instead}” instead.")
        )
        spans = texts.word_diff(original.translation, edited.translation)
        if all(span.is_same for span in spans):
            same = [step.token_id for step in original.steps] == [step.token_id for step in edited.steps]
            st.caption(_("The translation stays the same.") if same else _("The text stays the same, in other tokens."))
        else:
            before = _name(tried.choice.parent) if tried.choice.parent else ORIGINAL
            names = (before[:1].upper() + before[1:], "Under the edit")
            changes = [(span.first, span.second) for span in spans]
            st.html(word_changes(changes, names=names, language=models.target_language(state.current().model)))


def _keep(made: tuple[Choice, ...], tried: _Tried) -> None:
    number = made.index(tried.choice) + 1 if tried.choice in made else None
    is_shown = number is not None and number == state.current().decoding.branch
    label = (
        "Keep as a branch" if number is None else f"This is branch {number}" if is_shown else f"Show branch {number}"
    )
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


def _show_row(tried: _Tried, action: EditHead) -> None:
    """The edited head's row before and after, as the traces have it."""
    site, layer, head = action.site, action.layer, action.head
    row = tried.original.rows_before + tried.choice.step
    if action.is_of_encoder:
        labels = token_labels.row_labels(tried.original, site)
        row = controls.token("token", _("Row of"), labels, default=token_labels.default_row(tried.original, site))
    before, after = (
        trace.weights(site, layer, [head], [row])[0, 0].numpy() for trace in (tried.original, tried.edited)
    )
    keys = tried.original.axis_tokens(site)[1]
    # A row of the decoder sees no key after itself.
    seen = row + 1 if site == DECODER else len(keys)
    frame.chart(
        row_before_after(before[:seen], after[:seen], keys[:seen]),
        "edit-row",
        file_name("edit", action.edit, head_name(site, layer, head), f"row{row}"),
        _("The weights of the edited row before and after, a pair of bars for each token"),
    )
    off = " Switched off, it gives no weight to anything." if action.edit == "off" else ""
    name = plain(display_token(tried.original.row_names(site)[row]))
    st.caption(
        _(
            "{head_label} before and after, in the row “{name}”: its weights add up to {sum:.3f} before and "
            "{sum_2:.3f} after.{off}",
            head_label=head_label(layer, head),
            name=name,
            sum=before.sum(),
            sum_2=after.sum(),
            off=off,
        )
    )


def _show_all_heads(tried: _Tried, site: str) -> None:
    """What each single head of the site is worth to the token of this step; of many heads when it is asked for."""
    step = tried.choice.step
    token = plain(display_token(tried.original.steps[step].token))
    st.markdown(_("**Every head of this attention, switched off in turn: what it is worth to “{token}”**", token=token))
    task = effects.effects_of_heads(*translations.source(), tried.before, step, site)
    is_quick = site != ENCODER and task.total <= effects.MAX_TRIED
    changes = long_work.outcome(task, _("Switch off each head in turn"), key="each-head", start=is_quick)
    if changes is None:
        return
    frame.chart(
        effects_map(changes),
        "edit-effects",
        file_name(f"{site} heads switched off step{step}", sentence=tried.original.text),
        _("Change of the token’s log-probability for each layer and head switched off"),
    )
    layer, head = np.unravel_index(int(changes.argmin()), changes.shape)
    st.caption(
        _(
            "Cold: without this head “{token}” would be less probable at step {step}; warm: more. The strongest loss "
            "is {float} nats, without {head_label}.",
            token=token,
            step=step + 1,
            float=signed(float(changes.min()), 3),
            head_label=head_label(int(layer), int(head)),
        )
        if changes.min() < 0
        else _("No single head of this attention makes “{token}” less probable by its absence.", token=token)
    )

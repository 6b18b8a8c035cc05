"""What an edit of a head does: to its row, to the token of the step, to the translation; and what each head does."""

import numpy as np
import streamlit as st

from viz.access import head_verdict as stated
from viz.access import long_texts, models, texts, twins
from viz.pages.decoding import translations
from viz.pages.decoding.data import effects
from viz.pages.decoding.edit_attention.tried import Tried
from viz.pages.decoding.figures import effects_map, row_before_after
from viz.selection import state
from viz.selection.branch_codes import ORIGINAL, EditHead
from viz.text.html import word_changes
from viz.text.messages import _
from viz.text.numbers import decimal, signed
from viz.text.sites import DECODER, ENCODER, file_name, head_label, head_name
from viz.text.token_text import display_token
from viz.ui import controls, frame, head_verdict, long_work, token_labels
from viz.ui.controls import plain


def show_row(tried: Tried, action: EditHead) -> None:
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
    sums = _(
        "{head} before and after, in the row “{name}”: its weights add up to {before:.3f} before and "
        "{after:.3f} after.",
        head=head_label(layer, head),
        name=plain(display_token(tried.original.row_names(site)[row])),
        before=before.sum(),
        after=after.sum(),
    )
    is_off = action.edit == "off"
    st.caption(_("{sentence} Switched off, it gives no weight to anything.", sentence=sums) if is_off else sums)


def show_verdict(tried: Tried, site: str, layer: int, head: int) -> None:
    """Whether the token of the step depends on the head, in the model as it is."""
    selection, original = state.current(), tried.original
    if original.edits or "word choice" in models.abilities(selection.model).lacks:
        return
    other = selection.coreference.other_text or twins.known_twin(original.text)
    head_verdict.show(
        stated.on_step(models.chooser(selection.model), original, tried.choice.step, (site, layer, head), other),
        key="edit-verdict",
        start=not long_texts.is_long(original, site),
    )


def show_all_heads(tried: Tried, site: str) -> None:
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
            "is {change} nats, without {head}.",
            token=token,
            step=step + 1,
            change=signed(float(changes.min()), 3),
            head=head_label(int(layer), int(head)),
        )
        if changes.min() < 0
        else _("No single head of this attention makes “{token}” less probable by its absence.", token=token)
    )


def show_numbers(tried: Tried) -> None:
    """The log-probability of the step's token before and after, and the translations where they differ."""
    step, original, edited = tried.choice.step, tried.original, tried.edited
    was = original.steps[step]
    change = tried.log_prob - was.log_prob
    token, instead = (plain(display_token(trace.steps[step].token)) for trace in (original, edited))
    with st.container(border=True, gap="small"):
        numbers = _(
            "Log-probability of “{token}” at step {step}: {before} → **{after}**, a change of **{change}** nats.",
            token=token,
            step=step + 1,
            before=decimal(was.log_prob, 3),
            after=decimal(tried.log_prob, 3),
            change=signed(change, 3),
        )
        st.markdown(
            _("{sentence} It is still what the model writes.", sentence=numbers)
            if instead == token
            else _("{sentence} The model writes “{token}” instead.", sentence=numbers, token=instead)
        )
        spans = texts.word_diff(original.translation, edited.translation)
        if all(span.is_same for span in spans):
            same = [step.token_id for step in original.steps] == [step.token_id for step in edited.steps]
            st.caption(_("The translation stays the same.") if same else _("The text stays the same, in other tokens."))
        else:
            parent = tried.choice.parent
            before = _("Branch {number}", number=parent) if parent else _(ORIGINAL)
            names = (before, _("Under the edit"))
            st.html(word_changes(spans, names=names, language=models.target_language(state.current().model)))

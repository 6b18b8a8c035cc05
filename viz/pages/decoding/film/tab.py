"""A translation as it was written, token by token, and what could have come."""

from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Final

import streamlit as st

from model.errors import HeadlightError
from viz.access import attention, models, texts
from viz.access.blocks import how_to_read
from viz.pages.decoding import steps, translation_controls, translations
from viz.pages.decoding.branches import tab as branches
from viz.pages.decoding.film import data, lane
from viz.pages.decoding.film.component import Draw, Force, HeadNames, PlayerState, Wished, clamp, decode_player, wished
from viz.pages.decoding.translations import label_smoothing_note
from viz.selection import state
from viz.selection.branch_codes import ORIGINAL
from viz.selection.choices import NO_FILTER
from viz.text.html import word_changes
from viz.text.messages import _, plural
from viz.text.written import CROSS, DECODER, file_name, head_label, percent
from viz.ui import controls, formulas, frame, head_metrics, present, terms, token_labels
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace
    from viz.selection.selection import Selection

#: Seconds in which a film is on its way; what Streamlit has not sent when a run begins, it throws away.
_SENT: Final = 0.02


@frame.fragment
def show(trace: "Trace") -> None:
    """The film. Another token that a person chooses in it, or has drawn, makes a branch: its film comes first."""
    if not data.fits(trace):
        frame.note(
            "The film contains the rows of all heads in every step, up to {short} tokens per side; this text has "
            "{length:,}. The Attention page shows all rows.",
            short=attention.SHORT,
            length=max(len(trace.source_tokens), len(trace.target_tokens)),
        )
        return
    state.propose(**NO_FILTER._asdict())
    selection = state.current().for_model(trace.shapes)
    writer = models.writer(selection.model)
    timed_by = lane.timed_by(trace, writer, selection)
    sinks = controls.sinks() if not present.is_on() else selection.common.sinks
    film = data.film(trace, writer, timed_by, sinks=sinks)
    asked = wished(film, key="player")
    if asked is not None:
        state.put(_with_player(selection, asked.state))
        trace = _written(asked, trace)
        selection = state.current().for_model(trace.shapes)
        film = data.film(trace, writer, timed_by, sinks=sinks)
    # A link may have been written for another text or model.
    fitting, also = clamp(_player_state(selection), film), selection.common.further_heads
    state.correct(**_choices(fitting) | {"further_heads": tuple(head for head in also if head < film.heads)})
    # The open head among them is one that exists.
    state.change(further_heads=fitting.also)
    selection = state.current()
    _show_change(trace)
    player = decode_player(
        film,
        _player_state(selection),
        key="player",
        name=file_name("film", sentence=trace.text),
        note=label_smoothing_note(),
        head_names=_head_names(trace),
        # The Attention page reads what the model wrote itself.
        asks=not selection.decoding.branch and attention.can_ask_why(trace, models.reader(selection.model)),
    )
    state.put(_with_player(selection, player))
    _how_to_read(trace)
    if not sinks:
        _say_held(trace)
    steps.follow(trace)
    # Always there, so that what stands below it is not built anew, and keeps the focus.
    with st.container(gap=None):
        if said := steps.not_elsewhere(trace):
            terms.caption(said)
    frame.lacking(models.abilities(selection.model), "self-attention")
    if not present.is_on():
        translation_controls.type_word(trace)
        _show_branches(trace)
        with st.expander(_("Formulas of a step"), key="film-formulas"):
            formulas.show(Path(__file__).with_name("formulas.md"))
    if asked is not None:
        # The rest of the page follows.
        sleep(_SENT)
        st.rerun()


def _how_to_read(trace: "Trace") -> None:
    """What columns and rows are, where that is not plain."""
    if CROSS not in trace.sites:
        frame.caption(
            "This model has one attention and no separate source. In each row the share of the text comes first, "
            "then that of the output so far; together they sum to 1."
        )
    for said in how_to_read(trace):
        terms.caption(said)
    if told := data.told(trace):
        frame.caption(
            "{told} was given to the decoder before the first step; in the decoder's self-attention, it is the first "
            "column.",
            told=plain(told),
        )


def _say_held(trace: "Trace") -> None:
    """Which keys are left out, and what they hold in the open head."""
    selection = state.current().for_model(trace.shapes)
    layer, head = selection.common.layer, selection.common.head
    named = []
    for site in (site for site in (CROSS, DECODER) if site in trace.shapes and layer < trace.layers_of(site)):
        held = attention.held_by_sinks(trace, site, layer)
        if head >= len(held):
            continue
        share = percent(float(held[head]))
        what = {"head": head_label(layer, head, site), "tokens": token_labels.sinks_named(trace, site)}
        named.append(_("{head}: {share} on {tokens}", share=share, **what))
    terms.caption(
        _("Sinks are left out: their columns are 0, and nothing is renormalised. {held}", held="; ".join(named))
    )


def _show_branches(trace: "Trace") -> None:
    """What else was written or could be; computed while it is unfolded, as it is once there is a branch."""
    count = len(translations.choices())
    label = (
        plural("Branches: the translation that you made", "Branches: the {count} translations that you made", count)
        if count
        else _("Branches: what the model would write after its next best token")
    )
    key = f"film-branches-{bool(count)}"
    with st.expander(label, expanded=bool(count), on_change="rerun", key=key) as unfolded:
        if unfolded.open:
            branches.show(trace)


def _show_change(trace: "Trace") -> None:
    """What a branch writes beside the model's own translation, with the words in which they differ marked."""
    branch = state.current().decoding.branch
    if not branch or present.is_on():
        return
    st.html(
        word_changes(
            texts.word_diff(translations.trace_of(0).translation, trace.translation),
            names=(_(ORIGINAL), _("Branch {number}", number=branch)),
            language=models.target_language(state.current().model),
        )
    )


def _head_names(trace: "Trace") -> HeadNames:
    """Return the head titles of both strips; a decoder-only model has one attention, used for both."""

    def titles(site: str) -> tuple[str, ...]:
        return head_metrics.titles(site, trace.shapes[site]) if site in trace.shapes else ()

    return titles(CROSS) or titles(DECODER), titles(DECODER)


def _written(asked: Wished, trace: "Trace") -> "Trace":
    """What the model writes as it was wished, from where it was changed; the trace again if that cannot be done."""
    state.change(step=asked.wish.step)
    match asked.wish:
        case Force(step, token_id):
            translations.write(step, (token_id,))
        case Draw(step, temperature, top_k, top_p):
            translations.draw(step, temperature, top_k, top_p)
    try:
        return translations.trace_of(state.current().decoding.branch)
    except HeadlightError:
        return trace  # The whole page, which follows, leaves out what cannot be grown, and says so.


def _with_player(selection: "Selection", shown: PlayerState | None) -> "Selection":
    values = {} if shown is None else _choices(shown)
    # What stays as the page proposed it is not chosen.
    return selection.changed(**{name: value for name, value in values.items() if value != selection.value(name)})


def _choices(shown: PlayerState) -> dict[str, object]:
    return {
        "step": shown.step,
        "layer": shown.layer,
        "head": shown.head,
        "further_heads": shown.also,
        "num_candidates": shown.candidates,
        "temperature": shown.temperature,
        "top_k": shown.top_k,
        "top_p": shown.top_p,
    }


def _player_state(selection: "Selection") -> PlayerState:
    decoding = selection.decoding
    return PlayerState(
        step=selection.common.step,
        layer=selection.common.layer,
        head=selection.common.head,
        also=selection.common.further_heads,
        candidates=decoding.num_candidates,
        **decoding.token_filter._asdict(),
    )

"""Follow one token, of the page that teaches: its path through all layers, and its place among all embeddings."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from viz.access import models
from viz.core.file_names import file_name
from viz.core.numbers import TOLERANCE, scientific
from viz.core.sites import CROSS
from viz.pages.learn.follow_token import data, embeddings, norms, tables
from viz.pages.learn.follow_token.component import TokenLine, token_line, token_path
from viz.pages.learn.follow_token.story import rows
from viz.selection import state
from viz.ui import finding, frame, number_controls, sentence

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace, Translator
    from viz.selection.learn import Stack


def show(head: "DeltaGenerator") -> None:
    """The sentence as tokens in the head of the page, the path of one of them, and its neighbours."""
    if frame.for_translators("A token is followed through every part of a model."):
        return
    with frame.loading():
        translator = models.translator(state.current().model)
    trace = sentence.read(state.current().common.text)
    stack, position = _followed(trace, translator)
    with head:
        token_line(_lines(trace), stack, position, on_pick=_pick, key="follow-line")
    sentence.show_cautions(trace, head)
    _path(trace, translator, stack, position)
    _embeddings(trace, translator, stack, position)


def _lines(trace: "Trace") -> list[TokenLine]:
    lines = sentence.lines_of(trace)
    read = [TokenLine("encoder", lines[0].mark, lines[0].language, trace.source_tokens)]
    return [*read, TokenLine("decoder", lines[1].mark, lines[1].language, trace.target_tokens)]


def _followed(trace: "Trace", translator: "Translator") -> "tuple[Stack, int]":
    """The token that a person chose; else the pronoun of the sentence, or the token that the model changes most."""
    chosen = state.current().learn
    stack, position = chosen.followed_stack, chosen.followed_token
    tokens = trace.source_tokens if stack == "encoder" else trace.target_tokens
    if position is not None and position < len(tokens):
        return stack, position
    link = finding.of(trace).link
    if link is not None and CROSS in trace.sites:
        return "encoder", link.pronoun_row
    return data.most_changed(trace, translator)


def _pick(stack: "Stack", position: int) -> None:
    state.change(followed_stack=stack, followed_token=position)


@frame.fragment
def _path(trace: "Trace", translator: "Translator", stack: "Stack", position: int) -> None:
    """The chart, the steps of the open stage, and the proof that the parts add up."""
    path = data.token_path(trace, translator, stack, position)
    last = len(path.layers) + 1
    chosen = state.current().learn.followed_stage
    stage = data.most_changing_stage(path) if chosen is None or chosen > last else chosen
    name = file_name("token", stack, str(position), path.token, sentence=trace.text)
    token_path(path, stage, rows(path, stage), on_open=_open, key="follow-path", name=name)
    with st.container(horizontal=True, vertical_alignment="center"):
        _badge(path.deviation)
        number_controls.table_button("Table (CSV)", partial(tables.parts, path), name)
    norms.show(trace, translator, stack, position, min(max(stage - 1, 0), len(path.layers) - 1))


@frame.fragment
def _embeddings(trace: "Trace", translator: "Translator", stack: "Stack", position: int) -> None:
    embeddings.show(trace, translator, stack, position)


def _badge(largest: float) -> None:
    said = f"largest difference {scientific(largest)}"
    if largest <= TOLERANCE:
        st.badge(f"the parts add up to what the model computed: {said}", icon=":material/check:", color="green")
    else:
        st.badge(f"the parts do not add up to what the model computed: {said}", icon=":material/warning:", color="red")


def _open(stage: int) -> None:
    state.change(followed_stage=stage)

"""Follow one token, of the page that teaches: its path through all layers, and its place among all embeddings."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from model.errors import TraceError
from viz.access import models
from viz.pages.learn.follow_token import data, embeddings, norms, tables
from viz.pages.learn.follow_token.component import TokenLine, TokenLines, token_line, token_path
from viz.pages.learn.follow_token.story import rows
from viz.selection import state
from viz.text.messages import _
from viz.text.numbers import scientific
from viz.text.sites import file_name
from viz.ui import finding, frame, number_controls, sentence
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Reader, Trace
    from viz.selection.learn import Stack


def show(head: "DeltaGenerator") -> None:
    """The sentence as tokens in the head of the page, the path of one of them, and its neighbours."""
    with frame.loading():
        reader = models.reader(state.current().model)
    if why := data.why_not(reader):
        frame.note(
            plain(
                _(
                    "No token of {name} can be followed. {why}",
                    name=models.name_of(state.current().model),
                    why=why,
                )
            )
        )
        return
    trace = sentence.read(state.current().common.text)
    stack, position = _followed(trace, reader)
    with head:
        token_line(TokenLines(_lines(trace), stack, position), on_pick=_pick, key="follow-line")
    sentence.show_cautions(trace, head)
    _path(trace, reader, stack, position)
    _embeddings(trace, reader, stack, position)


def _lines(trace: "Trace") -> list[TokenLine]:
    """What each stack of the model reads."""
    lines = sentence.lines_of(trace)
    sides: tuple[tuple[Stack, tuple[str, ...]], ...] = (
        ("encoder", trace.source_tokens),
        ("decoder", trace.target_tokens),
    )
    read = [side for side in sides if side[1]]
    return [
        TokenLine(stack, line.mark, line.language, tokens)
        for (stack, tokens), line in zip(read, lines[: len(read)], strict=True)
    ]


def _followed(trace: "Trace", reader: "Reader") -> "tuple[Stack, int]":
    """The token that a person chose; else the pronoun of the sentence, or the token that the model changes most."""
    chosen = state.current().learn
    stack, position = chosen.followed_stack, chosen.followed_token
    tokens = trace.source_tokens if stack == "encoder" else trace.target_tokens
    if position is not None and position < len(tokens):
        return stack, position
    link = finding.of(trace).link
    if link is not None:
        return ("encoder" if trace.source_tokens else "decoder"), link.pronoun_row
    return data.most_changed(trace, reader)


def _pick(stack: "Stack", position: int) -> None:
    state.change(followed_stack=stack, followed_token=position)


@frame.fragment
def _path(trace: "Trace", reader: "Reader", stack: "Stack", position: int) -> None:
    """The chart, the steps of the open stage, and the proof that the parts add up."""
    try:
        path = data.token_path(trace, reader, stack, position)
    except TraceError as error:
        frame.note(plain(error.message))
        return
    last = len(path.layers) + 1
    chosen = state.current().learn.followed_stage
    stage = data.most_changing_stage(path) if chosen is None or chosen > last else chosen
    name = file_name("token", stack, str(position), path.token, sentence=trace.text)
    token_path(path, stage, rows(path, stage), on_open=_open, key="follow-path", name=name)
    with st.container(horizontal=True, vertical_alignment="center"):
        _badge(path.deviation, path.tolerance)
        number_controls.table_button(_("Table (CSV)"), partial(tables.parts, path), name)
    if reader.abilities.is_headlight:
        layer = min(max(stage - 1, 0), len(path.layers) - 1)
        norms.show(trace, models.translator(state.current().model), stack, position, layer)


@frame.fragment
def _embeddings(trace: "Trace", reader: "Reader", stack: "Stack", position: int) -> None:
    embeddings.show(trace, reader, stack, position)


def _badge(largest: float, bound: float) -> None:
    difference = scientific(largest)
    if largest <= bound:
        text = _("the parts add up to what the model computed: largest difference {difference}", difference=difference)
        st.badge(text, icon=":material/check:", color="green")
    else:
        text = _(
            "the parts do not add up to what the model computed: largest difference {difference}", difference=difference
        )
        st.badge(text, icon=":material/warning:", color="red")


def _open(stage: int) -> None:
    state.change(followed_stage=stage)

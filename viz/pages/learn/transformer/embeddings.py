"""The neighbours of an embedding, and tables of it and of a token's path as CSV."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models
from viz.pages.learn.transformer import data
from viz.pages.learn.transformer.layer_story import norm_of
from viz.selection import state
from viz.text import html
from viz.text.html import Column
from viz.text.messages import _, said
from viz.text.written import display_token, file_name
from viz.ui import controls, terms
from viz.ui.controls import plain
from viz.ui.trace_tables import cell, table

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.embedding_space import Neighbour
    from model.analysis.residual_stream.token_path import TokenPath
    from model.parts.weights import Stack

NEIGHBOURS: Final = 10
#: Where a piece was seen → as people read it.
_SEEN: Final = {"English": said("English"), "German": said("German"), "both": said("both"), "": "–"}


def offer(trace: "Trace", reader: "Reader", stack: "Stack", position: int) -> None:
    """The place of a token among all embeddings, where a person unfolds it."""
    if data.why_not(reader):
        return
    label = _("Embeddings: the neighbours of this token")
    with st.expander(label, on_change="rerun", key="walk-embeddings") as unfolded:
        if unfolded.open:
            show(trace, reader, stack, position)


def show(trace: "Trace", reader: "Reader", stack: "Stack", position: int) -> None:
    """The tokens nearest to the one that is followed, by their rows in the embedding matrix."""
    is_shared = data.is_shared(reader)
    space = data.embedding_space(reader, is_target=stack == "decoder" and not is_shared)
    ids = trace.source_ids if stack == "encoder" else trace.target_ids
    token = display_token(space.tokens[ids[position]])
    st.subheader(_("Neighbours of {token} in the embedding matrix", token=plain(token)), anchor=False)
    found = space.neighbours(ids[position], NEIGHBOURS)
    languages = _languages()
    columns = [Column(_("Token")), Column(_("Cosine"), is_number=True)]
    rows = [[one.token, f"{one.cosine:.3f}"] for one in found]
    if languages:
        columns.append(Column(_("Found in")))
        rows = [[*row, _SEEN[languages[one.token_id]]] for row, one in zip(rows, found, strict=True)]
    terms.caption(
        _matrix(len(space.tokens), space.directions.shape[1], is_shared=is_shared, has_languages=bool(languages))
    )
    st.html(html.table(columns, rows, label=_("Neighbours of {token}", token=token)))
    name = file_name("neighbours", token)
    controls.table_button(_("Table (CSV)"), partial(_neighbours_csv, found, languages), name)


def _matrix(count: int, width: int, *, is_shared: bool, has_languages: bool) -> str:
    """How large the embedding matrix is, and how the table of neighbours is read."""
    if not has_languages:
        message = (
            "The matrix has {count:,} rows of {width} numbers. The cosine is 1 for the same direction and 0 for "
            "orthogonal ones."
        )
        return _(message, count=count, width=width)
    if not is_shared:
        message = (
            "The matrix has {count:,} rows of {width} numbers. The cosine is 1 for the same direction and 0 for "
            "orthogonal ones. “Found in”: the language in which the token occurs in 6,000 of Headlight's training "
            "pairs; – for none."
        )
        return _(message, count=count, width=width)
    message = (
        "One matrix serves both languages and the output (§3.4): {count:,} rows of {width} numbers. The cosine is 1 "
        "for the same direction and 0 for orthogonal ones. “Found in”: the language in which the token occurs in "
        "6,000 of Headlight's training pairs; – for none."
    )
    return _(message, count=count, width=width)


def _languages() -> tuple[str, ...]:
    """In which language each piece was seen; none of a model of other languages."""
    choice = state.current().model
    return data.seen_in(models.writer(choice)) if models.is_english_german(choice) else ()


def parts(path: "TokenPath") -> bytes:
    """A row for each sub-layer: how long its addition is, its share of the sum, and how long the stream is then."""
    titles = (
        "stack",
        "position",
        "token",
        "layer",
        "part",
        "length",
        "share_of_sum",
        "cosine_with_sum",
        "stream_after",
    )
    rows = (
        (
            path.stack,
            path.position,
            cell(path.token),
            layer,
            addition.kind,
            norm_of(addition.added),
            addition.share,
            addition.cosine,
            norm_of(addition.after),
        )
        for layer, additions in enumerate(path.layers)
        for addition in additions
    )
    return table(titles, rows)


def _neighbours_csv(found: "Sequence[Neighbour]", languages: Sequence[str]) -> bytes:
    """A row for each neighbour, the nearest first; without languages where none are known."""
    seen = [languages[one.token_id] if languages else "" for one in found]
    rows = ((one.token_id, cell(one.token), one.cosine, language) for one, language in zip(found, seen, strict=True))
    return table(("token_id", "token", "cosine", "seen_in"), rows)

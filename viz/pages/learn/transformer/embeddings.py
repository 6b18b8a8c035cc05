"""The neighbours of an embedding, what layer norm and batch norm do, and tables of it as CSV."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from jaxtyping import Float

from viz import theme
from viz.access import attention, models
from viz.pages.learn.transformer import data
from viz.pages.learn.transformer.layer_story import norm_of
from viz.pictures.figures.charts import row_axis, token_labels
from viz.selection import state
from viz.selection.examples import BATCH_SENTENCES
from viz.text import html
from viz.text.html import Column
from viz.text.messages import _, said
from viz.text.written import decimal, display_token, file_name
from viz.ui import controls, frame
from viz.ui.controls import plain
from viz.ui.trace_tables import cell, table

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.embedding_space import Neighbour
    from model.analysis.residual_stream.token_path import TokenPath
    from model.parts.weights import Stack

ROW, REST = 13, 92
#: Normed numbers are coloured up to so many deviations; few lie beyond.
BOUND: Final = 3.0
#: Where the three heatmaps begin and end across the figure.
DOMAINS: Final = ((0.0, 0.315), (0.345, 0.66), (0.69, 1.0))


def both_norms(
    tokens: Sequence[str],
    row: int,
    before: Float[np.ndarray, "row d_model"],
    layer_normed: Float[np.ndarray, "row d_model"],
    batch_normed: Float[np.ndarray, "row d_model"],
) -> go.Figure:
    """Tokens down, the numbers of each across: as they come in, after layer norm, after batch norm.

    Args:
        tokens: one a row, of all sentences of the batch.
        row: of the token that is followed, which is framed.
        before: its colours reach to its largest number; those of the others to `BOUND`.
        layer_normed, batch_normed: with mean 0 and deviation 1 along rows, and along columns.
    """
    largest = float(np.abs(before).max(initial=1e-9))
    labels = token_labels(tokens)
    titles = (_("Before the norm"), _("Layer norm →"), _("Batch norm ↓"))
    hover = _("{token}, component {number}", token="%{customdata}", number="%{x}")
    maps, layout = [], theme.figure_layout(len(tokens) * ROW + REST)
    for number, (values, bound) in enumerate(((before, largest), (layer_normed, BOUND), (batch_normed, BOUND)), 1):
        end = "" if number == 1 else str(number)
        maps.append(
            go.Heatmap(
                z=np.asarray(values, np.float32),
                y=list(range(len(labels))),
                customdata=np.repeat(np.asarray(labels, object)[:, None], values.shape[1], axis=1),
                zmin=-bound,
                zmax=bound,
                colorscale=theme.colorscale(theme.DIVERGING),
                showscale=False,
                xaxis=f"x{end}",
                yaxis=f"y{end}",
                hovertemplate=f"{hover}<br>%{{z:.3f}}<extra></extra>",
            )
        )
        quiet = {"showgrid": False, "zeroline": False, "ticks": ""}
        x_title = {"text": _("the components of a token's vector"), "font": {"size": 12, "color": theme.CHART_TEXT}}
        layout[f"xaxis{end}"] = quiet | theme.AXIS_TEXT | {"domain": DOMAINS[number - 1], "title": x_title}
        rows = row_axis(labels) if number == 1 else {"range": [len(labels) - 0.5, -0.5], "showticklabels": False}
        layout[f"yaxis{end}"] = rows | quiet | {"anchor": f"x{end}"}
    layout["annotations"] = [_title(text, domain) for text, domain in zip(titles, DOMAINS, strict=True)]
    layout["shapes"] = [_frame(row, end) for end in ("", "2", "3")]
    layout["margin"] = layout["margin"] | {"t": 34}
    return go.Figure(maps, layout)


def _title(text: str, domain: tuple[float, float]) -> theme.PlotlySpec:
    where = {"x": domain[0], "y": 1, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return where | {"text": text, "showarrow": False, "yshift": 4, "font": {"size": 13, "color": theme.CHART_TEXT}}


def _frame(row: int, end: str) -> theme.PlotlySpec:
    box = {
        "type": "rect",
        "xref": f"x{end} domain",
        "yref": f"y{end}",
        "x0": 0,
        "x1": 1,
        "y0": row - 0.5,
        "y1": row + 0.5,
    }
    return box | {"line": {"color": theme.ORANGE, "width": 2}}


NEIGHBOURS: Final = 10
#: Where a piece was seen → as people read it.
_SEEN: Final = {"English": said("English"), "German": said("German"), "both": said("both"), "": "–"}


def offer(
    trace: "Trace", reader: "Reader", path: "TokenPath | None", stack: "Stack", position: int, layer: int
) -> None:
    """What norms do to a token, and its place among all embeddings, each where a person unfolds it."""
    if data.why_not(reader):
        return
    if path is not None and data.has_layer_norm(path, layer):
        label = _("Norms: in which direction layer norm and batch norm work")
        with st.expander(label, on_change="rerun", key="walk-norms") as unfolded:
            if unfolded.open:
                show_norms(trace, reader, stack, position, layer)
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
    st.caption(
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
            "orthogonal ones. “Found in”: the language in which the token occurs in 6,000 pairs of our training "
            "sentences; – for none."
        )
        return _(message, count=count, width=width)
    message = (
        "One matrix serves both languages and the output (§3.4): {count:,} rows of {width} numbers. The cosine is 1 "
        "for the same direction and 0 for orthogonal ones. “Found in”: the language in which the token occurs in 6,000 "
        "pairs of our training sentences; – for none."
    )
    return _(message, count=count, width=width)


def _languages() -> tuple[str, ...]:
    """In which language each piece was seen; none of a model of other languages."""
    choice = state.current().model
    return data.seen_in(models.writer(choice)) if models.is_english_german(choice) else ()


def show_norms(trace: "Trace", reader: "Reader", stack: "Stack", position: int, layer: int) -> None:
    """Three heatmaps of the norm before self-attention of a layer, or after it in a post-norm model."""
    if any(attention.is_long(trace, site) for site in trace.sites):
        frame.note("The batch is shown for sentences of at most {short} tokens.", short=attention.SHORT)
        return
    others = tuple(text for text in BATCH_SENTENCES.split("\n") if text != trace.text)
    batch = data.normed_batch(trace, reader, others, stack, layer, position)
    token = plain(display_token(batch.tokens[batch.row]))
    own, first = batch.before[batch.row].numpy(), batch.before[:, 0].numpy()
    frame.small_print(
        "The norm of self-attention in layer {layer} reads {num_tokens} tokens: this sentence and {num_others} "
        "others; each row is a token. **Layer norm** works along each row: for “{token}” alone, mean {mean} and "
        "standard deviation {std} of its {size} numbers, whatever else is in the batch. **Batch norm** works "
        "along each column: for number 0 over all tokens, mean {column_mean} and standard deviation "
        "{column_std}. Shown without the learned gain and bias.",
        layer=layer + 1,
        num_tokens=len(batch.tokens),
        num_others=len(others),
        size=own.size,
        token=token,
        mean=decimal(own.mean()),
        std=decimal(own.std()),
        column_mean=decimal(first.mean()),
        column_std=decimal(first.std()),
    )
    figure = both_norms(
        batch.tokens,
        batch.row,
        np.asarray(batch.before),
        np.asarray(batch.layer_normed),
        np.asarray(batch.batch_normed),
    )
    name = file_name("norms", stack, f"layer{layer}", sentence=trace.text)
    frame.chart(figure, "follow-norms", name, _("The same batch before a norm, after layer norm and after batch norm"))


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

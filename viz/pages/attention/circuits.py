"""From tokens alone: QK and OV, what the weights of the open head make it attend to and write, for any text."""

from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import models
from viz.pages.attention import data
from viz.pictures.figures.charts import row_labels, token_labels
from viz.pictures.figures.heads import WEIGHT_SCALE, head_map, matrix
from viz.selection import state
from viz.server.background_jobs import Task
from viz.text import html, written
from viz.text.messages import _, said
from viz.text.written import display_token, file_name, signed
from viz.ui import controls, finding, frame, long_work, present, terms
from viz.ui.controls import plain
from viz.ui.token_labels import rows_said

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.head_circuits import HeadCircuits, TokenPair

#: So many tokens are named as what a head writes, and so many pairs as those that it links.
WRITTEN, PAIRS = 5, 10
#: A longer sentence has no table and no map.
MOST_TOKENS: Final = 64
_WRITES: Final = (
    html.Column(said("Attends to")),
    html.Column(said("Top output tokens")),
    html.Column(said("Own rank"), is_number=True),
)
_OV_OF_ENCODER: Final = said(
    "OV: the value of each token times W_O, shown as the tokens that the result is most similar to, independently of "
    "the sentence. Own rank: the rank of the token itself among {num_vocabulary:,} tokens; 1 if the head copies it."
)
_OV_OF_DECODER: Final = said(
    "OV: the value of each token times W_O, ranked by logits, independently of the sentence. Own rank: the rank of "
    "the token itself among {num_vocabulary:,} tokens; 1 if the head copies it."
)
_WITHOUT_POSITIONS: Final = said(
    "Weights computed from the embeddings alone, without positions and without what earlier layers add. If the "
    "head's map in “All heads” differs, the head depends on positions or on context from earlier layers."
)
_AT_A_DISTANCE: Final = said(
    "Weights computed from the embeddings alone, without what earlier layers add, with every key {distance:,} "
    "tokens before its query. If the head's map in “All heads” differs, the head depends on the real distances "
    "or on context from earlier layers."
)
_LINKS: Final = (html.Column(said("Query")), html.Column(said("Key")), html.Column("q·k ÷ √dₖ", is_number=True))


def show(trace: "Trace") -> None:
    """What the head writes of each token of the sentence, how much it copies, and what it looks at."""
    with frame.loading():
        abilities = models.abilities(state.current().model)
    if frame.lacking(abilities, "circuits"):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site = controls.site(trace.sites)
        layers, heads = trace.shapes[site]
        layer, head = controls.layer(layers), controls.head(heads)
        distance = _distance(data.largest_distance(abilities, site))
    reader = models.reader(state.current().model)
    opened = data.OpenHead(site, layer, head, distance)
    with frame.loading(_("Reading the weights of the head …")):
        circuits = long_work.awaited(data.circuits(reader, opened), key="circuits")
    vocabulary, label = models.vocabulary(reader), written.head_label(layer, head, site)
    name = file_name("qk-ov", label, sentence=trace.text)
    with st.grid(2, min_column_width=430, gap="medium"):
        with st.container():
            _writes(trace, circuits, vocabulary, site, label)
        with st.container():
            copying = long_work.outcome(data.copying(reader, site), _("Measure every head"), key="copying", start=True)
            if copying is not None:
                _copying(copying, site, layer, head, label, name)
            _by_tokens(trace, circuits, opened, label, name)
            title = _("The {pairs} pairs of tokens with the highest score", pairs=PAIRS)
            task = data.best_pairs(reader, opened, circuits, PAIRS)
            frame.unfolding(title, "qk-pairs", _pairs, task, vocabulary)


def _distance(most: int) -> int:
    """How many tokens before its query each key stands; no choice, and 0, where scores do not depend on it."""
    if most < 1:
        return 0
    controls.settle("distance", 0, most, said("Distance"))
    controls.number(
        "distance",
        _("Distance"),
        0,
        most,
        help_text=_(
            "How many tokens each key is before its query. This model rotates queries and keys by their positions, so "
            "the score of two tokens depends on how far apart they are."
        ),
    )
    return state.current().attention.distance


def _writes(trace: "Trace", circuits: "HeadCircuits", vocabulary: tuple[str, ...], site: str, label: str) -> None:
    """OV: a row for each token of the sentence that can be looked at."""
    ids = trace.target_ids if site == written.DECODER else trace.source_ids
    rows_written = circuits.most_written(list(dict.fromkeys(ids))[:MOST_TOKENS], WRITTEN)
    names = {each.token: display_token(vocabulary[each.token]) for each in rows_written}
    most = {each.token: ", ".join(display_token(vocabulary[token]) for token in each.most) for each in rows_written}
    rows = [(names[each.token], most[each.token], f"{each.own_place:,}") for each in rows_written]
    st.html(html.table(_WRITES, rows, label=_("What the head writes for each token")))
    _rows, key = finding.kept(trace)
    if key is not None and key < len(ids) and (kept := ids[key]) in names:
        message = "When {label} attends to “{names}”, its top output tokens are **{most}**."
        terms.markdown(_(message, label=label, names=plain(names[kept]), most=plain(most[kept])))
    how = _OV_OF_ENCODER if site == written.ENCODER else _OV_OF_DECODER
    frame.caption(how, num_vocabulary=len(vocabulary))


def _copying(copying: np.ndarray, site: str, layer: int, head: int, label: str, name: str) -> None:
    """How much each head of the attention copies."""
    figure = head_map(copying, title=_("copying score"), centre=0.0, floor=1.0, marked=(layer, head), site=site)
    frame.chart(figure, "copying-scores", f"{name}-copying", _("Copying score of each head of this attention"))
    own = signed(copying[layer, head])
    frame.caption(
        "Copying score, {own} for {label}: Σλ ÷ Σ|λ| over the eigenvalues of the OV matrix from token to token "
        "(Elhage et al. 2021). Warm: over the whole vocabulary, the head promotes the tokens it attends to and "
        "similar ones; cold: it suppresses them.",
        own=own,
        label=label,
    )


def _by_tokens(trace: "Trace", circuits: "HeadCircuits", opened: data.OpenHead, label: str, name: str) -> None:
    """QK: the weights by tokens alone."""
    st.markdown(_("**QK: what {label} would attend to from tokens alone**", label=label))
    rows, columns = trace.row_names(opened.site), trace.axis_names(opened.site)[1]
    if max(len(rows), len(columns)) <= MOST_TOKENS:
        weights = circuits.weights(trace, opened.site, opened.layer).numpy()
        figure = matrix(
            weights,
            np.sqrt(weights),
            row_labels(rows, rows_write=trace.rows_write(opened.site)),
            token_labels(columns),
            scale=WEIGHT_SCALE,
            hover=f"{_('{query} attends to {key}', query='%{y}', key='%{x}')}<br>%{{customdata:.4f}}",
        )
        frame.chart(
            figure, "weights-by-tokens", f"{name}-weights", _("Weights of {label} from tokens alone", label=label)
        )
    if named := rows_said(trace, opened.site):
        terms.caption(named)
    frame.caption(_AT_A_DISTANCE if opened.distance else _WITHOUT_POSITIONS, distance=opened.distance)


def _pairs(task: Task[list["TokenPair"]], vocabulary: tuple[str, ...]) -> None:
    """The pairs of tokens with the highest score."""
    found = long_work.outcome(task, _("Find the pairs"), key="qk-pairs-found", start=True)
    if found is None:
        return
    pairs = [
        (display_token(vocabulary[pair.query]), display_token(vocabulary[pair.key]), f"{pair.score:.2f}")
        for pair in found
    ]
    st.html(html.table(_LINKS, pairs, label=_("Pairs of tokens that the head links most strongly")))
    present.why_divided("qk")

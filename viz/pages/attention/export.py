"""What the attention page offers to take along: tables, arrays, an offline page, and the Python of what it shows.

It holds the sentence, all heads of an attention, the open one large with its weights on hover, the decoding as a table,
and what reopens the view in Headlight; no date, so the same view gives the same file.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp
from typing import TYPE_CHECKING, Final

import streamlit as st
from markupsafe import Markup

from model.errors import TraceError
from viz.access import attention, blocks, models, traces
from viz.access.attention import MatrixView
from viz.pages.attention import data
from viz.pages.attention.opened_head.panel import PANELS
from viz.pages.attention.why import tab, testing
from viz.pages.attention.why.asked import asked_cell
from viz.pictures.focus import any_head
from viz.pictures.offline import Drawing, Part, all_heads, text_page
from viz.selection import state
from viz.selection.choices import ALL_HEADS, Common, ModelChoice
from viz.text import messages, written
from viz.text.html import Column, table
from viz.text.messages import _, shown
from viz.text.templates import filled
from viz.text.written import display_token, file_name, head_name
from viz.ui import downloads, finding, frame, head_metrics, sentence, token_labels, trace_tables
from viz.ui.downloads import Offer, show_offer, show_offers
from viz.ui.head_metrics import MEASURES
from viz.ui.snippets import Snippet, Views, line, of_text, open_head

if TYPE_CHECKING:
    from model import Trace
    from model.parts.weights import Stack

#: Candidates of a step that the table names.
_CANDIDATES: Final = 3

#: Of a smaller attention every head can be opened on the page: bytes of all exact weights.
_MOST_BYTES: Final = 4_000_000

_STYLE: Final = """
.note { font-size: 0.9rem; opacity: 0.8; max-width: 75ch; }
.sentence { font-size: 1.15rem; overflow-wrap: anywhere; }
.mark { font-size: 0.75rem; letter-spacing: 0.08em; opacity: 0.65; margin-right: 0.9rem; }
h2 { margin-top: 2.2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1.2rem; margin: 0.4rem 0; }
dd { margin: 0; overflow-wrap: anywhere; }
table { display: block; overflow-x: auto; }
"""


@dataclass(frozen=True, slots=True)
class OpenView:
    """What is open: an attention (its path, its name), a layer and a head from 0, and what stands in the address.

    `lines` are the texts that stand above: what each is, its language, and the text.
    """

    site: str
    site_label: str
    layer: int
    head: int
    query_string: str
    lines: Sequence[tuple[str, str, str]]
    over_source: Sequence[Part] = ()  #: the head over what was read, where that is a sound


def view_page(trace: "Trace", view: OpenView, *, checkpoint: str, digest: str) -> bytes:
    """The file; `digest` tells the checkpoint from any other."""
    weights, opened = blocks.weights_of(trace, view.site), (view.layer, view.head)
    rows, keys, axes = blocks.sides_of(trace, view.site)
    only_opened, focus = weights.nbytes > _MOST_BYTES, any_head(view.site, axes)
    grid = all_heads(weights, rows, keys, view.site_label, opened, only_opened=only_opened, focus=focus)
    drawn = [grid, *(Drawing([part], 1, trace.text) for part in view.over_source)]
    note = _(
        "Each row is a query token, each column a key token; the lighter, the more weight. Each row sums to 1. Point "
        "at a cell to see its value."
    )
    reading = () if view.site == written.DECODER else blocks.how_to_read(trace)
    body = filled(
        "pages/attention/saved.html",
        view=view,
        how_to_read=messages.in_a_row([note, token_labels.rows_said(trace, view.site), *reading]),
        pictures=len(drawn),
        steps=_decoding(trace) if trace.steps else "",
        checkpoint=checkpoint,
        digest=digest,
    )
    page = text_page(_("Headlight: {text}", text=trace.text[:80]), body, _STYLE, drawn)
    return page.encode("utf-8")


def _decoding(trace: "Trace") -> Markup:
    columns = [
        Column(_("Step"), is_number=True),
        Column(_("Token read")),
        Column(_("Token written")),
        Column(_("Probability"), is_number=True),
        Column(_("Entropy (nats)"), is_number=True),
        Column(_("Most probable")),
    ]
    reads = trace.target_tokens[trace.rows_before :]
    rows = [
        (
            str(number),
            display_token(read),
            display_token(step.token),
            f"{exp(step.log_prob):.4f}",
            f"{step.entropy:.3f}",
            " · ".join(f"{display_token(c.token)} {exp(c.log_prob):.3f}" for c in step.candidates[:_CANDIDATES]),
        )
        for number, (read, step) in enumerate(zip(reads, trace.steps, strict=True), 1)
    ]
    return Markup(table(columns, rows, label=_("Decoding steps")))


def files(trace: "Trace") -> None:
    """The tables, the page and the arrays, for the attention and the head that are open."""
    common = state.current().for_model(trace.shapes).common
    _offer_tables(trace, common.site, common.layer, common.head)
    for panel in PANELS:
        panel.offer(trace)
    _offer_page(trace, common)
    _offer_arrays(trace)


def _offer_tables(trace: "Trace", site: str, layer: int, head: int) -> None:
    st.markdown(_("**Tables (CSV)**"))
    show_offers((*_tables_of_weights(trace, site, layer, head), *_tables_of_sentence(trace)))
    count = trace_tables.num_weights(trace, site)
    if count > trace_tables.MAX_ROWS:
        frame.caption(
            "All heads together would be {count:,} rows, more than a spreadsheet holds. Use the arrays instead, "
            "or one head at a time.",
            count=count,
        )
    if attention.is_long(trace, site):
        frame.caption(
            "Tables of norms, of a rollout or of whole words are available up to {short} tokens; in Python, "
            "`model.analysis.metrics.measures` computes any part of them.",
            short=attention.SHORT,
        )
    frame.caption(
        "The CSV is in UTF-8 with a byte-order mark, for Excel; pandas reads it directly, Python's csv module with "
        "the encoding “utf-8-sig”. Numbers have all their digits. Layers, heads and positions are counted from 1, as "
        "on the pages, and the column titles say so; in arrays they are counted from 0. If a spreadsheet could take a "
        "token for a formula (because it begins with = + - @ or a tab), an apostrophe is put before it."
    )


def _tables_of_weights(trace: "Trace", site: str, layer: int, head: int) -> list[Offer]:
    queries, keys = map(len, trace.axis_tokens(site))
    count = trace_tables.num_weights(trace, site)
    label = written.head_label(layer, head)
    inside = _(
        "{queries} × {keys} weights: one row per query token, one column per key token", queries=queries, keys=keys
    )
    if queries * keys <= trace_tables.MAX_HEAD_NUMBERS:
        make = partial(trace_tables.open_head, trace, site, layer, head)
        offer = _csv(trace, label, inside, make, head_name(site, layer, head))
    else:
        make = partial(trace_tables.open_head_array, trace, site, layer, head)
        name = f"{file_name(head_name(site, layer, head), sentence=trace.text)}.npy"
        inside = _("{queries:,} × {keys:,} weights for numpy.load: too many for a table", queries=queries, keys=keys)
        offer = Offer(label, inside, make, name)
    downloads = [offer, *_as_shown(trace, site, layer, head)]
    if models.abilities(state.current().model).has("scores"):
        downloads.append(_row(trace, site, layer, head))
    inside = _("entropy, mean distance and the other metrics that tiles can show: one row per head")
    # A file is made in a thread without a session: what is chosen is asked here.
    sinks = state.current().common.sinks
    downloads.append(
        _csv(
            trace,
            _("Metrics of heads"),
            inside,
            lambda: trace_tables.metrics(attention.head_metrics(trace, site, sinks=sinks)),
            f"{site} metrics",
        )
    )
    if count <= trace_tables.MAX_ROWS:
        inside = _("{count:,} weights, one per row: layer, head, query, key, weight", count=count)
        of_heads = partial(trace_tables.all_heads, trace, site)
        downloads.append(_csv(trace, _("All heads"), inside, of_heads, f"{site} all heads"))
    return downloads


def _as_shown(trace: "Trace", site: str, layer: int, head: int) -> list[Offer]:
    """The open head by the measure and between the words or tokens that are chosen, where these are not the weights."""
    selection = state.current()
    common = selection.common
    is_offered = common.measure in head_metrics.offered(models.abilities(selection.model))
    view = MatrixView.of(common)
    if attention.is_plain(trace, site, view) or not is_offered or attention.is_long(trace, site):
        return []
    measure, reader = MEASURES[common.measure], models.reader(selection.model)
    opened = attention.opened_layer(trace, reader, site, layer, view)
    values = opened.values[head if measure.is_per_head else 0]
    between = "words" if common.whole_words else "tokens"
    queries, keys = values.shape
    numbers = {"measure": shown(measure.label), "queries": queries, "keys": keys}
    if common.whole_words:
        inside = _("{measure} of {queries} query words over {keys} key words, as “All heads” shows them now", **numbers)
    else:
        inside = _(
            "{measure} of {queries} query tokens over {keys} key tokens, as “All heads” shows them now", **numbers
        )
    make = partial(trace_tables.matrix, values, opened.queries.labels, opened.keys.labels)
    name = f"{head_name(site, layer, head)} {common.measure} {between}"
    return [_csv(trace, _("Current view"), inside, make, name)]


def _row(trace: "Trace", site: str, layer: int, head: int) -> Offer:
    """The row whose origin is told in another tab."""
    proposed, _key = finding.default_cell(trace, site)
    row = state.position("token", len(token_labels.row_labels(trace, site)), proposed)
    scaled, masked = state.current().common.scaled, state.current().common.masked
    keys = trace.axis_names(site)[1]
    numbers = {"query": row + 1, "keys": len(keys)}
    if scaled and masked:
        inside = _("for query {query}: q·k, scaled score, masked score and weight of each of {keys} keys", **numbers)
    else:
        inside = _(
            "for query {query}: q·k, scaled score, masked score and weight of each of {keys} keys, with the chosen "
            "settings of scaling and mask",
            **numbers,
        )
    return _csv(
        trace,
        _("How one row is computed"),
        inside,
        lambda: trace_tables.row_origin(
            attention.derived_row(trace, site, layer, head, row, scaled=scaled, masked=masked), keys
        ),
        f"{head_name(site, layer, head)} row{row + 1}",
    )


def _tables_of_sentence(trace: "Trace") -> list[Offer]:
    inside = _("tokens of both sides, with their ids")
    offers = [_csv(trace, _("Tokens"), inside, partial(trace_tables.tokens, trace), "tokens")]
    if trace.steps:
        inside = _("token of each step, its probability, entropy and candidates")
        offers.append(_csv(trace, _("Decoding"), inside, partial(trace_tables.steps, trace), "decoding"))
    reader = models.reader(state.current().model)
    if "positional encodings" in reader.abilities.lacks:
        return offers
    sides_of: dict[Stack, tuple[str, str, Sequence[str]]] = {
        "encoder": ("source", _("Positions, source"), trace.source_tokens),
        "decoder": ("target", _("Positions, target"), trace.target_tokens),
    }
    for stack in reader.parts.stacks:
        side, label, tokens = sides_of[stack]
        d_model = reader.parts.table(stack).size(1)
        inside = _("the encoding added to each token, {d_model} dimensions", d_model=d_model)
        make = partial(_positions, state.current().model, trace, stack, tokens)
        offers.append(_csv(trace, label, inside, make, f"positional encoding {side}"))
    return offers


def _positions(choice: ModelChoice, trace: "Trace", stack: "Stack", tokens: Sequence[str]) -> bytes:
    return trace_tables.positional_encoding(
        tokens, models.reader(choice).parts.beginning(trace, stack).positional.numpy()
    )


def _csv(trace: "Trace", label: str, inside: str, make: Callable[[], bytes], name: str) -> Offer:
    return Offer(label, inside, make, f"{file_name(name, sentence=trace.text)}.csv")


def _offer_page(trace: "Trace", common: Common) -> None:
    site, layer, head = common.site, common.layer, common.head
    st.markdown(_("**This view as a page**"))
    rows, columns, _axes = blocks.sides_of(trace, site)
    queries, keys = len(rows), len(columns)
    if max(queries, keys) > attention.SHORT:
        frame.caption(
            "The page contains every weight of all heads and is available up to {short} tokens; this attention "
            "has {most_len:,}. The link button at the top of this page reopens the view in Headlight.",
            short=attention.SHORT,
            most_len=max(queries, keys),
        )
        return
    lines = [(line.mark, line.language, line.text) for line in sentence.lines_of(trace)]
    # The address opens at the heads.
    link = downloads.link(state.current().changed(attention_tab=ALL_HEADS), "attention")
    checkpoint, digest = models.identity(state.current().model)
    shown_head, choice = Common(site=site, layer=layer, head=head), state.current().model

    def make() -> bytes:
        # Not the reader itself, whose model would stay in memory as long as this can be asked for.
        reader = models.reader(choice)
        drawn = (panel.part(trace, reader, shown_head, None) for panel in PANELS if site == written.CROSS)
        parts = [part for part in drawn if part is not None]
        view = OpenView(site, written.label(site), layer, head, link, lines, parts)
        return view_page(trace, view, checkpoint=checkpoint, digest=digest)

    name = f"{file_name(head_name(site, layer, head), sentence=trace.text)}.html"
    inside = _("sentence, open head, all heads, decoding: one file that opens anywhere, offline")
    show_offer(_("HTML page"), inside, make, name)


def _offer_arrays(trace: "Trace") -> None:
    st.markdown(_("**The whole trace**"))
    name = f"{file_name('trace', sentence=trace.text)}.npz"
    has_weights = traces.has_weights(trace)
    inside = _("queries, keys and values of all attentions, with the tokens and steps")
    if has_weights:
        inside = _("all weights, queries, keys and values of all attentions, with the tokens and steps")
    show_offer(_("NumPy arrays"), inside, partial(traces.content, trace), name)
    if has_weights:
        frame.caption(
            "`numpy.load(file)` reads the file without Headlight and without pickle. `{site}/weights` is `[layer, "
            "head, query, key]`. `load_trace(file)` turns the file back into a trace.",
            site=trace.sites[-1],
        )
    else:
        frame.caption(
            "`numpy.load(file)` reads the file without Headlight and without pickle. The weights of such a long text "
            "are too many for a file and are omitted: `load_trace(file)` turns the file back into a trace, whose "
            "`weights(site, layer, heads, rows)` computes those you want."
        )


def _all_heads(trace: "Trace") -> Snippet:
    """The open head, by the measure and between what is chosen; as bertviz draws it, every head of the attention."""
    common, (site, layer, head) = state.current().common, open_head(trace)
    if state.current().attention.drawn_as == "bertviz":
        weights = "weights = [trace.weights({0}, layer) for layer in range(trace.layers_of({0}))]  # [head, query, key]"
        return of_text(trace, {}, line(weights, site))
    if attention.is_plain(trace, site, MatrixView.of(common)):
        weights = line("weights = trace.weights({}, {}, heads=[{}])[0]  # [query, key]", site, layer, head)
        return of_text(trace, {}, weights)
    imports: dict[str, str] = {}
    values = line("values = trace.weights({}, {})", site, layer)
    if common.measure == "rollout":
        values, head = line("values = rollout_at(trace, {}, {})[None]", site, layer), 0
        imports["analysis.metrics.measures"] = "rollout_at"
    elif common.measure == "norms":
        of_site = line("trace.attention({0}, {1}).values(), reader.output_projection({0}, {1})", site, layer)
        imports["analysis.metrics.measures"] = "value_weighted_norms"
        values = line("values = value_weighted_norms(trace.weights({}, {}), ", site, layer) + f"{of_site})"
    imports["trace.axes"] = "between"
    axes = line("trace.axes({}", site)
    axes += ", whole_words=True" * common.whole_words + ", sinks=False" * (not common.sinks) + ")"
    return of_text(trace, imports, values, f"shown = between(values, *{axes})[{head}]  # [query, key]")


def _circuits(trace: "Trace") -> Snippet:
    """What the weights of the open head make it attend to, and how much each head copies."""
    abilities = models.abilities(state.current().model)
    if not abilities.has("circuits"):
        return ""
    site, layer, head = open_head(trace)
    weights = line("weights = circuits.weights(trace, {}, {})  # by tokens alone, [query, key]", site, layer)
    most = data.largest_distance(abilities, site)
    values, distance = (site, layer, head), min(state.current().attention.distance, most)
    opened = line("circuits = head_circuits(reader, {}, {}, {})", *values)
    if most:
        opened = line("circuits = head_circuits(reader, {}, {}, {}, distance={})", *values, distance)
    copying = line("copying = copying_scores(reader, {})  # [layer, head]", site)
    return of_text(trace, {"analysis.head_circuits": "copying_scores, head_circuits"}, opened, weights, copying)


def _why(trace: "Trace") -> Snippet:
    """The question, its trail and the test that was asked for last; QK and OV where these are unfolded."""
    reader = models.text_reader(state.current().model)
    asked = asked_cell(trace, reader)
    below = st.session_state.get(tab.BY_TOKENS)
    is_unfolded = below is True or bool(getattr(below, "open", False))
    try:
        reason = data.reason(reader, trace, asked)
    except TraceError:
        is_unfolded = True
    if is_unfolded:
        return _circuits(trace)
    q, names = reason.question, "site={}, layer={}, head={}, row={}, key={}, rival={}"
    question = line(f"score.Question({names})", q.site, q.layer, q.head, q.row, q.key, q.rival)
    twin = line(", twins.trace_twin(reader, trace, {})", asked.twin) if asked.twin else ""
    explained = f"reason = score.explain(reader.parts, trace, {question}{twin})"
    modules = ["score", "trail", *(["twins"] if twin else [])]
    tested, codes = testing.of_session(reader, trace, asked).wanted, state.current().attention.trail
    steps = line("steps = trail.follow_trail(reason, {})", codes if tested is None else tested[:-1])
    if tested is None:
        lines = [steps, "parts = steps.levels[-1].parts  # and what they give"]
    else:
        row = data.word_row(reader, trace, asked)
        more = "" if row is None else line(", {}", row)
        test = line("[trail.asked_at(steps, {})]", tested[-1])
        lines = [steps, f"(left,) = without.outcomes(reader, reason, {test}{more})"]
        modules.append("without")
    return of_text(trace, {"analysis.reasons": ", ".join(modules)}, explained, *lines)


VIEWS: Final[Views] = {"All heads": _all_heads, "Why": _why}

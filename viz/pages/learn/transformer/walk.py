"""The Transformer as one picture: from the model of the sentence down to a product of two numbers, and back.

Five depths: the model, a layer at a token, a head with one of its rows, one weight of that row, one product of its
score. Where a person is stands in the address. `walk.js` draws; here are the numbers, and the way of fifteen stops.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import exp
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import numpy as np
import streamlit as st
from jaxtyping import UInt8

from model.errors import TraceError
from viz import theme
from viz.access import attention, long_texts, models
from viz.pages.learn.transformer import data, embeddings, stops
from viz.pages.learn.transformer.head_story import Origin, story
from viz.pages.learn.transformer.layer_story import NAMES, rows, stage_names
from viz.pictures import payload
from viz.pictures.component import Component
from viz.pictures.payload import Text, Token, Tokens, read, rounded
from viz.pictures.player.exchange import play
from viz.selection import state
from viz.selection.learn import Depth, Lines, PathEnd, WalkEdit
from viz.text.messages import _, said
from viz.text.numbers import decimal, scientific
from viz.text.sites import DECODER, ENCODER, SITES, Site, file_name, head_name
from viz.text.token_text import display_tokens
from viz.theme import DIVERGING_INKS, HEAD_COLOURS, SEQUENTIAL_INKS, Inks
from viz.ui import finding, frame, number_controls, sentence, trace_tables
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator
    from torch import Tensor

    from model import Reader, Trace
    from model.analysis.residual_stream.additions import Stack, TokenPath
    from model.analysis.residual_stream.streams import Moved

KEY: Final = "walk"
_FOLDER: Final = "pages/learn/transformer"
_COMPONENT: Final = Component(f"{_FOLDER}/walk.js", f"{_FOLDER}/walk.css")
#: What a part is coloured as → its colour.
COLOURS: Final = {
    "embedding": theme.HEAD_COLOURS[7],
    "position": theme.HEAD_COLOURS[5],
    "self": theme.HEAD_COLOURS[0],
    "cross": theme.HEAD_COLOURS[1],
    "feed_forward": theme.HEAD_COLOURS[2],
    "norm": theme.HEAD_COLOURS[6],
}
#: What the stream begins with → what it is called; what the layers add has its names in `layer_story`.
_BEGIN_NAMES: Final = {"embedding": said("Embedding"), "position": said("Position")}
CANDIDATES: Final = 5
#: More than any model or film has: bounds of what the browser may say.
MOST: Final = 1_000_000


@dataclass(frozen=True)
class WalkState:
    """Where a person is; layers, heads, rows, keys and dimensions from 0.

    Attributes:
        step: where the film of the model stands.
        depth: how far they have zoomed in.
        end: at the depth of a layer, the input or the output of the stack instead.
        site, layer, head: the head that is open, or the layer.
        row: the token that is followed, a row of the site.
        key: one of its keys.
        dimension: one component of query and key.
        stop: of the way, counted from 1; 0 for whoever goes where they like.
        lines: which head the lines of the model are of.
        edit: what is done to the open head.
    """

    step: Annotated[int, range(MOST)]
    depth: Depth
    end: PathEnd
    site: Site
    layer: Annotated[int, range(1_000)]
    head: Annotated[int, range(10_000)]
    row: Annotated[int, range(MOST)]
    key: Annotated[int, range(MOST)]
    dimension: Annotated[int, range(100_000)]
    stop: Annotated[int, range(100)]
    lines: Lines
    edit: WalkEdit

    @property
    def stack(self) -> "Stack":
        """Whose token is followed."""
        return "encoder" if self.site == ENCODER else "decoder"

    def fits(self, trace: "Trace") -> bool:
        """Whether the trace has this head, this row and this key."""
        if self.site not in trace.sites:
            return False
        queries, keys = map(len, trace.axis_tokens(self.site))
        layers, heads = trace.shapes[self.site]
        return self.layer < layers and self.head < heads and self.row < queries and self.key < keys


@dataclass(frozen=True, slots=True)
class WalkStack:
    """The columns of a stack.

    Attributes:
        name: encoder or decoder.
        layers: as many as attend.
        first: the position of the first token that is shown; `total` are all.
        tokens: what is read at the bottom of each column.
        prompt: so many of all tokens were not written by the model but given.
    """

    name: Literal["encoder", "decoder"]
    layers: int
    first: int
    total: int
    tokens: Tokens
    prompt: int


@dataclass(frozen=True, slots=True)
class WalkSite:
    """An attention whose weights follow in the payload, between the columns that are shown."""

    site: Site
    layers: int
    heads: int


@dataclass(frozen=True, slots=True)
class WalkCandidate:
    """A token that could have been written."""

    token: Token
    probability: Annotated[float, rounded(5)]


@dataclass(frozen=True, eq=False, slots=True)
class WalkPicture:
    """The model with the sentence in it.

    Attributes:
        stacks, sites: what it has.
        written: of each column of the decoder, the candidates for the next token; none for a prompt's.
        has_lengths: whether the lengths of the residual stream follow the weights, stack by stack, [level, token].
        numbers: all weights [site: layer, head, query, key], then the lengths, as compressed float32.
    """

    stacks: Sequence[WalkStack]
    sites: Sequence[WalkSite]
    written: Sequence[Sequence[WalkCandidate]]
    has_lengths: bool
    numbers: UInt8[np.ndarray, "byte"]
    colours: Mapping[str, str]
    signed: Inks = DIVERGING_INKS
    sequential: Inks = SEQUENTIAL_INKS
    real_colour: str = HEAD_COLOURS[0]
    other_colour: str = HEAD_COLOURS[1]

    @classmethod
    def of(cls, trace: "Trace", reader: "Reader", place: WalkState) -> "WalkPicture":
        """The picture of a trace; of a long text, of the columns around what is followed."""
        seen = data.windows(trace, place.site, place.row, place.key)
        columns = tuple((stack, window.start, window.stop) for stack, window in seen.items())
        numbers, has_lengths = data.numbers_between(trace, reader, columns)
        steps = dict(enumerate(trace.steps, start=trace.rows_before))
        rows = range(seen["decoder"].start, seen["decoder"].stop) if "decoder" in seen else ()
        return cls(
            stacks=[
                WalkStack(
                    name=stack,
                    layers=data.layers_of(trace, stack),
                    first=window.start,
                    total=len(data.tokens_of(trace, stack)),
                    tokens=data.tokens_of(trace, stack)[window],
                    prompt=trace.rows_before if stack == "decoder" else len(trace.source_tokens),
                )
                for stack, window in seen.items()
            ],
            sites=[WalkSite(site, *trace.shapes[site]) for site in SITES if site in trace.sites],
            written=[
                [WalkCandidate(each.token, exp(each.log_prob)) for each in steps[row].candidates[:CANDIDATES]]
                if row in steps
                else []
                for row in rows
            ],
            has_lengths=has_lengths,
            numbers=numbers,
            colours=COLOURS,
        )


@dataclass(frozen=True, slots=True)
class Part:
    """What is added to the stream of the token that is followed.

    Attributes:
        stage: at which it is: 0 for the input, then the layers.
        kind: what it is coloured as.
        length: its norm.
        share: of the sum; None without a residual connection.
        stream: the norm of the stream after it.
    """

    stage: int
    kind: str
    label: Text
    length: Annotated[float, rounded(3)]
    share: Annotated[float, rounded(4)] | None
    stream: Annotated[float, rounded(3)]


def show(head: "DeltaGenerator") -> None:
    """The sentence, and the picture."""
    with frame.loading():
        abilities = models.abilities(state.current().model)
    trace = sentence.read_and_show(state.current().common.text, head)
    if not trace.sites:
        frame.lacking(abilities, "self-attention")
        return
    finding.open_on_finding(trace)
    _walk(trace)


@frame.fragment
def _walk(trace: "Trace") -> None:
    reader = models.reader(state.current().model)
    asked = place_in(trace, reader)
    told = _Told.of(trace, reader, asked)
    name = file_name("transformer", asked.depth, head_name(asked.site, asked.layer, asked.head), sentence=trace.text)
    picture = WalkPicture.of(trace, reader, asked)
    play(
        _COMPONENT,
        picture,
        asked=asked,
        read=partial(_read, trace),
        digest=payload.digest(picture),
        key=KEY,
        more={"name": name, **told.packed()},
        on_report=partial(_go, asked),
    )
    if asked.depth in ("head", "cell", "number") and not told.no_origin:
        _switches(trace, asked)
    with st.container(horizontal=True, vertical_alignment="center"):
        if told.proof is not None:
            _badge(told.proof)
        if asked.depth == "layer" and told.path is not None:
            number_controls.table_button(_("Table (CSV)"), partial(embeddings.parts, told.path), name)
        elif asked.depth != "model" and told.origin is not None:
            shown, keys = told.origin.shown, told.origin.key_tokens
            number_controls.table_button(_("Table (CSV)"), partial(trace_tables.row_origin, shown, keys), name)
    for caution in data.cautions(trace, reader, told.path):
        st.caption(caution)
    embeddings.offer(trace, reader, asked.stack, asked.row, asked.layer)


def _read(trace: "Trace", value: object) -> WalkState | None:
    heard = read(WalkState, value)
    return heard if heard is not None and heard.fits(trace) else None


def place_in(trace: "Trace", reader: "Reader") -> WalkState:
    """Where a person is, with what is most worth seeing where they have not chosen."""
    common, learn = state.current().common, state.current().learn
    sites = [site for site in SITES if site in trace.sites]
    site = common.site if common.site in sites else sites[0]
    queries, keys = map(len, trace.axis_tokens(site))
    layers, heads = trace.shapes[site]
    layer, head = min(common.layer, layers - 1), min(common.head, heads - 1)
    row, key = finding.default_cell(trace, site)
    if common.token is not None and common.token < queries:
        row, key = common.token, None
    elif _shows_undivided(trace, site, layer):
        row, key = attention.row_that_scaling_changes(trace, site, layer, head), None
    place = WalkState(
        step=MOST - 1 if learn.map_step is None else min(learn.map_step, MOST - 1),
        depth=learn.depth,
        end=learn.path_end,
        site=site,
        layer=layer,
        head=head,
        row=row,
        key=0,
        dimension=learn.component or 0,
        stop=learn.walk_stop,
        lines=learn.lines,
        edit="" if "edits" in reader.abilities.lacks else learn.walk_edit,
    )
    if common.key_token is not None and common.key_token < keys:
        key = common.key_token
    if key is None:
        key = int(trace.weights(site, layer, [head], slice(row, row + 1)).argmax())
    if learn.component is None and not lacks_scores(reader):
        of_row = attention.derived_row(trace, site, layer, head, row, scaled=True, masked=True)
        place = replace(place, dimension=int(of_row.products[key].abs().argmax()))
    return replace(place, key=key)


def _shows_undivided(trace: "Trace", site: str, layer: int) -> bool:
    """Whether the division by √d_k is switched off, in a text of which whole matrices are small."""
    is_off = not state.current().attention.scaled and trace.knows_inputs
    return is_off and trace.attention(site, layer).scale != 1 and not long_texts.is_long(trace, site)


def lacks_scores(reader: "Reader") -> str:
    """Why no score of a model is known; "" where they are."""
    return str(reader.abilities.lacks.get("scores") or reader.abilities.lacks.get("norms") or "")


def _go(asked: WalkState, place: WalkState) -> None:
    """Take what the browser reports into the selection: head, row and key only where they are not what was proposed."""
    heads = [(each.site, each.layer, each.head) for each in (asked, place)]
    if heads[0] != heads[1]:
        state.choose(site=place.site, layer=place.layer, head=place.head)
    if heads[0] != heads[1] or (asked.row, asked.key) != (place.row, place.key):
        state.change(token=place.row, key_token=place.key)
    if asked.dimension != place.dimension:
        state.change(component=place.dimension)
    state.change(
        map_step=place.step,
        depth=place.depth,
        path_end=place.end,
        walk_stop=place.stop,
        lines=place.lines,
        walk_edit=place.edit,
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Told:
    """What is said of a place: the way of its token, the numbers of its row, and the stops of the walk."""

    place: WalkState
    path: "TokenPath | None"
    no_path: str
    origin: Origin | None
    no_origin: str
    stops: Sequence[stops.Stop]
    proof: "tuple[float, float, str] | None"
    changes: "Moved | None"
    can_edit: bool

    @classmethod
    def of(cls, trace: "Trace", reader: "Reader", place: WalkState) -> "_Told":
        path, no_path = None, data.why_not(reader)
        if not no_path:
            try:
                path = data.token_path(trace, reader, place.stack, place.row)
            except TraceError as error:
                no_path = error.message
        no_origin = lacks_scores(reader)
        origin = None if no_origin else _origin(trace, reader, place)
        proof = None
        if place.depth == "layer" and path is not None:
            proof = path.deviation, path.tolerance, _("the contributions add up to what the model computed")
        elif place.depth != "model" and origin is not None and trace.knows_outputs(place.site):
            check = attention.output_check(trace, place.site, place.layer)
            proof = check.deviation, check.tolerance, _("weights · values = the model's own head output")
        changes, can_edit = None, not no_path and "edits" not in reader.abilities.lacks
        if place.edit and can_edit:
            key = place.key if place.edit == "point" else None
            # Rows before this one may not see the key.
            since = place.row if place.edit == "point" and place.site == DECODER else 0
            changes = data.changes(trace, reader, place.site, place.layer, place.head, key, since)
        way = stops.of(trace, place.site, path, origin)
        return cls(place, path, no_path, origin, no_origin, way, proof, changes, can_edit)

    def packed(self) -> dict[str, object]:
        """As `walk.js` reads it."""
        return {
            "at": payload.encoded(self.place),
            "path": None if self.path is None else _path(self.path, self.stage),
            "noPath": plain(_(self.no_path)),
            "row": None if self.origin is None else story(self.origin),
            "noRow": plain(_(self.no_origin)),
            "stops": [payload.encoded(stop) for stop in self.stops],
            "canEdit": self.can_edit,
            "changed": self._changed(),
        }

    def _changed(self) -> dict[str, object] | None:
        """What the edit changes: by stack, level by level, the share of each token; and what would be written."""
        if self.changes is None:
            return None
        streams = {stack: np.round(moved.numpy(), 4).tolist() for stack, moved in self.changes.shares.items()}
        return {"streams": streams, "written": display_tokens(self.changes.written)}

    @property
    def stage(self) -> int:
        """The stage of the path that is open: 0 for the input, then the layers, then the output."""
        assert self.path is not None
        if self.place.end:
            return 0 if self.place.end == "input" else len(self.path.layers) + 1
        return min(self.place.layer, len(self.path.layers) - 1) + 1


def _path(path: "TokenPath", stage: int) -> dict[str, Any]:
    """What every part adds to the token, and the steps of the open stage with their vectors."""
    shown = rows(path, stage)
    return {
        "stage": stage,
        "stages": stage_names(path),
        "parts": [payload.encoded(part) for part in parts(path)],
        "rows": [
            {
                **payload.encoded(row),
                "values": [] if row.values is None else [float(f"{value:.6g}") for value in row.values.tolist()],
            }
            for row in shown
        ],
    }


def parts(path: "TokenPath") -> list[Part]:
    """What the token begins with, and what every sub-layer adds to it."""
    begin = _norm(path.begin)
    vectors = {"embedding": path.embedding, "position": path.positional}
    from_input = [
        Part(0, kind, _BEGIN_NAMES[kind], _norm(vector), None, begin)
        for kind, vector in vectors.items()
        if vector is not None
    ]
    return (from_input or [Part(0, "embedding", said("Embedding layer"), begin, None, begin)]) + [
        Part(
            stage=number,
            kind=addition.kind,
            label=NAMES[addition.kind],
            length=_norm(addition.added),
            share=addition.share if addition.has_skip else None,
            stream=_norm(addition.after),
        )
        for number, layer in enumerate(path.layers, start=1)
        for addition in layer
    ]


def _norm(vector: "Tensor") -> float:
    return float(np.linalg.norm(vector))


def _origin(trace: "Trace", reader: "Reader", place: WalkState) -> Origin:
    """The row of the open head, from q and k to its part of the output."""
    site, layer, head, row = place.site, place.layer, place.head, place.row
    chosen = state.current().attention
    derived = partial(attention.derived_row, trace, site, layer, head, row)
    real, other = derived(scaled=True, masked=True), None
    if not (chosen.scaled and chosen.masked):
        other = derived(scaled=chosen.scaled, masked=chosen.masked)
    return Origin(
        row_name=trace.row_names(site)[row],
        key_tokens=trace.axis_names(site)[1],
        real=real,
        other=other,
        followed=place.key,
        site=site,
        head=head,
        added=attention.added_to_scores(trace, site, layer, head, row, place.key),
        score=trace.attention(site, layer).score.name,
        has_projection=reader.abilities.has("output projection"),
        parts=attention.head_parts(trace, reader, site, layer, row),
        other_part=None if other is None else attention.head_part(other, reader, site, layer, head),
    )


def _switches(trace: "Trace", place: WalkState) -> None:
    """Whether to scale and whether to mask, where the model divides and where a key is masked."""
    real = attention.derived_row(trace, place.site, place.layer, place.head, place.row, scaled=True, masked=True)
    offered = {"scaled": (_("Divide by √dₖ"), real.scale != 1), "masked": (_("Mask"), not bool(real.allowed.all()))}
    with st.container(horizontal=True):
        for field, (label, is_offered) in offered.items():
            if is_offered:
                st.toggle(label, key=state.bind(field), on_change=state.take, args=(field,))
    if real.scale != 1 and not long_texts.is_long(trace, place.site):
        spread = attention.dot_product_spread(trace, place.site, place.layer, place.head)
        st.caption(
            _(
                "Over {pairs:,} pairs of this sentence, this head's scores have a standard deviation of {before} "
                "before and {after} after dividing by √dₖ.",
                pairs=spread.pairs,
                before=decimal(spread.before),
                after=decimal(spread.after),
            )
        )


def _badge(proof: tuple[float, float, str]) -> None:
    largest, bound, claim = proof
    difference = _("largest difference {difference}", difference=scientific(largest))
    if largest <= bound:
        st.badge(f"{claim}: {difference}", icon=":material/check:", color="green")
    else:
        st.badge(_("Not so: {claim}; {rest}", claim=claim, rest=difference), icon=":material/warning:", color="red")

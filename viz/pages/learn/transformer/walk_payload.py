"""What the picture of the Transformer is told: the model with its sentence once, and of the place where a person is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp
from typing import TYPE_CHECKING, Annotated, Final, Literal

import numpy as np
from jaxtyping import UInt8

from model.errors import TraceError
from viz import theme
from viz.access import attention
from viz.pages.learn.explore.forcing import asked_reference
from viz.pages.learn.transformer import data, stops
from viz.pages.learn.transformer.head_story import Origin, story
from viz.pages.learn.transformer.layer_story import path_story
from viz.pictures import payload
from viz.pictures.component import Component
from viz.pictures.payload import Token, Tokens, rounded
from viz.selection.choices import Depth, Lines, PathEnd, WalkEdit
from viz.text.messages import _
from viz.text.written import DECODER, ENCODER, SITES, Site, display_tokens
from viz.theme import BLUE, DIVERGING_INKS, ORANGE, SEQUENTIAL_INKS, Inks
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.residual_stream.streams import Moved
    from model.analysis.residual_stream.token_path import TokenPath
    from model.parts.weights import Stack

_FOLDER: Final = "pages/learn/transformer"
COMPONENT: Final = Component(f"{_FOLDER}/walk.js", f"{_FOLDER}/walk.css")
#: What a part is coloured as → its colour.
COLOURS: Final = {
    "embedding": theme.GREY,
    "position": theme.PURPLE,
    "self": theme.BLUE,
    "cross": theme.ORANGE,
    "feed_forward": theme.GREEN,
    "norm": theme.YELLOW,
}
CANDIDATES: Final = 5
#: Of a change, weights travel in such parts: as many decimals as are shown.
WEIGHT_PARTS: Final = 10_000
#: More than any model or film has: bounds of what the browser may say.
MOST: Final = 1_000_000


@dataclass(frozen=True)
class WalkState:
    """Where a person is; layers, heads, rows, keys and dimensions from 0."""

    step: Annotated[int, range(MOST)]  #: where the film of the model stands
    depth: Depth  #: how far they have zoomed in
    end: PathEnd  #: at the depth of a layer, the input or the output of the stack instead
    #: site, layer, head: the head that is open, or the layer.
    site: Site
    layer: Annotated[int, range(1_000)]
    head: Annotated[int, range(10_000)]
    row: Annotated[int, range(MOST)]  #: the token that is followed, a row of the site
    key: Annotated[int, range(MOST)]  #: one of its keys
    dimension: Annotated[int, range(100_000)]  #: one component of query and key
    stop: Annotated[int, range(100)]  #: of the way, counted from 1; 0 for whoever goes where they like
    lines: Lines  #: which head the lines of the model are of
    edit: WalkEdit  #: what is done to the open head; or that the decoder reads the reference

    @property
    def stack(self) -> "Stack":
        """Whose token is followed."""
        return "encoder" if self.site == ENCODER else "decoder"

    @property
    def changed(self) -> tuple[str, int, int, int | None, int]:
        """The open head, the key that it is pointed at, if any, and since which row: earlier ones may not see it."""
        is_pointed = self.edit == "point"
        since = self.row if is_pointed and self.site == DECODER else 0
        return self.site, self.layer, self.head, self.key if is_pointed else None, since

    def fits(self, trace: "Trace") -> bool:
        """Whether the trace has this head, this row and this key."""
        if self.site not in trace.sites:
            return False
        queries, keys = map(len, trace.axis_tokens(self.site))
        layers, heads = trace.shapes[self.site]
        return self.layer < layers and self.head < heads and self.row < queries and self.key < keys


@dataclass(frozen=True, slots=True)
class WalkStack:
    """The columns of a stack."""

    name: Literal["encoder", "decoder"]  #: encoder or decoder
    layers: int  #: as many as attend
    first: int  #: the position of the first token that is shown; `total` are all
    total: int
    tokens: Tokens  #: what is read at the bottom of each column
    prompt: int  #: so many of all tokens were not written by the model but given
    kinds: Sequence[Sequence[str]]  #: of each layer its sub-layers, whose norms are sent; none where they are unknown
    #: shown, waves: so many components are sent of each token's first vector, and of what positions add to it.
    shown: int
    waves: int


@dataclass(frozen=True, slots=True)
class WalkSite:
    """An attention whose weights follow in the payload, between the columns that are shown."""

    site: Site
    layers: int
    heads: int
    has_norms: bool  #: whether the norms of what its heads add are sent


@dataclass(frozen=True, slots=True)
class WalkCandidate:
    """A token that could have been written."""

    token: Token
    probability: Annotated[float, rounded(5)]


@dataclass(frozen=True, slots=True)
class Patches:
    """The picture whose patches are the tokens from `first` on, line by line."""

    address: str  #: of the picture as the model saw it
    #: rows, columns: of patches.
    rows: int
    columns: int
    first: int


@dataclass(frozen=True, eq=False, slots=True)
class WalkPicture:
    """The model with the sentence in it."""

    #: stacks, sites: what it has.
    stacks: Sequence[WalkStack]
    sites: Sequence[WalkSite]
    #: of each column of the decoder, the candidates for the next token; none for a prompt's.
    written: Sequence[Sequence[WalkCandidate]]
    #: of each of them, what every level would say if it were the last, level 0 being the input; none where unknown.
    #: Of a large vocabulary only the rows around the one that is followed are known: another has the same picture.
    lens: Annotated[Sequence[Sequence[WalkCandidate]], payload.CHOSEN]
    numbers: UInt8[np.ndarray, "byte"]  #: of `data.Numbers`
    colours: Mapping[str, str]
    patches: Patches | None  #: of a source that is drawn as a picture
    signed: Inks = DIVERGING_INKS
    sequential: Inks = SEQUENTIAL_INKS
    real_colour: str = BLUE
    other_colour: str = ORANGE

    @property
    def num_stages(self) -> int:
        """The steps of its film, as `model_columns.js` orders them: levels of a prompt at once, then of each token."""
        columns = ((each, range(max(each.first, each.prompt), each.first + len(each.tokens))) for each in self.stacks)
        levels = sum((each.layers + 1) * ((each.first < each.prompt) + len(rows)) for each, rows in columns)
        return levels + sum(map(bool, self.written))

    @classmethod
    def of(cls, trace: "Trace", reader: "Reader", place: WalkState) -> "WalkPicture":
        """The picture of a trace; of a long text, of the columns around what is followed."""
        seen = data.windows(trace, place.site, place.row, place.key)
        columns = tuple((stack, window.start, window.stop) for stack, window in seen.items())
        numbers = data.numbers_between(trace, reader, columns)
        lens = data.lens(trace, reader, place.row if place.stack == "decoder" else 0) if trace.steps else {}
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
                    kinds=numbers.kinds.get(stack, ()),
                    shown=numbers.shown.get(stack, 0),
                    waves=numbers.waves.get(stack, 0),
                )
                for stack, window in seen.items()
            ],
            sites=[
                WalkSite(site, *trace.shapes[site], site in numbers.head_norms) for site in SITES if site in trace.sites
            ],
            written=[
                [WalkCandidate(each.token, exp(each.log_prob)) for each in steps[row].candidates[:CANDIDATES]]
                if row in steps
                else []
                for row in rows
            ],
            lens=[[WalkCandidate(token, chance) for token, chance in lens.get(row, ())] for row in rows],
            numbers=numbers.packed,
            colours=COLOURS,
            patches=None
            if (grid := trace.source.grid) is None
            else Patches(data.picture_address(grid), grid.rows, grid.columns, grid.first_patch),
        )


def lacks_scores(reader: "Reader") -> str:
    """Why no score of a model is known; "" where they are."""
    return str(reader.abilities.lacks.get("scores") or reader.abilities.lacks.get("norms") or "")


@dataclass(frozen=True, eq=False, slots=True)
class Told:
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
    can_force: bool
    trace: "Trace"

    @classmethod
    def of(
        cls, trace: "Trace", reader: "Reader", place: WalkState, *, scaled: bool = True, masked: bool = True
    ) -> "Told":
        """What is said of a place of a trace; of its row also what it would be without scaling or mask."""
        path, no_path = None, data.why_not(reader)
        if not no_path:
            try:
                path = data.token_path(trace, reader, place.stack, place.row)
            except TraceError as error:
                no_path = error.message
        no_origin = lacks_scores(reader)
        origin = None if no_origin else origin_of(trace, reader, place, scaled=scaled, masked=masked)
        proof = None
        if place.depth == "layer" and path is not None:
            proof = path.deviation, path.tolerance, _("the contributions add up to what the model computed")
        elif place.depth != "model" and origin is not None and trace.knows_outputs(place.site):
            check = attention.output_check(trace, place.site, place.layer)
            proof = *check, _("weights · values = the model's own head output")
        changes, can_edit = None, not no_path and "edits" not in reader.abilities.lacks
        if place.edit == "forced" and data.may_be_forced(reader, trace):
            changes = data.forced(trace, reader, asked_reference(reader, trace))
        elif place.edit in ("off", "point") and can_edit:
            changes = data.changes(trace, reader, *place.changed)
        way = stops.of(trace, place.site, path, origin)
        can_force = data.may_be_forced(reader, trace)
        return cls(place, path, no_path, origin, no_origin, way, proof, changes, can_edit, can_force, trace)

    def packed(self) -> dict[str, object]:
        """As `walk.js` reads it."""
        return {
            "at": payload.encoded(self.place),
            "path": None if self.path is None else path_story(self.path, self.stage),
            "noPath": plain(_(self.no_path)),
            "row": None if self.origin is None else story(self.origin),
            "noRow": plain(_(self.no_origin)),
            "stops": [payload.encoded(stop) for stop in self.stops],
            "canEdit": self.can_edit,
            "canForce": self.can_force,
            "changed": self._changed(),
        }

    def _changed(self) -> dict[str, object] | None:
        """What the edit changes: by stack and level, the share of each token; all weights; what is read and written."""
        if self.changes is None:
            return None
        other = self.changes.trace
        seen = data.windows(self.trace, self.place.site, self.place.row, self.place.key)
        weights = data.weights_between(other, seen)
        if self.place.edit == "forced":
            # A reference may be shorter than what the model wrote: what has no place in it stays as it is.
            own = data.weights_between(self.trace, seen)
            for site, changed in weights.items():
                rows, keys = changed.shape[2:]
                own[site][:, :, :rows, :keys] = changed
            weights = own
        streams = {stack: np.round(moved.numpy(), 4).tolist() for stack, moved in self.changes.shares.items()}
        return {
            "streams": streams,
            "written": display_tokens(self.changes.written),
            "read": display_tokens(other.target_tokens),
            "text": other.translation,
            "weights": {
                site: np.rint(of_site * WEIGHT_PARTS).astype(int).ravel().tolist() for site, of_site in weights.items()
            },
        }

    @property
    def stage(self) -> int:
        """The stage of the path that is open: 0 for the input, then the layers, then the output."""
        assert self.path is not None
        if self.place.end:
            return 0 if self.place.end == "input" else len(self.path.layers) + 1
        return min(self.place.layer, len(self.path.layers) - 1) + 1


def origin_of(
    trace: "Trace", reader: "Reader", place: WalkState, *, scaled: bool = True, masked: bool = True
) -> Origin:
    """The row of the open head, from q and k to its part of the output; with scaling or mask left out, beside that."""
    site, layer, head, row = place.site, place.layer, place.head, place.row
    derived = partial(attention.derived_row, trace, site, layer, head, row)
    real, other = derived(scaled=True, masked=True), None
    if not (scaled and masked):
        other = derived(scaled=scaled, masked=masked)
    return Origin(
        row_name=trace.row_names(site)[row],
        rows_write=trace.rows_write(site),
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

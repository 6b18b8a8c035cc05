"""Ask a trace and its model for what the picture shows: weights, lengths of streams, the path of one token."""

from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import numpy as np
from jaxtyping import Float, UInt8

from model import Reader, Trace, later
from model.analysis.embedding_space import EmbeddingSpace, SeenIn
from model.analysis.embedding_space import embedding_space as model_embedding_space
from model.analysis.embedding_space import is_shared as model_is_shared
from model.analysis.embedding_space import seen_in as model_seen_in
from model.analysis.residual_stream.token_path import TokenPath, follow
from model.errors import TraceError
from model.parts.run import Addition
from model.parts.weights import Kind, Stack
from model.reader import Writer
from model.sources.source import Grid
from viz.pages.learn.explore.data.training import OtherTranslation, forced_trace
from viz.pictures import payload
from viz.server.caches import cached
from viz.text.messages import _, said
from viz.text.written import CROSS, DECODER, ENCODER, SITES

if TYPE_CHECKING:
    from model.analysis.residual_stream.streams import Moved, Streams
    from model.nn.edits import HeadEdit
MAX_RUNS, MAX_PATHS, MAX_SPACES, MAX_PICTURES = 8, 8, 4, 8
#: So many columns of a stack are shown, or fewer where the weights between them were more numbers than are sent.
COLUMNS, FEWEST = 48, 8
MOST_NUMBERS: Final = 1_200_000
#: What a logit lens may multiply while a person waits: a row of a model with 50,000 tokens and 30 layers takes 1e9.
LENS_PRODUCTS: Final = 4_000_000_000


def tokens_of(trace: Trace, stack: Stack) -> tuple[str, ...]:
    """What a stack reads."""
    return trace.source.names if stack == "encoder" else trace.target_tokens


def layers_of(trace: Trace, stack: Stack) -> int:
    """The layers of a stack that attend; 1 of one whose layers do not."""
    return max((layers for site, (layers, _heads) in trace.shapes.items() if site.startswith(stack)), default=1)


def picture_address(grid: Grid) -> str:
    """A picture as the model saw it, as a PNG in an address."""
    from PIL import Image

    saved = BytesIO()
    Image.fromarray(grid.pixels.numpy()).save(saved, "PNG")
    return f"data:image/png;base64,{b64encode(saved.getvalue()).decode('ascii')}"


def windows(trace: Trace, site: str, row: int, key: int) -> dict[Stack, slice]:
    """The columns of each stack that are shown: all, or those around the row, or the key, that is looked at."""
    lengths: dict[Stack, int] = {"encoder": len(trace.source_tokens), "decoder": len(trace.target_tokens)}
    heads = sum(layers * of_layer for layers, of_layer in trace.shapes.values())
    most = min(COLUMNS, max(FEWEST, int((MOST_NUMBERS / heads) ** 0.5)))
    looked_at: dict[Stack, int] = {"encoder": row if site == ENCODER else key, "decoder": row}
    found: dict[Stack, slice] = {}
    for stack, length in lengths.items():
        if length:
            first = min(max(looked_at[stack] - most // 2, 0), max(length - most, 0))
            found[stack] = slice(first, min(first + most, length))
    return found


def weights_between(trace: Trace, seen: Mapping[Stack, slice]) -> dict[str, Float[np.ndarray, "layer head query key"]]:
    """The weights of every head between the columns that are shown, by site."""
    found: dict[str, Float[np.ndarray, "layer head query key"]] = {}
    for site in (site for site in SITES if site in trace.sites):
        rows = seen["encoder" if site == ENCODER else "decoder"]
        keys = seen["decoder" if site == DECODER else "encoder"]
        layers, _heads = trace.shapes[site]
        found[site] = np.stack([trace.weights(site, layer, rows=rows)[..., keys].numpy() for layer in range(layers)])
    return found


@cached(max_entries=MAX_RUNS)
def own_streams(trace: Trace, reader: Reader) -> "Streams | None":
    """The residual stream of every token after every layer; None where it is unknown."""
    return None if why_not(reader) else later.streams.streams(reader, trace)


@cached(max_entries=MAX_PICTURES)
def changes(
    trace: Trace, reader: Reader, site: str, layer: int, head: int, key: int | None, since: int
) -> "Moved | None":
    """What follows from a head that is switched off, or pointed at a key; None where streams are unknown.

    Args:
        trace, reader: of the sentence.
        key: at which it is pointed; None to switch it off.
        since: the first row that it is pointed from, for earlier ones may not see the key.
    """
    before, edit = own_streams(trace, reader), edit_of(site, layer, head, key, since)
    return None if before is None else later.streams.moved_by(reader, trace, edit, before)


def edit_of(site: str, layer: int, head: int, key: int | None, since: int) -> "HeadEdit":
    """What `changes` does to a head."""
    edits = later.edits
    return edits.SwitchOff(site, layer, head) if key is None else edits.PointAt(site, layer, head, key, since=since)


@cached(max_entries=MAX_PICTURES)
def forced(trace: Trace, writer: Writer, reference: str | OtherTranslation) -> "Moved | None":
    """What the model computes where it is made to read a reference (teacher forcing), beside its own run.

    Raises an InputTextError if the reference is blank or too long.
    """
    before = own_streams(trace, writer)
    other = forced_trace(writer, trace, reference)
    return None if before is None else later.streams.moved_to(writer, other, before)


def may_be_forced(reader: Reader, trace: Trace) -> TypeGuard[Writer]:
    """Whether the model wrote this trace and can be made to read a reference."""
    has_decoder = reader.abilities.kind == "encoder-decoder" and reader.abilities.generates
    return has_decoder and bool(trace.steps) and not why_not(reader)


@dataclass(frozen=True, eq=False, slots=True)
class Numbers:
    """The numbers of a picture, and which of them there are."""

    #: as compressed float32: all weights [site: layer, head, query, key]; of each stack the norms of what its first
    #: layer reads [token], of what each sub-layer adds, of the sum and of the stream after it [sub-layer, 3, token],
    #: some components of the first vectors [token, shown] and of what positions add [token, wave]; of each site the
    #: norms of what its heads add [layer, head, query].
    packed: UInt8[np.ndarray, "byte"]
    kinds: Mapping[Stack, tuple[tuple[Kind, ...], ...]]  #: of each layer its sub-layers; none where norms are unknown
    #: shown, waves: so many components of the first vectors, and of what positions add, are among the numbers.
    shown: Mapping[Stack, int]
    waves: Mapping[Stack, int]
    head_norms: frozenset[str]  #: the sites of which they are


@cached(max_entries=MAX_PICTURES)
def numbers_between(trace: Trace, reader: Reader, columns: tuple[tuple[Stack, int, int], ...]) -> Numbers:
    """All weights between the columns, and the norms of what is computed in them.

    Args:
        trace, reader: of the sentence.
        columns: of each stack, the first that is shown and the end.
    """
    seen = {stack: slice(first, end) for stack, first, end in columns}
    parts: list[np.ndarray[Any, Any]] = [*weights_between(trace, seen).values()]
    found = {} if why_not(reader) else later.norms.stack_norms(reader, trace, seen)
    for each in found.values():
        waves = () if each.waves is None else (each.waves,)
        parts += [part.numpy() for part in (each.begin, each.sublayers, each.vectors, *waves)]
    heads = {site: norms for each in found.values() for site, norms in each.heads.items()}
    parts += [heads[site].numpy() for site in SITES if site in heads]
    numbers = np.concatenate([np.ravel(part) for part in parts])
    packed = payload.deflate(numbers.astype("<f4").view(np.uint8))
    return Numbers(
        packed=np.frombuffer(packed, np.uint8),
        kinds={stack: each.kinds for stack, each in found.items()},
        shown={stack: each.vectors.size(1) for stack, each in found.items()},
        waves={stack: 0 if each.waves is None else each.waves.size(1) for stack, each in found.items()},
        head_norms=frozenset(heads),
    )


def lens(trace: Trace, reader: Reader, row: int) -> Mapping[int, tuple[tuple[str, float], ...]]:
    """What each layer would say if it were the last: a token and its probability, of as many rows around one as are
    read in a moment; none where that is unknown."""
    if not trace.steps or why_not(reader) or not _writes(reader):
        return {}
    with suppress(TraceError):
        heads, _rows, width = trace.attention(DECODER if DECODER in trace.sites else CROSS, 0).query.shape
        of_row = (layers_of(trace, "decoder") + 1) * reader.parts.num_tokens * heads * width
        many = max(1, LENS_PRODUCTS // of_row)
        return _lens(trace, reader, max(0, row - trace.rows_before) // many * many, many)
    return {}


def _writes(reader: Reader) -> TypeGuard[Writer]:
    return bool(reader.abilities.generates)


@cached(max_entries=MAX_PICTURES)
def _lens(trace: Trace, writer: Writer, begin: int, many: int) -> Mapping[int, tuple[tuple[str, float], ...]]:
    found = writer.logit_lens(trace, 1, slice(begin, begin + many))
    if len(found.tokens) != layers_of(trace, "decoder") + 1:
        return {}
    return {
        trace.rows_before + begin + at: tuple(
            (tokens[at][0], float(chance[at, 0]))
            for tokens, chance in zip(found.tokens, found.probabilities, strict=True)
        )
        for at in range(len(found.chosen_ids))
    }


@cached(max_entries=MAX_RUNS)
def additions(trace: Trace, reader: Reader, stack: Stack) -> tuple[tuple[Addition, ...], ...]:
    """What every sub-layer of a stack adds to its residual stream, layer by layer. Raises as `token_path`."""
    return reader.parts.run(trace).additions(stack)


@cached(max_entries=MAX_PATHS)
def token_path(trace: Trace, reader: Reader, stack: Stack, position: int) -> TokenPath:
    """One position from its embedding to the last layer.

    Raises a TraceError if the model does not tell its parts; the message says why.
    """
    return follow(reader, trace, stack, position)


def why_not(reader: Reader) -> str:
    """Why no token of a model can be followed, as a sentence; "" where one may be."""
    return reader.parts.why


@cached(max_entries=MAX_SPACES)
def embedding_space(reader: Reader, *, is_target: bool) -> EmbeddingSpace:
    """The embeddings of a model."""
    return model_embedding_space(reader, is_target=is_target)


def is_shared(reader: Reader) -> bool:
    """Whether source and target have the same embeddings."""
    return model_is_shared(reader)


@cached(max_entries=MAX_SPACES)
def seen_in(writer: Writer) -> tuple[SeenIn, ...]:
    """In which language each piece was seen, of a model that translates English to German."""
    return model_seen_in(writer)


#: How a model knows positions → as people read it.
POSITIONS: Final = {
    "sinusoidal": said("sinusoidal"),
    "learned": said("learned"),
    "rotary": said("rotary"),
    "ALiBi": "ALiBi",
    "relative bias": said("relative bias"),
}


def cautions(trace: Trace, reader: Reader, path: TokenPath | None) -> list[str]:
    """What the picture does not know of a model, or what the model does not have."""
    found, positions = [], str(reader.abilities.positions)
    if path is not None:
        first, *others = path.layers[-1]
        if first.norm_place and not others[-1].norm_place:
            found.append(
                _(
                    "In this model attention and the feed-forward network run in parallel: both read the input of "
                    "the layer."
                )
            )
        if not first.has_skip:
            found.append(_("This model was trained without residual connections: no input bypasses a sub-layer."))
    if positions == "none":
        found.append(_("This model adds no positional encodings."))
    elif positions in POSITIONS and positions not in ("sinusoidal", "learned"):
        message = "Positions: {scheme}. They act within attention, so no vector is added at the bottom."
        found.append(_(message, scheme=_(POSITIONS[positions])))
    if DECODER not in trace.sites and CROSS not in trace.sites:
        found.append(_("This model only reads: it has no decoder, and no token is written."))
    elif not trace.source_tokens:
        found.append(_("This model is decoder-only: it has no source and therefore no cross-attention."))
    return found

"""What the map says of a model: its stacks and their sizes."""

from dataclasses import dataclass, replace
from typing import Literal

from model import Reader, Trace
from model.description import sizes
from model.errors import TraceError
from viz.server.caches import cached
from viz.text.sites import CROSS, DECODER, ENCODER

MAX_MODELS, MAX_TRACES = 24, 64


@dataclass(frozen=True, slots=True)
class Shape:
    """What is drawn of a model; sizes are None where its settings do not say them.

    Attributes:
        encoder_layers, decoder_layers: 0 without that stack.
        heads: of each layer: site → heads.
        norm: where norms stand, before sub-layers or after them; "" where nobody knows.
        writes: whether tokens come out at the end.
        has_positions: whether a vector is added for each position.
        is_scaled: whether embeddings are multiplied by √d_model.
        is_parallel: whether attention and feed-forward read the same stream, side by side.
    """

    encoder_layers: int
    decoder_layers: int
    heads: tuple[tuple[str, int], ...]
    d_model: int | None
    d_ff: int | None
    vocab_size: int | None
    norm: Literal["pre", "post", ""]
    has_residual: bool
    has_cross: bool
    writes: bool
    positions: str
    has_positions: bool
    is_scaled: bool
    is_parallel: bool = False

    def heads_of(self, site: str) -> int:
        """Heads of a layer of a site."""
        return dict(self.heads)[site]


@cached(max_entries=MAX_MODELS)
def shape_of(reader: Reader) -> Shape:
    """What is drawn of a model."""
    abilities, found = reader.abilities, sizes(reader)
    layers = {site: of[0] for site, of in abilities.shapes.items()}
    return Shape(
        encoder_layers=layers.get(ENCODER, 0),
        decoder_layers=layers.get(DECODER, 0),
        heads=tuple((site, heads) for site, (_, heads) in abilities.shapes.items()),
        d_model=found.d_model,
        d_ff=found.d_ff,
        vocab_size=found.vocab_size,
        norm=found.norm,
        has_residual=found.has_residual,
        has_cross=CROSS in layers,
        writes=DECODER in layers,
        positions=str(abilities.positions),
        has_positions=abilities.positions in ("sinusoidal", "learned"),
        is_scaled=found.is_scaled,
    )


@cached(max_entries=MAX_TRACES)
def shape_in(trace: Trace, reader: Reader) -> Shape:
    """The same; of a model of the library, where its norms stand is found in what it computed for a trace."""
    from model.adapters.text_reader import TextReader
    from model.analysis.residual_stream.library_path import follow_in_library

    shape = shape_of(reader)
    if shape.norm or not isinstance(reader, TextReader):
        return shape
    try:
        path = follow_in_library(reader, trace, "encoder" if trace.source_tokens else "decoder", 0)
    except TraceError:
        return shape
    first, *others = path.layers[-1]
    return replace(shape, norm=first.norm_place, is_parallel=bool(first.norm_place and not others[-1].norm_place))

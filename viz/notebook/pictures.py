"""What a notebook can show: a grid of all heads with the open one below, heads as lines, a film."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike

from viz.components.head_grid.component import HeadChoice, pack_grid
from viz.components.matrix_picture.component import ColourScale, Kept, MatrixData, pack_matrix
from viz.components.tiles.store import pack_tiles
from viz.core import fingerprint, sites
from viz.core.tiles import Tiles
from viz.notebook.widget import Part, Picture
from viz.pages.attention.opened_head.lines_component import LinesData, LinesView, Memory, digest_of, pack_lines
from viz.pages.decoding.film.component import PlayerState, pack_player
from viz.pages.decoding.film.data import film as film_data

if TYPE_CHECKING:
    from model import Trace
    from model.writer import Writer

TILES: Final = "components/tiles/tile_keeper.js"
GRID: Final = "components/head_grid/head_grid.js", "components/head_grid/head_grid.css"
MATRIX: Final = "components/matrix_picture/matrix_picture.js", "components/matrix_picture/matrix_picture.css"
LINES: Final = "pages/attention/opened_head/head_lines.js", "pages/attention/opened_head/head_lines.css"
FILM: Final = "pages/decoding/film/decode_player.js", "pages/decoding/film/film.css"
#: Heads beyond which lines of one layer cannot be told apart.
MOST_LINES: Final = 64


def heads(
    given: "Trace | ArrayLike",
    site: str = "",
    *,
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    opened: tuple[int, int] = (0, 0),
) -> Picture:
    """Every head of an attention as a tile; a click opens it below.

    Args:
        given: a trace, or weights [layer, head, query, key] that sum to 1 over keys.
        site: of a trace: "encoder.self", "decoder.self" or "decoder.cross"; by default its first.
        queries, keys: of weights, one token for each row and each column; keys are by default the queries.
        opened: layer and head that are open first, from 0.

    Raises:
        ValueError: there is no such site, weights and tokens do not fit, or the picture would be too large.
    """
    weights, queries, keys, title = _weights(given, site, queries, keys)
    layers, count = weights.shape[:2]
    if not (0 <= opened[0] < layers and 0 <= opened[1] < count):
        raise ValueError(f"There is no head {opened}: layers run from 0 to {layers - 1}, heads from 0 to {count - 1}.")
    address = f"notebook-{fingerprint.digest(title, *queries, weights)}"
    tiles = Tiles.of(weights.shape, iter(weights))
    matrices = [
        _matrix(weights[layer, head], queries, keys, f"{title}, {sites.head_label(layer, head)}")
        for layer, head in np.ndindex(layers, count)
    ]
    grid = pack_grid(address, (layers, count), HeadChoice(*opened), None, None, None, "heads", title)
    parts = [
        Part(TILES, None, pack_tiles(tiles, queries, keys, address)),
        Part(*GRID, grid),
        Part(*MATRIX, matrices[opened[0] * count + opened[1]], tuple(matrices)),
    ]
    return Picture(parts, count, f"{title}: every head of {layers} layers as a tile, and one of them large")


def lines(
    given: "Trace | ArrayLike",
    site: str = "",
    layer: int = 0,
    *,
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    shown: Sequence[int] | None = None,
) -> Picture:
    """The heads of a layer as lines between two columns of tokens; chips switch heads on and off.

    Args:
        given: a trace, or weights [head, query, key] of one layer.
        site, queries, keys: as of `heads`.
        layer: of a trace, from 0.
        shown: the heads that are on first; by default the first.

    Raises:
        ValueError: there is no such site, layer or head, or weights and tokens do not fit.
    """
    stacked = given if _is_trace(given) else np.asarray(given, np.float32)[None]
    weights, queries, keys, title = _weights(stacked, site, queries, keys)
    number = layer if _is_trace(given) else 0
    if not 0 <= number < len(weights):
        raise ValueError(f"There is no layer {layer}: layers run from 0 to {len(weights) - 1}.")
    values = weights[number]
    on = tuple(sorted(set(shown))) if shown else (0,)
    if len(values) > MOST_LINES or not all(0 <= head < len(values) for head in on):
        raise ValueError(f"Expected some of heads 0 to {min(len(values), MOST_LINES) - 1}, got {on}.")
    data = LinesData(
        values=values,
        top=1.0,
        query_tokens=queries,
        key_tokens=keys,
        head_names=tuple(sites.head_label(number, head) for head in range(len(values))),
        number="weight",
        title=title,
        file_name="lines",
    )
    view = LinesView(on)
    part = Part(*LINES, pack_lines(data, Memory(1, view, digest_of(data), view)))
    return Picture([part], len(values), f"{title}, layer {number + 1}: heads as lines between tokens")


def film(trace: "Trace", writer: "Writer") -> Picture:
    """A translation as it was written, step by step, with ← and →.

    Args:
        trace: of what a model wrote.
        writer: the model.

    Raises:
        ValueError: nothing was written.
    """
    if not trace.steps:
        raise ValueError("Expected a trace of what a model wrote; this one only read. `model.trace(text)` writes.")
    data = film_data(trace, writer)
    payload, _ = pack_player(data, None, PlayerState(0), None, "film")
    # Nothing is written instead here: that takes the page.
    hides = " .draw, .hint { display: none; } .bar-button { pointer-events: none; }"
    return Picture([Part(*FILM, payload, hides=hides)], data.heads, f"Film of {len(data.steps)} steps: {trace.text}")


def _is_trace(given: object) -> bool:
    return hasattr(given, "axis_tokens")


def _weights(
    given: "Trace | ArrayLike", site: str, queries: Sequence[str] | None, keys: Sequence[str] | None
) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...], str]:
    """Weights [layer, head, query, key], the tokens of rows and columns, and what is shown."""
    if _is_trace(given):
        trace: Trace = given  # type: ignore[assignment]
        site = site or trace.sites[0]
        if site not in trace.sites:
            raise ValueError(f"There is no site {site!r} in this trace; it has {', '.join(trace.sites)}.")
        stacked = [trace.weights(site, layer).numpy() for layer in range(trace.layers_of(site))]
        if len({of_layer.shape for of_layer in stacked}) > 1:
            raise ValueError("The layers of this attention have different numbers of heads; give one layer's weights.")
        rows, columns = trace.axis_tokens(site)
        return np.stack(stacked), tuple(rows), tuple(columns), sites.label(site)
    weights = np.asarray(given, np.float32)
    if queries is None:
        raise ValueError("Give the tokens of the rows as `queries`, and those of the columns as `keys` if they differ.")
    columns = tuple(queries if keys is None else keys)
    if weights.ndim != 4 or weights.shape[2:] != (len(queries), len(columns)):
        raise ValueError(
            f"Expected weights [layer, head, {len(queries)} queries, {len(columns)} keys], got {list(weights.shape)}."
        )
    if not (np.isfinite(weights).all() and weights.min(initial=0.0) >= 0 and weights.max(initial=0.0) <= 1 + 1e-4):
        raise ValueError("Expected weights between 0 and 1, as a softmax gives them.")
    return weights, tuple(queries), columns, "Attention"


def _matrix(weights: np.ndarray, queries: Sequence[str], keys: Sequence[str], title: str) -> bytes:
    data = MatrixData(
        values=weights,
        row_tokens=queries,
        column_tokens=keys,
        scale=ColourScale.root("weight", 1.0),
        title=title,
        label=f"{title}, weights as a heatmap",
        row_name="query",
        column_name="key",
        file_name="head",
    )
    return pack_matrix(data, Kept(), None)

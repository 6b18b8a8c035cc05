"""Take a trace out of a page: as tables for spreadsheets and programs, and as tiles that the browser finds by address.

The files are UTF-8 with a byte-order mark, without which Excel reads `▁` and `ü` as two signs; Python's csv reads them
as "utf-8-sig", pandas as they are. Numbers are written with all the digits that tell one float32 from the next. Layers,
heads, positions and steps count from 1, as on pages, and their headings say so: arrays count from 0.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from viz.access import attention
from viz.pictures.focus import FocusAxis
from viz.pictures.source_picture import SourcePicture
from viz.pictures.tiles.codes import Frame, send_frame, send_layer, send_tiles
from viz.selection.choices import Measure
from viz.text.written import DECODER
from viz.ui.head_metrics import MEASURES

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.metrics.derived_row import DerivedRow
    from viz.access.attention import Grid
    from viz.pictures.tiles.codes import GridSpec

#: The rows that a spreadsheet can hold, without the one for the titles.
MAX_ROWS: Final = 2**20 - 1
#: Numbers of one head that a table may hold: some 60 MB of text.
MAX_HEAD_NUMBERS: Final = 2**22
ROWS_AT_ONCE: Final = 256
#: With these a cell begins to be a formula (OWASP, "CSV Injection"): also their full-width forms, tab and line ends.
FORMULA_SIGNS: Final = "=+-@\t\r\n＝＋－＠"

#: Columns that count from 1 in a file; whoever writes one counts from 0, as arrays do.
COUNTED: Final = {
    "layer", "head", "kept_head", "position", "query_position", "key_position", "step", "fate_step", "word", "row",
    "sample",
}  # fmt: skip

Row = Sequence[object]


def cell(text: str) -> str:
    """A text as a cell: one that a spreadsheet would take for a formula gets an apostrophe before it."""
    return f"'{text}" if text.startswith(tuple(FORMULA_SIGNS)) else text


def table(titles: Sequence[str], rows: Iterable[Row]) -> bytes:
    """Titles and rows as CSV; the caller sends texts of people through `cell`, and numbers of `COUNTED` from 0."""
    counted = [column for column, title in enumerate(titles) if title in COUNTED]
    headings = [f"{title} (from 1)" if title in COUNTED else title for title in titles]
    return _written(headings, (_from_one(row, counted) for row in rows))


def _written(headings: Sequence[str], rows: Iterable[Row]) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(headings)
    writer.writerows(rows)
    return file.getvalue().encode("utf-8-sig")


def _from_one(row: Row, counted: Sequence[int]) -> list[object]:
    numbered = list(row)
    for column in counted:
        number = numbered[column]
        # Empty where there is none, as of all heads.
        if number != "":
            assert isinstance(number, int), f"a whole number is counted, got {number!r}"
            numbered[column] = number + 1
    return numbered


def matrix(values: Float[np.ndarray, "row column"], rows: Sequence[str], columns: Sequence[str]) -> bytes:
    """A matrix with the tokens of its rows in the first column and those of its columns in the first line."""
    assert values.shape == (len(rows), len(columns)), "one label for each row and each column"
    lines = ([cell(row), *numbers] for row, numbers in zip(rows, digits(values), strict=True))
    return _written(["", *map(cell, columns)], lines)


def open_head(trace: "Trace", site: str, layer: int, head: int) -> bytes:
    """The weights of one head: a row for each query, a column for each key token."""
    queries, keys = trace.row_names(site), trace.axis_names(site)[1]
    lines = (
        [cell(queries[row]), *numbers]
        for rows, weights in _blocks_of_rows(trace, site, layer, head)
        for row, numbers in enumerate(digits(weights), start=rows.start)
    )
    return _written(["", *map(cell, keys)], lines)


def open_head_array(trace: "Trace", site: str, layer: int, head: int) -> bytes:
    """The same as a NumPy file (`.npy`, float32), for a text too long for a table."""
    queries, keys = map(len, trace.axis_tokens(site))
    head_weights = np.empty((queries, keys), np.float32)
    for rows, weights in _blocks_of_rows(trace, site, layer, head):
        head_weights[rows] = weights
    file = io.BytesIO()
    np.save(file, head_weights)
    return file.getvalue()


def _blocks_of_rows(
    trace: "Trace", site: str, layer: int, head: int
) -> Iterator[tuple[slice, Float[np.ndarray, "row key"]]]:
    """The weights of one head, some rows at a time."""
    queries = len(trace.axis_tokens(site)[0])
    for first in range(0, queries, ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        yield rows, trace.weights(site, layer, [head], rows)[0].numpy()


def metrics(values: Mapping[str, Float[np.ndarray, "layer head"]]) -> bytes:
    """What each head of a site does, in numbers: a row for each head, nothing where a head has no such metric."""
    layers, heads = next(iter(values.values())).shape
    rows = (
        (layer, head, *("" if np.isnan(of[layer, head]) else _number(of[layer, head]) for of in values.values()))
        for layer in range(layers)
        for head in range(heads)
    )
    return table(("layer", "head", *values), rows)


def row_origin(derived: "DerivedRow", key_tokens: Sequence[str]) -> bytes:
    """Where one row of weights comes from: for each key its dot product, scaled, masked, and its weight."""
    numbers = (derived.dots, derived.scaled, derived.scores, derived.weights)
    columns = digits(np.stack([values.numpy() for values in numbers], axis=1))
    allowed = derived.allowed.tolist()
    rows = ((key, cell(token), int(allowed[key]), *columns[key]) for key, token in enumerate(key_tokens))
    return table(("key_position", "key_token", "allowed", "q_dot_k", "scaled", "masked", "weight"), rows)


def num_weights(trace: "Trace", site: str) -> int:
    """Rows of `all_heads`."""
    queries, keys = trace.axis_tokens(site)
    return sum(inputs.num_heads for inputs in trace.inputs[site]) * len(queries) * len(keys)


def all_heads(trace: "Trace", site: str) -> bytes:
    """Every weight of every head of a site, one a row; `query_token` is the token that the query stands for."""
    titles = ("layer", "head", "query_position", "query", "query_token", "key_position", "key_token", "weight")
    return table(titles, _weights(trace, site))


def _weights(trace: "Trace", site: str) -> Iterator[Row]:
    sides = zip(trace.row_names(site), _named_by(trace, site), strict=True), trace.axis_names(site)[1]
    queries = [(row, (cell(name), cell(token))) for row, (name, token) in enumerate(sides[0])]
    keys = list(enumerate(map(cell, sides[1])))
    for layer in range(len(trace.inputs[site])):
        of_layer = trace.weights(site, layer).numpy()
        for head, weights in enumerate(of_layer):
            for (query, name), row in zip(queries, digits(weights), strict=True):
                for (key, key_token), weight in zip(keys, row, strict=True):
                    yield layer, head, query, *name, key, key_token, weight


def _named_by(trace: "Trace", site: str) -> Sequence[str]:
    """The token that each query row stands for: the one that it writes, or else the one that it reads."""
    return trace.row_tokens(site) if trace.rows_write(site) else trace.axis_names(site)[0]


def tokens(trace: "Trace") -> bytes:
    """What the encoder and the decoder read, one token a row."""
    sides = (("source", trace.source_ids, trace.source.names), ("target", trace.target_ids, trace.target_tokens))
    rows = (
        (side, position, number, cell(token))
        for side, ids, pieces in sides
        for position, (number, token) in enumerate(zip(ids, pieces, strict=True))
    )
    return table(("side", "position", "token_id", "token"), rows)


def steps(trace: "Trace") -> bytes:
    """The decoding, one step a row: what was read and written, how sure the model was, and its candidates."""
    most = max((len(step.candidates) for step in trace.steps), default=0)
    numbered = [f"{name}_{rank}" for rank in range(1, most + 1) for name in ("candidate", "candidate_probability")]
    rows = []
    read_by = trace.target_tokens[len(trace.target_tokens) - len(trace.steps) :]
    for read, step in zip(read_by, trace.steps, strict=True):
        candidates = [part for c in step.candidates for part in (cell(c.token), _number(exp(c.log_prob)))]
        written = (cell(read), cell(step.token), step.token_id, _number(exp(step.log_prob)), _number(step.entropy))
        rows.append((step.index, *written, *candidates))
    titles = ("step", "token_read", "token_written", "token_id", "probability", "entropy_nats", *numbered)
    return table(titles, rows)


def positional_encoding(pieces: Sequence[str], encoding: Float[np.ndarray, "position d_model"]) -> bytes:
    """What was added to each token of a side: a row for each, a column for each dimension."""
    titles = ("position", "token", *(f"dimension_{i}" for i in range(encoding.shape[1])))
    rows = ((i, cell(piece), *numbers) for i, (piece, numbers) in enumerate(zip(pieces, digits(encoding), strict=True)))
    return table(titles, rows)


def digits(values: Float[np.ndarray, "row column"]) -> list[list[str]]:
    """Numbers as text, with the fewest digits from which the very same float32 is read again."""
    written: NDArray[np.str_] = np.asarray(values, np.float32).astype(str)
    rows: list[list[str]] = written.tolist()
    return rows


def _number(value: float) -> str:
    return repr(float(value))


#: By which tokens other pictures know rows and columns; None where no other picture is of the same text.
Axes = tuple[FocusAxis, FocusAxis] | None


def send(
    trace: "Trace",
    reader: "Reader",
    site: str,
    axes: Axes,
    *,
    key: str,
    measure: Measure = "weights",
    sinks: bool = True,
) -> str:
    """Send all heads of an attention by a measure; the address under which they then are (`attention.tiles_key`)."""
    measured = attention.head_tiles(trace, reader, site, measure, sinks=sinks)
    frame = _frame(trace, site, measured.tiles.spec, axes, measure, measured.top, sinks=sinks)
    send_tiles(measured.tiles, frame, key=key)
    return frame.address


def send_computed(trace: "Trace", site: str, grid: "Grid", axes: Axes, *, key: str) -> None:
    """Send the layers of a long text that are computed by now, and how many there will be."""
    frame = _frame(trace, site, grid.spec, axes)
    send_frame(frame, key=key)
    for layer, tiles in sorted(dict(grid.layers).items()):
        send_layer(tiles, address=frame.address, key=f"{key}-{layer}")


def _frame(
    trace: "Trace",
    site: str,
    spec: "GridSpec",
    axes: Axes,
    measure: Measure = "weights",
    top: float = 1.0,
    *,
    sinks: bool = True,
) -> Frame:
    return Frame(
        spec=spec,
        query_tokens=trace.row_names(site),
        key_tokens=trace.axis_names(site)[1],
        address=attention.tiles_key(trace, site, measure, sinks=sinks),
        left_out=() if sinks else trace.sinks(site),
        axes=axes,
        number=MEASURES[measure].number,
        top=top,
        picture=SourcePicture.of(trace.source) if site != DECODER else None,
    )

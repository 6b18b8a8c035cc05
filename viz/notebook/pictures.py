"""A picture in a notebook without a server: a grid of all heads with the open one below, heads as lines, a film."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike

from model.errors import TraceError
from model.file_writing import write_text
from viz.access import attention
from viz.gallery.drawings import drawn_lines, film_of, lines_data
from viz.pages.attention.opened_head.lines_component import LinesView
from viz.pages.decoding.film.data import film as film_data
from viz.pictures import still
from viz.pictures.focus import FocusHead, any_head
from viz.pictures.offline import Drawing, all_heads, text_page
from viz.text import written

if TYPE_CHECKING:
    from model import Trace
    from model.reader import Writer
    from viz.notebook.reasons import Answering
    from viz.notebook.widget import Widget

#: All that a picture sends may take so many bytes.
MOST_BYTES: Final = 64 << 20


class Picture:
    """A picture, shown as the last line of a cell; `save` writes it into a file; `alt` is for those who hear it.

    `answering` is what a kernel answers of it while it runs; None where all that one can ask for is in it.

    A cell shows `still`, an SVG, and `widget`, which takes its place where scripts run. The still is what is seen on
    GitHub, on a page made by nbconvert without a network, and where anywidget is not installed.
    """

    def __init__(self, drawing: Drawing, still: str, answering: "Answering | None" = None) -> None:
        payloads = drawing.payloads()
        if (total := sum(map(len, payloads))) > MOST_BYTES:
            raise ValueError(
                f"This picture takes {total / 1e6:.0f} MB, and a notebook's may take {MOST_BYTES / 1e6:.0f}: choose "
                "one attention, fewer layers or a shorter text."
            )
        self.drawing, self.alt, self.still, self.answering = drawing, drawing.alt, still, answering
        self.plan, self.payloads = json.dumps(drawing.plan()), payloads

    @cached_property
    def widget(self) -> "Widget":
        """What answers to the pointer, for a cell or a box of ipywidgets.

        Raises a ModuleNotFoundError that says what to install if there is no anywidget, which the app does not need.
        """
        try:
            from viz.notebook.widget import Widget, script
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "This picture stands still: to point, click and step in it, run `pip install '.[notebook]'` in a clone "
                "of Headlight and restart the kernel.",
                name=error.name,
            ) from error
        made = Widget(_esm=script(self.drawing, self.still), plan=self.plan, payloads=self.payloads)
        if self.answering is not None:
            made.answer_with(self.answering)
        return made

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display({"image/svg+xml": self.still, "text/plain": self.alt}, raw=True)  # type: ignore[no-untyped-call]
        try:
            display(self.widget)  # type: ignore[no-untyped-call]
        except ModuleNotFoundError as error:
            print(error)


def checked_text(name: str, given: object) -> str:
    """A text. Raises a ValueError if it is none, or holds half of a surrogate pair, which UTF-8 cannot write."""
    if not isinstance(given, str):
        raise ValueError(f"Expected {name} to be text, got {given!r} of type {type(given).__name__}.")
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(
            f"Expected {name} to be text that UTF-8 can write, got {given!r}: half a surrogate pair."
        ) from None
    return given


def save(picture: Picture, path: str | Path, title: str = "Headlight") -> Path:
    """Write a picture into one HTML file that opens offline and does what it does in the notebook.

    One that is there is written over. Raises a ValueError if the title is not text.
    """
    written, drawing = Path(path), picture.drawing if picture.answering is None else picture.answering.kept()
    write_text(written, text_page(checked_text("title", title), '<main id="picture-0"></main>', drawings=[drawing]))
    return written


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

    Raises a ValueError if there is no such site or head, weights and tokens do not fit or are empty, a token is not
    text, or the picture would be too large.

    Args:
        given: a trace, or weights [layer, head, query, key] that sum to 1 over keys.
        site: of a trace: "encoder.self", "decoder.self" or "decoder.cross"; by default its first.
        queries, keys: of weights, one token for each row and each column; keys are by default the queries.
        opened: layer and head that are open first, from 0.
    """
    weights, queries, keys, title, focus = _weights(given, site, queries, keys, ("layer", "head"))
    layers, count = weights.shape[:2]
    if tuple(opened) not in np.ndindex(layers, count):
        raise ValueError(f"There is no head {opened}: layers run from 0 to {layers - 1}, heads from 0 to {count - 1}.")
    layer, head = map(int, opened)
    return Picture(
        all_heads(weights, queries, keys, title, (layer, head), focus=focus),
        still.heads(weights, queries, keys, title, (layer, head)),
    )


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

    Raises a ValueError if there is no such site, layer or head, weights and tokens do not fit or are empty, or a token
    is not text.

    Args:
        given: a trace, or weights [head, query, key] of one layer.
        site, queries, keys: as of `heads`.
        layer: of a trace, from 0.
        shown: the heads that are on first; by default the first.
    """
    values, queries, keys, title, focus = _weights(given, site, queries, keys, ("head",))
    number = 0
    if _is_trace(given):
        number, layers = layer, len(values)
        if number not in range(layers):
            raise ValueError(f"There is no layer {layer!r}: layers run from 0 to {layers - 1}.")
        values = values[number]
    if len(values) > MOST_LINES:
        raise ValueError(f"Lines of {len(values)} heads cannot be told apart: give at most {MOST_LINES} heads.")
    on = set(() if shown is None else shown) or {0}
    if not on.issubset(range(len(values))):
        raise ValueError(f"Expected some of heads 0 to {len(values) - 1}, got {list(on)}.")
    data = lines_data(values, queries, keys, number, title, focus)
    view = LinesView(tuple(sorted(map(int, on))))
    alt = f"{title}, layer {number + 1}: heads as lines between tokens"
    return Picture(drawn_lines(data, view, alt), still.lines(values, queries, keys, data.head_names, view.heads, alt))


def film(trace: "Trace", writer: "Writer") -> Picture:
    """What a model wrote, step by step, with ← and →. Raises a ValueError if nothing was written.

    `trace` is one of what a model wrote: a translator's, or that of a session of a decoder.
    """
    try:
        # A decoder's session has the steps that read the text, too.
        trace = trace.only_written(trace.steps[-len(writer.spread(trace).chosen_ranks) :])
    except TraceError as error:
        raise ValueError(
            "Expected a trace of what a model wrote; this one only read. `model.trace(text)` of a translator writes; "
            "of another model, give the trace of a session: `model.decode(text)` begins one."
        ) from error
    data = film_data(trace, writer)
    rows, of_source, own = (attention.alone(axis, trace) for axis in data.axes)
    drawing = film_of(replace(data, axes=(rows, of_source, own)), trace.text)
    steps = [
        (step.token, exp(step.log_prob), [(each.token, exp(each.log_prob)) for each in step.candidates])
        for step in trace.steps
    ]
    return Picture(drawing, still.film(steps, drawing.alt))


def _is_trace(given: object) -> bool:
    return hasattr(given, "axis_names")


def _weights(
    given: "Trace | ArrayLike",
    site: str,
    queries: Sequence[str] | None,
    keys: Sequence[str] | None,
    axes: Sequence[str],
) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...], str, FocusHead | None]:
    """Weights [layer, head, query, key] of a trace, or [*axes, query, key] as they are given; the tokens of rows and
    columns, what is shown, and of a trace how pictures of the same text know it.
    """
    if _is_trace(given):
        trace: Trace = given  # type: ignore[assignment]
        if queries is not None or keys is not None:
            raise ValueError("A trace has tokens of its own: leave out `queries` and `keys`.")
        site = site or trace.sites[0]
        if site not in trace.sites:
            raise ValueError(f"There is no attention {site!r} in this trace; it has {', '.join(trace.sites)}.")
        rows, columns = trace.row_names(site), trace.axis_names(site)[1]
        head = any_head(site, attention.focus_axes(trace, site))
        focus = replace(head, rows=attention.alone(head.rows, trace), columns=attention.alone(head.columns, trace))
        return attention.all_weights(trace, site), rows, columns, written.label(site), focus
    if queries is None:
        raise ValueError("Pass the tokens of the rows as `queries`, and those of the columns as `keys` if they differ.")
    rows = _tokens("queries", queries)
    columns = rows if keys is None else _tokens("keys", keys)
    try:
        weights = np.asarray(given, np.float32)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"Expected a trace, or weights as an array of numbers: {error}") from error
    expected = ", ".join((*axes, f"{len(rows)} queries", f"{len(columns)} keys"))
    if weights.ndim != len(axes) + 2 or weights.shape[-2:] != (len(rows), len(columns)):
        raise ValueError(f"Expected weights [{expected}], got {list(weights.shape)}.")
    if 0 in weights.shape:
        raise ValueError(f"Expected at least one {', '.join(axes)}, query and key, got {list(weights.shape)}.")
    if not (np.isfinite(weights).all() and weights.min() >= 0 and weights.max() <= 1 + 1e-4):
        raise ValueError("Expected weights between 0 and 1, as a softmax gives them.")
    return weights, rows, columns, "Attention", None


def _tokens(name: str, given: Sequence[str]) -> tuple[str, ...]:
    return tuple(checked_text(f"{name}[{position}]", token) for position, token in enumerate(given))

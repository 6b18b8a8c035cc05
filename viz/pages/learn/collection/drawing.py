"""Draw pinned views as HTML that needs no script: in the collection, and in the page that is taken along.

Colours of text are those of what stands around; numbers are pixels of PNG pictures within the page."""

import base64
import io
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np
from jaxtyping import Float, UInt8
from numpy.typing import NDArray
from PIL import Image

from viz.pictures.tiles.codes import GridSpec, pool
from viz.text.html import Column, literal, table
from viz.text.messages import _
from viz.text.sites import head_label
from viz.text.token_text import display_token
from viz.theme import HEAD_COLOURS, SEQUENTIAL

#: Pixels of a row that is named, of all rows where there are too many for that, and of the columns, about.
_ROW, _HEIGHT, _WIDTH = 17, 360, 330
_MOST_NAMED_ROWS: Final = 30
#: What a label of a row or a column needs, and its most characters.
_ROOM_FOR_LABEL, _LONGEST_LABEL = 13, 16
#: Characters of a sentence that are shown.
_LONGEST_TEXT: Final = 300


@dataclass(frozen=True, eq=False, slots=True)
class Matrix:
    """Numbers from 0 to 1 with the names of rows and columns as they are read; `kept` is a cell that is framed."""

    title: str
    values: Float[np.ndarray, "query key"]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    kept: tuple[int, int] | None

    def html(self) -> str:
        """The matrix between its labels; a sentence where it is too large to be drawn small."""
        if not self.values.size:
            return f"<p>{literal(_('The text is too long to be drawn this small: open the view.'))}</p>"
        queries, keys = self.values.shape
        height = queries * _ROW if queries <= _MOST_NAMED_ROWS else _HEIGHT
        url = tile_urls(np.asarray(self.values, np.float32)[None, None])[0][0]
        picture = f'<img src="{url}" alt="" style="display:block;width:100%;height:100%;image-rendering:pixelated">'
        if self.kept is not None:
            row, column = self.kept
            picture += (
                f'<span style="position:absolute;left:{100 * column / keys:.3f}%;top:{100 * row / queries:.3f}%;'
                f'width:{100 / keys:.3f}%;height:{100 / queries:.3f}%;outline:2px solid {HEAD_COLOURS[1]}"></span>'
            )
        above = _labels(self.columns, _WIDTH / keys, "writing-mode:vertical-rl;transform:rotate(180deg)")
        left = _labels(self.rows, height / queries, "justify-content:flex-end")
        return (
            f'<div role="img" aria-label="{literal(self.title)}" style="display:grid;gap:4px 6px;font-size:12px;'
            'line-height:1;grid-template-columns:max-content minmax(0,1fr)"><span></span>'
            f'<div style="display:flex;align-items:flex-end">{above}</div>'
            f'<div style="display:flex;flex-direction:column;height:{height}px">{left}</div>'
            f'<div style="position:relative;height:{height}px">{picture}</div></div>'
        )


@dataclass(frozen=True, eq=False, slots=True)
class Grid:
    """All heads of an attention, of which one is framed."""

    title: str
    weights: Float[np.ndarray, "layer head query key"]
    framed: tuple[int, int]

    def html(self) -> str:
        """A picture a head, a line a layer."""
        heads = self.weights.shape[1]
        tiles = []
        for layer, urls in enumerate(tile_urls(self.weights)):
            for head, url in enumerate(urls):
                colour = "currentColor" if (layer, head) == self.framed else "transparent"
                name = head_label(layer, head)
                tiles.append(
                    f'<img src="{url}" alt="{name}" title="{name}" style="width:100%;aspect-ratio:1;'
                    f'image-rendering:pixelated;outline:3px solid {colour};outline-offset:1px">'
                )
        style = f"display:grid;grid-template-columns:repeat({heads},minmax(0,1fr));gap:7px;padding:4px"
        return f'<div style="{style}">{"".join(tiles)}</div>'


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the film: what is written by then, and the candidates with their probabilities."""

    title: str
    written: tuple[str, ...]
    candidates: tuple[tuple[str, float], ...]

    def html(self) -> str:
        """The words, and below them the candidates."""
        words = " ".join(f"<bdi>{literal(display_token(token))}</bdi>" for token in self.written[:-1])
        last = f"<strong><bdi>{literal(display_token(self.written[-1]))}</bdi></strong>"
        columns = [Column(_("Candidate")), Column(_("Probability"), is_number=True)]
        rows = [(display_token(token), f"{probability:.4f}") for token, probability in self.candidates]
        return f"<p>{words} {last}</p>{table(columns, rows, label=self.title)}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What is seen small of a view."""

    title: str
    text: str
    pictures: tuple[Matrix | Grid | Step, ...]

    def html(self) -> str:
        """The sentence, and the pictures below one another."""
        text = literal(" ".join(self.text.split())[:_LONGEST_TEXT])
        parts = [f'<p dir="auto" style="overflow-wrap:anywhere">{text}</p>'] if text else []
        for picture in self.pictures:
            if picture.title != self.title:
                parts.append(f"<p>{literal(picture.title)}</p>")
            parts.append(picture.html())
        if not self.pictures:
            parts.append(f"<p>{literal(_('Open the view to see it: it is not drawn this small.'))}</p>")
        return "".join(parts)


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"


def _labels(labels: tuple[str, ...], pitch: float, style: str) -> str:
    """A label a row or column in cells of this size, those left out that would touch others."""
    stride = max(1, ceil(_ROOM_FOR_LABEL / pitch))
    cell = f"display:flex;align-items:center;flex:1 1 0;min-width:0;min-height:0;white-space:pre;{style}"
    return "".join(
        f'<bdi style="{cell}">{literal(_short(label)) if index % stride == 0 else ""}</bdi>'
        for index, label in enumerate(labels)
    )


def tile_urls(weights: Float[np.ndarray, "layer head query key"]) -> list[list[str]]:
    """One `data:` URL a head, [layer][head]: a pixel a weight, coloured by its square root; long sentences are pooled.

    The browser enlarges them (`image-rendering: pixelated`); 32 heads of 24 tokens take about 20 kB.
    """
    layers, heads, queries, keys = weights.shape
    spec = GridSpec.of((layers, heads, queries, keys))
    palette = _palette(SEQUENTIAL).tobytes()
    return [[_data_url(_levels(matrix, spec), palette) for matrix in layer] for layer in weights]


def _levels(weights: Float[np.ndarray, "query key"], spec: GridSpec) -> UInt8[np.ndarray, "row column"]:
    shown = pool(weights, spec)[0] if spec.is_pooled else weights
    levels: NDArray[np.uint8] = np.rint(np.sqrt(np.clip(shown, 0.0, 1.0)) * 255).astype(np.uint8)
    return levels


def _palette(stops: tuple[str, ...]) -> UInt8[np.ndarray, "256 3"]:
    rgb = np.array([[int(stop[i : i + 2], 16) for i in (1, 3, 5)] for stop in stops], np.float64)
    positions = np.linspace(0, len(stops) - 1, 256)
    channels = [np.interp(positions, range(len(stops)), rgb[:, channel]) for channel in range(3)]
    palette: NDArray[np.uint8] = np.rint(np.stack(channels, axis=1)).astype(np.uint8)
    return palette


def _data_url(levels: UInt8[np.ndarray, "row column"], palette: bytes) -> str:
    image = Image.fromarray(levels, mode="P")
    image.putpalette(palette)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"

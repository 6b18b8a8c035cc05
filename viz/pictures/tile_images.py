"""Every head of one attention as a small PNG within the page that shows it."""

import base64
import io

import numpy as np
from jaxtyping import Float, UInt8
from numpy.typing import NDArray
from PIL import Image

from viz.pictures.tile_codes import GridSpec, pool
from viz.theme import SEQUENTIAL


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

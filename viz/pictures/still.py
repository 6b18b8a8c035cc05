"""Draw a picture that does not move, as SVG: for where no script runs, such as GitHub or a notebook made a web page.

The same numbers as in the picture that answers to the pointer, without what only a pointer asks for.
"""

from collections.abc import Iterable, Sequence
from html import escape
from math import isqrt, sqrt
from textwrap import wrap
from typing import Final

import numpy as np
from jaxtyping import Float

from viz import theme
from viz.pictures.payload import fingerprint
from viz.text.written import display_token, display_tokens, head_label, percent, signed

#: Pixels: of a line of text, between parts, of a tile and of a cell of the open head, at most.
_LINE, _GAP, _TILE, _CELL = 18, 6, 72, 26
#: Cells that all tiles have together, and those along a side of one: of larger heads the maxima of blocks are drawn.
_MOST_CELLS, _MOST_SIDE, _MOST_OPEN = 100_000, 24, 64
#: Of lines, the smallest weight that is drawn; of a film, the candidates that are named.
_LEAST, _CANDIDATES = 0.02, 3
#: The width of a character, as far as it can be known without the font.
_WIDE: Final = 8
#: Characters of a line of sentences and tokens.
_COLUMNS: Final = 110
#: The widest bar of a trail, in pixels.
_WIDEST: Final = 104
#: Name and share of a step, and of what else went into it.
TrailStep = tuple[str, float, Sequence[tuple[str, float]]]


def heads(
    weights: Float[np.ndarray, "layer head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    opened: tuple[int, int],
) -> str:
    """Every head as a tile, and the open one (layer, head; from 0) with its tokens below them."""
    layers, count = weights.shape[:2]
    side = min(_MOST_SIDE, max(2, isqrt(_MOST_CELLS // (layers * count))))
    left, top = 3 * _WIDE + _GAP, 2 * _LINE
    parts = [
        _text(left + head * (_TILE + _GAP) + _TILE / 2, top - 4, f"H{head + 1}", "middle") for head in range(count)
    ]
    for layer, head in np.ndindex(layers, count):
        x, y = left + head * (_TILE + _GAP), top + layer * (_TILE + _GAP)
        parts.append(_matrix(_pooled(weights[layer, head], side), x, y, _TILE, _TILE))
        if (layer, head) == opened:
            colour = theme.HEAD_COLOURS[1]
            parts.append(
                f'<rect x="{x}" y="{y}" width="{_TILE}" height="{_TILE}" fill="none" stroke="{colour}" '
                'stroke-width="3"/>'
            )
    parts += [_text(0, top + layer * (_TILE + _GAP) + _TILE / 2, f"L{layer + 1}") for layer in range(layers)]
    bottom = top + layers * (_TILE + _GAP) + 2 * _LINE
    parts.append(_text(0, bottom - _LINE / 2, f"{title}, {head_label(*opened)}"))
    large, width, height = _labelled(weights[opened], queries, keys, bottom)
    return _svg(max(left + count * (_TILE + _GAP), width), bottom + height, title, [*parts, large])


def lines(
    weights: Float[np.ndarray, "head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    names: Sequence[str],
    shown: Iterable[int],
    title: str,
) -> str:
    """Heads as lines from each query on the left to its keys on the right, the stronger the weight the darker."""
    queries, keys = display_tokens(queries), display_tokens(keys)
    left, right = (_WIDE * max(map(len, tokens)) + _GAP for tokens in (queries, keys))
    end, top = left + 240, 2 * _LINE
    parts = [_text(left - _GAP, top + _LINE * (at + 0.5), token, "end") for at, token in enumerate(queries)]
    parts += [_text(end + _GAP, top + _LINE * (at + 0.5), token) for at, token in enumerate(keys)]
    named = []
    for head in shown:
        colour = theme.HEAD_COLOURS[head % len(theme.HEAD_COLOURS)]
        named.append(f'<tspan fill="{colour}">{escape(names[head])}</tspan>')
        for query, key in np.argwhere(weights[head] >= _LEAST):
            start, stop = (top + _LINE * (at + 0.5) - 4 for at in (query, key))
            parts.append(
                f'<path d="M{left} {start:.0f}L{end} {stop:.0f}" stroke="{colour}" stroke-width="2" '
                f'opacity="{weights[head, query, key]:.2f}"/>'
            )
    parts.append(f'<text x="{left}" y="{_LINE * 1.5:.0f}">{" ".join(named)}</text>')
    return _svg(end + right, top + _LINE * (max(len(queries), len(keys)) + 1), title, parts)


def film(steps: Sequence[tuple[str, float, Sequence[tuple[str, float]]]], title: str) -> str:
    """What was written, a line a step: token, probability as a bar and a number, and the best other candidates."""
    wide, top = _WIDE * max(len(display_token(token)) for token, *_ in steps), 2 * _LINE
    left = 4 * _WIDE + wide + _GAP
    parts = []
    for at, (token, probability, candidates) in enumerate(steps):
        y = top + _LINE * (at + 0.5)
        others = " · ".join(
            f"{display_token(name)} {percent(share)}" for name, share in candidates[:_CANDIDATES] if name != token
        )
        told = f"{percent(probability)} · {others}"
        parts.append(
            f'<rect x="{left}" y="{y - 11:.0f}" width="{100 * probability:.1f}" height="13" fill="{theme.BLUE}"/>'
        )
        told_at = left + 100 + _GAP
        parts += [_text(0, y, f"{at + 1}"), _text(4 * _WIDE, y, display_token(token)), _text(told_at, y, told)]
    return _svg(left + 100 + 60 * _WIDE, top + _LINE * (len(steps) + 1), title, parts)


def shares(
    title: str,
    told: Sequence[str],
    lines: Sequence[tuple[str, Sequence[tuple[str, float]]]],
    groups: Sequence[tuple[str, Sequence[tuple[str, float]]]],
    trail: tuple[str, str, Sequence[TrailStep]],
) -> str:
    """Sentences, lines of tokens (a mark, then token and share) tinted by their shares, groups of bars, and a trail.

    The trail has a title and a caption; each of its steps, none of them tested, went into the one before. Shares above
    zero are warm, those below cold.
    """
    parts, y = [], 2.0 * _LINE
    for sentence in (each for text in told for each in wrap(text, _COLUMNS)):
        parts.append(_text(0, y, sentence))
        y += _LINE
    most = max((abs(share) for _mark, tokens in lines for _token, share in tokens), default=0.0) or 1.0
    for mark, tokens in lines:
        x, y = 6.0 * _WIDE, y + _LINE * 1.5
        parts.append(_text(0, y, mark))
        for token, share in tokens:
            width = _WIDE * len(token) + _GAP
            if x + width > _WIDE * _COLUMNS:
                x, y = 6.0 * _WIDE, y + _LINE * 1.5
            tint = 0.75 * sqrt(abs(share) / most)
            parts.append(
                f'<rect x="{x:.0f}" y="{y - 14:.0f}" width="{width}" height="{_LINE}" fill="{_hue(share)}" '
                f'opacity="{tint:.2f}"/>{_text(x + _GAP / 2, y, token)}'
            )
            x += width
    wide = _WIDE * max(len(name) for _title, bars in groups for name, _share in bars) + _GAP
    for heading, bars in groups:
        y += _LINE * 2
        parts.append(_text(0, y, heading))
        largest = max(abs(share) for _name, share in bars) or 1.0
        for name, share in bars:
            y += _LINE
            length = 200 * abs(share) / largest
            parts.append(f'<rect x="{wide}" y="{y - 11:.0f}" width="{length:.1f}" height="13" fill="{_hue(share)}"/>')
            parts += [_text(0, y, name), _text(wide + length + _GAP, y, signed(share))]
    heading, caption, steps = trail
    if steps:
        y += _LINE * 2
        for number, sentence in enumerate([heading, *wrap(caption, _COLUMNS)]):
            parts.append(_text(0, y + _LINE * number, sentence))
        drawn, y = _trail(steps, y + _LINE * (number + 1))
        parts.append(drawn)
    return _svg(_WIDE * _COLUMNS, y + _LINE, title, parts)


def _trail(steps: Sequence[TrailStep], y: float) -> tuple[str, float]:
    """Each step as a bar above a band that is what the next one gave to it, as wide as its share; where it ends."""
    parts, end = [], y
    left, largest = _WIDEST + 2 * _GAP, max(abs(share) for _name, share, _others in steps) or 1.0
    for at, (name, share, others) in enumerate(steps):
        width = max(1.0, _WIDEST * abs(share) / largest)
        if at:
            parts.append(
                f'<rect x="0" y="{end:.0f}" width="{width:.1f}" height="{y - end:.0f}" fill="{_hue(share)}" '
                'fill-opacity="0.35" stroke="#000" stroke-opacity="0.6" stroke-dasharray="4 3"/>'
            )
        end = y + 5
        parts += [
            f'<rect x="0" y="{y:.0f}" width="{width:.1f}" height="5"/>',
            _text(left, y + 9, f"{name} {signed(share)}"),
        ]
        beside = " · ".join(f"{other} {signed(of_it)}" for other, of_it in others)
        for sentence in wrap(beside, _COLUMNS - left // _WIDE):
            y += _LINE
            parts.append(_text(left, y + 9, sentence))
        y += 2 * _LINE
    return "".join(parts), y - _LINE


def _hue(share: float) -> str:
    return theme.SKY if share < 0 else theme.ORANGE


def _labelled(
    values: Float[np.ndarray, "query key"], queries: Sequence[str], keys: Sequence[str], top: float
) -> tuple[str, float, float]:
    """A head with its tokens, below what lies above; its width and height. Of a large one no token is named."""
    queries, keys = display_tokens(queries), display_tokens(keys)
    is_named = max(values.shape) <= _MOST_OPEN
    drawn = values if is_named else _pooled(values, _MOST_OPEN)
    rows, columns = drawn.shape
    cell = _CELL if is_named else _CELL / 2
    left = _WIDE * max(map(len, queries)) + _GAP if is_named else 0
    above = _WIDE * max(map(len, keys)) if is_named else 0
    parts = [_matrix(drawn, left, top + above, cell * columns, cell * rows)]
    if is_named:
        beside = top + above + cell / 2 + 4
        parts += [_text(left - _GAP, beside + cell * at, token, "end") for at, token in enumerate(queries)]
        for at, token in enumerate(keys):
            x, y = left + cell * (at + 0.5) + 4, top + above - _GAP
            parts.append(f'<g transform="translate({x:.0f} {y:.0f}) rotate(-60)">{_text(0, 0, token)}</g>')
    return "".join(parts), left + cell * columns + above / 2, above + cell * rows + _LINE


def _pooled(values: Float[np.ndarray, "query key"], most: int) -> Float[np.ndarray, "row column"]:
    """The maxima of blocks, at most so many along each side."""
    for axis, size in enumerate(values.shape):
        if size > most:
            values = np.maximum.reduceat(values, np.arange(most) * size // most, axis=axis)
    return values


def _matrix(values: Float[np.ndarray, "row column"], x: float, y: float, width: float, height: float) -> str:
    """Cells in the colours of the app, in which a weight w has the colour at √w."""
    rows, columns = values.shape
    shades = np.rint(np.sqrt(values.clip(0, 1)) * (len(theme.SEQUENTIAL) - 1)).astype(int)
    cells = [f'<path d="M0 0h{columns}v{rows}h-{columns}z" fill="{theme.SEQUENTIAL[0]}"/>']
    for shade, colour in enumerate(theme.SEQUENTIAL[1:], 1):
        if len(found := np.argwhere(shades == shade)):
            path = "".join(f"M{column} {row}h1v1h-1z" for row, column in found)
            cells.append(f'<path d="{path}" fill="{colour}"/>')
    scale = f"translate({x:g} {y:g}) scale({width / columns:.4g} {height / rows:.4g})"
    return f'<g transform="{scale}" shape-rendering="crispEdges">{"".join(cells)}</g>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """The parts below the title on white, so that they can be read on a dark page too. Its id is of what it shows."""
    body, width = "".join(parts), max(width, _WIDE * len(title))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" id="still-{fingerprint(title, body)}" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'font-family="sans-serif" font-size="13" style="max-width:100%;white-space:pre">'
        f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="0" y="13" font-weight="600">{escape(title)}</text>{body}</svg>'
    )

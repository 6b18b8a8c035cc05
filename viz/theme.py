"""Decide colours and the look of figures.

Every scale keeps its order of lightness under any of the three colour-vision deficiencies, and reads on a light and on
a dark page alike: night blue stands for nothing, light for much.
"""

from dataclasses import dataclass
from typing import Any, Final

#: A part of a figure as plotly takes it: its nested settings have no types that could be said.
PlotlySpec = dict[str, Any]

#: Weights: from 0 (night) to 1 (light). Ten equal steps of OKLab lightness, 0.20 to 0.96.
SEQUENTIAL: Final[tuple[str, ...]] = (
    "#0f142a",
    "#19274f",
    "#1d3f70",
    "#005c8c",
    "#007b9b",
    "#069a9a",
    "#4fb78f",
    "#9acc7c",
    "#d2e081",
    "#fdf4ba",
)

#: Signed values: cold below zero, the same night at zero, warm above. Both arms climb in lightness at the same rate.
DIVERGING: Final[tuple[str, ...]] = (
    "#aaf1ff",
    "#75c1e8",
    "#4392c4",
    "#286496",
    "#1c3a5e",
    "#0f142a",
    "#572c0b",
    "#8b4f07",
    "#b67c2e",
    "#d8af6b",
    "#fbe2a7",
)

#: Between the cells of a map of signed values; seen on a light page and on a dark one.
BETWEEN_CELLS: Final = "rgba(127, 132, 150, 0.5)"

#: One colour a head: Okabe and Ito's eight (black made grey, yellow darkened for paper), then those lighter or darker.
HEAD_COLOURS: Final[tuple[str, ...]] = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#56b4e9",
    "#cc79a7",
    "#b8a900",
    "#8a8f99",
    "#67b0e9",
    "#9d6500",
    "#79dbb3",
    "#ffa56e",
    "#25759f",
    "#854469",
    "#796c00",
    "#c9ced7",
)
#: By name; grey is of what is no head and is compared with: chance, a mean, a line to read off.
BLUE, ORANGE, GREEN, VERMILLION, SKY, PURPLE, YELLOW, GREY = HEAD_COLOURS[:8]

#: Whose message of a chat a token is of, or which text of a pair; the name always stands beside the colour.
ROLE_COLOURS: Final = {"system": PURPLE, "user": SKY, "assistant": GREEN, "A": SKY, "B": PURPLE}

#: The two ends of the scale, also for surfaces that do not follow the page's theme, such as hover boxes.
NIGHT: Final = SEQUENTIAL[0]
LIGHT: Final = SEQUENTIAL[-1]


#: Letters on colours: on every colour one of the two has a contrast of 4.5.
BLACK: Final = "#000000"
WHITE: Final = "#ffffff"


@dataclass(frozen=True, slots=True)
class Inks:
    """A scale of cells, and the text on pale and on dark ones."""

    stops: tuple[str, ...]
    dark: str = BLACK
    pale: str = WHITE


SEQUENTIAL_INKS: Final = Inks(SEQUENTIAL)
DIVERGING_INKS: Final = Inks(DIVERGING)

#: Text of charts: for this colour Streamlit puts the strongest grey of the page's theme. What its own theme gives to
#: axes instead is a grey that has a contrast of 3.6 on light paper.
CHART_TEXT: Final = "#000037"
#: The text of an axis; Streamlit's theme colours axes one by one, so each must say it.
AXIS_TEXT: Final = {"tickfont": {"color": CHART_TEXT}, "title": {"font": {"color": CHART_TEXT}}}

#: On a colour of this relative luminance black and white stand out equally.
_MIDDLE_LUMINANCE: Final = 0.179

Colorscale = list[list[float | str]]


def colorscale(stops: tuple[str, ...]) -> Colorscale:
    """Stops at equal distances in plotly's form, `[[position, colour], …]`."""
    last = len(stops) - 1
    return [[i / last, stop] for i, stop in enumerate(stops)]


def colour_at(position: float, stops: tuple[str, ...] = SEQUENTIAL) -> str:
    """The colour at `position` in [0, 1] of a scale, as hex."""
    at = min(1.0, max(0.0, position)) * (len(stops) - 1)
    low = min(len(stops) - 2, int(at))
    ends = (bytes.fromhex(stop[1:]) for stop in stops[low : low + 2])
    return f"#{bytes(round(start + (end - start) * (at - low)) for start, end in zip(*ends, strict=True)).hex()}"


def ink_on(colour: str) -> str:
    """The ink that can be read on a colour, as `colourAt` chooses it in the browser."""
    red, green, blue = ((part / 255) ** 2.2 for part in bytes.fromhex(colour[1:]))
    return BLACK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > _MIDDLE_LUMINANCE else WHITE


#: A row of attention sums to one over many keys, so on a linear scale nearly everything is night: a weight w gets the
#: colour at √w, and the colour bar is labelled at these weights.
SQRT_TICKS: Final[tuple[float, ...]] = (0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 1.0)


def figure_layout(height: int) -> PlotlySpec:
    """The layout that all figures share; colours of text, paper and grid come from Streamlit's theme in the browser.

    The paper must not be transparent: a picture saved from a dark page has light text, which needs its dark paper.
    """
    return {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8, "pad": 0},
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 13, "color": CHART_TEXT},
        "hoverlabel": {"bgcolor": NIGHT, "bordercolor": GREY, "font": {"color": LIGHT, "size": 13}},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": ORANGE},
        "dragmode": "zoom",
        "showlegend": False,
    }


def colour_bar(title: str, ticks: tuple[tuple[float, str], ...]) -> PlotlySpec:
    """A slim colour bar beside a figure, labelled at the given (position, label)."""
    return {
        "title": {"text": title, "side": "top", "font": {"size": 12}},
        "tickmode": "array",
        "tickvals": [position for position, _ in ticks],
        "ticktext": [label for _, label in ticks],
        "tickfont": {"size": 12},
        "ticks": "",
        "thickness": 10,
        "outlinewidth": 0,
        "len": 1.0,
        "xpad": 8,
    }

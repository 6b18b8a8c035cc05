"""Pictures that do not move: bars and lines are as long as their numbers say, nothing lies on or beyond another."""

from itertools import combinations, pairwise
from typing import NamedTuple
from xml.etree.ElementTree import Element, fromstring

import numpy as np
import pytest

from viz import theme
from viz.pictures import still

QUERIES, KEYS = ["<s>", "▁Tom", "▁came"], ["▁Er", "▁kam", ".", "</s>"]
WEIGHTS = np.random.default_rng(3).dirichlet(np.ones(4), size=(2, 3, 3))
WEIGHTS[1, 2, 0] = [0.5, 0.49, 0.01, 0.0]
CANDIDATES = [("▁a", 0.5), ("▁b", 0.25), ("▁c", 0.125), ("▁d", 0.05)]
STEPS = [("▁b", 0.25, CANDIDATES), ("▁longest", 1.0, CANDIDATES[:1]), ("▁z", 0.5, CANDIDATES)]
TOLD = ["Tom came because it was late. " * 8, "So it is."]
LINES = [("A", [("Tom", 0.5), ("came", -0.125)]), ("B", [("word", 0.0)] * 40)]
GROUPS = [
    ("Parts", [("head", 2.0), ("network", -0.5)]),
    ("Words", [("Tom", 0.25), ("came", 0.1)]),
    ("None", [("x", 0.0)]),
]
TRAIL = (
    "The way",
    "Each bar went into the one above. " * 5,
    [("score", 2.0, []), ("head", -1.0, [("other", 0.5)] * 9)],
)
PICTURES = {
    "heads": lambda: still.heads(WEIGHTS, QUERIES, KEYS, "All heads", (1, 2)),
    "lines": lambda: still.lines(WEIGHTS[1], QUERIES, KEYS, ["H1", "H2", "H3"], [0, 2], "Lines"),
    "film": lambda: still.film(STEPS, "What was written"),
    "shares": lambda: still.shares("Why", TOLD, LINES, GROUPS, TRAIL),
}
#: Pixels of a character: fewer than it has at 13 px on average.
WIDE = 6


class Box(NamedTuple):
    left: float
    right: float
    y: float
    text: str


def elements(picture: str, tag: str) -> list[Element]:
    """All of a kind, but the ground and the title."""
    return list(fromstring(picture).findall(f"{{http://www.w3.org/2000/svg}}{tag}"))[1:]


def texts(picture: str) -> list[Box]:
    boxes = []
    for each in elements(picture, "text"):
        words, x = "".join(each.itertext()), float(each.attrib["x"])
        left = x - WIDE * len(words) * {"middle": 0.5, "end": 1}.get(each.get("text-anchor", ""), 0)
        boxes.append(Box(left, left + WIDE * len(words), float(each.attrib["y"]), words))
    return boxes


def bars(picture: str, height: str = "13") -> list[tuple[float, str]]:
    """Length and colour of each."""
    found = [each for each in elements(picture, "rect") if each.get("height") == height]
    assert len({each.attrib["x"] for each in found}) == 1
    return [(float(each.attrib["width"]), each.get("fill", "")) for each in found]


@pytest.mark.parametrize("kind", PICTURES)
def test_no_text_lies_on_another_or_beyond_the_picture(kind: str) -> None:
    picture = PICTURES[kind]()
    *_, width, height = map(float, fromstring(picture).attrib["viewBox"].split())
    found = texts(picture)
    assert all(box.left >= 0 and box.right <= width and 13 < box.y <= height for box in found)
    for one, other in combinations(found, 2):
        assert abs(one.y - other.y) >= 13 or one.right <= other.left or other.right <= one.left, (one, other)
    for rect in elements(picture, "rect"):
        left, top, wide, tall = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        assert left >= 0 <= top
        assert left + wide <= width
        assert top + tall <= height


def test_a_step_of_a_film_has_its_probability_as_a_bar_and_others_beside_it() -> None:
    picture = PICTURES["film"]()
    assert bars(picture) == [(100 * probability, theme.BLUE) for _, probability, _ in STEPS]
    told = [box for box in texts(picture) if "%" in box.text]
    assert [box.text for box in told] == [
        "25.0% · ▁a 50.0% · ▁c 12.5%",
        "100.0% · ▁a 50.0%",
        "50.0% · ▁a 50.0% · ▁b 25.0% · ▁c 12.5%",
    ]
    assert all(
        box.left >= float(bar.attrib["x"]) + 100 for box, bar in zip(told, elements(picture, "rect"), strict=True)
    )


def test_bars_of_a_group_are_as_long_as_their_shares_and_coloured_by_their_sign() -> None:
    found = bars(PICTURES["shares"]())
    longest = max(length for length, _ in found)
    warm, cold = theme.ORANGE, theme.SKY
    assert [(length / longest, colour) for length, colour in found] == [
        (1, warm), (0.25, cold), (1, warm), (0.4, warm), (0, warm)
    ]  # fmt: skip
    tints = [
        float(each.attrib["opacity"]) for each in elements(PICTURES["shares"](), "rect") if "opacity" in each.attrib
    ]
    # As in matrices: a quarter of the share has half of the tint.
    assert tints[0] == pytest.approx(2 * tints[1], abs=0.011)
    assert tints[2:] == [0] * 40


def test_the_steps_of_a_trail_are_as_wide_as_their_shares_and_each_has_its_band() -> None:
    picture = PICTURES["shares"]()
    (score, _), (head, _) = bars(picture, "5")
    assert score == 2 * head
    (band,) = (each for each in elements(picture, "rect") if "stroke-dasharray" in each.attrib)
    assert (float(band.attrib["width"]), band.attrib["fill"]) == (head, theme.SKY)


def test_lines_go_from_each_query_to_the_keys_that_get_enough() -> None:
    picture = PICTURES["lines"]()
    heights: dict[str, float] = {}
    for box in texts(picture):
        heights.setdefault(box.text, box.y - 4)
    drawn = []
    for path in fromstring(picture).findall("{http://www.w3.org/2000/svg}path"):
        (_, start), (_, stop) = (tuple(map(float, end.split())) for end in path.attrib["d"][1:].split("L"))
        drawn.append((start, stop, path.attrib["stroke"], float(path.attrib["opacity"])))
    expected = []
    for head in (0, 2):
        for query, key in np.argwhere(WEIGHTS[1, head] >= 0.02):
            y = [heights[tokens[at]] for tokens, at in ((QUERIES, query), (KEYS, key))]
            expected.append((*y, theme.HEAD_COLOURS[head], pytest.approx(WEIGHTS[1, head, query, key], abs=0.006)))
    assert drawn == expected
    assert [box.text for box in texts(picture)][-1] == "H1 H3"


def test_the_open_head_is_framed_among_the_tiles_and_large_below_them() -> None:
    picture = PICTURES["heads"]()
    (frame,) = elements(picture, "rect")
    heads = [box for box in texts(picture) if box.text in ("H1", "H2", "H3")]
    centre = float(frame.attrib["x"]) + float(frame.attrib["width"]) / 2
    assert centre == pytest.approx((heads[2].left + heads[2].right) / 2)
    (second,) = (box for box in texts(picture) if box.text == "L2")
    assert second.y == float(frame.attrib["y"]) + float(frame.attrib["height"]) / 2
    steps = [after.left - before.left for before, after in pairwise(heads)]
    assert steps[0] == steps[1] > float(frame.attrib["width"])

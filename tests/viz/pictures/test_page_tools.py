"""What the browser says that was pressed in the head of a page and in the grid; pages that open offline."""

import json

import numpy as np
import pytest

from tests.viz.sent import caught, unpack
from viz.pictures import offline
from viz.pictures.head_grid.component import Grid, HeadChoice, head_grid
from viz.pictures.head_table.component import HeadColumn, HeadTable
from viz.pictures.matrix_picture.component import Kept
from viz.pictures.offline import colours, offline_page, script_json
from viz.pictures.page_tools import AskedPlace, HeadPlace, Undone, head_tools, present_steps
from viz.pictures.payload import pack, read
from viz.text.messages import speaking
from viz.text.written import CROSS, NamedHead


def test_of_presses_that_follow_fast_none_is_lost_and_none_is_heard_twice() -> None:
    heard = None
    steps = []
    for total in (1, 4, 4, 2):
        told = read(Undone, {"name": "a", "total": total})
        assert told is not None
        steps.append(told.steps_since(heard))
        heard = told
    assert steps == [1, 3, 0, -2]
    assert Undone("b", 1).steps_since(Undone("a", 5)) == 1


def test_a_presentation_goes_to_steps_that_exist_and_begins_or_ends_by_its_button(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown, steps, presented = caught(monkeypatch), list[int](), list[bool]()
    opened, asked = list[HeadPlace](), list[AskedPlace]()
    present_steps(1, 3, on_step=steps.append)
    head_tools(
        is_presented=False,
        can_redo=True,
        on_undo=lambda by: None,
        on_present=presented.append,
        on_story=lambda: None,
        on_head=opened.append,
        on_why=asked.append,
    )
    for number in (0, 2, 3, -1, True, "1", None, 1.0):
        shown[0].answers["step"]({"to": number})
        shown[1].answers["present"]({"to": number})
    shown[1].answers["present"]({"to": 1})
    assert steps == [0, 2]
    assert presented == [False, True]
    for site, layer in ((CROSS, 1), ("x", 1), (CROSS, -1), (CROSS, "1")):
        shown[1].answers["head"]({"site": site, "layer": layer, "head": 0})
        for cell in ({"row": None, "key": None}, {"row": 3, "key": 2}, {"row": -1, "key": 2}, {"row": 3}):
            shown[1].answers["why"]({"site": site, "layer": layer, "head": 0, **cell})
    assert opened == [HeadPlace(CROSS, 1, 0)]
    assert asked == [AskedPlace(CROSS, 1, 0, None, None), AskedPlace(CROSS, 1, 0, 3, 2)]


def test_an_offline_page_has_every_head_in_its_order_and_the_open_one_first() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(5), (2, 3, 4)).astype(np.float32)
    drawing = offline.all_heads(weights, tuple("abcd"), tuple("vwxyz"), "Here", (1, 2), kept=Kept(3, 1))
    counts = [part["count"] for part in drawing.plan()["parts"]]  # type: ignore[attr-defined]
    assert counts == [1, 1, 1 + 6]
    (frame, _), (grid, _), *matrices = map(unpack, drawing.payloads())
    assert (frame["layers"], frame["heads"], grid["selected"], drawing.heads) == (2, 3, [1, 2], 3)
    assert frame["address"] == grid["address"]
    for place, (header, (numbers,)) in zip([(1, 2), *np.ndindex(2, 3)], matrices, strict=True):
        np.testing.assert_array_equal(numbers.reshape(4, 5), weights[place])
        assert f"L{place[0] + 1} H{place[1] + 1}" in header["title"]
    assert [header["kept"] for header, _ in matrices] == [[3, 1], *[[None, None]] * 6]
    only = offline.all_heads(weights, tuple("abcd"), tuple("vwxyz"), "Here", (1, 2), only_opened=True)
    assert len(only.payloads()) == 3
    assert offline.drawn_grid(weights, tuple("abcd"), tuple("vwxyz"), "Here", (1, 2)).heads == 3


@pytest.mark.parametrize(
    "value",
    [
        None, "head", [], {}, {"layer": 0}, {"layer": "0", "head": 1}, {"layer": 2, "head": 0},
        {"layer": 0, "head": -1}, {"layer": True, "head": 0},
    ],
)  # fmt: skip
def test_what_names_no_head_opens_none(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    shown, opened = caught(monkeypatch), list[HeadChoice]()
    head_grid(Grid(address="here", shape=(2, 3)), on_open=opened.append, key="grid")
    shown[0].answers["head"](value)
    assert opened == []
    shown[0].answers["head"]({"layer": 1, "head": 2})
    assert opened == [HeadChoice(1, 2)]


TABLE = HeadTable(
    [NamedHead(CROSS, 1, 2), "L3, all heads"],
    [HeadColumn("Change", np.array([-0.5, np.nan], np.float32), 2, "nats")],
    "Two heads",
    selected=1,
)


def test_names_in_a_table_are_links_where_they_know_their_head_and_what_is_unknown_has_no_number() -> None:
    header, _ = unpack(pack(TABLE))
    assert (header["heads"], header["addresses"]) == (["L2 H3", "L3, all heads"], ["#head-decoder.cross-L2H3", ""])
    assert header["columns"] == [{"title": "Change", "unit": "nats", "numbers": [-0.5, None], "texts": ["−0.50", "–"]}]


SIGNS = "</script><!--\u2028\u2029&'\"`\\"


def test_json_and_title_of_a_page_cannot_end_their_elements_and_palettes_name_the_same_colours() -> None:
    written = script_json({"a": SIGNS})
    assert json.loads(written) == {"a": SIGNS}
    assert not set("<\u2028\u2029") & set(written)
    page = offline_page(title="</title><script>", style="", body="", libraries=[], script="")
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in page
    assert set(colours("light")) == set(colours("dark"))


@pytest.mark.parametrize("script", ["x = '</SCRIPT >'", "x = '<!-- '"])
def test_a_script_that_could_end_its_element_is_a_mistake_of_ours(script: str) -> None:
    with pytest.raises(AssertionError, match="end its element"):
        offline_page(title="", style="", body="", libraries=[], script=script)


def test_a_page_is_in_the_language_in_which_it_is_made() -> None:
    entry = "pages/attention/opened_head/bertviz_page.js"
    english = offline_page(title="", style="", body="", libraries=[], entry=entry)
    with speaking("zh"):
        chinese = offline_page(title="", style="", body="", libraries=[], entry=entry)
    assert '<html lang="en">' in english
    assert "globalThis.headlightLanguage = {" not in english
    assert '<html lang="zh">' in chinese
    spoken, module = chinese.index("globalThis.headlightLanguage = {"), chinese.index(".headlightLanguage ??")
    assert spoken < module, "the language is there before messages.js looks for it"

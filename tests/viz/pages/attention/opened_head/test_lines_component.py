"""What travels between the lines and the page, and that neither undoes what the other has just been told."""

from dataclasses import replace

import numpy as np
import pytest

from tests.viz.sent import unpack
from viz.pages.attention.opened_head.lines_component import (
    LinesData,
    LinesView,
    Memory,
    after_report,
    next_memory,
    order,
    read_view,
)
from viz.pictures.payload import digest, pack

SHAPE = (3, 4, 5)


@pytest.fixture
def data() -> LinesData:
    values = np.random.default_rng(0).random(SHAPE, dtype=np.float32) * 2
    return LinesData(
        values=values,
        top=2.0,
        query_tokens=("a", "b", "\u202e", ""),
        key_tokens=tuple("vwxyz"),
        head_names=("Head 1", "Head 2", "Head 3"),
        number="norm",
        title="Somewhere",
        file_name="somewhere",
    )


def pack_lines(data: LinesData, memory: Memory) -> bytes:
    return pack(data, **order(memory))


AT_0, AT_1, AT_2 = (LinesView((0,), query=query) for query in (0, 1, 2))


def report(view: LinesView, memory: Memory) -> dict[str, object]:
    return {
        "heads": list(view.heads),
        "query": view.query,
        "key": view.key,
        "threshold": view.threshold,
        "command": memory.number,
        "digest": memory.digest,
    }


# ---- the payload ----


def test_the_payload_holds_every_value_as_a_share_of_the_top(data: LinesData) -> None:
    header, (stored,) = unpack(pack_lines(data, Memory(1, AT_0, "abc", AT_0)))
    np.testing.assert_allclose((stored / 65535) ** 2 * header["top"], data.values.ravel(), atol=1e-4)
    assert header["queryTokens"] == ["a", "b", "\\u202e", "∅"]
    assert header["headNames"] == list(data.head_names)


def test_the_payload_stays_the_same_while_only_a_person_acts(data: LinesData) -> None:
    """Streamlit then sends about a kilobyte, and the browser has nothing to redraw."""
    memory = next_memory(None, AT_0, digest(data), is_alive=False)
    payload = pack_lines(data, memory)
    for view in (AT_1, AT_2, LinesView((0, 2), threshold=7)):
        memory = after_report(memory, report(view, memory), SHAPE)
        memory = next_memory(memory, replace(view, key=None), digest(data), is_alive=True)
        assert pack_lines(data, memory) == payload


def test_the_fingerprint_follows_everything_that_is_drawn(data: LinesData) -> None:
    changed = (
        replace(data, values=data.values / 2),
        replace(data, top=3.0),
        replace(data, query_tokens=tuple("abcd")),
        replace(data, title="Elsewhere"),
        replace(data, query_roles=(("user", 0, 2),)),
        replace(data, key_roles=(("user", 0, 2),)),
    )
    digests = set(map(digest, changed))
    assert len(digests | {digest(data)}) == 7


def test_names_that_do_not_fit_the_values_are_a_mistake(data: LinesData) -> None:
    with pytest.raises(AssertionError, match="values have shape"):
        replace(data, head_names=("Head 1",))


# ---- who is obeyed ----


def test_an_echo_of_what_the_picture_reported_is_no_order() -> None:
    memory = next_memory(None, AT_0, "abc", is_alive=False)
    memory = after_report(memory, report(AT_1, memory), SHAPE)
    assert next_memory(memory, AT_1, "abc", is_alive=True).number == 1


def test_a_page_that_wants_something_else_gives_a_new_order() -> None:
    memory = next_memory(None, AT_0, "abc", is_alive=False)
    memory = after_report(memory, report(AT_1, memory), SHAPE)
    ordered = next_memory(memory, AT_2, "abc", is_alive=True)
    assert (ordered.number, ordered.order) == (2, AT_2)
    # Asked again, nothing new; and going back to the first order is one more.
    assert next_memory(ordered, AT_2, "abc", is_alive=True) == ordered
    assert next_memory(ordered, AT_0, "abc", is_alive=True).number == 3


def test_a_report_from_before_an_order_does_not_count() -> None:
    memory = next_memory(None, AT_0, "abc", is_alive=False)
    late = report(AT_1, memory)
    ordered = next_memory(memory, AT_2, "abc", is_alive=True)
    assert after_report(ordered, late, SHAPE) is ordered


def test_after_a_report_about_another_matrix_the_order_is_given_again() -> None:
    memory = next_memory(None, AT_0, "abc", is_alive=False)
    other = next_memory(memory, AT_0, "xyz", is_alive=True)
    assert other.number == 1
    confused = after_report(other, report(AT_1, memory), SHAPE)
    assert confused.shown is None
    assert next_memory(confused, AT_0, "xyz", is_alive=True).number == 2


def test_a_picture_that_was_left_out_is_told_again_where_to_stand() -> None:
    memory = next_memory(None, LinesView((0,)), "abc", is_alive=False)
    memory = after_report(memory, report(LinesView((0,), key=3), memory), SHAPE)
    assert next_memory(memory, LinesView((0,), key=3), "abc", is_alive=True) == memory
    again = next_memory(memory, LinesView((0,), key=3), "abc", is_alive=False)
    assert (again.number, again.order) == (2, LinesView((0,), key=3))
    assert next_memory(memory, AT_1, "abc", is_alive=True).order == AT_1


@pytest.mark.parametrize(
    "wrong",
    [
        {"heads": []},
        {"heads": [3]},
        {"heads": ["0"]},
        {"heads": [True]},
        {"heads": None},
        {"query": 4},
        {"query": -1},
        {"key": 5},
        {"key": "1"},
        {"threshold": 101},
        {"threshold": None},
        {"threshold": 0.5},
    ],
)
def test_a_place_that_does_not_exist_is_not_read(wrong: dict[object, object]) -> None:
    right: dict[object, object] = {"heads": [2, 0], "query": 3, "key": None, "threshold": 100}
    assert read_view(right, SHAPE) == LinesView((0, 2), query=3, threshold=100)
    assert read_view(right | wrong, SHAPE) is None


@pytest.mark.parametrize("value", [None, [], "x", {}, {"command": 1}])
def test_anything_else_from_the_browser_changes_nothing_that_is_shown(value: dict[str, int] | str | None) -> None:
    memory = Memory(1, AT_0, "abc", AT_0)
    assert after_report(memory, value, SHAPE).order == AT_0

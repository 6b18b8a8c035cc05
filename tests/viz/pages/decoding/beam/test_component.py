"""What the tree sends to the browser, and what it may send back."""

import pytest

from tests.viz.pages.decoding.beam.by_hand import by_hand
from tests.viz.sent import caught
from viz.pages.decoding.beam.tab import beam_picture


def test_the_browser_gets_every_node_with_its_numbers_and_the_places_of_those_returned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = caught(monkeypatch)
    beam_picture(by_hand(), chosen=4, on_choose=lambda node: None, key="beam", name="x")
    header = shown[0].header
    assert (len(header["nodes"]), header["chosen"]) == (9, 4)
    assert [one["badge"] for one in header["nodes"]] == ["", "", "", "", "1 · −1.500", "2 · −2.000", "", "−9.000", ""]
    assert header["nodes"][3]["folded"] is None
    assert header["nodes"][5]["total"] == "−5.00"
    assert list(header["roles"]) == ["winner", "rival", "lived", "dropped"]


@pytest.mark.parametrize("sent", [None, 3, {}, {"node": "1"}, {"node": True}, {"node": -1}, {"node": 9}])
def test_what_a_browser_should_not_send_opens_no_node(monkeypatch: pytest.MonkeyPatch, sent: object) -> None:
    shown, chosen = caught(monkeypatch), list[int]()
    beam_picture(by_hand(), chosen=4, on_choose=chosen.append, key="beam", name="x")
    shown[0].answers["node"](sent)
    assert chosen == []
    shown[0].answers["node"]({"node": 8})
    assert chosen == [8]

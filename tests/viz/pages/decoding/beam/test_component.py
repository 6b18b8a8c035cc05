"""What the tree sends to the browser, and what it may send back."""

import pytest

from tests.viz.pages.decoding.beam.by_hand import by_hand
from tests.viz.pages.decoding.opening import header_of
from viz.pages.decoding.beam.component import pack_tree, read_node


def test_the_browser_gets_every_node_with_its_numbers_and_the_places_of_those_returned() -> None:
    header = header_of(pack_tree(by_hand(), chosen=4, name="x"))
    assert (len(header["nodes"]), header["chosen"]) == (9, 4)
    assert [one["badge"] for one in header["nodes"]] == ["", "", "", "", "1 · −1.500", "2 · −2.000", "", "−9.000", ""]
    assert header["nodes"][3]["folded"] is None
    assert header["nodes"][5]["total"] == "−5.00"
    assert list(header["roles"]) == ["winner", "rival", "lived", "dropped"]


@pytest.mark.parametrize("sent", [None, 3, {}, {"node": "1"}, {"node": True}, {"node": -1}, {"node": 9}])
def test_what_a_browser_should_not_send_is_no_node(sent: object) -> None:
    assert read_node(sent, 9) is None

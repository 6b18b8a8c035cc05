"""What the story sends to the browser, and what it may send back."""

from tests.viz.pages.attention.origin.invented import header_of, origin_of
from viz.pages.attention.origin.component import pack_story, read_key


def test_the_payload_holds_no_number_that_json_lacks_and_its_fingerprint_ignores_the_followed_key() -> None:
    first, second = (header_of(pack_story(origin_of(followed=key))) for key in (0, 1))
    assert first["digest"] == second["digest"]
    assert (first["followed"], second["followed"]) == (0, 1)
    assert header_of(pack_story(origin_of(followed=0, scaled=False)))["digest"] != first["digest"]


def test_what_the_browser_sends_is_a_key_or_nothing() -> None:
    assert read_key({"key": 3}, 4) == 3
    for wrong in (None, 3, "3", {}, {"key": 4}, {"key": -1}, {"key": "3"}, {"key": True}, {"key": 1.0}):
        assert read_key(wrong, 4) is None

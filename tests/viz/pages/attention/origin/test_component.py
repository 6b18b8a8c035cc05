"""What the story sends to the browser, and what it may send back."""

import pytest

from tests.viz.pages.attention.origin.invented import origin_of
from tests.viz.sent import caught
from viz.pages.attention.origin.tab import origin_story


def test_the_fingerprint_ignores_the_followed_key(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = caught(monkeypatch)
    for origin in (origin_of(followed=0), origin_of(followed=1), origin_of(followed=0, scaled=False)):
        origin_story(origin, on_follow=lambda key: None, key="origin")
    first, second, other = (each.header for each in shown)
    assert first["digest"] == second["digest"]
    assert (first["followed"], second["followed"]) == (0, 1)
    assert other["digest"] != first["digest"]


def test_what_the_browser_sends_is_a_key_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, followed = caught(monkeypatch), list[int]()
    origin_story(origin_of(keys=4, row=2), on_follow=followed.append, key="origin")
    follow = shown[0].answers["follow"]
    for wrong in (None, 3, "3", {}, {"key": 4}, {"key": -1}, {"key": "3"}, {"key": True}, {"key": 1.0}):
        follow(wrong)
    assert followed == []
    follow({"key": 3})
    assert followed == [3]

"""On a shared server a page's own computing ends between two passes; elsewhere it takes as long as it takes."""

import pytest

from model import interruption
from model.errors import TimeLimitError
from viz.server import limits


def hours() -> float:
    """A clock on which an hour passes between two looks."""
    global _now
    _now += 3_600.0
    return _now


_now = 0.0


def test_where_nobody_shares_the_server_nothing_is_ended() -> None:
    limits.check(1e9)
    with limits.limited(hours):
        interruption.pause()


@pytest.mark.usefixtures("shared")
def test_on_a_shared_server_what_takes_too_long_ends_between_two_passes() -> None:
    with pytest.raises(TimeLimitError, match="limits each computation to 120 seconds"), limits.limited(hours):
        interruption.pause()
    # Whoever computes afterwards in this thread is not ended.
    interruption.pause()


@pytest.mark.usefixtures("shared")
def test_what_is_quick_is_not_ended_and_waiting_does_not_count() -> None:
    limits.check(120)
    with limits.limited():
        interruption.pause()


@pytest.mark.usefixtures("shared")
def test_the_sentence_says_how_far_it_came_and_what_to_do() -> None:
    with pytest.raises(TimeLimitError, match=r"^Stopped after 3 of 9 rows: .*fewer sentences.*your own machine"):
        limits.check(121, (3, 9, "rows"))

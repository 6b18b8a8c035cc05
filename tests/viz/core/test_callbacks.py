"""What a person chose is not lost where the run of the next press cuts its callback short."""

import pytest
from streamlit.runtime.scriptrunner import RerunData, RerunException

from viz.core.callbacks import whole


def test_a_callback_that_is_cut_short_is_done_to_its_end_before_the_run_that_waits() -> None:
    cuts, done = [RerunException(RerunData()), RerunException(RerunData())], []

    @whole
    def take(value: int) -> None:
        if cuts:
            raise cuts.pop()
        done.append(value)

    with pytest.raises(RerunException):
        take(3)
    assert done == [3]
    take(4)
    assert done == [3, 4]


def test_an_error_of_its_own_is_raised_and_nothing_is_done_again() -> None:
    calls = []

    @whole
    def take() -> None:
        calls.append(1)
        raise ValueError("no such layer")

    with pytest.raises(ValueError, match="no such layer"):
        take()
    assert calls == [1]

"""What a server allows: slots to compute, time on a shared one, and what its environment says."""

import runpy
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest

from model import interruption
from model.errors import ConfigError, TimeLimitError
from viz.server import limits
from viz.server.limits import Rules, read

Result = TypeVar("Result")


@pytest.fixture
def one_slot(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Others compute in all slots but one."""
    monkeypatch.setattr(limits, "MAX_WAIT", 0.2)
    over, begun = threading.Event(), threading.Semaphore(0)

    def compute() -> None:
        with limits.page_run():
            limits.acquire()
            begun.release()
            over.wait()

    others = [threading.Thread(target=compute) for _ in range(limits.MAX_RUNS - 1)]
    for other in others:
        other.start()
        begun.acquire()
    yield
    over.set()
    for other in others:
        other.join()


def waited() -> float:
    began = time.monotonic()
    with limits.page_run():
        limits.acquire()
        return time.monotonic() - began


def in_thread(run: Callable[[], Result]) -> Result:
    found: list[Result] = []
    thread = threading.Thread(target=lambda: found.append(run()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.usefixtures("one_slot")
def test_a_page_waits_while_another_computes_but_not_for_ever() -> None:
    with limits.page_run():
        limits.acquire()
        assert in_thread(waited) >= 0.2
    assert in_thread(waited) < 0.2


@pytest.mark.usefixtures("one_slot")
def test_a_slot_is_released_after_an_error_and_taken_once_a_run() -> None:
    with suppress(ValueError), limits.page_run():
        limits.acquire()
        limits.acquire()
        raise ValueError
    assert in_thread(waited) < 0.2


@pytest.mark.usefixtures("one_slot")
def test_a_fragment_that_runs_alone_waits_for_nobody() -> None:
    with limits.page_run():
        limits.acquire()
        assert in_thread(limits.acquire) is None
    assert waited() < 0.2
    # A fragment that runs in the thread of a page takes no slot.
    waited()
    limits.acquire()
    assert in_thread(waited) < 0.2


@pytest.mark.usefixtures("one_slot")
def test_a_page_whose_work_waits_lets_another_compute_and_takes_a_slot_again() -> None:
    with limits.page_run():
        limits.acquire()
        limits.release()
        assert in_thread(waited) < 0.2
        limits.acquire()
        assert in_thread(waited) >= 0.2
    assert in_thread(waited) < 0.2


@pytest.mark.parametrize(("cores", "most"), [(None, 2), (1, 2), (2, 2), (3, 3), (8, 8)])
def test_as_many_pages_compute_as_there_are_cores_and_two_at_least(
    cores: int | None, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert runpy.run_path(limits.__file__)["MAX_RUNS"] == most


def hours() -> float:
    """A clock on which an hour passes between two looks."""
    global _now
    _now += 3_600.0
    return _now


_now = 0.0


@pytest.mark.usefixtures("shared")
def test_on_a_shared_server_what_takes_too_long_ends_between_two_passes() -> None:
    with pytest.raises(TimeLimitError, match="limits each computation to 120 seconds"), limits.limited(hours):
        interruption.pause()
    # Whoever computes afterwards in this thread is not ended.
    interruption.pause()
    # What is quick is not ended, and waiting does not count.
    limits.check(120)
    with limits.limited():
        interruption.pause()
    # The sentence says how far it came, and what to do.
    with pytest.raises(TimeLimitError, match=r"^Stopped after 3 of 9 rows: .*fewer sentences.*your own machine"):
        limits.check(121, (3, 9, "rows"))


@pytest.mark.parametrize("environment", [{}, {"HEADLIGHT_SHARED": ""}, {"HEADLIGHT_SHARED": "0"}])
def test_a_server_is_not_shared_unless_it_says_so(environment: dict[str, str]) -> None:
    assert read(environment) == Rules()
    assert read(environment | {"HEADLIGHT_SHARED_SECONDS": "nonsense"}).seconds is None


def test_a_shared_server_bounds_time_folders_disk_and_files_unless_it_says_otherwise() -> None:
    assert read({"HEADLIGHT_SHARED": "1"}).seconds == 120
    for asked, seconds in (("7", 7), ("1", 1), ("86400", 86_400), ("000000120", 120)):
        assert read({"HEADLIGHT_SHARED": "1", "HEADLIGHT_SHARED_SECONDS": asked}).seconds == seconds
    own, shared = read({}), read({"HEADLIGHT_SHARED": "1"})
    assert (own.names_folders, own.keeps_files) == (True, True)
    assert (shared.names_folders, shared.keeps_files) == (False, False)
    assert (own.measures_unasked, shared.measures_unasked) == (True, False)
    assert [read({"HEADLIGHT_MEASURE_UNASKED": asked}).measures_unasked for asked in ("0", "1")] == [False, True]
    assert [read({}).most_megabytes(usual) for usual in (1, 8)] == [1, 8]
    assert [read({"HEADLIGHT_SHARED": "1"}).most_megabytes(usual) for usual in (1, 8)] == [1, 2]
    assert [rules.most_megabytes(8, shared=6) for rules in (own, shared)] == [8, 6]


def test_a_shared_server_keeps_files_in_the_folder_that_servers_share_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"HEADLIGHT_SHARED_FOLDER": str(tmp_path)}
    assert read(asked) == Rules(), "of one's own machine it says nothing"
    for folder, rules in (
        (tmp_path / "atlases", read(asked | {"HEADLIGHT_SHARED": "1"})),
        (None, read({"HEADLIGHT_SHARED": "1"})),
    ):
        monkeypatch.setattr(limits, "rules", lambda rules=rules: rules)
        assert limits.cache_folder("atlases") == folder
        assert rules.keeps_files == (folder is not None)
    for wrong in ("relative", str(tmp_path / "missing"), "\0"):
        with pytest.raises(ConfigError, match="must be the full path of a folder that can be written to"):
            read({"HEADLIGHT_SHARED": "1", "HEADLIGHT_SHARED_FOLDER": wrong})


@pytest.mark.parametrize("said", ["yes", "true", "2", " 1"])
def test_any_other_word_is_refused_so_that_nobody_believes_to_be_safe(said: str) -> None:
    with pytest.raises(ConfigError, match=r"must be 1 for a shared server, or 0; it is"):
        read({"HEADLIGHT_SHARED": said})
    with pytest.raises(ConfigError, match=r"must be 0 \(measure no model unless asked\) or 1; it is"):
        read({"HEADLIGHT_MEASURE_UNASKED": said})


@pytest.mark.parametrize("said", ["0", "-1", "1.5", "inf", "nan", "two", "86401", "0000000120", "9" * 5_000, "٣"])
def test_seconds_that_cannot_be_are_refused(said: str) -> None:
    with pytest.raises(ConfigError, match="whole number of seconds from 1 to 86,400"):
        read({"HEADLIGHT_SHARED": "1", "HEADLIGHT_SHARED_SECONDS": said})

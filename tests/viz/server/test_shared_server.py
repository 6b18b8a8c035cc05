"""What the environment of a server allows: nothing is bounded unless it says so, nonsense is refused."""

import pytest

from model.errors import ConfigError
from viz.server.limits import Rules, read


@pytest.mark.parametrize("environment", [{}, {"HEADLIGHT_SHARED": ""}, {"HEADLIGHT_SHARED": "0"}])
def test_a_server_is_not_shared_unless_it_says_so(environment: dict[str, str]) -> None:
    assert read(environment) == Rules()
    assert read(environment | {"HEADLIGHT_SHARED_SECONDS": "nonsense"}).seconds is None


def test_a_shared_server_gives_a_computation_two_minutes_unless_it_says_otherwise() -> None:
    assert read({"HEADLIGHT_SHARED": "1"}).seconds == 120
    assert read({"HEADLIGHT_SHARED": "1", "HEADLIGHT_SHARED_SECONDS": "7"}).seconds == 7


def test_a_shared_server_lets_nobody_name_a_folder_or_fill_its_disk() -> None:
    own, shared = read({}), read({"HEADLIGHT_SHARED": "1"})
    assert (own.names_folders, own.keeps_files) == (True, True)
    assert (shared.names_folders, shared.keeps_files) == (False, False)


def test_a_shared_server_takes_smaller_files_and_never_larger_ones_than_a_field_takes() -> None:
    assert [read({}).most_megabytes(usual) for usual in (1, 8)] == [1, 8]
    assert [read({"HEADLIGHT_SHARED": "1"}).most_megabytes(usual) for usual in (1, 8)] == [1, 2]


@pytest.mark.parametrize("said", ["yes", "true", "2", " 1"])
def test_any_other_word_is_refused_so_that_nobody_believes_to_be_safe(said: str) -> None:
    with pytest.raises(ConfigError, match=r"must be 1 for a shared server, or 0; it is"):
        read({"HEADLIGHT_SHARED": said})


@pytest.mark.parametrize("said", ["0", "-1", "1.5", "inf", "nan", "two", "86401", "9" * 5_000, "٣"])
def test_seconds_that_cannot_be_are_refused(said: str) -> None:
    with pytest.raises(ConfigError, match="whole number of seconds from 1 to 86,400"):
        read({"HEADLIGHT_SHARED": "1", "HEADLIGHT_SHARED_SECONDS": said})

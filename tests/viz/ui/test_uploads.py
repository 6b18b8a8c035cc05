"""Files that people give have a limit on their size, whatever a browser sends; where many share, a smaller one."""

import tomllib
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from model.errors import DataError
from tests.paths import ROOT
from viz.ui import uploads

MEGABYTE = 1024**2


def file(size: int) -> Any:
    """A file of so many bytes, as Streamlit hands it on."""
    return SimpleNamespace(name="a.txt", size=size, getvalue=lambda: b"content")


def test_a_file_of_exactly_the_limit_is_read_and_one_byte_more_is_refused() -> None:
    assert uploads.content(file(5 * MEGABYTE)) == b"content"
    with pytest.raises(DataError, match=r"a\.txt has 5\.0 MB; expected at most 5 MB"):
        uploads.content(file(5 * MEGABYTE + 1))
    with pytest.raises(DataError, match="expected at most 1 MB"):
        uploads.content(file(2 * MEGABYTE), megabytes=1)


@pytest.mark.parametrize(("server", "said"), [(200, [5, 5, 1]), (3, [3, 3, 1]), (1, [1, 1, 1])])
def test_no_field_says_more_than_the_server_lets_through(
    server: int, said: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "get_option", {"server.maxUploadSize": server}.__getitem__)
    assert [uploads.most(), uploads.most(8), uploads.most(1)] == said
    with pytest.raises(DataError, match=f"expected at most {said[0]} MB"):
        uploads.content(file(said[0] * MEGABYTE + 1), megabytes=8)


def test_the_server_that_is_set_up_lets_through_what_a_field_takes() -> None:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["server"]["maxUploadSize"] == uploads.MEGABYTES


@pytest.mark.usefixtures("shared")
def test_a_shared_server_takes_less_and_a_field_that_takes_less_still_does() -> None:
    assert [uploads.most(), uploads.most(8), uploads.most(1)] == [2, 2, 1]
    assert uploads.content(file(2 * MEGABYTE), megabytes=8) == b"content"
    with pytest.raises(DataError, match="expected at most 2 MB"):
        uploads.content(file(2 * MEGABYTE + 1), megabytes=8)

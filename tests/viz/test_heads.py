"""What `python -m viz.heads` prints of heads, and one line for what it cannot do."""

import json
from pathlib import Path

import pytest

from tests.model.test_json_output import is_as_listed
from viz.heads import main

TEXTS = "text,id\n" + "".join(f"The animal number {number} sleeps in the house.,{number}\n" for number in range(4))


@pytest.fixture
def given(tmp_path: Path, tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "mine.csv").write_text(TEXTS, encoding="utf-8")
    return [str(tiny_checkpoints / "en-de"), "--text", str(tmp_path / "mine.csv"), "--sample", "3", "--device", "cpu"]


def test_a_head_is_named_in_all_attentions_with_its_corpus(
    given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*given, "--head", "2.3"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "3 texts from mine.csv"
    assert {line for line in printed[1:] if line and line[0] != " "} == {
        "encoder L2 H3",
        "decoder self L2 H3",
        "cross L2 H3",
    }


def test_json_has_every_head_and_the_fields_of_the_page(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*given, "--json"]) == 0
    text = capsys.readouterr().out
    assert is_as_listed("heads", text)
    heads = json.loads(text)["heads"]
    assert len({(one["site"], one["layer"], one["head"]) for one in heads}) == len(heads) == 3 * 2 * 4
    assert all(one["sentences"] for one in heads)


def test_a_head_that_is_none_is_one_line(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*given, "--head", "9.1"]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("python -m viz.heads: The model has no layer 9")

"""What the command line is told: each value within bounds is taken, any other ends in one sentence and exit code 2."""

import math
import re
from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from model.__main__ import BEAM, main
from model.arguments import COUNT, SHARE, Number, WholeNumber
from model.errors import ConfigError
from model.training.command import WEIGHT, weighted_file
from model.training.loop import BOUNDS, TrainSettings

#: None of these is a number that any option takes.
NONSENSE = ("", " ", "x", "nan", "-nan", "inf", "1e999", "-1", "9" * 20, "9" * 5_000, "1,5", "0x1", "½", "\0")


@pytest.mark.parametrize("kind", [COUNT, BEAM, SHARE, WEIGHT, *dict.fromkeys(BOUNDS.values())], ids=str)
def test_no_nonsense_is_taken_for_a_number(kind: Number | WholeNumber) -> None:
    for text in NONSENSE:
        with pytest.raises(ArgumentTypeError, match=re.escape(f"expected {kind}, got")):
            kind(text)


@pytest.mark.parametrize("text", ["", " ", "a\0b"])
def test_an_empty_text_is_no_path_and_ends_in_one_line(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["translate", "Tom.", f"--checkpoint={text}"])
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "expected the path of a file or folder" in line


@pytest.mark.parametrize("name", BOUNDS)
def test_settings_of_a_training_are_held_to_the_same_bounds(name: str) -> None:
    bounds = BOUNDS[name]
    assert getattr(TrainSettings(), name) in bounds
    for value in (-1, bounds.most + 1, math.nan):
        with pytest.raises(ConfigError, match=f"{name} must be a"):
            TrainSettings(**{name: value})  # type: ignore[arg-type]


def test_a_weight_after_a_file_is_parsed_and_its_path_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert weighted_file("a.tsv=2.5") == (Path("a.tsv"), 2.5)
    assert weighted_file("a.tsv") == (Path("a.tsv"), 1.0)
    for text in ("a.tsv=0", "a.tsv=100.1", "a.tsv=nan", "a.tsv=x", "=1", ""):
        with pytest.raises(ArgumentTypeError, match="expected"):
            weighted_file(text)

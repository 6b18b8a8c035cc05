"""What the command line is told: each value within bounds is taken, any other ends in one sentence and exit code 2."""

import argparse
import math
import re
from argparse import ArgumentTypeError
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.__main__ import BEAM, build_parser, main
from model.arguments import COUNT, SHARE, Number, WholeNumber, path
from model.errors import ConfigError
from model.training.command import WEIGHT, weighted_file
from model.training.loop import BOUNDS, TrainSettings

#: None of these is a number that any option takes.
NONSENSE = (
    "",
    " ",
    "x",
    "nan",
    "-nan",
    "inf",
    "1e999",
    "-1",
    "99999999999999999999",
    "9" * 5_000,
    "1,5",
    "0x1",
    "½",
    "\0",
)


def options() -> Iterator[tuple[str, argparse.Action]]:
    """Every option of every command, with the command's name."""
    (commands,) = (action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    for name, command in commands.choices.items():
        for action in command._actions:
            if action.option_strings:
                yield name, action


OPTIONS = list(options())
NUMBERS = [(name, action) for name, action in OPTIONS if isinstance(action.type, Number | WholeNumber)]
PATHS = [(name, action) for name, action in OPTIONS if action.type is path]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The sentence with which a command line is refused, before anything is done."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert len(err) < 300
    return err


def test_every_option_has_a_type_that_says_what_it_expects() -> None:
    assert len(NUMBERS) > 30
    assert len(PATHS) > 20
    texts = {action.option_strings[0] for _, action in OPTIONS if action.type is None and action.nargs != 0}
    chosen = {action.option_strings[0] for _, action in OPTIONS if action.choices and action.type is None}
    assert texts - chosen == {"--device", "--dtype", "--target"}
    assert {action.type for _, action in OPTIONS} == {
        None,
        path,
        weighted_file,
        *(action.type for _, action in NUMBERS),
    }


@pytest.mark.parametrize(("command", "action"), NUMBERS, ids=lambda value: getattr(value, "dest", value))
def test_no_option_takes_nonsense_for_a_number(
    command: str, action: argparse.Action, capsys: pytest.CaptureFixture[str]
) -> None:
    assert isinstance(action.type, Number | WholeNumber)
    for text in NONSENSE:
        with pytest.raises(ArgumentTypeError, match=re.escape(f"expected {action.type}, got")):
            action.type(text)
    said = refused([command, f"{action.option_strings[0]}=x"], capsys)
    assert f"argument {action.option_strings[0]}: expected {action.type}, got" in said


@pytest.mark.parametrize(("command", "action"), PATHS, ids=lambda value: getattr(value, "dest", value))
def test_no_option_takes_an_empty_text_for_a_path(
    command: str, action: argparse.Action, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("", " ", "a\0b"):
        assert "expected the path of a file or folder" in refused(
            [command, f"{action.option_strings[0]}={text}"], capsys
        )


@pytest.mark.parametrize("kind", [COUNT, BEAM, *{of for of in BOUNDS.values() if isinstance(of, WholeNumber)}], ids=str)
def test_a_whole_number_is_taken_up_to_both_bounds_and_not_beyond(kind: WholeNumber) -> None:
    assert [kind(str(number)) for number in (kind.least, kind.most)] == [kind.least, kind.most]
    for number in (kind.least - 1, kind.most + 1, kind.least + 0.5):
        with pytest.raises(ArgumentTypeError, match="a whole number from"):
            kind(str(number))


@pytest.mark.parametrize("kind", [SHARE, WEIGHT, *{of for of in BOUNDS.values() if isinstance(of, Number)}], ids=str)
def test_a_number_is_taken_up_to_its_bounds_and_not_beyond(kind: Number) -> None:
    within = math.nextafter(kind.least, 1) if kind.without_least else kind.least
    below = math.nextafter(kind.most, 0) if kind.without_most else kind.most
    assert [kind(repr(number)) for number in (within, below)] == [within, below]
    for number in (math.nextafter(within, -1), math.nextafter(below, math.inf), math.nan, math.inf):
        with pytest.raises(ArgumentTypeError, match="expected a number"):
            kind(repr(number))


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

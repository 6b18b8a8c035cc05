"""A slice of `python -m tests.benchmarks.crowd --hostile`: forty bad inputs through every page."""

from pathlib import Path

import pytest

from tests.benchmarks import hostile
from tests.benchmarks.hostile import Hostile
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import FIELDS

SLICE = list(hostile.inputs(40))


@pytest.fixture
def _small(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("one", SLICE, ids=lambda one: f"{one.number}")
def test_bad_input_leaves_the_page_alive(one: Hostile) -> None:
    problem = hostile.problem_of(one)
    assert not problem, f"{one}: {problem}"


def test_the_slice_has_every_page_and_every_kind() -> None:
    assert {one.page for one in SLICE} == set(hostile.PAGES)
    assert any(one.file for one in SLICE)
    assert any(one.typed for one in SLICE)
    assert any(one.params for one in SLICE)


def test_the_same_seed_gives_the_same_inputs() -> None:
    assert list(hostile.inputs(40)) == SLICE
    assert list(hostile.inputs(40, seed=1)) != SLICE


def test_five_hundred_inputs_try_every_field_of_a_link() -> None:
    tried = {name for one in hostile.inputs(500) for name in one.params}
    assert tried >= {field.param for field in FIELDS.values()}

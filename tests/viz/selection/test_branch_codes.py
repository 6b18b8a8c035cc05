"""What makes a branch, as a short code: written, read, refused; and which branch an action really leaves."""

import pytest

from model.errors import SessionError
from viz.selection.branch_codes import (
    MAX_BRANCHES,
    MAX_PIECES,
    Choice,
    Draw,
    EditHead,
    Write,
    origin_of,
    path_of,
    read_code,
    read_codes,
    without,
    write_code,
)
from viz.selection.selection import Selection
from viz.selection.url import parse, to_params

CODES = {
    "0-5-t812": Choice(0, 5, Write((812,))),
    "0-5-t812-t90": Choice(0, 5, Write((812, 90))),
    "1-3-off-c-3-1": Choice(1, 3, EditHead("off", "decoder.cross", 3, 1)),
    "1-3-uniform-d-0-7-once": Choice(1, 3, EditHead("uniform", "decoder.self", 0, 7, once=True)),
    "0-0-point-c-2-7-4": Choice(0, 0, EditHead("point", "decoder.cross", 2, 7, 4)),
    "0-2-point-e-2-7-4": Choice(0, 2, EditHead("point", "encoder.self", 2, 7, 4)),
    "0-5-draw-80-40-95-7": Choice(0, 5, Draw(80, 40, 95, 7)),
}
HOSTILE = [
    "",
    "-",
    "0",
    "0-5",
    "0-5-",
    "0-5-t",
    "0-5-t٣",
    "0-5-t1-",
    "0-5-t1-x",
    "0-05-t1",
    "0--5-t1",
    "-1-5-t1",
    "0-5-t1234567",
    "2-5-t1",
    "9-5-t1",
    "0-5-t1\n",
    "0-5-off-x-0-0",
    "0-5-off-c-0",
    "0-5-off-c-0-0-0",
    "0-5-off-e-0-0-once",
    "0-5-point-c-0-0",
    "0-5-uniform-c-0-0-1",
    "0-5-draw-0-0-100-1",
    "0-5-draw-99999-0-100-1",
    "0-5-draw-80-40-101-7",
    "0-5-draw-80-40-0-7",
    "0-5-draw-80-40-95",
    "0-5-<script>alert(1)</script>",
    "0-5-" + "t1-" * 100_000 + "t1",
    "0-5-" + "-".join(["t1"] * (MAX_PIECES + 1)),
]


@pytest.mark.parametrize(("code", "choice"), CODES.items())
def test_a_code_says_what_was_done_and_where(code: str, choice: Choice) -> None:
    assert read_code(code, 2) == choice
    assert write_code(choice) == code


@pytest.mark.parametrize("code", HOSTILE, ids=range(len(HOSTILE)))
def test_anything_else_is_refused_with_a_short_sentence(code: str) -> None:
    with pytest.raises(SessionError) as refused:
        read_code(code, 2)
    assert "URL" in str(refused.value)
    assert len(str(refused.value)) < 200 or "starts from branch" in str(refused.value)


def test_codes_pass_through_the_address_unharmed() -> None:
    selection = Selection().changed(branches=tuple(CODES), branch=3, step=0)
    assert parse(to_params(selection), Selection()) == selection


def test_a_code_that_means_nothing_takes_along_only_the_branches_that_leave_it() -> None:
    reading = read_codes(["0-1-t5", "nonsense", "2-4-t6", "1-3-t7", "3-5-t8"])
    assert reading.choices == (Choice(0, 1, Write((5,))), Choice(1, 3, Write((7,))))
    assert reading.number_of == {0: 0, 1: 1, 4: 2}
    assert len(reading.problems) == 1
    assert "nonsense" in reading.problems[0]


def test_parents_are_renumbered_when_one_before_them_falls_away() -> None:
    reading = read_codes(["x", "0-1-t5", "2-3-t7"])
    assert reading.choices == (Choice(0, 1, Write((5,))), Choice(1, 3, Write((7,))))


def test_of_too_many_codes_the_first_are_kept() -> None:
    reading = read_codes(["0-1-t5"] * (MAX_BRANCHES + 3))
    assert len(reading.choices) == MAX_BRANCHES
    assert str(MAX_BRANCHES) in reading.problems[0]


def test_without_a_branch_its_children_are_gone_and_the_others_find_their_parents() -> None:
    made = (Choice(0, 1, Write((5,))), Choice(1, 3, Write((6,))), Choice(0, 2, Write((7,))), Choice(3, 4, Write((8,))))
    assert without(made, 1) == ((Choice(0, 2, Write((7,))), Choice(1, 4, Write((8,)))), {0: 0, 3: 1, 4: 2})


def test_a_path_begins_at_the_models_own_translation() -> None:
    made = (Choice(0, 1, Write((5,))), Choice(0, 2, Write((6,))), Choice(1, 3, Write((7,))))
    assert path_of(made, 3) == ((1, Write((5,))), (3, Write((7,))))
    assert path_of(made, 0) == ()


OFF = EditHead("off", "decoder.cross", 0, 0)
OF_ENCODER = EditHead("off", "encoder.self", 0, 0)


@pytest.mark.parametrize(
    ("own", "step", "action", "origin"),
    [
        (Choice(0, 5, Write((1,))), 6, Write((2,)), 1),
        (Choice(0, 5, Write((1,))), 5, Write((2,)), 0),
        (Choice(0, 5, Write((1,))), 4, Write((2,)), 0),
        (Choice(0, 5, Draw(80, 0, 100, 1)), 5, Draw(80, 0, 100, 2), 0),
        (Choice(0, 5, Write((1,))), 5, OFF, 1),
        (Choice(0, 5, OFF), 5, Write((2,)), 1),
        (Choice(0, 5, OFF), 4, Write((2,)), 0),
        (Choice(0, 5, OF_ENCODER), 4, Write((2,)), 1),
    ],
)
def test_an_action_before_a_branch_begins_is_one_on_the_branch_that_it_left(
    own: Choice, step: int, action: Draw | EditHead | Write, origin: int
) -> None:
    assert origin_of((own,), 1, step, action) == origin

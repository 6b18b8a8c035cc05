"""Runs of tokens of one role, and roles that are none."""

import pytest

from model.trace.axes import RoleRun, check_roles, role_runs

SINGLE = tuple((i,) for i in range(6))


def test_runs_leave_out_what_the_template_wrote() -> None:
    roles = ("", "user", "user", "", "user", "assistant")
    runs = [RoleRun("user", 1, 3), RoleRun("user", 4, 5), RoleRun("assistant", 5, 6)]
    assert list(role_runs(roles, SINGLE)) == runs


def test_a_word_has_the_role_of_its_first_token_that_has_one() -> None:
    assert role_runs(("", "user", "user", ""), ((0, 1), (2,), (3,))) == (RoleRun("user", 0, 2),)


def test_without_roles_there_are_no_runs() -> None:
    assert role_runs((), SINGLE) == ()


@pytest.mark.parametrize("roles", [("user",), ("user", "tool"), ("user", None), ("user", ["user"])])
def test_roles_that_are_none_or_too_few_are_an_error(roles: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="role"):
        check_roles(roles, 2)

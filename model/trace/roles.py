"""Whose message of a chat a token is of, and the runs of tokens that are of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

Role = Literal["system", "user", "assistant"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)


@dataclass(frozen=True, slots=True)
class RoleRun:
    """Tokens, or labels of an axis, side by side: from `begin` to before `end`, of one role."""

    role: str
    begin: int
    end: int


def check_roles(roles: Sequence[str], count: int) -> None:
    """Make sure that there is a role for each of so many tokens, or none for any.

    Raises:
        ValueError: there is not, or one is no role.
    """
    if roles and len(roles) != count:
        raise ValueError(f"there are {len(roles)} roles for {count} tokens")
    if unknown := [role for role in roles if role != "" and role not in ROLES]:
        raise ValueError(f"{str(unknown[0])[:40]!r} is no role; roles are {', '.join(ROLES)}")


def role_runs(roles: Sequence[str], groups: Sequence[Sequence[int]]) -> tuple[RoleRun, ...]:
    """The runs of labels that are of one role; what the template wrote is in none.

    Args:
        roles: of each token; "" for what the template wrote.
        groups: for each label the positions of its tokens (`Axis.groups`); its role is the first that one of them has.
    """
    if not roles:
        return ()
    of_labels = [next((roles[position] for position in group if roles[position]), "") for group in groups]
    runs: list[RoleRun] = []
    for index, role in enumerate(of_labels):
        if role and runs and runs[-1].end == index and runs[-1].role == role:
            runs[-1] = RoleRun(role, runs[-1].begin, index + 1)
        elif role:
            runs.append(RoleRun(role, index, index + 1))
    return tuple(runs)

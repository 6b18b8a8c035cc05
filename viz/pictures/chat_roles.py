"""Runs of labels that are of one role of a chat, as the scripts take them (`chat_roles.js`)."""

from collections.abc import Sequence
from typing import Annotated

from viz import theme

#: A role, the first label that is of it, and the one after the last.
Run = tuple[str, int, int]


def packed(runs: Sequence[Run]) -> list[tuple[str, int, int, str]]:
    """Runs of roles with their colours."""
    return [(*run, theme.ROLE_COLOURS[run[0]]) for run in runs]


#: Runs, as a payload packs them.
Roles = Annotated[Sequence[Run], packed]

"""Decide what a server allows that a class or a lab shares: HEADLIGHT_SHARED=1 in its environment, read once.

Every rule has its one home here; whoever opens folders, takes files, computes or keeps something asks `rules()`.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from model.errors import ConfigError

SHARED_VARIABLE: Final = "HEADLIGHT_SHARED"
SECONDS_VARIABLE: Final = "HEADLIGHT_SHARED_SECONDS"
#: Seconds that one computation may take on a shared server that does not say otherwise, and the most it can say.
SECONDS, MOST_SECONDS = 120, 86_400
#: Megabytes of a file that a person may give a shared server.
MEGABYTES: Final = 2
#: So many long computations of one viewer compute at once: on a machine of one's own, and on a shared server.
OWN_AT_ONCE, SHARED_AT_ONCE = 2, 1
#: So many of one viewer wait at most on a shared server.
SHARED_WAITING: Final = 8


@dataclass(frozen=True, slots=True)
class Rules:
    """What this server allows.

    Attributes:
        is_shared: whether these are the rules of a shared server.
        seconds: that one computation may take; None for as long as it takes.
        megabytes: of a file that a person gives; None for what each field says.
        at_once: so many long computations of one viewer compute at once.
        waiting: so many of one viewer wait at most; None for any number.
    """

    is_shared: bool = False
    seconds: float | None = None
    megabytes: int | None = None
    at_once: int = OWN_AT_ONCE
    waiting: int | None = None

    @property
    def names_folders(self) -> bool:
        """Whether a person may name a folder of the machine, or have a model fetched."""
        return not self.is_shared

    @property
    def keeps_files(self) -> bool:
        """Whether what people have computed may be written to the machine's disk."""
        return not self.is_shared

    def most_megabytes(self, usual: int) -> int:
        """Megabytes that a file may have, where a field usually takes so many."""
        return usual if self.megabytes is None else min(usual, self.megabytes)


@cache
def rules() -> Rules:
    """The rules of this server. Raises as `read`."""
    return read(os.environ)


def read(environment: Mapping[str, str]) -> Rules:
    """The rules that an environment asks for.

    Raises:
        ConfigError: a variable says what it cannot.
    """
    shared = environment.get(SHARED_VARIABLE, "")
    if shared not in ("", "0", "1"):
        raise ConfigError(
            "{variable} must be 1 for a shared server, or 0; it is {given!r}. Start Headlight anew.",
            variable=SHARED_VARIABLE,
            given=shared,
        )
    if shared != "1":
        return Rules()
    return Rules(True, _seconds(environment.get(SECONDS_VARIABLE, "")), MEGABYTES, SHARED_AT_ONCE, SHARED_WAITING)


def _seconds(said: str) -> float:
    if not said:
        return SECONDS
    # Digits of other scripts are digits to Python, too.
    if not (said.isascii() and said.isdigit() and 1 <= int(said[:9]) <= MOST_SECONDS and len(said) <= 9):
        raise ConfigError(
            "{variable} must be a whole number of seconds from 1 to {most:,}; it is {given!r}. Start Headlight anew.",
            variable=SECONDS_VARIABLE,
            most=MOST_SECONDS,
            given=said[:40],
        )
    return float(said)

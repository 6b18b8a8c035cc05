"""Take from Python what only tests need, before anything else is imported. Python imports it by this name.

It is found by PYTHONPATH, so it holds for a process and for all that this one starts. Packages that are installed and
not among those of requirements.txt, nor needed by them, are not found, as in the environment of a person who has
followed the README.
"""

import re
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from types import ModuleType

_REQUIREMENTS = Path(__file__).parents[2] / "requirements.txt"


def _name(requirement: str) -> str:
    """Of the package, as packages are compared."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0]).lower()


def needed() -> set[str]:
    """Names of all packages that requirements.txt brings."""
    found: set[str] = {"headlight", "pip"}
    left = [_name(line) for line in _REQUIREMENTS.read_text(encoding="utf-8").splitlines() if line[:1].isalpha()]
    while left:
        if (name := left.pop()) not in found:
            found.add(name)
            try:
                left += [_name(line) for line in requires(name) or () if "extra ==" not in line]
            except PackageNotFoundError:
                continue
    return found


def refused() -> set[str]:
    """Modules of which no needed package is the home."""
    kept = needed()
    return {module for module, names in packages_distributions().items() if not kept & {*map(_name, names)}}


class Needed(PathFinder):
    """Finds modules as ever, but for those."""

    refused = refused()

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for what only tests need."""
        is_refused = fullname.partition(".")[0] in cls.refused
        return None if is_refused else PathFinder.find_spec(fullname, path, target)


sys.meta_path[:] = [Needed if each is PathFinder else each for each in sys.meta_path]

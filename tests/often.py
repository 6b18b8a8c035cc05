"""Parameters of which the README's test command runs some, and `-m long` the others."""

from collections.abc import Collection, Iterable

import pytest


def often(values: Iterable[str], in_short: Collection[str]) -> list[object]:
    """All of these values; those that are not among `in_short`, as slow or as like to another, are long."""
    return [value if value in in_short else pytest.param(value, marks=pytest.mark.long) for value in values]

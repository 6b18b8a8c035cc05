"""Files to take along, with their sizes."""

import pytest

from viz.ui.downloads import _size


@pytest.mark.parametrize(
    ("count", "shown"),
    [(3, "about 1 kB"), (292_000, "about 292 kB"), (4_900_000, "about 4.9 MB"), (123_400_000, "about 123 MB")],
)
def test_sizes_are_rounded_as_people_say_them(count: int, shown: str) -> None:
    assert _size(count) == shown

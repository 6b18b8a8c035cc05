"""The tree of a small beam search."""

import pytest

from viz.selection.selection import Selection


@pytest.fixture
def chosen(chosen: Selection) -> Selection:
    return chosen.changed(beam_size=3)

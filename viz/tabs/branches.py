"""Branches, of the decoding page."""

from typing import TYPE_CHECKING

from viz import frame

if TYPE_CHECKING:
    from model import Trace


@frame.fragment
def show(trace: "Trace") -> None:
    """Nothing yet."""

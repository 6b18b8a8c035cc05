"""A picture cut into patches, as an image model reads it: the patches are tokens, row by row."""

from dataclasses import dataclass

from jaxtyping import UInt8
from torch import Tensor


@dataclass(frozen=True, eq=False, kw_only=True)
class Picture:
    """What the model saw, and the grid of its patches.

    Attributes:
        pixels: the picture as the model got it, resized, before its colours were normalised.
        rows, columns: of patches.
        first_patch: position of the first patch among the tokens; special tokens come before it.
    """

    pixels: UInt8[Tensor, "height width 3"]
    rows: int
    columns: int
    first_patch: int

"""A picture cut into patches, as an image model reads it. Knows nothing of models or of files.

The patches are tokens, row by row; what stands before them (a class token) has no place in the picture.
"""

from dataclasses import dataclass

from jaxtyping import UInt8
from torch import Tensor


@dataclass(frozen=True, eq=False, kw_only=True)
class Picture:
    """What the model saw, and where its patches lie.

    Attributes:
        pixels: the picture as the model got it, resized, before its colours were normalised.
        rows, columns: of patches.
        first_patch: position of the first patch among the tokens; special tokens come before it.
    """

    pixels: UInt8[Tensor, "height width 3"]
    rows: int
    columns: int
    first_patch: int

    def place_of(self, position: int) -> tuple[int, int] | None:
        """Row and column of a token's patch, from 0; None for a special token."""
        patch = position - self.first_patch
        return divmod(patch, self.columns) if 0 <= patch < self.rows * self.columns else None

"""A picture that a model read, for pictures that draw over it what heads attend to (`source_picture.js`)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from jaxtyping import UInt8, UInt16

if TYPE_CHECKING:
    from model.sources.source import Source


@dataclass(frozen=True, eq=False)
class SourcePicture:
    """Pixels, and where in them each position of the source is."""

    pixels: UInt8[np.ndarray, "height width 3"]
    rectangles: UInt16[np.ndarray, "position 4"]  #: left, top, right, bottom; all 0 of one without a place

    @classmethod
    def of(cls, source: "Source") -> Self | None:
        """That of a source; None of a text or a sound."""
        if source.grid is None:
            return None
        return cls(source.grid.pixels.numpy(), source.grid.rectangles.numpy().astype(np.uint16))

    def derived(self) -> dict[str, object]:
        """As a payload has it, whose other arrays come before."""
        height, width, _channels = self.pixels.shape
        return {"picture_size": [width, height], "pixels": self.pixels, "rectangles": self.rectangles}

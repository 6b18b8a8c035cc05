"""Choose which side of a model is read that compares texts with pictures (CLIP, SigLIP): each has an encoder."""

from collections.abc import Mapping
from typing import Any, Final

from model.abilities import SourceKind
from model.adapters.base_reader import BaseReader
from model.adapters.image_reader import ImageReader
from model.adapters.text_reader import TextReader
from model.errors import said
from model.languages import Offered
from model.reader import Reader

UNPADDED: Final = said(
    "Texts are read without padding. SigLIP was trained on texts padded to 64 tokens, in which all tokens attend to "
    "the padding, so its attention weights here differ from those with padding."
)


class OneSide(BaseReader):
    """A reader that is one side of a model; the other is chosen as languages are, by what it reads."""

    sides: Mapping[SourceKind, Reader]

    @property
    def offered(self) -> Offered:
        """See `model.reader.Reader`: what may be read."""
        is_padded = self.abilities.reads == "text" and self.abilities.family.startswith("Siglip")
        return Offered(reads=tuple(self.sides), chosen=(self.abilities.reads, ""), note=UNPADDED if is_padded else "")

    def speaking(self, reads: str = "", writes: str = "") -> Any:
        """See `model.reader.Reader`."""
        side, _ = self.offered.with_choice(reads, writes)
        return self if side == self.abilities.reads else self.sides[side]


class TextSide(OneSide, TextReader):
    """The encoder of texts."""


class PictureSide(OneSide, ImageReader):
    """The encoder of pictures."""


def join(*sides: TextSide | PictureSide) -> Reader:
    """The first side, which knows the others."""
    known: dict[SourceKind, Reader] = {side.abilities.reads: side for side in sides}
    for side in sides:
        side.sides = known
    return sides[0]

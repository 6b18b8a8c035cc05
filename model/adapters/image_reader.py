"""Read pictures with models of `transformers` through the same `Trace`: patches are tokens. Some write about them."""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from PIL import Image
from torch import Tensor, nn

from model.abilities import Abilities
from model.adapters.given import EncoderParts, EncoderReader, Given, GivenReader, GivenWriter
from model.adapters.layout import Layout
from model.adapters.library_tokenizer import LibraryTokenizer
from model.adapters.probe import picture_table
from model.adapters.sight import Sight, probe_picture
from model.errors import InputTextError, said
from model.nn.edit_hooks import Edits
from model.sources.picture_file import PartlyHidden, as_image, open_picture
from model.sources.source import PictureSource
from model.trace.trace import Trace


class Seen(Given):
    """A picture."""

    def __init__(self, sight: Sight, name: str, picture: Image.Image | PartlyHidden) -> None:
        self.sight, self.picture = sight, picture
        super().__init__(sight.model, name, f"{picture.size}/{hashlib.sha256(picture.tobytes()).hexdigest()}")

    @cached_property
    def numbers(self) -> Mapping[str, Tensor]:
        """What the encoder is given. Raises as `Sight.numbers`."""
        return self.sight.numbers(self.picture)

    @cached_property
    def source(self) -> PictureSource:
        """What a trace keeps of it. Raises as `Sight.numbers`."""
        return self.sight.source(self.name, self.numbers, self.picture)

    @contextmanager
    def read_by_model(self) -> Iterator[None]:
        """Raises an InputTextError if the model does not read a picture of this shape."""
        try:
            yield
        except ValueError as error:
            height, width = self.source.grid.pixels.shape[:2]
            message = (
                "After scaling, the picture has {width} × {height} pixels, which this model does not read. Crop it to "
                "a square first."
            )
            raise InputTextError(message, width=width, height=height) from error


class Seeing(GivenReader):
    """A reader that reads the picture that it is given, whatever the text."""

    none_given = said(
        "This model reads pictures, and none was given to it. Choose one on the left; in Python, use reading()."
    )
    another_given = said("This trace is of another picture than the one that the model is given now.")
    sight: Sight

    def perceived(self, name: str, content: Any) -> Seen:
        """See `GivenReader`: of an image, perhaps partly hidden, or bytes [height, width, 3] of red, green and blue."""
        return Seen(self.sight, name, content if isinstance(content, PartlyHidden) else as_image(content))

    def opened(self, path: Path) -> Image.Image:
        """The picture in a file. Raises as `open_picture`."""
        return open_picture(path)

    @property
    def probing(self) -> Image.Image:
        """See `GivenReader`."""
        return probe_picture()

    def trace_picture(
        self,
        picture: Image.Image | PartlyHidden | np.ndarray[Any, Any],
        *,
        name: str = "picture",
        extras: Collection[str] = (),
        edits: Edits | None = None,
    ) -> Trace:
        """Look at a picture: an image, or bytes [height, width, 3] of red, green and blue. The trace calls it `name`.

        Raises:
            InputTextError: it is not a picture of this form, or the model does not read one of this shape.
            EditError: an edit names what does not exist.
        """
        return self.reading(name, picture).trace("", extras=extras, edits=edits)  # type: ignore[attr-defined, no-any-return]


@dataclass(frozen=True, eq=False)
class PictureParts(EncoderParts):
    """What is known of a vision model: the table of its positions."""

    model: nn.Module

    def positional(self, trace: Trace) -> Float[Tensor, "position d_model"] | None:
        """See `Parts`."""
        return picture_table(self.model, len(trace.source_tokens))


class ImageReader(Seeing, EncoderReader):
    """A loaded vision model of `transformers`, with what it sees by. Safe to share between threads."""

    def __init__(
        self, model: nn.Module, layout: Layout, abilities: Abilities, *, sight: Sight, name: str, digest: str
    ) -> None:
        if sight.varies and abilities.knows_inputs:
            abilities = replace(abilities, max_length=None)
        super().__init__(model, layout, abilities, name=name, digest=digest)
        self.sight = sight

    @property
    def parts(self) -> PictureParts:
        """See `model.reader.Reader`."""
        return PictureParts(self.abilities, self.model)


class PictureWriter(Seeing, GivenWriter):
    """A loaded model of `transformers` that writes about a picture, with what it sees by. Safe to share between
    threads.
    """

    def __init__(
        self,
        model: nn.Module,
        pieces: LibraryTokenizer,
        layout: Layout,
        abilities: Abilities,
        *,
        sight: Sight,
        name: str,
        digest: str,
    ) -> None:
        super().__init__(model, pieces, layout, abilities, name=name, digest=digest)
        self.sight = sight

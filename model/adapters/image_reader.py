"""Read pictures with vision transformers through the same `Trace`: patches are tokens."""

import copy
import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor, nn

from model.abilities import Abilities
from model.adapters.base_reader import BaseReader
from model.adapters.capture import head_edits
from model.adapters.layout import OUTPUTS, Layout, weights_of
from model.adapters.probe import picture_table
from model.adapters.sight import Sight
from model.errors import InputTextError, said
from model.nn.edit_hooks import Edits
from model.nn.hooks import CALL, listen
from model.parts.parts import Parts
from model.sources.picture_file import as_image, open_picture
from model.trace.trace import Trace


@dataclass(frozen=True, eq=False)
class PictureParts(Parts):
    """What is known of a vision model: the table of its positions."""

    model: nn.Module
    abilities: Abilities
    why = said("It reads patches of a picture, not tokens; its heads are on the Attention page.")

    def positional(self, trace: Trace) -> Float[Tensor, "position d_model"] | None:
        """See `Parts`."""
        return picture_table(self.model, len(trace.source_tokens))


class ImageReader(BaseReader):
    """A loaded vision model of `transformers`, with what it sees by. Safe to share between threads."""

    #: special_ids, byte_ids: none, as patches are of no vocabulary.
    special_ids: frozenset[int] = frozenset()
    byte_ids: frozenset[int] = frozenset()

    def __init__(
        self, model: nn.Module, layout: Layout, abilities: Abilities, *, sight: Sight, name: str, digest: str
    ) -> None:
        super().__init__(model, layout, abilities, name=name, digest=digest)
        self.sight = sight
        self._given: tuple[str, Image.Image] | None = None
        self._seen = ""  #: names what is given; kept, for a key is asked for often

    @property
    def key(self) -> str:
        """Names this content, and the picture that is looked at whatever the text."""
        return super().key + self._seen

    def reading(self, name: str, content: Image.Image) -> Self:
        """See `model.reader.Reader`."""
        made, picture = copy.copy(self), as_image(content)
        made._given = name, picture
        made._seen = f"/{name}/{picture.size}/{hashlib.sha256(picture.tobytes()).hexdigest()}"
        return made

    @property
    def parts(self) -> Parts:
        """See `model.reader.Reader`."""
        return PictureParts(self.model, self.abilities)

    def all_tokens(self, *, of_source: bool = False) -> tuple[str, ...]:
        """None."""
        return ()

    def trace(
        self, text: str, target: str | None = None, *, extras: Collection[str] = (), edits: Edits | None = None
    ) -> Trace:
        """Look at the picture that is given, or at that in the file `text`.

        Raises as `trace_picture`, or an InputTextError for a target.
        """
        if target is not None:
            message = "This model ({family}) only reads pictures: it has no decoder."
            raise InputTextError(message, family=self.abilities.family)
        self.checked_extras(extras)
        name, picture = self._given or (Path(text).name, open_picture(Path(text)))
        return self.trace_picture(picture, name=name, extras=extras, edits=edits)

    @torch.inference_mode()
    def trace_picture(
        self,
        picture: Image.Image | np.ndarray[Any, Any],
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
        image = as_image(picture)
        numbers = self.sight.numbers(image)
        source = self.sight.source(name, numbers, image)
        functions = head_edits(edits, self.abilities, num_source=len(source.ids), num_target=0)
        more = {} if self.abilities.knows_inputs else {"output_attentions": True}
        try:
            with listen(record={CALL, OUTPUTS} & {CALL, *extras}, edits=functions) as recorded:
                output = self.model(**numbers, **more)
        except ValueError as error:
            height, width = source.grid.pixels.shape[:2]
            message = (
                "After scaling, the picture has {width} × {height} pixels, which this model does not read. Crop it to "
                "a square first."
            )
            raise InputTextError(message, width=width, height=height) from error
        return Trace(
            reader_key=super().key,
            source=source,
            inputs=self.layout.inputs(recorded) if not more else weights_of(output, self.abilities, self.config),
            recorded=self.layout.outputs(recorded),
            special_tokens=source.special,
        )

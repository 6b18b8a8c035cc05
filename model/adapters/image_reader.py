"""Read pictures with vision transformers through the same `Trace`: patches are tokens."""

import copy
import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
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
from model.errors import CheckpointError, InputTextError, said
from model.nn.attention import AttentionInputs
from model.nn.edit_hooks import Edits
from model.nn.hooks import CALL, listen
from model.parts.parts import Parts
from model.sources.picture_file import as_image, open_picture
from model.sources.source import Grid, PictureSource
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
    """A loaded vision model of `transformers`, with its processor of pictures. Safe to share between threads."""

    #: special_ids, byte_ids: none, as patches are of no vocabulary.
    special_ids: frozenset[int] = frozenset()
    byte_ids: frozenset[int] = frozenset()

    def __init__(
        self, model: nn.Module, processor: Any, layout: Layout, abilities: Abilities, *, name: str, digest: str
    ) -> None:
        super().__init__(model, layout, abilities, name=name, digest=digest)
        self.processor = processor
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
        dtype, most = next(self.model.parameters()).dtype, self.abilities.max_length or 0
        pixels = self.processor(image, return_tensors="pt")["pixel_values"].to(self.device, dtype)
        *_, height, width = pixels.shape
        rows, columns = height // self._patch, width // self._patch
        functions = head_edits(edits, self.abilities, num_source=most, num_target=0)
        more = {} if self.abilities.knows_inputs else {"output_attentions": True}
        try:
            with listen(record={CALL, OUTPUTS} & {CALL, *extras}, edits=functions) as recorded:
                output = self.model(pixel_values=pixels, **more)
        except ValueError as error:
            message = (
                "After scaling, the picture has {width} × {height} pixels, which this model does not read. Crop it to "
                "a square first."
            )
            raise InputTextError(message, width=width, height=height) from error
        inputs = self.layout.inputs(recorded) if not more else weights_of(output, self.abilities, self.model.config)
        ((_, length, _), *_) = (layer.shape for layer in inputs["encoder.self"])
        first = length - rows * columns
        grid = Grid(pixels=self._as_seen(pixels[0]), rows=rows, columns=columns, first_patch=first)
        source = PictureSource.of_patches(name, grid)
        return Trace(
            reader_key=super().key,
            source=source,
            inputs=inputs,
            recorded=self.layout.outputs(recorded),
            special_tokens=frozenset(source.tokens[:first]),
        )

    @torch.inference_mode()
    def check_patches(self, pixels: Float[Tensor, "1 channel height width"]) -> None:
        """Make sure that each patch is the token that it is shown as: only that one changes with it before layers mix.

        Raises a CheckpointError if another token changes, or several do. `pixels` is what the processor makes of a
        picture.
        """
        size, pixels = self._patch, pixels.to(self.device, next(self.model.parameters()).dtype)
        *_, height, width = pixels.shape
        columns = width // size
        first = (self.abilities.max_length or 0) - height // size * columns
        changed = pixels.clone()
        changed[..., :size, (columns - 1) * size :] += 1.0  # at the end of the first row
        queries = []
        for each in (pixels, changed) if self.abilities.knows_inputs else ():
            with listen(record={CALL}) as recorded:
                self.model(pixel_values=each)
            (inputs, *_) = self.layout.inputs(recorded)["encoder.self"]
            assert isinstance(inputs, AttentionInputs)
            queries.append(inputs.query)
        apart = [(a - b).abs().amax((0, 2)).nonzero().flatten().tolist() for a, b in pairwise(queries)]
        if first < 0 or apart not in ([], [[first + columns - 1]]):
            raise CheckpointError(
                "This model ({name}) does not read a picture patch by patch in reading order, so it is unknown "
                "which part of the picture a token represents.",
                name=self.abilities.family,
            )

    @property
    def _patch(self) -> int:
        size = getattr(self.model.config, "patch_size", 16)
        return int(min(size) if isinstance(size, list | tuple) else size)

    def _as_seen(self, pixels: Float[Tensor, "3 height width"]) -> Tensor:
        """Bytes [height, width, 3] of what the model was given, its normalised colours turned back."""
        values = pixels.float().cpu()
        if getattr(self.processor, "do_normalize", False):
            mean, spread = (
                torch.tensor(getattr(self.processor, name)).view(-1, 1, 1) for name in ("image_mean", "image_std")
            )
            values = values * spread + mean
        if getattr(self.processor, "do_rescale", False):
            values = values / float(self.processor.rescale_factor)
        return values.round().clamp(0, 255).to(torch.uint8).permute(1, 2, 0).contiguous()

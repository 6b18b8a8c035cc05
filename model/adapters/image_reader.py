"""Read pictures with vision transformers through the same `Trace`: patches are tokens."""

import struct
from collections.abc import Collection
from io import BytesIO
from itertools import chain, islice, pairwise, product, repeat
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor, nn

from model.abilities import Abilities
from model.adapters.base_reader import BaseReader
from model.adapters.capture import head_edits
from model.adapters.layout import OUTPUTS, Layout, weights_of
from model.errors import CheckpointError, InputTextError
from model.nn.attention import AttentionInputs
from model.nn.edit_hooks import Edits
from model.nn.hooks import CALL, listen
from model.trace.axes import WORD_BEGIN
from model.trace.trace import Picture, Trace

LARGEST_FILE: Final = 64 << 20
"""Bytes beyond which a file is refused."""
LARGEST_SIDE: Final = 20_000
LARGEST_AREA: Final = 50_000_000
"""Pixels beyond which a picture is refused before it is unpacked."""
LONGEST_RATIO: Final = 8
"""Some models scale by the shorter side: a picture much longer than that would become huge."""


class ImageReader(BaseReader):
    """A loaded vision model of `transformers`, with its processor of pictures. Safe to share between threads."""

    def __init__(
        self, model: nn.Module, processor: Any, layout: Layout, abilities: Abilities, *, name: str, digest: str
    ) -> None:
        super().__init__(model, layout, abilities, name=name, digest=digest)
        self.processor = processor

    def all_tokens(self) -> tuple[str, ...]:
        """None: patches are of no vocabulary."""
        return ()

    @property
    def special_ids(self) -> frozenset[int]:
        """None, as there is no vocabulary."""
        return frozenset()

    @property
    def byte_ids(self) -> frozenset[int]:
        """None, as there is no vocabulary."""
        return frozenset()

    def trace(
        self, text: str, target: str | None = None, *, extras: Collection[str] = (), edits: Edits | None = None
    ) -> Trace:
        """Look at the picture in the file `text`. Raises as `trace_picture`, or an InputTextError for a target."""
        if target is not None:
            message = "This model ({family}) only reads pictures: it has no decoder."
            raise InputTextError(message, family=self.abilities.family)
        self.checked_extras(extras)
        return self.trace_picture(open_picture(Path(text)), name=Path(text).name, extras=extras, edits=edits)

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
        image = _as_image(picture)
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
        special = tuple(islice(chain(("[CLS]", "[DIST]"), repeat("[REG]")), first))
        tokens = (
            *special,
            *(f"{WORD_BEGIN}{row}·{column}" for row, column in product(range(1, rows + 1), range(1, columns + 1))),
        )
        return Trace(
            reader_key=self.key,
            text=name,
            source_ids=tuple(range(len(tokens))),
            source_tokens=tokens,
            inputs=inputs,
            recorded=self.layout.outputs(recorded),
            special_tokens=frozenset(special),
            picture=Picture(pixels=self._as_seen(pixels[0]), rows=rows, columns=columns, first_patch=first),
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


def open_picture(path: str | Path) -> Image.Image:
    """The picture in a file. Raises an InputTextError before unpacking it if there is none, or it is too large."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError as error:
        message = "There is no file {path!r}. Give the path of a PNG or JPEG picture."
        raise InputTextError(message, path=str(path)) from error
    except OSError as error:
        message = "{name} is not a picture that can be read; give a PNG or JPEG file."
        raise InputTextError(message, name=path.name) from error
    if len(content) > LARGEST_FILE:
        message = "{name} has more than {most} MB; scale the picture down."
        raise InputTextError(message, name=path.name, most=LARGEST_FILE >> 20)
    return picture_of(content, path.name)


def picture_of(content: bytes, name: str, largest_side: int | None = None) -> Image.Image:
    """The picture that the bytes of a file hold, upright, as `open_picture`; an error calls it `name`.

    The longer side of a larger picture is shrunk to `largest_side` pixels, without unpacking all of a JPEG.
    """
    try:
        # Only formats that hold nothing but pixels.
        with Image.open(BytesIO(content), formats=("PNG", "JPEG", "WEBP", "BMP", "GIF")) as image:
            _check_size(image.size)
            if largest_side is not None:
                image.draft("RGB", (largest_side, largest_side))
            picture = image.convert("RGB")
            if largest_side is not None:
                picture.thumbnail((largest_side, largest_side))
            return _upright(picture)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputTextError("{name} is not a picture that can be read; give a PNG or JPEG file.", name=name) from error


def _upright(picture: Image.Image) -> Image.Image:
    """A photograph as its camera was held; where what the camera noted (EXIF) is damaged, as it was stored."""
    try:
        return ImageOps.exif_transpose(picture)
    except (ArithmeticError, AttributeError, LookupError, OSError, SyntaxError, TypeError, ValueError, struct.error):
        return picture


def _as_image(picture: Image.Image | np.ndarray[Any, Any]) -> Image.Image:
    if isinstance(picture, Image.Image):
        _check_size(picture.size)
        return picture.convert("RGB")
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 or 0 in picture.shape:
        message = "A picture must be bytes [height, width, 3], got {dtype} {shape}."
        raise InputTextError(message, dtype=picture.dtype, shape=list(picture.shape))
    _check_size((picture.shape[1], picture.shape[0]))
    return Image.fromarray(picture)


def _check_size(size: tuple[int, int]) -> None:
    width, height = size
    if max(size) > LARGEST_SIDE or width * height > LARGEST_AREA:
        message = "The picture has {width:,} × {height:,} pixels; at most {largest_area:,} can be read."
        raise InputTextError(message, width=width, height=height, largest_area=LARGEST_AREA)
    if max(size) > LONGEST_RATIO * min(size):
        message = (
            "The picture has {width:,} × {height:,} pixels; its longer side may be at most {longest_ratio} times the "
            "shorter one. Crop it first."
        )
        raise InputTextError(message, width=width, height=height, longest_ratio=LONGEST_RATIO)


def example_picture() -> Image.Image:
    """A picture that we drew, 224 × 224: sky, moon, hills, a house with two lit windows, a tree, and their lake."""
    with Image.open(Path(__file__).with_name("example_picture.png")) as picture:
        return picture.convert("RGB")

"""Open the file of a picture, within limits, before anything of it is unpacked."""

import struct
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from model.errors import InputTextError

LARGEST_FILE: Final = 64 << 20
"""Bytes beyond which a file is refused."""
LARGEST_SIDE: Final = 20_000
LARGEST_AREA: Final = 50_000_000
"""Pixels beyond which a picture is refused before it is unpacked."""
LONGEST_RATIO: Final = 8
"""Some models scale by the shorter side: a picture much longer than that would become huge."""


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


def as_image(picture: Image.Image | np.ndarray[Any, Any]) -> Image.Image:
    """A picture in red, green and blue. Raises an InputTextError if it is none, or of a shape that is not read."""
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

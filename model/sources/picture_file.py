"""Open the file of a picture, within limits, before anything of it is unpacked."""

import re
import struct
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from model.errors import HeadlightError, InputTextError, said

LARGEST_FILE: Final = 64 << 20
"""Bytes beyond which a file is refused."""
LARGEST_SIDE: Final = 20_000
LARGEST_AREA: Final = 50_000_000
"""Pixels beyond which a picture is refused before it is unpacked."""
LONGEST_RATIO: Final = 8
"""Some models scale by the shorter side: a picture much longer than that would become huge."""
NO_PICTURE: Final = said("{name} is not a picture that can be read; choose a PNG or JPEG file.")
#: How files of other types begin, within so many bytes, and what these are called.
_SIGN: Final = 1_024
_OTHERS: Final = (
    (re.compile(rb"\A(?:II\*\0.{4}CR|FUJIFILMCCD|II(?:RO|RS|U\0))", re.DOTALL), said("camera RAW")),
    (re.compile(rb"\A(?:II\*\0|MM\0\*|II\+\0|MM\0\+)"), "TIFF"),
    (re.compile(rb"\A.{4}ftyp(?:heic|heix|hevc|heim|heis|mif1|msf1)", re.DOTALL), "HEIC"),
    (re.compile(rb"\A.{4}ftypavi[fs]", re.DOTALL), "AVIF"),
    (re.compile(rb"<svg[\s>]", re.IGNORECASE), "SVG"),
    (re.compile(rb"\A%PDF-"), "PDF"),
    (re.compile(rb"\A8BPS"), "PSD"),
    (re.compile(rb"\A(?:\xff\x0a|\0\0\0\x0cJXL )"), "JPEG XL"),
    (re.compile(rb"\A(?:\0\0\0\x0cjP  |\xff\x4f\xff\x51)"), "JPEG 2000"),
)


Colour = Literal["grey", "mean"]
COLOURS: Final[tuple[Colour, ...]] = get_args(Colour)
"""What a part of a picture is hidden by: grey, or the mean of the picture's colours."""


@dataclass(frozen=True, eq=False)
class PartlyHidden:
    """A picture of which a model does not see a rectangle: in its place it is given a plain colour."""

    picture: Image.Image
    #: left, top, right and bottom, in pixels of the picture as the model sees it (`model.sources.source.Grid`).
    box: tuple[int, int, int, int]
    colour: Colour

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture."""
        return self.picture.size

    def tobytes(self) -> bytes:
        """What tells it from others of this size."""
        return self.picture.tobytes() + repr((self.box, self.colour)).encode()

    def plain(self) -> Image.Image:
        """A picture as large, all in the colour that hides."""
        if self.colour == "grey":
            return Image.new("RGB", self.size, (128, 128, 128))
        red, green, blue = np.asarray(self.picture.convert("RGB")).mean((0, 1)).round().astype(int).tolist()
        return Image.new("RGB", self.size, (red, green, blue))


def open_picture(path: str | Path) -> Image.Image:
    """The picture in a file. Raises an InputTextError before unpacking it if there is none, or it is too large."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError as error:
        message = "There is no file {path!r}. Pass the path of a PNG or JPEG picture."
        raise InputTextError(message, path=str(path)) from error
    except OSError as error:
        raise InputTextError(NO_PICTURE, name=path.name) from error
    if len(content) > LARGEST_FILE:
        message = "{name} is larger than {most} MB; scale the picture down."
        raise InputTextError(message, name=path.name, most=LARGEST_FILE >> 20)
    return picture_of(content, path.name)


def picture_of(content: bytes, name: str, largest_side: int | None = None) -> Image.Image:
    """The picture that the bytes of a file hold, upright, as `open_picture`; an error calls it `name`.

    The longer side of a larger picture is shrunk to `largest_side` pixels, without unpacking all of a JPEG. What is
    transparent lies on white, as it does where pictures are looked at.
    """
    try:
        # Only formats that hold nothing but pixels.
        with Image.open(BytesIO(content), formats=("PNG", "JPEG", "WEBP", "BMP", "GIF")) as image:
            _check_size(image.size)
            # The further pictures in a JPEG of a telephone are no film.
            if image.format != "MPO" and getattr(image, "is_animated", False):
                message = "{name} is animated: it contains several pictures. Save the one that you want as PNG."
                raise InputTextError(message, name=name)
            if largest_side is not None:
                image.draft("RGB", (largest_side, largest_side))
            _turn_upright(image)
            return _in_colour(image, largest_side)
    except HeadlightError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        message = "{name} has far more than {largest_area:,} pixels, the most that can be read. Scale it down."
        raise InputTextError(message, name=name, largest_area=LARGEST_AREA) from error
    except UnidentifiedImageError as error:
        kind = next((kind for sign, kind in _OTHERS if sign.search(content[:_SIGN])), None)
        if kind is None:
            raise InputTextError(NO_PICTURE, name=name) from error
        message = "{name} is a file of the type {kind}, which cannot be read. Save the picture as PNG or JPEG."
        raise InputTextError(message, name=name, kind=kind) from error
    except Exception as error:  # Whatever Pillow thinks of bytes from outside.
        message = "{name} is damaged or was cut off ({reason}). Copy it again."
        raise InputTextError(message, name=name, reason=" ".join(str(error).split())[:80]) from error


def _turn_upright(picture: Image.Image) -> None:
    """Turn a photograph as its camera was held; where what the camera noted (EXIF) is damaged, it stays as it is."""
    with suppress(ArithmeticError, AttributeError, LookupError, SyntaxError, TypeError, ValueError, struct.error):
        ImageOps.exif_transpose(picture, in_place=True)


def _in_colour(image: Image.Image, largest_side: int | None = None) -> Image.Image:
    """A picture in red, green and blue of 8 bits each, on white, its longer side shrunk to `largest_side` pixels."""
    if image.mode.startswith("I"):
        # Pillow would cut numbers of 16 bits off at 255.
        image = Image.fromarray((np.asarray(image) / 257).round().clip(0, 255).astype(np.uint8))
    picture = image.convert("RGBA" if image.has_transparency_data else "RGB")
    if largest_side is not None:
        picture.thumbnail((largest_side, largest_side))
    if picture.mode == "RGB":
        return picture
    white = Image.new("RGBA", picture.size, "white")
    white.alpha_composite(picture)
    return white.convert("RGB")


def as_image(picture: Image.Image | np.ndarray[Any, Any]) -> Image.Image:
    """A picture in red, green and blue. Raises an InputTextError if it is none, or of a shape that is not read."""
    if isinstance(picture, Image.Image):
        _check_size(picture.size)
        if picture.mode == "F":
            raise InputTextError("The pixels of this picture are floats; use uint8 values (0 to 255).")
        return _in_colour(picture)
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 or 0 in picture.shape:
        message = "A picture must be a uint8 array [height, width, 3], got {dtype} {shape}."
        raise InputTextError(message, dtype=picture.dtype, shape=list(picture.shape))
    _check_size((picture.shape[1], picture.shape[0]))
    return Image.fromarray(picture)


def _check_size(size: tuple[int, int]) -> None:
    width, height = size
    if max(size) > LARGEST_SIDE or width * height > LARGEST_AREA:
        message = (
            "The picture has {width:,} × {height:,} pixels; at most {largest_area:,} can be read, {largest_side:,} "
            "along a side. Scale it down."
        )
        raise InputTextError(message, width=width, height=height, largest_area=LARGEST_AREA, largest_side=LARGEST_SIDE)
    if max(size) > LONGEST_RATIO * min(size):
        message = (
            "The picture has {width:,} × {height:,} pixels; its longer side may be at most {longest_ratio} times the "
            "shorter one. Crop it first."
        )
        raise InputTextError(message, width=width, height=height, longest_ratio=LONGEST_RATIO)


EXAMPLES: Final = ("scene", "line", "receipt")
"""The pictures that we drew: a house, a tree and the sun; one line of text; a receipt."""


def example_picture(name: str = EXAMPLES[0]) -> Image.Image:
    """One of `EXAMPLES`, drawn by `python .packaging/draw_examples.py`."""
    if name not in EXAMPLES:
        message = "There is no example picture {name}. Choose one of {names}."
        raise InputTextError(message, name=ascii(name), names=", ".join(EXAMPLES))
    with Image.open(Path(__file__).with_name(f"example_{name}.png")) as picture:
        return picture.convert("RGB")

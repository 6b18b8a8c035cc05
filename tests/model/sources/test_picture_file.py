"""Pictures of every format that is read come in as they are, and of any other file a sentence says what is wrong."""

from collections.abc import Callable
from io import BytesIO
from struct import pack
from zlib import compress, crc32

import numpy as np
import pytest
from PIL import Image

from model.errors import InputTextError
from model.sources.picture_file import as_image, picture_of

HEIGHT, WIDTH = 40, 60
#: Upper left, upper right, lower left, lower right.
COLOURS = np.array([[[230, 20, 30], [20, 200, 40]], [[30, 40, 220], [240, 230, 220]]], dtype=np.uint8)


def quarters() -> Image.Image:
    return Image.fromarray(COLOURS.repeat(HEIGHT // 2, 0).repeat(WIDTH // 2, 1))


def saved(picture: Image.Image, form: str, **options: object) -> bytes:
    file = BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


def chunk(kind: bytes, content: bytes) -> bytes:
    return pack(">I", len(content)) + kind + content + pack(">I", crc32(kind + content))


def png(width: int, height: int, bits: int, colour: int, rows: bytes) -> bytes:
    """A PNG file by its header (colour: 0 grey, 2 red, green and blue) and its rows, each with a byte before it."""
    header = chunk(b"IHDR", pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", compress(rows)) + chunk(b"IEND", b"")


def deep() -> bytes:
    """Red, green and blue of 16 bits each."""
    values = np.asarray(quarters()).astype(">u2") * 257
    return png(WIDTH, HEIGHT, 16, 2, b"".join(b"\0" + row.tobytes() for row in values))


def turned(orientation: int) -> bytes:
    """As a camera stores it that was held otherwise, with the note how."""
    undo = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    return saved(quarters().transpose(Image.Transpose(undo)), "JPEG", quality=95, exif=exif)


def seen_through() -> Image.Image:
    """The quarters, of which the upper right one is transparent: on white."""
    picture = quarters().convert("RGBA")
    picture.paste((1, 2, 3, 0), (WIDTH // 2, 0, WIDTH, HEIGHT // 2))
    return picture


def with_hole(picture: Image.Image) -> Image.Image:
    """Colours of a table, one of which is transparent."""
    table = picture.convert("RGB").quantize(8)
    table.info["transparency"] = table.getpixel((WIDTH - 1, 0))
    return table


#: Kind of file → its content, all of the quarters.
READ: dict[str, Callable[[], bytes]] = {
    "PNG": lambda: saved(quarters(), "PNG"),
    "PNG of a table": lambda: saved(quarters().quantize(8), "PNG"),
    "PNG of 16 bits": deep,
    "opaque PNG": lambda: saved(quarters().convert("RGBA"), "PNG"),
    "JPEG": lambda: saved(quarters(), "JPEG", quality=95),
    "progressive JPEG": lambda: saved(quarters(), "JPEG", quality=95, progressive=True),
    "JPEG in CMYK": lambda: saved(quarters().convert("CMYK"), "JPEG", quality=95),
    "JPEG with a note on colours": lambda: saved(quarters(), "JPEG", quality=95, icc_profile=b"none"),
    "two pictures of a telephone": lambda: saved(quarters(), "MPO", save_all=True, append_images=[quarters()]),
    "WebP": lambda: saved(quarters(), "WEBP", lossless=True),
    "lossy WebP": lambda: saved(quarters(), "WEBP", quality=95),
    "BMP": lambda: saved(quarters(), "BMP"),
    "BMP of a table": lambda: saved(quarters().quantize(8), "BMP"),
    "GIF": lambda: saved(quarters(), "GIF"),
    **{f"turned, {number}": lambda number=number: turned(number) for number in range(2, 9)},  # type: ignore[misc]
}
#: The same where the upper right quarter is transparent.
OPEN: dict[str, Callable[[], bytes]] = {
    "PNG": lambda: saved(seen_through(), "PNG"),
    "WebP": lambda: saved(seen_through(), "WEBP", lossless=True, exact=True),
    "PNG of a table": lambda: saved(with_hole(quarters()), "PNG"),
    "GIF": lambda: saved(with_hole(quarters()), "GIF"),
}


def corners(picture: Image.Image) -> np.ndarray:
    """The colours of the middles of the four quarters."""
    assert picture.mode == "RGB"
    rows, columns = ([size // 4, 3 * size // 4] for size in (picture.height, picture.width))
    return np.asarray(picture).astype(int)[np.ix_(rows, columns)]


@pytest.mark.parametrize("largest_side", [None, 30])
@pytest.mark.parametrize("name", READ)
def test_a_picture_of_any_format_is_seen_upright_in_its_colours(name: str, largest_side: int | None) -> None:
    picture = picture_of(READ[name](), "a.jpg", largest_side)
    assert picture.size == ((WIDTH, HEIGHT) if largest_side is None else (30, 20))
    assert np.abs(corners(picture) - COLOURS).max() <= 12


@pytest.mark.parametrize("largest_side", [None, 30])
@pytest.mark.parametrize("name", OPEN)
def test_what_is_transparent_lies_on_white(name: str, largest_side: int | None) -> None:
    on_white = COLOURS.copy()
    on_white[0, 1] = 255
    assert np.abs(corners(picture_of(OPEN[name](), "a.png", largest_side)) - on_white).max() <= 12


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "YCbCr", "HSV", "I;16", "I"])
def test_an_image_of_any_mode_is_the_same_picture_grey_where_it_has_no_colours(mode: str) -> None:
    grey = Image.new("L", (WIDTH, HEIGHT), 255)
    grey.paste(0, (0, 0, WIDTH // 2, HEIGHT))
    deep_grey = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    image = (
        deep_grey.convert("I") if mode == "I" else deep_grey if mode == "I;16" else grey.convert("RGB").convert(mode)
    )
    assert image.mode == mode
    assert np.abs(corners(as_image(image)) - np.array([0, 255])[None, :, None]).max() <= 2


def read(content: bytes) -> Image.Image | str:
    """The picture of a file called "a.png", or what is said of it."""
    try:
        return picture_of(content, "a.png")
    except InputTextError as error:
        return str(error)


@pytest.mark.parametrize("kept", [0.02, 0.3, 0.7, 0.97])
@pytest.mark.parametrize("name", READ)
def test_of_a_file_that_was_cut_off_a_sentence_says_so_or_nothing_is_missing(name: str, kept: float) -> None:
    content = READ[name]()
    picture = read(content[: int(len(content) * kept)])
    if isinstance(picture, str):
        assert picture.startswith("a.png ")
    else:
        assert np.abs(corners(picture) - COLOURS).max() <= 12


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", READ)
def test_a_file_whose_bytes_were_changed_is_read_or_refused(name: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    content = bytearray(READ[name]())
    for place in random.integers(0, (60, len(content))[seed % 2], 6):
        content[place] = random.integers(256)
    picture = read(bytes(content))
    if isinstance(picture, str):
        assert picture.startswith(("a.png ", "The picture has "))
    else:
        assert picture.mode == "RGB"


#: What is given → what the sentence says.
REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "is not a picture"),
    "text": (lambda: b"a cat on a mat", "is not a picture"),
    "page": (lambda: b"<!doctype html><script>alert(1)</script>", "is not a picture"),
    "sound": (lambda: b"RIFF\x24\0\0\0WAVEfmt ", "is not a picture"),
    "drawing": (lambda: b"<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg'/>", "type SVG"),
    "TIFF": (lambda: saved(quarters(), "TIFF"), "type TIFF"),
    "TIFF of floats": (lambda: saved(Image.fromarray(np.full((4, 4), np.nan, np.float32)), "TIFF"), "type TIFF"),
    "raw": (lambda: b"II*\0\x10\0\0\0CR\x02\0" + bytes(90), "type camera RAW"),
    "HEIC": (lambda: b"\0\0\0\x18ftypheic" + bytes(90), "type HEIC"),
    "AVIF": (lambda: b"\0\0\0\x18ftypavif" + bytes(90), "type AVIF"),
    "PDF": (lambda: b"%PDF-1.7\n", "type PDF"),
    "JPEG 2000": (lambda: b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(90), "type JPEG 2000"),
    "icon": (lambda: saved(quarters(), "ICO"), "is not a picture"),
    "film": (
        lambda: saved(quarters(), "GIF", save_all=True, append_images=[Image.new("RGB", (WIDTH, HEIGHT))]),
        "several",
    ),
    "film of PNG": (
        lambda: saved(quarters(), "PNG", save_all=True, append_images=[Image.new("RGB", (60, 40))]),
        "several",
    ),
    "film of WebP": (
        lambda: saved(quarters(), "WEBP", save_all=True, append_images=[Image.new("RGB", (60, 40))]),
        "several",
    ),
    "billion pixels": (lambda: png(20_000, 50_000, 8, 2, b""), "pixels"),
    "hundred million": (lambda: png(10_000, 10_000, 8, 2, b""), "pixels"),
    "long line": (lambda: png(1, 20_000, 8, 0, bytes(40_000)), "1 × 20,000 pixels; its longer side"),
    "no pixels": (lambda: png(0, 9, 8, 0, b""), "is not a picture"),
    "half a JPEG": (lambda: READ["JPEG"]()[:700], "damaged or was cut off"),
    "half a PNG": (lambda: deep()[:90], "damaged or was cut off"),
    "large": (lambda: bytes(1 << 20), "is not a picture"),
}


@pytest.mark.filterwarnings("default::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_picture_or_beyond_the_limits_is_refused_in_a_sentence(name: str) -> None:
    made, said = REFUSED[name]
    with pytest.raises(InputTextError, match=said):
        picture_of(made(), "a.png", 1_024)


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.5, 255.0])
def test_floats_are_refused_in_a_sentence(value: float) -> None:
    for given in (np.full((5, 7, 3), value), Image.fromarray(np.full((5, 7), value, np.float32))):
        with pytest.raises(InputTextError, match="uint8"):
            as_image(given)

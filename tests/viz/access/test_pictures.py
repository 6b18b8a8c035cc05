"""Pictures that are given to a model: read, refused, known by their content."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from model.errors import InputTextError
from viz.access import pictures


@pytest.mark.parametrize("content", [b"", b"no picture", b"GIF89a" + b"\x00" * 20, b"\x89PNG\r\n\x1a\n" + b"\xff" * 99])
def test_a_file_that_is_no_picture_is_refused(content: bytes) -> None:
    with pytest.raises(InputTextError, match="not a picture that can be read"):
        pictures.keep(content, "x.png")


def a_file(size: tuple[int, int], kind: str) -> bytes:
    file = BytesIO()
    Image.linear_gradient("L").resize(size).convert("RGB").save(file, kind)
    return file.getvalue()


def test_the_same_picture_is_asked_for_by_the_same_name() -> None:
    content = a_file((30, 20), "PNG")
    assert pictures.keep(content, "a.png") == pictures.keep(content, "a.png")


def test_nobody_sees_what_another_calls_the_same_picture() -> None:
    content = a_file((40, 30), "PNG")
    first, second = pictures.keep(content, "secret.png"), pictures.keep(content, "mine.png")
    assert pictures.given(first)[0].startswith("secret.png")
    assert "secret" not in pictures.given(second)[0]


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_photograph_of_24_megapixels_is_shrunk_and_kept(kind: str) -> None:
    _, picture = pictures.given(pictures.keep(a_file((6_000, 4_000), kind), f"{kind}.photo"))
    assert max(picture.size) <= pictures.LARGEST_SIDE
    assert picture.width / picture.height == pytest.approx(1.5, rel=0.01)
    # A gradient from black above to white below is still one.
    column = np.asarray(picture.convert("L"))[:, picture.width // 2]
    assert column[0] < 10 < 245 < column[-1]


@pytest.mark.parametrize("size", [(60, 40), (2_400, 1_600)], ids=["small", "shrunk"])
def test_a_photograph_taken_sideways_stands_upright(size: tuple[int, int]) -> None:
    upright = Image.linear_gradient("L").resize(size).convert("RGB")
    file, noted = BytesIO(), Image.Exif()
    # The camera was turned: its file has to be turned clockwise (EXIF orientation 6).
    noted[0x0112] = 6
    upright.transpose(Image.Transpose.ROTATE_90).save(file, "JPEG", exif=noted)
    _, picture = pictures.given(pictures.keep(file.getvalue(), f"{size}.jpg"))
    assert picture.width > picture.height
    column = np.asarray(picture.convert("L"))[:, picture.width // 2]
    assert column[0] < 20 < 235 < column[-1]


def test_a_photograph_with_a_damaged_note_of_its_camera_is_kept_as_it_is_stored() -> None:
    file = BytesIO()
    Image.new("RGB", (30, 20)).save(file, "JPEG", exif=b"Exif\x00\x00no TIFF header")
    _, picture = pictures.given(pictures.keep(file.getvalue(), "damaged.jpg"))
    assert picture.size == (30, 20)

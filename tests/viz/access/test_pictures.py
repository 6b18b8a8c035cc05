"""Pictures that are given to a model: read, refused, known by their content."""

import pytest

from model.errors import InputTextError
from viz.access import pictures


@pytest.mark.parametrize("content", [b"", b"no picture", b"GIF89a" + b"\x00" * 20, b"\x89PNG\r\n\x1a\n" + b"\xff" * 99])
def test_a_file_that_is_no_picture_is_refused(content: bytes) -> None:
    with pytest.raises(InputTextError, match="no picture that can be read"):
        pictures.keep(content, "x.png")


def test_the_same_picture_is_asked_for_by_the_same_name() -> None:
    from io import BytesIO

    from model.adapters.example_picture import example_picture

    file = BytesIO()
    example_picture().save(file, "PNG")
    assert pictures.keep(file.getvalue(), "a.png") == pictures.keep(file.getvalue(), "a.png")

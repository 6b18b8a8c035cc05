"""Keep the pictures that a person gives a model of pictures, for all their runs."""

from typing import TYPE_CHECKING, Final

import streamlit as st

from model import later
from model.errors import InputTextError
from viz.pictures.payload import fingerprint
from viz.server.caches import BoundedCache
from viz.text.messages import said

if TYPE_CHECKING:
    from PIL import Image

MAX_PICTURES: Final = 32
MAX_PICTURE_BYTES: Final = 64 * 1024**2
#: Pixels of a side to which a larger picture is shrunk when it arrives: models look at a few hundred.
LARGEST_SIDE: Final = 1_024


def keep(content: bytes, name: str) -> str:
    """Keep a picture that a person gives, for all runs of theirs, and return what it is asked for by.

    Whoever gives the same bytes under another name has another picture, so nobody sees what others call theirs. Raises
    an InputTextError if there is no picture in it, or it is too large.
    """
    digest = fingerprint(name.encode("utf-8", errors="replace").hex(), content.hex())
    if _kept().get(digest) is None:
        picture = later.image_reader.picture_of(content, name, LARGEST_SIDE)
        _kept().put(digest, (name, picture), picture.width * picture.height * 3)
    return digest


def given(digest: str) -> tuple[str, "Image.Image"]:
    """A given picture and its name; by default the one we draw. Raises an InputTextError if it is not kept."""
    if not digest:
        return said("example picture"), later.image_reader.example_picture()
    kept = _kept().get(digest)
    if kept is None:
        raise InputTextError("This picture is no longer available. Choose its file again on the left.")
    name, picture = kept
    return f"{name} · {digest[:6]}", picture


@st.cache_resource(show_spinner=False)
def _kept() -> BoundedCache[str, tuple[str, "Image.Image"]]:
    return BoundedCache(MAX_PICTURES, MAX_PICTURE_BYTES)

"""Pack JSON and arrays into the one `bytes` value that a component in the browser receives.

Streamlit hands it to JavaScript untouched:

    uint32 header length, little-endian | header, UTF-8 JSON | the arrays, one after another, little-endian

`header["arrays"]` lists their types and lengths, so that `payload.js` needs no second description.
"""

import json
import struct
import zlib
from collections.abc import Mapping
from math import isfinite
from typing import Final

import numpy as np
from jaxtyping import Float, UInt16
from numpy.typing import NDArray

#: A weight w travels as round(√w · 65535): colours are taken at √w, and three decimals of w survive.
FULL: Final = 65535


def sqrt_uint16(weights: Float[np.ndarray, "..."]) -> UInt16[np.ndarray, "..."]:
    """Weights in [0, 1] as round(√w · 65535). Rounding errors just outside the range are cut off."""
    stored: NDArray[np.uint16] = np.rint(np.sqrt(np.clip(weights, 0.0, 1.0)) * FULL).astype(np.uint16)
    return stored


def known_log_prob(log_prob: float) -> float | None:
    """A log-probability as JSON has it: null is −∞, that of a token that the model's rules forbid."""
    return log_prob if isfinite(log_prob) else None


def pack(header: Mapping[str, object], *arrays: NDArray[np.generic]) -> bytes:
    """One payload of a JSON header and arrays (uint8, uint16, float32); shapes are the header's business."""
    assert "arrays" not in header, "`arrays` is written by pack itself"
    assert "language" not in header, "`language` is that of the page, which `with_language` adds"
    listing = [[array.dtype.name, array.size] for array in arrays]
    text = json.dumps({**header, "arrays": listing}, ensure_ascii=False, allow_nan=False).encode("utf-8")
    flat = (np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes() for array in arrays)
    return b"".join((struct.pack("<I", len(text)), text, *flat))


def with_language(payload: bytes, language: str) -> bytes:
    """The payload with a language, JSON for `speak` of `messages.js`, in its header; "" is English and adds nothing."""
    if not language:
        return payload
    (length,) = struct.unpack_from("<I", payload)
    # A header is an object that holds `arrays` at least.
    header = b'{"language":' + language.encode() + b"," + payload[5 : 4 + length]
    return b"".join((struct.pack("<I", len(header)), header, payload[4 + length :]))


def deflate(planes: NDArray[np.uint8]) -> bytes:
    """Bytes compressed in zlib's form, which `payload.js` unpacks by the browser's own means; travels as a uint8 array.

    The strategy is the one for numbers that scatter around small values: shorter and quicker here than the usual one.
    """
    compressor = zlib.compressobj(level=4, strategy=zlib.Z_FILTERED)
    return compressor.compress(planes.tobytes()) + compressor.flush()

"""How arrays, tokens and scripts travel from Python to a component in the browser.

A payload is one `bytes` value, which Streamlit hands to JavaScript untouched:

    uint32 header length, little-endian | header, UTF-8 JSON | the arrays, one after another, little-endian

`header["arrays"]` lists their types and lengths, so that `wire.js` needs no second description.
This module knows nothing of attention heads, decoding or Streamlit.
"""

import base64
import hashlib
import json
import re
import struct
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Any, Final

import numpy as np
from jaxtyping import Float, UInt16
from numpy.typing import NDArray

#: A weight w travels as round(√w · 65535): colours are taken at √w, and three decimals of w survive.
FULL: Final = 65535

#: Scripts and styles by their names, wherever in `viz` they lie.
_SOURCES: Final = {path.name: path for path in Path(__file__).parents[1].rglob("*") if path.suffix in (".js", ".css")}
#: Letters and symbols by their Unicode category, but without any ink (fillers, blank pattern, joiner).
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
#: Control, format (bidi marks, zero-width), surrogate, private, unassigned; line, paragraph and exotic spaces.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


#: Comments that have lines of their own, and what lies between the ends of two lines. No string here spans lines.
_COMMENT: Final = re.compile(r"^\s*(?://.*|/\*(?:(?!\*/)[\s\S])*\*/)\s*$", re.MULTILINE)
_BETWEEN_LINES: Final = re.compile(r"\s*\n\s*")


#: Unpacks a script and hands every call on to it; Streamlit waits for what a component's function promises.
_UNPACKER: Final = """
const unpacked = (async () => {
const bytes = Uint8Array.from(atob("%s"), (character) => character.charCodeAt(0));
const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
return import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
})();
export default async (component) => (await unpacked).default(component);
"""


def sources(*names: str) -> str:
    """The scripts or styles of these names, joined, without comments and indentation."""
    joined = "\n".join(_SOURCES[name].read_text(encoding="utf-8") for name in names)
    return _BETWEEN_LINES.sub("\n", _COMMENT.sub("", joined)).strip()


def script(*names: str) -> str:
    """The scripts of these names as one for `st.components.v2.component`, the last one with its function.

    Streamlit sends it with every message to the component, so it travels compressed, in a third of its length.
    """
    text = f"{sources(*names)}\n//# sourceURL=headlight/{names[-1]}"
    return _UNPACKER.strip() % base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def sqrt_uint16(weights: Float[np.ndarray, "..."]) -> UInt16[np.ndarray, "..."]:
    """Weights in [0, 1] as round(√w · 65535). Rounding errors just outside the range are cut off."""
    stored: NDArray[np.uint16] = np.rint(np.sqrt(np.clip(weights, 0.0, 1.0)) * FULL).astype(np.uint16)
    return stored


def known_log_prob(log_prob: float) -> float | None:
    """A log-probability as JSON has it: null is −∞, that of a token that the model's rules forbid."""
    return log_prob if isfinite(log_prob) else None


def pack(header: Mapping[str, object], *arrays: NDArray[Any]) -> bytes:
    """One payload of a JSON header and arrays (uint8, uint16, float32); shapes are the header's business."""
    assert "arrays" not in header, "`arrays` is written by pack itself"
    listing = [[array.dtype.name, array.size] for array in arrays]
    text = json.dumps({**header, "arrays": listing}, ensure_ascii=False, allow_nan=False).encode("utf-8")
    flat = (np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes() for array in arrays)
    return b"".join((struct.pack("<I", len(text)), text, *flat))


def deflate(planes: NDArray[np.uint8]) -> bytes:
    """Bytes compressed in zlib's form, which `wire.js` unpacks by the browser's own means; travels as a uint8 array.

    The strategy is the one for numbers that scatter around small values: shorter and quicker here than the usual one.
    """
    compressor = zlib.compressobj(level=4, strategy=zlib.Z_FILTERED)
    return compressor.compress(planes.tobytes()) + compressor.flush()


def digest(*parts: str | NDArray[Any]) -> str:
    """A short fingerprint of what is shown, by which a component sees that nothing but its selection has changed."""
    fingerprint = hashlib.blake2b(digest_size=8)
    for part in parts:
        content = part.encode("utf-8") if isinstance(part, str) else part.tobytes()
        # The length keeps ("ab", "c") apart from ("a", "bc").
        fingerprint.update(struct.pack("<Q", len(content)))
        fingerprint.update(content)
    return fingerprint.hexdigest()


def _display_character(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if character == " ":
        return "\u2423"
    if unicodedata.category(character) in _UNSEEN or character in _BLANK:
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return character


def display_token(token: str) -> str:
    """A token as it can be shown: every character visible, and none that reorders the text around it.

    SentencePiece's "▁" stays. Control characters become their control pictures (␀ ␉ ␊), a plain space ␣; invisible and
    bidirectional controls, private and unassigned characters become `\\u` escapes. A combining mark that begins a token
    gets a dotted circle to stand on, a variation selector there is escaped. The empty token is shown as ∅.
    """
    if not token:
        return "∅"
    first = token[0]
    if "\ufe00" <= first <= "\ufe0f":
        return f"\\u{ord(first):04x}" + "".join(map(_display_character, token[1:]))
    shown = "".join(map(_display_character, token))
    return f"◌{shown}" if unicodedata.category(first).startswith("M") and shown.startswith(first) else shown


def display_tokens(tokens: Sequence[str]) -> list[str]:
    """`display_token` of each."""
    return list(_display_tokens(tuple(tokens)))


@lru_cache(maxsize=64)
def _display_tokens(tokens: tuple[str, ...]) -> tuple[str, ...]:
    # A page sends the tokens of a long text again and again.
    return tuple(map(display_token, tokens))

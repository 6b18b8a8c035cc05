"""A SentencePiece model is refused whose normalizer makes very much of a character."""

import pytest

from model.checked import Malformed
from model.errors import CheckpointError
from model.marian.tokenizer import MarianTokenizer
from model.tokenizer import LONGEST_REPLACEMENT, Tokenizer, check_charsmap, check_normalizer


def field(number: int, content: bytes) -> bytes:
    length, encoded = len(content), b""
    while length >= 128:
        encoded, length = encoded + bytes([length & 127 | 128]), length >> 7
    return bytes([number << 3 | 2]) + encoded + bytes([length]) + content


def charsmap(replacement: bytes) -> bytes:
    return (8).to_bytes(4, "little") + bytes(8) + b"a\0" + replacement + b"\0"


@pytest.mark.parametrize("spec", [3, 5])
def test_a_long_replacement_is_refused_wherever_it_stands(tokenizer: Tokenizer, spec: int) -> None:
    # A group begins before it, which old programs wrote and new ones skip.
    hostile = (
        tokenizer.serialized + b"\xab\x06\xac\x06" + field(spec, field(1, b"x") + field(2, charsmap(b"x" * 1_000_000)))
    )
    with pytest.raises(Malformed, match="turns one character into 1,000,000"):
        check_normalizer(hostile)
    with pytest.raises(CheckpointError, match=r"tokenizer\.model cannot be used: its normalizer"):
        Tokenizer(hostile)
    with pytest.raises(CheckpointError, match=r"source\.spm cannot be used: its normalizer"):
        MarianTokenizer(hostile, tokenizer.serialized, b"{}")


def test_an_honest_model_passes(tokenizer: Tokenizer) -> None:
    check_normalizer(tokenizer.serialized)
    check_charsmap(charsmap("ﷺ".encode() * LONGEST_REPLACEMENT))
    check_charsmap(b"")


@pytest.mark.parametrize("content", [b"", b"\xff" * 20, b"\x07", b"\x1a\x05\xff\xff\xff\xff\xff", b"IQ== 0\nIg== 1\n"])
def test_what_is_no_model_is_for_others_to_refuse(content: bytes) -> None:
    check_normalizer(content)

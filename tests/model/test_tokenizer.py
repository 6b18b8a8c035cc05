"""The tokenizer: no input is unknown, special tokens cannot be typed, and no character becomes very many."""

import pytest

from model.checked import Malformed
from model.config import TransformerConfig
from model.errors import CheckpointError, ConfigError, TokenError
from model.tokenizer import LONGEST_REPLACEMENT, SPECIAL_TOKENS, Tokenizer, check_charsmap, check_normalizer
from model.trace.axes import whole_words
from tests.conftest import SENTENCES


@pytest.mark.parametrize("text", [*SENTENCES[:8], "🦊 שלום 漢字 ñ", "</s> <s> <pad> <unk>", "▁ under_score"])
def test_decoding_gives_the_text_back(tokenizer: Tokenizer, text: str) -> None:
    token_ids = tokenizer.encode(text)
    assert tokenizer.decode(token_ids).split() == text.replace("▁", " ").split()
    assert not set(token_ids) & {tokenizer.token_id(token) for token in SPECIAL_TOKENS}


def test_special_ids_are_those_of_the_configuration(tokenizer: Tokenizer, config: TransformerConfig) -> None:
    ids = (config.pad_id, config.unk_id, config.bos_id, config.eos_id)
    assert tokenizer.tokens(ids) == SPECIAL_TOKENS
    assert tokenizer.decode([config.bos_id, *tokenizer.encode("Tom"), config.eos_id, config.pad_id]) == "Tom"


def test_a_byte_that_is_a_whole_character_is_spelled_as_it_and_found_by_it(tokenizer: Tokenizer) -> None:
    text = "(x) = 1 + 2 # @ | <0x41>"
    token_ids = tokenizer.encode(text)
    assert any(token_id in tokenizer.byte_ids for token_id in token_ids)
    assert "".join(tokenizer.tokens(token_ids)).replace("▁", " ").strip() == text
    assert whole_words(tokenizer.tokens(token_ids)).labels == tuple(text.split())
    spelled = tokenizer.tokens(sorted(tokenizer.byte_ids))
    assert [bytes([byte]).decode() for byte in range(0x21, 0x7F)] == list(spelled[0x21:0x7F])
    assert (spelled[0x0A], spelled[0x20], spelled[0x80], spelled[0xFF]) == ("⏎", "<0x20>", "<0x80>", "<0xFF>")
    for token_id, token in zip(token_ids, tokenizer.tokens(token_ids), strict=True):
        assert tokenizer.token_id(token) == token_id


@pytest.mark.parametrize(
    "text", [*SENTENCES[:4], "🦊 (x) ½ ñ ﬁne  漢字", " two  spaces ", "</s> <s>", "a\ud800b", "\t"]
)
def test_offsets_cover_every_visible_character_once_per_piece_that_spells_it(tokenizer: Tokenizer, text: str) -> None:
    offsets = tokenizer.offsets(text)
    assert len(offsets) == len(tokenizer.encode(text))
    assert offsets == sorted(offsets)
    covered = {i for begin, end in offsets for i in range(begin, end)}
    assert covered == {i for i, character in enumerate(text) if not character.isspace()}
    assert not any(text[begin:end] != text[begin:end].strip() for begin, end in offsets)


def test_a_piece_that_is_not_in_the_vocabulary_is_said(tokenizer: Tokenizer) -> None:
    assert tokenizer.tokens([tokenizer.token_id("▁the")]) == ("▁the",)
    with pytest.raises(TokenError, match="is not a token"):
        tokenizer.token_id("▁notthere")


def test_bytes_that_are_no_tokenizer_are_said() -> None:
    for content in (b"", b"hello", bytes(100)):
        with pytest.raises(CheckpointError, match=r"tokenizer\.model"):
            Tokenizer(content)


def test_too_large_a_vocabulary_is_said_with_the_largest_possible() -> None:
    with pytest.raises(ConfigError, match="at most") as error:
        Tokenizer.train(["a b c"], TransformerConfig(vocab_size=5_000))
    most = int(str(error.value).split("at most ")[1].split(",")[0])
    assert Tokenizer.train(["a b c"], TransformerConfig(vocab_size=most)).vocab_size == most


@pytest.mark.parametrize("size", [5, 260, 280])
def test_too_small_a_vocabulary_is_said_with_the_smallest_possible(size: int) -> None:
    with pytest.raises(ConfigError, match=f"needs a vocabulary of more than {size} tokens") as error:
        Tokenizer.train(SENTENCES, TransformerConfig(vocab_size=size))
    least = int(str(error.value).split("at least ")[1].rstrip("."))
    assert Tokenizer.train(SENTENCES, TransformerConfig(vocab_size=least)).vocab_size == least
    with pytest.raises(ConfigError):
        Tokenizer.train(SENTENCES, TransformerConfig(vocab_size=least - 1))


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


def test_an_honest_model_passes(tokenizer: Tokenizer) -> None:
    check_normalizer(tokenizer.serialized)
    check_charsmap(charsmap("ﷺ".encode() * LONGEST_REPLACEMENT))
    # The table before the replacements is none of them, and its first four bytes say how long it is.
    table = (100).to_bytes(4, "little") + b"\x01" * 100
    check_charsmap(table + b"x" * LONGEST_REPLACEMENT + b"\0")
    with pytest.raises(Malformed, match=f"into {LONGEST_REPLACEMENT + 1}"):
        check_charsmap(table + b"x" * (LONGEST_REPLACEMENT + 1) + b"\0")
    check_charsmap(b"")


@pytest.mark.parametrize("content", [b"", b"\xff" * 20, b"\x07", b"\x1a\x05\xff\xff\xff\xff\xff", b"IQ== 0\nIg== 1\n"])
def test_what_is_no_model_is_for_others_to_refuse(content: bytes) -> None:
    check_normalizer(content)

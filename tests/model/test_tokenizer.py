"""The tokenizer: no input is unknown, and special tokens cannot be typed."""

import pytest

from model.config import TransformerConfig
from model.errors import CheckpointError, ConfigError, TokenError
from model.tokenizer import SPECIAL_TOKENS, Tokenizer
from tests.conftest import SENTENCES


@pytest.mark.parametrize("text", [*SENTENCES[:8], "🦊 שלום 漢字 ñ", "</s> <s> <pad> <unk>", "▁ under_score"])
def test_decoding_gives_the_text_back(tokenizer: Tokenizer, text: str):
    token_ids = tokenizer.encode(text)
    assert tokenizer.decode(token_ids).split() == text.replace("▁", " ").split()
    assert not set(token_ids) & {tokenizer.token_id(token) for token in SPECIAL_TOKENS}


def test_special_ids_are_those_of_the_configuration(tokenizer: Tokenizer, config: TransformerConfig):
    ids = (config.pad_id, config.unk_id, config.bos_id, config.eos_id)
    assert tokenizer.tokens(ids) == SPECIAL_TOKENS
    assert tokenizer.decode([config.bos_id, *tokenizer.encode("Tom"), config.eos_id, config.pad_id]) == "Tom"


def test_a_character_outside_the_vocabulary_becomes_its_bytes(tokenizer: Tokenizer):
    assert "".join(tokenizer.tokens(tokenizer.encode("🦊"))).endswith("<0xF0><0x9F><0xA6><0x8A>")


def test_a_lone_surrogate_is_shown_as_a_replacement(tokenizer: Tokenizer):
    assert tokenizer.decode(tokenizer.encode("a\ud800b")) == "a?b"


def test_a_batch_is_encoded_as_one_by_one(tokenizer: Tokenizer):
    assert tokenizer.encode_batch(SENTENCES[:3]) == [tokenizer.encode(text) for text in SENTENCES[:3]]


def test_a_piece_that_is_not_in_the_vocabulary_is_said(tokenizer: Tokenizer):
    assert tokenizer.tokens([tokenizer.token_id("▁the")]) == ("▁the",)
    with pytest.raises(TokenError, match="no piece"):
        tokenizer.token_id("▁notthere")


def test_bytes_that_are_no_tokenizer_are_said():
    for content in (b"", b"hello", bytes(100)):
        with pytest.raises(CheckpointError, match=r"tokenizer\.model"):
            Tokenizer(content)


def test_too_large_a_vocabulary_is_said_with_the_largest_possible():
    with pytest.raises(ConfigError, match="at most"):
        Tokenizer.train(["a b c"], TransformerConfig(vocab_size=5_000))

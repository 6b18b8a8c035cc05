"""Masks of a padded batch, against loops written by hand over its tokens."""

import pytest

from model import Translator
from model.decoding.side_by_side import BatchMasks
from model.errors import InputTextError

TEXTS = ["Tom told me that he would be late.", "Hi.", "The animal was tired."]


@pytest.fixture(scope="module")
def masks(translator: Translator) -> BatchMasks:
    return translator.masks(TEXTS)


def test_sentences_are_padded_at_the_end_to_the_longest(masks: BatchMasks, translator: Translator) -> None:
    lengths = [len(translator.source_ids(text)) for text in TEXTS]
    for tokens, length in zip(masks.source_tokens, lengths, strict=True):
        assert len(tokens) == max(lengths)
        assert [token == "<pad>" for token in tokens] == [position >= length for position in range(max(lengths))]


def test_every_cell_of_every_mask_follows_from_order_and_padding(masks: BatchMasks) -> None:
    for row, (source, target) in enumerate(zip(masks.source_tokens, masks.target_tokens, strict=True)):
        for q in range(len(target)):
            for k, key in enumerate(target):
                assert masks.causal[q, k] == (k <= q)
                assert masks.target_padding[row, q, k] == (key != "<pad>")
                assert masks.decoder_self[row, q, k] == (k <= q and key != "<pad>")
            assert masks.decoder_cross[row, q].tolist() == [key != "<pad>" for key in source]
        for q in range(len(source)):
            assert masks.encoder_self[row, q].tolist() == [key != "<pad>" for key in source]


@pytest.mark.parametrize("bad", [" ", "word " * 2_000])
def test_a_sentence_that_will_not_do_is_named_by_its_place(translator: Translator, bad: str) -> None:
    with pytest.raises(InputTextError, match="Sentence 2 is"):
        translator.masks(["Hi.", bad])

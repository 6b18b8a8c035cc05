"""What depends on the order of words, with positions and without."""

from dataclasses import replace

import pytest
import torch

from model import Transformer, Translator
from model.analysis.ablations.outputs import read_backwards, swap_earlier_tokens
from model.errors import TraceError

TEXT = "A man in a red shirt walks along the river."


@pytest.fixture(scope="module")
def no_positions(translator: Translator) -> Translator:
    torch.manual_seed(3)
    model = Transformer(replace(translator.config, positions="none"))
    return Translator(model, translator.tokenizer, name="unordered")


def test_an_encoder_without_positions_puts_out_the_same_backwards(no_positions: Translator) -> None:
    result = read_backwards(no_positions, no_positions.trace(TEXT))
    assert result.difference < 1e-4 < result.largest
    read = no_positions.trace(TEXT).source_tokens
    assert sorted(result.tokens) == sorted(read)
    assert result.tokens != read


def test_an_encoder_with_positions_does_not(translator: Translator) -> None:
    assert read_backwards(translator, translator.trace(TEXT)).difference > 1e-2


def test_a_decoder_without_positions_learns_of_order_in_its_second_layer(no_positions: Translator) -> None:
    trace = no_positions.trace_tokens(TEXT, list(range(20, 30)))
    result = swap_earlier_tokens(no_positions, trace, 2, 5)
    assert result.differences[0] < 1e-4 < 1e-3 < result.differences[1]
    assert result.tokens[2] == trace.target_tokens[5]


def test_the_first_layer_with_positions_tells_the_order_already(translator: Translator) -> None:
    trace = translator.trace_tokens(TEXT, list(range(20, 30)))
    assert swap_earlier_tokens(translator, trace, 2, 5).differences[0] > 1e-3


def test_rows_that_cannot_be_swapped_are_an_error(translator: Translator) -> None:
    trace = translator.trace_tokens(TEXT, list(range(20, 30)))
    with pytest.raises(TraceError, match="from 1 to 8"):
        swap_earlier_tokens(translator, trace, 0, 3)

"""What positional encodings can do, against plain Python and by hand; what depends on the order of words."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model import Transformer, Translator
from model.adapters.text_reader import TextReader
from model.analysis.ablations.outputs import read_backwards, swap_earlier_tokens
from model.analysis.positions import (
    compare_rows,
    dimension_wave,
    position_schemes,
    products_at_distances,
    rotation,
    rotation_residual,
    wavelengths,
)
from model.errors import TraceError
from model.nn.layers import encode_positions
from model.opening import open_reader
from tests.model.adapters.zoo import save_model
from tests.often import often

SETTINGS = [(16, 10_000.0), (64, 100.0), (2, 10_000.0), (256, 2.0)]


def table(count: int, d_model: int, base: float) -> torch.Tensor:
    return encode_positions(torch.arange(count, dtype=torch.float64), d_model, base=base)


@pytest.mark.parametrize(("d_model", "base"), SETTINGS)
def test_the_dot_product_depends_on_the_distance_alone(d_model: int, base: float) -> None:
    rows = table(40, d_model, base)
    expected = products_at_distances(40, d_model, base=base)
    for p in range(40):
        for q in range(p, 40):
            product = sum(a * b for a, b in zip(rows[p].tolist(), rows[q].tolist(), strict=True))
            assert product == pytest.approx(expected[q - p].item(), abs=1e-9)


@pytest.mark.parametrize("shift", [0, 7])
@pytest.mark.parametrize(("d_model", "base"), SETTINGS)
def test_rotating_by_a_shift_is_the_encoding_of_the_shifted_position(d_model: int, base: float, shift: int) -> None:
    rows = table(100, d_model, base).tolist()
    turns = rotation(shift, d_model, base=base).tolist()
    for p in range(100 - shift):
        for pair, ((a, b), (c, d)) in enumerate(turns):
            sine, cosine = rows[p][2 * pair : 2 * pair + 2]
            assert a * sine + b * cosine == pytest.approx(rows[p + shift][2 * pair], abs=1e-12)
            assert c * sine + d * cosine == pytest.approx(rows[p + shift][2 * pair + 1], abs=1e-12)


@pytest.mark.parametrize(("d_model", "base"), SETTINGS)
def test_a_wave_comes_again_after_its_length_and_goes_through_each_position(d_model: int, base: float) -> None:
    rows, lengths = table(9, d_model, base), wavelengths(d_model, base=base).tolist()
    assert len(lengths) == d_model // 2
    for dimension in {0, 1, d_model // 2, d_model - 1}:
        where, wave = dimension_wave(dimension, 9, d_model, base=base)
        assert where[[0, -1]].tolist() == [0, 8]
        steps = where.diff()
        torch.testing.assert_close(steps, steps[:1].expand(len(steps)))
        at = [where.tolist().index(position) for position in range(9)]
        torch.testing.assert_close(wave[at], rows[:, dimension])
        # Pair after pair, its sine and its cosine.
        offset = np.sin if dimension % 2 == 0 else np.cos
        np.testing.assert_allclose(wave, offset(2 * np.pi * where.numpy() / lengths[dimension // 2]), atol=1e-9)


def test_what_rotating_misses_is_the_rounding_of_the_table() -> None:
    found = rotation_residual(50, 16, shift=7, base=100.0)
    assert found.float64 < 1e-12
    # float32 has 24 bits: numbers up to 1 are rounded by 6e-8 at most, and each is the sum of two products.
    assert 1e-8 < found.float32 < 1e-6


def test_a_bias_by_distance_is_told_of_each_self_attention(tmp_path: Path) -> None:
    reader = open_reader(save_model(tmp_path / "model", "t5"), device="cpu")
    assert isinstance(reader, TextReader)
    model: Any = reader.model
    trace = reader.trace("The animal was tired.")
    schemes = position_schemes(reader, trace, 7)
    assert [(scheme.what, scheme.site) for scheme in schemes] == [("bias", "encoder.self"), ("bias", "decoder.self")]
    for scheme, stack in zip(schemes, (model.encoder, model.decoder), strict=True):
        count = trace.attention(scheme.site, 0).mask.num_queries
        bias = stack.block[0].layer[0].SelfAttention.compute_bias(count, count)[0].detach()
        for query, key in np.ndindex(count, count):
            if stack is model.encoder or key <= query:
                assert torch.equal(scheme.values[:, key - query - scheme.first], bias[:, query, key])


#: Model → where its table is, and the row of its first position: some keep two rows for padding.
TABLES = {
    "bert": ("embeddings.position_embeddings", 0),
    "bart": ("encoder.embed_positions", 2),
    "biogpt": ("embed_positions", 2),
    "openai-gpt": ("positions_embed", 0),
}


@pytest.mark.parametrize("model_type", often(TABLES, ("bert", "biogpt")))
def test_a_table_begins_with_the_row_of_the_first_position(model_type: str, tmp_path: Path) -> None:
    reader = open_reader(save_model(tmp_path / "model", model_type), device="cpu")
    assert isinstance(reader, TextReader)
    path, first = TABLES[model_type]
    model: Any = reader.model
    table = model.base_model.get_submodule(path).weight
    for text in ("The animal was tired.", "it"):
        (scheme,) = position_schemes(reader, reader.trace(text), 7)
        assert scheme.what == "table"
        torch.testing.assert_close(scheme.values, table[first : first + 7].detach())


@pytest.mark.parametrize("model_type", ["llama", "phi"])
def test_the_angles_of_rotary_positions_are_those_by_which_a_model_rotates(model_type: str, tmp_path: Path) -> None:
    reader = open_reader(save_model(tmp_path / "model", model_type), device="cpu")
    assert isinstance(reader, TextReader)
    model: Any = reader.model
    rotary = model.base_model.rotary_emb
    own = type(rotary).__name__
    expected = rotary.inv_freq.clone()
    # Whatever its numbers are called.
    del rotary.inv_freq
    rotary.angles = expected

    rotary.__class__ = type(own, (type(rotary),), {"inv_freq": property(lambda self: self.angles)})
    (scheme,) = position_schemes(reader, reader.trace("The animal was tired."), 7)
    assert scheme.what == "angles"
    torch.testing.assert_close(scheme.values, (torch.arange(7)[:, None] * expected).cos(), atol=1e-5, rtol=0)
    # A single token stands where nothing is rotated.
    trace = reader.trace("it")
    (alone,) = position_schemes(reader, replace(trace, target_ids=trace.target_ids[:1]), 7)
    torch.testing.assert_close(alone.values, scheme.values, atol=1e-5, rtol=0)


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


def test_a_decoder_without_positions_learns_of_order_in_its_second_layer(no_positions: Translator) -> None:
    trace = no_positions.trace_tokens(TEXT, list(range(20, 30)))
    result = swap_earlier_tokens(no_positions, trace, 2, 5)
    assert result.differences[0] < 1e-4 < 1e-3 < result.differences[1]
    assert result.tokens[2] == trace.target_tokens[5]


def test_any_rows_but_the_first_and_the_last_can_be_swapped(translator: Translator) -> None:
    trace = translator.trace_tokens(TEXT, list(range(20, 30)))
    read = list(trace.target_tokens)
    read[1], read[8] = read[8], read[1]
    assert swap_earlier_tokens(translator, trace, 1, 8).tokens == tuple(read)
    for rows in ((0, 3), (3, 3), (3, 9)):
        with pytest.raises(TraceError, match=f"rows 1 to 8 can be swapped, got {rows[0]} and {rows[1]}"):
            swap_earlier_tokens(translator, trace, *rows)


def test_each_pair_of_rows_has_its_product_and_its_distance() -> None:
    rows = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
    found = compare_rows(rows, 2 * rows)
    pairs = zip(
        found.first.tolist(), found.second.tolist(), found.products.tolist(), found.distances.tolist(), strict=True
    )
    assert list(pairs) == [(0, 1, 2.0, 1), (0, 2, 0.0, 2), (1, 2, 3.0, 1)]
    # Products of the one are four times those of the other: they explain all of it.
    assert found.explained == pytest.approx(1)

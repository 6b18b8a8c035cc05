"""Parts of other people's layers, found by their sums, and what a step of their decoders costs."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from model.adapters.decoder_sizes import library_sizes
from model.adapters.library import new_cache
from model.adapters.text_reader import TextReader
from model.analysis.residual_stream.token_path import follow
from model.decoding.cost import step_cost
from model.errors import TraceError
from model.opening import open_reader
from model.parts.weights import Stack
from model.trace.trace import Trace
from tests.model.adapters.zoo import KINDS, random_reader, save_model, tiny, writer

pytestmark = pytest.mark.usefixtures("short_texts")
TEXT = "The animal was too tired."


def read_with(model_type: str) -> tuple[TextReader, Trace]:
    """A random model that reads a text, and its trace."""
    own = random_reader(model_type)
    return own, own.trace(TEXT, "It was old." if KINDS[model_type] == "encoder-decoder" else None)


@torch.inference_mode()
@pytest.mark.parametrize(
    ("model_type", "is_gated"),
    [("llama", True), ("qwen3", True), ("mt5", True), ("modernbert", True), ("phi3", True)]
    + [(ungated, False) for ungated in ("gpt2", "opt", "phi", "bert", "bart", "t5")],
)
def test_a_feed_forward_network_is_gated_where_its_units_are_products(model_type: str, is_gated: bool) -> None:
    own, trace = read_with(model_type)
    stack: Stack = "encoder" if trace.source_tokens else "decoder"
    for layer in follow(own, trace, stack, 2).layers:
        assert layer[-1].hidden is not None
        assert layer[-1].is_gated == is_gated
    if model_type == "llama":
        network, unit = own.model.get_submodule("model.layers.1.mlp"), layer[-1]
        gate, up = (network.get_submodule(f"{name}_proj")(unit.read) for name in ("gate", "up"))
        torch.testing.assert_close(unit.hidden, torch.nn.functional.silu(gate) * up, atol=1e-5, rtol=1e-4)


def test_what_a_model_multiplies_before_it_adds_it_is_found_with_its_heads() -> None:
    reader = writer("granite")
    for layer in reader.model.base_model.layers:  # type: ignore[union-attr]
        layer.residual_multiplier = 0.3
    path = follow(reader, reader.trace(TEXT), "decoder", 1)
    assert path.deviation < 1e-5
    for layer in path.layers:
        assert layer[0].heads is not None
        torch.testing.assert_close(layer[0].heads.parts.sum(0), layer[0].added, atol=1e-5, rtol=1e-4)


SOURCE, PROMPT, WRITTEN = [5, 9, 17, 4, 33, 8, 3], [7, 11, 12, 50], [6, 13]
DOG = "The dog was tired."


def opened_as(folder: Path, name: str) -> TextReader:
    reader = open_reader(save_model(folder, name, "bytes" if name in ("gpt2", "llama", "opt") else "metaspace"))
    assert isinstance(reader, TextReader)
    return reader


def multiplied(module: nn.Module, **given: Any) -> tuple[int, Any]:
    """Multiply-adds of a run by matrices and attention; a turning of positions is none of them."""
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        output = module(**given)
    counts = {name: sum(operations.values()) // 2 for name, operations in counter.get_flop_counts().items()}
    turned = sum(count for name, count in counts.items() if name.endswith("rotary_emb"))
    return counts["Global"] - turned, output


@pytest.mark.parametrize("name", ["gpt2", "opt", "llama", "gemma2"])
def test_every_step_of_a_decoder_costs_what_torch_multiplies(tmp_path: Path, name: str) -> None:
    reader, theirs = opened_as(tmp_path, name), tiny(name)
    sizes = library_sizes(reader, reader.trace(DOG))
    # As Headlight writes: with every row kept, also where a layer looks no further than a window.
    ids, cache = [*PROMPT, *WRITTEN], new_cache(has_encoder=False)
    for step in range(len(WRITTEN) + 1):
        length = len(PROMPT) + step
        cost = step_cost(sizes, 0, step, len(PROMPT))
        held = sum(0 if layer.keys is None else layer.keys.numel() + layer.values.numel() for layer in cache.layers)
        new = ids[length - 1 : length] if step else ids[:length]
        mask = torch.ones(1, length, dtype=torch.long)
        cached, _ = multiplied(
            theirs,
            input_ids=torch.tensor([new]),
            past_key_values=cache,
            attention_mask=mask,
            use_cache=True,
            **last(theirs),
        )
        anew, _ = multiplied(theirs, input_ids=torch.tensor([ids[:length]]), use_cache=False, **last(theirs))
        assert cost.cached.total == cached - unread(theirs, len(new))
        assert cost.recomputed.total == anew - unread(theirs, length)
        assert cost.reused_numbers == held


def last(model: nn.Module) -> dict[str, int]:
    return {"logits_to_keep": 1} if "logits_to_keep" in model.forward.__code__.co_varnames else {}


def unread(model: nn.Module, rows: int) -> int:
    """Of a model that cannot be asked for its last row alone, the logits of the others."""
    table = model.get_output_embeddings().weight  # type: ignore[operator]
    return 0 if last(model) else (rows - 1) * table.numel()


@pytest.mark.parametrize("name", ["bart", "t5"])
def test_every_step_of_a_decoder_behind_an_encoder_costs_what_torch_multiplies(tmp_path: Path, name: str) -> None:
    reader, theirs = opened_as(tmp_path, name), tiny(name)
    # No name says what multiplies the encoder's rows.
    for attention in {reader.attention_of("decoder.cross", layer)[0] for layer in range(2)}:
        for part, matrix in list(attention.named_children()):
            if isinstance(matrix, nn.Linear):
                setattr(attention, part, nn.Sequential(matrix))
    sizes = library_sizes(reader, reader.trace(DOG, DOG))
    decoder = theirs.get_decoder()
    memory, cache, ids = torch.randn(1, len(SOURCE), 32), None, [0, *WRITTEN]
    for step in range(len(WRITTEN) + 1):
        cost = step_cost(sizes, len(SOURCE), step)
        given = {"encoder_hidden_states": memory}
        cached, output = multiplied(
            decoder, input_ids=torch.tensor([[ids[step]]]), past_key_values=cache, use_cache=True, **given
        )
        anew, _ = multiplied(decoder, input_ids=torch.tensor([ids[: step + 1]]), use_cache=False, **given)
        assert cost.cached.total - cost.cached.output_projection == cached
        assert cost.recomputed.total - cost.recomputed.output_projection == anew
        cache = output.past_key_values
    assert cost.cached.output_projection == theirs.get_output_embeddings().weight.numel()


def test_experts_and_models_that_give_weights_only_are_not_counted(tmp_path: Path) -> None:
    for name, why in (("gpt_oss", "experts"), ("bloom", "Only the attention weights")):
        reader = open_reader(save_model(tmp_path / name, name, "bytes"))
        assert isinstance(reader, TextReader)
        with pytest.raises(TraceError, match=why):
            library_sizes(reader, reader.trace(DOG))

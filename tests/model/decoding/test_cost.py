"""The closed form of a decoding step's cost counts what torch multiplies, part by part."""

from collections.abc import Callable
from dataclasses import asdict, replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from model import Transformer, TransformerConfig, decoder_sizes, step_cost
from model.nn.encoder_decoder import DecoderCache
from model.nn.hooks import listen

TINY = TransformerConfig(vocab_size=90, d_model=24, num_layers=2, num_heads=3, d_ff=40)
SHAPES = [TINY, replace(TINY, norm="pre", num_layers=3, d_ff=56, share_embeddings=False)]
SOURCE = [5, 9, 17, 4, 33, 8, 3]
PREFIX = [2, 7, 7, 12, 50, 6]


def multiplied(run: Callable[[], object], num_layers: int) -> dict[str, int]:
    """Multiply-adds of a run of the decoder by part; torch counts two operations for each."""
    # The counter knows matrix products, but not the fused kernel of a CPU: recording weights takes the explicit path.
    with torch.inference_mode(), listen(record={"hook_weights"}), FlopCounterMode(display=False) as counter:
        run()
    counts = {name: sum(operations.values()) // 2 for name, operations in counter.get_flop_counts().items()}

    def of(part: str) -> int:
        return sum(counts.get(f"TransformerDecoder.layers.{layer}.{part}", 0) for layer in range(num_layers))

    work = {"feed_forward": of("feed_forward")}
    for site in ("self", "cross"):
        work[f"{site}_projections"] = sum(
            of(f"{site}_attention.{name}") for name in ("query", "key", "value", "output")
        )
        work[f"{site}_attention"] = of(f"{site}_attention") - work[f"{site}_projections"]
    work["output_projection"] = counts["Global"] - counts["TransformerDecoder"]
    return work


@pytest.mark.parametrize("config", SHAPES, ids=["post", "pre"])
def test_every_step_costs_what_torch_multiplies_with_the_cache_and_without(config: TransformerConfig) -> None:
    model = Transformer(config).eval()
    with torch.inference_mode():
        memory = model.encode(torch.tensor([SOURCE]))
    cache = model.new_cache()
    for step, token_id in enumerate(PREFIX):
        cost = step_cost(decoder_sizes(config), len(SOURCE), step)
        last, prefix = torch.tensor([[token_id]]), torch.tensor([PREFIX[: step + 1]])
        before = kept(cache)
        cached = multiplied(lambda: model.projection(model.decode(last, memory, cache=cache)), config.num_layers)  # noqa: B023
        anew = multiplied(lambda: model.projection(model.decode(prefix, memory)[:, -1]), config.num_layers)  # noqa: B023
        assert asdict(cost.cached) == cached
        assert asdict(cost.recomputed) == anew
        assert cost.reused_numbers == before
        assert cost.saved == sum(anew.values()) - sum(cached.values())


def kept(cache: DecoderCache) -> int:
    return sum(held.numel() for layer in cache.layers for rows in layer for held in rows.tensors)


def test_rows_computed_and_reused_make_up_all_that_is_read() -> None:
    for step in range(4):
        cost = step_cost(decoder_sizes(TINY), 7, step)
        assert cost.new_target_rows + cost.reused_target_rows == step + 1
        assert cost.new_source_rows + cost.reused_source_rows == 7
    assert step_cost(decoder_sizes(TINY), 7, 0).saved == 0


@pytest.mark.parametrize(("source_length", "step"), [(0, 1), (5, -1)])
def test_a_step_that_cannot_be_has_no_cost(source_length: int, step: int) -> None:
    with pytest.raises(ValueError, match="steps count from 0"):
        step_cost(decoder_sizes(TINY), source_length, step)

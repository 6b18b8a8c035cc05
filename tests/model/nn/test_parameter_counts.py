"""The closed form counts what the modules hold, part by part."""

from collections import Counter
from dataclasses import asdict, replace

import pytest
import torch

from model import Transformer, TransformerConfig
from model.config import PRESETS
from model.decoding.cost import count_parameters

TINY = TransformerConfig(vocab_size=370, d_model=32, num_layers=2, num_heads=4, d_ff=64)
SHAPES = {
    "tiny, post, shared": TINY,
    "tiny, pre, shared": replace(TINY, norm="pre"),
    "tiny, post, three matrices": replace(TINY, share_embeddings=False),
    "tiny, pre, three matrices": replace(TINY, norm="pre", share_embeddings=False),
    **PRESETS,
}


def part_of(name: str) -> str:
    """The part to which a parameter belongs, by its module's path."""
    if "norm" in name:
        return "norms"
    if "embedding" in name or "projection" in name:
        return "embedding"
    if ".cross_attention." in name:
        return "cross_attention"
    kind = "feed_forward" if ".feed_forward." in name else "self_attention"
    return f"{name.partition('.')[0]}_{kind}"


@pytest.mark.parametrize("config", SHAPES.values(), ids=SHAPES.keys())
def test_every_part_has_as_many_parameters_as_its_modules(config: TransformerConfig) -> None:
    with torch.device("meta"):
        model = Transformer(config)
    real: Counter[str] = Counter()
    for name, parameter in model.named_parameters():
        real[part_of(name)] += parameter.numel()
    counted = count_parameters(config)
    assert asdict(counted) == dict(real)
    assert counted.total == sum(parameter.numel() for parameter in model.parameters())


def test_base_and_big_are_of_the_size_that_the_paper_states() -> None:
    # Table 3: 65 and 213 million, to the vocabulary's rounding.
    assert count_parameters(PRESETS["base"]).total == pytest.approx(65e6, rel=0.05)
    assert count_parameters(PRESETS["big"]).total == pytest.approx(213e6, rel=0.02)

"""A small random checkpoint of Headlight's own, made from nothing. Measures nothing."""

from pathlib import Path

import torch

from model import Transformer, TransformerConfig
from model.checkpoint import save_checkpoint
from model.tokenizer import Tokenizer
from tests.conftest import SENTENCES


def save_small(root: Path) -> Path:
    """A folder of checkpoints with one called "en-de" in it, as the tests use it."""
    config = TransformerConfig(
        vocab_size=370, d_model=32, num_layers=2, num_heads=4, d_ff=64, max_length=64, norm="pre"
    )
    torch.manual_seed(7)
    save_checkpoint(root / "en-de", Transformer(config).eval(), Tokenizer.train(SENTENCES, config), card="Random.\n")
    return root

"""The smallest Headlight model: one layer and one head a stack, and its translations end at the first step."""

from pathlib import Path
from typing import Final

import torch

from model import Transformer, TransformerConfig
from model.checkpoint import save_checkpoint
from model.tokenizer import Tokenizer

#: Of one token and `</s>`.
TEXT: Final = "a"


def save_smallest(folder: Path, tokenizer: Tokenizer) -> None:
    """A checkpoint of random weights."""
    config = TransformerConfig(
        vocab_size=370, d_model=32, num_layers=1, num_heads=1, d_ff=64, max_length=64, norm="pre"
    )
    torch.manual_seed(7)
    model = Transformer(config).eval()
    with torch.no_grad():
        # Column 7 of the positions is a cosine, 1 at the first: the end is what the first step writes.
        model.decoder.embedding.tokens.weight[config.eos_id, 7] += 20
    save_checkpoint(folder, model, tokenizer, card="Random weights, for tests.\n")

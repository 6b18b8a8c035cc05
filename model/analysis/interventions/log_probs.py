"""Compute log-probabilities of chosen tokens without holding all logits at once."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.decoding.logit_blocks import logit_blocks
from model.nn.transformer import Transformer


def log_probs_of(
    model: Transformer, hidden: Float[Tensor, "row d_model"], chosen: Int[Tensor, "row"]
) -> Float[Tensor, "row"]:
    """log softmax(hidden · projection) at the chosen token of each row, in nats, float32.

    Args:
        model: whose projection to the vocabulary is used.
        hidden: rows of the decoder's output.
        chosen: a token id for each.
    """
    blocks = zip(*(logit_blocks(rows, model.config.vocab_size) for rows in (hidden, chosen)), strict=True)
    return torch.cat([_of_block(model, *block) for block in blocks])


def _of_block(
    model: Transformer, hidden: Float[Tensor, "row d_model"], chosen: Int[Tensor, "row"]
) -> Float[Tensor, "row"]:
    log_probs: Tensor = model.projection(hidden).float().log_softmax(-1)
    return log_probs.gather(1, chosen[:, None])[:, 0]

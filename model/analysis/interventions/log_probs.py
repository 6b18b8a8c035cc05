"""Compute log-probabilities of chosen tokens without holding all logits at once."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.decoding.logit_blocks import logit_blocks
from model.nn.encoder_decoder import EncoderDecoder


def log_probs_of(
    model: EncoderDecoder, hidden: Float[Tensor, "row d_model"], chosen: Int[Tensor, "row"]
) -> Float[Tensor, "row"]:
    """log softmax(hidden · projection) at the chosen token of each row of the decoder's output, in nats, float32."""
    blocks = zip(*(logit_blocks(rows, model.config.vocab_size) for rows in (hidden, chosen)), strict=True)
    return torch.cat(
        [model.projection(rows).float().log_softmax(-1).gather(1, ids[:, None])[:, 0] for rows, ids in blocks]
    )

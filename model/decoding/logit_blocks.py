"""Cut rows into blocks so small that the logits of a block fit into memory, and ask for chosen tokens alone."""

from typing import Final

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from model.nn.encoder_decoder import EncoderDecoder

#: 16 MiB in float32; vocabulary × rows × layers of a long sentence would be hundreds of times as much.
LOGITS_AT_ONCE: Final = 1 << 22


def logit_blocks(rows: Shaped[Tensor, "row *rest"], vocab_size: int) -> tuple[Shaped[Tensor, "_block *rest"], ...]:
    """The rows in order, cut so that a block has at most `LOGITS_AT_ONCE` logits, or is a single row."""
    return torch.split(rows, max(1, LOGITS_AT_ONCE // vocab_size))


def log_probs_of(
    model: EncoderDecoder, hidden: Float[Tensor, "row d_model"], chosen: Int[Tensor, "row"]
) -> Float[Tensor, "row"]:
    """log softmax(hidden · projection) at the chosen token of each row of the decoder's output, in nats, float32."""
    blocks = zip(*(logit_blocks(rows, model.config.vocab_size) for rows in (hidden, chosen)), strict=True)
    return torch.cat(
        [model.projection(rows).float().log_softmax(-1).gather(1, ids[:, None])[:, 0] for rows, ids in blocks]
    )


def logits_of(
    model: EncoderDecoder, hidden: Float[Tensor, "row d_model"], chosen: Int[Tensor, "row k"]
) -> Float[Tensor, "row k"]:
    """The logits of k chosen tokens in each row of the decoder's output, float32."""
    blocks = zip(*(logit_blocks(rows, model.config.vocab_size) for rows in (hidden, chosen)), strict=True)
    return torch.cat([model.projection(rows).float().gather(1, ids) for rows, ids in blocks])

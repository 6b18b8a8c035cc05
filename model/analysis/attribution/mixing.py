"""Follow shares through the layers of an encoder and a decoder, as rollout does, to the tokens that were read.

A layer's matrix says which share of each of its output positions comes from which input position, and in a decoder also
from which position of the memory. Rows sum to 1; products of such matrices do too (Abnar & Zuidema 2020, §3).
"""

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor


class DecoderMix(NamedTuple):
    """Shares of a decoder layer: of each row in the prefix's rows below it, and in the positions of the memory."""

    prefix: Float[Tensor, "row row"]
    source: Float[Tensor, "row source"]


def through_encoder(layers: Iterable[Float[Tensor, "source source"]]) -> Float[Tensor, "source source"]:
    """The share of each source token in each position of the memory."""
    return reduce(lambda below, layer: layer @ below, layers)


def through_decoder(layers: Iterable[DecoderMix], memory: Float[Tensor, "source source"]) -> DecoderMix:
    """The share of each prefix token and of each source token in each row of the decoder's output."""
    rows: DecoderMix | None = None
    for layer in layers:
        from_memory = layer.source @ memory
        if rows is None:
            rows = DecoderMix(layer.prefix, from_memory)
        else:
            rows = DecoderMix(layer.prefix @ rows.prefix, from_memory + layer.prefix @ rows.source)
    assert rows is not None, "a decoder has layers"
    return rows


def shares(amounts: Float[Tensor, "row part"], own: Int[Tensor, "row"]) -> Float[Tensor, "row part"]:
    """Amounts, none below 0, as shares of their row; where all are 0, nothing moved, and all is the part `own`."""
    totals = amounts.sum(-1, keepdim=True)
    stays = torch.nn.functional.one_hot(own, amounts.size(1)).to(amounts)
    return torch.where(totals > 0, amounts / torch.where(totals > 0, totals, 1.0), stays)

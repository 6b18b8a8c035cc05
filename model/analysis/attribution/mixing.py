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

from model.analysis.attribution.choice import TokenScores
from model.analysis.residual_stream.additions import Stack


class Mix(NamedTuple):
    """Shares of a layer: of each row in the rows below it, and in the positions of the memory, if it reads one."""

    stack: Stack
    within: Float[Tensor, "row row"]
    across: Float[Tensor, "row source"]


def of_row(layers: Iterable[Mix], row: int) -> TokenScores:
    """The share of each token in a row of the last stack, which has no shares in what comes later.

    Args:
        layers: those of the encoder first, if there is one.
        row: of the decoder, or of an encoder alone.
    """
    mixes = list(layers)
    encoder = [layer.within for layer in mixes if layer.stack == "encoder"]
    decoder = [layer for layer in mixes if layer.stack == "decoder"]
    memory = through_encoder(encoder) if encoder else torch.zeros(0, 0)
    if not decoder:
        return TokenScores(memory[row], torch.zeros(0))
    prefix, source = through_decoder(decoder, memory)
    return TokenScores(source[row], prefix[row, : row + 1])


def through_encoder(layers: Iterable[Float[Tensor, "source source"]]) -> Float[Tensor, "source source"]:
    """The share of each source token in each position of the memory."""
    return reduce(lambda below, layer: layer @ below, layers)


def through_decoder(
    layers: Iterable[Mix], memory: Float[Tensor, "source source"]
) -> tuple[Float[Tensor, "row row"], Float[Tensor, "row source"]]:
    """The share of each prefix token and of each source token in each row of the decoder's output."""
    first, *rest = layers
    prefix, source = first.within, first.across @ memory
    for layer in rest:
        prefix, source = layer.within @ prefix, layer.across @ memory + layer.within @ source
    return prefix, source


def shares(amounts: Float[Tensor, "row part"], own: Int[Tensor, "row"]) -> Float[Tensor, "row part"]:
    """Amounts, none below 0, as shares of their row; where all are 0, nothing moved, and all is the part `own`."""
    totals = amounts.sum(-1, keepdim=True)
    stays = torch.nn.functional.one_hot(own, amounts.size(1)).to(amounts)
    return torch.where(totals > 0, amounts / torch.where(totals > 0, totals, 1.0), stays)

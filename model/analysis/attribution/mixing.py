"""ALTI and value zeroing: follow shares through the layers, as rollout does, to the tokens that were read.

A layer's matrix says which share of each of its output positions comes from which input position, and in a decoder also
from which position of the memory. Rows sum to 1; products of such matrices do too (Abnar & Zuidema 2020, §3).

`alti`: how much each token contributes to each vector, layer by layer, and through all layers. Ferrando, Gállego &
Costa-jussà 2022 ("Measuring the Mixing of Contextual Information in the Transformer") for the encoder; Ferrando et al.
2022 ("Towards Opening the Black Box of Neural Machine Translation", ALTI+) for the decoder. What an attention and its
residual connection put out is a sum of transformed vectors, y_i = Σ_j T_i(x_j) + bias, and

    c_ij = max(0, ‖y_i‖₁ − ‖y_i − T_i(x_j)‖₁), as a share of Σ_j c_ij.

With post-norm the norm is part of T, as a linear map with the standard deviation that it had. Feed-forward networks act
on each position by itself and move nothing between them.

`value_zeroing`: how far each output of a layer turns when the values of one token are taken away. Mohebbi, Zuidema,
Chrupała & Alishahi 2023 ("Quantifying Context Mixing in Transformers"): the distance is 1 − cosine, of outputs of the
whole layer, with its residual connections, norms and feed-forward network; rows are scaled to sum to 1 and followed
through the layers as in rollout. The paper does so for encoders; in a decoder's layer the values of both attentions,
over the prefix and over the memory, are taken away one by one, and share a row.
"""

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import normalize

from model.analysis.attribution.choice import AttentionSum, ChoiceRun, LayerRun, LayerSums, TokenScores
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
    memory = reduce(lambda below, layer: layer @ below, encoder) if encoder else torch.zeros(0, 0)
    if not decoder:
        return TokenScores(memory[row], torch.zeros(0))
    prefix, source = through_decoder(decoder, memory)
    return TokenScores(source[row], prefix[row, : row + 1])


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


@torch.no_grad()
def alti(run: ChoiceRun) -> TokenScores:
    """The share of each token that was read in what the last stack puts out at the row of the choice; they sum to 1.

    Raises a TraceError if what the model's attentions put out cannot be taken apart.
    """
    return of_row(map(_mix, run.sums()), run.choice.place.row)


def contributions(attention: AttentionSum) -> Float[Tensor, "row part"]:
    """c_ij of an attention, as shares of its parts."""
    parts, output = attention.parts, attention.output
    nearer = output.abs().sum(-1)[:, None] - (output[:, None] - parts).abs().sum(-1)
    rows = torch.arange(len(parts))
    return shares(nearer.clamp_min(0.0), torch.full_like(rows, parts.size(1) - 1) if attention.is_across else rows)


def _mix(layer: LayerSums) -> Mix:
    within = contributions(layer.within)
    if layer.across is None:
        return Mix(layer.stack, within, within[:, :0])
    across = contributions(layer.across)
    return Mix(layer.stack, across[:, -1:] * within, across[:, :-1])


#: Rows that are run through a layer at once.
ROWS_AT_ONCE = 4_000


@torch.no_grad()
def value_zeroing(run: ChoiceRun) -> TokenScores:
    """The share of each token that was read in the row that makes the choice; they sum to 1.

    Raises a TraceError if the layers cannot be run by themselves.
    """
    mixes = []
    for layer in run.layers():
        away = torch.cat([distances(layer, site) for site in layer.keys], dim=1)
        mixed = shares(away, torch.arange(layer.rows))
        mixes.append(Mix(layer.stack, mixed[:, : layer.rows], mixed[:, layer.rows :]))
    return of_row(mixes, run.choice.place.row)


def distances(layer: LayerRun, site: str) -> Float[Tensor, "row key"]:
    """1 − cosine between a layer's outputs and those without the values of one key of an attention, on the CPU.

    It is computed as ½ ‖u/‖u‖ − v/‖v‖‖²: most outputs hardly turn, and 1 − cosine would be rounding alone.
    """
    whole, columns = normalize(layer.without(site, ()).float(), dim=-1), []
    for some in torch.split(torch.arange(layer.keys[site]), max(1, ROWS_AT_ONCE // layer.rows)):
        changed = normalize(layer.without(site, some.tolist()).float(), dim=-1)
        columns.append((changed - whole).square().sum(-1) / 2)
    return torch.cat(columns).T.cpu()

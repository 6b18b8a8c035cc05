"""ALTI: how much each token contributes to each vector, layer by layer, and through all layers.

Ferrando, Gállego & Costa-jussà 2022 ("Measuring the Mixing of Contextual Information in the Transformer") for the
encoder; Ferrando et al. 2022 ("Towards Opening the Black Box of Neural Machine Translation", ALTI+) for the decoder.
What an attention and its residual connection put out is a sum of transformed vectors, y_i = Σ_j T_i(x_j) + bias, and

    c_ij = max(0, ‖y_i‖₁ − ‖y_i − T_i(x_j)‖₁), as a share of Σ_j c_ij.

With post-norm the norm is part of T, as a linear map with the standard deviation that it had. Feed-forward networks act
on each position by itself and move nothing between them.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.attribution.choice import TokenScores
from model.analysis.attribution.choice_run import AttentionSum, ChoiceRun, LayerSums
from model.analysis.attribution.mixing import Mix, of_row, shares


@torch.no_grad()
def alti(run: ChoiceRun) -> TokenScores:
    """The share of each token that was read in what the last stack puts out at the row of the choice; they sum to 1.

    Raises:
        TraceError: what the model's attentions put out cannot be taken apart.
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

"""Layer norm and batch norm as equations, and both on the same small batch: the one works along rows, the other along
columns.

Layer norm: Ba, Kiros & Hinton 2016 (arXiv 1607.06450), the paper's LayerNorm (§3.1). Batch norm: Ioffe & Szegedy 2015
(arXiv 1502.03167), as in training: with the batch's own mean and variance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.residual_stream.capture import CapturedRun, Sublayer


@dataclass(frozen=True, eq=False, kw_only=True)
class NormedBatch:
    """The tokens of several sentences before and after both norms. Without what a norm learns: gain 1, bias 0.

    Attributes:
        tokens: all rows, one sentence after the other.
        sentences: of each row, the number of its sentence, from 0.
        row: of the token that is followed; it is in the first sentence.
    """

    tokens: tuple[str, ...]
    sentences: tuple[int, ...]
    row: int
    before: Float[Tensor, "row d_model"]
    layer_normed: Float[Tensor, "row d_model"]
    batch_normed: Float[Tensor, "row d_model"]


def layer_norm(
    x: Float[Tensor, "*rows d_model"],
    gain: Float[Tensor, "d_model"] | None = None,
    bias: Float[Tensor, "d_model"] | None = None,
    *,
    epsilon: float = 1e-5,
) -> Float[Tensor, "*rows d_model"]:
    """(x − mean) / √(variance + ε) · gain + bias, mean and variance of each row over its own d_model numbers."""
    centred = x - x.mean(-1, keepdim=True)
    normed = centred / (centred.square().mean(-1, keepdim=True) + epsilon).sqrt()
    scaled = normed if gain is None else normed * gain
    return scaled if bias is None else scaled + bias


def batch_norm(x: Float[Tensor, "row d_model"], *, epsilon: float = 1e-5) -> Float[Tensor, "row d_model"]:
    """(x − mean) / √(variance + ε), mean and variance of each column over all rows of the batch."""
    return layer_norm(x.T, epsilon=epsilon).T


def normed_batch(runs: Sequence[CapturedRun], sublayer: Sublayer, position: int) -> NormedBatch:
    """What the norm of a sub-layer reads of every token of these sentences, and what both norms make of it.

    Args:
        runs: of the sentence with the token that is followed, and of further ones, by the same model.
        sublayer: whose norm.
        position: of the token.
    """
    sides = [run.trace.source_tokens if sublayer.stack == "encoder" else run.trace.target_tokens for run in runs]
    before = torch.cat([run.norm_input(sublayer) for run in runs])
    epsilon = runs[0].norm_of(sublayer).eps
    return NormedBatch(
        tokens=tuple(token for side in sides for token in side),
        sentences=tuple(number for number, side in enumerate(sides) for _ in side),
        row=position,
        before=before,
        layer_normed=layer_norm(before, epsilon=epsilon),
        batch_normed=batch_norm(before, epsilon=epsilon),
    )

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

from model.analysis.attribution.gradients import TokenScores
from model.analysis.attribution.mixing import DecoderMix, shares, through_decoder, through_encoder
from model.analysis.residual_stream.capture import CapturedRun, Sublayer


def alti(run: CapturedRun, row: int) -> TokenScores:
    """The share of each source token and of each token before in what the decoder puts out at a row; they sum to 1."""
    encoder, decoder = range(run.count("encoder")), range(run.count("decoder"))
    memory = through_encoder(contributions(run, Sublayer("encoder", layer, "self")) for layer in encoder)
    rows = through_decoder((_of_decoder(run, layer) for layer in decoder), memory)
    return TokenScores(rows.source[row], rows.prefix[row, : row + 1])


def contributions(run: CapturedRun, sublayer: Sublayer) -> Float[Tensor, "row part"]:
    """c_ij of an attention, as shares; the parts are those of `transformed`."""
    parts, output = transformed(run, sublayer), run.after(sublayer)
    nearer = output.abs().sum(-1)[:, None] - (output[:, None] - parts).abs().sum(-1)
    rows = torch.arange(len(parts))
    return shares(nearer.clamp_min(0.0), rows if sublayer.kind == "self" else torch.full_like(rows, parts.size(1) - 1))


def transformed(run: CapturedRun, sublayer: Sublayer) -> Float[Tensor, "row part d_model"]:
    """T_i(x_j) of an attention. What the residual connection hands on is in the row's own part of a self-attention; in
    cross-attention, which reads another stack, it is one part more, the last."""
    assert sublayer.site is not None
    inputs = run.trace.attention(sublayer.site, sublayer.layer)
    output = run.translator.output_projection(sublayer.site, sublayer.layer)
    parts = torch.einsum("hij,hjd->ijd", inputs.weights().cpu(), inputs.values().cpu() @ output)
    stays = run.before(sublayer)
    if not run.translator.config.residual:
        stays = torch.zeros_like(stays)
    if sublayer.kind == "self":
        rows = torch.arange(len(parts))
        parts[rows, rows] += stays
    else:
        parts = torch.cat((parts, stays[:, None]), dim=1)
    if run.is_pre_norm:
        return parts
    norm = run.norm_of(sublayer)
    deviation = (run.norm_input(sublayer).var(-1, correction=0) + norm.eps).sqrt()
    return (parts - parts.mean(-1, keepdim=True)) / deviation[:, None, None] * norm.weight.detach().float().cpu()


def _of_decoder(run: CapturedRun, layer: int) -> DecoderMix:
    before = contributions(run, Sublayer("decoder", layer, "self"))
    across = contributions(run, Sublayer("decoder", layer, "cross"))
    return DecoderMix(across[:, -1:] * before, across[:, :-1])

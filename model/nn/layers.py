"""The sub-layers and layers of both stacks (§3.1, §3.3), post- or pre-norm."""

from collections.abc import Callable
from math import sqrt
from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from model.config import TransformerConfig
from model.errors import InputTextError
from model.nn.attention import MultiHeadAttention
from model.nn.encoder_decoder import DecoderInputs, LayerCache, TargetRows
from model.nn.hooks import HookPoint
from model.nn.masks import AttentionMask

PositionLayout = Literal["interleaved", "halves"]


def angular_frequencies(
    d_model: int, *, base: float = 10_000.0, device: torch.device | None = None
) -> Float[Tensor, "pair"]:
    """ω_i = base^(−2i/d_model), in radians per position, in float64.

    The sine and the cosine of the same angle pos · ω_i make pair i; `pair_dimensions` gives their columns.
    """
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64, device=device) / d_model
    return base**-exponents


def pair_dimensions(d_model: int, layout: PositionLayout = "interleaved") -> Int[Tensor, "pair 2"]:
    """The columns of the sine and of the cosine of each pair.

    Pair i has columns 2i and 2i+1 (§3.5), or, with `layout` "halves", columns i and i + d_model/2, as in Marian
    (Junczys-Dowmunt et al. 2018, after the paper's own program, tensor2tensor).
    """
    columns = torch.arange(d_model)
    return columns.view(-1, 2) if layout == "interleaved" else columns.view(2, -1).T


def encode_positions(
    positions: Float[Tensor, "position"],
    d_model: int,
    *,
    base: float = 10_000.0,
    layout: PositionLayout = "interleaved",
) -> Float[Tensor, "position d_model"]:
    """PE(pos, 2i) = sin(pos · ω_i), PE(pos, 2i+1) = cos(the same angle), in the number type of the positions.

    Args:
        positions: need not be whole numbers.
        d_model: number of columns, even.
        base: the paper's 10000; wavelengths run from 2π to nearly base · 2π.
        layout: of the columns, see `pair_dimensions`.
    """
    angles = positions.double()[:, None] * angular_frequencies(d_model, base=base, device=positions.device)
    values = torch.stack((angles.sin(), angles.cos()), dim=-1)
    encoding = torch.empty_like(angles.repeat(1, 2))
    encoding[:, pair_dimensions(d_model, layout)] = values
    return encoding.to(positions.dtype)


def sinusoidal_encoding(
    num_positions: int,
    d_model: int,
    *,
    first: int = 0,
    base: float = 10_000.0,
    layout: PositionLayout = "interleaved",
    device: torch.device | None = None,
) -> Float[Tensor, "position d_model"]:
    """`encode_positions` of the whole positions from `first` on, in float32: what the model adds.

    Angles are taken in float64: in float32 they are off by 1e-4 at position 1,000.
    """
    positions = torch.arange(first, first + num_positions, dtype=torch.float64, device=device)
    return encode_positions(positions, d_model, base=base, layout=layout).float()


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, at each position alike (§3.3, eq. 2)."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)
        self.hook_hidden = HookPoint()

    def forward(self, x: Float[Tensor, "batch position d_model"]) -> Float[Tensor, "batch position d_model"]:
        """Apply both linear maps with the ReLU between."""
        result: Tensor = self.outer(self.hook_hidden(F.relu(self.inner(x))))
        return result


class Residual(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))) (§3.1, §5.4); pre-norm: x + Dropout(Sublayer(LayerNorm(x))).

    A model without residual connections has the same without "x +".
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.is_pre_norm, self.adds_input = config.norm == "pre", config.residual
        self.norm = nn.LayerNorm(config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.hook_skip, self.hook_norm = HookPoint(), HookPoint()
        self.hook_sublayer, self.hook_sum, self.hook_normed = HookPoint(), HookPoint(), HookPoint()

    def forward(
        self, x: Float[Tensor, "batch position d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch position d_model"]:
        """Run the sub-layer inside this residual connection."""
        norm = self.hook_norm(self.norm)
        read = self.hook_normed(norm(x)) if self.is_pre_norm else x
        result: Tensor = self.hook_sublayer(self.dropout(sublayer(read)))
        if self.adds_input:
            result = self.hook_skip(x) + result
        result = self.hook_sum(result)
        return result if self.is_pre_norm else self.hook_normed(norm(result))


class Embedding(nn.Module):
    """Token embeddings scaled by √d_model, plus positions, then dropout (§3.4, §3.5, §5.4).

    Positions are sinusoids, or rows of a matrix that is learned and scaled as the tokens' is (Gehring et al. 2017; §3.5
    compares both), or none: then nothing is added, and `hook_positional` is never called.
    """

    positions: Tensor

    def __init__(self, config: TransformerConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.tokens = tokens
        self.scale = sqrt(config.d_model)
        self.scheme = config.positions
        self.dropout = nn.Dropout(config.dropout)
        self.hook_embedding, self.hook_positional = HookPoint(), HookPoint()
        if self.scheme == "learned":
            self.learned = nn.Embedding(config.num_positions, config.d_model)
        elif self.scheme == "sinusoidal":
            table = sinusoidal_encoding(config.num_positions, config.d_model)
            self.register_buffer("positions", table, persistent=False)

    def forward(
        self, token_ids: Int[Tensor, "batch position"], first: int = 0
    ) -> Float[Tensor, "batch position d_model"]:
        """Embed tokens at the positions from `first` on."""
        embedded = self.hook_embedding(self.tokens(token_ids) * self.scale)
        if self.scheme != "none":
            positions = self._positions(first, first + token_ids.size(1))
            embedded = embedded + self.hook_positional(positions.to(embedded.dtype))
        result: Tensor = self.dropout(embedded)
        return result

    def _positions(self, first: int, last: int) -> Float[Tensor, "position d_model"]:
        if self.scheme == "learned":
            if last > len(self.learned.weight):
                message = "This model has learned {num_weight:,} positions, but the text needs {last:,}; shorten it."
                raise InputTextError(message, num_weight=len(self.learned.weight), last=last)
            return self.learned.weight[first:last] * self.scale
        if last <= len(self.positions):
            return self.positions[first:last]
        width, device = self.positions.size(1), self.positions.device
        return sinusoidal_encoding(last - first, width, first=first, device=device)


class EncoderLayer(nn.Module):
    """Self attention, then feed-forward (§3.1)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.self_attention_residual = Residual(config)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.feed_forward_residual = Residual(config)
        self.hook_output = HookPoint()

    def forward(
        self, x: Float[Tensor, "batch source d_model"], mask: AttentionMask
    ) -> Float[Tensor, "batch source d_model"]:
        """Run the layer."""
        x = self.self_attention_residual(x, lambda y: self.self_attention(y, y, mask))
        x = self.feed_forward_residual(x, self.feed_forward)
        return self.hook_output(x)


class DecoderLayer(nn.Module):
    """Masked self attention, attention to the encoder's memory, then feed-forward (§3.1)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.self_attention_residual = Residual(config)
        self.cross_attention = MultiHeadAttention(config)
        self.cross_attention_residual = Residual(config)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.feed_forward_residual = Residual(config)
        self.hook_output = HookPoint()

    def forward(self, x: TargetRows, inputs: DecoderInputs, cache: LayerCache | None = None) -> TargetRows:
        """Run the layer on the target rows that the cache does not hold yet."""
        target, memory = cache or (None, None)
        x = self.self_attention_residual(x, lambda y: self.self_attention(y, y, inputs.target_mask, target))
        x = self.cross_attention_residual(
            x, lambda y: self.cross_attention(y, inputs.memory, inputs.memory_mask, memory)
        )
        x = self.feed_forward_residual(x, self.feed_forward)
        return self.hook_output(x)


def final_norm(config: TransformerConfig) -> nn.Module:
    """The norm after a pre-norm stack's last layer; a post-norm stack (§3.1) has none."""
    return nn.LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()


def initialise(module: nn.Module) -> None:
    """Xavier-uniform matrices, zero biases; embeddings of deviation d_model^−1/2, 1 when scaled."""
    for child in module.modules():
        if isinstance(child, nn.Linear):
            nn.init.xavier_uniform_(child.weight)
            if child.bias is not None:
                nn.init.zeros_(child.bias)
        elif isinstance(child, nn.Embedding):
            nn.init.normal_(child.weight, std=child.embedding_dim**-0.5)

"""The kinds of layer that Table 1 compares, each a map from n vectors to n vectors, with random weights.

`influence` says how far that of a token comes: |∂ output_i / ∂ input_j| after 1, 2, 3 … layers, by autograd. Table 1
gives "maximum path length", the steps that a signal takes between two positions; §4 argues that shorter paths make
long-range dependencies easier to learn (Hochreiter et al. 2001). Here the signal itself is measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, log
from types import MappingProxyType
from typing import Final, Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from model.config import TransformerConfig
from model.nn.attention import MultiHeadAttention, attention_weights
from model.nn.masks import AttentionMask

Kind = Literal["self-attention", "recurrent", "convolution", "dilated", "restricted"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
#: Exponents of n and of d in the paper's Table 1, "complexity per layer".
PAPER_EXPONENTS: Final[Mapping[Kind, tuple[int, int]]] = MappingProxyType(
    {"self-attention": (2, 1), "recurrent": (1, 2), "convolution": (1, 2), "dilated": (1, 2), "restricted": (1, 1)}
)
#: d_k of the paper's heads; a narrower layer has one head.
HEAD_WIDTH: Final = 64


@dataclass(frozen=True)
class Settings:
    """What the layers are made of."""

    kernel: int = 3  #: k, the width of a convolution, odd
    window: int = 9  #: r, the keys that a query of restricted self-attention sees, itself in the middle; odd


class WindowedAttention(MultiHeadAttention):
    """Self-attention in which a query sees the r keys around it, and no other score is computed (§4, "restricted")."""

    def __init__(self, config: TransformerConfig, window: int) -> None:
        super().__init__(config)
        self.window = window

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, mask: AttentionMask) -> Tensor:
        side = self.window // 2
        # [batch, head, query, place in the window, d_k], without a copy.
        keys, values = (
            F.pad(rows, (0, 0, side, side)).unfold(2, self.window, 1).transpose(-2, -1) for rows in (key, value)
        )
        places = torch.arange(query.size(2))[:, None] + torch.arange(self.window) - side
        inside = ((places >= 0) & (places < query.size(2)))[:, None].to(query.device)
        weights = attention_weights(query[..., None, :], keys, scale=self.scale, mask=inside).weights
        return (weights @ values)[..., 0, :]


class Layer(nn.Module):
    """One layer of a kind: [batch, position, d] → the same shape.

    `depth`: which layer of a stack it is, from 0: the dilation of a dilated convolution is k^depth.
    """

    def __init__(self, kind: Kind, width: int, settings: Settings, depth: int = 0) -> None:
        super().__init__()
        self.kind = kind
        self.inner: nn.Module
        if kind == "self-attention":
            self.inner = MultiHeadAttention(_config(width))
        elif kind == "restricted":
            self.inner = WindowedAttention(_config(width), settings.window)
        elif kind == "recurrent":
            self.inner = nn.GRU(width, width, batch_first=True)
        else:
            dilation = settings.kernel**depth if kind == "dilated" else 1
            self.inner = nn.Conv1d(width, width, settings.kernel, padding="same", dilation=dilation)

    def forward(self, x: Float[Tensor, "batch position d"]) -> Float[Tensor, "batch position d"]:
        """Run it."""
        if isinstance(self.inner, MultiHeadAttention):
            mask = AttentionMask(num_queries=x.size(1), num_keys=x.size(1), device=x.device)
            return self.inner(x, x, mask)  # type: ignore[no-any-return]
        if self.kind == "recurrent":
            return self.inner(x)[0]  # type: ignore[no-any-return]
        return self.inner(x.transpose(1, 2)).transpose(1, 2)  # type: ignore[no-any-return]


def _config(width: int) -> TransformerConfig:
    """Of a model whose attention is as wide; of the rest nothing is made."""
    heads = 1 if width % HEAD_WIDTH else width // HEAD_WIDTH
    return TransformerConfig(vocab_size=8, d_model=width, num_heads=heads, attention_dropout=0.0)


def random_layer(kind: Kind, width: int, settings: Settings, depth: int = 0) -> Layer:
    """A layer with the same random weights every time, as torch draws them for a new layer, in evaluation."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(depth)
        return Layer(kind, width, settings, depth).eval()


def multiply_adds(kind: Kind, length: int, width: int, settings: Settings) -> int:
    """Products added to a sum in one layer: n positions, d components.

    Self-attention has four projections of n d² and twice n² d for scores and values, of which Table 1 counts
    the latter; restricted to r keys, n r d. A GRU has six products of n d², three from the input and
    three from its state; a convolution has k n d².
    """
    square = length * width * width
    if kind == "recurrent":
        return 6 * square
    if kind in ("convolution", "dilated"):
        return settings.kernel * square
    keys = min(settings.window, length) if kind == "restricted" else length
    return 4 * square + 2 * length * keys * width


def sequential_steps(kind: Kind, length: int) -> int:
    """Steps of one layer that must wait for one another."""
    return length if kind == "recurrent" else 1


def layers_between_ends(kind: Kind, length: int, settings: Settings) -> int:
    """Layers until the first and the last of n positions have met; a recurrent layer needs one, of n steps."""
    if kind in ("self-attention", "recurrent") or length == 1:
        return 1
    if kind == "dilated":
        # The dilations 1, k, k², … reach (k^layers − 1) / 2 positions to each side.
        return max(1, ceil(log(2 * length - 1, settings.kernel) - 1e-9))
    reach = (settings.window if kind == "restricted" else settings.kernel) // 2
    return ceil((length - 1) / reach)


#: Positions, and components of each.
LENGTH, WIDTH = 32, 8


def influence(kind: Kind, layers: int, settings: Settings) -> list[Float[Tensor, "output input"]]:
    """‖∂ output_i / ∂ input_j‖ (Frobenius) after 1, 2 … `layers` random layers on a random input."""
    hidden = torch.randn(LENGTH, WIDTH, generator=torch.Generator().manual_seed(1))
    # By the chain rule the Jacobian of a stack is the product of those of its layers, each where the stack has come.
    whole, found = torch.eye(hidden.numel()), []
    for depth in range(layers):
        layer = random_layer(kind, WIDTH, settings, depth)
        jacobian, hidden = _jacobian(layer, hidden)
        whole = jacobian @ whole
        found.append(whole.view(LENGTH, WIDTH, LENGTH, WIDTH).square().sum((1, 3)).sqrt())
    return found


def _jacobian(
    layer: Layer, x: Float[Tensor, "position d"]
) -> tuple[Float[Tensor, "output input"], Float[Tensor, "position d"]]:
    """∂ output / ∂ input between all numbers of a layer, and its output."""
    numbers = torch.arange(x.numel())
    # One copy of the input for each number of the output: one backward pass then gives all rows.
    copies = x.expand(len(numbers), *x.shape).clone().requires_grad_()
    outputs = layer(copies).flatten(1)
    (jacobian,) = torch.autograd.grad(outputs[numbers, numbers].sum(), copies)
    return jacobian.flatten(1), outputs[0].detach().view_as(x)


def reach(influences: Float[Tensor, "output input"]) -> int:
    """How many positions away the farthest input is that an output depends on at all."""
    outputs, inputs = influences.nonzero(as_tuple=True)
    return int((outputs - inputs).abs().max())

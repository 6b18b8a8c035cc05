"""The kinds of layer that Table 1 compares, with random weights: how far each carries a signal, and what it costs.

A layer is a map from n vectors to n vectors. `influence` says how far a token's reaches: |∂ output_i / ∂ input_j|
after 1, 2, 3 … layers, by autograd. Table 1 gives "maximum path length", the steps that a signal takes between two
positions; §4 argues that shorter paths make long-range dependencies easier to learn (Hochreiter et al. 2001). Here the
signal itself is measured.

`layer_times` measures the wall time of one layer, over the number of positions n and over their components d.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil
from types import MappingProxyType
from typing import Final, Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from model.analysis.measured_cost import MeasuredCost, check_memory, fitted_exponent, measure, sizes_up_to, unsteadiness
from model.config import TransformerConfig
from model.errors import said
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
            _, length, _ = x.shape
            mask = AttentionMask(num_queries=length, num_keys=length, device=x.device)
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
        return next(layers for layers in count(1) if settings.kernel**layers // 2 >= length - 1)
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


SMALLEST: Final = 16
#: Over d, a layer of so many positions is measured up to so many components at least.
POSITIONS, WIDEST = 128, 512
_FLOAT: Final = 4


@dataclass(frozen=True)
class LayerTime:
    """One layer: its kind, n, d, the device ("cpu" or "cuda"), and what it cost."""

    kind: Kind
    length: int
    width: int
    device: str
    measured: MeasuredCost

    @property
    def seconds(self) -> float:
        """The least of its wall times."""
        return self.measured.seconds


@dataclass(frozen=True)
class LayerTimes:
    """All measurements: over n at one d, and over d at one n."""

    settings: Settings
    length: int
    width: int
    over_length: tuple[LayerTime, ...]  #: n up to `length`, d is `width` in all of them
    over_width: tuple[LayerTime, ...]  #: n is `POSITIONS` in all of them

    def of(self, kind: Kind, device: str, *, over_length: bool) -> list[LayerTime]:
        """One curve, from the smallest size on."""
        measured = self.over_length if over_length else self.over_width
        return [one for one in measured if (one.kind, one.device) == (kind, device)]

    def exponents(self, kind: Kind, device: str, *, over_length: bool) -> tuple[float, float]:
        """The exponent of n, or of d, by counted multiply-adds and by measured seconds, fitted over the same sizes."""
        curve = self.of(kind, device, over_length=over_length)
        sizes = [one.length if over_length else one.width for one in curve]
        counted = [float(multiply_adds(kind, one.length, one.width, self.settings)) for one in curve]
        return fitted_exponent(sizes, counted), fitted_exponent(sizes, [one.seconds for one in curve])

    @property
    def unsteadiness(self) -> float:
        """How many times the least time a run took in the middle: near 1 on a machine that is idle."""
        return unsteadiness([one.measured for one in (*self.over_length, *self.over_width)])


def needed_bytes(length: int, width: int, settings: Settings) -> int:
    """What the largest of the layers holds at once."""
    windows = 2 * length * settings.window * width
    return _FLOAT * (12 * length * width + windows + 12 * width * width)


def layer_times(
    length: int, width: int, settings: Settings, devices: Sequence[torch.device], progress: Callable[[int], None]
) -> LayerTimes:
    """Measure a layer of every kind, over n up to `length` at d = `width`, and over d at n = `POSITIONS`.

    Raises a DataError if the largest does not fit into the memory. `progress` is called with 1 after each of the
    measurements; it may end them by an exception.
    """
    what = said("A layer over {length:,} positions with {width:,} numbers each", length=length, width=width)
    for device in devices:
        check_memory(what, needed_bytes(length, width, settings), device)

    def measured(lengths: Sequence[int], widths: Sequence[int]) -> tuple[LayerTime, ...]:
        times = []
        for device in devices:
            for kind in KINDS:
                for n in lengths:
                    for d in widths:
                        times.append(_measured(kind, n, d, settings, device))
                        progress(1)
        return tuple(times)

    over_length = measured(sizes_up_to(length, SMALLEST), [width])
    over_width = measured([POSITIONS], sizes_up_to(max(width, WIDEST), SMALLEST))
    return LayerTimes(settings, length, width, over_length, over_width)


def crossing(first: Sequence[LayerTime], second: Sequence[LayerTime]) -> float | None:
    """The n from which on the first curve lies above the second, between the sizes by their logarithms.

    None where it does not, and 0 where it does from the smallest size on.
    """
    ratios = [one.seconds / other.seconds for one, other in zip(first, second, strict=True)]
    if ratios[-1] <= 1:
        return None
    below = [position for position, ratio in enumerate(ratios) if ratio <= 1]
    if not below:
        return 0.0
    last = below[-1]
    start, end = (torch.tensor(ratios[position]).log() for position in (last, last + 1))
    return float(first[last].length * 2 ** float(-start / (end - start)))


def _measured(kind: Kind, length: int, width: int, settings: Settings, device: torch.device) -> LayerTime:
    layer = random_layer(kind, width, settings).to(device)
    x = torch.randn(1, length, width, generator=torch.Generator().manual_seed(length)).to(device)
    return LayerTime(kind, length, width, device.type, measure(lambda: layer(x), device))

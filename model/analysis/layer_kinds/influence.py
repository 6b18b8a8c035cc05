"""How far the influence of a token comes: |∂ output_i / ∂ input_j| after 1, 2, 3 … layers, by autograd.

Table 1 gives "maximum path length", the steps that a signal takes between two positions; §4 argues that shorter paths
make long-range dependencies easier to learn (Hochreiter et al. 2001). Here the signal itself is measured.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.layer_kinds.kinds import Kind, Layer, Settings, random_layer

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

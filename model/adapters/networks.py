"""Find the matrices of a library model's sub-layers by what they make of what these read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from model.adapters.library import LINEAR
from model.adapters.placement import weight_of
from model.adapters.stream_taps import LayerCall, ModuleCall
from model.parts.weights import FeedForwardWeights, Projection

#: What units may go through, by its name.
ACTIVATIONS: Final[Mapping[str, Callable[[Tensor], Tensor]]] = {
    "ReLU": F.relu,
    "SiLU": F.silu,
    "GELU": F.gelu,
    "GELU (tanh)": lambda x: F.gelu(x, approximate="tanh"),
    "GELU (sigmoid)": lambda x: x * (1.702 * x).sigmoid(),
    "ReLU²": lambda x: x.relu().square(),
    "σ": torch.sigmoid,
}


def find_network(
    layer: LayerCall, reads: Sequence[Float[Tensor, "row d_model"]], added: ModuleCall, close: float
) -> FeedForwardWeights | None:
    """The network whose output a module of a layer adds, and that reads one of these; None where no matrices and no
    activation give its units."""
    outer = _last_matrix(layer, added)
    if outer is None or outer.given is None:
        return None
    hidden, own = outer.given, projection_of(outer.module)
    sizes = hidden.size(-1), added.put_out.size(-1)
    inner = [each for module in layer.module.modules() for each in _halves(module, *sizes)]
    best, found = close, None
    for read, (name, activation) in product(reads, ACTIVATIONS.items()):
        made = [each(read)[0] for each in inner]
        for (at, one), (gate_at, gate) in product(enumerate(made), [(None, None), *enumerate(made)]):
            if at == gate_at:
                continue
            units = activation(one) if gate is None else activation(gate) * one
            off = float((units - hidden).abs().max() / hidden.abs().max())
            # Some activations are alike: the nearest counts.
            if off <= best:
                known = None if gate_at is None else inner[gate_at]
                best = off
                found = FeedForwardWeights(inner=inner[at], gate=known, outer=own, activation=activation, name=name)
    return found


def find_projection(calls: Sequence[ModuleCall], made: Float[Tensor, "head row width"]) -> Projection | None:
    """The columns of a matrix that put out these very numbers; None where none does, as where an adapter adds to it.

    Wherever they are: some matrices hold those of queries, keys and values, of one head after another.
    """
    heads, _, width = made.shape
    wanted = [column.tobytes() for column in made.transpose(1, 2).flatten(0, 1).numpy()]
    for call in calls:
        places = {column.tobytes(): at for at, column in enumerate(call.put_out.T.contiguous().numpy())}
        if not isinstance(call.module, LINEAR) or not places.keys() >= set(wanted):
            continue
        whole, found = projection_of(call.module), [places[column] for column in wanted]
        # Columns that follow each other, as in most models, need no copy.
        is_block = found == list(range(found[0], found[0] + len(found)))
        at = slice(found[0], found[0] + len(found)) if is_block else found
        bias = None if whole.bias is None or not bool(whole.bias[0, at].any()) else whole.bias[0, at].view(heads, width)
        return Projection(weight=whole.weight[0][:, at].reshape(-1, heads, width).transpose(0, 1), bias=bias)
    return None


def _last_matrix(layer: LayerCall, added: ModuleCall) -> ModuleCall | None:
    """The matrix that puts out what is added, or what the norm reads that is added."""
    if isinstance(added.module, LINEAR):
        return added
    before = (call for call in layer.calls if isinstance(call.module, LINEAR) and call.given is not None)
    return next((call for call in before if added.given is not None and torch.equal(call.put_out, added.given)), None)


def _halves(module: nn.Module, d_ff: int, d_model: int) -> Iterator[Projection]:
    """A matrix [d_model, d_ff], or both of one that holds two."""
    if not isinstance(module, LINEAR) or module.get_parameter("weight").numel() not in (
        d_ff * d_model,
        2 * d_ff * d_model,
    ):
        return
    whole = projection_of(module)
    if whole.weight.size(1) == d_model:
        for at in range(0, whole.weight.size(2), d_ff):
            bias = None if whole.bias is None else whole.bias[:, at : at + d_ff]
            yield Projection(weight=whole.weight[..., at : at + d_ff], bias=bias)


def projection_of(module: nn.Module) -> Projection:
    """The matrix and bias of a linear module, as of one head."""
    weight, bias = weight_of(module), weight_of(module, "bias")
    assert weight is not None, "it is a matrix"
    # A linear layer holds its matrix transposed, GPT-2's layer does not.
    return Projection(
        weight=(weight.T if isinstance(module, nn.Linear) else weight)[None], bias=None if bias is None else bias[None]
    )

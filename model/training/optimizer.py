"""Take optimizer steps with Adam, or with Muon for the layers' matrices and Adam for all other weights; and their rate.

Muon orthogonalizes the momentum of a matrix before it is subtracted (Jordan et al. 2024), so that every direction of
the matrix learns at the same speed. Scaled as in Liu et al. 2025 (arXiv 2502.16982, §2.2), its updates are as large as
Adam's, so that both take the same learning rate.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import Adam, Muon

OptimizerName = Literal["adam", "muon"]
#: Of Adam: how much is kept of the means of gradients and of their squares, and what keeps a divisor from 0 (§5.3).
BETAS: Final = (0.9, 0.98)
EPSILON: Final = 1e-9
OPTIMIZERS: tuple[OptimizerName, ...] = get_args(OptimizerName)


class TrainingOptimizer:
    """Adam (0.9, 0.98, 1e-9; §5.3) for all weights of a model; with "muon", Muon for the matrices of its layers.

    Muon multiplies in bfloat16, for which a processor without such instructions takes fifty times as long.
    """

    def __init__(self, model: nn.Module, name: OptimizerName) -> None:
        self._parameters = list(model.parameters())
        matrices = {
            id(parameter)
            for path, parameter in model.named_parameters()
            if name == "muon" and ".layers." in path and parameter.ndim == 2
        }
        others = [parameter for parameter in self._parameters if id(parameter) not in matrices]
        self._optimizers: list[Adam | Muon] = [Adam(others, lr=0.0, betas=BETAS, eps=EPSILON, fused=True)]
        if matrices:
            of_layers = [parameter for parameter in self._parameters if id(parameter) in matrices]
            self._optimizers.append(Muon(of_layers, lr=0.0, weight_decay=0.0, adjust_lr_fn="match_rms_adamw"))

    def step(self, rate: float) -> None:
        """Change all weights by their gradients, at this learning rate."""
        for optimizer in self._optimizers:
            optimizer.param_groups[0]["lr"] = rate
            optimizer.step()

    @property
    def moments(self) -> dict[int, dict[str, Tensor]]:
        """What was kept of earlier gradients, by the number of the weight in the model."""
        kept: dict[int, dict[str, Tensor]] = {}
        for number, parameter in enumerate(self._parameters):
            for optimizer in self._optimizers:
                if parameter in optimizer.state:
                    kept[number] = optimizer.state[parameter]
        return kept

    def load_moments(self, moments: Mapping[int, Mapping[str, Tensor]]) -> None:
        """Go on with earlier moments. Raises a ValueError if they are of another optimizer or of another model."""
        for optimizer in self._optimizers:
            owned = {id(parameter) for parameter in optimizer.param_groups[0]["params"]}
            names = {"momentum_buffer"} if isinstance(optimizer, Muon) else {"step", "exp_avg", "exp_avg_sq"}
            for number, parameter in enumerate(self._parameters):
                if id(parameter) not in owned:
                    continue
                of_weight = dict(moments.get(number, {}))
                shapes = {value.shape for name, value in of_weight.items() if name != "step"}
                if set(of_weight) != names or shapes != {parameter.shape}:
                    raise ValueError(f"the moments of weight {number} are those of another optimizer or model")
                optimizer.state[parameter] = of_weight


Decay = Literal["paper", "linear"]


def moved_by_adam(gradients: Sequence[float], steps: int, rate: float) -> Float[np.ndarray, "weight step"]:
    """How far weights whose gradients never change have moved against these after each step of Adam (§5.3)."""
    weights = nn.Parameter(torch.zeros(len(gradients)))
    optimizer = Adam([weights], lr=rate, betas=BETAS, eps=EPSILON)
    moved = []
    for _step in range(steps):
        weights.grad = torch.tensor(gradients)
        optimizer.step()
        moved.append(-weights.detach().numpy().copy())
    return np.stack(moved, axis=1)


def learning_rate(step: int, *, decay: Decay, warmup: int, d_model: int, peak: float, total: int) -> float:
    """The rate at a step, counted from 1, after `warmup` steps of rising rate.

    "paper" = d_model^−½ · min(step^−½, step · warmup^−1.5) (§5.3, eq. 3), times `peak` (1 = the paper); "linear" = up
    to `peak` over `warmup` steps, then straight down to zero at `total`.
    """
    if decay == "paper":
        return float(peak * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))
    if step <= warmup:
        return peak * step / warmup
    return peak * max(0.0, (total - step) / max(1, total - warmup))

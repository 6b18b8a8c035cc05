"""Take optimizer steps with Adam, or with Muon for the layers' matrices and Adam for all other weights; and their rate.

Muon orthogonalizes the momentum of a matrix before it is subtracted (Jordan et al. 2024), so that every direction of
the matrix learns at the same speed. Scaled as in Liu et al. 2025 (arXiv 2502.16982, §2.2), its updates are as large as
Adam's, so that both take the same learning rate.
"""

from collections.abc import Callable, Iterable, Mapping
from math import sqrt
from typing import Final, Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import Adam, Optimizer

OptimizerName = Literal["adam", "muon"]
OPTIMIZERS: tuple[OptimizerName, ...] = get_args(OptimizerName)


#: Of the gradients before, how much is kept; steps of the iteration, and its coefficients (Jordan et al. 2024).
MOMENTUM: Final = 0.95
NEWTON_SCHULZ_STEPS: Final = 5
NEWTON_SCHULZ: Final = (3.4445, -4.7750, 2.0315)


def orthogonalized(
    matrix: Float[Tensor, "*batch row column"], dtype: torch.dtype
) -> Float[Tensor, "*batch row column"]:
    """About U·Vᵀ of each matrix's singular value decomposition U·S·Vᵀ, by five steps of a Newton–Schulz iteration.

    Singular values end between 0.7 and 1.2, which is as good as 1 (Jordan et al. 2024). `dtype` is that of the
    products; the result has it too.
    """
    a, b, c = NEWTON_SCHULZ
    is_tall = matrix.size(-2) > matrix.size(-1)
    x: Tensor = (matrix.mT if is_tall else matrix).to(dtype)
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp_min(1e-7)
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if is_tall else x


class Muon(Optimizer):
    """W ← W − rate · 0.2 · √max(rows, columns) · orthogonalized(momentum).

    `torch.optim.Muon` with "match_rms_adamw", but for the number type of its products: there it is bfloat16 always,
    which a processor without such products computes fifty times as slowly as float32. Matrices of one shape are
    orthogonalized together.
    """

    def __init__(self, matrices: Iterable[nn.Parameter], dtype: torch.dtype) -> None:
        super().__init__(matrices, {"lr": 0.0})
        self._dtype = dtype

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Change every matrix by its gradient."""
        (group,) = self.param_groups
        by_shape: dict[torch.Size, list[tuple[Tensor, Tensor]]] = {}
        for matrix in group["params"]:
            if matrix.grad is not None:
                by_shape.setdefault(matrix.shape, []).append((matrix, matrix.grad))
        for shape, pairs in by_shape.items():
            matrices = [matrix for matrix, _ in pairs]
            gradients = torch.stack([gradient for _, gradient in pairs])
            kept = [self.state[matrix].setdefault("momentum_buffer", torch.zeros_like(matrix)) for matrix in matrices]
            momentum = torch.stack(kept).lerp_(gradients, 1 - MOMENTUM)
            torch._foreach_copy_(kept, momentum.unbind())
            updates = orthogonalized(gradients.lerp_(momentum, MOMENTUM), self._dtype).to(momentum.dtype).unbind()
            torch._foreach_add_(matrices, updates, alpha=-group["lr"] * 0.2 * sqrt(max(shape)))


class TrainingOptimizer:
    """Adam (0.9, 0.98, 1e-9; §5.3) for all weights of a model; with "muon", Muon for the matrices of its layers.

    `dtype` is that of Muon's products.
    """

    def __init__(self, model: nn.Module, name: OptimizerName, dtype: torch.dtype = torch.float32) -> None:
        self._parameters = list(model.parameters())
        matrices = {
            id(parameter)
            for path, parameter in model.named_parameters()
            if name == "muon" and ".layers." in path and parameter.ndim == 2
        }
        others = [parameter for parameter in self._parameters if id(parameter) not in matrices]
        self._optimizers: list[Adam | Muon] = [Adam(others, lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)]
        if matrices:
            of_layers = [parameter for parameter in self._parameters if id(parameter) in matrices]
            self._optimizers.append(Muon(of_layers, dtype))

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

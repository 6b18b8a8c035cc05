"""Overhear the log-sum-exp of each row that torch's fused kernel computes on the way and its caller throws away."""

from collections.abc import Mapping
from typing import Any, Final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

_ATTENTION: Final = torch.ops.aten.scaled_dot_product_attention.default
_ON_CPU: Final = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default


class KernelSums(TorchDispatchMode):
    """While entered, attention of this thread runs as it would otherwise; what its kernel says last is kept.

    Attributes:
        sums: lse_i = log Σ_j exp(s_ij) of the masked scores, any number of a row that may attend to nothing; None where
            the kernel was another than the one for float32 on a CPU. In half precision they would be sums of rounded
            scores.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.sums: Float[Tensor, "batch head query"] | None = None

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        if operation is _ATTENTION:
            # In inference mode it comes whole; its parts are heard in here.
            with self:
                return operation.decompose(*args, **given)
        result = operation(*args, **given)
        if operation is _ON_CPU:
            self.sums = result[1] if args[0].dtype == torch.float32 else None
        return result

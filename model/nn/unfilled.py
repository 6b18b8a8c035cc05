"""Build a model whose parameters hold no values yet, because those of a file are about to take their place.

Random starting values would cost a multiple of what reading the file costs. With `torch.device("meta")`, on which
everything has a shape and no values, torch loads its compiler and sympy, a second's work, to know the shape of a table
of positions; here only parameters are there.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

#: Of `torch.nn.init` and `torch.Tensor`: what writes starting values into a tensor, which it returns.
_FILLS: Final = frozenset({"constant_", "fill_", "kaiming_uniform_", "normal_", "uniform_", "zero_"})


class Unfilled(TorchFunctionMode):
    """While this is entered, new parameters keep what their memory happens to hold."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """What torch calls in place of each of its functions."""
        given = dict(kwargs or {})
        if getattr(func, "__name__", "") in _FILLS:
            filled = args[0] if args else given["tensor"]
            if isinstance(filled, nn.Parameter) or (isinstance(filled, Tensor) and filled.is_meta):
                return filled
        return func(*args, **given)


class WithoutMemory(Unfilled):
    """While this is entered, new parameters have names and shapes, and take no memory."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """As of `Unfilled`; torch's layers ask for the memory of their parameters by `torch.empty`."""
        given = dict(kwargs or {})
        if func is torch.empty:
            given["device"] = torch.device("meta")
        return super().__torch_function__(func, types, args, given)

"""Let attentions that a library computes in code of their own attend by a function that is given, as those do that ask
a register for it.

Such code multiplies queries with keys, scales that, adds a mask, takes the softmax over keys and multiplies it with
values. These steps are noticed in torch's own functions while the module runs; in place of the last product stands what
the function makes of query, key, value, mask and scale. Where a step is another one, the module runs as it is.
"""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from threading import local
from typing import Any, Final
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils.hooks import RemovableHandle

from model.nn.hooks import current_listener

Attention = Callable[..., tuple[Tensor, None]]
#: A number that is added to a score and at most this hides its key.
_HIDES: Final = -1e4
_PRODUCTS: Final = frozenset({"matmul", "bmm", "__matmul__"})
_FACTORS: Final[Mapping[str, int]] = {"mul": 1, "__mul__": 1, "div": -1, "true_divide": -1, "__truediv__": -1}
_SUMS: Final = frozenset({"add", "__add__"})
_SHAPES: Final = frozenset({"view", "reshape"})
_HANDLES: Final[WeakKeyDictionary[nn.Module, tuple[RemovableHandle, ...]]] = WeakKeyDictionary()
_RUNNING: Final = local()


def attentions(model: nn.Module) -> Iterator[nn.Module]:
    """The modules of a model whose own code takes a softmax, and asks no register for an attention."""
    return (module for module in model.modules() if _is_explicit(type(module).__module__, type(module).__qualname__))


@cache
def _is_explicit(module: str, name: str) -> bool:
    methods = vars(getattr(sys.modules.get(module), name, object)).values()
    names = {
        name for method in methods if inspect.isfunction(method) for name in inspect.unwrap(method).__code__.co_names
    }
    return any(name.endswith("softmax") or name == "Softmax" for name in names) and "get_interface" not in names


def attend_by(model: nn.Module, attention: Attention | None) -> None:
    """Let these modules attend by a function wherever somebody listens; None for their own code."""
    for module in attentions(model):
        for handle in _HANDLES.pop(module, ()):
            handle.remove()
        if attention is not None:
            _HANDLES[module] = _replaced(module, attention)


def are_replaced(model: nn.Module) -> bool:
    """Whether these modules of a model attend by a function that was given."""
    return any(module in _HANDLES for module in attentions(model))


def _replaced(module: nn.Module, attention: Attention) -> tuple[RemovableHandle, ...]:
    def enter(module: nn.Module, given: Sequence[Any], named: Mapping[str, Any]) -> None:
        rows = next((each for each in (*given, *named.values()) if isinstance(each, Tensor)), None)
        mode = None
        if rows is not None and current_listener() is not None:
            mode = _Steps(module, attention, rows.size(0))
            mode.__enter__()  # type: ignore[no-untyped-call]
        _running().append(mode)

    def leave(_module: nn.Module, _given: Any, _output: Any) -> None:
        if (mode := _running().pop()) is not None:
            mode.__exit__(None, None, None)

    before = module.register_forward_pre_hook(enter, with_kwargs=True)
    return before, module.register_forward_hook(leave, prepend=True, always_call=True)


def _running() -> list[Any]:
    if not hasattr(_RUNNING, "modes"):
        _RUNNING.modes = []
    found: list[Any] = _RUNNING.modes
    return found


class _Steps(TorchFunctionMode):
    """While entered, follows products of queries and keys to weights, and exchanges their product with values."""

    def __init__(self, module: nn.Module, attention: Attention, batch: int) -> None:
        super().__init__()
        self.module, self.attention, self.batch = module, attention, batch
        self.query: Tensor | None = None
        self.key: Tensor | None = None
        self.mask: Tensor | None = None
        self.scale = 1.0
        #: scores, weights: what the products have become so far.
        self.scores: Tensor | None = None
        self.weights: Tensor | None = None

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given, name = dict(kwargs or {}), getattr(function, "__name__", "")
        first, second = (*args, *given.values(), None, None)[:2]
        if first is self.weights is not None and name in _PRODUCTS:
            return self._attended(second)
        result = function(*args, **given)
        if not isinstance(result, Tensor):
            return result
        if first is self.weights is not None:
            self.weights = result if name == "dropout" else self.weights
        elif first is self.scores is not None:
            self._follow(name, second, result)
        elif name in _PRODUCTS and first.dim() > 2 and first.dim() == second.dim():
            self.query, self.key, self.scores = first, second.mT, result
            self.mask, self.scale, self.weights = None, 1.0, None
        return result

    def _follow(self, name: str, other: Any, result: Tensor) -> None:
        """Notice what is done to scores; of anything else than known steps, no more is followed."""
        if name == "softmax" and result.shape[-1:] == self.scores_shape[-1:]:
            self.weights, self.scores = result, None
            return
        if name in _FACTORS and isinstance(other, int | float):
            self.scale *= float(other) ** _FACTORS[name]
        elif name in _SUMS and isinstance(other, Tensor) and self.mask is None:
            self.mask = other
        elif name not in _SHAPES:
            self.scores = None
            return
        self.scores = result

    @property
    def scores_shape(self) -> torch.Size:
        """That of the scores so far."""
        return torch.Size() if self.scores is None else self.scores.shape

    def _attended(self, value: Tensor) -> Float[Tensor, "*head query d_v"]:
        assert self.query is not None
        assert self.key is not None
        query, key, values = (
            rows if rows.dim() == 4 else rows.reshape(self.batch, -1, *rows.shape[1:])
            for rows in (self.query, self.key, value)
        )
        mask = self.mask
        if mask is not None:
            lowest = torch.finfo(mask.dtype).min
            mask = mask.masked_fill(mask <= _HIDES, lowest).expand(self.batch, -1, query.size(2), -1)
        output, _ = self.attention(self.module, query, key, values, mask, scaling=self.scale, is_causal=False)
        self.weights = None
        heads = output.transpose(1, 2)
        return heads if value.dim() == 4 else heads.flatten(0, 1)

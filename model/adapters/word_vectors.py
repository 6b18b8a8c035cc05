"""Read and replace the vectors with which a library model's tokens go in, before their positions are added.

They are what its token embeddings put out: modules with a table of the same shape as the one that the model names as
its own, that read just these tokens. Hooks are set once for each model and stay, as those of `stream_taps`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

import torch
from jaxtyping import Float
from torch import Tensor, nn


@dataclass(eq=False)
class _Exchange:
    """Of each stack's tokens, in the order in which they are read: what goes in instead, if anything, and what did."""

    sides: Sequence[Sequence[int]]
    instead: Sequence[Tensor] | None
    used: list[Tensor] = field(default_factory=list)


_EXCHANGE: ContextVar[_Exchange | None] = ContextVar("headlight_word_vectors", default=None)
_MARK: Final = "headlight_embeddings_heard"
#: Another thread must not run a model whose hooks are registered in part.
_REGISTERING: Final = Lock()


@contextmanager
def vectors_of(model: nn.Module, sides: Sequence[Sequence[int]]) -> Iterator[list[Tensor]]:
    """Yield the vectors [batch, position, width] of these texts, apart from the graph, as the block's run makes them.

    Args:
        model: of `transformers`.
        sides: the token ids that each stack reads, in this order.
    """
    with _exchanged(model, _Exchange(sides, None)) as used:
        yield used


@contextmanager
def with_vectors(
    model: nn.Module, sides: Sequence[Sequence[int]], vectors: Sequence[Float[Tensor, "batch _ _"]]
) -> Iterator[list[Tensor]]:
    """Let these vectors go in in place of those of `vectors_of`; yield those that did, when the block has run."""
    with _exchanged(model, _Exchange(sides, vectors)) as used:
        yield used


@contextmanager
def _exchanged(model: nn.Module, exchange: _Exchange) -> Iterator[list[Tensor]]:
    _hear(model)
    token = _EXCHANGE.set(exchange)
    try:
        yield exchange.used
    finally:
        _EXCHANGE.reset(token)


def _hear(model: nn.Module) -> None:
    with _REGISTERING:
        if getattr(model, _MARK, False):
            return
        own: Any = model.get_input_embeddings()  # type: ignore[operator]
        for module in model.modules():
            if isinstance(module, nn.Embedding) and module.weight.shape == own.weight.shape:
                module.register_forward_hook(_exchange)
        setattr(model, _MARK, True)


def _exchange(module: nn.Module, args: tuple[Any, ...], output: Tensor) -> Tensor | None:
    exchange = _EXCHANGE.get()
    if exchange is None or len(exchange.used) == len(exchange.sides):
        return None
    side, ids = len(exchange.used), args[0]
    if ids.dim() != 2 or not torch.equal(ids[0].cpu(), torch.tensor(exchange.sides[side])):
        return None
    vectors = output.detach() if exchange.instead is None else exchange.instead[side].to(output)
    exchange.used.append(vectors)
    return None if exchange.instead is None else vectors

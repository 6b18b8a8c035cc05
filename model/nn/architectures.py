"""Make a new model of the kind that a configuration describes: with random weights, or without any.

Parameters hold no values where those of a file are about to take their place (`Unfilled`). Random starting values would
cost a multiple of what reading the file costs. With `torch.device("meta")`, on which everything has a shape and no
values, torch loads its compiler and sympy, a second's work, to know the shape of a table of positions; here only
parameters are there.

`lay_out_for_decoding` stores matrices in the order in which a CPU reads them fastest; no value changes. Decoding
multiplies one row at a time, and is bound by reading the weights. With more outputs than inputs such a product
takes a half to a third of the time if the matrix is stored by columns; with more inputs than outputs, by rows
(`python -m tests.benchmarks.decoding` measures both).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from model.config import ConvolutionalConfig, ModelConfig, RecurrentConfig, TransformerConfig
from model.nn.convolutional import ConvolutionalTranslator
from model.nn.encoder_decoder import EncoderDecoder
from model.nn.recurrent import RecurrentTranslator
from model.nn.transformer import Transformer

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


def new_model(config: ModelConfig) -> EncoderDecoder:
    """A model of this shape with random weights."""
    match config:
        case TransformerConfig():
            return Transformer(config)
        case RecurrentConfig():
            return RecurrentTranslator(config)
        case ConvolutionalConfig():
            return ConvolutionalTranslator(config)
    raise TypeError(f"no model has a configuration of the type {type(config).__name__}")


def unfilled_model(config: ModelConfig) -> EncoderDecoder:
    """A model of this shape whose weights are still to be put into it."""
    with Unfilled():
        return new_model(config)


def model_of_shapes(config: ModelConfig) -> EncoderDecoder:
    """A model whose parameters have the names and shapes of this configuration, and take no memory; it cannot run."""
    if isinstance(config, TransformerConfig) and config.positions != "learned":
        # The table of positions is computed, in memory, and no parameter depends on its length.
        config = replace(config, max_length=1)
    with WithoutMemory():
        return new_model(config)


@torch.no_grad()
def lay_out_for_decoding(model: nn.Module) -> None:
    """Store every matrix of a linear map with more outputs than inputs by columns, in place.

    For a model that will not be trained further; on a GPU it makes no difference.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.out_features > module.in_features:
            module.weight.data = module.weight.data.t().contiguous().t()

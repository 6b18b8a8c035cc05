"""Make a new model of the kind that a configuration describes: with random weights, or without any; or a deeper one.

Parameters hold no values where those of a file are about to take their place (`Unfilled`). Random starting values would
cost a multiple of what reading the file costs. With `torch.device("meta")`, on which everything has a shape and no
values, torch loads its compiler and sympy, a second's work, to know the shape of a table of positions; here only
parameters are there.

`lay_out_for_decoding` stores matrices in the order in which a CPU reads them fastest; no value changes. Decoding
multiplies one row at a time, and is bound by reading the weights. With more outputs than inputs such a product
takes a half to a third of the time if the matrix is stored by columns; with more inputs than outputs, by rows
(`python -m tests.benchmarks.decoding` measures both).
"""

from dataclasses import replace
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from model.config import ConvolutionalConfig, FixedVectorConfig, ModelConfig, RecurrentConfig, TransformerConfig
from model.errors import ConfigError
from model.nn.earlier import ConvolutionalTranslator, RecurrentTranslator
from model.nn.encoder_decoder import EncoderDecoder
from model.nn.transformer import Transformer

#: Of `torch.nn.init` and `torch.Tensor`: what writes starting values into a tensor, which it returns.
_FILLS: Final = frozenset({"constant_", "fill_", "kaiming_uniform_", "normal_", "uniform_", "zero_"})


class Unfilled(TorchFunctionMode):
    """While this is entered, new parameters keep what their memory happens to hold."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What torch calls in place of each of its functions."""
        given = dict(kwargs or {})
        if getattr(func, "__name__", "") in _FILLS:
            filled = args[0] if args else given["tensor"]
            if isinstance(filled, nn.Parameter) or (isinstance(filled, Tensor) and filled.is_meta):
                return filled
        return func(*args, **given)


class WithoutMemory(Unfilled):
    """While this is entered, new parameters have names and shapes, and take no memory."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
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
        case RecurrentConfig() | FixedVectorConfig():
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
    """Store linear maps with more outputs than inputs by columns, which a CPU reads faster; for a trained model."""
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.out_features > module.in_features:
            module.weight.data = module.weight.data.t().contiguous().t()


#: The last matrix of each sub-layer of a layer; cross-attention is in the decoder only.
_LAST = ("self_attention.output", "cross_attention.output", "feed_forward.outer")


@torch.no_grad()
def grown(model: EncoderDecoder, num_layers: int, *, seed: int = 1) -> Transformer:
    """A deeper Transformer of the same function, with so many layers in encoder and decoder, to be trained further.

    A layer whose sub-layers put out zero hands its input on: with pre-norm, x + 0 = x. Its own gradients do not stay
    zero, for W_O and the second matrix of the feed-forward network see what it reads (as in ReZero, Bachlechner et al.
    2021, and bert2BERT, Chen et al. 2022).

    New layers are spread between the old ones (`kept_layers`), so that each reads what a trained layer puts out. Raises
    a ConfigError if the model is not a pre-norm Transformer with residual connections, or has as many layers already.
    """
    config = model.config
    if not isinstance(model, Transformer) or not isinstance(config, TransformerConfig):
        raise ConfigError("Layers can be added only to a Transformer; this model is of another kind.")
    if config.norm != "pre" or not config.residual:
        raise ConfigError(
            "Only a pre-norm model with residual connections keeps its output when layers are inserted: with "
            "post-norm, a layer that adds nothing still normalises."
        )
    before = config.num_layers, config.decoder_layers
    if num_layers <= max(before):
        message = "The model already has {encoder} + {decoder} layers; request more than {most_before}."
        raise ConfigError(message, encoder=before[0], decoder=before[1], most_before=max(before))
    torch.manual_seed(seed)
    deeper = Transformer(replace(config, num_layers=num_layers, num_decoder_layers=None))
    for old, new in ((model.encoder.layers, deeper.encoder.layers), (model.decoder.layers, deeper.decoder.layers)):
        _fill(old, new)
    weights = {
        name: weight for name, weight in model.state_dict().items() if ".layers." not in name and "hook" not in name
    }
    deeper.load_state_dict(weights, strict=False)
    return deeper.to(next(model.parameters()).device).eval()


def kept_layers(old: int, new: int) -> list[int]:
    """Where the old layers stand among the new ones: 4 of 6 at 0, 1, 3 and 4, so that 2 and 5 are new."""
    return [index * new // old for index in range(old)]


def _fill(old: nn.ModuleList, new: nn.ModuleList) -> None:
    """Copy the old layers into their places, and silence the others."""
    places = kept_layers(len(old), len(new))
    for layer, place in zip(old, places, strict=True):
        new[place].load_state_dict(layer.state_dict())
    for place, layer in enumerate(new):
        if place in places:
            continue
        for name, module in layer.named_modules():
            if name in _LAST:
                assert isinstance(module, nn.Linear)
                nn.init.zeros_(module.weight)
                nn.init.zeros_(module.bias)

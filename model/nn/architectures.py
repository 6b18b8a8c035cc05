"""Make a new model of the kind that a configuration describes: with random weights, or without any."""

from dataclasses import replace

from model.config import TransformerConfig
from model.earlier_configs import ConvolutionalConfig, RecurrentConfig
from model.model_config import ModelConfig
from model.nn.convolutional import ConvolutionalTranslator
from model.nn.encoder_decoder import EncoderDecoder
from model.nn.recurrent import RecurrentTranslator
from model.nn.transformer import Transformer
from model.nn.unfilled import Unfilled, WithoutMemory


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

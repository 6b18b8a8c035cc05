"""Make a new model of the kind that a configuration describes."""

from model.config import TransformerConfig
from model.earlier_configs import ConvolutionalConfig, RecurrentConfig
from model.model_config import ModelConfig
from model.nn.convolutional import ConvolutionalTranslator
from model.nn.encoder_decoder import EncoderDecoder
from model.nn.recurrent import RecurrentTranslator
from model.nn.transformer import Transformer


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

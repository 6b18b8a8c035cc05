"""Make a trained Transformer deeper without changing what it computes, so that training can go on from there.

A layer whose sub-layers put out zero hands its input on: with pre-norm, x + 0 = x. Its own gradients do not stay zero,
for W_O and the second matrix of the feed-forward network see what it reads (as in ReZero, Bachlechner et al. 2021, and
bert2BERT, Chen et al. 2022).
"""

from dataclasses import replace

import torch
from torch import nn

from model.config import TransformerConfig
from model.errors import ConfigError
from model.nn.encoder_decoder import EncoderDecoder
from model.nn.transformer import Transformer

#: The last matrix of each sub-layer of a layer; cross-attention is in the decoder only.
_LAST = ("self_attention.output", "cross_attention.output", "feed_forward.outer")


@torch.no_grad()
def grown(model: EncoderDecoder, num_layers: int, *, seed: int = 1) -> Transformer:
    """The same function with so many layers in the encoder and in the decoder.

    New layers are spread between the old ones (`kept_layers`), so that each reads what a trained layer puts out. Raises
    a ConfigError if the model is no pre-norm Transformer with residual connections, or has as many layers already.
    """
    config = model.config
    if not isinstance(model, Transformer) or not isinstance(config, TransformerConfig):
        raise ConfigError("Layers can be added only to a Transformer; this model is of another kind.")
    if config.norm != "pre" or not config.residual:
        raise ConfigError(
            "Only a pre-norm model with residual connections computes the same when layers are inserted: with "
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

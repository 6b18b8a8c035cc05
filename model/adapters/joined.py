"""Join the encoder of pictures and the decoder of a model that keeps them apart (BLIP) as the library joins any two."""

import inspect
from typing import Any

import transformers
from torch import nn

from model.adapters import library


def halves(model: nn.Module) -> tuple[Any, Any] | None:
    """The encoder of pictures and the decoder that attends to what it puts out, of a model that has nothing else, and
    does not say which of its inputs are the decoder's; None of any other.
    """
    parts: Any = list(model.children())
    if len(parts) != 2 or not all(isinstance(part, transformers.PreTrainedModel) for part in parts):
        return None
    eye, hand = parts
    whole, of_hand = (inspect.signature(each.forward).parameters for each in (model, hand))
    attends = "encoder_hidden_states" in of_hand and "decoder_input_ids" not in whole
    return (eye, hand) if eye.main_input_name in library.PIXELS and hand.can_generate() and attends else None


def join(model: nn.Module) -> nn.Module:
    """The same modules as one encoder–decoder of the library's, where a model is made of two `halves`.

    It begins and ends a text as the model's own `generate` does: with the decoder's [BOS] and [SEP]. Raises a
    CheckpointError if one of these is no token.
    """
    if (found := halves(model)) is None:
        return model
    eye, hand = found
    # The decoder's cross-attention itself brings what it reads to its width.
    hand.config.cross_attention_hidden_size = eye.config.hidden_size
    named: Any = type(type(getattr(model, "config")).__name__, (transformers.VisionEncoderDecoderConfig,), {})  # noqa: B009
    made: Any = transformers.VisionEncoderDecoderModel(
        named.from_encoder_decoder_configs(eye.config, hand.config), eye, hand
    )
    of_hand = hand.config.to_dict()
    ends = of_hand["eos_token_id"] if of_hand.get("sep_token_id") is None else of_hand["sep_token_id"]
    begins = {"decoder_start_token_id": of_hand["bos_token_id"], "eos_token_id": ends}
    made.generation_config = library.generation_settings(None, of_hand | begins)
    joined: nn.Module = made.eval()
    return joined

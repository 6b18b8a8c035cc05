"""Run sentences in one padded batch and return the attention masks that the model used."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from model.decoding.search import greedy_search
from model.nn.hooks import listen
from model.nn.masks import key_padding, pad, prefix_padding
from model.nn.transformer import Transformer
from model.tokenizer import Tokenizer

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BatchMasks:
    """Masks of several sentences in one batch, as the model used them; True = may attend.

    Attributes:
        source_tokens, target_tokens: per sentence, padded with "<pad>" to the longest.
        encoder_self: source padding [batch, query, key].
        decoder_self: causal and target padding [batch, query, key].
        decoder_cross: source padding, for target rows [batch, query, key].
        causal: the causal part of `decoder_self` alone [query, key].
        target_padding: its padding part alone [batch, query, key].
    """

    source_tokens: tuple[tuple[str, ...], ...]
    target_tokens: tuple[tuple[str, ...], ...]
    encoder_self: BoolArray
    decoder_self: BoolArray
    decoder_cross: BoolArray
    causal: BoolArray
    target_padding: BoolArray


@torch.inference_mode()
def run_batch(model: Transformer, tokenizer: Tokenizer, source_ids: Sequence[Sequence[int]]) -> BatchMasks:
    """Translate sources of token ids greedily, then read all of them with their translations in one padded batch."""
    source = pad(source_ids, model.config.pad_id).to(model.device)
    source_padding = key_padding(source, model.config.pad_id)
    outputs = greedy_search(model, source, source_padding)
    target = pad([[model.config.bos_id, *ids] for ids in outputs], model.config.pad_id).to(model.device)
    with listen(record={"hook_mask"}) as recorded:
        model(source, target, source_padding, prefix_padding(target, model.config.pad_id))
    encoder_self, decoder_self, decoder_cross = (
        recorded[f"{path}.hook_mask"][0]
        for path in (
            "encoder.layers.0.self_attention",
            "decoder.layers.0.self_attention",
            "decoder.layers.0.cross_attention",
        )
    )
    causal, target_padding = decoder_self.parts()
    return BatchMasks(
        source_tokens=tuple(tokenizer.tokens(ids) for ids in source.tolist()),
        target_tokens=tuple(tokenizer.tokens(ids) for ids in target.tolist()),
        encoder_self=encoder_self.rows().cpu().numpy(),
        decoder_self=decoder_self.rows().cpu().numpy(),
        decoder_cross=decoder_cross.rows().cpu().numpy(),
        causal=causal.rows()[0].cpu().numpy(),
        target_padding=target_padding.rows().cpu().numpy(),
    )

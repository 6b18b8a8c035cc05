"""Read many sentences side by side, padded, and leave a trace of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from model.config import ModelConfig
from model.decoding.search import greedy_search, length_limits
from model.errors import InputTextError, said
from model.nn.encoder_decoder import SITES, EncoderDecoder, site_path
from model.nn.hooks import listen
from model.nn.masks import AttentionMask, key_padding, pad
from model.nn.transformer import Transformer
from model.tokenizer import Tokenizer
from model.trace.axes import row_name
from model.trace.trace import Trace, build_trace

#: Padded source tokens of a batch.
TOKENS_AT_ONCE: Final = 2_000
_PARTS: Final = ("hook_query", "hook_key", "hook_value")


class Tokenized(NamedTuple):
    """A sentence as token ids, and those of the translation to read along; None for the model's own, greedy one."""

    number: int
    text: str
    source_ids: list[int]
    emitted: list[int] | None


def trace_side_by_side(
    model: EncoderDecoder, tokenizer: Tokenizer, reader_key: str, sentences: Sequence[Tokenized]
) -> Iterator[tuple[int, Trace]]:
    """The number and the trace of each sentence, those of like length together; no trace has steps.

    A trace holds what the attention sites computed, in float32 on the CPU.
    """
    for given in (False, True):
        left = sorted(
            (sentence for sentence in sentences if (sentence.emitted is not None) == given),
            key=lambda sentence: len(sentence.source_ids),
        )
        while left:
            size = max(1, TOKENS_AT_ONCE // len(left[-1].source_ids))
            batch, left = left[-size:], left[:-size]
            yield from _traces(model, tokenizer, reader_key, batch)


def _traces(
    model: EncoderDecoder, tokenizer: Tokenizer, reader_key: str, batch: Sequence[Tokenized]
) -> Iterator[tuple[int, Trace]]:
    config, device = model.config, model.device
    source_ids = pad([sentence.source_ids for sentence in batch], config.pad_id).to(device)
    padding = key_padding(source_ids, config.pad_id)
    given = [sentence.emitted for sentence in batch if sentence.emitted is not None]
    with listen(record=_PARTS) as recorded:
        memory = model.encode(source_ids, padding)
    emitted = given or _translate(model, source_ids, padding, memory)
    targets = pad([[config.bos_id, *ids[:-1]] for ids in emitted], config.pad_id)
    with listen(record=_PARTS) as of_decoder:
        model.decode(targets.to(device), memory, padding)
    recorded |= of_decoder
    joined = {name: torch.cat(parts, dim=-2).float().cpu() for name, parts in recorded.items()}
    for position, (sentence, ids) in enumerate(zip(batch, emitted, strict=True)):
        own = dict(_of_sentence(joined, config, position, len(sentence.source_ids), len(ids)))
        yield sentence.number, build_trace(model, tokenizer, reader_key, sentence.text, sentence.source_ids, ids, own)


def _of_sentence(
    joined: Mapping[str, Tensor], config: ModelConfig, position: int, num_source: int, num_target: int
) -> Iterator[tuple[str, Any]]:
    """What the hooks would have recorded of a sentence by itself; all layers of a site have one mask."""
    for site, (layers, _) in config.shapes.items():
        stack, kind = site.split(".")
        rows = num_source if stack == "encoder" else num_target
        keys = num_source if kind == "cross" else rows
        mask = AttentionMask(num_queries=rows, num_keys=keys, causal=site == "decoder.self")
        for path in (site_path(site, layer) for layer in range(layers)):
            for part, length in zip(_PARTS, (rows, keys, keys), strict=True):
                yield f"{path}.{part}", joined[f"{path}.{part}"][position, :, :length]
            yield f"{path}.hook_mask", mask


def _translate(model: EncoderDecoder, source_ids: Tensor, padding: Tensor, memory: Tensor) -> list[list[int]]:
    """What greedy search emits: </s> last, unless it ran into the limit of length."""
    limits = length_limits(source_ids, padding).tolist()
    emitted = greedy_search(model, source_ids, padding, memory)
    end = [model.config.eos_id]
    return [ids if len(ids) == limit else [*ids, *end] for ids, limit in zip(emitted, limits, strict=True)]


BoolArray = npt.NDArray[np.bool_]
#: Of each sentence of a batch its tokens.
Tokens = Sequence[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class BatchMasks:
    """Masks of several sentences in one batch, as the model used them; True = may attend."""

    #: source_tokens, target_tokens: per sentence, padded with "<pad>" to the longest.
    source_tokens: tuple[tuple[str, ...], ...]
    target_tokens: tuple[tuple[str, ...], ...]
    #: per sentence, what the rows of its decoder are called: "die → Straße"; those of padding write nothing.
    row_names: tuple[tuple[str, ...], ...]
    encoder_self: BoolArray  #: source padding [batch, query, key]
    decoder_self: BoolArray  #: causal and target padding [batch, query, key]
    decoder_cross: BoolArray  #: source padding, for target rows [batch, query, key]
    causal: BoolArray  #: the causal part of `decoder_self` alone [query, key]
    target_padding: BoolArray  #: its padding part alone [batch, query, key]

    @classmethod
    def of(
        cls, recorded: Mapping[str, Any], source: Tokens, target: Tokens, following: Tokens, lengths: Sequence[int]
    ) -> "BatchMasks":
        """Those that a run over a batch of these tokens recorded in its first layers.

        Args:
            recorded: of `listen(record={"hook_mask"})`.
            source, target: what was read.
            following: what the model would write after each token of a target.
            lengths: how many tokens of each target are real.
        """
        encoder_self, decoder_self, decoder_cross = (recorded[f"{site_path(site, 0)}.hook_mask"][0] for site in SITES)
        causal, target_padding = decoder_self.parts()

        def rows(mask: AttentionMask) -> BoolArray:
            # Where no key is padding, one mask is that of all.
            return mask.rows().expand(len(source), -1, -1).cpu().numpy()

        return cls(
            source_tokens=tuple(source),
            target_tokens=tuple(target),
            row_names=tuple(
                tuple(
                    row_name(read, after) if row < length else read
                    for row, (read, after) in enumerate(zip(own, follow, strict=True))
                )
                for own, follow, length in zip(target, following, lengths, strict=True)
            ),
            encoder_self=rows(encoder_self),
            decoder_self=rows(decoder_self),
            decoder_cross=rows(decoder_cross),
            causal=causal.rows()[0].cpu().numpy(),
            target_padding=rows(target_padding),
        )


def names_in_batch(texts: Sequence[str]) -> list[str]:
    """What errors call each text of a batch. Raises an InputTextError if there is none."""
    if not texts:
        raise InputTextError("Pass at least one sentence.")
    if len(texts) == 1:
        return [said("The sentence")]
    return [said("Sentence {number}", number=number) for number in range(1, len(texts) + 1)]


@torch.inference_mode()
def run_batch(model: Transformer, tokenizer: Tokenizer, source_ids: Sequence[Sequence[int]]) -> BatchMasks:
    """Translate sources of token ids greedily, then read all of them with their translations in one padded batch."""
    source = pad(source_ids, model.config.pad_id).to(model.device)
    source_padding = key_padding(source, model.config.pad_id)
    outputs = greedy_search(model, source, source_padding)
    target = pad([[model.config.bos_id, *ids] for ids in outputs], model.config.pad_id).to(model.device)
    with listen(record={"hook_mask"}) as recorded:
        written = model(source, target, source_padding, key_padding(target, model.config.pad_id)).argmax(-1)
    read, own, following = ([tokenizer.tokens(ids) for ids in given.tolist()] for given in (source, target, written))
    return BatchMasks.of(recorded, read, own, following, [1 + len(ids) for ids in outputs])

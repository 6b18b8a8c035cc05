"""What every encoder–decoder gives to training, decoding and traces, whatever it computes with inside.

A model reads a source into a memory, then target rows, all at once or one after the other with a cache. Its attention
sites are modules at `site_path`, each an `AttentionSite` with hook points, so that what is recorded or edited there
means the same for all.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from model import interruption
from model.config import ModelConfig
from model.nn.attention import AttentionSite, KeptRows
from model.nn.hooks import Edit, HookPoint, rows_from
from model.nn.masks import AttentionMask
from model.nn.score_functions import ScoreFunction

SITES = ("encoder.self", "decoder.self", "decoder.cross")

SourceIds = Int[Tensor, "batch source"]
TargetIds = Int[Tensor, "batch target"]
Padding = Bool[Tensor, "batch source"] | None
TargetPadding = Bool[Tensor, "batch target"] | None
"""True at real tokens of sources, and of targets; None if all are."""
Memory = Float[Tensor, "batch source width"]
"""What an encoder puts out."""
TargetRows = Float[Tensor, "batch target d_model"]


def site_path(site: str, layer: int) -> str:
    """Module path of an attention site in a layer, for example `decoder.layers.0.cross_attention`."""
    stack, kind = site.split(".")
    return f"{stack}.layers.{layer}.{kind}_attention"


class LayerCache(NamedTuple):
    """What a decoder layer keeps: rows of the target, and the memory's keys and values."""

    target: KeptRows
    memory: KeptRows


class DecoderCache:
    """What a decoder keeps of the target rows that it has read, as many as its length: a step computes one row."""

    def __init__(self, num_layers: int) -> None:
        self.layers = [LayerCache(KeptRows(), KeptRows()) for _ in range(num_layers)]

    def __len__(self) -> int:
        return len(self.layers[0].target)

    def copy(self) -> "DecoderCache":
        """An independent cache of the same rows, which both share."""
        copied = DecoderCache(0)
        copied.layers = [LayerCache(*(KeptRows(*kept.tensors) for kept in layer)) for layer in self.layers]
        return copied

    def truncate(self, length: int) -> None:
        """Forget every target row from `length` on."""
        for layer in self.layers:
            layer.target.truncate(length)

    def select(self, batch: Tensor) -> None:
        """Keep these sentences (or beams) of the batch, in this order."""
        self.select_prefixes(batch)
        for layer in self.layers:
            layer.memory.select(batch)

    def select_prefixes(self, batch: Tensor) -> None:
        """Keep these beams, in this order, each of the same sentence as the row it replaces; the memory stays."""
        for layer in self.layers:
            layer.target.select(batch)


@dataclass(frozen=True, eq=False)
class DecoderInputs:
    """What every layer of a decoder can read beside the output of the layer below."""

    embedded: TargetRows  #: the target tokens of this call
    memory: Memory  #: what the encoder put out
    #: target_mask, memory_mask: which target rows and which rows of the memory a row may attend to.
    target_mask: AttentionMask
    memory_mask: AttentionMask


class Decoder(nn.Module):
    """Layers over the embedded target rows and the memory."""

    embedding: nn.Module  #: called with token ids and the position of the first
    layers: nn.ModuleList  #: called with rows, `DecoderInputs` and a `LayerCache` or None

    def forward(
        self,
        target_ids: TargetIds,
        memory: Memory,
        source_padding: Padding,
        target_padding: TargetPadding,
        cache: DecoderCache | None,
    ) -> TargetRows:
        """The last layer's output for these target rows, which follow those in the cache."""
        first, new, on = (0 if cache is None else len(cache)), target_ids.size(1), target_ids.device
        target_mask = AttentionMask(
            num_queries=new, num_keys=first + new, key_padding=target_padding, causal=True, first_query=first, device=on
        )
        memory_mask = AttentionMask(num_queries=new, num_keys=memory.size(1), key_padding=source_padding, device=on)
        with rows_from(first):
            inputs = DecoderInputs(self.embedding(target_ids, first), memory, target_mask, memory_mask)
            caches = [None] * len(self.layers) if cache is None else cache.layers
            return self.run_layers(inputs.embedded, inputs, caches)

    def run_layers(self, x: TargetRows, inputs: DecoderInputs, caches: Sequence[LayerCache | None]) -> TargetRows:
        """Run every layer, with its cache, on what the one below put out; the first on the embedded rows."""
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, inputs, cache)
        return x


class EncoderDecoder(nn.Module, ABC):
    """A model that reads a source and says, after each target row, which token follows."""

    config: ModelConfig
    encoder: nn.Module  #: called with a source and its padding
    #: called with target rows, the memory, the padding of source and target, and a cache from `new_cache`.
    decoder: Decoder
    projection: nn.Linear  #: from the decoder's output to logits

    def encode(self, source_ids: SourceIds, source_padding: Padding = None) -> Memory:
        """Read the source into a memory; `source_padding` is True at real tokens, None if all are."""
        interruption.pause()
        return self.encoder(source_ids, source_padding)  # type: ignore[no-any-return]

    def decode(
        self,
        target_ids: TargetIds,
        memory: Memory,
        source_padding: Padding = None,
        target_padding: TargetPadding = None,
        cache: DecoderCache | None = None,
    ) -> TargetRows:
        """Decoder output for these target rows; with a cache, for the rows that follow it.

        Padding follows every real token, so causality hides it from them even without `target_padding`.
        """
        interruption.pause()
        return self.decoder(target_ids, memory, source_padding, target_padding, cache)  # type: ignore[no-any-return]

    def new_cache(self) -> DecoderCache:
        """An empty cache for one decoding run."""
        return DecoderCache(len(self.decoder.layers))

    @property
    @abstractmethod
    def last_hook(self) -> str:
        """The hook of the decoder's last rows [batch, target, d_model]: what `logits_at_last_hook` reads."""

    def logits_at_last_hook(self, rows: Float[Tensor, "row d_model"]) -> Float[Tensor, "row vocab"]:
        """The logits of rows that `last_hook` recorded."""
        return self.projection(rows)  # type: ignore[no-any-return]

    def forward(
        self,
        source_ids: SourceIds,
        target_ids: TargetIds,
        source_padding: Padding = None,
        target_padding: TargetPadding = None,
    ) -> Float[Tensor, "batch target vocab"]:
        """Logits of the token after each target row, all rows at once (teacher forcing)."""
        memory = self.encode(source_ids, source_padding)
        return self.projection(self.decode(target_ids, memory, source_padding, target_padding))  # type: ignore[no-any-return]

    def attention_site(self, site: str, layer: int) -> AttentionSite:
        """The module of an attention site."""
        return cast(AttentionSite, self.get_submodule(site_path(site, layer)))

    def score_of(self, site: str, layer: int) -> ScoreFunction:
        """The score function of an attention site, as a constant on the CPU."""
        return self.attention_site(site, layer).score.to(torch.device("cpu"))

    @property
    def hook_names(self) -> frozenset[str]:
        """Full names of all hook points."""
        return frozenset(module.name for module in self.modules() if isinstance(module, HookPoint))

    def check_edits(self, edits: Mapping[str, Edit]) -> None:
        """Check that every edit is of a hook point of this model; a ValueError if there is no such point."""
        if unknown := sorted(set(edits) - self.hook_names):
            raise ValueError(f"no such hook points: {unknown}; see EncoderDecoder.hook_names")

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.projection.weight.device

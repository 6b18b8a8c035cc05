"""A choice that one of Headlight's own Transformers makes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.attribution.choice import AttentionSum, ChoiceRun, LayerRun, LayerSums, layer_run, with_residual
from model.analysis.residual_stream.capture import CapturedRun, Sublayer, capture
from model.nn.encoder_decoder import DecoderInputs, site_path
from model.nn.masks import AttentionMask
from model.translator import Translator

#: The points at which a token's own vector goes in, before its position is added.
EMBEDDINGS: Final = ("encoder.embedding.hook_embedding", "decoder.embedding.hook_embedding")


@dataclass(frozen=True, eq=False)
class TranslatorRun(ChoiceRun):
    """A choice of our own translator, run again as `ChoiceRun` says."""

    reader: Translator

    def embeddings(self) -> tuple[Float[Tensor, "1 position d_model"], ...]:
        """The scaled embeddings of what encoder and decoder read, as `ChoiceRun` says."""
        model = self.reader.model
        parts = zip((model.encoder.embedding, model.decoder.embedding), self._ids(), strict=True)
        return tuple((part.tokens(ids) * part.scale).detach() for part, ids in parts)

    def of_embeddings(self, *vectors: Float[Tensor, "batch _ _"]) -> Float[Tensor, "batch"]:
        """The choice with these vectors instead, as `ChoiceRun` says."""
        edits = {point: partial(_put, vector) for point, vector in zip(EMBEDDINGS, vectors, strict=True)}
        return self.choice.of_logits(self.reader.place_logits(self.choice.place, len(vectors[0]), edits))

    def layers(self) -> Iterator[LayerRun]:
        """Every layer, as `ChoiceRun` says."""
        model, (source, prefix) = self.reader.model, self._ids()
        device, num_source, num_rows = source.device, source.size(1), prefix.size(1)
        of_source = AttentionMask(num_queries=num_source, num_keys=num_source, device=device)
        of_prefix = AttentionMask(num_queries=num_rows, num_keys=num_rows, causal=True, device=device)
        across = AttentionMask(num_queries=num_rows, num_keys=num_source, device=device)
        x = model.encoder.embedding(source)
        for number, layer in enumerate(model.encoder.layers):
            read = partial(_read, layer, x, of_source)
            yield layer_run("encoder", _values(number, {"encoder.self": num_source}), read)
            x = layer(x, of_source)
        memory, x = model.encoder.norm(x), model.decoder.embedding(prefix)
        for number, layer in enumerate(model.decoder.layers):
            keys = {"decoder.self": num_rows, "decoder.cross": num_source}
            write = partial(_write, layer, DecoderInputs(x, memory, of_prefix, across))
            yield layer_run("decoder", _values(number, keys), write)
            x = write(1)

    def sums(self) -> Iterator[LayerSums]:
        """What the attentions put out, as `ChoiceRun` says."""
        run = capture(self.reader, self.trace)
        for layer in range(run.count("encoder")):
            yield LayerSums("encoder", attention_sum(run, Sublayer("encoder", layer, "self")))
        for layer in range(run.count("decoder")):
            within, across = (attention_sum(run, Sublayer("decoder", layer, kind)) for kind in ("self", "cross"))
            yield LayerSums("decoder", within, across)

    def _ids(self) -> tuple[Tensor, Tensor]:
        device = self.reader.device
        return torch.tensor([self.choice.source], device=device), torch.tensor([self.choice.prefix], device=device)


def attention_sum(run: CapturedRun, sublayer: Sublayer) -> AttentionSum:
    """The parts of what an attention put out in a run."""
    assert sublayer.site is not None
    inputs = run.trace.attention(sublayer.site, sublayer.layer)
    output = run.translator.output_projection(sublayer.site, sublayer.layer)
    parts = torch.einsum("hij,hjd->ijd", inputs.weights().cpu(), inputs.values().cpu() @ output)
    stays = run.before(sublayer)
    if not run.translator.config.residual:
        stays = torch.zeros_like(stays)
    is_across = sublayer.kind == "cross"
    parts = with_residual(parts, stays, is_across=is_across)
    if not run.is_pre_norm:
        norm = run.norm_of(sublayer)
        deviation = (run.norm_input(sublayer).var(-1, correction=0) + norm.eps).sqrt()
        parts = (parts - parts.mean(-1, keepdim=True)) / deviation[:, None, None] * norm.weight.detach().float().cpu()
    return AttentionSum(is_across, parts, run.after(sublayer))


def _put(vector: Tensor, _: Tensor) -> Tensor:
    return vector


def _values(layer: int, keys: Mapping[str, int]) -> dict[str, tuple[str, int]]:
    """Site → the hook of its values, and how many keys it has."""
    return {site: (f"{site_path(site, layer)}.hook_value", count) for site, count in keys.items()}


def _read(layer: Callable[..., Tensor], x: Tensor, mask: AttentionMask, copies: int) -> Tensor:
    return layer(x.expand(copies, -1, -1), mask)


def _write(layer: Callable[..., Tensor], inputs: DecoderInputs, copies: int) -> Tensor:
    x, memory = (vectors.expand(copies, -1, -1) for vectors in (inputs.embedded, inputs.memory))
    return layer(x, replace(inputs, embedded=x, memory=memory))

"""A choice that one of Headlight's own Transformers makes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis.attribution.choice import TokenChoice
from model.analysis.attribution.choice_run import AttentionSum, LayerRun, LayerSums
from model.analysis.residual_stream.additions import Stack
from model.analysis.residual_stream.capture import CapturedRun, Sublayer, capture
from model.nn.encoder_decoder import DecoderInputs, site_path
from model.nn.hooks import listen
from model.nn.masks import AttentionMask
from model.trace.trace import Trace
from model.translator import Translator

#: The points at which a token's own vector goes in, before its position is added.
EMBEDDINGS: Final = ("encoder.embedding.hook_embedding", "decoder.embedding.hook_embedding")
#: Tokens that are read side by side.
TOKENS_AT_ONCE: Final = 4_000


@dataclass(frozen=True, eq=False)
class TranslatorRun:
    """A `ChoiceRun`.

    Attributes:
        translator, trace: the model and what it read and wrote.
        choice: a token of that trace.
    """

    translator: Translator
    trace: Trace
    choice: TokenChoice

    @property
    def copies(self) -> int:
        """How often the text may be read side by side."""
        return max(1, TOKENS_AT_ONCE // self.choice.place.length)

    def embeddings(self) -> tuple[Float[Tensor, "1 position d_model"], ...]:
        """The scaled embeddings of what encoder and decoder read, as `ChoiceRun` says."""
        model = self.translator.model
        parts = zip((model.encoder.embedding, model.decoder.embedding), self._ids(1), strict=True)
        return tuple((part.tokens(ids) * part.scale).detach() for part, ids in parts)

    def of_embeddings(self, *vectors: Float[Tensor, "batch _ _"]) -> Float[Tensor, "batch"]:
        """The choice with these vectors instead, as `ChoiceRun` says."""
        source, prefix = self._ids(len(vectors[0]))
        model = self.translator.model
        edits = {point: partial(_put, vector) for point, vector in zip(EMBEDDINGS, vectors, strict=True)}
        with listen(edits=edits):
            hidden = model.decode(prefix, model.encode(source))
        return self.choice.of_logits(model.projection(hidden[:, -1]))

    def seen_logits(self, seen: Bool[Tensor, "batch source"]) -> Float[Tensor, "batch vocab"]:
        """The logits for variants of the source, as `ChoiceRun` says."""
        model, seen = self.translator.model, seen.to(self.translator.device)
        source, prefix = self._ids(len(seen))
        logits: Tensor = model.projection(model.decode(prefix, model.encode(source, seen), seen)[:, -1])
        return logits

    def layers(self) -> Iterator[LayerRun]:
        """Every layer, as `ChoiceRun` says."""
        model, (source, prefix) = self.translator.model, self._ids(1)
        device, num_source, num_rows = source.device, source.size(1), prefix.size(1)
        masks = {
            "encoder.self": AttentionMask(num_queries=num_source, num_keys=num_source, device=device),
            "decoder.self": AttentionMask(num_queries=num_rows, num_keys=num_rows, causal=True, device=device),
            "decoder.cross": AttentionMask(num_queries=num_rows, num_keys=num_source, device=device),
        }
        x = model.encoder.embedding(source)
        for number, layer in enumerate(model.encoder.layers):
            read = partial(_read, layer, masks["encoder.self"])
            yield _layer_run("encoder", number, read, x, {"encoder.self": num_source})
            x = read(x)
        memory, x = model.encoder.norm(x), model.decoder.embedding(prefix)
        for number, layer in enumerate(model.decoder.layers):
            write = partial(_write, layer, memory, masks["decoder.self"], masks["decoder.cross"])
            yield _layer_run("decoder", number, write, x, {"decoder.self": num_rows, "decoder.cross": num_source})
            x = write(x)

    def sums(self) -> Iterator[LayerSums]:
        """What the attentions put out, as `ChoiceRun` says."""
        run = capture(self.translator, self.trace)
        for layer in range(run.count("encoder")):
            yield LayerSums("encoder", attention_sum(run, Sublayer("encoder", layer, "self")))
        for layer in range(run.count("decoder")):
            within, across = (attention_sum(run, Sublayer("decoder", layer, kind)) for kind in ("self", "cross"))
            yield LayerSums("decoder", within, across)

    def _ids(self, copies: int) -> tuple[Tensor, Tensor]:
        source, prefix = (
            torch.tensor([ids], device=self.translator.device).expand(copies, -1)
            for ids in (self.choice.source, self.choice.prefix)
        )
        return source, prefix


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


def with_residual(
    parts: Float[Tensor, "row part d_model"], stays: Float[Tensor, "row d_model"], *, is_across: bool
) -> Float[Tensor, "row new_part d_model"]:
    """The parts with what the residual connection hands on, as `AttentionSum` has it."""
    if is_across:
        return torch.cat((parts, stays[:, None]), dim=1)
    rows = torch.arange(len(parts))
    parts[rows, rows] += stays
    return parts


def _put(vector: Tensor, _: Tensor) -> Tensor:
    return vector


def _read(layer: Callable[..., Tensor], mask: AttentionMask, x: Tensor) -> Tensor:
    return layer(x, mask)


def _write(
    layer: Callable[..., Tensor], memory: Tensor, causal: AttentionMask, across: AttentionMask, x: Tensor
) -> Tensor:
    return layer(x, DecoderInputs(x, memory.expand(len(x), -1, -1), causal, across))


def _layer_run(
    stack: Stack,
    number: int,
    layer: Callable[[Tensor], Tensor],
    x: Float[Tensor, "1 row d_model"],
    keys: Mapping[str, int],
) -> LayerRun:
    def without(site: str, positions: Sequence[int]) -> Tensor:
        with listen(edits={f"{site_path(site, number)}.hook_value": partial(zeroed, positions)}):
            return layer(x.expand(max(1, len(positions)), -1, -1))

    return LayerRun(stack, x.size(1), keys, without)


def zeroed(positions: Sequence[int], value: Float[Tensor, "copy head key d_v"]) -> Float[Tensor, "copy head key d_v"]:
    """Values of which each copy lacks those of one of these positions."""
    value = value.clone()
    value[torch.arange(len(positions)), :, list(positions)] = 0.0
    return value

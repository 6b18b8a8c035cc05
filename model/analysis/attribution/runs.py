"""A choice that a model makes: one of Headlight's own Transformers, or one of `transformers`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import torch
from jaxtyping import Float
from torch import Tensor

from model.adapters.layer_sums import FoundPart, find_parts
from model.adapters.library_parts import NOT_FOUND
from model.adapters.norms import norm_behind
from model.adapters.placement import weight_of
from model.adapters.stream_taps import LayerCall, ModuleCall, word_vectors
from model.adapters.text_reader import TextReader
from model.analysis.attribution.choice import AttentionSum, ChoiceRun, LayerRun, LayerSums, layer_run, with_residual
from model.analysis.residual_stream.capture import CapturedRun, Sublayer, capture
from model.analysis.residual_stream.token_path import deviation
from model.errors import TraceError
from model.nn.encoder_decoder import DecoderInputs, site_path
from model.nn.masks import AttentionMask
from model.parts.weights import Kind, Stack
from model.trace.trace import Trace
from model.translator import Translator


@dataclass(frozen=True, eq=False)
class LibraryRun(ChoiceRun):
    """A choice of a model of `transformers`, run again as `ChoiceRun` says."""

    reader: TextReader

    def embeddings(self) -> tuple[Float[Tensor, "1 position width"], ...]:
        """What the embeddings put out for the tokens, as `ChoiceRun` says."""
        with torch.no_grad(), word_vectors(self.reader.model, self._sides) as vectors:
            self.reader.place_logits(self.choice.place)
        return self._each(vectors)

    def of_embeddings(self, *vectors: Float[Tensor, "batch _ _"]) -> Float[Tensor, "batch"]:
        """The choice with these vectors instead, as `ChoiceRun` says."""
        with word_vectors(self.reader.model, self._sides, vectors) as used:
            logits = self.reader.place_logits(self.choice.place, len(vectors[0]))
        self._each(used)
        return self.choice.of_logits(logits)

    def layers(self) -> Iterator[LayerRun]:
        """Every layer, as `ChoiceRun` says."""
        calls, _ = self._layer_calls()
        for _, call in calls:
            assert call.given is not None
            keys = {f"{call.stack}.self": len(call.given), "decoder.cross": len(self.choice.source)}
            hooks = {
                site: (self.reader.value_hook(call.module, site), count)
                for site, count in keys.items()
                if count and site.startswith(call.stack)
            }
            yield layer_run(call.stack, hooks, partial(_again, call))

    def sums(self) -> Iterator[LayerSums]:
        """What the attentions put out, as `ChoiceRun` says."""
        calls, trace = self._layer_calls()
        dtype = next(self.reader.model.parameters()).dtype
        for number, call in calls:
            has_memory = call.stack == "decoder" and bool(self.choice.source)
            order: tuple[Kind, ...] = ("self", "cross", "feed_forward") if has_memory else ("self", "feed_forward")
            parts = find_parts(call, order, dtype)
            if parts is None:
                raise TraceError(NOT_FOUND)
            sums = [self._sum(trace, call.stack, number, part) for part in parts if part.kind != "feed_forward"]
            yield LayerSums(call.stack, *sums)

    @property
    def _sides(self) -> tuple[tuple[int, ...], ...]:
        return tuple(ids for ids in (self.choice.source, self.choice.prefix) if ids)

    def _each(self, vectors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        if len(vectors) != len(self._sides):
            raise TraceError(
                "No embedding layer that reads these tokens was found in this model, so their contribution is unknown."
            )
        return tuple(vectors)

    def _layer_calls(self) -> tuple[list[tuple[int, LayerCall]], Trace]:
        """Every layer with its number in its stack, and a trace of the run."""
        stacks: list[Stack] = ["encoder"] if self.choice.source else []
        stacks += ["decoder"] if self.choice.prefix else []
        with self.reader.tapped(dict.fromkeys(stacks)) as layers:
            trace = self.reader.trace_place(self.choice.place, self.choice.token)
        done = dict.fromkeys(stacks, 0)
        numbered = []
        for call in layers:
            numbered.append((done[call.stack], call))
            done[call.stack] += 1
        for stack, count in done.items():
            if count != len(self.reader.abilities.heads[f"{stack}.self"]):
                raise TraceError(NOT_FOUND)
        return numbered, trace

    def _sum(self, trace: Trace, stack: Stack, layer: int, part: FoundPart) -> AttentionSum:
        site = f"{stack}.{part.kind}"
        projection, module = (
            self.reader.layout.projection(site, layer),
            self.reader.layout.projections.get((site, layer)),
        )
        if projection is None or module is None:
            raise TraceError(NOT_FOUND)
        inputs = trace.attention(site, layer)
        parts = torch.einsum("hij,hjd->ijd", inputs.weights(), inputs.values() @ projection)
        total = parts.sum(1)
        if (bias := weight_of(module, "bias")) is not None:
            total = total + bias
        wrote = part.addition
        is_normed = deviation(total, wrote.put_out) > (close := self.reader.parts.tolerance)
        if is_normed and (wrote.given is None or deviation(total, wrote.given) > close):
            raise TraceError(NOT_FOUND)
        if is_normed:  # Some put a norm between an attention and the sum.
            parts = through_norm(parts, wrote, close, self.reader.device)
        parts = with_residual(parts, part.before, is_across=part.kind == "cross")
        if part.is_post and part.norm is not None:
            parts = through_norm(parts, part.norm, close, self.reader.device)
        return AttentionSum(part.kind == "cross", parts, part.after)


def _again(call: LayerCall, copies: int) -> Float[Tensor, "copy row d_model"]:
    """Run a layer again as it was called, so many copies at once."""
    output: Any = call.module(*copied(call.args, copies), **copied(call.kwargs, copies))
    result: Tensor = output[0] if isinstance(output, tuple) else output
    return result


def copied(value: Any, copies: int) -> Any:
    """What a layer is given for one text, for so many copies of it: its vectors; masks and tables hold for all."""
    if isinstance(value, Tensor) and value.dim() == 3 and value.size(0) == 1 and value.is_floating_point():
        return value.expand(copies, -1, -1)
    if isinstance(value, tuple | list):
        return type(value)(copied(each, copies) for each in value)
    if isinstance(value, dict):
        return {name: copied(each, copies) for name, each in value.items()}
    return value


def through_norm(
    parts: Float[Tensor, "row part d_model"], norm: ModuleCall, close: float, device: torch.device
) -> Float[Tensor, "row part d_model"]:
    """Parts of what a norm read as parts of what it put out, but for its bias: a linear map with its own deviation.

    A layer norm takes each part's mean off; an RMS norm (Zhang & Sennrich 2019) does not.
    """
    assert norm.given is not None
    put_out, given = norm.put_out, norm.given
    of = norm_behind(norm.module, parts.size(-1), device)
    gain, centres = of.gain, of.is_centred
    if centres:
        parts, given = parts - parts.mean(-1, keepdim=True), given - given.mean(-1, keepdim=True)
    if (bias := weight_of(norm.module, "bias")) is not None:
        put_out = put_out - bias
    # By what the vector was divided, without asking for the norm's own small numbers.
    scaled = given * gain
    factor = (put_out * scaled).sum(-1) / scaled.square().sum(-1)
    if deviation(scaled * factor[:, None], put_out) > close:
        raise TraceError(NOT_FOUND)
    return parts * gain * factor[:, None, None]


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
        deviation = (run.norm_input(sublayer).var(dim=-1, correction=0) + norm.eps).sqrt()
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

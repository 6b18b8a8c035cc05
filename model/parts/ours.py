"""The parts of Headlight's own Transformers."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import mul
from typing import Final, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.abilities import Abilities
from model.errors import EditError, TraceError, said
from model.nn.attention import AttentionInputs, MultiHeadAttention
from model.nn.edit_hooks import Edits
from model.nn.encoder_decoder import SITES, DecoderInputs, EncoderDecoder, site_path
from model.nn.hooks import STREAM, Edit, listen
from model.nn.layers import Embedding as EmbeddingModule
from model.nn.layers import FeedForward, Residual
from model.nn.masks import AttentionMask
from model.nn.transformer import Transformer
from model.parts.parts import Parts
from model.parts.removal import NOT_SCALED, PartOff, heads_off, places_of
from model.parts.run import Addition, Change, LayerRun, NormStep, Rows, Run, heads_as_in
from model.parts.weights import (
    AttentionWeights,
    Embedding,
    FeedForwardWeights,
    Norm,
    Norms,
    Projection,
    Stack,
    Start,
    Sublayer,
)
from model.trace.trace import ROUNDING, Trace

_MODULES: Final = {"self": "self_attention", "cross": "cross_attention", "feed_forward": "feed_forward"}

#: A trace, extras to record and edits → the trace of another run over the same tokens.
Rerun = Callable[[Trace, Set[str], Edits], Trace]


@dataclass(frozen=True, eq=False)
class OwnParts(Parts):
    """The parts of a Transformer of ours; `rerun` runs it."""

    model: Transformer
    abilities: Abilities
    rerun: Rerun

    @property
    def tolerance(self) -> float:
        """See `Parts`."""
        return ROUNDING[self.model.projection.weight.dtype]

    def table(self, stack: Stack) -> Float[Tensor, "token d_model"]:
        """See `Parts`."""
        return _held(self._embedding(stack).tokens.weight)

    def positional(self, trace: Trace) -> Float[Tensor, "position d_model"] | None:
        """See `Parts`."""
        module = self._embedding("encoder")
        return _held(module.learned.weight) * module.scale if module.scheme == "learned" else module.positions

    def embedding(self, stack: Stack) -> Embedding:
        """See `Parts`."""
        return Embedding(scale=self._embedding(stack).scale)

    def embed(self, stack: Stack, ids: Sequence[int]) -> Float[Tensor, "token d_model"]:
        """See `Parts`."""
        module = self._embedding(stack)
        return _held(module.tokens.weight[torch.as_tensor(ids, device=module.tokens.weight.device)]) * module.scale

    def norms(self, sublayer: Sublayer) -> Norms:
        """See `Parts`."""
        residual = cast(Residual, self.model.get_submodule(f"{path_of(sublayer)}_residual"))
        norm = _norm(residual.norm)
        return Norms(before=norm) if residual.is_pre_norm else Norms(after=norm)

    def final_norm(self, stack: Stack) -> Norm | None:
        """See `Parts`."""
        norm = self.model.get_submodule(stack).norm
        return _norm(norm) if isinstance(norm, nn.LayerNorm) else None

    def attention(self, site: str, layer: int) -> AttentionWeights:
        """See `Parts`."""
        module = self._attention(site, layer)
        query, key, value = (_by_head(linear, module.num_heads) for linear in (module.query, module.key, module.value))
        return AttentionWeights(query=query, key=key, value=value)

    def output(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """See `Parts`."""
        module = self._attention(site, layer)
        return _held(module.output.weight).T.reshape(module.num_heads, module.d_v, -1)

    def output_bias(self, site: str, layer: int) -> Float[Tensor, "d_model"] | None:
        """See `Parts`."""
        return _held(self._attention(site, layer).output.bias)

    def feed_forward(self, stack: Stack, layer: int) -> FeedForwardWeights:
        """See `Parts`."""
        module = cast(FeedForward, self.model.get_submodule(path_of(Sublayer(stack, layer, "feed_forward"))))
        inner, outer = _by_head(module.inner, 1), _by_head(module.outer, 1)
        return FeedForwardWeights(inner=inner, gate=None, outer=outer, activation=torch.relu, name="ReLU")

    def unembedding(self) -> Float[Tensor, "token d_model"]:
        """See `Parts`."""
        return _held(self.model.projection.weight)

    @property
    def num_tokens(self) -> int:
        """See `Parts`."""
        return self.model.config.vocab_size

    @torch.inference_mode()
    def logits(self, rows: Float[Tensor, "row d_model"]) -> Float[Tensor, "row token"]:
        """See `Parts`."""
        projected: Tensor = self.model.projection(rows.to(self.model.projection.weight))
        return projected.float()

    @torch.inference_mode()
    def layer_inputs(
        self,
        site: str,
        layer: int,
        rows: Float[Tensor, "row d_model"],
        memory: Float[Tensor, "key d_model"] | None = None,
        distance: int = 0,
    ) -> AttentionInputs:
        """See `Parts`. No distance changes anything: positions are added to tokens."""
        weights, norms = self.attention(site, layer), self.norms(Sublayer.of_site(site, layer))
        read = rows if norms.before is None else norms.before(rows)
        keys = read if memory is None else memory
        module = self._attention(site, layer)
        return AttentionInputs(
            query=weights.query(read),
            key=weights.key(keys),
            value=weights.value(keys),
            mask=AttentionMask(num_queries=len(rows), num_keys=len(keys)),
            scale=module.scale,
            score=self.model.score_of(site, layer),
        )

    def without(self, off: PartOff) -> AbstractContextManager[object]:
        """See `Parts`."""
        return listen(edits=edits_without(self.model, off))

    def run(self, trace: Trace, edits: Edits | None = None, at: Mapping[Stack, Rows] | None = None) -> "OwnRun":
        """See `Parts`. What is asked of it raises an InputTextError or TokenError if the trace is of another model."""
        return OwnRun(self, trace, edits, dict.fromkeys(self.stacks) if at is None else at)

    def start(self, trace: Trace, stack: Stack) -> Start:
        """See `Parts`."""
        embedding, *positional = self.run(trace).begin(stack)
        read = torch.stack([embedding, *positional]).sum(0)
        return Start(read=read, summed=read, embedding=embedding, positional=positional[0] if positional else None)

    @torch.inference_mode()
    def additions_at(
        self, trace: Trace, stack: Stack, rows: Sequence[int], start: Float[Tensor, "row d_model"]
    ) -> tuple[Addition, ...]:
        """See `Parts`."""
        x = start[None].to(self.model.projection.weight)
        # Whatever they may attend to: their heads put out what they did in the trace.
        mask = AttentionMask(num_queries=len(rows), num_keys=len(rows), device=x.device)
        inputs = DecoderInputs(x, x, mask, mask)
        with heads_as_in(trace, stack, rows, STREAM) as recorded:
            for layer in (self.model.encoder if stack == "encoder" else self.model.decoder).layers:
                x = layer(x, mask if stack == "encoder" else inputs)
        layers = self.additions_of(stack, start, lambda name: recorded[name][0][0].float().cpu())
        return tuple(addition for of_layer in layers for addition in of_layer)

    def additions_of(
        self,
        stack: Stack,
        start: Float[Tensor, "*rows d_model"],
        recorded: Callable[[str], Float[Tensor, "*rows width"]],
    ) -> tuple[tuple[Addition, ...], ...]:
        """What the sub-layers of each layer added to where the stream starts, by what was recorded at each hook."""
        found, stream = [], start
        for layer in range(self.count(stack)):
            of_layer = []
            for kind in self.kinds(stack):
                addition = self._addition(Sublayer(stack, layer, kind), stream, recorded)
                of_layer.append(addition)
                stream = addition.after
            found.append(tuple(of_layer))
        return tuple(found)

    def _addition(
        self,
        sublayer: Sublayer,
        before: Float[Tensor, "*rows d_model"],
        recorded: Callable[[str], Float[Tensor, "*rows width"]],
    ) -> Addition:
        path, norms = path_of(sublayer), self.norms(sublayer)
        added, summed, normed = (recorded(f"{path}_residual.hook_{name}") for name in ("sublayer", "sum", "normed"))
        norm = norms.before or norms.after
        assert norm is not None
        is_post = norms.before is None
        return Addition(
            kind=sublayer.kind,
            before=before,
            read=before if is_post else normed,
            added=added,
            summed=summed,
            after=normed if is_post else summed,
            norm=NormStep(norm=norm, before=summed if is_post else before, after=normed),
            is_post=is_post,
            hidden=recorded(f"{path}.hook_hidden") if sublayer.kind == "feed_forward" else None,
            has_skip=self.model.config.residual,
        )

    def _embedding(self, stack: Stack) -> EmbeddingModule:
        return self.model.encoder.embedding if stack == "encoder" else self.model.decoder.embedding

    def _attention(self, site: str, layer: int) -> MultiHeadAttention:
        if not 0 <= layer < len(self.abilities.heads.get(site, ())):
            message = "There is no layer {layer} of {site!r}; attentions are {shapes}."
            raise TraceError(message, layer=layer, site=site, shapes=", ".join(self.abilities.sites))
        return cast(MultiHeadAttention, self.model.attention_site(site, layer))


@dataclass(frozen=True, eq=False)
class OwnRun(Run):
    """A run of a Transformer of ours: of each stack the row or rows that are kept, or None for all."""

    parts: OwnParts
    before: Trace  #: over whose tokens it goes
    edits: Edits | None
    rows: Mapping[Stack, Rows]

    @cached_property
    def trace(self) -> Trace:
        """See `Run`."""
        return self.parts.rerun(self.before, STREAM, self.before.edits if self.edits is None else self.edits)

    def levels(self, stack: Stack) -> Float[Tensor, "level *rows d_model"]:
        """See `Run`. A trace has them, unless it was loaded from a file."""
        outputs = [f"{stack}.layers.{layer}.hook_output" for layer in range(self.parts.count(stack))]
        return torch.stack([torch.stack(self.begin(stack)).sum(0), *self._recorded(stack, outputs)])

    def begin(self, stack: Stack) -> list[Float[Tensor, "*rows d_model"]]:
        """Embeddings, and positional encodings if there are any: their sum is level 0."""
        begin = [f"{stack}.embedding.hook_{part}" for part in ("embedding", "positional")]
        begin = begin[:1] if self.parts.model.config.positions == "none" else begin
        return self._recorded(stack, begin)

    def additions(self, stack: Stack) -> tuple[tuple[Addition, ...], ...]:
        """See `Run`."""
        return self.parts.additions_of(stack, torch.stack(self.begin(stack)).sum(0), partial(self._of, stack))

    def layers(self) -> Iterator[LayerRun]:
        """See `Run`."""
        model = self.parts.model
        source, prefix = (self.levels(stack).to(model.projection.weight) for stack in self.parts.stacks)
        num_source, num_rows, device = source.size(1), prefix.size(1), source.device
        of_source = AttentionMask(num_queries=num_source, num_keys=num_source, device=device)
        of_prefix = AttentionMask(num_queries=num_rows, num_keys=num_rows, causal=True, device=device)
        across = AttentionMask(num_queries=num_rows, num_keys=num_source, device=device)
        for number, (layer, x) in enumerate(zip(model.encoder.layers, source[:-1], strict=True)):
            values = _values(number, {"encoder.self": num_source})
            yield LayerRun(stack="encoder", values=values, again=partial(_read, layer, x, of_source))
        memory = model.encoder.norm(source[-1])
        for number, (layer, x) in enumerate(zip(model.decoder.layers, prefix[:-1], strict=True)):
            values = _values(number, {"decoder.self": num_rows, "decoder.cross": num_source})
            inputs = DecoderInputs(x, memory, of_prefix, across)
            yield LayerRun(stack="decoder", values=values, again=partial(_write, layer, inputs))

    def changed(self, changes: Sequence[Change]) -> AbstractContextManager[object]:
        """See `Run`."""
        edits: dict[str, Edit] = {}
        for change in changes:
            if change.number < 0:
                # Embeddings are heard before positions are added to them.
                start = torch.stack(self.begin(change.stack)).sum(0)
                more = change.vectors - start[list(change.rows)]
                edits[f"{change.stack}.embedding.hook_embedding"] = partial(_with_more, list(change.rows), more)
            else:
                sublayer = self.parts.sublayers(change.stack)[change.number]
                edits[f"{path_of(sublayer)}_residual.hook_sublayer"] = change
        return listen(edits=edits)

    def _recorded(self, stack: Stack, names: Sequence[str]) -> list[Float[Tensor, "*rows d_model"]]:
        is_known = self.edits is None and f"{stack}.embedding.hook_embedding" in self.before.recorded
        length = len(self.before.source_ids if stack == "encoder" else self.before.target_ids)
        shape = (length, self.parts.model.config.d_model)
        every = recorded_rows(self.before if is_known else self.trace, names, shape)
        return [self._kept(stack, one) for one in every]

    def _of(self, stack: Stack, name: str) -> Float[Tensor, "*rows width"]:
        return self._kept(stack, self.trace.recorded[name])

    def _kept(self, stack: Stack, every: Float[Tensor, "row width"]) -> Float[Tensor, "*rows width"]:
        rows = self.rows[stack]
        return every[slice(None) if rows is None else list(rows) if isinstance(rows, tuple) else rows].float()


def recorded_rows(trace: Trace, names: Sequence[str], shape: tuple[int, int]) -> list[Float[Tensor, "row d_model"]]:
    """What a trace recorded at these hooks. Raises a TraceError if it is not of this shape."""
    for name in names:
        actual = tuple(trace.recorded[name].shape) if name in trace.recorded else None
        if actual != shape:
            message = (
                "This trace was not made by this model: {name} should be {shape}, but is {actual}. Trace the sentence "
                "again with the checkpoint that is open."
            )
            raise TraceError(message, name=name, shape=shape, actual=actual or "missing")
    return [trace.recorded[name] for name in names]


@dataclass(frozen=True, eq=False)
class EarlierParts(Parts):
    """What is known of a model from before the Transformer: the tables of its tokens and positions."""

    model: EncoderDecoder
    abilities: Abilities

    @property
    def why(self) -> str:  # type: ignore[override]
        """See `Parts`."""
        return said(
            "Not all layers of this model add to one sum, the residual stream. {why}",
            why=self.abilities.lacks["self-attention"],
        )

    def table(self, stack: Stack) -> Float[Tensor, "token width"]:
        """See `Parts`."""
        return _held(self.model.get_parameter(f"{stack}.embedding.tokens.weight"))

    def positional(self, trace: Trace) -> Float[Tensor, "position d_model"] | None:
        """See `Parts`."""
        has_none = self.abilities.positions == "none"
        return None if has_none else _held(self.model.get_parameter("encoder.embedding.embed_positions.weight"))


def edits_without(model: Transformer, off: PartOff) -> dict[str, Edit]:
    """Full hook name → the function that takes the part out there. Raises an EditError if there is no such part."""
    config = model.config
    if off.part == "positions":
        if config.positions == "none":
            raise EditError("This model was trained without positional encodings, so they cannot be removed.")
        return {f"{stack}.embedding.hook_positional": torch.zeros_like for stack in ("encoder", "decoder")}
    heads = {site: (config.num_heads,) * config.layers_of(site) for site in SITES}
    places = places_of(off, heads)
    if off.part == "scaling":
        if config.attention_scale == 1:
            raise EditError(NOT_SCALED)
        # Queries times √d_k undo the scaling of their scores, on the fused path.
        return {f"{site_path(*place)}.hook_query": partial(mul, 1 / config.attention_scale) for place in places}
    if off.part == "heads":
        return heads_off(off, heads)
    if off.part == "residuals" and not config.residual:
        raise EditError("This model was trained without residual connections, so they cannot be removed.")
    hook, edit = ("hook_skip", torch.zeros_like) if off.part == "residuals" else ("hook_norm", lambda norm: lambda x: x)
    return {f"{path}.{hook}": edit for path in _residuals(places)}


def _residuals(places: Sequence[tuple[str, int]]) -> list[str]:
    """The paths of all residual connections in the layers of these attentions."""
    attention = [f"{site_path(site, layer)}_residual" for site, layer in places]
    layers = dict.fromkeys(f"{site.split('.')[0]}.layers.{layer}" for site, layer in places)
    return [*attention, *(f"{layer}.feed_forward_residual" for layer in layers)]


def path_of(sublayer: Sublayer) -> str:
    """The module path of a sub-layer; that of its residual connection has "_residual" behind."""
    return f"{sublayer.stack}.layers.{sublayer.layer}.{_MODULES[sublayer.kind]}"


def _with_more(rows: list[int], more: Tensor, value: Tensor) -> Tensor:
    changed = value.clone()
    changed[:, rows] += more.to(value)
    return changed


def _values(layer: int, keys: Mapping[str, int]) -> dict[str, tuple[str, int]]:
    return {site: (f"{site_path(site, layer)}.hook_value", count) for site, count in keys.items()}


def _read(layer: Callable[..., Tensor], x: Tensor, mask: AttentionMask, copies: int) -> Tensor:
    return layer(x.expand(copies, -1, -1), mask)


def _write(layer: Callable[..., Tensor], inputs: DecoderInputs, copies: int) -> Tensor:
    x, memory = (vectors.expand(copies, -1, -1) for vectors in (inputs.embedded, inputs.memory))
    return layer(x, replace(inputs, embedded=x, memory=memory))


def _norm(norm: nn.LayerNorm) -> Norm:
    return Norm(gain=_held(norm.weight), bias=_held(norm.bias), epsilon=float(norm.eps), is_centred=True)


def _by_head(linear: nn.Linear, num_heads: int) -> Projection:
    weight = _held(linear.weight).T.reshape(linear.in_features, num_heads, -1).transpose(0, 1)
    return Projection(weight=weight, bias=None if linear.bias is None else _held(linear.bias).view(num_heads, -1))


def _held(values: Tensor) -> Tensor:
    return values.detach().float().cpu()

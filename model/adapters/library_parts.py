"""The parts of models of `transformers`, found by what their modules do, never by what they are called."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from operator import mul
from typing import Any, Final, NamedTuple, cast
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.abilities import Abilities
from model.adapters.capture import Call, layers_counted
from model.adapters.layer_sums import FoundPart
from model.adapters.library import LINEAR, embeddings
from model.adapters.library_run import LibraryRun
from model.adapters.networks import find_network, find_projection, projection_of
from model.adapters.norms import NORM_UNKNOWN, final_norm, is_norm, is_same, norm_behind, outside_layers
from model.adapters.placement import present, weight_of
from model.adapters.probe import LayerNorms, NoProducts, NoRows, PositionTables, Rotations
from model.adapters.stream_taps import Called, LayerCall, ModuleCall, tapped
from model.adapters.text_tracer import TextTracer
from model.errors import EditError, TraceError, said
from model.nn.attention import AttentionInputs
from model.nn.edit_hooks import Edits
from model.nn.encoder_decoder import site_path
from model.nn.hooks import CALL, Edit, listen
from model.nn.masks import AttentionMask
from model.parts.parts import Parts
from model.parts.removal import NOT_SCALED, PartOff, heads_off, places_of
from model.parts.run import Addition, Rows, heads_as_in
from model.parts.weights import (
    AttentionWeights,
    Beginning,
    Embedding,
    FeedForwardWeights,
    InnerNorms,
    Norm,
    Norms,
    Projection,
    Stack,
    Start,
    Sublayer,
)
from model.trace.trace import ROUNDING, Recorded, Trace

#: Fewer tokens than these may have numbers that follow each other by chance.
FEWEST: Final = 3
#: Vectors that a layer is given at once.
ROWS_AT_ONCE: Final = 64
#: In so many an attention's queries, keys and values are compared with what its matrices put out.
ROWS_MATCHED: Final = 8
#: How positions are known that are added to the embeddings.
ADDED: Final = ("learned", "sinusoidal")
NO_LAYER: Final = said("The layers of this model cannot be run separately, so their queries and keys are unknown.")
NO_DISTANCE: Final = said("This model accepts no positions, so no distance can be chosen.")
WEIGHTS_ONLY: Final = said("This model exposes only its attention weights, so what its sub-layers add is unknown.")
NO_NETWORK: Final = said(
    "The matrices of this feed-forward network were not found: it is a mixture of experts, or has an unknown "
    "activation function."
)
EMBEDDINGS_UNKNOWN: Final = said("This model does more to its token embeddings than scale and normalise them.")
POSITIONS_STAY: Final = said(
    "Headlight found no table of positions that this model adds to its embeddings, so positions cannot be removed."
)
RESIDUALS_STAY: Final = said(
    "The norms of this model come before its sub-layers, so its residual connections are additions between its modules "
    "and cannot be removed."
)
NOT_ADDED: Final = said(
    "The layers of this model do not begin with the sum of token embeddings and positional encodings, so neither can "
    "be shown separately."
)
#: By what a token's row is multiplied, None where that is not all, and the norm after that.
_Begins = tuple[float | None, Norm | None]
#: Distance, vectors at once → with what the layers are called for them.
_Probes = dict[tuple[int, int], list[LayerCall]]
_PROBES: Final[WeakKeyDictionary[nn.Module, _Probes]] = WeakKeyDictionary()
#: What is between the encoder of a model and what attends to it.
_BETWEEN: Final[WeakKeyDictionary[nn.Module, Projection | None]] = WeakKeyDictionary()
#: The stacks of a model that cannot be run over some of their rows.
_READ_WHOLE: Final[WeakKeyDictionary[nn.Module, set[Stack]]] = WeakKeyDictionary()
_BEGINS: Final[WeakKeyDictionary[nn.Module, dict[Stack, _Begins]]] = WeakKeyDictionary()
#: Largest difference, in units of a logit, between what is made of the last level and what the model says.
TOLERANCE: Final = 1e-2
_NORMS: Final[WeakKeyDictionary[nn.Module, Mapping[Sublayer, Norms]]] = WeakKeyDictionary()


class _Output(NamedTuple):
    """What is done to products of a vector with the output matrix."""

    factor: float
    bias: Float[Tensor, "token"] | None
    cap: float | None


_OUTPUTS: Final[WeakKeyDictionary[nn.Module, _Output]] = WeakKeyDictionary()


class _Called(Exception):
    """An attention was called: what its layer would do with it is not wanted."""


@dataclass(frozen=True, eq=False)
class LibraryParts(Parts):
    """The parts of a model that reads text."""

    reader: TextTracer
    _probes: _Probes = field(default_factory=dict)  #: of other distances than 0

    @property
    def abilities(self) -> Abilities:  # type: ignore[override]
        """See `Parts`."""
        return self.reader.abilities

    @property
    def why(self) -> str:  # type: ignore[override]
        """See `Parts`."""
        return "" if self.abilities.knows_inputs else WEIGHTS_ONLY

    @property
    def tolerance(self) -> float:
        """How far recomputed sums may be from the model's, as a share, by rounding alone."""
        return 10 * ROUNDING[self._weight.dtype]

    @torch.inference_mode()
    def embedding(self, stack: Stack) -> Embedding:
        """See `Parts`."""
        table, (factor, norm) = self._table(stack), self._begins(stack)
        if factor is None:
            raise TraceError(EMBEDDINGS_UNKNOWN)
        with present(table):
            row = table.weight[1].float().cpu()
        scale = factor * float((self._looked_up(stack, [1])[0] * row).sum() / row.square().sum())
        return Embedding(scale=scale, norm=norm)

    def table(self, stack: Stack) -> Float[Tensor, "token width"]:
        """See `Parts`."""
        return cast(Tensor, weight_of(self._table(stack)))

    @torch.inference_mode()
    def positional(self, trace: Trace) -> Float[Tensor, "..."] | None:
        """See `Parts`. Of a table, the first that it looks positions up in."""
        source, target = (ids if len(ids) >= FEWEST else ids * FEWEST for ids in (trace.source_ids, trace.target_ids))
        tables, rotations = PositionTables(FEWEST), Rotations(len(source or target))
        is_rotary = self.abilities.positions == "rotary"
        model: Any = self.reader.model
        with rotations if is_rotary else tables:
            model.base_model(**self.reader.arguments(source, target))
        if is_rotary:
            return None if (sines := rotations.sines()) is None else sines[1].asin()
        found = tables.found(embeddings(model).weight)
        return found[0][0].detach()[found[0][1] :] if found else None

    def beginning(self, trace: Trace, stack: Stack) -> Beginning:
        """See `Parts`."""
        return self.beginning_of(stack, trace.source_ids, trace.target_ids)

    @torch.inference_mode()
    def beginning_of(self, stack: Stack, source_ids: Sequence[int], target_ids: Sequence[int]) -> Beginning:
        """The same of any tokens, seen in a run over them. Raises a TraceError if it begins with another sum."""
        if self.abilities.positions not in ADDED or self.embedding(stack).norm is not None:
            raise TraceError(NOT_ADDED)
        ids, tables = source_ids if stack == "encoder" else target_ids, PositionTables(FEWEST)
        source, target = (ids if len(ids) >= FEWEST else [*ids] * FEWEST for ids in (source_ids, target_ids))
        with tables, self._tapped({stack: None}, ends=True) as layers:
            self.reader.model.base_model(**self.reader.arguments(source, target))  # type: ignore[operator]
        embedding, read = self.embed(stack, ids), layers[-1].given
        for table, first in tables.found(self._table(stack).weight):
            added = table[first : first + len(ids)].detach().float().cpu()
            both = None if added.shape != embedding.shape else embedding + added
            if read is not None and both is not None and is_same(both, read[: len(ids)], self.tolerance):
                return Beginning(embedding, added)
        raise TraceError(NOT_ADDED)

    @torch.inference_mode()
    def embed(self, stack: Stack, ids: Sequence[int]) -> Float[Tensor, "token d_model"]:
        """See `Parts`. Where more than positions is added to tokens, it is what their table holds."""
        factor, norm = self._begins(stack)
        if factor is not None or self.abilities.positions in ADDED:
            vectors = self._looked_up(stack, ids) * (factor or 1.0)
            return vectors if norm is None else norm(vectors)
        with self._tapped({stack: None}, ends=True) as layers:
            self._run(ids)
        read = layers[-1].given
        if read is None or read.shape != (len(ids), self._table(stack).weight.size(1)):
            raise TraceError(NO_LAYER)
        return read

    def _looked_up(self, stack: Stack, ids: Sequence[int]) -> Float[Tensor, "token d_model"]:
        vectors: Tensor = self._table(stack)(torch.as_tensor(ids, device=self.reader.device))
        return vectors.float().cpu()

    def _begins(self, stack: Stack) -> _Begins:
        """What is done to a token's row of the table, seen in two tokens, each alone."""
        known = _BEGINS.setdefault(self.reader.model, {})
        if stack not in known:
            if (size := self._table(stack).weight.size(1)) != (width := self._width(stack)):
                message = (
                    "The token embeddings of this model have {size} dimensions, but its layers read {width}, so what "
                    "its heads do with a single token is unknown."
                )
                raise TraceError(message, size=size, width=width)
            plain = (token for token in range(self.reader.vocab_size) if token not in self.reader.special_ids)
            tokens = [next(plain), next(plain)]
            read, modules = zip(*(self._begin(stack, token) for token in tokens), strict=True)
            one, other = self._looked_up(stack, tokens)
            moved, turned = read[0] - read[1], one - other
            factor = float((moved * turned).sum() / turned.square().sum())
            factor = next((whole for whole in (1.0, len(one) ** 0.5) if abs(whole - factor) < 1e-3 * whole), factor)
            is_all = is_same(turned * factor, moved, self.tolerance)
            norm = None if modules[0] is None else norm_behind(modules[0], len(one), self.reader.device)
            known[stack] = (factor, norm) if is_all else (None, None)
        return known[stack]

    def _begin(self, stack: Stack, token: int) -> tuple[Float[Tensor, "d_model"], nn.Module | None]:
        """What the first layer reads of a token, or what the norm before it does; and that norm."""
        put_out: list[ModuleCall] = []

        def note(module: nn.Module, given: Any, output: Any) -> None:
            if given and all(isinstance(each, Tensor) and each.dim() == 3 for each in (given[0], output)):
                put_out.append(ModuleCall(module, given[0][0].float().cpu(), output[0].float().cpu()))

        with ExitStack() as hooks:
            for module in outside_layers(self.reader.model):
                hooks.callback(module.register_forward_hook(note).remove)
            layers = hooks.enter_context(self._tapped({stack: None}, ends=True))
            self._run([token])
        read = layers[-1].given
        if read is None or read.shape != (1, self._width(stack)):
            raise TraceError(NO_LAYER)
        for call in put_out:
            if (
                call.given is not None
                and is_same(call.put_out, read, self.tolerance)
                and is_norm(call.module, call.given)
            ):
                return call.given[0], call.module
        return read[0], None

    @torch.inference_mode()
    def norms(self, sublayer: Sublayer) -> Norms:
        """See `Parts`."""
        if self.reader.model not in _NORMS:
            run = LibraryRun(self, self.reader, lambda: self._run([1, 2]), dict.fromkeys(self.stacks))
            _NORMS[self.reader.model] = {
                Sublayer(stack, number, part.kind): _norms_of(part)
                for stack in self.stacks
                for number, layer in enumerate(run.additions(stack))
                for part in layer
            }
        return _NORMS[self.reader.model][sublayer]

    def final_norm(self, stack: Stack) -> Norm | None:
        """See `Parts`."""
        norm, width = final_norm(self.reader.model, stack, partial(self._arguments, [1, 2], stack)), self._width(stack)
        if norm is None or not is_norm(norm, torch.randn(2, width)):
            return None
        return norm_behind(norm, width, self.reader.device)

    @torch.inference_mode()
    def attention(self, site: str, layer: int) -> AttentionWeights:
        """See `Parts`. Norms of queries and keys are left out."""
        at = self._checked(site, layer)
        found, between = self._of_attention(at), self._memory_projection() if at.kind == "cross" else None
        if between is None:
            return found
        return replace(found, key=found.key.after(between), value=found.value.after(between))

    def _of_attention(self, at: Sublayer) -> AttentionWeights:
        """The same of the vectors with which it is called."""
        return self._in_matrices(at) or self._of_units(at)

    def _memory_projection(self) -> Projection | None:
        """The matrix by which what the encoder puts out is brought to the width of what attends to it, if any."""
        model, calls = self.reader.model, list[tuple[nn.Module, Tensor]]()
        if model not in _BETWEEN:
            with ExitStack() as hooks:
                for module in outside_layers(model):
                    if isinstance(module, LINEAR):
                        hook = module.register_forward_hook(lambda each, _, output: calls.append((each, output)))
                        hooks.callback(hook.remove)
                layers = hooks.enter_context(self._tapped({"decoder": 0}, has_modules=False))
                self._run([1, 2])
            (memory,) = (each.memory for each in layers[0].attentions[1:2])
            found = (each for each, output in calls if memory is not None and torch.equal(output, memory))
            _BETWEEN[model] = next(map(projection_of, found), None)
        return _BETWEEN[model]

    def _in_matrices(self, at: Sublayer) -> AttentionWeights | None:
        """Of matrices whose output for a few vectors is the attention's; None where it is not, as with an adapter."""
        calls, random = list[ModuleCall](), torch.Generator().manual_seed(1)
        both = [torch.randn(ROWS_MATCHED, width, generator=random) for width in self._widths(at)]
        rows, memory = (each.to(self._weight.dtype).float() for each in both)

        def note(module: nn.Module, args: tuple[Any, ...], output: Tensor) -> None:
            given, put_out = (each[0].float().cpu() for each in (args[0], output))
            if torch.equal(given, rows) or torch.equal(given, memory):
                calls.append(ModuleCall(module, given, put_out))

        with ExitStack() as hooks:
            for module in self._called(at, ROWS_MATCHED).module.modules():
                if isinstance(module, LINEAR):
                    hooks.callback(module.register_forward_hook(note).remove)
            made = self._made(at, rows, memory, ROWS_MATCHED)
        query, key, value = (find_projection(calls, each) for each in (made.query, made.key, made.value))
        if query is None or key is None or value is None:
            return None
        return AttentionWeights(query=query, key=key, value=value)

    def _of_units(self, at: Sublayer) -> AttentionWeights:
        """Of what the attention makes of each unit vector."""
        width, memory = self._widths(at)
        zero = self._made(at, torch.zeros(1, width), torch.zeros(1, memory), ROWS_AT_ONCE)
        unit = self._made(at, torch.eye(width), torch.eye(memory), ROWS_AT_ONCE)
        both = zip((zero.query, zero.key, zero.value), (unit.query, unit.key, unit.value), strict=True)
        query, key, value = (
            Projection(weight=rows - bias, bias=bias[:, 0] if bool(bias.any()) else None) for bias, rows in both
        )
        return AttentionWeights(query=query, key=key, value=value)

    def _called(self, at: Sublayer, at_once: int = ROWS_AT_ONCE) -> Called:
        """With what an attention is called, for so many vectors at once."""
        return self._calls(at.stack, 0, at_once)[at.layer].attentions[self.kinds(at.stack).index(at.kind)]

    def _made(
        self, at: Sublayer, rows: Float[Tensor, "row d_model"], memory: Float[Tensor, "key width"], at_once: int
    ) -> AttentionInputs:
        """As `_asked`, without norms of queries and keys."""
        inside = {module for module in self._called(at, at_once).module.modules() if _is_norm_inside(module)}
        with self._tapped({}, skipped=inside):
            return self._asked(at, rows, memory, at_once)

    def _asked(
        self,
        at: Sublayer,
        rows: Float[Tensor, "row d_model"],
        memory: Float[Tensor, "key width"],
        at_once: int = ROWS_AT_ONCE,
    ) -> AttentionInputs:
        """What an attention makes of vectors with which it is called, as queries, and as keys in self-attention; of a
        memory in cross-attention."""
        called = self._called(at, at_once)
        queries = self._attended(at.stack, rows, 0, called.again, at_once)
        if at.kind == "self":
            return queries
        seen = self._attended(at.stack, memory, 0, partial(called.again, cast(Tensor, called.hidden)), at_once)
        mask = AttentionMask(num_queries=len(rows), num_keys=len(memory))
        return replace(queries, key=seen.key, value=seen.value, mask=mask)

    def _widths(self, at: Sublayer) -> tuple[int, int]:
        """Of the vectors that an attention makes queries of, and of those that it makes keys of."""
        width, memory = self._width(at.stack), self._called(at).memory if at.kind == "cross" else None
        return width, width if memory is None else memory.size(-1)

    @torch.inference_mode()
    def inner_norms(self, site: str, layer: int) -> InnerNorms:
        """See `Parts`. Found by what they are given: the projections of some vectors."""
        at = self._checked(site, layer)
        given, random = list[tuple[nn.Module, Tensor]](), torch.Generator().manual_seed(1)

        def note(module: nn.Module, args: tuple[Any, ...]) -> None:
            given.append((module, args[0].float().cpu()))

        rows, memory = (torch.randn(FEWEST, width, generator=random) for width in self._widths(at))
        with ExitStack() as hooks:
            for module in self._called(at).module.modules():
                if _is_norm_inside(module):
                    hooks.callback(module.register_forward_pre_hook(note).remove)
            self._asked(at, rows, memory)
        if not given:
            return InnerNorms()
        weights = self._of_attention(at)

        def norm_of(projected: Float[Tensor, "head row width"]) -> Norm | None:
            by_row = projected.transpose(0, 1)
            for module, vectors in given:
                for found, wanted in (
                    (vectors[0, :FEWEST], by_row.flatten(1)),
                    (vectors[0, :FEWEST], by_row),
                    (vectors[0, :, :FEWEST] if vectors.dim() == 4 else vectors[0], projected),
                ):
                    if found.shape == wanted.shape and is_same(found, wanted, self.tolerance):
                        return norm_behind(module, wanted.size(-1), self.reader.device)
            return None

        return InnerNorms(norm_of(weights.query(rows)), norm_of(weights.key(memory if at.kind == "cross" else rows)))

    def output(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """See `Parts`."""
        return self.reader.output_projection(site, layer)

    def output_bias(self, site: str, layer: int) -> Float[Tensor, "d_model"] | None:
        """See `Parts`."""
        module = self.reader.layout.projections.get((site, layer))
        return None if module is None else weight_of(module, "bias")

    @torch.inference_mode()
    def feed_forward(self, stack: Stack, layer: int) -> FeedForwardWeights:
        """See `Parts`."""
        self._checked(f"{stack}.self", layer)
        run = LibraryRun(self, self.reader, lambda: self._run([1, 2]), {stack: None})
        call, parts = run.found_in(stack, layer)
        # In parallel with an attention it reads a norm of what the layer reads, not of the sum that it is added to.
        reads = [each.put_out for each in reversed(call.calls) if is_norm(each.module, each.given)]
        found = find_network(call, [*reads, parts[-1].before], parts[-1].addition, self.tolerance)
        if found is None:
            raise TraceError(NO_NETWORK)
        return found

    def unembedding(self) -> Float[Tensor, "token d_model"]:
        """See `Parts`."""
        self._output()
        matrix = weight_of(self._head)
        assert matrix is not None, "an output layer is a matrix"
        return matrix[: self.reader.vocab_size]

    @torch.inference_mode()
    def logits(self, rows: Float[Tensor, "row d_model"]) -> Float[Tensor, "row token"]:
        """See `Parts`; −∞ of tokens that the model may never write."""
        factor, bias, cap = self._output()
        logits = self._projected(rows) * factor
        logits = logits if bias is None else logits + bias.to(logits)
        return self.reader.allowed(logits if cap is None else (logits / cap).tanh() * cap)

    @property
    def num_tokens(self) -> int:
        """See `Parts`."""
        return self._head.get_parameter("weight").size(0)

    @property
    def _head(self) -> nn.Module:
        head: nn.Module | None = self.reader.model.get_output_embeddings()  # type: ignore[operator]
        if head is None or "decoder" not in self.stacks:
            raise TraceError(NORM_UNKNOWN)
        return head

    def _projected(self, rows: Float[Tensor, "row d_model"]) -> Float[Tensor, "row token"]:
        projected: Tensor = self._head(rows.to(self._weight))
        return projected.float()

    @torch.inference_mode()
    def _output(self) -> _Output:
        """What the model makes of the products of its last vectors and its output matrix, seen in two of them."""
        model, ids = self.reader.model, [3, 4]
        if model in _OUTPUTS:
            return _OUTPUTS[model]
        given = self._arguments(ids)
        with self._tapped({"decoder": None}, has_modules=False, has_others=True) as layers:
            logits: Tensor = model(**given).logits[0].float()
        last, norm = layers[-1].put_out, self.final_norm("decoder")
        if last is None or last.size(-1) != self._head.get_parameter("weight").size(1):
            raise TraceError(NORM_UNKNOWN)
        products = self._projected(last if norm is None else norm(last))
        cap = getattr(self.reader.config, "final_logit_softcapping", None)
        bare = logits if cap is None else cap * (logits / cap).atanh()
        moved, turned = bare[1] - bare[0], products[1] - products[0]
        known = moved.isfinite() & turned.isfinite()
        factor = float((moved * turned)[known].sum() / turned[known].square().sum())
        factor = 1.0 if abs(factor - 1) < self.tolerance else factor
        bias = (bare - products * factor).mean(0)
        found = _Output(factor, bias if bool(bias.abs().max() > self.tolerance * products.abs().max()) else None, cap)
        again = products * factor if found.bias is None else products * factor + found.bias
        again = again if cap is None else (again / cap).tanh() * cap
        close = self.tolerance * float(logits[logits.isfinite()].abs().max())
        if not torch.allclose(again, logits, rtol=0, atol=max(TOLERANCE, close)):
            raise TraceError(NORM_UNKNOWN)
        return _OUTPUTS.setdefault(model, found)

    @torch.inference_mode()
    def layer_inputs(
        self,
        site: str,
        layer: int,
        rows: Float[Tensor, "row d_model"],
        memory: Float[Tensor, "key d_model"] | None = None,
        distance: int = 0,
    ) -> AttentionInputs:
        """See `Parts`."""
        at = self._checked(site, layer)
        if at.kind == "self":
            return self._attended(at.stack, rows, distance, self._calls(at.stack, distance)[layer].again)
        norm, between = self.norms(at).before, self._memory_projection()
        read, keys = rows if norm is None else norm(rows), rows if memory is None else memory
        return self._asked(at, read, keys if between is None else between(keys)[0])

    @contextmanager
    def without(self, off: PartOff) -> Iterator[None]:
        """See `Parts`. Residual connections stay where no norm reads their sums."""
        if why := self.abilities.lacks.get("switches"):
            raise EditError(why)
        with ExitStack() as removed:
            if off.part == "positions":
                removed.enter_context(NoRows(self._position_tables()))
            elif off.part == "scaling":
                removed.enter_context(listen(edits=self._unscaled(off)))
            elif off.part == "heads":
                removed.enter_context(listen(edits=heads_off(off, self.abilities.heads)))
            elif off.part == "norms":
                removed.enter_context(self._tapped({}, skipped=self._norms_in(off)))
            else:
                removed.enter_context(self._tapped({}, alone=self._sums_in(off)))
            yield

    @torch.inference_mode()
    def _position_tables(self) -> list[Tensor]:
        """The tables whose rows are added to tokens. Raises an EditError if there are none."""
        tables = PositionTables(FEWEST)
        with tables:
            self._run([row % self.reader.vocab_size for row in range(1, FEWEST + 1)])
        found = [table for table, _first in tables.found(embeddings(self.reader.model).weight)]
        if self.abilities.positions not in ADDED or not found:
            raise EditError(POSITIONS_STAY)
        return found

    @torch.inference_mode()
    def _unscaled(self, off: PartOff) -> Mapping[str, Edit]:
        """What undoes the scaling of scores. Raises an EditError if they are not scaled."""
        with listen(record={CALL}) as recorded:
            self._run([1, 2])
        inputs, edits = self.reader.layout.inputs(recorded), {}
        for site, layer in places_of(off, self.abilities.heads):
            call = inputs[site][layer]
            if not isinstance(call, AttentionInputs) or call.scale == 1:
                raise EditError(NOT_SCALED)
            edits[f"{site_path(site, layer)}.hook_scores"] = partial(mul, 1 / call.scale)
        return edits

    def _norms_in(self, off: PartOff) -> set[nn.Module]:
        """The norms of sub-layers. Raises an EditError if none were found."""
        found = {part.norm.module for _, part in self._parts_in(off) if part.norm is not None}
        if not found:
            raise EditError(NORM_UNKNOWN)
        return found

    def _sums_in(self, off: PartOff) -> dict[nn.Module, nn.Module]:
        """Norm → the module whose output is added to the stream before it. Raises an EditError if a sum has none."""
        found = {}
        for call, part in self._parts_in(off):
            # Of an addition that the model multiplies, what its module puts out is not all.
            if part.norm is None or not part.is_post or not any(part.addition is each for each in call.calls):
                raise EditError(RESIDUALS_STAY)
            found[part.norm.module] = part.addition.module
        return found

    @torch.inference_mode()
    def _parts_in(self, off: PartOff) -> list[tuple[LayerCall, FoundPart]]:
        """The sub-layers in which a part is taken out, each with its layer. Raises an EditError if they are unknown."""
        run = LibraryRun(self, self.reader, lambda: self._run([1, 2]), dict.fromkeys(self.stacks))
        layers = {(site.split(".")[0], layer) for site, layer in places_of(off, self.abilities.heads)}
        try:
            every = [(stack, number, *of) for stack in self.stacks for number, of in enumerate(run.found(stack))]
        except TraceError as error:
            raise EditError(error.message) from error
        return [(call, part) for stack, number, call, of in every if (stack, number) in layers for part in of]

    def run(self, trace: Trace, edits: Edits | None = None, at: Mapping[Stack, Rows] | None = None) -> LibraryRun:
        """See `Parts`."""
        both: Mapping[Stack, Sequence[int]] = {"encoder": trace.source_ids, "decoder": trace.target_ids}
        rows = {stack: None for stack, ids in both.items() if ids} if at is None else at
        return LibraryRun(self, self.reader, lambda: self.reader.run_again(trace, edits=edits), rows, trace, edits)

    @torch.inference_mode()
    def start(self, trace: Trace, stack: Stack) -> Start:
        """See `Parts`. Sums are told apart where they are those of embeddings, a table of positions and token types."""
        ids = trace.source_ids if stack == "encoder" else trace.target_ids
        rows = [*range(len(ids))] * (1 if len(ids) >= FEWEST else FEWEST)
        norms, tables, given = LayerNorms(), PositionTables(FEWEST), self._few(trace, stack, rows)
        with norms, tables, self._tapped({stack: None}, ends=True) as layers:
            self.reader.model.base_model(**given)  # type: ignore[operator]
        if not layers or layers[0].given is None or len(layers[0].given) != len(rows):
            raise TraceError(NO_LAYER)
        read = layers[0].given[: len(ids)]
        try:
            factor, norm = self._begins(stack)
        except TraceError:
            factor, norm = None, None
        if factor is None:
            return Start(read=read, summed=read)
        every = [[one[0, : len(ids)].float().cpu() for one in call] for call in norms.calls if call[0].dim() == 3]
        summed = next((before for before, after in every if norm and is_same(after, read, self.tolerance)), read)
        embedding, tokens = self._looked_up(stack, ids) * factor, self._table(stack)
        added = [table[first : first + len(ids)].detach().float().cpu() for table, first in tables.found(tokens.weight)]
        for positional in (None, *(one for one in added if one.shape == read.shape)):
            rest = summed - embedding if positional is None else summed - embedding - positional
            if self._is_of_types(rest, summed, trace):
                return Start(read=read, summed=summed, norm=norm, embedding=embedding, positional=positional)
        return Start(read=read, summed=read)

    def _is_of_types(self, rest: Tensor, summed: Tensor, trace: Trace) -> bool:
        """Whether the rest of a sum is the same for all tokens of one type."""
        types = torch.tensor(dict(trace.token_inputs).get("token_type_ids", (0,) * len(rest)))
        close = self.tolerance * float(summed.abs().max())
        of_types = (rest[types == one] for one in set(types.tolist()))
        return all(float((rows - rows[0]).abs().max()) <= close for rows in of_types)

    @torch.inference_mode()
    def additions_at(
        self, trace: Trace, stack: Stack, rows: Sequence[int], start: Float[Tensor, "row d_model"]
    ) -> tuple[Addition, ...]:
        """See `Parts`."""
        given = self._few(trace, stack, rows)

        def run() -> None:
            with heads_as_in(trace, stack, rows):
                self.reader.model.base_model(**given)  # type: ignore[operator]

        whole, known = self.run(trace, at={stack: tuple(rows)}), _READ_WHOLE.setdefault(self.reader.model, set())
        if stack not in known:
            try:
                return _joined(LibraryRun(self, self.reader, run, {stack: None}, start=start).additions(stack))
            except torch.OutOfMemoryError:
                raise
            except RuntimeError:  # As where masks, or positions of patches, are made for all rows at once.
                known.add(stack)
        return _joined(whole.additions(stack))

    def _few(self, trace: Trace, stack: Stack, rows: Sequence[int]) -> dict[str, Any]:
        """What the model is called with to read these tokens of a trace in a stack, and one in the other."""
        source, target = trace.source_ids[:1], trace.target_ids[:1]
        if stack == "decoder":
            return self.reader.arguments(source, [trace.target_ids[row] for row in rows])
        beside = tuple((name, tuple(values[row] for row in rows)) for name, values in trace.token_inputs)
        return self.reader.arguments([trace.source_ids[row] for row in rows], target, token_inputs=beside)

    def _check(self) -> None:
        if self.why:
            raise TraceError(self.why)

    @property
    def _weight(self) -> Tensor:
        return next(self.reader.model.parameters())

    def _width(self, stack: Stack) -> int:
        return self.output(f"{stack}.self", 0).size(-1)

    def _table(self, stack: Stack) -> nn.Embedding:
        """The token embeddings of a stack."""
        model: Any = self.reader.model
        whole = getattr(model, f"get_{stack}")() if model.config.is_encoder_decoder else model
        table = None
        with suppress(NotImplementedError):  # as of some encoders of sound
            table = whole.get_input_embeddings()
        if not isinstance(table, nn.Embedding):
            raise TraceError("This model does not expose its embedding matrix.")
        return table

    def _checked(self, site: str, layer: int) -> Sublayer:
        self._check()
        self.output(site, layer)
        return Sublayer.of_site(site, layer)

    def _tapped(self, rows: Mapping[Stack, Rows], **options: Any) -> AbstractContextManager[list[LayerCall]]:
        return tapped(self.reader.model, self.reader.layout, rows, **options)

    def _run(self, ids: Sequence[int], positions: Tensor | None = None) -> None:
        """Run the model over any tokens, which both of its stacks read."""
        model: Any = self.reader.model.base_model
        given = self._arguments(ids)
        if positions is not None:
            given["position_ids"] = positions[None].to(self.reader.device)
        model(**given)

    def _arguments(self, ids: Sequence[int], stack: Stack | None = None) -> dict[str, Any]:
        """What the model is called with to read any tokens in both of its stacks, or at least in this one."""
        source, target = (ids if each in self.stacks else () for each in ("encoder", "decoder"))
        return self.reader.arguments(source, target)

    def _calls(self, stack: Stack, distance: int, at_once: int = ROWS_AT_ONCE) -> list[LayerCall]:
        """With what the layers of a stack are called, for the keys at position 0 and then the queries further on."""
        probes = self._probes if distance else _PROBES.setdefault(self.reader.model, {})
        if (distance, at_once) not in probes:
            limits = (self.abilities.max_length, self.abilities.max_target_length)
            length = min([at_once, *(limit for limit in limits if limit)]) // 2 * 2
            model: Any = self.reader.model.base_model
            takes_positions = "position_ids" in inspect.signature(model.forward).parameters
            if distance and not takes_positions:
                raise TraceError(NO_DISTANCE)
            positions = torch.arange(length) // (length // 2) * distance if takes_positions else None
            with NoProducts(), self._tapped(dict.fromkeys(self.stacks, 0), has_modules=False) as layers:
                self._run([row % self.reader.vocab_size for row in range(length)], positions)
            probes[distance, at_once] = layers
        found = [call for call in probes[distance, at_once] if call.stack == stack]
        if len(found) != self.count(stack) or any(call.hidden is None or call.hidden.dim() != 3 for call in found):
            raise TraceError(NO_LAYER)
        return found

    def _attended(
        self,
        stack: Stack,
        rows: Float[Tensor, "row d_model"],
        distance: int,
        again: Callable[[Tensor], Any],
        at_once: int = ROWS_AT_ONCE,
    ) -> AttentionInputs:
        """What the first attention that `again` calls computes of any vectors, as keys and as queries."""
        hidden = self._calls(stack, distance, at_once)[0].hidden
        assert hidden is not None
        copies, length = 2 if distance else 1, hidden.size(1)
        made = []
        for some in torch.split(rows, length // copies):
            padded = some.new_zeros(copies, length // copies, some.size(1))
            padded[:, : len(some)] = some
            with _until_attending(stack) as recorded:
                again(padded.reshape(1, length, -1).to(self._weight))
            if not recorded:
                raise TraceError(NO_LAYER)
            call: Call = next(iter(recorded.values()))[0]
            inputs = call.of_sentence(0, torch.device("cpu"))
            last = slice(length - length // copies, length - length // copies + len(some))
            made.append((inputs.query[:, last], inputs.key[:, : len(some)], inputs.value[:, : len(some)]))
        query, key, value = (torch.cat(parts, 1).float() for parts in zip(*made, strict=True))
        mask = AttentionMask(num_queries=len(rows), num_keys=len(rows))
        return replace(inputs, query=query, key=key, value=value, mask=mask)


def _norms_of(part: Addition) -> Norms:
    norm = None if part.norm is None else part.norm.norm
    of_output = None if part.output_norm is None else part.output_norm.norm
    return Norms(before=None if part.is_post else norm, of_output=of_output, after=norm if part.is_post else None)


def _joined(layers: Sequence[Sequence[Addition]]) -> tuple[Addition, ...]:
    return tuple(addition for of_layer in layers for addition in of_layer)


def _is_norm_inside(module: nn.Module) -> bool:
    """Whether a module is a norm, of vectors of the width of what it has learned."""
    learned = next((weight for weight in module.parameters() if weight.dim() == 1), None)
    return learned is not None and is_norm(module, torch.randn(2, learned.numel()))


@contextmanager
def _until_attending(stack: Stack) -> Iterator[Recorded]:
    """What the first attention of a stack in the block is called with; the block ends there."""
    with listen(record={CALL}) as recorded, suppress(_Called):

        def stop(done: int, total: int) -> None:
            if any(name.startswith(f"{stack}.") for name in recorded):
                raise _Called

        with layers_counted(stop):
            yield recorded

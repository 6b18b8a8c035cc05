"""What a run of a model of `transformers` adds up to the residual stream, seen in what its modules read and put out."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Final, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.adapters.layer_sums import FoundPart, find_parts
from model.adapters.library import LINEAR
from model.adapters.norms import is_norm, is_same, norm_behind
from model.adapters.stream_taps import LayerCall, ModuleCall, ModuleUse, changed, tapped
from model.adapters.text_tracer import TextTracer
from model.errors import TraceError, said
from model.nn.edit_hooks import Edits
from model.nn.encoder_decoder import site_path
from model.nn.hooks import Edit
from model.parts.parts import Parts
from model.parts.run import NOT_FOUND, Addition, Change, LayerRun, NormStep, Rows, Run
from model.parts.weights import Stack
from model.trace.trace import Trace
from model.word_choice import TokenPlace

BETWEEN: Final = said(
    "There are layers without attention between those that are shown, so a token cannot be followed from one to the "
    "next."
)


@dataclass(frozen=True, eq=False)
class LibraryRun(Run):
    """A run of a library model; `again` runs it, once more where what its layers do inside is asked for too."""

    parts: Parts
    reader: TextTracer  #: of the model that the parts are of
    again: Callable[[], Any]
    rows: Mapping[Stack, Rows]
    before: Trace | None = None  #: of whose tokens it is
    edits: Edits | None = None
    start: Float[Tensor, "row d_model"] | None = None  #: what the first layer reads, instead of what it is given

    @cached_property
    def trace(self) -> Trace:
        """See `Run`."""
        before = self.before
        assert before is not None
        edits = before.edits if self.edits is None else self.edits
        place = TokenPlace(before.source_ids, before.target_ids, 0, before.token_inputs)
        return self.reader.trace_place(place, (*before.source_ids, *before.target_ids)[-1], edits)

    def levels(self, stack: Stack) -> Float[Tensor, "level *rows d_model"]:
        """See `Run`."""
        return self._levels(self._of(stack, self._inside if "_inside" in vars(self) else self._outside))

    def all_levels(self, stack: Stack) -> Float[Tensor, "level *rows d_model"]:
        """See `Run`."""
        calls = [call for call in self._listened(has_modules=False, has_others=True) if call.stack == stack]
        if any(call.given is None or call.put_out is None for call in calls):
            raise TraceError(NOT_FOUND)
        return self._levels(calls)

    def additions(self, stack: Stack) -> tuple[tuple[Addition, ...], ...]:
        """See `Run`."""
        if self.parts.why:
            raise TraceError(self.parts.why)
        self._levels(self._of(stack, self._inside))
        return tuple(tuple(map(self._addition, parts)) for _, parts in self.found(stack))

    def found(self, stack: Stack) -> list[tuple[LayerCall, list[FoundPart]]]:
        """The layers of a stack, and where in them something is added. Raises a TraceError where that is unknown."""
        every: list[tuple[LayerCall, list[FoundPart]]] = []
        for layer in range(self.parts.count(stack)):
            every.append(self.found_in(stack, layer, every[-1][1] if every else ()))
        return every

    def found_in(self, stack: Stack, layer: int, like: Sequence[FoundPart] = ()) -> tuple[LayerCall, list[FoundPart]]:
        """The same of one layer, looked for first where those of another are."""
        call = self._of(stack, self._inside)[layer]
        parts = find_parts(call, self.parts.kinds(stack), next(self.reader.model.parameters()).dtype, like)
        if parts is None:
            raise TraceError(NOT_FOUND)
        return call, parts

    def changed(self, changes: Sequence[Change]) -> AbstractContextManager[object]:
        """See `Run`."""
        edits: dict[Stack | ModuleUse, Edit] = {}
        for change in changes:
            if change.number < 0:
                edits[change.stack] = change
                continue
            part, use = self._uses[change.stack][change.number]
            edits[use] = change if part.factor is None else replace(change, vectors=change.vectors / part.factor)
        return changed(self.reader.model, self.reader.layout, edits)

    @cached_property
    def _uses(self) -> Mapping[Stack, list[tuple[FoundPart, ModuleUse]]]:
        """Of each stack the additions, and which use of which module puts each out."""
        return {stack: list(self._used(stack)) for stack in self.rows}

    def _used(self, stack: Stack) -> Iterator[tuple[FoundPart, ModuleUse]]:
        before: Counter[nn.Module] = Counter()
        for call, parts in self.found(stack):
            for part in parts:
                # A module that several layers share is used once in each of them.
                module, given = part.addition.module, part.addition.given
                own = [each for each in call.calls if each.module is module]
                within = next(number for number, each in enumerate(own) if each.given is given)
                yield part, ModuleUse(stack, module, before[module] + within)
            before.update(each.module for each in call.calls)

    def layers(self) -> Iterator[LayerRun]:
        """See `Run`. Raises a TraceError where a layer reads no rows, or others are between."""
        assert self.before is not None
        for stack in self.rows:
            for call in self._of(stack, self._outside):
                keys = {f"{stack}.self": len(cast(Tensor, call.given)), "decoder.cross": len(self.before.source_ids)}
                # A module that several layers share is called by the first one's name.
                sites = (self.reader.layout.sites.get(module, ())[:1] for module in call.module.modules())
                values = {
                    site: (f"{site_path(site, layer)}.hook_value", keys[site])
                    for here in sites
                    for site, layer in here
                    if keys[site]
                }
                yield LayerRun(stack=stack, values=values, again=partial(_again, call))

    @cached_property
    def _outside(self) -> list[LayerCall]:
        return self._listened(has_modules=False)

    @cached_property
    def _inside(self) -> list[LayerCall]:
        return self._listened(has_modules=True)

    def _levels(self, calls: Sequence[LayerCall]) -> Float[Tensor, "level *rows d_model"]:
        """The levels of a stack. Raises a TraceError where something else is between its layers."""
        steps = [(cast(Tensor, one.put_out), cast(Tensor, other.given)) for one, other in pairwise(calls)]
        if not all(is_same(put_out, given, self.parts.tolerance) for put_out, given in steps):
            raise TraceError(BETWEEN)
        return torch.stack([cast(Tensor, calls[0].given), *(cast(Tensor, call.put_out) for call in calls)])

    @torch.inference_mode()
    def _listened(self, *, has_modules: bool, has_others: bool = False) -> list[LayerCall]:
        model, layout, start = self.reader.model, self.reader.layout, self.start
        with tapped(model, layout, self.rows, has_modules=has_modules, has_others=has_others, start=start) as layers:
            self.again()
        return layers

    def _of(self, stack: Stack, calls: Sequence[LayerCall]) -> list[LayerCall]:
        """The layers of a stack. Raises a TraceError where they put out no rows."""
        found = [call for call in calls if call.stack == stack]
        if len(found) != self.parts.count(stack) or any(call.given is None or call.put_out is None for call in found):
            raise TraceError(NOT_FOUND)
        return found

    def _addition(self, part: FoundPart) -> Addition:
        wrote, norm = part.addition, None if part.norm is None else self._step(part.norm)
        given = wrote.given
        is_hidden = part.kind == "feed_forward" and given is not None and given.size(-1) != wrote.put_out.size(-1)
        has_norm = given is not None and not is_hidden and is_norm(wrote.module, given)
        return Addition(
            kind=part.kind,
            before=part.before,
            read=part.before if norm is None or part.is_post else norm.after,
            added=wrote.put_out,
            summed=norm.before if norm is not None and part.is_post else part.before + wrote.put_out,
            after=part.after,
            norm=norm,
            is_post=part.is_post,
            output_norm=self._step(wrote) if has_norm else None,
            hidden=given if is_hidden else None,
            is_gated=is_hidden and self._is_gated(wrote),
        )

    def _step(self, call: ModuleCall) -> NormStep:
        assert call.given is not None
        norm = norm_behind(call.module, call.given.size(-1), self.reader.device)
        return NormStep(norm=norm, before=call.given, after=call.put_out)

    def _is_gated(self, wrote: ModuleCall) -> bool:
        """Whether two matrices [d_model, d_ff], or one of both, stand before the output of a feed-forward network."""
        assert wrote.given is not None
        model, size = self.reader.model, wrote.given.size(-1) * wrote.put_out.size(-1)
        path = next(name for name, module in model.named_modules() if module is wrote.module)
        network = model.get_submodule(path.rpartition(".")[0])
        matrices = (each for each in network.modules() if isinstance(each, LINEAR) and each is not wrote.module)
        sizes = [matrix.get_parameter("weight").numel() for matrix in matrices]
        return sizes.count(size) == 2 or sizes.count(2 * size) == 1


def _again(call: LayerCall, copies: int) -> Float[Tensor, "copy row d_model"]:
    """Run a layer again as it was called, so many copies at once."""
    output: Any = call.module(*_copied(call.args, copies), **_copied(call.kwargs, copies))
    result: Tensor = output[0] if isinstance(output, tuple) else output
    return result


def _copied(value: Any, copies: int) -> Any:
    """What a layer is given for one text, for so many copies of it: its vectors; masks and tables hold for all."""
    if isinstance(value, Tensor) and value.dim() == 3 and value.size(0) == 1 and value.is_floating_point():
        return value.expand(copies, -1, -1)
    if isinstance(value, tuple | list):
        return type(value)(_copied(each, copies) for each in value)
    if isinstance(value, dict):
        return {name: _copied(each, copies) for name, each in value.items()}
    return value

"""Listen to what modules of a library model read and put out: those inside its layers, and its token embeddings.

Hooks are set once for each model, when it is first asked, and stay: to take them away again while another thread runs
the model would not be safe. Who listens is held in a `ContextVar`, so without a listener they do nothing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from jaxtyping import Float
from torch import Tensor, nn

from model.adapters.layout import Layout
from model.errors import TraceError, said
from model.nn.hooks import Edit
from model.parts.run import Rows
from model.parts.weights import Stack

NOT_MET: Final = said(
    "This model gave a different result when it was run again, so the effect of one part cannot be tested."
)


class _Begun(Exception):
    """A layer has begun: what it would do is not wanted."""


@dataclass(frozen=True, eq=False)
class ModuleCall:
    """What one module inside a layer read and put out at the row, or the rows; `given` is None where it read none."""

    module: nn.Module
    given: Float[Tensor, "*rows width"] | None
    put_out: Float[Tensor, "*rows d_model"]


class ModuleUse(NamedTuple):
    """What a module does inside a layer of a stack, for the so manieth time in a pass, from 0."""

    stack: Stack
    module: nn.Module
    number: int


@dataclass(eq=False)
class Called:
    """A module and all that it was called with, so that it can be called again."""

    module: nn.Module
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    @property
    def hidden(self) -> Tensor | None:
        """The vectors that it was called with, as the library gave them."""
        value = self.args[0] if self.args else self.kwargs.get("hidden_states")
        return value if isinstance(value, Tensor) else None

    @property
    def memory(self) -> Tensor | None:
        """The vectors beside these that it was called with, to make keys of."""
        hidden, given = self.hidden, (*self.args, *self.kwargs.values())
        own = (each for each in given if isinstance(each, Tensor) and each is not hidden)
        return next((each for each in own if each.is_floating_point() and each.dim() == 3), None)

    def again(
        self, hidden: Float[Tensor, "batch position d_model"], memory: Float[Tensor, "batch key d_model"] | None = None
    ) -> Any:
        """What the module returns for other vectors, and another memory, called as it was in all else.

        Some are called with the same vectors for queries, keys and values.
        """
        given = self.hidden

        def other(each: Any) -> Any:
            if each is given:
                return hidden
            return each if memory is None else _or(memory, each)

        args, kwargs = map(other, self.args), {name: other(each) for name, each in self.kwargs.items()}
        return self.module(*args, **kwargs)


@dataclass(eq=False)
class LayerCall(Called):
    """What one layer read and put out at the row, or the rows, and its modules in the order in which they were done."""

    stack: Stack
    given: Float[Tensor, "*rows d_model"] | None = None
    put_out: Float[Tensor, "*rows d_model"] | None = None
    calls: list[ModuleCall] = field(default_factory=list)
    attentions: list[Called] = field(default_factory=list)  #: with what its attentions were called


@dataclass(eq=False)
class Taps:
    """What a run leaves, layer after layer: of each stack only the rows at its position or positions, or every row."""

    rows: Mapping[Stack, Rows]
    has_modules: bool = True  #: whether what the modules of a layer do is kept too
    has_others: bool = False  #: whether layers without attention are kept too
    skipped: Set[nn.Module] = frozenset()  #: put out what they read
    #: norm → the module whose output alone it reads, instead of its sum with the residual stream.
    alone: Mapping[nn.Module, nn.Module] = field(default_factory=dict)
    #: what the first layer of a stack reads instead of what it is given.
    start: Float[Tensor, "row d_model"] | None = None
    changes: "Mapping[Stack | ModuleUse, Edit]" = field(
        default_factory=dict
    )  #: by stack: of what its first layer reads
    uses: Counter[tuple[Stack, nn.Module]] = field(default_factory=Counter)
    changed: "set[Stack | ModuleUse]" = field(default_factory=set)
    ends: bool = False  #: whether the run ends where the first layer begins
    layers: list[LayerCall] = field(default_factory=list)
    put_out: dict[nn.Module, Tensor] = field(default_factory=dict)  #: by the modules that `alone` names, last
    is_open: bool = False


NOTHING: Final[Mapping[nn.Module, nn.Module]] = MappingProxyType({})
_TAPS: ContextVar[Taps | None] = ContextVar("headlight_taps", default=None)
_MARK: Final = "headlight_tapped"
#: Another thread must not run a model whose hooks are registered in part.
_REGISTERING: Final = Lock()


@contextmanager
def tapped(
    model: nn.Module,
    layout: Layout,
    rows: Mapping[Stack, Rows],
    *,
    has_modules: bool = True,
    has_others: bool = False,
    skipped: Set[nn.Module] = frozenset(),
    alone: Mapping[nn.Module, nn.Module] = NOTHING,
    start: Float[Tensor, "row d_model"] | None = None,
    ends: bool = False,
) -> Iterator[list[LayerCall]]:
    """Yield what the layers of these stacks do while the block runs, in this thread only.

    Args:
        rows: stack → the position, or positions, that are listened to; None for all.
        has_modules: whether the modules inside the layers are listened to.
        has_others: whether layers without attention, which stand between the others, are listened to.
        skipped: modules inside layers that put out what they read.
        alone: norm inside a layer → the module whose output alone it reads, without the residual stream.
        start: what the first of these layers reads, instead of what it is given.
        ends: whether the block ends where the first of them begins, with what it is given.
    """
    _tap(model, layout)
    taps = Taps(rows, has_modules, has_others, skipped, alone, start, ends=ends)
    token = _TAPS.set(taps)
    try:
        with suppress(_Begun):
            yield taps.layers
    finally:
        _TAPS.reset(token)


@contextmanager
def changed(model: nn.Module, layout: Layout, changes: Mapping[Stack | ModuleUse, Edit]) -> Iterator[None]:
    """Edit what modules inside layers put out while the block runs one pass, in this thread only.

    Of a stack alone what its first layer reads is edited. Raises a TraceError if one of them was not met.
    """
    _tap(model, layout)
    stacks = {each.stack if isinstance(each, ModuleUse) else each for each in changes}
    taps = Taps(dict.fromkeys(stacks), has_modules=False, changes=changes)
    token = _TAPS.set(taps)
    try:
        yield
    finally:
        _TAPS.reset(token)
    if taps.changed != set(changes):
        raise TraceError(NOT_MET)


def _tap(model: nn.Module, layout: Layout) -> None:
    with _REGISTERING:
        if getattr(model, _MARK, False):
            return
        layers = _layers(model, layout)
        attending = dict(layers)
        lists = [list(each) for each in model.modules() if isinstance(each, nn.ModuleList)]
        for layer, stack in layers.items():
            for other in next((each for each in lists if layer in each), ()):
                if other not in attending:
                    attending[other] = stack
                    other.register_forward_pre_hook(_opener(stack, is_other=True), with_kwargs=True)
                    other.register_forward_hook(_closer(stack, is_other=True))
        for layer, stack in layers.items():
            layer.register_forward_pre_hook(_opener(stack), with_kwargs=True)
            for module in layer.modules():
                if module is not layer:
                    module.register_forward_hook(_note)
                if module in layout.sites:
                    module.register_forward_pre_hook(_attending, with_kwargs=True)
            layer.register_forward_hook(_closer(stack))
        setattr(model, _MARK, True)


def _layers(model: nn.Module, layout: Layout) -> dict[nn.Module, Stack]:
    """The layer around each attention, and its stack."""
    found: dict[nn.Module, Stack] = {}
    for module, sites in layout.sites.items():
        if (layer := layer_around(model, module)) is not None:
            found[layer] = "encoder" if sites[0][0].startswith("encoder") else "decoder"
    return found


def layer_around(model: nn.Module, attention: nn.Module) -> nn.Module | None:
    """The outermost member of a list of modules that holds an attention; None if there is none."""
    parts = next(name for name, module in model.named_modules() if module is attention).split(".")
    for end in range(1, len(parts) + 1):
        if isinstance(model.get_submodule(".".join(parts[: end - 1])), nn.ModuleList):
            return model.get_submodule(".".join(parts[:end]))
    return None


def _opener(stack: Stack, *, is_other: bool = False) -> Any:
    def begin(module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        taps = _TAPS.get()
        if taps is None or stack not in taps.rows or (is_other and not taps.has_others):
            return None
        call = LayerCall(module, args, kwargs, stack)
        first = None if call.hidden is None else _first(taps, stack, call.hidden)
        if first is not None:
            call.args, call.kwargs = (
                ((first, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": first})
            )
        call.given = _row(call.hidden, taps.rows[stack])
        taps.layers.append(call)
        taps.is_open = True
        if taps.ends:
            raise _Begun
        return call.args, call.kwargs

    return begin


def _closer(stack: Stack, *, is_other: bool = False) -> Any:
    def end(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        taps = _TAPS.get()
        if taps is not None and stack in taps.rows and (taps.has_others or not is_other):
            taps.layers[-1].put_out = _row(output, taps.rows[stack])
            taps.is_open = False

    return end


def _attending(module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    taps = _TAPS.get()
    if taps is not None and taps.is_open:
        taps.layers[-1].attentions.append(Called(module, args, kwargs))


def _note(module: nn.Module, args: tuple[Any, ...], output: Any) -> Any:
    taps = _TAPS.get()
    if taps is not None and module in taps.skipped:
        return args[0]
    if taps is not None and module in taps.alone:
        return module.forward(taps.put_out[taps.alone[module]])
    if taps is not None and module in taps.alone.values():
        taps.put_out[module] = output
    if taps is not None and taps.is_open and taps.changes:
        return _changed(taps, module, output)
    if taps is None or not taps.is_open or not taps.has_modules:
        return None
    layer = taps.layers[-1]
    position = taps.rows[layer.stack]
    put_out = _row(output, position)
    if put_out is not None and layer.given is not None and put_out.shape == layer.given.shape:
        layer.calls.append(ModuleCall(module, _row(args[0] if args else None, position), put_out))
    return None


def _first(taps: Taps, stack: Stack, hidden: Tensor) -> Tensor | None:
    """What a layer reads instead of what it is given, if anything."""
    if taps.start is not None and not taps.layers:
        return taps.start[None].to(hidden)
    if stack not in taps.changes or stack in taps.changed:
        return None
    taps.changed.add(stack)
    edited: Tensor = taps.changes[stack](hidden)
    return edited


def _changed(taps: Taps, module: nn.Module, output: Any) -> Any:
    layer, put_out = taps.layers[-1], _row(output, None)
    if put_out is None or layer.given is None or put_out.shape != layer.given.shape:
        return None
    use = ModuleUse(layer.stack, module, taps.uses[layer.stack, module])
    taps.uses[layer.stack, module] += 1
    if use not in taps.changes:
        return None
    taps.changed.add(use)
    whole = output[0] if isinstance(output, tuple) else output
    # Some networks read the tokens of all texts in one list.
    edited = taps.changes[use](whole.view(1, *put_out.shape)).view_as(whole)
    return (edited, *output[1:]) if isinstance(output, tuple) else edited


def _or(memory: Tensor, given: Any) -> Any:
    """The memory in place of another of as many positions, else what was given."""
    is_memory = isinstance(given, Tensor) and given.is_floating_point() and given.shape[:2] == memory.shape[:2]
    return memory if is_memory and given.dim() == 3 else given


def _row(value: Any, position: Rows) -> Tensor | None:
    """One row, some, or all, of what a module of a batch of one reads or puts out, float32 on the CPU; None if it is no
    such thing."""
    tensor = value[0] if isinstance(value, tuple) and value else value
    if not isinstance(tensor, Tensor) or not tensor.is_floating_point() or tensor.dim() < 2:
        return None
    rows = tensor.detach().reshape(-1, tensor.size(-1))
    # A copy: some models add to what they have in place.
    if position is None:
        return rows.float().cpu().clone()
    chosen = position if isinstance(position, int) else list(position)
    last = position if isinstance(position, int) else max(position)
    return rows[chosen].float().cpu().clone() if last < len(rows) else None


_SIDES: ContextVar[list[tuple[Sequence[int], Edit]]] = ContextVar("headlight_word_vectors")
_HEARD: Final = "headlight_embeddings_heard"


@contextmanager
def word_vectors(model: nn.Module, sides: Sequence[tuple[Sequence[int], Edit]]) -> Iterator[None]:
    """Edit the vectors [batch, position, width] with which texts go in, before positions are added to them.

    They are what the token embeddings put out: modules with a table of the same shape as the one that the model names
    as its own, that read just these tokens.

    Args:
        model: of `transformers`.
        sides: the token ids that each stack reads, in this order, and what is done to their vectors.

    Raises a TraceError if no such module has read one of these texts.
    """
    if sides:
        _hear(model)
    left = list(sides)
    token = _SIDES.set(left)
    try:
        yield
    finally:
        _SIDES.reset(token)
    if left:
        raise TraceError(
            "No embedding layer was found for what is read here (only tokens have one), so its contribution is unknown."
        )


def _hear(model: nn.Module) -> None:
    with _REGISTERING:
        if getattr(model, _HEARD, False):
            return
        own: Any = model.get_input_embeddings()  # type: ignore[operator]
        for module in model.modules():
            if isinstance(module, nn.Embedding) and module.weight.shape == own.weight.shape:
                module.register_forward_hook(_edited)
        setattr(model, _HEARD, True)


def _edited(module: nn.Module, args: tuple[Any, ...], output: Tensor) -> Tensor | None:
    left = _SIDES.get(None)
    if not left or args[0].dim() != 2 or args[0][0].tolist() != list(left[0][0]):
        return None
    _, edit = left.pop(0)
    edited: Tensor = edit(output)
    return edited

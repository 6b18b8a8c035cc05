"""Named points in a model at which a run can be recorded or changed, by one `listen` for every model.

A `HookPoint` is an identity module; its name is its path, for example `decoder.layers.0.cross_attention.hook_query`.
The attentions of a model of `transformers` have the same names (`model.adapters.capture`), as far as a star says.
The listener is in a `ContextVar`, so each thread and each viewer has its own, and the end of the `with` block, by an
exception too, removes it. A decoding step computes one row of many: `first_row` is its index, for edits.

| hook | value |
|---|---|
| `hook_embedding` | √d_model-scaled token embeddings [batch, position, d_model] |
| `hook_positional` | the positional encodings as added [position, d_model] |
| `hook_query`, `hook_key`, `hook_value`* | [batch, head, position, d_k], rows of this call (before the cache) |
| `hook_mask`* | an `AttentionMask` |
| `hook_scores`*, `hook_weights` | [batch, head, query, key]; recording or editing them takes the explicit path |
| `hook_head_output`* | weights · value before W_O [batch, head, query, d_k] |
| `hook_call`* | of a model of `transformers` only: a `Call`, all that an attention computed its weights from |
| `hook_sublayer` | what a sub-layer puts out, for the residual connection to add [batch, position, d_model] |
| `hook_sum` | a residual connection's sum; of post-norm that is before the norm [batch, position, d_model] |
| `hook_normed` | what the layer norm of a sub-layer puts out [batch, position, d_model] |
| `hook_hidden` | the hidden units of a feed-forward network, after the activation [batch, position, d_ff] |
| `hook_skip` | what a residual connection adds to its sub-layer's output [batch, position, d_model] |
| `hook_norm` | the layer norm of a sub-layer, a function; like `hook_skip` it can be changed and is not recorded |
| `hook_output` | a layer's output [batch, position, d_model] |
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from torch import nn

T = TypeVar("T")
Edit = Callable[[Any], Any]

ALWAYS_RECORDED = frozenset(
    {"hook_embedding", "hook_positional", "hook_query", "hook_key", "hook_value", "hook_mask", "hook_output"}
)
#: What stands between the outputs of two layers.
STREAM = frozenset({"hook_sublayer", "hook_sum", "hook_normed", "hook_hidden"})
CALL = "hook_call"
EXTRAS = frozenset({"hook_scores", "hook_weights", "hook_head_output"}) | STREAM
NEVER_RECORDED = frozenset({"hook_skip", "hook_norm"})


@dataclass(frozen=True)
class Listener:
    """What a run records and changes at hook points."""

    record: frozenset[str] = frozenset()  #: last parts of the names to record, such as "hook_query"
    edits: Mapping[str, Edit] = field(default_factory=dict)  #: full hook name → function that replaces the value
    #: full hook name → values in the order of their computation.
    recorded: dict[str, list[Any]] = field(default_factory=dict)
    #: what a model of `transformers` has computed of its pass, by its modules and sites.
    counts: dict[Any, int] = field(default_factory=dict)

    def visit(self, name: str, kind: str, value: T) -> T:
        """Apply the edit of this point, then record the value."""
        if self.edits and (edit := self.edits.get(name)) is not None:
            value = edit(value)
        if kind in self.record:
            self.recorded.setdefault(name, []).append(value)
        return value

    def wants(self, name: str, kind: str) -> bool:
        """Whether this point is recorded or edited."""
        return kind in self.record or name in self.edits


_LISTENER: ContextVar[Listener | None] = ContextVar("headlight_listener", default=None)


@contextmanager
def listen(*, record: Collection[str] = (), edits: Mapping[str, Edit] | None = None) -> Iterator[dict[str, list[Any]]]:
    """Record and edit (see `Listener`) at hook points while the block runs, in this thread (and async task) only.

    Edits of a block around it stay, but at points that have one here.
    Yields the recorded values by full hook name.
    """
    if unknown := set(record) - ALWAYS_RECORDED - EXTRAS - {CALL}:
        raise ValueError(f"no such hooks: {sorted(unknown)}; known are {sorted(ALWAYS_RECORDED | EXTRAS)}")
    outer = _LISTENER.get()
    around = {} if outer is None else outer.edits
    listener = Listener(frozenset(record), {**around, **(edits or {})})
    token = _LISTENER.set(listener)
    try:
        yield listener.recorded
    finally:
        _LISTENER.reset(token)


def current_listener() -> Listener | None:
    """Who listens in this thread."""
    return _LISTENER.get()


class HookPoint(nn.Module):
    """An identity with a name, and with the last part of it as kind. `name_hooks` of the whole model fills both in."""

    def __init__(self) -> None:
        super().__init__()
        self.name = self.kind = ""

    def forward(self, value: T) -> T:
        """The value, as the current listener (if any) leaves it."""
        listener = _LISTENER.get()
        return value if listener is None else listener.visit(self.name, self.kind, value)

    # Called some eighty times for each token that is written: torch's own call costs three times what happens here.
    __call__ = forward

    @property
    def is_wanted(self) -> bool:
        """Whether the current listener records or edits here."""
        listener = _LISTENER.get()
        return listener is not None and listener.wants(self.name, self.kind)


_FIRST_ROW: ContextVar[int] = ContextVar("headlight_first_row", default=0)


@contextmanager
def rows_from(first: int) -> Iterator[None]:
    """Set `first_row` while the block runs; called by the model."""
    token = _FIRST_ROW.set(first)
    try:
        yield
    finally:
        _FIRST_ROW.reset(token)


def first_row() -> int:
    """The position in its sequence of the first query row that an edit is called with.

    0 in the encoder and in a teacher-forced pass; in step n (from 0) of decoding with a cache, n.
    """
    return _FIRST_ROW.get()


def name_hooks(model: nn.Module) -> None:
    """Give every hook point of the model its module path as name."""
    for name, module in model.named_modules():
        if isinstance(module, HookPoint):
            module.name, module.kind = name, name.rpartition(".")[2]

"""Record and edit the attention of a running `transformers` model, without changing what it computes.

`transformers` calls one function for the attention of every model that has its AttentionInterface; `attend` is that
function, `causal_or_padding` the one that makes masks for it. It visits the points of `model.nn.hooks`, so that
`listen` records and edits these models as it does ours. Nothing is computed twice and no query × key array is kept: a
run that is recorded takes what a plain fused one takes.

`mask_behind` finds the small `AttentionMask` that allows the same keys as a model's array of booleans. Every result has
been compared with the booleans, row by row; only a mask that follows no rule known here is kept as it is.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypeVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from model.abilities import Abilities
from model.adapters.library import fused_attention, fused_mask
from model.errors import EditError
from model.nn.attention import AttentionInputs, attention_weights, softmax_over_keys
from model.nn.edit_hooks import Edits, compile_edits, named_edits
from model.nn.edits import HeadEdit
from model.nn.encoder_decoder import site_path
from model.nn.hooks import CALL, Edit, Listener, current_listener, first_row, rows_from
from model.nn.masks import AttentionMask
from model.nn.score_functions import DistanceBias, distance_bias
from model.word_choice import SiteAndLayer


def mask_behind(
    allowed: Bool[Tensor, "batch query key"], *, first_query: int | None = None, local_size: int | None = None
) -> AttentionMask:
    """A mask that allows exactly the same keys. `local_size`: of a window or of chunks, where the model has them.

    `first_query`: position of row 0 among the keys; by default the last row is that of the last key.
    """
    for candidate in _candidates(allowed, first_query, local_size):
        if _is_same(candidate, allowed):
            return candidate
    if bool((allowed == allowed[:1]).all()):
        allowed = allowed[:1]
    return AttentionMask(num_queries=allowed.size(1), num_keys=allowed.size(2), explicit=allowed, device=allowed.device)


def _candidates(allowed: Tensor, first_query: int | None, local_size: int | None) -> Iterator[AttentionMask]:
    """Likely rules, the commonest first."""
    _, num_queries, num_keys = allowed.shape
    # A key that no row of a sentence may see is padding, or one that comes later than every row.
    seen = allowed.any(dim=1)
    first = num_keys - num_queries if first_query is None else first_query
    # Some windows count the query's own position, some do not.
    local = () if local_size is None else ((local_size, None), (local_size + 1, None), (None, local_size))
    for padding in (None,) if bool(seen.all()) else (None, seen):
        for window, chunk in ((None, None), *local):
            for causal in (True, False):
                yield AttentionMask(
                    num_queries=num_queries,
                    num_keys=num_keys,
                    key_padding=padding,
                    causal=causal,
                    first_query=max(0, first) if causal or window or chunk else 0,
                    window=window,
                    chunk=chunk,
                    device=allowed.device,
                )


def _is_same(mask: AttentionMask, allowed: Tensor) -> bool:
    blocks = (slice(first, first + ROWS_AT_ONCE) for first in range(0, allowed.size(1), ROWS_AT_ONCE))
    return all(bool((mask.rows(rows) == allowed[:, rows]).all()) for rows in blocks)


_ATTENTION: Final = torch.ops.aten.scaled_dot_product_attention.default
_ON_CPU: Final = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default


class KernelSums(TorchDispatchMode):
    """While entered, attention of this thread runs as it would otherwise; what its kernel says last is kept.

    `sums`: lse_i = log Σ_j exp(s_ij) of the masked scores, any number of a row that may attend to nothing; None where
    the kernel was another than the one for float32 on a CPU. In half precision they would be sums of rounded scores.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.sums: Float[Tensor, "batch head query"] | None = None

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        if operation is _ATTENTION:
            # In inference mode it comes whole; its parts are heard in here.
            with self:
                return operation.decompose(*args, **given)
        result = operation(*args, **given)
        if operation is _ON_CPU:
            output, sums = result
            self.sums = sums if output.dtype == torch.float32 else None
        return result


ROWS_AT_ONCE = 256
#: Hooks of an attention whose value an edit may replace.
EDITED: Final = frozenset({"hook_value", "hook_mask", "hook_scores", "hook_head_output"})
T = TypeVar("T")
LayersDone = Callable[[int, int], None]
"""Is called with the attentions of a pass that are computed, and how many there are."""
_MASK, _BIAS = "headlight_mask", "headlight_bias"
"""Attributes of tensors that models hand from layer to layer: the small mask or bias behind each, derived once."""
_ATTENDS: Final = "headlight_attends"
#: Among the counts of a listener: the attentions that were called.
_DONE: Final = "attentions"


@dataclass(frozen=True, eq=False, kw_only=True)
class Call:
    """What one attention site of one layer computed, for a whole batch. Tensors are the model's own, not copies."""

    module: nn.Module
    query: Float[Tensor, "batch head query d_k"]
    key: Float[Tensor, "batch kv_head key d_k"]
    value: Float[Tensor, "batch kv_head key d_v"]
    mask: AttentionMask
    scale: float
    bias: Tensor | DistanceBias | None = None  #: added to the scaled scores
    softcap: float | None = None
    sinks: Float[Tensor, "head"] | None = None
    edits: tuple[HeadEdit, ...] = ()
    log_sums: Float[Tensor, "batch head query"] | None = None  #: of the rows, where the kernel told them (`KernelSums`)

    def of_sentence(self, sentence: int, device: torch.device) -> AttentionInputs:
        """What was computed for one sentence of the batch, on this device."""
        bias = self.bias
        if isinstance(bias, Tensor):
            bias = bias[sentence if bias.size(0) > 1 else 0]
        sums = None if self.log_sums is None else self.log_sums[sentence].to(device)
        return AttentionInputs(
            query=self.query[sentence].to(device),
            key=self.key[sentence].to(device),
            value=self.value[sentence].to(device),
            mask=self.mask.of_sentence(sentence).to(device),
            scale=self.scale,
            bias=None if bias is None else bias.to(device),
            softcap=self.softcap,
            sinks=None if self.sinks is None else self.sinks.detach().to(device),
            edits=self.edits,
        ).with_log_sums(sums)


class Attends(NamedTuple):
    """Where a module attends: an attribute of it, set by `name_attentions`."""

    sites: tuple[SiteAndLayer, ...]  #: the site and layer of its first, second … call in a pass
    total: int  #: calls of all attentions in a pass


def name_attentions(model: nn.Module, sites: Mapping[nn.Module, tuple[SiteAndLayer, ...]]) -> None:
    """Give the attentions of a model the names of `model.nn.hooks`, by their sites; the others lose theirs."""
    total = sum(map(len, sites.values()))
    for module in model.modules():
        if module in sites:
            setattr(module, _ATTENDS, Attends(sites[module], total))
        elif hasattr(module, _ATTENDS):
            delattr(module, _ATTENDS)


class _Point(NamedTuple):
    """One call of an attention, for who listens."""

    listener: Listener | None
    path: str = ""  #: of its site; "" if nobody knows
    row: int = 0  #: the position in its text of the first query row
    total: int = 0  #: calls of all attentions in a pass

    @classmethod
    def of(cls, module: nn.Module, num_queries: int, num_keys: int) -> "_Point":
        """The point of a call that begins."""
        listener = current_listener()
        attends: Attends | None = getattr(module, _ATTENDS, None)
        if listener is None or attends is None:
            return cls(listener)
        counts = listener.counts
        done = counts.get(module, 0)
        counts[module], counts[_DONE] = done + 1, counts.get(_DONE, 0) + 1
        site, layer = attends.sites[done % len(attends.sites)]
        if site == "decoder.self":
            counts[site] = num_keys - num_queries
        # Who knows better says so (`hooks.rows_from`): a cache of a window holds fewer keys than were read.
        row = first_row() or counts.get("decoder.self", 0) if site.startswith("decoder") else 0
        return cls(listener, site_path(site, layer), row, attends.total)

    def wants(self, kind: str) -> bool:
        """Whether somebody records or edits this."""
        return self.listener is not None and self.listener.wants(f"{self.path}.{kind}", kind)

    def visit(self, kind: str, value: T, row: int = 0) -> T:
        """The value, whose first row is this one of the call, as who listens leaves it."""
        if self.listener is None:
            return value
        with rows_from(self.row + row):
            return self.listener.visit(f"{self.path}.{kind}", kind, value)


_PROGRESS: ContextVar[LayersDone | None] = ContextVar("headlight_adapter_progress", default=None)


@contextmanager
def layers_counted(progress: LayersDone) -> Iterator[None]:
    """Call `progress`, which may end the pass, after each attention of this thread that a listener hears."""
    token = _PROGRESS.set(progress)
    try:
        yield
    finally:
        _PROGRESS.reset(token)


def head_edits(edits: Edits | None, abilities: Abilities, *, num_source: int, num_target: int) -> Mapping[str, Edit]:
    """Full hook name → function, for named edits of a model of `transformers`, as of `edit_hooks.compile_edits`.

    Raises an EditError if an edit is a function, or names what does not exist, or the model's heads cannot be edited.
    """
    named = named_only(edits)
    if named and "edits" in abilities.lacks:
        raise EditError(abilities.lacks["edits"])
    return compile_edits(named, abilities.shapes, num_source=num_source, num_target=num_target)


def check_edits(edits: Mapping[str, Edit], abilities: Abilities) -> None:
    """Check that every edit is of a point that an attention of this model visits, as `EncoderDecoder.check_edits` does.

    Raises an EditError if the model's heads cannot be edited, a ValueError if there is no such point.
    """
    if edits and "edits" in abilities.lacks:
        raise EditError(abilities.lacks["edits"])
    paths = {site_path(site, layer) for site, heads in abilities.heads.items() for layer in range(len(heads))}
    if unknown := sorted(name for name in edits if (at := name.rpartition("."))[0] not in paths or at[2] not in EDITED):
        raise ValueError(f"no such hook points: {unknown}; attentions of this model have {sorted(EDITED)}")


def named_only(edits: Edits | None) -> tuple[HeadEdit, ...]:
    """The same edits, as many as there are. Raises an EditError if one is a function."""
    if isinstance(edits, Mapping):
        if edits:
            raise EditError("Edit heads of this model with SwitchOff, MakeUniform or PointAt, not with functions.")
        return ()
    return tuple(edits or ())


def attend(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **given: Any
) -> tuple[Tensor, None]:
    """The attention of one layer, as `transformers` calls it: [batch, query, head, d_v].

    What a fused kernel cannot do (a soft cap, sinks, an edit of scores) is computed by our own equation, a block of
    rows at a time; all else by torch's fused kernel, just as without us.
    """
    here = _Point.of(module, query.size(2), key.size(2))
    softcap, sinks = given.get("softcap"), given.get("s_aux")
    is_fused = softcap is None and sinks is None and not here.wants("hook_scores")
    if here.listener is None and is_fused:
        return fused_attention(module, query, key, value, attention_mask, given), None
    known, mask_bias = _mask_of(attention_mask, module, query, key, given)
    value, mask = here.visit("hook_value", value), here.visit("hook_mask", known)
    if mask is not known:
        attention_mask = _fused_mask(mask, mask_bias)
    keeps = here.wants(CALL)
    kept_query, kept_key, kept_value = alone(query, key, value) if keeps else (query, key, value)
    call = Call(
        module=module,
        query=kept_query,
        key=kept_key,
        value=kept_value,
        mask=mask,
        scale=query.size(-1) ** -0.5 if given.get("scaling") is None else float(given["scaling"]),
        bias=_bias_of(given.get("position_bias"), mask_bias),
        softcap=softcap,
        sinks=sinks,
        edits=() if here.listener is None else named_edits(here.listener.edits, here.path),
    )
    told = KernelSums()
    if not is_fused:
        output = _by_rows(call, here)
    else:
        with told if keeps else nullcontext():
            output = fused_attention(module, query, key, value, attention_mask, given)
    output = here.visit("hook_head_output", output.transpose(1, 2)).transpose(1, 2)
    if keeps:
        here.visit(CALL, replace(call, log_sums=told.sums))
    if here.listener is not None and (progress := _PROGRESS.get()) is not None:
        progress(min(here.listener.counts.get(_DONE, 0), here.total), here.total)
    return output, None


def alone(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The same tensors; one that is a part of a larger block of memory, which it would keep, is copied out of it."""
    blocks = [tensor.untyped_storage() for tensor in tensors]
    used = Counter[int]()
    for tensor, block in zip(tensors, blocks, strict=True):
        used[block.data_ptr()] += tensor.nbytes
    return tuple(
        tensor.clone() if block.nbytes() > 1.1 * used[block.data_ptr()] else tensor
        for tensor, block in zip(tensors, blocks, strict=True)
    )


def causal_or_padding(**asked: Any) -> Tensor | None:
    """A mask for the fused kernel, as `transformers` asks for it, that carries its `AttentionMask` as an attribute.

    None where the kernel needs no booleans: nothing is masked, or only what comes later.
    """
    made = fused_mask(asked)
    if made is not None:
        first_query = int(asked.get("q_offset", 0)) - int(asked.get("kv_offset", 0))
        behind = mask_behind(made[:, 0], first_query=first_query, local_size=asked.get("local_size"))
        setattr(made, _MASK, behind)
    return made


def _mask_of(
    given: Tensor | None, module: nn.Module, query: Tensor, key: Tensor, asked: Mapping[str, Any]
) -> tuple[AttentionMask, Tensor | None]:
    """The small mask of this call, and the bias that came hidden in it."""
    num_queries, num_keys = query.size(2), key.size(2)
    if given is None:
        is_causal = asked.get("is_causal")
        is_causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
        # Rows that are computed one at a time, with earlier keys cached, see all of these.
        first = num_keys - num_queries if is_causal else 0
        plain = AttentionMask(
            num_queries=num_queries, num_keys=num_keys, causal=bool(is_causal), first_query=first, device=query.device
        )
        return plain, None
    known = getattr(given, _MASK, None)
    if isinstance(known, AttentionMask) and (known.num_queries, known.num_keys) == (num_queries, num_keys):
        return known, None
    given = given[..., :num_keys]
    if given.dtype == torch.bool:
        return mask_behind(given[:, 0].expand(-1, num_queries, -1), local_size=asked.get("sliding_window")), None
    allowed = given > torch.finfo(given.dtype).min / 2
    rest = given.masked_fill(~allowed, 0.0)
    mask = mask_behind(allowed[:, 0].expand(-1, num_queries, -1), local_size=asked.get("sliding_window"))
    return mask, rest if bool(rest.any()) else None


def _fused_mask(mask: AttentionMask, bias: Tensor | None) -> Tensor:
    """A mask for the fused kernel: booleans, or a bias that is as low as can be where a key may not be seen."""
    allowed = mask.rows()[:, None]
    return allowed if bias is None else bias.masked_fill(~allowed, torch.finfo(bias.dtype).min)


def _bias_of(given: Tensor | None, hidden: Tensor | None) -> Tensor | DistanceBias | None:
    """What is added to the scores: one row of numbers per head where it depends on distance only; None if all zero."""
    if given is None:
        return hidden
    known = getattr(given, _BIAS, False)
    if known is False:
        known = given if bool(given.any()) else None
        if known is not None and given.size(0) == 1:
            known = distance_bias(given[0]) or given
        setattr(given, _BIAS, known)
    if hidden is None:
        return known if isinstance(known, DistanceBias) or known is None else given
    return given + hidden


def _by_rows(call: Call, here: _Point) -> Tensor:
    """weights @ value of every head by `attention_weights`, scores edited, a block of query rows at a time."""
    num_heads, num_queries = call.query.size(1), call.query.size(2)
    group = num_heads // call.key.size(1)
    key, value = (shared.repeat_interleave(group, dim=1) for shared in (call.key, call.value))
    sinks = None if call.sinks is None else call.sinks[:, None, None]
    heads = range(num_heads)
    blocks = []
    for first in range(0, num_queries, ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        bias = call.bias.rows(heads, rows)[None] if isinstance(call.bias, DistanceBias) else call.bias
        if isinstance(call.bias, Tensor):
            bias = call.bias.expand(-1, -1, num_queries, -1)[:, :, rows]
        scores, weights = attention_weights(
            call.query[:, :, rows],
            key,
            scale=call.scale,
            mask=call.mask.rows(rows)[:, None],
            bias=bias,
            softcap=call.softcap,
            sinks=sinks,
        )
        if here.wants("hook_scores"):
            weights = softmax_over_keys(here.visit("hook_scores", scores, first), sinks)
        blocks.append(weights.to(value.dtype) @ value)
    return torch.cat(blocks, dim=2).transpose(1, 2).contiguous()

"""Record and edit the attention of a running `transformers` model, without changing what it computes.

`transformers` calls one function for the attention of every model that has its AttentionInterface; `attend` is that
function, `causal_or_padding` the one that makes masks for it. Who listens is held in a `ContextVar`, so threads that
share a model do not see each other's runs. Nothing is computed twice and no query × key array is kept: a run that is
recorded takes what a plain fused one takes.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from model.adapters.kernel_sums import KernelSums
from model.adapters.library import fused_attention, fused_mask
from model.adapters.mask_rules import mask_behind
from model.nn.attention import AttentionInputs, attention_weights, softmax_over_keys
from model.nn.distance_bias import DistanceBias, distance_bias
from model.nn.edits import HeadEdit, edit_scores
from model.nn.hooks import first_row
from model.nn.masks import AttentionMask
from model.word_choice import OutputsEdit, SiteAndLayer

ROWS_AT_ONCE = 256
LayersDone = Callable[[int, int], None]
"""Is called with the attentions of a pass that are computed, and how many there are."""
_MASK, _BIAS = "headlight_mask", "headlight_bias"
"""Attributes of tensors that models hand from layer to layer: the small mask or bias behind each, derived once."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Call:
    """What one attention site of one layer computed, for a whole batch. Tensors are the model's own, not copies.

    Attributes:
        bias: added to the scaled scores.
        first_row: position in its text of the first query row.
        log_sums: of the rows, where the kernel told them (`KernelSums`).
        output: of the heads, before W_O; None unless it was asked for.
    """

    module: nn.Module
    query: Float[Tensor, "batch head query d_k"]
    key: Float[Tensor, "batch kv_head key d_k"]
    value: Float[Tensor, "batch kv_head key d_v"]
    mask: AttentionMask
    scale: float
    bias: Tensor | DistanceBias | None = None
    softcap: float | None = None
    sinks: Float[Tensor, "head"] | None = None
    edits: tuple[HeadEdit, ...] = ()
    first_row: int = 0
    log_sums: Float[Tensor, "batch head query"] | None = None
    output: Float[Tensor, "batch query head d_v"] | None = None

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


@dataclass(frozen=True)
class Listener:
    """What one run keeps and changes; one that is only changed keeps no calls.

    Attributes:
        keeps_outputs: whether the heads' real outputs are kept too.
        sites: attention module → the site and layer of its first, second … call in a pass.
        outputs: what is done to the heads' outputs of every site and layer, before W_O.
        values: what is done to the values [batch, kv_head, key, d_v] of a site and layer.
        seen: site → which keys of each sentence of the batch may be attended to at all; all where it has none.
        calls: what was computed, in this order.
    """

    keeps_calls: bool = True
    keeps_outputs: bool = False
    sites: Mapping[nn.Module, tuple[SiteAndLayer, ...]] = field(default_factory=dict)
    edits: Mapping[SiteAndLayer, tuple[HeadEdit, ...]] = field(default_factory=dict)
    outputs: OutputsEdit | None = None
    values: Mapping[SiteAndLayer, Callable[[Tensor], Tensor]] = field(default_factory=dict)
    seen: Mapping[str, Bool[Tensor, "batch key"]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    _done: dict[nn.Module, int] = field(default_factory=dict)
    _rows: dict[str, int] = field(default_factory=dict)

    def site_of(self, module: nn.Module) -> SiteAndLayer | None:
        """The site and layer that this module computes now; to be asked once in each of its calls."""
        if module not in self.sites:
            return None
        done = self._done.get(module, 0)
        self._done[module] = done + 1
        return self.sites[module][done % len(self.sites[module])]

    @property
    def progress(self) -> tuple[int, int]:
        """The attentions of a pass that are computed, and how many there are."""
        total = sum(map(len, self.sites.values()))
        return min(sum(self._done.values()), total), total

    def first_row_of(self, site: str, num_queries: int, num_keys: int) -> int:
        """The position in its text of the first query row that this call computes, where a decoder runs row by row.

        Who knows better says so (`hooks.rows_from`): a cache of a window holds fewer keys than were read.
        """
        if not site.startswith("decoder"):
            return 0
        if site == "decoder.self":
            self._rows[site] = num_keys - num_queries
        return first_row() or self._rows.get("decoder.self", 0)


_LISTENER: ContextVar[Listener | None] = ContextVar("headlight_adapter_listener", default=None)
_PROGRESS: ContextVar[LayersDone | None] = ContextVar("headlight_adapter_progress", default=None)


@contextmanager
def listen(listener: Listener) -> Iterator[list[Call]]:
    """Record (and change) the attention of every model that runs in this thread while the block runs."""
    token = _LISTENER.set(listener)
    try:
        yield listener.calls
    finally:
        _LISTENER.reset(token)


@contextmanager
def layers_counted(progress: LayersDone) -> Iterator[None]:
    """Call `progress` after every attention that this thread computes for a listener, with their number in a pass.

    It may end the pass by an error.
    """
    token = _PROGRESS.set(progress)
    try:
        yield
    finally:
        _PROGRESS.reset(token)


def attend(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **given: Any
) -> tuple[Tensor, None]:
    """The attention of one layer, as `transformers` calls it: [batch, query, head, d_v].

    What a fused kernel cannot do (a soft cap, sinks, an edit) is computed by our own equation, a block of rows at a
    time; all else by torch's fused kernel, just as without us.
    """
    listener = _LISTENER.get()
    softcap, sinks = given.get("softcap"), given.get("s_aux")
    at = None if listener is None else listener.site_of(module)
    edits = () if listener is None or at is None else listener.edits.get(at, ())
    row = 0 if listener is None or at is None else listener.first_row_of(at[0], query.size(2), key.size(2))
    is_fused = softcap is None and sinks is None and not edits
    if listener is None and is_fused:
        return fused_attention(module, query, key, value, attention_mask, given), None
    mask, mask_bias = _mask_of(attention_mask, module, query, key, given)
    if listener is not None and at is not None:
        if (change := listener.values.get(at)) is not None:
            value = change(value)
        if (seen := listener.seen.get(at[0])) is not None:
            mask = replace(mask, key_padding=seen if mask.key_padding is None else mask.key_padding & seen)
            attention_mask = _fused_mask(mask, mask_bias)
    keeps = listener is not None and listener.keeps_calls
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
        edits=edits,
        first_row=row,
    )
    told = KernelSums()
    if not is_fused:
        output = _by_rows(call)
    else:
        with told if keeps else nullcontext():
            output = fused_attention(module, query, key, value, attention_mask, given)
    if listener is not None and at is not None and listener.outputs is not None:
        output = listener.outputs(*at, output.transpose(1, 2)).transpose(1, 2)
    if listener is not None and listener.keeps_calls:
        listener.calls.append(replace(call, log_sums=told.sums, output=output if listener.keeps_outputs else None))
    if listener is not None and (progress := _PROGRESS.get()) is not None:
        progress(*listener.progress)
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


def _by_rows(call: Call) -> Tensor:
    """weights @ value of every head by `attention_weights`, edits applied, a block of query rows at a time."""
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
        if call.edits:
            numbers = range(call.first_row + first, call.first_row + first + scores.size(-2))
            weights = softmax_over_keys(edit_scores(scores, call.edits, heads, numbers), sinks)
        blocks.append(weights.to(value.dtype) @ value)
    return torch.cat(blocks, dim=2).transpose(1, 2).contiguous()

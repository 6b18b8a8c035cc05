"""Find which module of a model is which attention site and layer, by watching one short pass.

Encoder and decoder read texts of different lengths, so that the number of queries and keys identifies the site; the
order in which modules are called identifies the layer. The module that reads what the heads wrote is their output
projection.

Of models that give nothing else, `weights_of` reads the weights that their own eager attention returns. They are held
for all heads, query × key, so that such models have a length limit of their own.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from types import MappingProxyType
from typing import Any, Final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.abilities import Abilities
from model.adapters.capture import Call, name_attentions
from model.adapters.library import LINEAR
from model.adapters.placement import weight_of
from model.errors import CheckpointError, TraceError
from model.nn.attention import AttentionInputs, MadeOf, WeightsOnly
from model.nn.encoder_decoder import SITES, site_path
from model.nn.hooks import CALL, Edit, listen
from model.nn.masks import AttentionMask
from model.trace.trace import Recorded, SiteLayers
from model.word_choice import SiteAndLayer

OUTPUTS: Final = "hook_head_output"
#: Rows of a memory by which it is seen that a matrix makes keys of it.
_TRIED: Final = 8


@dataclass(frozen=True, eq=False)
class Layout:
    """Where a model attends."""

    #: attention module → site and layer of its first, second … call in a pass (layers may share a module).
    sites: Mapping[nn.Module, tuple[SiteAndLayer, ...]]
    heads: Mapping[str, tuple[int, ...]]  #: site → heads of each layer
    projections: Mapping[SiteAndLayer, nn.Module]  #: (site, layer) → W_O as [head · d_v, d_model], where it was found

    def inputs(self, recorded: Recorded, sentence: int = 0) -> Mapping[str, tuple[AttentionInputs, ...]]:
        """What one sentence of a batch left at every site and layer in a pass that recorded its calls, on the CPU."""

        def left(site: str, layer: int) -> AttentionInputs:
            call: Call | AttentionInputs = recorded[f"{site_path(site, layer)}.{CALL}"][-1]
            return call if isinstance(call, AttentionInputs) else call.of_sentence(sentence, torch.device("cpu"))

        return {site: tuple(left(site, layer) for layer in range(len(heads))) for site, heads in self.heads.items()}

    def leaner(self, memory: Callable[[], Float[Tensor, "key d_model"]]) -> Mapping[str, Edit]:
        """Edits of a pass over one sentence, by which keys and values that a matrix makes of a long memory are kept as
        both: they are let go of when their layer has run. Once the model's own matrices change, asking for them raises
        a TraceError. `memory` is asked for while the decoder runs.
        """

        def lean(call: Call) -> AttentionInputs:
            return _made_of(memory(), call.of_sentence(0, torch.device("cpu")), call.module)

        layers = range(len(self.heads.get("decoder.cross", ())))
        return {f"{site_path('decoder.cross', layer)}.{CALL}": lean for layer in layers}

    def outputs(self, recorded: Recorded) -> Mapping[str, Float[Tensor, "head row d_v"]]:
        """Hook name → the heads' real outputs for the only sentence of a batch, on the CPU, where they were kept."""
        kept = {name: values[-1][0].cpu() for name, values in recorded.items() if name.endswith(OUTPUTS)}
        return MappingProxyType(kept)

    def known_projection(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """`projection`. Raises a TraceError if there is no such site or layer, or the model does not tell."""
        projection = self.projection(site, layer)
        if projection is None:
            message = (
                "It is unknown what the heads of layer {layer} of {site} add to the output of this model: there is no "
                "such layer, or the model exposes only its attention weights."
            )
            raise TraceError(message, layer=layer, site=site)
        return projection

    def projection(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"] | None:
        """W_O of a site, cut into heads, float32 on the CPU; None where it is not known."""
        module = self.projections.get((site, layer))
        if module is None:
            return None
        weight = weight_of(module)
        assert weight is not None, "an output projection is a matrix"
        # A linear layer holds its matrix transposed, GPT-2's layer does not.
        joined = weight.T if isinstance(module, nn.Linear) else weight
        return joined.reshape(self.heads[site][layer], -1, joined.size(1))


def _made_of(memory: Float[Tensor, "key d_model"], inputs: AttentionInputs, module: nn.Module) -> AttentionInputs:
    """The same, without the keys and values that a matrix of the module makes of the memory."""
    # Of a short memory, the matrices would keep more alive than this spares.
    if memory.is_cuda or len(memory) <= memory.size(1):
        return inputs
    some = slice(None, None, max(1, len(memory) // _TRIED))
    made = {}
    for matrix in module.modules():
        if type(matrix) is not nn.Linear or matrix.weight.device != memory.device:
            continue
        for name, kept in (("key", inputs.key), ("value", inputs.value)):
            heads, _, width = kept.shape
            if matrix.weight.shape == (heads * width, memory.size(1)) and matrix.weight.dtype == memory.dtype:
                candidate = MadeOf(memory, matrix, some, kept[:, some].clone())
                if candidate.is_true():
                    made[name] = candidate
    return inputs.with_made(made)


def find_layout(
    model: nn.Module, sites: Mapping[tuple[int, int], str], run: Callable[[], Any], *, windowed: bool = False
) -> tuple[Layout, Recorded]:
    """Watch one pass of a model with our attention: where it attended, and what every call left, by its path.

    `sites`: the numbers of queries and keys of one sentence → the site; `windowed`: attentions of several windows of a
    picture at once are none of them. Raises a CheckpointError if the model attends
    between other positions.
    """
    name_attentions(model, {})
    calls: list[Call] = []
    outputs: list[Tensor] = []
    readers: dict[int, nn.Module] = {}

    def note(module: nn.Module, given: tuple[Any, ...]) -> None:
        if outputs and given and isinstance(given[0], Tensor):
            wrote = outputs[-1]
            if given[0].data_ptr() == wrote.data_ptr() and given[0].numel() == wrote.numel():
                readers.setdefault(len(outputs) - 1, module)

    linear = (module for module in model.modules() if isinstance(module, LINEAR))
    hooks = [module.register_forward_pre_hook(note) for module in linear]
    try:
        with torch.inference_mode(), listen(record={CALL, OUTPUTS}) as recorded:
            recorded[f".{CALL}"], recorded[f".{OUTPUTS}"] = calls, outputs
            run()
    finally:
        for hook in hooks:
            hook.remove()
    modules: dict[nn.Module, list[SiteAndLayer]] = {}
    heads: dict[str, list[int]] = {}
    projections: dict[SiteAndLayer, nn.Module] = {}
    by_path: dict[str, list[Any]] = {}
    for number, (call, output) in enumerate(zip(calls, outputs, strict=True)):
        lengths = (call.query.size(2), call.key.size(2))
        if windowed and call.query.size(0) != 1:
            continue
        if lengths not in sites or call.query.size(0) != 1:
            message = (
                "This model attends from {queries} to {keys} positions; Headlight cannot tell which tokens these are."
            )
            raise CheckpointError(message, queries=lengths[0] * call.query.size(0), keys=lengths[1])
        site = sites[lengths]
        at = (site, len(heads.setdefault(site, [])))
        modules.setdefault(call.module, []).append(at)
        heads[site].append(call.query.size(1))
        by_path |= {f"{site_path(*at)}.{CALL}": [call], f"{site_path(*at)}.{OUTPUTS}": [output]}
        if number in readers:
            projections[at] = readers[number]
    in_order = {site: tuple(heads[site]) for site in SITES if site in heads}
    attending = {module: tuple(at) for module, at in modules.items()}
    name_attentions(model, attending)
    return Layout(attending, in_order, projections), by_path


LARGEST: Final = 1 << 30
"""Bytes of weights that may be held for one text."""

#: Site → under which names the library returns its weights.
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "encoder.self": ("encoder_attentions", "attentions"),
    "decoder.self": ("decoder_attentions", "attentions"),
    "decoder.cross": ("cross_attentions",),
}


def eager_weights(output: Any, sites: Iterable[str]) -> dict[str, tuple[Tensor, ...]]:
    """Site → of each layer that attends, the weights [batch, head, query, key] that the library returned."""
    found: dict[str, tuple[Tensor, ...]] = {}
    for site in sites:
        named = (getattr(output, name, None) for name in _NAMES[site])
        # Of layers that do not attend, some models return None, or what they hold instead.
        layers = tuple(layer for layer in next((one for one in named if one), ()) if isinstance(layer, Tensor))
        if layers:
            found[site] = layers
    return found


def weights_of(output: Any, abilities: Abilities, config: Any) -> SiteLayers:
    """The weights of the only sentence of a batch, on the CPU."""
    why = abilities.lacks["scores"]
    # How far a layer that does not look at everything looks back, its own row counted.
    windows = [getattr(config, name, None) for name in ("window_size", "sliding_window")]
    return {
        site: tuple(
            WeightsOnly(held=held, mask=_mask_around(held, site == "decoder.self", windows), why=why)
            for held in (layer[0].float().cpu() for layer in layers)
        )
        for site, layers in eager_weights(output, abilities.heads).items()
    }


def _mask_around(weights: Float[Tensor, "head query key"], causal: bool, windows: Iterable[Any]) -> AttentionMask:
    """The narrowest mask of those that this model may have, outside of which no head has any weight."""
    _, num_queries, num_keys = weights.shape
    for window in (*sorted(size for size in windows if isinstance(size, int) and 0 < size < num_keys), None):
        mask = AttentionMask(num_queries=num_queries, num_keys=num_keys, causal=causal, window=window)
        if window is None or not bool(weights[:, ~mask.rows()[0]].any()):
            return mask
    raise AssertionError("the last candidate has no window")


def longest_text(heads: Mapping[str, Sequence[int]]) -> int:
    """How many tokens a text may have so that all weights fit into `LARGEST`."""
    return isqrt(LARGEST // (4 * sum(map(sum, heads.values()))))

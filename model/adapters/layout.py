"""Find which module of a model is which attention site and layer, by watching one short pass.

Encoder and decoder get texts of different lengths, so that the number of queries and keys identifies the site; the
order in which modules are called identifies the layer. The module that reads what the heads wrote is their output
projection.

Of models that give nothing else, `weights_of` reads the weights that their own eager attention returns. They are held
for all heads, query × key, so that such models have a length limit of their own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from types import MappingProxyType
from typing import Any, Final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.abilities import Abilities, Kind
from model.adapters.capture import Call, name_attentions
from model.adapters.placement import weight_of
from model.errors import CheckpointError, TraceError
from model.nn.encoder_decoder import SITES, site_path
from model.nn.hooks import CALL, listen
from model.nn.masks import AttentionMask
from model.trace.trace import Recorded, SiteLayers
from model.trace.weights_only import WeightsOnly
from model.word_choice import SiteAndLayer

OUTPUTS: Final = "hook_head_output"
SOURCE_LENGTH: Final = 3
TARGET_LENGTH: Final = 2
_SITE_BY_LENGTHS: Final = {
    (SOURCE_LENGTH, SOURCE_LENGTH): "encoder.self",
    (TARGET_LENGTH, TARGET_LENGTH): "decoder.self",
    (TARGET_LENGTH, SOURCE_LENGTH): "decoder.cross",
}


@dataclass(frozen=True, eq=False)
class Layout:
    """Where a model attends.

    Attributes:
        sites: attention module → site and layer of its first, second … call in a pass (layers may share a module).
        heads: site → heads of each layer.
        projections: (site, layer) → W_O as [head · d_v, d_model], where it was found.
        num_watched: tokens that the first site read in the pass that was watched; of an image model always so many.
    """

    sites: Mapping[nn.Module, tuple[SiteAndLayer, ...]]
    heads: Mapping[str, tuple[int, ...]]
    projections: Mapping[SiteAndLayer, nn.Module]
    num_watched: int = 0

    def inputs(self, recorded: Recorded, sentence: int = 0) -> SiteLayers:
        """What one sentence of a batch left at every site and layer in a pass that recorded its calls, on the CPU."""
        return {
            site: tuple(
                recorded[f"{site_path(site, layer)}.{CALL}"][-1].of_sentence(sentence, torch.device("cpu"))
                for layer in range(len(heads))
            )
            for site, heads in self.heads.items()
        }

    def outputs(self, recorded: Recorded) -> Mapping[str, Float[Tensor, "head row d_v"]]:
        """Hook name → the heads' real outputs for the only sentence of a batch, on the CPU, where they were kept."""
        kept = {name: values[-1][0].cpu() for name, values in recorded.items() if name.endswith(OUTPUTS)}
        return MappingProxyType(kept)

    def known_projection(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """`projection`, where it must be there.

        Raises:
            TraceError: there is no such site or layer, or the model does not tell.
        """
        projection = self.projection(site, layer)
        if projection is None:
            raise TraceError(
                "What the heads of layer {layer} of {site} add to the output is not known of this model: there "
                "is no such layer, or the model gives its weights only.",
                layer=layer,
                site=site,
            )
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


def find_layout(model: nn.Module, kind: Kind, run: Callable[[], Any]) -> Layout:
    """Watch one pass over made-up tokens.

    Args:
        model: whose attention is registered as ours.
        kind: which stacks it has.
        run: one pass: `SOURCE_LENGTH` tokens for an encoder, `TARGET_LENGTH` for the decoder behind one.

    Raises:
        CheckpointError: a site is called that is none of those expected.
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

    linear = [
        module for module in model.modules() if isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"
    ]
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
    for number, call in enumerate(calls):
        site = _site(kind, call)
        at = (site, len(heads.setdefault(site, [])))
        modules.setdefault(call.module, []).append(at)
        heads[site].append(call.query.size(1))
        if number in readers:
            projections[at] = readers[number]
    in_order = {site: tuple(heads[site]) for site in SITES if site in heads}
    watched = calls[0].key.size(2) if calls else 0
    sites = {module: tuple(at) for module, at in modules.items()}
    name_attentions(model, sites)
    return Layout(sites, in_order, projections, watched)


def _site(kind: Kind, call: Call) -> str:
    if kind != "encoder-decoder":
        return "decoder.self" if kind == "decoder" else "encoder.self"
    lengths = (call.query.size(2), call.key.size(2))
    if lengths not in _SITE_BY_LENGTHS:
        raise CheckpointError(
            "This model attends from {queries} to {keys} positions, which Headlight cannot place.",
            queries=lengths[0],
            keys=lengths[1],
        )
    return _SITE_BY_LENGTHS[lengths]


LARGEST: Final = 1 << 30
"""Bytes of weights that may be held for one text."""

#: Kind → site → under which name the library returns its weights.
_NAMES: Final[Mapping[Kind, Mapping[str, str]]] = {
    "encoder": {"encoder.self": "attentions"},
    "image": {"encoder.self": "attentions"},
    "decoder": {"decoder.self": "attentions"},
    "encoder-decoder": {
        "encoder.self": "encoder_attentions",
        "decoder.self": "decoder_attentions",
        "decoder.cross": "cross_attentions",
    },
}


def eager_weights(output: Any, kind: Kind) -> dict[str, Sequence[Tensor]]:
    """Site → per layer, the weights [batch, head, query, key] that the library returned."""
    return {site: output[name] for site, name in _NAMES[kind].items()}


def weights_of(output: Any, abilities: Abilities, config: Any) -> SiteLayers:
    """The weights of the only sentence of a batch, on the CPU."""
    why = abilities.lacks["scores"]
    weights: dict[str, tuple[WeightsOnly, ...]] = {}
    for site, layers in eager_weights(output, abilities.kind).items():
        causal = site == "decoder.self"
        # How far each layer looks back, its own row counted; GPT-Neo's every second layer no further than a window.
        kinds = getattr(config, "attention_layers", ["global"] * len(layers))
        windows = [config.window_size if kind == "local" else None for kind in kinds]
        weights[site] = tuple(
            WeightsOnly(
                held=layer[0].float().cpu(),
                mask=AttentionMask(num_queries=layer.size(2), num_keys=layer.size(3), causal=causal, window=window),
                why=why,
            )
            for layer, window in zip(layers, windows, strict=True)
        )
    return weights


def longest_text(heads: Mapping[str, Sequence[int]]) -> int:
    """How many tokens a text may have so that all weights fit into `LARGEST`."""
    return isqrt(LARGEST // (4 * sum(map(sum, heads.values()))))

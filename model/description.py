"""Describe a loaded model in words and numbers: kind, layers, heads, parameters, settings, what it lacks."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

from torch import nn

from model.abilities import Kind, PositionScheme, Reason, Whole
from model.config import TransformerConfig
from model.decoding.cost import ParameterCounts, count_parameters, paper_sizes
from model.errors import TraceError, said, said_plural
from model.nn.attention import AttentionSite
from model.parts.weights import Sublayer
from model.reader import Reader, Writer
from model.sources import SOURCES
from model.trace.trace import Trace

T = TypeVar("T")

KINDS: Final[Mapping[Kind, str]] = {
    "encoder": said("encoder-only"),
    "decoder": said("decoder-only"),
    "encoder-decoder": said("encoder and decoder"),
    "image": said("vision encoder"),
}
SITES: Final[Mapping[str, str]] = {
    "encoder.self": said("Encoder self-attention"),
    "decoder.self": said("Decoder self-attention"),
    "decoder.cross": said("Decoder cross-attention"),
}
POSITIONS: Final[Mapping[PositionScheme, str]] = {
    "sinusoidal": said("sinusoidal"),
    "learned": said("learned"),
    "rotary": said("rotary"),
    "ALiBi": "ALiBi",
    "relative bias": said("relative bias"),
    "none": said("none"),
    "unknown": said("unknown"),
}
#: Why a tensor of the folder is not used → what the row of such tensors is called.
UNUSED: Final[Mapping[Reason, str]] = {
    "head": said("Not used: belongs to another output head"),
    "buffer": said("Not used: the model computes it itself"),
    "tie": said("Not used: equal to one that is used"),
    "ignorable": said("Not used: skipped by transformers"),
}
#: The parts of a model that its parameters are counted by.
_EMBEDDINGS, _NORMS, _ATTENTION = said("Embeddings"), said("Norms and scales"), said("Attention")
_RECURRENCE, _CONVOLUTIONS = said("Recurrence"), said("Convolutions")
_REST: Final = said("Feed-forward and the rest")
#: Settings that say more of the library than of the model.
_UNSAID: Final = frozenset({"transformers_version", "return_dict", "output_hidden_states", "output_attentions"})
MAX_VALUE: Final = 80
#: The path of an attention in our models.
_SITE: Final = re.compile(r"(\w+)\.layers\.\d+\.(\w+)_attention")


@dataclass(frozen=True)
class Description:
    """A model in words and numbers."""

    rows: Sequence[tuple[str, str]]  #: what a person wants to know first, as (name, value)
    parts: Mapping[str, int]  #: part of the model → its parameters; a shared one counts once
    settings: Sequence[tuple[str, str]]  #: of its config.json, as (name, value); empty for a checkpoint of our own
    lacks: Sequence[str]  #: one sentence for everything that cannot be shown of it


@dataclass(frozen=True, kw_only=True)
class Hyperparameters:
    """What an encoder–decoder is made of, named as in the paper's Table 3; where its parts differ, each value once."""

    layers: tuple[int, ...]  #: N of the encoder and of the decoder
    heads: tuple[int, ...]  #: h
    d_model: int
    d_ff: tuple[int, ...]
    d_k: tuple[int, ...]
    vocabularies: tuple[int, ...]  #: tokens that it reads, and that it writes
    matrices: int  #: of embeddings, and of the output
    norms: tuple[str, ...]  #: "post" or "pre"
    activations: tuple[str, ...]  #: of feed-forward networks, with ⊙ where they have gates
    dropout: float
    counts: ParameterCounts

    @classmethod
    def of_config(cls, config: TransformerConfig) -> "Hyperparameters":
        """Those of a Transformer that Headlight would make."""
        return cls(
            layers=(config.num_layers, config.decoder_layers),
            heads=(config.num_heads,),
            d_model=config.d_model,
            d_ff=(config.d_ff,),
            d_k=(config.d_k,),
            vocabularies=(config.vocab_size,),
            matrices=1 if config.share_embeddings else 3,
            norms=(config.norm,),
            activations=("ReLU",),
            dropout=config.dropout,
            counts=count_parameters(config),
        )


def describe(reader: Reader) -> Description:
    """Describe a model before it reads anything."""
    model: Any = getattr(reader, "model")  # noqa: B009 – what a reader reads with is not part of its interface
    abilities = reader.abilities
    config: Any = getattr(model, "config", None)
    parts = _parameters(reader, model)
    most = said("limited only by RAM")
    if abilities.max_length is not None:
        limit = SOURCES[abilities.reads].limit
        most = said(limit, count=abilities.max_length)
    rows: list[tuple[str, str]] = [
        (said("Kind"), said("{family}: {kind}", family=abilities.family, kind=KINDS[abilities.kind]))
    ]
    for site, heads in abilities.heads.items():
        least, most_heads = min(heads), max(heads)
        layers = said_plural("{count} layer", "{count} layers", len(heads))
        each = said("{layers} of {heads}", layers=layers, heads=said_plural("{count} head", "{count} heads", least))
        if least < most_heads:
            each = said("{layers} of {least} to {most} heads", layers=layers, least=least, most=most_heads)
        rows.append((SITES[site], each))
    if abilities.proof is not None:
        rows.insert(1, (said("Verification"), abilities.proof.verdict))
    if abilities.whole is not None:
        rows[2:2] = _tensors(abilities.whole)
    if (others := _layers_without_attention(model, reader)) is not None:
        rows.append(others)
    labels = getattr(config, "id2label", None)
    if isinstance(labels, dict) and any(name != f"LABEL_{number}" for number, name in labels.items()):
        named = ", ".join(str(name) for name in labels.values())
        rows.append((said("Labels"), named if len(named) <= MAX_VALUE else f"{named[: MAX_VALUE - 1]}…"))
    positions, writes = (
        POSITIONS[abilities.positions],
        (said("Writes"), said("yes") if abilities.generates else said("no")),
    )
    if abilities.target_positions is not None:
        own = POSITIONS[abilities.target_positions]
        positions = said("encoder: {encoder}; decoder: {decoder}", encoder=positions, decoder=own)
    if abilities.generates and abilities.max_target_length is not None:
        writes = said("Writes at most"), said("{count:,} tokens", count=abilities.max_target_length)
    rows += [
        (said("Positions"), positions),
        (said("Reads at most"), most),
        writes,
        (said("Parameters"), f"{sum(parts.values()):,}"),
        (said("Runs on"), _where(reader, model)),
    ]
    settings = config.to_diff_dict() if hasattr(config, "to_diff_dict") else {}
    return Description(
        rows, parts, sorted(map(_setting, _plain(settings).items())), list(dict.fromkeys(abilities.lacks.values()))
    )


def _tensors(whole: Whole) -> list[tuple[str, str]]:
    """What a model was opened as, and which tensors its folder has besides, or lacks; those of all layers as one."""
    rows: list[tuple[str, str]] = [(said("Opened as"), whole.opened_as)]
    for name, tensors in (
        *((title, [name for name, why in whole.unused.items() if why == reason]) for reason, title in UNUSED.items()),
        (said("Not in the folder, and not read"), whole.unread),
        (said("Computed, not in the folder"), whole.computed),
        (said("Loaded, but not used for this kind of input"), whole.not_run),
    ):
        alike = dict.fromkeys(re.sub(r"\b\d+\b", "*", tensor) for tensor in tensors)
        if alike:
            rows.append((name, ", ".join(alike)))
    return rows


def _layers_without_attention(model: nn.Module, reader: Reader) -> tuple[str, str] | None:
    """Which layers of a hybrid attend, counted from 1 as everywhere on pages, and what the others are made of."""
    layout = getattr(reader, "layout", None)
    if layout is None or not layout.sites or reader.abilities.kind != "decoder":
        return None
    from model.adapters.stream_taps import layer_around

    attending = [layer_around(model, module) for module in layout.sites]
    lists = (list(each) for each in model.modules() if isinstance(each, nn.ModuleList))
    layers = next((each for each in lists if attending[0] in each), [])
    if not (without := [layer for layer in layers if layer not in attending]):
        return None
    of_others, own = (
        {(name, type(part).__name__) for layer in some for name, part in layer.named_children()}
        for some in (without, [layer for layer in attending if layer is not None])
    )
    # What stands in place of the attention has another name, or the same name and is of another class.
    own_names = {name for name, _ in own}
    others = {of for name, of in of_others if name not in own_names} or {of for _, of in of_others - own}
    return (
        said("Layers with attention"),
        said(
            "{numbers} of {count}; the others ({others}) have no attention and are skipped in the layer numbers of "
            "heads",
            numbers=", ".join(str(layers.index(layer) + 1) for layer in attending if layer in layers),
            count=len(layers),
            others=", ".join(sorted(others or {type(layer).__name__ for layer in without})),
        ),
    )


def _where(reader: Reader, model: nn.Module) -> str:
    """The device; of a model larger than its memory, how much of it lies elsewhere."""
    whole = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    if reader.num_bytes >= whole:
        return str(reader.device)
    message = "{device}; for lack of memory, {share:.0%} of the weights are read again in every pass"
    return said(message, device=reader.device, share=1 - reader.num_bytes / whole)


def _parameters(reader: Reader, model: nn.Module) -> dict[str, int]:
    """Part of the model → its parameters, by the modules that hold them; of one that is shared, the first."""
    tables = [module for module in model.modules() if isinstance(module, nn.Embedding)]
    for name in ("get_input_embeddings", "get_output_embeddings"):
        with suppress(AttributeError, NotImplementedError):
            tables += filter(None, [getattr(model, name)()])
    in_lists = {each for some in model.modules() if isinstance(some, nn.ModuleList) for each in some.modules()}
    counts: dict[str, int] = dict.fromkeys((_EMBEDDINGS, _NORMS, _ATTENTION, _RECURRENCE, _CONVOLUTIONS, _REST), 0)
    known = _computed(reader, model)

    def count(part: str, parameters: Iterable[nn.Parameter]) -> None:
        new = set(parameters) - known
        known.update(new)
        counts[part] += sum(parameter.numel() for parameter in new)

    for part, modules in (
        (_NORMS, _norms(model)),
        (_ATTENTION, [each.part for each in _attending(reader, model)]),
        (_EMBEDDINGS, tables),
        (_RECURRENCE, [each for each in model.modules() if isinstance(each, nn.RNNBase | nn.RNNCellBase)]),
        (_CONVOLUTIONS, [each for each in model.modules() if isinstance(each, nn.Conv1d)]),
    ):
        count(part, _parameters_of(modules))
    for module in set(model.modules()) - in_lists:
        # Of positions and of tokens that stand before a picture's, which are in no table.
        if next(module.children(), None) is not None:
            count(_EMBEDDINGS, module.parameters(recurse=False))
    count(_REST, model.parameters())
    return {name: number for name, number in counts.items() if number}


def hyperparameters(reader: Reader) -> Hyperparameters:
    """Read off an encoder–decoder's parts what the paper's Table 3 says of one.

    Raises a TraceError with one sentence if it has not both stacks, or does not tell a part.
    """
    if why := reader.abilities.lacks.get("hyperparameters"):
        raise TraceError(why)
    model: Any = getattr(reader, "model")  # noqa: B009 – as in `describe`
    parts, heads = reader.parts, reader.abilities.heads
    networks = [parts.feed_forward(stack, 0) for stack in parts.stacks]
    queries = [parts.attention(site, 0).query.weight for site in heads]
    norms = [parts.norms(Sublayer(stack, 0, "self")) for stack in parts.stacks]
    names = (("post" if each.before is None else "pre") for each in norms)
    rows = [parts.table("encoder").size(0), parts.num_tokens]
    counts, tables = _by_part(reader, model)
    return Hyperparameters(
        layers=tuple(parts.count(stack) for stack in parts.stacks),
        heads=_different(count for layers in heads.values() for count in layers),
        d_model=queries[0].size(1),
        d_ff=_different(each.inner.weight.size(-1) for each in networks),
        d_k=_different(query.size(-1) for query in queries),
        vocabularies=_different(rows),
        matrices=sum(table.dim() == 2 and table.size(0) in rows for table in tables),
        norms=_different(names),
        activations=_different(each.name if each.gate is None else f"{each.name} ⊙" for each in networks),
        dropout=next(filter(None, (getattr(model.config, name, None) for name in ("dropout", "dropout_rate"))), 0.0),
        counts=counts,
    )


def follows_paper(reader: Writer, trace: Trace) -> bool:
    """Whether a step of decoding costs what the paper's sizes say: N, d_model, d_ff and |V| alone."""
    if not reader.abilities.has("hyperparameters"):
        return False
    of, sizes = hyperparameters(reader), reader.decoder_sizes(trace)
    return sizes == paper_sizes(of.layers[-1], of.d_model, of.d_ff[-1], of.vocabularies[-1])


def _different(values: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))


def _by_part(reader: Reader, model: nn.Module) -> tuple[ParameterCounts, list[nn.Parameter]]:
    """The parameters of an encoder–decoder, counted, and those that are in no layer."""
    known, found = _computed(reader, model), list[nn.Parameter]()

    def count(modules: Iterable[nn.Module]) -> int:
        nonlocal found
        found = [each for each in dict.fromkeys(_parameters_of(modules)) if each not in known]
        known.update(found)
        return sum(parameter.numel() for parameter in found)

    norms = count(_norms(model))
    attending = _attending(reader, model)
    of_site = {site: count(each.part for each in attending if each.site == site) for site in SITES}
    encoder, decoder = (
        count(each.layer for each in attending if each.site == f"{stack}.self") for stack in ("encoder", "decoder")
    )
    embedding = count([model])
    counts = ParameterCounts(
        embedding=embedding,
        encoder_self_attention=of_site["encoder.self"],
        encoder_feed_forward=encoder,
        decoder_self_attention=of_site["decoder.self"],
        cross_attention=of_site["decoder.cross"],
        decoder_feed_forward=decoder,
        norms=norms,
    )
    return counts, found


class _Attending(NamedTuple):
    site: str  #: "" where nothing but its name tells that it attends
    part: nn.Module  #: of its layer, that holds it and no other sub-layer
    layer: nn.Module


def _attending(reader: Reader, model: nn.Module) -> list[_Attending]:
    """Where a model attends."""
    layout: Any = getattr(reader, "layout", None)
    paths = {module: path for path, module in model.named_modules()}
    # In our models a site is part of a path.
    sites = {module: _SITE.sub(r"\1.\2", paths[module]) for module in paths if isinstance(module, AttentionSite)}
    sites |= {} if layout is None else {module: places[0][0] for module, places in layout.sites.items()}
    if layout is not None and not sites:
        # Of a model that gives weights only nothing but names tells where it attends.
        named = (module for module, path in paths.items() if "attention" in path.lower() or "attn" in path.lower())
        return [_Attending("", module, module) for module in named]
    attending = []
    for module, site in sites.items():
        path = paths[module].split(".")
        ends = [end for end in range(len(path)) if isinstance(model.get_submodule(".".join(path[:end])), nn.ModuleList)]
        first, last = (".".join(path[: ends[at] + more]) if ends else paths[module] for at, more in ((0, 1), (-1, 2)))
        attending.append(_Attending(site, model.get_submodule(last), model.get_submodule(first)))
    return attending


def _computed(reader: Reader, model: nn.Module) -> set[nn.Parameter]:
    """What stands among a model's parameters and is computed, not learned."""
    whole = reader.abilities.whole
    return {model.get_parameter(name) for name in (() if whole is None else whole.computed)}


def _norms(model: nn.Module) -> Iterator[nn.Module]:
    for module in model.modules():
        if next(module.children(), None) is None and all(each.dim() == 1 for each in module.parameters()):
            yield module


def _parameters_of(modules: Iterable[nn.Module]) -> Iterator[nn.Parameter]:
    return (parameter for module in modules for parameter in module.parameters())


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in _UNSAID and not isinstance(value, dict)}


def _setting(item: tuple[str, Any]) -> tuple[str, str]:
    name, value = str(item[0]), str(item[1])
    return name[:MAX_VALUE], value if len(value) <= MAX_VALUE else value[: MAX_VALUE - 1] + "…"

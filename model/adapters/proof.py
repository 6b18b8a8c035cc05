"""Prove on opening that what is recorded of a model is what the library computes, on a short text; keep the verdict.

Three passes: by the library's own eager attention, which returns its weights; by ours, recorded; over one token again
and again, which shows how the model knows positions. What it is (encoder or decoder, which layers attend) is read
from these passes and from its modules, never from its name.

Only what was proven exact is kept: a file then holds numbers and a few fixed words, and no sentence to be shown. A file
is believed if it is sealed (`sealed_files`) and every value is one that a proof could have found; what it says of heads
is compared with the model again (`open_folder`).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.abilities import Kind, PositionScheme, Proof
from model.adapters import library
from model.adapters.capture import name_attentions
from model.adapters.layout import OUTPUTS, Layout, eager_weights, find_layout
from model.adapters.limited_process import first_words
from model.adapters.probe import Probe, positions_of
from model.errors import CheckpointError, DataError, said
from model.nn.attention import AttentionInputs, WeightsOnly
from model.nn.encoder_decoder import site_path
from model.sealed_files import read_sealed, sealed_name, write_sealed
from model.trace.trace import Recorded

EAGER: Final = "eager"
#: Number type → the largest difference between two weights, or two outputs of a scale of 1, that is of rounding.
TOLERANCES: Final = {torch.float32: 1e-4, torch.float64: 1e-4}
ROUNDED: Final = 5e-2
#: How far apart two implementations of the library may be.
DISAGREEMENT: Final = 1e-2
NOWHERE: Final = Layout({}, {}, {})
#: What is raised where an attention is not what is recorded of it.
_NOT_COMPARED: Final = (RuntimeError, ValueError, AssertionError, IndexError, ZeroDivisionError)
#: Of a longer probe, the library's weights are compared layer by layer.
MOST_TOKENS_AT_ONCE: Final = 512


@dataclass(frozen=True, eq=False)
class Explored:
    """What the passes showed of a model."""

    kind: Kind  #: which stacks it has
    heads: Mapping[str, tuple[int, ...]]  #: site → heads of each layer that attends
    layout: Layout  #: where it attends; empty where only weights are known
    proof: Proof  #: how exactly it is shown
    positions: PositionScheme  #: how it knows where a token stands
    table: int | None  #: rows that its table of positions has for tokens; None where none was seen
    lengths: Mapping[tuple[int, int], str]  #: the numbers of queries and keys of the probe → the site


def explore_model(model: Any, probe: Probe) -> Explored:
    """Find out by a probe what a model is and how exactly it can be shown.

    Afterwards it attends by our attention where that is exact, and by its own eager one otherwise. Raises a
    CheckpointError if it cannot read, has no attention, or its weights cannot be trusted; the message says why.
    """
    parts = _parts(model)
    runner = model if library.has_words(model) or probe.reads == "picture" else model.base_model
    given = probe.arguments(runner)
    results: list[Any] = []

    def run(**more: Any) -> Any:
        with torch.inference_mode(), library.settings_of_model():
            results.append(runner(**given, **more))
        return results[-1]

    tolerance = TOLERANCES.get(next(model.parameters()).dtype, ROUNDED)
    beside = _recorded_before(model, probe, run)
    with library.attending_by(model, EAGER), nullcontext() if beside is None else beside.hearing():
        by_eager = run(output_attentions=True)
    if beside is not None and not beside.difference <= tolerance:
        # What is wrong is told by all of its weights.
        beside = None
        with library.attending_by(model, EAGER):
            by_eager = run(output_attentions=True)
    check_numbers(first_output(by_eager))
    kind, weights = _kind_and_weights(by_eager, probe, library.name_of(model.config))
    lengths = _lengths(kind, probe, weights)
    shaped = {
        site: tuple(layer for layer in weights.get(site, ()) if _is_shaped(layer, pair))
        for pair, site in lengths.items()
    }
    if probe.reads == "picture" and not shaped["encoder.self"] and probe.target:
        # Its encoder attends within windows, one beside the other.
        del shaped["encoder.self"], weights["encoder.self"]
    layout, proof = _compared(model, shaped, lengths, run, by_eager, tolerance, beside)
    if proof.is_exact:
        weights = shaped
    else:
        _check_steady(model, run, by_eager, tolerance)
    if _parts(model) != parts:
        raise CheckpointError(
            "This model attends differently in short and in long texts, so a check with a short text does not "
            "show whether its attention can be trusted."
        )
    library.attend_by(model, library.OURS if proof.is_exact else EAGER)
    if not proof.is_exact:
        _check_weights(weights, lengths, kind, proof.why)
    heads = {site: tuple(layer.size(1) for layer in layers) for site, layers in weights.items()}
    positions, table = positions_of(model, runner, kind, probe, layout)
    return Explored(kind, heads, layout, proof, positions, table, lengths)


def _check_steady(model: Any, run: Callable[..., Any], by_eager: Any, tolerance: float) -> None:
    """Raise a CheckpointError if eager attention does not give the same again, and fused attention the same."""
    with library.attending_by(model, EAGER):
        if _apart(first_output(run(output_attentions=True)), first_output(by_eager)) > tolerance:
            raise CheckpointError(
                "This model gives different results when it reads the same text twice, so nothing shown for it "
                "would be reliable."
            )
    if library.has_fused(model):
        with library.attending_by(model, library.FUSED):
            if _apart(first_output(by_eager), first_output(run())) > max(tolerance, DISAGREEMENT):
                raise CheckpointError(
                    "For this model, the eager attention of transformers, which returns weights, gives different "
                    "results from the fused attention that it normally runs, so its attention weights cannot be "
                    "trusted."
                )


def found_again(model: Any, probe: Probe, found: Explored) -> Explored:
    """What was found of the same weights before, with where this model attends; as of `explore_model`."""
    if not found.proof.is_exact:
        return found
    library.attend_by(model, library.OURS)
    runner = model if library.has_words(model) or probe.reads == "picture" else model.base_model
    given = probe.arguments(runner)
    windowed = set(found.lengths.values()) != found.heads.keys()
    return replace(found, layout=find_layout(model, found.lengths, lambda: runner(**given), windowed=windowed)[0])


def without_layout(found: Explored) -> Explored:
    """The same without the modules of a model, to be kept."""
    return replace(found, layout=NOWHERE)


def _parts(model: nn.Module) -> dict[str, type]:
    """Name → class of every module; some models exchange one for another while they read."""
    return {name: type(module) for name, module in model.named_modules()}


def first_output(output: Any) -> Float[Tensor, "batch row width"]:
    """The logits, or the rows of the last layer."""
    for name in ("logits", "last_hidden_state"):
        value = getattr(output, name, None)
        if isinstance(value, Tensor):
            return value.float()
    return next(value for value in output.values() if isinstance(value, Tensor)).float()


def check_numbers(values: Tensor) -> None:
    """Raise a CheckpointError where a model computes something that is not a number."""
    if bool(values.isnan().any()):
        raise CheckpointError(
            "This model computes values that are not numbers (NaN): its weights are damaged, or too large for this "
            "number type. Copy the folder again."
        )


def _apart(first: Tensor, second: Tensor) -> float:
    """The largest difference of two outputs, by the scale of the first where that is more than 1; ∞ if one is NaN."""
    if first.shape != second.shape or bool((first.isnan() | second.isnan()).any()):
        return float("inf")
    finite = first.isfinite() & second.isfinite()
    scale = max(1.0, float(first[finite].abs().max())) if bool(finite.any()) else 1.0
    return float((first - second)[finite].abs().max()) / scale if bool(finite.any()) else 0.0


def _kind_and_weights(output: Any, probe: Probe, name: str) -> tuple[Kind, dict[str, tuple[Tensor, ...]]]:
    """Which stacks a model has, and the weights that the library returned of each site."""
    if probe.target:
        weights = eager_weights(output, ("encoder.self", "decoder.self", "decoder.cross"))
        kind: Kind = "encoder-decoder"
    else:
        weights = eager_weights(output, ("encoder.self",))
        layers, seen = weights.get("encoder.self", ()), len(probe.source)
        kind = "image" if probe.reads == "picture" else "encoder"
        square = [layer for layer in layers if layer.shape[-2:] == (seen, seen)]
        if square and not any(bool(layer.triu(1).any()) for layer in square):
            kind, weights = "decoder", {"decoder.self": layers}
    if not weights:
        raise CheckpointError(
            "No attention was found in this {name} model: transformers returns no weights for it, so there is "
            "nothing to show.",
            name=name,
        )
    return kind, weights


def _is_shaped(values: Tensor, lengths: tuple[int, int]) -> bool:
    """Whether these are weights of every query over every key, of one sentence."""
    return values.dim() == 4 and values.size(0) == 1 and tuple(values.shape[-2:]) == lengths


def _lengths(kind: Kind, probe: Probe, weights: Mapping[str, Sequence[Tensor]]) -> dict[tuple[int, int], str]:
    """The numbers of queries and keys of the probe → the site."""
    source, target = len(probe.source), len(probe.target)
    if kind == "encoder-decoder":
        return {(source, source): "encoder.self", (target, target): "decoder.self", (target, source): "decoder.cross"}
    ((site, layers),) = weights.items()
    seen = layers[0].size(-1) if kind == "image" else source
    return {(seen, seen): site}


def _compared(
    model: Any,
    weights: Mapping[str, Sequence[Tensor]],
    lengths: Mapping[tuple[int, int], str],
    run: Callable[[], Any],
    by_eager: Any,
    tolerance: float,
    beside: "_Beside | None" = None,
) -> tuple[Layout, Proof]:
    """Where a model attends, and whether what is recorded there is what the library returned; `beside` may know."""
    tokens = max(max(pair) for pair in lengths)
    heads = sum(layer.size(1) for layers in weights.values() for layer in layers)

    def only_weights(why: str) -> tuple[Layout, Proof]:
        name_attentions(model, {})
        return NOWHERE, Proof(is_exact=False, heads=heads, tokens=tokens, why=why)

    if not library.is_recorded(model):
        return only_weights(said("transformers computes its attention with separate code"))
    outputs: list[Any] = []
    try:
        if beside is None:
            with library.attending_by(model, library.OURS):
                windowed = set(lengths.values()) != weights.keys()
                layout, recorded = find_layout(model, lengths, lambda: outputs.append(run()), windowed=windowed)
        else:
            layout, recorded, outputs = beside.layout, beside.recorded, [beside.output]
    except CheckpointError as error:
        return only_weights(error.message)
    if not layout.heads:
        return only_weights(said("transformers computes its attention with separate code"))
    counts = {site: len(layers) for site, layers in weights.items()}
    if counts != {site: len(layers) for site, layers in layout.heads.items()}:
        return only_weights(said("not all of its attentions can be recorded"))
    try:
        difference = _largest_difference(layout, recorded, weights) if beside is None else beside.difference
    except _NOT_COMPARED as error:
        return only_weights(said("its attention follows another equation ({reason})", reason=first_words(error, 80)))
    whole = _apart(first_output(by_eager), first_output(outputs[0]))
    if not max(difference, whole) <= tolerance:
        message = "the recorded values differ from those of transformers by {difference:.1e}"
        return only_weights(said(message, difference=max(difference, whole)))
    return layout, Proof(is_exact=True, difference=difference, heads=heads, tokens=tokens)


def _largest_difference(layout: Layout, recorded: Recorded, weights: Mapping[str, Sequence[Tensor]]) -> float:
    """Between the weights that are derived and those returned, and between weights × values and what heads wrote."""
    inputs, outputs = layout.inputs(recorded), layout.outputs(recorded)
    return max(
        _difference(inputs[site][layer], outputs[f"{site_path(site, layer)}.{OUTPUTS}"], expected)
        for site, layers in weights.items()
        for layer, expected in enumerate(layers)
    )


def _difference(
    recorded: AttentionInputs | WeightsOnly, output: Tensor, expected: Float[Tensor, "1 head query key"]
) -> float:
    """The same of one layer."""
    assert isinstance(recorded, AttentionInputs)
    derived, returned, real = recorded.weights(), expected[0].float().cpu(), output.float()
    if derived.shape != returned.shape:
        return float("inf")
    apart = (derived @ recorded.values() - real).abs().max() / real.abs().max().clamp(min=1.0)
    # What is not a number is no small difference.
    return float(torch.stack([(derived - returned).abs().max(), apart]).nan_to_num(nan=torch.inf).max())


@dataclass(eq=False)
class _Beside:
    """What a pass by our attention left, with which each layer of an eager one is compared while it runs: of a long
    probe, no more than one layer's weights are held.
    """

    layout: Layout
    recorded: Recorded
    output: Any  #: of the model
    difference: float = 0.0
    calls: Counter[nn.Module] = field(default_factory=Counter)

    @contextmanager
    def hearing(self) -> Iterator[None]:
        """While the block runs, zeros that take no memory stand for the weights that were compared."""
        inputs, outputs = self.layout.inputs(self.recorded), self.layout.outputs(self.recorded)

        def compare(module: nn.Module, _given: Any, output: Any) -> Any:
            sites = self.layout.sites[module]
            site, layer = sites[self.calls[module] % len(sites)]
            self.calls[module] += 1
            weights = output[1] if isinstance(output, tuple) and len(output) > 1 else None
            if not isinstance(weights, Tensor):
                self.difference = float("inf")
                return None
            kept = outputs[f"{site_path(site, layer)}.{OUTPUTS}"]
            try:
                self.difference = max(self.difference, _difference(inputs[site][layer], kept, weights))
            except _NOT_COMPARED:
                self.difference = float("inf")
            return (output[0], weights.new_zeros(()).expand(weights.shape), *output[2:])

        with ExitStack() as stack:
            for module in self.layout.sites:
                stack.callback(module.register_forward_hook(compare, prepend=True).remove)
            yield
        if self.calls != Counter({module: len(sites) for module, sites in self.layout.sites.items()}):
            self.difference = float("inf")


def _recorded_before(model: Any, probe: Probe, run: Callable[[], Any]) -> _Beside | None:
    """A pass by our attention over a long probe of two stacks; None of a short one, or where it cannot be recorded."""
    if not probe.target or len(probe.source) <= MOST_TOKENS_AT_ONCE or not library.is_recorded(model):
        return None
    outputs: list[Any] = []
    try:
        with library.attending_by(model, library.OURS):
            layout, recorded = find_layout(model, _lengths("encoder-decoder", probe, {}), lambda: outputs.append(run()))
    except CheckpointError:
        return None
    return _Beside(layout, recorded, outputs[0]) if layout.heads else None


def _check_weights(
    weights: Mapping[str, Sequence[Tensor]], lengths: Mapping[tuple[int, int], str], kind: Kind, why: str
) -> None:
    """Raise a CheckpointError unless these are weights: of every query over every key, not negative, with sum 1."""
    of_site = {site: pair for pair, site in lengths.items()}
    for site, layers in weights.items():
        for layer, values in enumerate(layers):
            wrong = _wrong_with(values, of_site[site], is_causal=site == "decoder.self")
            if wrong and kind == "image" and not _is_shaped(values, of_site[site]):
                message = (
                    "The layers of this model attend within windows of a picture, or between positions other than its "
                    "patches ({wrong}; layer {layer}), so its heads cannot be shown over the picture."
                )
                raise CheckpointError(message, wrong=wrong, layer=layer)
            if wrong:
                message = (
                    "What transformers returns as the attention of this model cannot be shown: {wrong} ({site}, layer "
                    "{layer}). This attention cannot be recorded either: {why}."
                )
                raise CheckpointError(message, wrong=wrong, site=site, layer=layer, why=why)


def _wrong_with(values: Tensor, lengths: tuple[int, int], *, is_causal: bool) -> str:
    """What is wrong with the weights of one layer, as a part of a sentence; "" if nothing is."""
    if not _is_shaped(values, lengths):
        message = "it has the shape {shape}, not one weight of each head for {queries} queries and {keys} keys"
        return said(message, shape=" × ".join(map(str, values.shape)), queries=lengths[0], keys=lengths[1])
    values = values.float()
    if not bool(values.isfinite().all()) or bool((values < 0).any()):
        return said("some weights are negative or not numbers")
    if float((values.sum(-1) - 1).abs().max()) > 1e-2:
        return said("the weights of a row do not sum to 1")
    if is_causal and bool(values.triu(1).any()):
        return said("its decoder attends to later tokens")
    return ""


MOST_FILES: Final = 512
MOST_LAYERS, MOST_HEADS, MOST_TOKENS = 10_000, 100_000, 2_147_483_648
SITES: Final = ("encoder.self", "decoder.self", "decoder.cross")


def load_verdict(cache: Path, key: Sequence[str]) -> tuple[Explored, bool] | None:
    """What was found of a model, and whether keys and values may be kept; None where nothing believable is kept.

    `key` names the content, the kind of device and the number type.
    """
    content = read_sealed(cache, _file(cache, key))
    try:
        return None if content is None else _found(content)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def keep_verdict(cache: Path, key: Sequence[str], found: Explored, caches: bool) -> None:
    """Keep what was found of a model that is exact; a folder that cannot be written to costs time the next time."""
    content: dict[str, Any] = {
        "kind": found.kind,
        "heads": {site: list(heads) for site, heads in found.heads.items()},
        "difference": found.proof.difference,
        "tokens": found.proof.tokens,
        "positions": found.positions,
        "table": found.table,
        "lengths": [[*pair, site] for pair, site in found.lengths.items()],
        "caches": caches,
    }
    with suppress(OSError, DataError):
        write_sealed(cache, _file(cache, key), content, MOST_FILES)


def _file(cache: Path, key: Sequence[str]) -> Path:
    return cache / "verdicts" / f"{sealed_name(*key)}.json"


def _found(content: dict[str, Any]) -> tuple[Explored, bool]:
    """The values of a file, each checked. Raises what a wrong one makes Python raise."""
    heads = {
        _one_of(site, SITES): tuple(_count(number, MOST_HEADS) for number in layers)
        for site, layers in content["heads"].items()
    }
    if not heads or not all(0 < len(layers) <= MOST_LAYERS for layers in heads.values()):
        raise ValueError("heads")
    difference, table, caches = content["difference"], content["table"], content["caches"]
    if type(difference) is not float or not 0 <= difference < 1 or type(caches) is not bool:
        raise ValueError("difference")
    lengths = {
        (_count(queries, MOST_TOKENS), _count(keys, MOST_TOKENS)): _one_of(site, tuple(heads))
        for queries, keys, site in content["lengths"]
    }
    proof = Proof(
        is_exact=True,
        difference=difference,
        heads=sum(map(sum, heads.values())),
        tokens=_count(content["tokens"], MOST_TOKENS),
    )
    kind: Any = _one_of(content["kind"], get_args(Kind))
    positions: Any = _one_of(content["positions"], get_args(PositionScheme))
    rows = None if table is None else _count(table, MOST_TOKENS)
    return Explored(kind, heads, NOWHERE, proof, positions, rows, lengths), caches


def _one_of(value: Any, known: Sequence[str]) -> str:
    return known[known.index(value)]


def _count(value: Any, most: int) -> int:
    if type(value) is not int or not 0 < value <= most:
        raise ValueError(value)
    return value

"""Prove on opening that what is recorded of a model is what the library itself computes, on a short probe text.

Three passes: by the library's own eager attention, which returns its weights; by ours, recorded; over one token again
and again, which shows how the model knows positions. What it is (encoder or decoder, which layers attend) is read
from these passes and from its modules, never from its name.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from model.abilities import Kind, PositionScheme, Proof
from model.adapters import library
from model.adapters.capture import name_attentions
from model.adapters.layout import OUTPUTS, Layout, eager_weights, find_layout
from model.adapters.limited_process import first_words
from model.adapters.placement import device_of
from model.errors import CheckpointError
from model.messages import said
from model.nn.attention import AttentionInputs
from model.nn.encoder_decoder import site_path
from model.nn.hooks import CALL, listen
from model.nn.score_functions import DistanceBias
from model.trace.trace import SiteLayers

EAGER: Final = "eager"
#: Number type → the largest difference between two weights, or two outputs of a scale of 1, that is of rounding.
TOLERANCES: Final = {torch.float32: 1e-4, torch.float64: 1e-4}
ROUNDED: Final = 5e-2
#: How far apart two implementations of the library may be.
DISAGREEMENT: Final = 1e-2
NOWHERE: Final = Layout({}, {}, {})
#: Tokens of a probe; a source has one more than a target, so that lengths tell the sites of two stacks.
MOST_TOKENS: Final = 24
FEWEST_TOKENS: Final = 6
#: How often one token is repeated to see how positions are known.
REPEATED: Final = 12


@dataclass(frozen=True, eq=False)
class Probe:
    """What a model reads to be proven: tokens of its own, or pixels [1, channel, height, width]."""

    source: tuple[int, ...] = ()
    target: tuple[int, ...] = ()
    pixels: Tensor | None = None

    @classmethod
    def of_text(cls, model: nn.Module, token_ids: Sequence[int] = ()) -> "Probe":
        """A probe of these tokens, or, where they are too few, of some spread over the vocabulary."""
        model_class = library.ModelClass(type(model), "trunk")
        size = library.vocab_size(model)
        limit = getattr(getattr(model, "config").get_text_config(), "max_position_embeddings", None)  # noqa: B009
        most = min(MOST_TOKENS, limit - 2) if isinstance(limit, int) else MOST_TOKENS
        source = [token for token in token_ids if 0 <= token < size][:most]
        if len(source) < FEWEST_TOKENS:
            source = [(7 + 11 * position) % size for position in range(13)]
        words = library.words(model) if model_class.has_two_stacks and library.has_words(model) else size
        return cls(tuple(source), tuple(token % words for token in source[:-1]) if model_class.has_two_stacks else ())

    def arguments(self, model: nn.Module) -> dict[str, Any]:
        """What the model is called with."""
        if self.pixels is not None:
            return {"pixel_values": self.pixels.to(device_of(model), next(model.parameters()).dtype)}
        source, target = (torch.tensor([ids], device=device_of(model)) for ids in (self.source, self.target))
        given: dict[str, Any] = {"input_ids": source, "attention_mask": torch.ones_like(source)}
        if self.target:
            given["decoder_input_ids"] = target
        named = inspect.signature(model.forward).parameters
        given |= {name: value for name, value in (("use_cache", False), ("return_dict", True)) if name in named}
        return given


@dataclass(frozen=True, eq=False)
class Explored:
    """What the passes showed of a model.

    Attributes:
        kind: which stacks it has.
        heads: site → heads of each layer that attends.
        layout: where it attends; empty where only weights are known.
        proof: how exactly it is shown.
        positions: how it knows where a token stands.
        table: rows that its table of positions has for tokens; None where none was seen.
        lengths: the numbers of queries and keys of the probe → the site.
    """

    kind: Kind
    heads: Mapping[str, tuple[int, ...]]
    layout: Layout
    proof: Proof
    positions: PositionScheme
    table: int | None
    lengths: Mapping[tuple[int, int], str]


def explore_model(model: Any, probe: Probe) -> Explored:
    """Find out what a model is and how exactly it can be shown.

    Afterwards it attends by our attention where that is exact, and by its own eager one otherwise.

    Args:
        model: in evaluation mode.
        probe: what it reads.

    Raises:
        CheckpointError: it cannot read, has no attention, or its weights cannot be trusted; the message says why.
    """
    parts = _parts(model)
    runner = model if library.has_words(model) or probe.pixels is not None else model.base_model
    given = probe.arguments(runner)
    results: list[Any] = []

    def run(**more: Any) -> Any:
        with torch.inference_mode(), library.settings_of_model():
            results.append(runner(**given, **more))
        return results[-1]

    with library.attending_by(model, EAGER):
        by_eager = run(output_attentions=True)
    check_numbers(first_output(by_eager))
    kind, weights = _kind_and_weights(by_eager, probe, library.name_of(model.config))
    lengths = _lengths(kind, probe, weights)
    tolerance = TOLERANCES.get(next(model.parameters()).dtype, ROUNDED)
    shaped = {
        site: tuple(layer for layer in weights.get(site, ()) if _is_shaped(layer, pair))
        for pair, site in lengths.items()
    }
    layout, proof = _compared(model, shaped, lengths, run, by_eager, tolerance)
    if proof.is_exact:
        weights = shaped
    else:
        _check_steady(model, run, by_eager, tolerance)
    if _parts(model) != parts:
        raise CheckpointError(
            "This model attends differently in short texts and in long ones, so a short text does not prove how its "
            "attention can be shown."
        )
    _use(model, library.OURS if proof.is_exact else EAGER)
    if not proof.is_exact:
        _check_weights(weights, lengths, kind, proof.why)
    heads = {site: tuple(layer.size(1) for layer in layers) for site, layers in weights.items()}
    positions, table = _positions_of(model, runner, kind, probe, layout)
    return Explored(kind, heads, layout, proof, positions, table, lengths)


def _check_steady(model: Any, run: Callable[..., Any], by_eager: Any, tolerance: float) -> None:
    """Make sure that what eager attention gave comes again, and that the library's fused attention gives it, too.

    Raises:
        CheckpointError: it does not.
    """
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
                    "For this model, the eager attention of transformers, which returns weights, computes something "
                    "else than the fused attention that it normally runs, so its weights cannot be trusted."
                )


def found_again(model: Any, probe: Probe, found: Explored) -> Explored:
    """What was found of the same weights before, with where this model attends; arguments and errors of
    `explore_model`.
    """
    if not found.proof.is_exact:
        return found
    _use(model, library.OURS)
    runner = model if library.has_words(model) or probe.pixels is not None else model.base_model
    given = probe.arguments(runner)
    return replace(found, layout=find_layout(model, found.lengths, lambda: runner(**given))[0])


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
    """Raise a CheckpointError where a model computes something that is no number."""
    if bool(values.isnan().any()):
        raise CheckpointError(
            "This model computes values that are not numbers (NaN): its weights are damaged, or too large for this "
            "number type. Copy the folder again."
        )


def _apart(first: Tensor, second: Tensor) -> float:
    """The largest difference of two outputs, by the scale of the first where that is more than 1."""
    if first.shape != second.shape:
        return float("inf")
    finite = first.isfinite() & second.isfinite()
    scale = max(1.0, float(first[finite].abs().max())) if bool(finite.any()) else 1.0
    return float((first - second)[finite].abs().max()) / scale if bool(finite.any()) else 0.0


def _use(model: Any, implementation: str) -> None:
    if library.knows_interface(type(model)):
        with library.quiet():
            model.set_attn_implementation(implementation)


def _kind_and_weights(output: Any, probe: Probe, name: str) -> tuple[Kind, dict[str, tuple[Tensor, ...]]]:
    """Which stacks a model has, and the weights that the library returned of each site."""
    if probe.target:
        weights = eager_weights(output, ("encoder.self", "decoder.self", "decoder.cross"))
        kind: Kind = "encoder-decoder"
    else:
        weights = eager_weights(output, ("encoder.self",))
        layers, seen = weights.get("encoder.self", ()), len(probe.source)
        kind = "encoder" if probe.pixels is None else "image"
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
) -> tuple[Layout, Proof]:
    """Where a model attends, and whether what is recorded there is what the library returned."""
    tokens = max(max(pair) for pair in lengths)
    heads = sum(layer.size(1) for layers in weights.values() for layer in layers)

    def only_weights(why: str) -> tuple[Layout, Proof]:
        name_attentions(model, {})
        return NOWHERE, Proof(is_exact=False, heads=heads, tokens=tokens, why=why)

    if not library.knows_interface(type(model)):
        return only_weights(said("transformers has separate code for its attention"))
    outputs: list[Any] = []
    try:
        with library.attending_by(model, library.OURS):
            layout, recorded = find_layout(model, lengths, lambda: outputs.append(run()))
    except CheckpointError as error:
        return only_weights(error.message)
    if not layout.heads:
        return only_weights(said("transformers has separate code for its attention"))
    counts = {site: len(layers) for site, layers in weights.items()}
    if counts != {site: len(layers) for site, layers in layout.heads.items()}:
        return only_weights(said("not all of its attentions can be recorded"))
    try:
        difference = _largest_difference(layout, layout.inputs(recorded), layout.outputs(recorded), weights)
    except (RuntimeError, ValueError, AssertionError, IndexError, ZeroDivisionError) as error:
        return only_weights(said("its attention follows another equation ({reason})", reason=first_words(error, 80)))
    whole = _apart(first_output(by_eager), first_output(outputs[0]))
    if not max(difference, whole) <= tolerance:
        return only_weights(
            said(
                "the recorded values differ from those of transformers by {difference:.1e}",
                difference=max(difference, whole),
            )
        )
    return layout, Proof(is_exact=True, difference=difference, heads=heads, tokens=tokens)


def _largest_difference(
    layout: Layout, inputs: SiteLayers, outputs: Mapping[str, Tensor], weights: Mapping[str, Sequence[Tensor]]
) -> float:
    """Between the weights that are derived and those returned, and between weights × values and what heads wrote."""
    largest = 0.0
    for site, layers in weights.items():
        for layer, expected in enumerate(layers):
            recorded = inputs[site][layer]
            assert isinstance(recorded, AttentionInputs)
            derived, returned = recorded.weights(), expected[0].float().cpu()
            if derived.shape != returned.shape:
                return float("inf")
            real = outputs[f"{site_path(site, layer)}.{OUTPUTS}"].float()
            scale = max(1.0, float(real.abs().max()))
            apart = float((recorded.head_output() - real).abs().max()) / scale
            difference = max(float((derived - returned).abs().max()), apart)
            largest = max(largest, difference) if difference == difference else float("inf")
    return largest


def _check_weights(
    weights: Mapping[str, Sequence[Tensor]], lengths: Mapping[tuple[int, int], str], kind: Kind, why: str
) -> None:
    """Make sure that what the library returned are weights: of every query over every key, not negative, with sum 1.

    Raises:
        CheckpointError: they are not.
    """
    of_site = {site: pair for pair, site in lengths.items()}
    for site, layers in weights.items():
        for layer, values in enumerate(layers):
            wrong = _wrong_with(values, of_site[site], is_causal=site == "decoder.self")
            if wrong:
                raise CheckpointError(
                    "What transformers returns as the attention of this model cannot be shown: {wrong} ({site}, layer "
                    "{layer}). It cannot be recorded either: {why}.",
                    wrong=wrong,
                    site=site,
                    layer=layer,
                    why=why,
                )


def _wrong_with(values: Tensor, lengths: tuple[int, int], *, is_causal: bool) -> str:
    """What is wrong with the weights of one layer, as a part of a sentence; "" if nothing is."""
    if not _is_shaped(values, lengths):
        return said(
            "it has the shape {shape}, not one weight of each head for {queries} queries and {keys} keys",
            shape=" × ".join(map(str, values.shape)),
            queries=lengths[0],
            keys=lengths[1],
        )
    values = values.float()
    if not bool(values.isfinite().all()) or bool((values < 0).any()):
        return said("some weights are negative or not numbers")
    if float((values.sum(-1) - 1).abs().max()) > 1e-2:
        return said("the weights of a row do not sum to 1")
    if is_causal and bool(values.triu(1).any()):
        return said("its decoder attends to later tokens")
    return ""


class PositionTables(TorchFunctionMode):
    """While entered, notes the tables whose rows are looked up one after another, as those of positions are.

    Args:
        fewest: so many rows must be looked up, for few may follow each other by chance.
    """

    def __init__(self, fewest: int) -> None:
        self.fewest = fewest
        self._found: list[tuple[Tensor, int]] = []

    def found(self, of_tokens: Tensor) -> list[tuple[Tensor, int]]:
        """Each table that is not that of the tokens, and which of its rows is that of the first position."""
        return [
            (table, first) for table, first in self._found if table is not of_tokens and table.size(0) > self.fewest
        ]

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        if function is torch.nn.functional.embedding:
            rows, table = args[:2] if len(args) > 1 else (None, None)
            if (
                isinstance(rows, Tensor)
                and isinstance(table, Tensor)
                and not rows.is_floating_point()
                and rows.numel() >= self.fewest
            ):
                line = rows.reshape(-1)[-self.fewest :]
                if rows.numel() == rows.size(-1) and bool((line.diff() == 1).all()):
                    self._found.append((table, int(rows.reshape(-1)[0])))
        return function(*args, **given)


class Rotations(TorchFunctionMode):
    """While entered, notes tables of cosines and sines, a row for each of `count` positions, by which vectors are
    multiplied, as queries and keys of rotary positions are (Su et al. 2021).
    """

    def __init__(self, count: int) -> None:
        self.count = count
        #: The last factor of this shape, and the first tables that rotate: others are not kept.
        self._last: Tensor | None = None
        self._found: tuple[Tensor, Tensor] | None = None

    def sines(self) -> Float[Tensor, "position pair"] | None:
        """sin(p · θ_i) of the first such table, float32; None where vectors were not rotated."""
        if self._found is None:
            return None
        cos, sin = self._found
        sin = sin.float() / cos[0, 0].float()
        # Each pair of dimensions may have two columns, next to each other or half a width apart.
        half = sin.size(1) // 2
        if sin.size(1) % 2 == 0 and bool((sin[:, :half] == sin[:, half:]).all()):
            return sin[:, :half]
        if sin.size(1) % 2 == 0 and bool((sin[:, ::2] == sin[:, 1::2]).all()):
            return sin[:, ::2]
        return sin

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if self._found is None and getattr(function, "__name__", "") in ("mul", "__mul__", "__rmul__"):
            for factor in args if len(args) == 2 else ():
                if isinstance(factor, Tensor) and factor.dim() > 2:
                    table = factor.detach().squeeze()
                    if table.dim() == 2 and table.size(0) == self.count and table.size(1) > 1:
                        self._note(table.cpu())
        return function(*args, **(kwargs or {}))

    def _note(self, table: Tensor) -> None:
        cos, sin = (table.real, table.imag) if table.is_complex() else (self._last, table)
        if not table.is_complex():
            self._last = table
        if self._found is None and cos is not None and cos.shape == sin.shape and _rotate(cos, sin):
            self._found = cos, sin


def _rotate(cos: Tensor, sin: Tensor) -> bool:
    """Whether two tables are those of rotations, the first of which rotates nothing; some scale all of them alike."""
    squares = cos.float().square() + sin.float().square()
    scale = float(squares[0, 0])
    is_begun = scale > 0 and bool((sin[0] == 0).all()) and bool((sin[1] != 0).any())
    return is_begun and bool(((squares - scale).abs() <= 1e-3 * scale).all())


def _positions_of(
    model: Any, runner: Any, kind: Kind, probe: Probe, layout: Layout
) -> tuple[PositionScheme, int | None]:
    """How a model knows positions, by a pass over one token again and again, and rows of its table for them.

    Equal tokens have equal queries and keys in every layer unless something depends on where they stand.
    """
    if kind == "image":
        return _of_pictures(model, runner, probe, layout)
    token = probe.source[len(probe.source) // 2]
    repeated = Probe((token,) * REPEATED, (token,) * (REPEATED - 1) if probe.target else ())
    given, tables, kept = repeated.arguments(runner), PositionTables(REPEATED), {}
    site = "decoder.self" if kind == "decoder" else "encoder.self"
    if layout.heads:
        with torch.inference_mode(), library.settings_of_model(), listen(record={CALL}) as kept, tables:
            runner(**given)
        inputs = layout.inputs(kept).get(site, ())
        calls = [call for call in inputs if isinstance(call, AttentionInputs)]
        scheme = _scheme_of_inputs(calls)
    else:
        rotations = Rotations(len(repeated.source))
        with torch.inference_mode(), library.settings_of_model(), tables, rotations:
            output = runner(**given, output_attentions=True)
        (layers,) = eager_weights(output, (site,)).values()
        scheme = _scheme_of_weights(layers[0][0].float().cpu(), turns=rotations.sines() is not None)
    found = tables.found(library.embeddings(model).weight)
    sines = _sines(model)
    rows = min((table.size(0) - first for table, first in found), default=None)
    if any(_is_sines(table[first:]) for table, first in found) or (not found and sines and scheme == "unknown"):
        return "sinusoidal", rows
    return ("learned", rows) if found and scheme != "ALiBi" else (scheme, rows)


def _of_pictures(model: nn.Module, runner: Any, probe: Probe, layout: Layout) -> tuple[PositionScheme, None]:
    """By a picture whose patches are all equal: their first queries differ only by where they stand, by a table where
    the model has a parameter with a row for each patch.
    """
    assert probe.pixels is not None
    if not layout.heads:
        return "unknown", None
    given = replace(probe, pixels=torch.full_like(probe.pixels, 0.5)).arguments(runner)
    with torch.inference_mode(), library.settings_of_model(), listen(record={CALL}) as kept:
        runner(**given)
    first = layout.inputs(kept)["encoder.self"][0]
    assert isinstance(first, AttentionInputs)
    length = first.query.size(1)
    patches = first.query[:, length // 2 :]
    is_told = not _are_equal(patches, dim=1) and picture_table(model, length) is not None
    return ("learned" if is_told else "unknown"), None


#: Tokens of a picture's own that stand before its patches, at most: of its class, of what it was taught, and registers.
MOST_BEFORE: Final = 9


def picture_table(model: nn.Module, length: int) -> Float[Tensor, "position d_model"] | None:
    """The parameter with a row for each of so many patches and tokens before them, or for all but some of those."""
    widths = {weight.size(0) for weight in model.parameters() if weight.dim() == 1}
    for weight in model.parameters():
        rows = weight.detach().squeeze(0) if weight.dim() == 3 else weight.detach()
        if rows.dim() == 2 and rows.size(1) in widths and max(2, length - MOST_BEFORE) <= rows.size(0) <= length:
            return rows
    return None


def _scheme_of_inputs(calls: Sequence[AttentionInputs]) -> PositionScheme:
    """By queries, keys and biases of a run over equal tokens."""
    tables = [call.bias.table for call in calls if isinstance(call.bias, DistanceBias)]
    if tables:
        back = tables[0][:, : tables[0].size(1) // 2 + 1]
        return "ALiBi" if back.size(1) > 3 and _is_straight(back) else "relative bias"
    # Where a row's weights do not add to 1 (sinks), what later layers read differs with the length of the row.
    first = next((call for call in calls if not _are_equal(call.query, dim=1)), None)
    if first is None:
        return "none"
    products = first.query @ first.key.repeat_interleave(first.num_heads // first.key.size(0), 0).mT
    return "rotary" if _depends_on_distance(products) else "unknown"


def _scheme_of_weights(weights: Float[Tensor, "head query key"], *, turns: bool) -> PositionScheme:
    """By the weights of the first layer, and whether vectors are rotated: the logarithm of a weight is its score, but
    for a number of the row.
    """
    num_queries = weights.size(1)
    rows = [weights[:, row, : row + 1].clamp_min(1e-30).log() for row in range(num_queries)]
    # Of each row, how a score changes from a key to the one before it.
    steps = [(row[:, :-1] - row[:, 1:]).flip(-1) for row in rows if row.size(1) > 1]
    if any(not torch.allclose(long[:, : short.size(1)], short, atol=1e-3) for short, long in pairwise(steps)):
        return "unknown"
    last = steps[-1]
    if float(last.abs().max()) < 1e-4:
        return "none"
    if float((last - last[:, :1]).abs().max()) < 1e-3:
        return "ALiBi"
    return "rotary" if turns else "relative bias"


def _is_straight(table: Float[Tensor, "head distance"]) -> bool:
    return float(table.diff(n=2, dim=1).abs().max()) < 1e-4 and float(table.diff(dim=1).abs().max()) > 1e-6


def _are_equal(rows: Tensor, dim: int) -> bool:
    """Whether all rows are the first one."""
    return float((rows - rows.narrow(dim, 0, 1)).abs().max()) <= 1e-4 * max(1.0, float(rows.abs().max()))


def _depends_on_distance(products: Float[Tensor, "head query key"]) -> bool:
    """Whether a product of query and key depends on nothing but how far they are apart."""
    scale = max(1.0, float(products.abs().max()))
    return float((products[:, 1:, 1:] - products[:, :-1, :-1]).abs().max()) <= 1e-3 * scale


def _sines(model: nn.Module) -> bool:
    """Whether a model holds a table of sines and cosines."""
    tables = [*model.named_parameters(), *model.named_buffers()]
    return any(value.dim() == 2 and _is_sines(value) for _, value in tables)


def _is_sines(table: Tensor) -> bool:
    """Whether the rows of a table are sines and cosines, whose squares add to half its width."""
    rows = table[8:24].detach().float()
    if table.dim() != 2 or len(rows) < 8 or table.size(1) < 4 or table.is_meta:
        return False
    return bool(((rows.square().sum(1) / (table.size(1) // 2) - 1).abs() < 1e-3).all())

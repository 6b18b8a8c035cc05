"""What a model reads to be proven, and how it knows positions: shown by one token, read again and again.

Tables and rotations are noticed in torch's own functions, whatever the library's modules are called.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isclose
from typing import Any, Final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from model.abilities import Kind, PositionScheme, SourceKind
from model.adapters import library
from model.adapters.layout import Layout, eager_weights
from model.adapters.placement import device_of
from model.nn.attention import AttentionInputs
from model.nn.hooks import CALL, listen
from model.nn.score_functions import DistanceBias

#: Tokens of a probe; a source has one more than a target, so that lengths tell the sites of two stacks.
MOST_TOKENS: Final = 24
FEWEST_TOKENS: Final = 6
#: What is read where the tokens are too few.
_SPREAD: Final = (7, 18, 29, 40, 51, 62, 73, 84, 95, 106, 117, 128, 139)
#: How often one token is repeated to see how positions are known.
REPEATED: Final = 12


@dataclass(frozen=True, eq=False)
class Probe:
    """What a model reads to be proven: tokens of its own, or numbers of a picture or a sound."""

    source: tuple[int, ...] = ()  #: of a sound, the numbers of the encoder's positions
    target: tuple[int, ...] = ()
    #: what its first stack is given instead of tokens, by the name of the argument: pixels [1, channel, height, width],
    #: or what a processor makes of a sound.
    given: Mapping[str, Tensor] = field(default_factory=dict)
    #: in its block a model reads no more than a few of many positions, to show what more of them would not.
    few: Callable[[], AbstractContextManager[object]] = nullcontext
    #: of an encoder whose positions are known by a table of its own alone: finds out how, and how many rows that has.
    own_table: "Callable[[Any, Any, Probe], tuple[PositionScheme, int | None]] | None" = None

    @property
    def reads(self) -> SourceKind:
        """What it is a probe of."""
        return next((kind for kind, names in library.GIVEN.items() if not self.given.keys().isdisjoint(names)), "text")

    @classmethod
    def of_text(cls, model: nn.Module, token_ids: Sequence[int] = ()) -> "Probe":
        """A probe of these tokens, or, where they are too few, of some spread over the vocabulary."""
        model_class = library.ModelClass(type(model), "trunk")
        size = library.vocab_size(model)
        limit = getattr(getattr(model, "config").get_text_config(), "max_position_embeddings", None)  # noqa: B009
        most = min(MOST_TOKENS, limit - 2) if isinstance(limit, int) else MOST_TOKENS
        source = [token for token in token_ids if 0 <= token < size][:most]
        if len(source) < FEWEST_TOKENS:
            source = [token % size for token in _SPREAD]
        words = library.words(model) if model_class.has_two_stacks and library.has_words(model) else size
        return cls(tuple(source), tuple(token % words for token in source[:-1]) if model_class.has_two_stacks else ())

    def with_text(self, token_ids: Sequence[int]) -> "Probe":
        """The same picture beside a text of these tokens."""
        text = torch.tensor([list(token_ids)])
        return replace(self, given={**self.given, "input_ids": text, "attention_mask": torch.ones_like(text)})

    def arguments(self, model: nn.Module) -> dict[str, Any]:
        """What the model is called with."""
        dtype = next(model.parameters()).dtype
        given: dict[str, Any] = {
            name: value.to(device_of(model), dtype if value.is_floating_point() else None)
            for name, value in self.given.items()
        }
        if self.reads == "picture" and not self.target:
            return given
        source, target = (torch.tensor([ids], device=device_of(model)) for ids in (self.source, self.target))
        given = given or {"input_ids": source, "attention_mask": torch.ones_like(source)}
        if self.target:
            given["decoder_input_ids"] = target
        named = inspect.signature(model.forward).parameters
        given |= {name: value for name, value in (("use_cache", False), ("return_dict", True)) if name in named}
        return given


class PositionTables(TorchFunctionMode):
    """While entered, notes the tables whose rows are looked up one after another, as those of positions are.

    `fewest`: so many rows must be looked up, for few may follow each other by chance.
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
            rows, table = args
            if rows.numel() >= self.fewest and rows.numel() == rows.size(-1):
                line = rows.reshape(-1)
                if bool((line[-self.fewest :].diff() == 1).all()):
                    self._found.append((table, int(line[0])))
        return function(*args, **given)


class LayerNorms(TorchFunctionMode):
    """While entered, notes what layer norms read and put out."""

    def __init__(self) -> None:
        self.calls: list[tuple[Tensor, Tensor]] = []

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        if function is torch.nn.functional.layer_norm:
            self.calls.append((args[0], result))
        return result


class NoRows(TorchFunctionMode):
    """While entered, zeros are looked up in these tables."""

    def __init__(self, tables: Sequence[Tensor]) -> None:
        self.tables = tables

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        is_one = function is torch.nn.functional.embedding and any(args[1] is table for table in self.tables)
        return torch.zeros_like(result) if is_one else result


class NoProducts(TorchFunctionMode):
    """While entered, linear layers put out zeros: for who asks only with what modules are called, in no time."""

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if function is torch.nn.functional.linear:
            given, weight = args[:2]
            return given.new_zeros(*given.shape[:-1], weight.size(0))
        return function(*args, **(kwargs or {}))


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
        sin = sin.float() / cos[:1].float()
        # Each pair of dimensions may have two columns, next to each other or half a width apart.
        half = sin.size(1) // 2
        pairs = (sin[:, :half], sin[:, half:]), (sin[:, ::2], sin[:, 1::2])
        return next((one for one, other in pairs if torch.equal(one, other)), sin)

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if self._found is None and getattr(function, "__name__", "") in ("mul", "__mul__", "__rmul__"):
            for factor in args:
                if isinstance(factor, Tensor) and factor.dim() > 2:
                    table = factor.detach().squeeze()
                    if table.dim() == 2 and table.size(0) == self.count:
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
    is_begun = not bool(sin[0].any()) and bool(sin.any())
    return is_begun and isclose(squares.min(), squares.max(), rel_tol=1e-3)


def positions_of(
    model: Any, runner: Any, kind: Kind, probe: Probe, layout: Layout
) -> tuple[PositionScheme, int | None]:
    """How a model knows positions, by a pass over one token again and again, and rows of its table for them.

    Equal tokens have equal queries and keys in every layer unless something depends on where they stand.
    """
    if kind == "image":
        return _of_pictures(model, runner, probe, layout)
    if probe.own_table is not None:
        return probe.own_table(model, runner, probe)
    if probe.reads == "picture":
        return _of_written(runner, probe)
    *_, token, _ = probe.source  # the last may be special
    repeated = Probe((token,) * REPEATED, (token,) if probe.target else ())
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
        ((first, *_),) = eager_weights(output, (site,)).values()
        scheme = _scheme_of_weights(first[0].float().cpu(), turns=rotations.sines() is not None)
    found = tables.found(library.embeddings(model).weight)
    sines = has_sines(model)
    rows = min((table.size(0) - begin for table, begin in found), default=None)
    if any(is_sines(table[begin:]) for table, begin in found) or (not found and sines and scheme == "unknown"):
        return "sinusoidal", rows
    return ("learned", rows) if found and scheme != "ALiBi" else (scheme, rows)


def _of_pictures(model: nn.Module, runner: Any, probe: Probe, layout: Layout) -> tuple[PositionScheme, None]:
    """By a picture whose patches are all equal: their first queries differ only by where they stand, by a table where
    the model has a parameter with a row for each patch.
    """
    if not layout.heads:
        return "unknown", None
    given = probe.arguments(runner)
    given |= {name: torch.full_like(value, 0.5) for name, value in given.items() if value.is_floating_point()}
    with torch.inference_mode(), library.settings_of_model(), listen(record={CALL}) as kept:
        runner(**given)
    first, *_ = layout.inputs(kept)["encoder.self"]
    assert isinstance(first, AttentionInputs)
    _, patches = first.query.chunk(2, dim=1)
    if first.bias is not None:
        return "relative bias", None
    if _are_equal(patches, dim=1):
        return "unknown", None
    # To rotate a vector leaves its length.
    if _are_equal(patches.norm(dim=-1, keepdim=True), dim=1):
        return "rotary", None
    return ("learned" if picture_table(model, first.query.size(1)) is not None else "unknown"), None


def _of_written(runner: Any, probe: Probe) -> tuple[PositionScheme, int | None]:
    """By the tables that are met while something is written about a picture, and the rows of the decoder's own."""
    tables = PositionTables(min(REPEATED, len(probe.target)))
    with torch.inference_mode(), library.settings_of_model(), tables:
        runner(**probe.arguments(runner))
    found = [table[first:] for table, first in tables.found(torch.empty(0))]
    rows = min(map(len, found), default=None)
    return ("unknown" if not found else "sinusoidal" if any(map(is_sines, found)) else "learned"), rows


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
    bias = next((call.bias for call in calls if isinstance(call.bias, DistanceBias)), None)
    if bias is not None:
        return "ALiBi" if _is_straight(bias.table[:, : bias.num_queries]) else "relative bias"
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
    steps = [(row[:, :-1] - row[:, 1:]).flip(-1) for row in rows]
    if any(not torch.allclose(long[:, : short.size(1)], short, atol=1e-3) for short, long in pairwise(steps)):
        return "unknown"
    *_, last = steps
    if torch.allclose(last, torch.zeros(()), rtol=0, atol=1e-4):
        return "none"
    if torch.allclose(last, last[:, :1], rtol=0, atol=1e-3):
        return "ALiBi"
    return "rotary" if turns else "relative bias"


def _is_straight(table: Float[Tensor, "head distance"]) -> bool:
    steps = table.float().diff(dim=1)
    is_even = torch.allclose(steps, steps[:, :1], rtol=0, atol=1e-4)
    return is_even and not torch.allclose(steps, torch.zeros(()), rtol=0, atol=1e-6)


def _are_equal(rows: Tensor, dim: int) -> bool:
    """Whether all rows are the first one."""
    scale = max(1.0, float(rows.abs().max()))
    return torch.allclose(rows, rows.narrow(dim, 0, 1), rtol=0, atol=1e-4 * scale)


def _depends_on_distance(products: Float[Tensor, "head query key"]) -> bool:
    """Whether a product of query and key depends on nothing but how far they are apart."""
    scale = max(1.0, float(products.abs().max()))
    return torch.allclose(products[:, 1:, 1:], products[:, :-1, :-1], rtol=0, atol=1e-3 * scale)


def table_of_decoder(model: Any, most: int | None) -> PositionScheme | None:
    """How a decoder that reads `most` tokens after an encoder knows positions: by a table that it holds of as many rows
    and a few, none of a matrix that it multiplies by; None where it holds none.
    """
    if most is None or not model.config.is_encoder_decoder:
        return None
    held = (module for module in model.get_decoder().modules() if not isinstance(module, library.LINEAR))
    tables = (
        table
        for module in held
        for table in (*module.parameters(recurse=False), *module.buffers(recurse=False))
        if table.dim() == 2 and most <= table.size(0) <= most + MOST_BEFORE
    )
    return next(("sinusoidal" if is_sines(table) else "learned" for table in tables), None)


def has_sines(model: nn.Module) -> bool:
    """Whether a model holds a table of sines and cosines."""
    return any(map(is_sines, (*model.parameters(), *model.buffers())))


def is_sines(table: Tensor) -> bool:
    """Whether the rows of a table are sines and cosines, whose squares add to half its width."""
    if table.dim() != 2 or table.size(0) < 16 or table.size(1) < 4 or table.is_meta:
        return False
    # Rows of padding may come first.
    rows = table[8:24].detach().float()
    return torch.allclose(rows.square().sum(1) / (table.size(1) // 2), rows.new_ones(()), rtol=0, atol=1e-3)

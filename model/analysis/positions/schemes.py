"""Get what a model knows positions by: a table, angles, or a bias for each distance."""

from dataclasses import dataclass
from typing import Any, Final, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.nn.score_functions import DistanceBias
from model.nn.transformer import Transformer
from model.reader import Reader
from model.trace.trace import Trace

What = Literal["table", "angles", "bias"]
#: Names of the position tables of the models that have one, by their last parts.
_TABLES: Final = (
    "position_embeddings.weight",
    "position_embeddings",
    "wpe.weight",
    "embed_positions.weight",
    "embed_positions.weights",
)


@dataclass(frozen=True, eq=False)
class PositionScheme:
    """Numbers by which a model knows positions.

    Attributes:
        what: "table": a row is added to the token at that position · "angles": query and key are rotated by them, a
            column for each pair of dimensions; here their cosines · "bias": added to the score, a row for each head
            and a column for each distance.
        values: the numbers.
        first: of a bias, the distance of its first column: how far the key is behind the query, below 0 before it.
        site: where a bias is added; "" for the others.
    """

    what: What
    values: Float[Tensor, "row column"]
    first: int = 0
    site: str = ""


def position_schemes(reader: Reader, trace: Trace, num_positions: int) -> list[PositionScheme]:
    """What can be drawn of a model's positions, `num_positions` at most; nothing if it has no such numbers.

    A bias that was added is taken from a run of the model, `trace`.
    """
    model: Any = getattr(reader, "model")  # noqa: B009 – what a reader reads with is no part of its interface
    match reader.abilities.positions:
        case "learned" | "sinusoidal":
            table = _table(model)
            return [] if table is None else [PositionScheme("table", table[:num_positions].float().cpu())]
        case "rotary":
            frequencies = rotary_frequencies(model)
            return [] if frequencies is None else [PositionScheme("angles", rotary_cosines(frequencies, num_positions))]
        case "ALiBi" | "relative bias":
            return _biases(trace)
        case _:
            return []


def rotary_cosines(frequencies: Float[Tensor, "pair"], num_positions: int) -> Float[Tensor, "position pair"]:
    """cos(p · θ_i): rotary positions rotate pair i of a query or key at position p by p · θ_i (Su et al. 2021)."""
    positions = torch.arange(num_positions, dtype=torch.float32)
    return (positions[:, None] * frequencies.float().cpu()).cos()


def rotary_frequencies(model: nn.Module) -> Float[Tensor, "pair"] | None:
    """θ of every pair of dimensions, in radians a token; of the first set, where layers have several."""
    for name, buffer in model.named_buffers():
        if name.endswith("inv_freq") and buffer.dim() == 1:
            return buffer.detach()
    return None


@torch.inference_mode()
def _table(model: nn.Module) -> Float[Tensor, "position d_model"] | None:
    if isinstance(model, Transformer):
        embedding = model.encoder.embedding
        return embedding.learned.weight * embedding.scale
    named = [*model.named_parameters(), *model.named_buffers()]
    for name, values in named:
        if name.endswith(_TABLES) and values.dim() in (2, 3):
            return values.detach().reshape(-1, values.size(-1))
    return None


def _biases(trace: Trace) -> list[PositionScheme]:
    """The bias of each self-attention, of its first layer: it is the same in all of them."""
    schemes = []
    for site in trace.sites:
        if site.endswith(".self") and trace.knows_inputs:
            bias = trace.attention(site, 0).bias
            if isinstance(bias, DistanceBias):
                schemes.append(PositionScheme("bias", bias.table.float(), 1 - bias.num_queries, site))
    return schemes

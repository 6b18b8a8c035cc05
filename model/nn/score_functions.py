"""Score how well a key answers a query: dot product, additive or bilinear, each a value that a trace can keep.

A score is a sum over the components of query and key; `ScoreFunction.terms` are what is summed. Scaling, bias, mask and
softmax follow in `model.nn.attention.attention_weights`, whatever the function.

A `DistanceBias` depends only on head and distance, and is one row of numbers per head. Relative positions (T5, Raffel
et al. 2020, §2.1) and ALiBi (Press et al. 2022) add such a bias to every score.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

from model.nn.masks import Rows

Query = Float[Tensor, "*batch query d_k"]
Key = Float[Tensor, "*batch key d_k"]
Terms = Float[Tensor, "*batch query key d_k"]
Scores = Float[Tensor, "*batch query key"]

#: Terms [query, key, component] of all heads and sentences that are held at once, 64 MiB in float32.
TERMS_AT_ONCE: Final = 1 << 24


class ScoreFunction(ABC):
    """A function of a query and a key; what it has learned differs from head to head.

    Leading dimensions of queries and keys end with that of the heads.
    """

    #: What a file calls it.
    name: str

    @abstractmethod
    def terms(self, query: Query, key: Key) -> Terms:
        """What is summed over the components."""

    @abstractmethod
    def scores(self, query: Query, key: Key) -> Scores:
        """The sums of the terms."""

    @property
    def tensors(self) -> Mapping[str, Tensor]:
        """What it has learned, by the names that a file gives it; the first dimension is that of the heads."""
        return {f"score_{field.name}": getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def of_tensors(self, tensors: Mapping[str, Tensor]) -> "ScoreFunction":
        """The same function with other tensors of the same names."""
        return type(self)(*tensors.values())

    def of_heads(self, heads: Sequence[int]) -> "ScoreFunction":
        """The function of these heads, in this order, in float32."""
        chosen = list(heads)
        return self.of_tensors({name: tensor[chosen].float() for name, tensor in self.tensors.items()})

    def to(self, device: torch.device) -> "ScoreFunction":
        """The same on another device, as a constant."""
        return self.of_tensors({name: tensor.detach().to(device) for name, tensor in self.tensors.items()})


@dataclass(frozen=True, eq=False)
class DotProduct(ScoreFunction):
    """score(q, k) = q · k (§3.2.1; Luong et al. 2015, eq. 8, "dot")."""

    name = "dot"

    def terms(self, query: Query, key: Key) -> Terms:
        """q_c k_c."""
        return query[..., :, None, :] * key[..., None, :, :]

    def scores(self, query: Query, key: Key) -> Scores:
        """QKᵀ."""
        return query @ key.transpose(-2, -1)


DOT_PRODUCT: Final = DotProduct()


@dataclass(frozen=True, eq=False)
class Bilinear(ScoreFunction):
    """score(q, k) = qᵀ M k, with a matrix for each head (Luong et al. 2015, eq. 8, "general")."""

    matrix: Float[Tensor, "head d_k d_k"]
    name = "general"

    def terms(self, query: Query, key: Key) -> Terms:
        """(qᵀ M)_c k_c."""
        return DOT_PRODUCT.terms(query @ self.matrix, key)

    def scores(self, query: Query, key: Key) -> Scores:
        """Q M Kᵀ."""
        return DOT_PRODUCT.scores(query @ self.matrix, key)


@dataclass(frozen=True, eq=False)
class Additive(ScoreFunction):
    """score(q, k) = vᵀ tanh(q + k), with a vector for each head (Bahdanau et al. 2015, appendix A.1.2).

    The paper's W s and U h are the query and the key here: maps of what they come from, which an attention site has
    anyway. n queries and m keys make n · m · d_k terms; they are computed for some rows at a time.
    """

    vector: Float[Tensor, "head d_k"]
    name = "additive"

    def terms(self, query: Query, key: Key) -> Terms:
        """v_c tanh(q_c + k_c)."""
        return self._activations(query, key) * self.vector[:, None, None, :]

    def scores(self, query: Query, key: Key) -> Scores:
        """vᵀ tanh(q + k) of every pair."""
        terms_a_row = query[..., :1, :].numel() * key.size(-2) or 1
        blocks = torch.split(query, max(1, TERMS_AT_ONCE // terms_a_row), dim=-2)
        vectors = self.vector[:, None, :, None]
        return torch.cat([(self._activations(rows, key) @ vectors)[..., 0] for rows in blocks], dim=-2)

    @staticmethod
    def _activations(query: Tensor, key: Tensor) -> Tensor:
        return (query[..., :, None, :] + key[..., None, :, :]).tanh()


def joined(functions: Sequence[ScoreFunction]) -> ScoreFunction:
    """One function for the heads of several sites, which all have the same kind of it."""
    first = functions[0]
    parts = {name: [function.tensors[name] for function in functions] for name in first.tensors}
    return first.of_tensors({name: torch.cat(tensors) for name, tensors in parts.items()})


def read_score_function(name: str, tensors: Mapping[str, Tensor], num_heads: int, d_k: int) -> ScoreFunction:
    """The function that `name` and `tensors` of a file tell of.

    Raises:
        ValueError: there is no such function, or its tensors have other shapes.
        KeyError: a tensor is missing.
    """
    if name == DOT_PRODUCT.name:
        return DOT_PRODUCT
    if name not in (Additive.name, Bilinear.name):
        raise ValueError(f"no score function is called {name!r}")
    tensor = tensors["score_vector" if name == Additive.name else "score_matrix"]
    expected = (num_heads, d_k) if name == Additive.name else (num_heads, d_k, d_k)
    if tuple(tensor.shape) != expected:
        raise ValueError(f"its scores need numbers of the shape {expected}, got {tuple(tensor.shape)}")
    return Additive(tensor) if name == Additive.name else Bilinear(tensor)


ROWS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class DistanceBias:
    """bias[head, query i, key j] = table[head, j − i + num_queries − 1]."""

    #: from the key farthest before its query (the last query's first key) to the one farthest behind.
    table: Float[Tensor, "head distance"]
    num_queries: int  #: rows

    @property
    def num_keys(self) -> int:
        """Columns."""
        return self.table.size(1) - self.num_queries + 1

    def rows(self, heads: Sequence[int], rows: Rows = slice(None)) -> Float[Tensor, "head row key"]:
        """The bias of these heads and query rows."""
        if isinstance(rows, slice) and rows.step is None:
            start, stop, _ = rows.indices(self.num_queries)
            # Each row is the row below it moved by one: windows of the table, the last row's first.
            windows = self.table[list(heads), self.num_queries - stop : self.num_queries - start + self.num_keys - 1]
            return windows.unfold(1, self.num_keys, 1).flip(1)
        queries = torch.arange(self.num_queries, device=self.table.device)[rows]
        keys = torch.arange(self.num_keys, device=self.table.device)
        return self.table[list(heads)][:, keys[None, :] - queries[:, None] + self.num_queries - 1]

    def to(self, device: torch.device) -> "DistanceBias":
        """The same on another device."""
        return DistanceBias(self.table.to(device), self.num_queries)


def distance_bias(bias: Float[Tensor, "head query key"]) -> DistanceBias | None:
    """The table behind a bias; None if it depends on more than head and distance."""
    if bias.size(2) < bias.size(1):
        return None
    # The last row, then the rest of the first row: from far before to far behind.
    table = torch.cat((bias[:, -1], bias[:, 0, bias.size(2) - bias.size(1) + 1 :]), dim=-1)
    result = DistanceBias(table.clone(), bias.size(1))
    heads = range(bias.size(0))
    blocks = (slice(first, first + ROWS_AT_ONCE) for first in range(0, bias.size(1), ROWS_AT_ONCE))
    return result if all(torch.equal(result.rows(heads, rows), bias[:, rows]) for rows in blocks) else None

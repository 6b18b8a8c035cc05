"""A score as a table: what each part at the query has to do with each part at the keys.

q = Σ qᵢ and k = Σ kⱼ, with the divisors of norms held, so q · k = Σᵢⱼ qᵢ · kⱼ (Elhage et al. 2021, "A Mathematical
Framework for Transformer Circuits", "Q- and K-composition"). Pairs are many and cancel: sub-layers and words are read
first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.reasons.held_run import Part
from model.analysis.reasons.score import Cell, Reason, cancelling, cell_of

Vectors = Mapping[Part, Float[Tensor, "d_k"]]


@dataclass(frozen=True, eq=False)
class Pairs:
    """What is explained, as a sum over a part at the query and a part at the keys; with `distance` that is all."""

    #: query, keys: the parts at the query, and at the key less those at the rival; attentions as their heads.
    query: tuple[Part, ...]
    keys: tuple[Part, ...]
    shares: Float[Tensor, "query_part key_part"]
    distance: float  #: what a bias of the distance between query and keys gives

    @property
    def cancelling(self) -> float:
        """Σ |share| / |Σ share| of all pairs."""
        return cancelling(self.shares.flatten().tolist())

    def largest(self, count: int) -> list[tuple[Part, Part, float]]:
        """The pairs with the largest shares of either sign: at the query, at the keys, share."""
        order = self.shares.abs().flatten().argsort(descending=True)[:count]
        return [
            (self.query[row], self.keys[column], float(self.shares[row, column]))
            for row, column in (divmod(index, len(self.keys)) for index in order.tolist())
        ]


def pairs(reason: Reason, rivals: Sequence[int] = ()) -> Pairs:
    """Split an answer over pairs of parts; with a twin, the change of each pair.

    `rivals`: instead of the question's, several, without a twin: then it is the score less the mean of theirs, the log
    of the ratio of the weight to the geometric mean of the others.
    """
    assert not rivals or reason.twin is None, "rivals are positions of one text"
    questions = [reason.question] if reason.twin is None else [reason.question, reason.twin]
    cells = [cell_of(term.run, question, rivals) for term, question in zip(reason.query.terms, questions, strict=True)]
    sides = [(_query_parts(cell), _key_parts(cell)) for cell in cells]
    query, keys = (tuple({part: None for of_cell in sides for part in of_cell[side]}) for side in (0, 1))
    shares = torch.zeros(len(query), len(keys))
    for term, cell, (of_query, of_keys) in zip(reason.query.terms, cells, sides, strict=True):
        products = _stacked(of_query, query) @ _stacked(of_keys, keys).T
        shares += term.sign * reason.cap_factor * cell.scale * products
    return Pairs(query, keys, shares, cells[0].distance if rivals else reason.distance)


def _stacked(vectors: Vectors, parts: Sequence[Part]) -> Float[Tensor, "part d_k"]:
    none = torch.zeros_like(vectors[Part("bias")])
    return torch.stack([vectors.get(part, none) for part in parts])


def _query_parts(cell: Cell) -> Vectors:
    """What each part gives to the query."""
    asked, _ = cell.query_asked(torch.eye(len(cell.query)), 1.0)
    found = cell.run.by_part(asked)
    return {**found, Part("bias"): cell.query - torch.stack([*found.values()]).sum(0)}


def _key_parts(cell: Cell) -> Vectors:
    """What each part gives to the key less what it gives to the rival."""
    asked, _ = cell.keys_asked(torch.eye(len(cell.query)), 1.0)
    found = {part: values.view(len(cell.query), -1).sum(-1) for part, values in cell.run.by_part(asked).items()}
    return {**found, Part("bias"): cell.keys - torch.stack([*found.values()]).sum(0)}

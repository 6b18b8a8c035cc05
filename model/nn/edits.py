"""Define edits of attention: a head switched off, made uniform, or pointed at one key.

An edit is data, and a function of a row of scores. The model applies it while it runs (`model.nn.edit_hooks`); a trace
keeps it and applies it again when weights are derived, so that the weights shown are those that the model used:

| edit | scores of its row | weights |
|---|---|---|
| `SwitchOff` | −∞ everywhere | 0 everywhere: the head adds nothing |
| `MakeUniform` | 0 wherever the mask allows | 1/n on each of the n keys that the mask allows |
| `PointAt` | 0 at its key, −∞ elsewhere | 1 on its key |
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float
from torch import Tensor

from model.errors import EditError


@dataclass(frozen=True)
class HeadEdit(ABC):
    """A change to the scores of one head. Raises an EditError if both `row` and `since` are set."""

    site: str  #: "encoder.self", "decoder.self" or "decoder.cross"
    #: layer, head: from 0.
    layer: int
    head: int
    #: the only query row it acts on (row i of the decoder reads target token i); None for every row.
    row: int | None = field(default=None, kw_only=True)
    since: int = field(default=0, kw_only=True)  #: the first query row it acts on, where `row` is None

    def __post_init__(self) -> None:
        if self.row is not None and self.since:
            message = "Pass one row, or the first of several rows, but not both: got row={row}, since={since}."
            raise EditError(message, row=self.row, since=self.since)

    @property
    def first_row(self) -> int:
        """The first query row it acts on."""
        return self.since if self.row is None else self.row

    def covers(self, row: int) -> bool:
        """Whether it acts on this query row."""
        return row >= self.since if self.row is None else row == self.row

    @abstractmethod
    def apply(self, scores: Float[Tensor, "*batch key"]) -> Float[Tensor, "*batch key"]:
        """The changed scores of rows that it covers; −∞ where the mask forbids a key, before and after."""


@dataclass(frozen=True)
class SwitchOff(HeadEdit):
    """The head adds nothing to the output of its site."""

    def apply(self, scores: Float[Tensor, "*batch key"]) -> Float[Tensor, "*batch key"]:
        """−∞ everywhere; a softmax over nothing is zero (`model.nn.attention.softmax_over_keys`)."""
        return torch.full_like(scores, -torch.inf)


@dataclass(frozen=True)
class MakeUniform(HeadEdit):
    """The head gives equal weight to every key that the mask allows."""

    def apply(self, scores: Float[Tensor, "*batch key"]) -> Float[Tensor, "*batch key"]:
        """Equal scores."""
        return torch.zeros_like(scores).masked_fill(scores.isneginf(), -torch.inf)


@dataclass(frozen=True)
class PointAt(HeadEdit):
    """The head attends to a single key, named by its position from 0."""

    key: int

    def apply(self, scores: Float[Tensor, "*batch key"]) -> Float[Tensor, "*batch key"]:
        """0 at this key, −∞ elsewhere. Raises an EditError if there is no such key, or the mask forbids it."""
        if not 0 <= self.key < scores.size(-1) or bool(scores[..., self.key].isneginf().any()):
            message = (
                "{site}, layer {layer}, head {head} cannot attend to key {key}: there is no such key, or the mask "
                "forbids it."
            )
            raise EditError(message, site=self.site, layer=self.layer, head=self.head, key=self.key)
        pointed = torch.full_like(scores, -torch.inf)
        pointed[..., self.key] = 0.0
        return pointed


def edit_scores(
    scores: Float[Tensor, "*batch head row key"], edits: Sequence[HeadEdit], heads: Sequence[int], rows: Sequence[int]
) -> Float[Tensor, "*batch head row key"]:
    """Masked scores of one site and layer as its edits leave them, one after the other.

    SwitchOff comes last, so that it overrides the others; `heads` and `rows` are the numbers of those in `scores`.
    Raises an EditError if a row is pointed at a key that does not exist, or that the mask forbids.
    """
    edited = scores.clone()
    for edit in edits:
        covered = [i for i, row in enumerate(rows) if edit.covers(row)]
        for i, head in enumerate(heads):
            if head == edit.head and covered:
                edited[..., i, covered, :] = edit.apply(scores[..., i, covered, :])
    return edited


def edits_from(edits: Sequence[HeadEdit], step: int) -> tuple[HeadEdit, ...]:
    """The same edits, those of the decoder acting on no row before `step`; an EditError for a single row before it."""
    moved: list[HeadEdit] = []
    for edit in edits:
        if edit.site == "encoder.self" or edit.first_row >= step:
            moved.append(edit)
        elif edit.row is None:
            moved.append(replace(edit, since=step))
        else:
            message = "The edits begin at step {step}; row {row} of {site} comes before it."
            raise EditError(message, step=step, row=edit.row, site=edit.site)
    return tuple(moved)


def edits_before(edits: Sequence[HeadEdit], step: int) -> tuple[HeadEdit, ...]:
    """The same edits, all of the decoder, limited to the rows before `step`: an edit for each row that they change."""
    return tuple(
        replace(edit, row=row, since=0) for edit in edits for row in range(edit.first_row, step) if edit.covers(row)
    )

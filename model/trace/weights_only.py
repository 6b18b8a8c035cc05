"""The weights of an attention site of a model that gives no query, key and value.

It has the methods of `AttentionInputs`; those that need query, key and value raise a TraceError that says why. Weights
of all heads are held, query × key.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from jaxtyping import Float
from torch import Tensor

from model.errors import TraceError
from model.messages import said
from model.nn.attention import ScoresAndWeights
from model.nn.edits import HeadEdit
from model.nn.masks import AttentionMask, Rows


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightsOnly:
    """The weights of one attention site of one layer, its mask, and a sentence: `why` there is no more than weights."""

    held: Float[Tensor, "head query key"]
    mask: AttentionMask
    why: str

    @property
    def num_heads(self) -> int:
        """Query heads."""
        return self.held.size(0)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Heads, query rows and keys."""
        return self.held.size(0), self.held.size(1), self.held.size(2)

    @property
    def edits(self) -> tuple[HeadEdit, ...]:
        """None: what is not known cannot be changed."""
        return ()

    def weights(self, heads: Sequence[int] | None = None, rows: Rows = slice(None)) -> Float[Tensor, "head row key"]:
        """Weights [head, row, key] in float32."""
        chosen = self.held if heads is None else self.held[list(heads)]
        return chosen[:, rows].float()

    def scores_and_weights(self, heads: Sequence[int] | None = None, rows: Rows = slice(None)) -> ScoresAndWeights:
        """Not known: raises a TraceError."""
        self._refuse(said("scores before the softmax"))

    def head_output(
        self, heads: Sequence[int] | None = None, rows: Rows = slice(None)
    ) -> Float[Tensor, "head row d_v"]:
        """Not known: raises a TraceError."""
        self._refuse(said("outputs of heads"))

    def values(self, heads: Sequence[int] | None = None) -> Float[Tensor, "head key d_v"]:
        """Not known: raises a TraceError."""
        self._refuse(said("values"))

    def _refuse(self, what: str) -> NoReturn:
        raise TraceError("There are no {what} here, only weights: {why}", what=what, why=self.why)

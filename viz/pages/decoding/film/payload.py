"""A finished decoding, coded and compressed for the film: tokens, steps, every weight, every distribution.

Weights travel as the cells of `head_tiles.code`, exact to the third decimal, and above the causal mask's diagonal as
zeros, which cost nothing compressed. Distributions travel as float32.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, Self

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from viz import theme
from viz.pictures import payload
from viz.pictures.payload import LOCAL, LogProb, Text, Token, Tokens
from viz.pictures.tiles.codes import CellCode, code
from viz.text.messages import said

#: What the two attentions of a translator are called, and the two parts of a row of a decoder alone.
TWO_ATTENTIONS: Final[tuple[str, str]] = (
    said("Cross-attention, over the source"),
    said("Self-attention, over what is read so far"),
)
#: A decoder that attends to its source alone has no second one.
SOURCE_ALONE: Final[tuple[str, str]] = (TWO_ATTENTIONS[0], "")
ONE_ATTENTION: Final[tuple[str, str]] = (said("Attention to the text"), said("Attention to what was written"))
#: The most candidates of a step that can be shown.
MOST_CANDIDATES: Final = 20


@dataclass(frozen=True)
class PlayerCandidate:
    """A token a step could have taken, and its natural log-probability."""

    token_id: int
    token: Token
    log_prob: float


def _listed(candidates: Sequence[PlayerCandidate]) -> list[list[object]]:
    return [[*payload.encoded(candidate).values()] for candidate in candidates]


@dataclass(frozen=True)
class PlayerStep:
    """One step: the token taken, its log-probability, the entropy of the distribution (both in nats), the candidates.

    `rank` is that of the token taken among the whole vocabulary, 1 for the best.
    """

    token_id: Annotated[int, LOCAL]
    token: Token
    log_prob: LogProb
    entropy: float
    rank: int
    candidates: Annotated[tuple[PlayerCandidate, ...], _listed]

    @property
    def chosen(self) -> int | None:
        """The index of the token taken among the candidates; None if it is not one of them (it was forced or drawn)."""
        ids = [candidate.token_id for candidate in self.candidates]
        return ids.index(self.token_id) if self.token_id in ids else None

    def derived(self) -> dict[str, object]:
        """Which candidate was taken."""
        return {"chosen": self.chosen}


@dataclass(frozen=True, eq=False, kw_only=True)
class PlayerSpread:
    """The distribution of each step, as `model.trace.steps` describes it."""

    best: Float[np.ndarray, "step best"]
    counts: Float[np.ndarray, "step bin"]
    centres: Float[np.ndarray, "step bin"]
    vocab_size: int


@dataclass(frozen=True, eq=False, kw_only=True)
class PlayerData(CellCode):
    """A finished decoding, ready to be sent. Row t of both attentions reads `target_tokens[t]` and writes `steps[t]`.

    Attributes:
        num_best, num_bins: of each distribution, its best log-probabilities and the bins of the others.
        titles: of both attentions.
        cross, own, numbers: the weights of the cross- and of the self-attention, and the distributions, compressed.
    """

    source_tokens: Tokens
    target_tokens: Tokens
    steps: tuple[PlayerStep, ...]
    layers: int
    heads: int
    vocab_size: int
    num_best: int
    num_bins: int
    titles: tuple[Text, Text]
    cross: NDArray[np.uint8]
    own: NDArray[np.uint8]
    numbers: NDArray[np.uint8]
    stops: tuple[str, ...] = theme.SEQUENTIAL
    ticks: tuple[float, ...] = theme.SQRT_TICKS
    colours: tuple[str, ...] = theme.HEAD_COLOURS

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all."""
        return payload.digest(self)

    @classmethod
    def of(
        cls,
        source_tokens: Sequence[str],
        target_tokens: Sequence[str],
        steps: Sequence[PlayerStep],
        cross: Float[np.ndarray, "layer head step source"],
        self_: Float[np.ndarray, "layer head step target"],
        spread: PlayerSpread,
        titles: tuple[str, str] = TWO_ATTENTIONS,
    ) -> Self:
        """Code and compress a decoding; `titles` are what both attentions are called."""
        rows, sources = len(steps), len(source_tokens)
        layers, heads = cross.shape[:2]
        assert rows == len(target_tokens) > 0, "one step for each target token, and at least one"
        assert cross.shape == (layers, heads, rows, sources), f"cross attention has shape {cross.shape}"
        assert self_.shape == (layers, heads, rows, rows), f"self-attention has shape {self_.shape}"
        assert len(spread.best) == len(spread.counts) == len(spread.centres) == rows, "one distribution a step"
        return cls(
            source_tokens=tuple(source_tokens),
            target_tokens=tuple(target_tokens),
            steps=tuple(steps),
            layers=layers,
            heads=heads,
            vocab_size=spread.vocab_size,
            num_best=spread.best.shape[1],
            num_bins=spread.counts.shape[1],
            titles=titles,
            cross=_cells(cross),
            own=_cells(self_),
            numbers=_floats(spread),
        )


def _cells(weights: Float[np.ndarray, "layer head row key"]) -> NDArray[np.uint8]:
    """The low bytes of all cells and then the high ones, compressed: bytes that mean alike lie together."""
    cells = code(weights)
    planes = np.stack([cells & 255, cells >> 8]).astype(np.uint8)
    return np.frombuffer(payload.deflate(planes), np.uint8)


def _floats(spread: PlayerSpread) -> NDArray[np.uint8]:
    """The best log-probabilities of all steps, then the bins' counts, then their centres, as float32, compressed."""
    numbers = np.concatenate([part.astype("<f4").ravel() for part in (spread.best, spread.counts, spread.centres)])
    return np.frombuffer(payload.deflate(numbers.view(np.uint8)), np.uint8)

"""A finished decoding, coded and compressed for the film: tokens, steps, every weight, every distribution.

Weights travel as the cells of `head_tiles.code`, exact to the third decimal, and above the causal mask's diagonal as
zeros, which cost nothing compressed. Distributions travel as float32.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from viz.core import fingerprint, payload, token_text
from viz.core.messages import said
from viz.core.theme import HEAD_COLOURS, SEQUENTIAL, SQRT_TICKS
from viz.core.tiles import FIRST_CELL, FIRST_THOUSANDTH, code

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
    token: str
    log_prob: float


@dataclass(frozen=True)
class PlayerStep:
    """One step: the token taken, its log-probability, the entropy of the distribution (both in nats), the candidates.

    `rank` is that of the token taken among the whole vocabulary, 1 for the best.
    """

    token_id: int
    token: str
    log_prob: float
    entropy: float
    rank: int
    candidates: tuple[PlayerCandidate, ...]

    @property
    def chosen(self) -> int | None:
        """The index of the token taken among the candidates; None if it is not one of them (it was forced or drawn)."""
        ids = [candidate.token_id for candidate in self.candidates]
        return ids.index(self.token_id) if self.token_id in ids else None


@dataclass(frozen=True, eq=False, kw_only=True)
class PlayerSpread:
    """The distribution of each step, as `model.trace.steps` describes it."""

    best: Float[np.ndarray, "step best"]
    counts: Float[np.ndarray, "step bin"]
    centres: Float[np.ndarray, "step bin"]
    vocab_size: int


@dataclass(frozen=True, eq=False)
class PlayerData:
    """A finished decoding, ready to be sent. Row t of both attentions reads `target_tokens[t]` and writes `steps[t]`.

    `deflated` has the compressed weights of the cross- and of the self-attention, and the distributions; `header` what
    else the browser needs but the `titles` of both attentions, which are messages; `digest` is a fingerprint of all.
    """

    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    steps: tuple[PlayerStep, ...]
    layers: int
    heads: int
    vocab_size: int
    deflated: tuple[NDArray[np.uint8], ...]
    header: dict[str, object]
    titles: tuple[str, str]
    digest: str

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
        deflated = (_cells(cross), _cells(self_), _floats(spread))
        header: dict[str, object] = {
            "layers": layers,
            "heads": heads,
            "sourceTokens": token_text.display_tokens(source_tokens),
            "targetTokens": token_text.display_tokens(target_tokens),
            "steps": [_step_as_json(step) for step in steps],
            "numBest": spread.best.shape[1],
            "numBins": spread.counts.shape[1],
            "vocabSize": spread.vocab_size,
            "stops": SEQUENTIAL,
            "ticks": SQRT_TICKS,
            "colours": HEAD_COLOURS,
            "firstCell": FIRST_CELL.tolist(),
            "firstThousandth": FIRST_THOUSANDTH.tolist(),
        }
        return cls(
            source_tokens=tuple(source_tokens),
            target_tokens=tuple(target_tokens),
            steps=tuple(steps),
            layers=layers,
            heads=heads,
            vocab_size=spread.vocab_size,
            deflated=deflated,
            header=header,
            titles=titles,
            digest=fingerprint.digest(repr(header), repr(titles), *deflated),
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


def _step_as_json(step: PlayerStep) -> dict[str, object]:
    return {
        "token": token_text.display_token(step.token),
        "logProb": payload.known_log_prob(step.log_prob),
        "entropy": step.entropy,
        "rank": step.rank,
        "chosen": step.chosen,
        "candidates": [
            [candidate.token_id, token_text.display_token(candidate.token), candidate.log_prob]
            for candidate in step.candidates
        ],
    }

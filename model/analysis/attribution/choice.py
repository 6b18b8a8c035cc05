"""What attribution explains: how probable a token is at a place in a text, or how much more so than another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.errors import DataError
from model.trace.trace import Trace
from model.word_choice import TokenPlace


@dataclass(frozen=True)
class TokenChoice:
    """A token that may be said at a place, and maybe another beside it.

    Attributes:
        place: what is read, as token ids, and the row that says the token.
        token: what is said there.
        against: another token instead; None to ask for the token's own log-probability.
    """

    place: TokenPlace
    token: int
    against: int | None = None

    @property
    def source(self) -> tuple[int, ...]:
        """What the encoder reads; nothing in a decoder alone."""
        return self.place.source

    @property
    def prefix(self) -> tuple[int, ...]:
        """What the decoder reads; nothing in an encoder alone."""
        return self.place.target

    @property
    def read(self) -> tuple[int, ...]:
        """The text whose tokens can be hidden: the source, or what a decoder alone reads."""
        return self.source or self.prefix

    @property
    def own(self) -> int | None:
        """The position of that text which says the token, and cannot be hidden; None where a decoder reads another."""
        return None if self.source and self.prefix else self.place.row

    def of_logits(self, logits: Float[Tensor, "batch vocab"]) -> Float[Tensor, "batch"]:
        """log p(token), or log p(token) − log p(against), in nats, from the logits of the place."""
        log_probs = logits.float().log_softmax(-1)
        chosen: Tensor = log_probs[:, self.token]
        return chosen if self.against is None else chosen - log_probs[:, self.against]

    def said(self, logits: Float[Tensor, "batch vocab"]) -> Int[Tensor, "batch"]:
        """The token that the model says at the place: the likelier of both, or of all where none is set against it."""
        if self.against is None:
            return logits.argmax(-1)
        both = torch.tensor([self.token, self.against], device=logits.device)
        return both[logits[:, both].argmax(-1)]


class TokenScores(NamedTuple):
    """A number for each token that the encoder read and for each that the decoder read, on the CPU."""

    source: Float[Tensor, "source"]
    prefix: Float[Tensor, "prefix"]


def choice_at(trace: Trace, step: int, against: int | None = None) -> TokenChoice:
    """The token that a trace wrote at a step, from 0.

    Raises:
        DataError: there is no such step, or the token is to be set against itself.
    """
    if not 0 <= step < len(trace.steps):
        raise DataError("Steps run from 0 to {num_steps}, got {step}.", num_steps=len(trace.steps) - 1, step=step)
    row = trace.rows_before + step
    token = trace.steps[step].token_id
    if against == token:
        raise DataError(
            "“{token}” cannot be compared with itself; choose another token.", token=trace.steps[step].token
        )
    return TokenChoice(TokenPlace(tuple(trace.source_ids), tuple(trace.target_ids[: row + 1]), row), token, against)


def visible(length: int, hidden: Sequence[Sequence[int]]) -> Bool[Tensor, "variant source"]:
    """Which of so many tokens are seen where these are hidden, one row a variant."""
    seen = torch.ones(len(hidden), length, dtype=torch.bool)
    for row, positions in zip(seen, hidden, strict=True):
        row[list(positions)] = False
    return seen

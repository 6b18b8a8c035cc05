"""Describe what a decoding step chose: its token, log-probability, entropy and rivals, from a row of logits."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any, overload

import torch
from jaxtyping import Float
from torch import Tensor

from model.errors import SessionError
from model.messages import said
from model.vocabulary import Vocabulary

NUM_CANDIDATES = 20
ROWS_AT_ONCE = 64
"""So many rows of logits are described together: of a large vocabulary more would not be small."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that could come next, and its log-probability (nats)."""

    token_id: int
    token: str
    log_prob: float


@dataclass(frozen=True, slots=True)
class Candidates(Sequence[Candidate]):
    """The candidates of a step, as three columns: an object is made of one when it is asked for.

    Python's collector looks at every object again and again, and not at a tuple of numbers or texts. Kept as objects,
    the candidates of ninety sentences are 300,000 of them, for which every run of a page waits a third of a second.
    """

    token_ids: tuple[int, ...] = ()
    tokens: tuple[str, ...] = ()
    log_probs: tuple[float, ...] = ()

    @classmethod
    def of(cls, candidates: Iterable[Candidate]) -> "Candidates":
        """These candidates, in this order."""
        listed = list(candidates)
        return cls(
            tuple(one.token_id for one in listed),
            tuple(one.token for one in listed),
            tuple(one.log_prob for one in listed),
        )

    def __len__(self) -> int:
        return len(self.token_ids)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> "Candidates": ...
    def __getitem__(self, index: int | slice) -> "Candidate | Candidates":
        if isinstance(index, slice):
            return Candidates(self.token_ids[index], self.tokens[index], self.log_probs[index])
        return Candidate(self.token_ids[index], self.tokens[index], self.log_probs[index])


@dataclass(frozen=True, slots=True)
class DecodingStep:
    """One emitted token.

    Attributes:
        index: target row, from 0; row i reads `target_tokens[i]` and emits this token.
        token_id, token: the token chosen (by the model, or forced).
        log_prob: its log-probability, in nats.
        entropy: of the whole distribution, in nats.
        candidates: the most probable tokens, best first.
    """

    index: int
    token_id: int
    token: str
    log_prob: float
    entropy: float
    candidates: Sequence[Candidate]

    def as_fields(self) -> dict[str, Any]:
        """Everything as JSON has it."""
        return {name: getattr(self, name) for name in ("index", "token_id", "token", "log_prob", "entropy")} | {
            "candidates": [asdict(candidate) for candidate in self.candidates]
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> "DecodingStep":
        """The step of which these are the fields."""
        return cls(**{**fields, "candidates": Candidates.of(Candidate(**one) for one in fields["candidates"])})


def check_probabilities(steps: Sequence[DecodingStep]) -> None:
    """Refuse steps at which no token has a probability.

    Raises:
        SessionError: the logits of a step are NaN, or all of them −∞.
    """
    for number, step in enumerate(steps, start=1):
        if not step.candidates:
            raise no_probabilities(said("At step {number}", number=number))


def no_probabilities(where: str) -> SessionError:
    """The error of a step at which no token has a probability; `where` begins its sentence."""
    return SessionError(
        "{where} the model gives no token a probability: what it computes is no number (NaN), or its "
        "generation_config.json forbids every token. Mend its weights or these settings; the attention page "
        "still shows what its heads look at.",
        where=where,
    )


def most_probable(logits: Float[Tensor, " vocab"]) -> int:
    """The greedy choice; the lowest id where several are equally probable."""
    return int(logits.argmax())


@torch.inference_mode()
def describe_steps(
    logits: Float[Tensor, "step vocab"], chosen: Sequence[int], first: int, tokenizer: Vocabulary
) -> list[DecodingStep]:
    """Log-probabilities, entropy and candidates of rows of logits; a token at −∞ cannot be written and is none.

    Each step wrote its token of `chosen`; `first` is the index of the first.
    """
    steps: list[DecodingStep] = []
    for start in range(0, len(chosen), ROWS_AT_ONCE):
        token_ids = chosen[start : start + ROWS_AT_ONCE]
        log_probs = logits[start : start + ROWS_AT_ONCE].float().log_softmax(-1)
        best = log_probs.topk(min(NUM_CANDIDATES, log_probs.size(-1)))
        own = log_probs.gather(-1, torch.tensor(token_ids, device=logits.device)[:, None])[:, 0]
        columns = (column.tolist() for column in (own, _entropies(log_probs), best.indices, best.values))
        for token_id, log_prob, entropy, ids, values in zip(token_ids, *columns, strict=True):
            # Best first, so what cannot be written stands last.
            count = sum(value > -inf for value in values)
            candidates = Candidates(tuple(ids[:count]), tuple(tokenizer.tokens(ids[:count])), tuple(values[:count]))
            (token,) = tokenizer.tokens([token_id])
            steps.append(DecodingStep(first + len(steps), token_id, token, log_prob, entropy, candidates))
    return steps


def _entropies(log_probs: Float[Tensor, "*step vocab"]) -> Float[Tensor, "*step"]:
    """−Σ p log p in nats; 0 · log 0 counts as 0, also where a log-probability is −∞."""
    least = torch.finfo(log_probs.dtype).min
    return -(log_probs.exp() * log_probs.clamp_min(least)).sum(-1).clamp_max(0.0)

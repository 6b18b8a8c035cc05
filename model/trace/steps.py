"""Describe what a decoding step chose: its token, log-probability, entropy and rivals, from a row of logits.

A `Spread` has the best log-probabilities of each step exactly, the rest in bins: enough to redo temperature, top k and
top p (`model.decoding.sampling.filtered_log_probs`) to three decimals without the model.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from math import inf
from operator import attrgetter
from typing import Any, Final, Protocol, overload, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.errors import SessionError, said


@runtime_checkable
class Vocabulary(Protocol):
    """Tokens and their ids: of our own tokenizer, or of another model's."""

    def tokens(self, token_ids: Sequence[int]) -> tuple[str, ...]:
        """The tokens of ids."""

    def token_id(self, token: str) -> int:
        """The id of a token. Raises a TokenError if there is none that is spelled so."""

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of token ids; special tokens leave no trace."""


_WANTED: Final[ContextVar[bool]] = ContextVar("headlight_steps", default=True)


@contextmanager
def without_steps() -> Iterator[None]:
    """While the block runs, in this thread only, models of the library leave traces without steps.

    They take as long as the rest, because each has a score of every token of the vocabulary.
    """
    token = _WANTED.set(False)
    try:
        yield
    finally:
        _WANTED.reset(token)


def are_steps_wanted() -> bool:
    """Whether traces are to have steps."""
    return _WANTED.get()


NUM_CANDIDATES = 20
ROWS_AT_ONCE = 16
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
        return cls(*zip(*map(attrgetter("token_id", "token", "log_prob"), candidates), strict=True))

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
    """One emitted token."""

    index: int  #: target row, from 0; row i reads `target_tokens[i]` and emits this token
    #: token_id, token: the token chosen (by the model, or forced).
    token_id: int
    token: str
    log_prob: float  #: its log-probability, in nats
    entropy: float  #: of the whole distribution, in nats
    candidates: Sequence[Candidate]  #: the most probable tokens, best first

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
    """Raise a SessionError if the logits of a step are NaN, or all of them −∞: no token has a probability."""
    for number, step in enumerate(steps, start=1):
        if not step.candidates:
            raise no_probabilities(said("step {number}", number=number))


def no_probabilities(where: str) -> SessionError:
    """The error of a step at which no token has a probability; `where` names it."""
    return SessionError(
        "The model gives no token a probability ({where}): its output is not a number (NaN), or its "
        "generation_config.json forbids every token. Fix its weights or these settings; the Attention page still "
        "shows what its heads attend to.",
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
        rows = logits[start : start + ROWS_AT_ONCE].float()
        best = rows.topk(min(NUM_CANDIDATES, rows.size(-1)))
        rows = rows - best.values[:, :1]
        probs = rows.softmax(-1)
        # By what the likeliest token has: one more pass of exponentials or logarithms takes as long again.
        likeliest = probs.gather(-1, best.indices[:, :1]).log()
        own = rows.gather(-1, torch.tensor(token_ids, device=logits.device)[:, None]) + likeliest
        # −Σ p log p; a token at −∞ counts nothing.
        entropies = (-likeliest[:, 0] - probs.mul_(rows).nansum(-1)).clamp_min(0.0)
        columns = (
            column.tolist()
            for column in (own[:, 0], entropies, best.indices, best.values - best.values[:, :1] + likeliest)
        )
        for token_id, log_prob, entropy, ids, values in zip(token_ids, *columns, strict=True):
            # Best first, so what cannot be written stands last.
            count = sum(value > -inf for value in values)
            candidates = Candidates(tuple(ids[:count]), tuple(tokenizer.tokens(ids[:count])), tuple(values[:count]))
            (token,) = tokenizer.tokens([token_id])
            steps.append(DecodingStep(first + len(steps), token_id, token, log_prob, entropy, candidates))
    return steps


#: So many of the best log-probabilities of a step are kept exactly.
NUM_BEST: Final = 256
#: A bin is at least this wide, and this share of its distance from the last of the best. A bin of width w, taken as its
#: centre, is wrong by w²/24T² of its mass at temperature T; far from the best it has mass only where T is large.
_NARROWEST, _GROWTH, _FARTHEST = 0.01, 0.03, 250.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Spread:
    """The distributions of all steps. All tensors are on the CPU."""

    #: the highest log-probabilities (nats), descending; the whole vocabulary if it is no larger than that.
    best: Float[Tensor, "step best"]
    counts: Int[Tensor, "step bin"]  #: of the other tokens in each bin, best bin first; without those of probability 0
    centres: Float[Tensor, "step bin"]  #: mean log-probability of each bin's tokens, 0 where there are none
    #: of the token that each step wrote, 1 for the best; equally probable tokens share the better rank.
    chosen_ranks: Int[Tensor, "step"]

    @classmethod
    def joined(cls, parts: Iterable["Spread"]) -> "Spread":
        """That of all steps, from those of a few each."""
        each = [vars(part) for part in parts]
        return cls(**{name: torch.cat([part[name] for part in each]) for name in each[0]})


@torch.inference_mode()
def spread_of(log_probs: Float[Tensor, "step vocab"], token_ids: Sequence[int]) -> Spread:
    """The distributions of steps whose log-probabilities (nats) are known, and the ranks of what they wrote."""
    best, counts, centres = best_and_bins(log_probs)
    chosen = log_probs.gather(1, torch.tensor(token_ids, device=log_probs.device)[:, None])
    ranks = (log_probs > chosen).sum(-1) + 1
    return Spread(best=best.cpu(), counts=counts.cpu(), centres=centres.cpu(), chosen_ranks=ranks.cpu())


def best_and_bins(
    log_probs: Float[Tensor, "step vocab"],
) -> tuple[Float[Tensor, "step best"], Int[Tensor, "step bin"], Float[Tensor, "step bin"]]:
    """The best log-probabilities of each row, and counts and centres of the bins of all others."""
    descending = log_probs.sort(-1, descending=True).values
    best, rest = descending[:, :NUM_BEST], descending[:, NUM_BEST:]
    edges = _bin_edges().to(log_probs.device)
    bins = torch.bucketize(best[:, -1:] - rest, edges, right=True) - 1
    # Tokens of probability 0 get a bin of their own, which is dropped.
    bins = torch.where(rest.isfinite(), bins, len(edges))
    counts = torch.zeros(len(rest), len(edges) + 1, dtype=torch.int64, device=rest.device)
    sums = torch.zeros(counts.shape, dtype=torch.float64, device=rest.device)
    counts.scatter_add_(1, bins, torch.ones_like(bins))
    sums.scatter_add_(1, bins, rest.double().nan_to_num(neginf=0.0))
    counts, sums = counts[:, :-1], sums[:, :-1]
    return best, counts, (sums / counts.clamp_min(1)).float()


def _bin_edges() -> Float[Tensor, "bin"]:
    """Where bins begin, as distances (nats) below the last of the best; the last bin has no end."""
    edges = [0.0]
    while edges[-1] < _FARTHEST:
        edges.append(edges[-1] + max(_NARROWEST, _GROWTH * edges[-1]))
    return torch.tensor(edges)

"""Draw a token from logits with temperature, top k and top p, decided by a seed."""

from dataclasses import dataclass
from hashlib import blake2b
from math import inf

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.errors import ConfigError
from model.messages import said
from model.trace.steps import no_probabilities

LEAST_TEMPERATURE, MOST_TEMPERATURE = 0.01, 100.0
LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How a distribution is changed before a token is drawn from it. The defaults change nothing.

    Attributes:
        temperature: what the logits are divided by; below 1 the likely tokens gain, above 1 the unlikely ones do.
        top_k: only this many of the most probable tokens may be drawn; None for all.
        top_p: only the fewest most probable tokens that together hold at least this much of the probability left by
            temperature and top_k may be drawn (Holtzman et al. 2020, §3.1); 1 for all.

    Raises:
        ConfigError: a value is out of range.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not LEAST_TEMPERATURE <= self.temperature <= MOST_TEMPERATURE:
            raise ConfigError(
                "The temperature must be between {least_temperature} and {most_temperature:g}, got {temperature}. To "
                "get the most probable token every time, use greedy decoding.",
                least_temperature=LEAST_TEMPERATURE,
                most_temperature=MOST_TEMPERATURE,
                temperature=self.temperature,
            )
        if self.top_k is not None and self.top_k < 1:
            raise ConfigError("top_k must be at least 1, or None for all tokens, got {top_k}.", top_k=self.top_k)
        if not 0 < self.top_p <= 1:
            raise ConfigError("top_p must be above 0 and at most 1 (1 for all tokens), got {top_p}.", top_p=self.top_p)


UNCHANGED = Sampling()
"""Draws from the model's own distribution."""


@dataclass(frozen=True, kw_only=True)
class Draws:
    """Sampling with a seed: the same seed, sample and step always draw with the same number.

    No state is kept between draws, so a step that is taken back and repeated, or taken in a branch, draws with the same
    number; so does a sample that is drawn alone or beside others.

    `seed` names a series of samples, `sample` counts them, both from 0; a ConfigError if they are out of range.
    """

    sampling: Sampling = UNCHANGED
    seed: int = 0
    sample: int = 0

    def __post_init__(self) -> None:
        for name, value in (("seed", self.seed), ("number of the sample", self.sample)):
            if not 0 <= value <= LARGEST_SEED:
                raise ConfigError(
                    "The {name} must be between 0 and {largest_seed}, got {value}.",
                    name=name,
                    largest_seed=LARGEST_SEED,
                    value=value,
                )

    def uniform(self, step: int) -> float:
        """The number in [0, 1) that decides this step (counted from 0).

        A hash of (seed, sample, step): unlike a random generator's stream it depends on no device, no version of
        torch, and nothing drawn before.
        """
        digest = blake2b(f"{self.seed}/{self.sample}/{step}".encode(), digest_size=8).digest()
        # 52 bits, so that this times a sum of probabilities near 1 always rounds to less than that sum.
        return (int.from_bytes(digest, "big") >> 12) / 2**52

    def draw(self, logits: Float[Tensor, " vocab"], step: int) -> int:
        """The token drawn at this step."""
        return int(draw_tokens(filtered_log_probs(logits.cpu(), self.sampling)[None], [self.uniform(step)])[0])


def filtered_log_probs(logits: Float[Tensor, "*batch vocab"], sampling: Sampling) -> Float[Tensor, "*batch vocab"]:
    """Log-probabilities (nats, float32) of what may be drawn, summing to one; −∞ for the tokens left out.

    In the order of Hugging Face's `generate`: 1. divide by the temperature, 2. keep the top k, with any that equal the
    k-th, 3. of the probability that is left keep the top p. Of equally probable tokens at the edge of top p those of
    lower id stay. At least one token always stays.
    """
    # 1. Temperature.
    logits = logits.float() / sampling.temperature
    # 2. Top k.
    if sampling.top_k is not None and sampling.top_k < logits.size(-1):
        least = logits.topk(sampling.top_k).values[..., -1:]
        logits = logits.masked_fill(logits < least, -inf)
    # 3. Top p: a token stays if those before it do not hold that much yet.
    if sampling.top_p < 1:
        probabilities, order = logits.softmax(-1).sort(descending=True, stable=True)
        before = probabilities.cumsum(-1) - probabilities
        left_out = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, before >= sampling.top_p)
        logits = logits.masked_fill(left_out, -inf)
    return logits.log_softmax(-1)


def draw_tokens(log_probs: Float[Tensor, "row vocab"], uniforms: list[float]) -> Int[Tensor, " row"]:
    """One token of each row: the first at which the cumulative probability, by token id, exceeds the row's number.

    By id and not by probability: two tokens that rounding ranks in another order on another device stay where they are.

    Raises:
        SessionError: in a row no token has a probability.
    """
    cumulative = log_probs.double().exp().cumsum(-1)
    if not bool(cumulative[:, -1].isfinite().all()):
        raise no_probabilities(said("In one of the samples"))
    threshold = cumulative.new_tensor(uniforms)[:, None] * cumulative[:, -1:]
    return torch.searchsorted(cumulative, threshold, right=True)[:, 0]

"""Draw tokens from logits with temperature, top k and top p, decided by a seed: several texts in one batch."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import inf
from typing import Final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.decoding.search import PrefixBatch, Prefixes, StepsDone, length_limits
from model.errors import ConfigError, said
from model.interruption import no_progress
from model.nn.encoder_decoder import EncoderDecoder
from model.trace.steps import no_probabilities

LEAST_TEMPERATURE, MOST_TEMPERATURE = 0.01, 100.0
LARGEST_SEED = torch.iinfo(torch.int64).max


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How a distribution is changed before a token is drawn; the defaults change nothing. May raise a ConfigError."""

    #: what the logits are divided by; below 1 the likely tokens gain, above 1 the unlikely ones do.
    temperature: float = 1.0
    top_k: int | None = None  #: only this many of the most probable tokens may be drawn; None for all
    #: only the fewest most probable tokens that together hold at least this much of the probability left by temperature
    #: and top_k may be drawn (Holtzman et al. 2020, §3.1); 1 for all.
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
                message = "The {name} must be between 0 and {largest_seed}, got {value}."
                raise ConfigError(message, name=name, largest_seed=LARGEST_SEED, value=value)

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
    if sampling.top_k is not None:
        least = logits.topk(min(sampling.top_k, logits.size(-1))).values[..., -1:]
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
    Raises a SessionError if in a row no token has a probability.
    """
    cumulative = log_probs.double().exp().cumsum(-1)
    if not bool(cumulative[:, -1].isfinite().all()):
        raise no_probabilities(said("one of the samples"))
    threshold = cumulative.new_tensor(uniforms)[:, None] * cumulative[:, -1:]
    return torch.searchsorted(cumulative, threshold, right=True)[:, 0]


MOST_SAMPLES: Final = 64


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A translation that was drawn."""

    token_ids: tuple[int, ...]  #: what was written, </s> last unless the length limit came first
    #: of each of these tokens given those before it, in nats, under the model's own distribution.
    log_probs: tuple[float, ...]
    filtered_log_probs: tuple[float, ...]  #: the same under the distribution that it was drawn from

    @property
    def log_prob(self) -> float:
        """Of the whole under the model's own distribution, in nats."""
        return sum(self.log_probs)

    @property
    def filtered_log_prob(self) -> float:
        """Of the whole under the distribution that it was drawn from, in nats."""
        return sum(self.filtered_log_probs)


@dataclass(frozen=True, kw_only=True)
class SampledTranslation(Sample):
    """A drawn translation with its text."""

    text: str


def draws_of(n: int, sampling: Sampling, seed: int) -> list[Draws]:
    """What `n` samples are drawn by; sample i is what `Draws(sampling=…, seed=…, sample=i)` gives a session.

    Raises a ConfigError if `n` is not from 1 to `MOST_SAMPLES`, or `seed` is out of range.
    """
    if not 1 <= n <= MOST_SAMPLES:
        message = "Between 1 and {most_samples} samples can be drawn at once, got {n}."
        raise ConfigError(message, most_samples=MOST_SAMPLES, n=n)
    return [Draws(sampling=sampling, seed=seed, sample=i) for i in range(n)]


@torch.inference_mode()
def sample(
    model: EncoderDecoder,
    source_ids: Int[Tensor, " source"],
    n: int,
    sampling: Sampling,
    seed: int,
    progress: StepsDone = no_progress,
) -> list[Sample]:
    """Draw `n` translations of one sentence. Raises a ConfigError if `n` or `seed` is out of range.

    Args:
        source_ids: one source, ending with </s>.
        n: samples, as of `draws_of`; each is the same alone or beside others.
        seed: the same gives the same samples on any device and for any `n`, unless rounding (of float32, and of
            bfloat16 more often) moves a probability across the number drawn or a token across the edge of top k or p.
        progress: called after every step with the number of steps done and the most there can be.
    """
    draws = draws_of(n, sampling, seed)
    batch, last = PrefixBatch(model, model.encode(source_ids[None]), None), source_ids.new_tensor([model.config.bos_id])
    limit = int(length_limits(source_ids[None], None))
    return draw_samples(batch, last, draws, limit=limit, eos_ids=(model.config.eos_id,), progress=progress)


@torch.inference_mode()
def draw_samples(
    batch: Prefixes,
    last: Int[Tensor, " row"],
    draws: Sequence[Draws],
    *,
    limit: int,
    eos_ids: Collection[int],
    progress: StepsDone = no_progress,
) -> list[Sample]:
    """Draw texts of any model, one for each of `draws` (all of the same sampling), from the one row of the batch.

    `last` is the token to read first; a text ends with one of `eos_ids`, or after `limit` tokens.
    """
    written: list[list[tuple[int, float, float]]] = [[] for _ in draws]
    sampling, ends, device = draws[0].sampling, torch.tensor(sorted(eos_ids)), last.device
    active = list(range(len(draws)))
    for step in range(limit):
        # All begin with the same row. Drawn on the CPU, so that the same logits give the same token on any device.
        logits = batch.logits(last).cpu().float().expand(len(active), -1)
        filtered = filtered_log_probs(logits, sampling)
        drawn = draw_tokens(filtered, [draws[i].uniform(step) for i in active])
        chances = (rows.gather(1, drawn[:, None])[:, 0].tolist() for rows in (logits.log_softmax(-1), filtered))
        for i, token in zip(active, zip(drawn.tolist(), *chances, strict=True), strict=True):
            written[i].append(token)
        progress(step + 1, limit)
        unfinished = (~torch.isin(drawn, ends)).nonzero()[:, 0]
        if len(unfinished) == 0:
            break
        active = [active[row] for row in unfinished.tolist()]
        kept = unfinished if step > 0 else torch.zeros_like(unfinished)
        batch.select(kept.to(device))
        last = drawn[unfinished].to(device)
    columns = [tuple(zip(*tokens, strict=True)) for tokens in written]
    return [Sample(token_ids=ids, log_probs=own, filtered_log_probs=filtered) for ids, own, filtered in columns]

"""Draw several translations of one sentence in one batch, by the rules of `model.decoding.sampling`."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from jaxtyping import Int
from torch import Tensor

from model.decoding.sampling import Draws, Sampling, draw_tokens, filtered_log_probs
from model.decoding.search import PrefixBatch, Prefixes, StepsDone, length_limits, no_progress
from model.errors import ConfigError
from model.nn.encoder_decoder import EncoderDecoder

MOST_SAMPLES: Final = 64


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A translation that was drawn.

    Attributes:
        token_ids: what was written, </s> last unless the length limit came first.
        log_probs: of each of these tokens given those before it, in nats, under the model's own distribution.
        filtered_log_probs: the same under the distribution that it was drawn from.
    """

    token_ids: tuple[int, ...]
    log_probs: tuple[float, ...]
    filtered_log_probs: tuple[float, ...]

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

    Raises:
        ConfigError: `n` is not from 1 to `MOST_SAMPLES`, or `seed` is out of range.
    """
    if not 1 <= n <= MOST_SAMPLES:
        raise ConfigError(
            "Between 1 and {most_samples} samples can be drawn at once, got {n}.", most_samples=MOST_SAMPLES, n=n
        )
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
    """Draw `n` translations of one sentence.

    Args:
        source_ids: one source, ending with </s>.
        n: samples, as of `draws_of`; each is the same alone or beside others.
        seed: the same gives the same samples on any device and for any `n`, unless rounding (of float32, and of
            bfloat16 more often) moves a probability across the number drawn or a token across the edge of top k or p.
        progress: called after every step with the number of steps done and the most there can be.

    Raises:
        ConfigError: `n` or `seed` is out of range.
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

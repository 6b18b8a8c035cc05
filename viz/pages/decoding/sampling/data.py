"""Translations that are drawn, computed once for all viewers."""

from typing import TYPE_CHECKING, Final

from viz.core.caching import cached
from viz.selection.decoding import DecodingChoices

if TYPE_CHECKING:
    from model import SampledTranslation
    from model.writer import Writer

MAX_DRAWS: Final = 64


def samples(writer: "Writer", text: str, choices: DecodingChoices) -> tuple["SampledTranslation", ...]:
    """The translations that the chosen seed, temperature, top k and top p draw."""
    how = choices.temperature, choices.top_k, choices.top_p
    return _samples(writer, text, choices.num_samples, choices.sampling_seed, *how)


@cached(max_entries=MAX_DRAWS)
def _samples(
    writer: "Writer", text: str, count: int, seed: int, temperature: int, top_k: int, top_p: int
) -> tuple["SampledTranslation", ...]:
    from model import Sampling

    sampling = Sampling(temperature=temperature / 100, top_k=top_k or None, top_p=top_p / 100)
    return tuple(writer.sample(text, n=count, sampling=sampling, seed=seed))

"""Translations that are drawn, as a job."""

from typing import TYPE_CHECKING

from viz.selection.decoding import DecodingChoices
from viz.server.background_jobs import Progress, Task
from viz.text.messages import said

if TYPE_CHECKING:
    from model import SampledTranslation
    from model.writer import Writer


def drawing(writer: "Writer", text: str, choices: DecodingChoices) -> "Task[tuple[SampledTranslation, ...]]":
    """Draws the translations that the chosen seed, temperature, top k and top p give."""
    count, seed = choices.num_samples, choices.sampling_seed
    how = choices.token_filter

    def compute(progress: Progress) -> "tuple[SampledTranslation, ...]":
        from model import Sampling

        temperature, top_k, top_p = how
        sampling = Sampling(temperature=temperature / 100, top_k=top_k or None, top_p=top_p / 100)
        return tuple(writer.sample(text, n=count, sampling=sampling, seed=seed, progress=progress.reached))

    progress_text = said("Drawing: {done} of at most {total} tokens of each")
    return Task(("samples", writer.key, text, count, seed, how), 0, said("tokens"), compute, progress_text)

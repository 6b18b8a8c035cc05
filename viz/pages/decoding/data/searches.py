"""What is computed on demand: beams, samples, costs of steps, what layers would say, the head that a branch changes."""

from math import exp
from typing import Final

import numpy as np

from model import BeamTree, SampledTranslation, Sampling, Trace
from model.decoding.beam import LARGEST_WIDTH, BeamRule
from model.decoding.logit_lens import LogitLens
from model.reader import LARGEST_ALPHA, Writer
from viz.access import attention
from viz.pages.decoding.figures import common_difference
from viz.pictures.figures.heads import Alignment, align
from viz.selection.choices import DecodingChoices
from viz.server.background_jobs import Progress, Task
from viz.server.caches import cached
from viz.text.messages import said

MAX_NODES, MAX_LENSES = 12, 32
#: The hover of a lens names so many tokens.
TOP: Final = 5


def beam_settings(choices: DecodingChoices) -> tuple[int, float]:
    """Width and length penalty that are chosen; one beyond what there is becomes the nearest."""
    return min(max(choices.beam_size, 1), LARGEST_WIDTH), min(choices.length_penalty / 100, LARGEST_ALPHA)


def searching(writer: Writer, text: str, choices: DecodingChoices) -> Task[BeamTree]:
    """The beam search that is chosen."""
    beam, alpha = beam_settings(choices)
    return Task(
        ("beam", writer.key, text, beam, alpha),
        0,
        said("tokens"),
        lambda progress: writer.beam_tree(text, beam, alpha, progress=progress.reached),
        said("Searching: {done} of at most {total} tokens"),
    )


@cached(max_entries=MAX_NODES)
def hypothesis_trace(writer: Writer, text: str, token_ids: tuple[int, ...]) -> Trace:
    """The run that a hypothesis of a tree went through: a target row for each of its tokens. Not for the root."""
    return writer.trace_tokens(text, token_ids)


def greedy_score(trace: Trace, writer: Writer, alpha: float) -> float:
    """The score with which what greedy search wrote would compete among the finished hypotheses of a beam search.

    Its log-probability over a length penalty (`model.decoding.beam.BeamRule`): that of Wu et al. for translators, which
    counts the token that ends a text even where it is missing; for other models n^α of the n tokens that were written.
    """
    ends = trace.steps[-1].token_id in writer.end_ids
    tokens = len(trace.steps) + (writer.penalty == "wu" and not ends)
    return sum(step.log_prob for step in trace.steps) / BeamRule(writer.penalty).divisor(tokens, alpha)


def drawing(writer: Writer, text: str, choices: DecodingChoices) -> Task[tuple[SampledTranslation, ...]]:
    """Draws the translations that the chosen seed, temperature, top k and top p give."""
    count, seed = choices.num_samples, choices.sampling_seed
    how = choices.token_filter

    def compute(progress: Progress) -> tuple[SampledTranslation, ...]:
        temperature, top_k, top_p = how
        sampling = Sampling(temperature=temperature / 100, top_k=top_k or None, top_p=top_p / 100)
        return tuple(writer.sample(text, n=count, sampling=sampling, seed=seed, progress=progress.reached))

    progress_text = said("Sampling: {done} of at most {total} tokens each")
    return Task(("samples", writer.key, text, count, seed, how), 0, said("tokens"), compute, progress_text)


@cached(max_entries=MAX_LENSES)
def logit_lens(trace: Trace, writer: Writer) -> LogitLens:
    """What each layer would have said at each step of a trace, with its five most probable tokens."""
    return writer.logit_lens(trace, TOP)


@cached(max_entries=MAX_LENSES)
def lens_deviation(trace: Trace, writer: Writer) -> float:
    """`deviation` of the lens of a trace, from one more pass over what was read and written, without rules."""
    again = writer.parts.run(trace).trace
    # Of a long text such a pass has no steps.
    return deviation(again if again.steps else trace, logit_lens(trace, writer))


def deviation(trace: Trace, lens: LogitLens) -> float:
    """Largest difference between the probability that the last layer gives its likeliest token and the model's own."""
    steps = trace.steps[-len(lens.token_ids[-1]) :]
    best = zip(lens.token_ids[-1, :, 0].tolist(), lens.probabilities[-1, :, 0].tolist(), steps, strict=True)
    largest: float = max(
        abs(probability - sum(exp(each.log_prob) for each in step.candidates if each.token_id == token_id))
        for token_id, probability, step in best
    )
    return largest


def aligned(first: Trace, second: Trace, site: str) -> tuple[Alignment, Alignment]:
    """The rows and the columns of a site that two translations share, by the tokens that they stand for."""
    keys = (trace.axis_tokens(site)[1] for trace in (first, second))
    return align(first.row_tokens(site), second.row_tokens(site)), align(*keys)


MAX_KEPT: Final = 128


@cached(max_entries=MAX_KEPT)
def most_changed_head(first: Trace, second: Trace) -> tuple[str, int, int] | None:
    """Site, layer and head whose weights differ most between shared tokens; None if none do, or the text is long."""
    most, found = 0.0, None
    for site in first.sites:
        if any(attention.is_long(trace, site) for trace in (first, second)):
            return None
        rows, columns = aligned(first, second, site)
        for layer in range(first.layers_of(site)):
            pairs = zip(*(trace.weights(site, layer).numpy() for trace in (first, second)), strict=True)
            for head, (ours, theirs) in enumerate(pairs):
                change = float(np.abs(common_difference(ours, theirs, rows, columns)).max(initial=0))
                if change > most:
                    most, found = change, (site, layer, head)
    return found

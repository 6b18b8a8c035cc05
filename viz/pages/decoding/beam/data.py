"""The tree of a beam search, as a job, and what its hypotheses looked at, computed once for all viewers."""

from typing import TYPE_CHECKING, Final

from viz.selection.decoding import DecodingChoices
from viz.server.background_jobs import Task
from viz.server.caches import cached
from viz.text.messages import said

if TYPE_CHECKING:
    from model import BeamTree, Trace
    from model.writer import Writer

MAX_NODES: Final = 12


def beam_settings(choices: DecodingChoices) -> tuple[int, float]:
    """Width and length penalty that are chosen; one beyond what there is becomes the nearest."""
    from model.decoding.beam_tree import LARGEST_WIDTH
    from model.writer import LARGEST_ALPHA

    return min(max(choices.beam_size, 1), LARGEST_WIDTH), min(choices.length_penalty / 100, LARGEST_ALPHA)


def searching(writer: "Writer", text: str, choices: DecodingChoices) -> "Task[BeamTree]":
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
def hypothesis_trace(writer: "Writer", text: str, token_ids: tuple[int, ...]) -> "Trace":
    """The run that a hypothesis of a tree went through: a target row for each of its tokens. Not for the root."""
    return writer.trace_tokens(text, token_ids)


def greedy_score(trace: "Trace", writer: "Writer", alpha: float) -> float:
    """The score with which what greedy search wrote would compete among the finished hypotheses of a beam search.

    Its log-probability over a length penalty (`model.decoding.beam.BeamRule`): that of Wu et al. for translators, which
    counts the token that ends a text even where it is missing; for other models n^α of the n tokens that were written.
    """
    from model.decoding.beam import BeamRule

    ends = trace.steps[-1].token_id in writer.end_ids
    tokens = len(trace.steps) + (writer.penalty == "wu" and not ends)
    return sum(step.log_prob for step in trace.steps) / BeamRule(writer.penalty).divisor(tokens, alpha)

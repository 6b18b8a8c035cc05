"""What the decoding page shows beside the film: the logit lens, the beam's tree, samples, and what a step costs.

A door from the pages to the model, as `viz.access.derived`: torch is imported inside functions, what is cached, for all
viewers, is read-only and keyed by texts, settings and checkpoint digest, never by arrays. Knows nothing of widgets or
figures.
"""

from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from model.decoding.cost import StepCost, step_cost
from viz.access import generation, loader
from viz.selection.selection import Selection

if TYPE_CHECKING:
    from model import BeamTree, SampledTranslation, Trace
    from model.analysis.word_diff import WordSpan
    from model.decoding.logit_lens import LogitLens

MAX_LENSES: Final = 32
MAX_TREES: Final = 32
MAX_NODES: Final = 32
MAX_DRAWS: Final = 64
#: The hover of a lens names so many tokens.
TOP: Final = 5

#: What tells a trace from another of the same checkpoint: the text, what was written, and what was done to its heads.
Run = tuple[str, tuple[int, ...], str]


def logit_lens(trace: "Trace", selection: Selection) -> "LogitLens":
    """What each layer would have said at each step of a trace, with its five most probable tokens."""
    loaded = generation.writer(selection)
    return _logit_lens(_run(trace), loaded.digest, str(loaded.device), trace, loaded)


def beam_settings(selection: Selection) -> tuple[int, float]:
    """Width and length penalty that are chosen; one beyond what there is becomes the nearest."""
    from model.decoding.beam_tree import LARGEST_WIDTH
    from model.writer import LARGEST_ALPHA

    return min(max(selection.decoding.beam_size, 1), LARGEST_WIDTH), min(
        selection.decoding.length_penalty / 100, LARGEST_ALPHA
    )


def beam_tree(text: str, selection: Selection) -> "BeamTree":
    """The tree of the beam search that is chosen (`beam_settings`)."""
    loaded = generation.writer(selection)
    return _beam_tree(text, *beam_settings(selection), loaded.digest, str(loaded.device), loaded)


def node_trace(text: str, tree: "BeamTree", node: int, selection: Selection) -> "Trace":
    """The run that a hypothesis of a tree went through: a target row for each of its tokens. Not for the root."""
    loaded = generation.writer(selection)
    return _node_trace(text, tree.token_ids(node), loaded.digest, str(loaded.device), loaded)


def node_text(tree: "BeamTree", node: int, selection: Selection) -> str:
    """What a hypothesis has written, as text."""
    return str(generation.pieces(selection).decode(tree.token_ids(node)))


def greedy_score(trace: "Trace", alpha: float, selection: Selection) -> float:
    """The score with which what greedy search wrote would compete among the finished hypotheses of a beam search.

    Its log-probability over a length penalty (`model.decoding.beam.BeamRule`): that of Wu et al. for translators,
    which counts
    the token that ends a text even where it is missing; for other models n^α of the n tokens that were written.
    """
    from model.decoding.beam import BeamRule

    is_translator = loader.is_translator(selection)
    ends = trace.steps[-1].token_id in generation.end_ids(selection)
    tokens = len(trace.steps) + (is_translator and not ends)
    divisor = BeamRule("wu" if is_translator else "power").divisor(tokens, alpha)
    return sum(step.log_prob for step in trace.steps) / divisor


def samples(text: str, selection: Selection) -> tuple["SampledTranslation", ...]:
    """The translations that the selection's seed, temperature, top k and top p draw."""
    decoding = selection.decoding
    loaded = generation.writer(selection)
    settings = (
        decoding.num_samples,
        decoding.sampling_seed,
        decoding.temperature,
        decoding.top_k,
        decoding.top_p,
    )
    return _samples(text, settings, loaded.digest, str(loaded.device), loaded)


def step_costs(trace: "Trace", selection: Selection) -> tuple[StepCost, ...]:
    """What each step of a trace cost, and what it would have cost without the key/value cache."""
    config = loader.translator(selection).config
    return tuple(step_cost(config, len(trace.source_ids), step) for step in range(len(trace.steps)))


def word_diff(first: str, second: str) -> tuple["WordSpan", ...]:
    """Two texts, word by word."""
    from model.analysis.word_diff import word_diff

    return word_diff(first, second)


def _run(trace: "Trace") -> Run:
    return trace.text, tuple(step.token_id for step in trace.steps), repr(trace.edits)


@st.cache_resource(max_entries=MAX_LENSES, show_spinner=False)
def _logit_lens(run: Run, digest: str, device: str, _trace: "Trace", _translator: Any) -> "LogitLens":
    from model.decoding.logit_lens import LogitLens

    lens: LogitLens = _translator.logit_lens(_trace, TOP)
    return lens


@st.cache_resource(max_entries=MAX_TREES, show_spinner=False)
def _beam_tree(text: str, beam: int, alpha: float, digest: str, device: str, _translator: Any) -> "BeamTree":
    tree: BeamTree = _translator.beam_tree(text, beam, alpha)
    return tree


@st.cache_resource(max_entries=MAX_NODES, show_spinner=False)
def _node_trace(text: str, token_ids: tuple[int, ...], digest: str, device: str, _translator: Any) -> "Trace":
    trace: Trace = _translator.trace_tokens(text, token_ids)
    return trace


@st.cache_resource(max_entries=MAX_DRAWS, show_spinner=False)
def _samples(
    text: str, settings: tuple[int, int, int, int, int], digest: str, device: str, _translator: Any
) -> tuple["SampledTranslation", ...]:
    from model import Sampling

    count, seed, temperature, top_k, top_p = settings
    sampling = Sampling(temperature=temperature / 100, top_k=top_k or None, top_p=top_p / 100)
    return tuple(_translator.sample(text, n=count, sampling=sampling, seed=seed))

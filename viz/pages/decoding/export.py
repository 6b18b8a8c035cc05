"""What the decoding page offers to take along: tables, trees, arrays, and the Python that gives what it shows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Final

import streamlit as st

from model.errors import HeadlightError
from viz.access import attribution, models, traces
from viz.pages.decoding import translations
from viz.pages.decoding.data import searches
from viz.selection import state
from viz.selection.branch_codes import Action, Choice, Draw, EditHead, write_code
from viz.selection.choices import ALONE
from viz.selection.selection import Selection
from viz.text.messages import _, plural
from viz.text.written import CROSS, DECODER, file_name
from viz.ui import long_work, trace_tables
from viz.ui.attribution import hidden_seconds
from viz.ui.downloads import show_offer
from viz.ui.snippets import Snippet, Views, line, of_reader, of_written
from viz.ui.trace_tables import Row, cell, digits, table

if TYPE_CHECKING:
    from model import BeamTree, SampledTranslation, Trace
    from model.decoding.logit_lens import LogitLens


def files(trace: "Trace") -> None:
    """The tables, arrays and trees of the translation that is shown."""
    selection = state.current()
    of_branch = f"branch{selection.decoding.branch}" if selection.decoding.branch else ""
    st.markdown(_("**The translation shown**"))
    show_offer(
        _("Steps and candidates"),
        _("CSV: each step’s token, its probability, entropy and 20 candidates"),
        partial(trace_tables.steps, trace),
        f"{file_name('decoding', of_branch, sentence=trace.text)}.csv",
    )
    show_offer(
        _("NumPy arrays"),
        _(
            "all weights, queries, keys and values of all attentions, with the tokens and steps; read the file with "
            "`numpy.load`"
        )
        if traces.has_weights(trace)
        else _(
            "queries, keys and values of all attentions, with the tokens and steps; read the file with `numpy.load`"
        ),
        partial(traces.content, trace),
        f"{file_name('trace', of_branch, sentence=trace.text)}.npz",
    )
    _offer_trees(trace, selection)


def _offer_trees(trace: "Trace", selection: Selection) -> None:
    st.markdown(_("**Trees**"))
    made = translations.choices()
    written = partial(translations.written, *translations.source(), made)
    checkpoint, digest = models.identity(selection.model)
    show_offer(
        _("Branches"),
        plural(
            "JSON: the model’s own translation and {count} branch: what was done and where, text, tokens, "
            "log-probabilities",
            "JSON: the model’s own translation and {count} branches: what was done and where, text, tokens, "
            "log-probabilities",
            len(made),
        ),
        lambda: branches(made, written(), text=trace.text, checkpoint=checkpoint, digest=digest),
        f"{file_name('branches', sentence=trace.text)}.json",
    )
    width, penalty = searches.beam_settings(selection.decoding)
    show_offer(
        _("Beam search"),
        _(
            "JSON: every hypothesis that beam search with beam width {width} and length penalty {penalty:g} "
            "compared, with its score and its outcome",
            width=width,
            penalty=penalty,
        ),
        partial(_beam, selection, checkpoint, digest),
        f"{file_name(f'beam{width}', sentence=trace.text)}.json",
    )


def _beam(selection: Selection, checkpoint: str, digest: str) -> bytes:
    """When a button is pressed, there is no session to ask what is chosen: it is passed in."""
    text = selection.common.text
    tree = long_work.in_this_thread(searches.searching(models.writer(selection.model), text, selection.decoding))
    return beam(tree, text, checkpoint=checkpoint, digest=digest)


def branches(
    made: Sequence[Choice], traces: Sequence["Trace | HeadlightError"], *, text: str, checkpoint: str, digest: str
) -> bytes:
    """Every translation (or its error), the model's own first: how it came about, text, tokens, log-probabilities."""
    listed = [
        {"branch": number, **_origin(choice), **_written(trace)}
        for number, (choice, trace) in enumerate(zip((None, *made), traces, strict=True))
    ]
    return _json({"text": text, "checkpoint": checkpoint, "digest": digest, "branches": listed})


def beam(tree: "BeamTree", text: str, *, checkpoint: str, digest: str) -> bytes:
    """Every hypothesis that a beam search compared, and what became of it; the fields are those of `BeamNode`."""
    return _json(
        {
            "text": text,
            "checkpoint": checkpoint,
            "digest": digest,
            "width": tree.width,
            "alpha": tree.alpha,
            "limit": tree.limit,
            "hypotheses": list(tree.hypotheses),
            "nodes": [asdict(node) for node in tree.nodes],
        }
    )


def _origin(choice: Choice | None) -> Mapping[str, object]:
    if choice is None:
        return {"parent": None, "step": None, "action": None, "code": None}
    return {
        "parent": choice.parent,
        "step": choice.step,
        "action": {"kind": _kind(choice.action), **asdict(choice.action)},
        "code": write_code(choice),
    }


def _kind(action: Action) -> str:
    return "edit" if isinstance(action, EditHead) else "draw" if isinstance(action, Draw) else "write"


def _written(trace: "Trace | HeadlightError") -> Mapping[str, object]:
    if isinstance(trace, HeadlightError):
        return {"translation": None, "error": str(trace)}
    return {
        "translation": trace.translation,
        "log_prob": sum(step.log_prob for step in trace.steps),
        "steps": [
            {"step": step.index} | {name: getattr(step, name) for name in ("token_id", "token", "log_prob", "entropy")}
            for step in trace.steps
        ],
    }


def _json(value: Mapping[str, object]) -> bytes:
    return json.dumps(_finite(value), ensure_ascii=False, indent=1, allow_nan=False).encode("utf-8")


def _finite(value: object) -> object:
    """The same, None in place of numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def lens(values: "LogitLens", read: Sequence[str]) -> bytes:
    """A row for each level, step and rank of a token; level 0 is what the first layer reads."""
    titles = ("level", "step", "token_read", "token_written", "written_probability", "written_rank", "entropy_nats")
    return table((*titles, "rank", "token_id", "token", "probability"), _lens_rows(values, read))


def _lens_rows(values: "LogitLens", read: Sequence[str]) -> Iterator[Row]:
    chosen, entropy = digits(values.chosen_probabilities.numpy()), digits(values.entropy.numpy())
    for level, of_level in enumerate(values.tokens):
        probabilities = digits(values.probabilities[level].numpy())
        for step, tokens in enumerate(of_level):
            tokens_there = (cell(read[step]), cell(values.chosen_tokens[step]))
            rank = int(values.chosen_ranks[level, step])
            there = (level, step, *tokens_there, chosen[level][step], rank, entropy[level][step])
            ids = values.token_ids[level, step].tolist()
            for candidate, (token_id, token) in enumerate(zip(ids, tokens, strict=True), start=1):
                yield (*there, candidate, token_id, cell(token), probabilities[step][candidate - 1])


def beam_nodes(tree: "BeamTree") -> bytes:
    """A row for each hypothesis that the search compared; `returned_rank` is 1 for the one it returned first."""
    titles = (
        "node", "parent", "step", "rank", "row", "token_id", "token", "log_prob", "total", "score", "fate", "fate_step",
        "returned_rank",
    )  # fmt: skip
    ranks = {node: rank for rank, node in enumerate(tree.hypotheses, start=1)}
    rows = (
        (
            node.index, _or_empty(node.parent), node.step, node.rank + 1, "" if node.row is None else node.row,
            node.token_id, cell(node.token), repr(node.log_prob), repr(node.total), _or_empty(node.score), node.fate,
            node.fate_step,
            _or_empty(ranks.get(node.index)),
        )
        for node in tree.nodes
    )  # fmt: skip
    return table(titles, rows)


def samples(drawn: "Sequence[SampledTranslation]") -> bytes:
    """A row for each translation that was drawn."""
    titles = ("sample", "text", "num_tokens", "log_prob", "filtered_log_prob")
    rows = (
        (number, cell(sample.text), len(sample.token_ids), repr(sample.log_prob), repr(sample.filtered_log_prob))
        for number, sample in enumerate(drawn)
    )
    return table(titles, rows)


def sampled_tokens(drawn: "Sequence[SampledTranslation]", vocabulary: Sequence[str]) -> bytes:
    """A row for each token of each translation that was drawn."""
    titles = ("sample", "step", "token_id", "token", "log_prob", "filtered_log_prob")
    rows = (
        (number, step, token_id, cell(vocabulary[token_id]), repr(own), repr(filtered))
        for number, sample in enumerate(drawn)
        for step, (token_id, own, filtered) in enumerate(
            zip(sample.token_ids, sample.log_probs, sample.filtered_log_probs, strict=True)
        )
    )
    return table(titles, rows)


def _or_empty(value: float | None) -> str:
    return "" if value is None else repr(value)


#: Methods that every model has which can be explained at all.
_ALWAYS: Final = ("gradient", "integrated")


def _film(trace: "Trace") -> Snippet:
    """The tree, the samples, or the step of the film with its candidates and all weights."""
    choices = state.current().decoding
    if choices.search == "Beam search":
        tree = line("tree = reader.beam_tree({}, beam={}, alpha={})", trace.text, *searches.beam_settings(choices))
        return of_reader({}, tree, "scores = [tree.nodes[node].score for node in tree.hypotheses]  # best first")
    if choices.search == "Sampling":
        temperature, top_k, top_p = choices.token_filter
        template = "sampling = headlight.Sampling(temperature={}, top_k={}, top_p={})"
        sampling = line(template, temperature / 100, top_k or None, top_p / 100)
        how = trace.text, choices.num_samples, choices.sampling_seed
        drawn = line("samples = reader.sample({}, n={}, sampling=sampling, seed={})", *how)
        return of_reader({}, sampling, drawn, "log_probs = [sample.log_prob for sample in samples]")
    site = CROSS if CROSS in trace.sites else DECODER
    step = line("step = trace.steps[{}]", state.current().common.step)
    candidates = "candidates = [(each.token, each.log_prob) for each in step.candidates]"
    weights = line("weights = [trace.weights({0}, layer) for layer in range(trace.layers_of({0}))]", site)
    return of_written(trace, {}, step, candidates, weights)


def _inside(trace: "Trace") -> Snippet:
    """What each layer would write, or what each method gives the tokens that were read."""
    choices, abilities = state.current().decoding, models.abilities(state.current().model)
    if choices.inside == "Logit lens":
        lens = line("lens = reader.logit_lens(trace, top={})", searches.TOP)
        shown = "lens.tokens, lens.probabilities  # [level, step, rank]"
        return of_written(trace, {}, lens, shown) if abilities.has("logit lens") else ""
    if trace.edits or not (abilities.has("self-attention") and abilities.has("word choice")):
        return ""
    step, against = state.current().common.step, None if choices.rival == ALONE else choices.rival - 1
    reader = models.text_chooser(state.current().model)
    known = long_work.known(attribution.explaining_step(reader, trace, step, against, hidden_seconds(trace)))
    methods = _ALWAYS if known is None else tuple(known.scores)
    imports = {"analysis.attribution.choice": "choice_at", "analysis.attribution.methods": "attribute, choice_run"}
    run = line("run = choice_run(reader, choice_at(trace, {}, {}))", step, against)
    scores = line("scores = {{method: attribute(run, method).read for method in {}}}  # [token]", methods)
    return of_written(trace, imports, run, scores)


VIEWS: Final[Views] = {"Film": _film, "Inside": _inside}

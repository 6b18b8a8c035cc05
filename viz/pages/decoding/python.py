"""The Python that gives what the decoding page shows."""

from typing import TYPE_CHECKING, Final

from viz.access import attribution, models
from viz.pages.decoding.data import searches
from viz.selection import state
from viz.selection.decoding import ALONE
from viz.text.sites import CROSS, DECODER
from viz.ui import long_work
from viz.ui.snippets import Imports, Snippet, Views, line, of_model, of_reader, of_written

if TYPE_CHECKING:
    from model import Trace

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
    reader = models.chooser(state.current().model)
    known = long_work.known(attribution.explaining_step(reader, trace, step, against))
    methods = _ALWAYS if known is None else tuple(known.scores)
    imports = {"analysis.attribution.choice": "choice_at", "analysis.attribution.methods": "attribute, choice_run"}
    run = line("run = choice_run(reader, choice_at(trace, {}, {}), trace.text)", step, against)
    scores = line("scores = {{method: attribute(run, method).read for method in {}}}  # [token]", methods)
    return of_written(trace, imports, run, scores)


def _cost(trace: "Trace") -> Snippet:
    """The multiply-adds of every step, with the cache and without."""
    abilities = models.abilities(state.current().model)
    if not abilities.has("cost"):
        return ""
    numbers = len(trace.source_ids), len(trace.target_tokens) - len(trace.steps) + 1, len(trace.steps)
    costs = line("costs = [step_cost(sizes, {}, step, {}) for step in range({})]", *numbers)
    imports: Imports = {"decoding.cost": "decoder_sizes, step_cost"}
    if abilities.is_headlight:
        return of_model(imports, "sizes = decoder_sizes(reader.config)", costs)
    imports = {"adapters.decoder_sizes": "library_sizes", "decoding.cost": "step_cost"}
    return of_written(trace, imports, "sizes = library_sizes(reader, trace)", costs)


VIEWS: Final[Views] = {"Film": _film, "Inside": _inside, "Cost": _cost}

"""The Python that gives what the page Experiments shows."""

from typing import TYPE_CHECKING, Final

from viz.access import models
from viz.pages.experiments.data import ablations
from viz.pages.experiments.through_training import data as films
from viz.pages.experiments.through_training.tab import own_film, own_name
from viz.selection import state
from viz.ui import long_work, snippets
from viz.ui.snippets import Snippet, Views, alone, line, of_model

if TYPE_CHECKING:
    from model import Trace


def _ablations(trace: "Trace") -> Snippet:
    """The sentence through the models that are shown, and a head of each; or the translator without each part."""
    selection = state.current()
    if selection.experiments.live_switches:
        return _live_switches(trace)
    choices, device, text = selection.experiments, selection.model.device, selection.common.text
    names = tuple(name for name in ablations.presets() if name in choices.ablations)
    site = choices.ablation_site
    asked = [number - 1 if number else None for number in (choices.ablation_layer, choices.ablation_head)]
    heads = {}
    for name in names:
        run = None if ablations.lacks(name, device, site) else ablations.trace(name, device, text)
        if run is not None and (found := ablations.surest(run, site, *asked)) is not None:
            heads[name] = found
    if not names:
        return ""
    models_of = {name: snippets.source(ablations.choice_of(name, device)) for name in names}
    return alone(
        {},
        line("models = {}", models_of),
        line("traces = {{name: headlight.open(path).trace({}) for name, path in models.items()}}", text),
        line("heads = {}  # layer and head of each", heads),
        line("weights = {{name: traces[name].weights({}, at[0])[at[1]] for name, at in heads.items()}}", site),
    )


def _through_training(trace: object) -> Snippet:
    """The weights of one head at the frames of the film, and a metric of every head."""
    choices, path, film = (
        state.current().experiments,
        films.listed().get(state.current().experiments.film_of),
        own_film(),
    )
    if film is not None:
        opened, package = line("film = load_film(pathlib.Path({}))", own_name()), "headlight, pathlib"
    elif path is not None:
        film, package = films.at(path), "headlight"
        opened = line("film = load_film(headlight.CHECKPOINTS / {})", snippets.place(path, path.name))
    else:
        return ""
    site = choices.film_site
    layers, heads = film.shape(site)
    at = choices.film_sentence, site, min(choices.film_layer, layers - 1), min(choices.film_head, heads - 1)
    weights = line("weights = film.sentences[{}].weights[{}][:, {}, {}]  # [frame, query, key] at film.steps", *at)
    if choices.film_metric not in films.metrics(film, site):
        return alone({"training.film": "load_film"}, opened, weights, package=package)
    metric = line("metric = film_metrics(film, {})[{}]  # [frame, layer, head]", site, choices.film_metric)
    imports = {"analysis.metrics.head_metrics": "film_metrics", "training.film": "load_film"}
    return alone(imports, opened, weights, metric, package=package)


def _live_switches(trace: "Trace") -> Snippet:
    """The sentence translated without each part."""
    abilities = models.abilities(state.current().model)
    if not abilities.has("switches"):
        return ""
    choices = state.current().experiments
    layer, kept = (choices.off_layer - 1 if choices.off_layer else None), choices.kept_head
    translator = models.writer(state.current().model)
    known = long_work.known(ablations.sentence_task(translator, trace.text, ablations.parts_off(layer, kept)))
    parts = ablations.PARTS if known is None else tuple(one.off.part for one in known.without if not one.lacking)
    template = "off = [PartOff(part, None if part == 'positions' else {}, {}) for part in {}]"
    off = line(template, layer, kept, parts)
    written = line("written = {{each.part: translate_without(reader, [{}], each)[0] for each in off}}", trace.text)
    imports = {"analysis.interventions.parts_off": "translate_without", "parts.removal": "PartOff"}
    return of_model(imports, off, written)


VIEWS: Final[Views] = {"Ablations": _ablations, "Through training": _through_training}

"""Through training, of the page on claims: what every head attended to at some steps of a training, as a film."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import streamlit as st

from model.errors import HeadlightError
from viz.pages.experiments.through_training import component, data
from viz.pages.experiments.through_training.component import (
    FilmState,
    FilmView,
    cut,
    is_too_large,
    rows_note,
    training_film,
)
from viz.pages.experiments.through_training.data import ALIGNED, Arrival, Opening, nearest_frame, opening_of_site
from viz.selection import catalogue, state
from viz.text import html, messages
from viz.text.messages import Message, _, said, shown
from viz.text.metrics import JOBS, METRICS, OF_FILMS
from viz.text.written import CROSS, NAMES, file_name, head_label
from viz.text.written import label as site_label
from viz.ui import controls, downloads, frame, present, terms
from viz.ui.controls import plain, with_code
from viz.ui.trace_tables import table

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

#: Pieces of a run's settings that say what was trained.
_TOLD: Final[Mapping[str, Message]] = {
    "preset": said("preset {value}"),
    "num_layers": said("layers: {value}"),
    "num_heads": said("heads: {value}"),
    "d_model": said("d_model {value}"),
    "seed": said("seed {value}"),
}
SLOT: Final = "training-film/own"
_FIELD: Final = "training-film-file"
COMMAND: Final = "python -m model train --preset full --data DIR --film FILE.npz"
CALLBACK: Final = """watching = headlight.watch(model, tokenizer, every=500, file="film.npz")
Trainer(model, arguments, train_dataset=data, callbacks=[watching])
"""


@dataclass(frozen=True)
class Loaded:
    """The film that is open, with its file's name, and what was wrong with a file that was chosen after it."""

    name: str = ""
    film: data.OpenFilm | None = None
    error: str = ""


@frame.fragment
def show(trace: object) -> None:
    """Show the choices, the film, what each head became and when, and the upload of another film."""
    opened, row = own_film(), st.container(key="choices", horizontal=True)
    if opened is None and (films := data.listed()):
        with row:
            path = films[_training(films)]
        try:
            opened = data.at(path)
        except HeadlightError as error:
            st.error(with_code(error.message), icon=":material/error:")
    if opened is None:
        frame.note(
            "There is no training film in the experiments folder or next to a model. The command below makes one, and "
            "the field below opens it."
        )
    else:
        with st.spinner(_("Reading the film …")) if own_film() else nullcontext():
            data.arrived(opened, data.opens_on(opened).site)
        _film(opened, row)
    _show_own_film()


def _training(films: Mapping[str, Path]) -> str:
    """The model whose training is shown; one without a film becomes the first."""
    if state.current().experiments.film_of not in films:
        state.correct(film_of=next(iter(films)))
    labels = {name: html.visible(catalogue.label(name)) if name else _("Full model, from scratch") for name in films}
    return controls.dropdown("film_of", _("Training"), labels, width=210)


def _film(opened: data.OpenFilm, row: "DeltaGenerator") -> None:
    with row:
        site, sentence, metric = _widgets(opened)
    weights = opened.film.sentences[sentence].weights[site]
    if is_too_large(weights):
        frame.note(
            "This attention has {size:,} weights per frame, too many to send to a browser. Choose another "
            "sentence or attention.",
            size=weights.size // len(weights),
        )
        return
    found = data.opens_on(opened)
    here = opening_of_site(site, data.metrics(opened, site))
    state.propose(film_layer=here.layer, film_head=here.head)
    state.propose(film_step=opened.film.steps[found.frame])
    view, chosen = data.view(opened, sentence, site, metric), state.current().experiments
    state.correct(
        film_layer=min(chosen.film_layer, view.layers - 1),
        film_head=min(chosen.film_head, view.heads - 1),
        film_step=min(chosen.film_step, opened.film.steps[-1]),
    )
    shown = training_film(
        view,
        _asked(opened, view),
        key="training-film",
        name=file_name("training", site, sentence=opened.film.sentences[sentence].source),
        finding=_finding(opened, here),
        threshold=ALIGNED if metric in component.ALIGNS else data.job_threshold(site, metric),
    )
    if shown is not None:
        _keep(opened, view, shown)
    _explain(opened, view, site)
    if not metric or present.is_on():
        return
    _arrivals(opened, site)
    controls.table_button(
        _("Metrics of each head (CSV)"),
        partial(_csv, opened.film.steps, data.metrics(opened, site)),
        file_name("training", site, "metrics"),
    )


def _widgets(opened: data.OpenFilm) -> tuple[str, int, str]:
    """The attention, the sentence and the metric of the lines, "" for none; what is not there becomes what is."""
    found = data.opens_on(opened)
    state.propose(film_site=found.site)
    state.propose(film_sentence=found.sentence)
    if state.current().experiments.film_site not in opened.sites:
        state.correct(film_site=found.site)
    site = state.current().experiments.film_site
    offered = data.metrics(opened, site)
    here = opening_of_site(site, offered)
    if offered:
        state.propose(film_metric=here.metric)
        if state.current().experiments.film_metric not in offered:
            state.correct(film_metric=here.metric)
    sentences = {i: cut(html.visible(one.source), 60) for i, one in enumerate(opened.film.sentences)}
    if state.current().experiments.film_sentence not in sentences:
        state.correct(film_sentence=found.sentence)
    labels = {path: site_label(path).removesuffix("-attention") for path in opened.sites}
    chosen = controls.dropdown("film_site", _("Attention"), labels, width=168)
    sentence = controls.dropdown("film_sentence", _("Sentence"), sentences, width=270)
    lines = {name: METRICS[name].name for name in OF_FILMS if name in offered}
    return chosen, sentence, controls.dropdown("film_metric", _("Metric"), lines, width=230) if lines else ""


def _asked(opened: data.OpenFilm, view: FilmView) -> FilmState:
    """Where the selection wants the film: at the frame nearest to the step."""
    choices = state.current().experiments
    steps = [opened.film.steps[frame] for frame in view.frames]
    return FilmState(nearest_frame(steps, choices.film_step), choices.film_layer, choices.film_head)


def _keep(opened: data.OpenFilm, view: FilmView, shown: FilmState) -> None:
    """Make what a person did in the film the selection; what stays as it was proposed is not chosen."""
    step = opened.film.steps[view.frames[shown.step]]
    values = {"film_step": step, "film_layer": shown.layer, "film_head": shown.head}
    if shown.step == _asked(opened, view).step:
        del values["film_step"]  # a link may name a step between two frames
    selection = state.current()
    state.put(selection.changed(**{name: of for name, of in values.items() if of != selection.value(name)}))


def _finding(opened: data.OpenFilm, found: Opening) -> str:
    """Which head of the attention becomes what, and when."""
    if not found.metric:
        message = "{site}: every row sees only one key, so every weight is 1 and its heads cannot be distinguished."
        return _(message, site=site_label(found.site))
    head = _("{site} {head}", site=NAMES[found.site].phrase, head=head_label(found.layer, found.head))
    head = head[0].upper() + head[1:]
    steps = opened.film.steps
    numbers = {"head": head, "after": found.after, "before": found.before}
    for arrival in data.arrived(opened, found.site):
        if (arrival.layer, arrival.head, arrival.metric) == (found.layer, found.head, found.metric):
            numbers |= {"when": _when(arrival, steps), "step": steps[0]}
            if arrival.metric in component.ALIGNS:
                message = (
                    "{head} comes to attend to the {word} ({when}): {after:.2f} of its weight at the end, {before:.2f} "
                    "at step {step:,}."
                )
                return _(message, **numbers, word=shown(METRICS[arrival.metric].name).lower())
            message = (
                "{head} becomes “{job}” ({when}): {after:.2f} of its weight at the end, {before:.2f} at step {step:,}."
            )
            return _(message, **numbers, job=shown(JOBS[arrival.metric].name))
    message = "{head} changes most: {name} goes from {before:.2f} to {after:.2f}, fastest before step {step:,}."
    return _(message, **numbers, name=shown(METRICS[found.metric].name).lower(), step=steps[found.frame])


def _when(arrival: Arrival, steps: tuple[int, ...]) -> str:
    if not arrival.since:
        return _("step {step:,} or before", step=steps[0])
    before, after = steps[arrival.since - 1 : arrival.since + 1]
    if after - before == 1:
        return _("step {step:,}", step=after)
    return _("steps {before:,} to {after:,}", before=before, after=after)


def _arrivals(opened: data.OpenFilm, site: str) -> None:
    found = data.arrived(opened, site)
    if not found:
        frame.caption("At the end, no head of this attention has a job by the rule that the other pages use.")
        return
    steps = opened.film.steps
    columns = [html.Column(_("Head")), html.Column(_("Job")), html.Column(_("At the end"), is_number=True)]
    columns.append(html.Column(_("Permanent from")))
    rows = [
        [
            head_label(one.layer, one.head),
            component.ALIGNS.get(one.metric) or JOBS[one.metric].name,
            f"{one.value:.2f}",
            _when(one, steps),
        ]
        for one in found
    ]
    st.html(html.table(columns, rows, label=_("When heads take on their jobs")))
    jobs = _(
        "Jobs and thresholds are those of the other pages; a film has few sentences, so a head "
        "near its threshold may gain and lose its job from frame to frame."
    )
    message = (
        "A head counts as aligning if at least {least} of its weight is on linked words; this is not an error rate."
    )
    terms.caption(messages.in_a_row((jobs, _(message, least=ALIGNED) if site == CROSS else "")))


def _explain(opened: data.OpenFilm, view: FilmView, site: str) -> None:
    film, run = opened.film, opened.film.run
    told = [_(template, value=cut(str(run[setting]), 40)) for setting, template in _TOLD.items() if setting in run]
    total, sent = len(film.steps), len(view.frames)
    message = "{sent} of {total} frames are shown, evenly spaced: all of them would be too many for a browser."
    left_out = _(message, total=total, sent=sent) if sent < total else ""
    numbers = {
        "told": messages.with_commas(told) if told else _("unknown"),
        "total": total,
        "steps": film.steps[-1],
        "num_sentences": len(film.sentences),
    }
    if any(film.sentences[0].translations):
        message = (
            "A film of a training run. Settings: {told}. Frames: {total}, up to step {steps:,}, most closely spaced at "
            "the beginning. Sentences: {num_sentences}; at each frame the model reads them with a given translation "
            "and writes its own."
        )
        loss = _(
            "The loss is the mean since the previous frame, in nats per token; BLEU is that of the first 100 pairs of "
            "each dev set."
        )
    else:
        message = (
            "A film of a training run. Settings: {told}. Frames: {total}, up to step {steps:,}. Sentences: "
            "{num_sentences}; the model reads them at each frame."
        )
        loss = _("The loss is that of the training run, averaged since the previous frame.")
    stored = _("Weights are stored in steps of 1/255, so numbers are exact to 0.002.")
    terms.caption(plain(messages.in_a_row((_(message, **numbers), stored, left_out, loss, rows_note(site)))))


def own_film() -> data.OpenFilm | None:
    """The film that this session has opened, if it has."""
    loaded: Loaded | None = st.session_state.get(SLOT)
    return None if loaded is None else loaded.film


def own_name() -> str:
    """The name of the file that this session has opened; "" if none."""
    loaded: Loaded | None = st.session_state.get(SLOT)
    return "" if loaded is None or loaded.film is None else loaded.name


def _show_own_film() -> None:
    """The field for a file, what is wrong with the one that was chosen, and how a film is made."""
    loaded: Loaded | None = st.session_state.get(SLOT)
    if loaded is not None and loaded.error:
        st.error(with_code(_("{error} The previous view is still shown.", error=loaded.error)), icon=":material/error:")
    with st.expander(_("Your own film"), key="training-film-own", icon=":material/movie:"):
        label = _("A film of a training run, .npz, at most {largest} MB", largest=downloads.most())
        downloads.field(label, key=_FIELD, on_change=_take)
        if loaded is not None and loaded.film is not None:
            terms.caption(plain(_("Showing {name}.", name=loaded.name)))
            st.button(_("Close {name}", name=plain(loaded.name)), icon=":material/close:", on_click=_forget)
        frame.caption(
            "Any training run records a film with `--film`: 30 frames of six sentences, for any model. The film "
            "continues when a stopped run is resumed."
        )
        st.code(COMMAND, language="sh", wrap_lines=True)
        frame.caption(
            "For a model of the transformers library, a callback records, during training, the attention of its heads "
            "in sentences that you choose. Where you write the training loop yourself, call its `step` with the loss."
        )
        st.code(CALLBACK, language="python", wrap_lines=True)


def _take() -> None:
    file, loaded = st.session_state[_FIELD], st.session_state.get(SLOT, Loaded())
    if file is None and loaded.error:
        # What could not be opened is taken out: what is open stays.
        st.session_state[SLOT] = replace(loaded, error="")
    elif file is None:
        _forget()
    else:
        try:
            st.session_state[SLOT] = Loaded(file.name, data.read(downloads.content(file), file.name))
            _open_anew()
        except HeadlightError as error:
            st.session_state[SLOT] = replace(loaded, error=error.message)


def _forget() -> None:
    st.session_state.pop(SLOT, None)
    _open_anew()


def _open_anew() -> None:
    """What was chosen in another film says nothing of this one: it opens on what is most worth seeing."""
    flags = ("film_site", "film_sentence", "film_head", "film_step", "film_metric")
    state.change(**{f"{name}_chosen": False for name in flags})


def _csv(steps: Sequence[int], metrics: data.Metrics) -> bytes:
    """A row for each frame and head: the step of the training, the head, and each of its metrics."""
    layers, heads = next(iter(metrics.values())).shape[1:]
    rows = (
        (step, layer, head, *(repr(float(values[frame, layer, head])) for values in metrics.values()))
        for frame, step in enumerate(steps)
        for layer in range(layers)
        for head in range(heads)
    )
    return table(("training_step", "layer", "head", *metrics), rows)

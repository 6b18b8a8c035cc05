"""Ablations: a sentence through models that lack a part, and what each part is worth."""

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models
from viz.access.texts import word_diff
from viz.pages.experiments import figures, live_switches, wording
from viz.pages.experiments.data import ablations
from viz.pages.experiments.data.ablations import Comparison, Measured, OpenHead, Row
from viz.pages.experiments.wording import shortened
from viz.pictures.matrix_picture.component import ColourScale, Kept, MatrixData, matrix_picture
from viz.selection import state
from viz.selection.choices import ModelChoice
from viz.selection.selection import Section
from viz.text import html, messages, written
from viz.text.messages import _, plural, said, shown
from viz.text.written import file_name, head_name, signed
from viz.ui import controls, frame, long_work, present, terms
from viz.ui.controls import plain
from viz.ui.token_labels import marked
from viz.ui.trace_tables import table

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.ablations.results import AblationResults


#: Seconds until the page shows how far the translations are.
PATIENCE: Final = 1.5
SUREST: Final = said("Sharpest")
#: So tall that the maps of two columns begin side by side.
_WORDS: Final = "min-height:8.2rem;line-height:1.4"
COMMAND: Final = "python -m model ablations --data DIR --out checkpoints/experiments"
#: Million parameters of the paper's base model, and its BLEU (Table 3).
PAPER_PARAMETERS: Final = 65
PAPER_FULL: Final = said("relative to 25.8")
_LEGEND: Final = ((figures.SEED, said("measured here, one point per seed")), (figures.PAPER, said("Table 3")))


@frame.fragment
def show(trace: "Trace") -> None:
    """The sentence through some of the models at once, parts taken out of the chosen one, then the table of all."""
    experiments, is_presented = state.current().experiments, present.is_on()
    others = range(max(1, len(experiments.ablations) - 1)) if is_presented else (None,)
    parts: list[Callable[[], None]] = [partial(_show_side_by_side, trace, other) for other in others]
    if experiments.live_switches or not is_presented:
        parts.append(partial(_show_switches, trace))
    present.screens(*parts, _show_worth)


def _show_switches(trace: "Trace") -> None:
    """Parts taken out of the chosen model, where a person has unfolded it."""
    label = _("Remove a part from {name}", name=plain(models.name_of(state.current().model)))
    key = state.bind("live_switches", always=False)
    with st.expander(
        label, icon=":material/toggle_off:", key=key, on_change=state.take, args=("live_switches",)
    ) as part:
        if part.open:
            with frame.errors_shown():
                live_switches.show(trace)


@frame.errors_shown()
def _show_side_by_side(trace: "Trace", other: int | None) -> None:
    """The choice of models and of the attention, a column for each model, and how to read them.

    `other`: only this one, counted from 0, of those beside the first.
    """
    names = ablations.presets()
    if not names:
        frame.note(
            "There are no small models in checkpoints/experiments. `python -m model ablations --data DIR --out "
            "checkpoints/experiments` copies the trained ones there."
        )
        return
    above = st.container(key="choices", horizontal=True, vertical_alignment="bottom")
    selection = state.current()
    chosen, text = _chosen(names), selection.common.text
    task = ablations.comparison_task(names, chosen, selection.model.device, text)
    found = long_work.outcome(task, _("Translate"), key="ablations", start=True, patience=PATIENCE)
    if found is None:
        return
    if found.refused:
        message = "{refused} This applies to every small model. The table below can be read without a sentence."
        frame.note(plain(_(message, refused=found.refused)))
        return
    if trace.text != text:
        frame.caption("The sentence: {text}", text=plain(text))
    presets = tuple(one.output.preset for one in found.shown)
    state.propose(ablations=presets)
    with above:
        site, layer, head = _widgets(names, presets)
    columns = found.shown if other is None else (found.shown[0], *found.shown[1 + other :][:1])
    with st.grid(3 if len(columns) == 3 else 2, min_column_width=310 if len(columns) == 3 else 330, gap="medium"):
        for one in columns:
            with st.container(key=f"ablation-{one.output.preset}", gap="xsmall"):
                _column(one, found, site, layer, head)
    terms.caption(_how_to_read(found, is_proposed=not chosen))


def _chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The models that a person chose, of those that there are; none where the page proposes them."""
    choices = state.current().experiments
    if not choices.ablations_chosen:
        return ()
    known = tuple(name for name in names if name in choices.ablations)[: ablations.MOST]
    if not known or known != choices.ablations:
        # Without any the page proposes again.
        state.correct(ablations=known, ablations_chosen=bool(known))
    return known


def _widgets(names: Sequence[str], shown: Sequence[str]) -> tuple[str, int | None, int | None]:
    """Which models, which attention; the site, and the layer and head from 0 where a person wants a certain one."""
    st.multiselect(
        _("Models, up to {most}", most=ablations.MOST),
        names,
        format_func=wording.label,
        max_selections=ablations.MOST,
        width="stretch",
        **state.bound("ablations", tuple(shown)),
    )
    # In one piece, so that on a narrow page they stand below the models and leave them their room.
    with st.container(horizontal=True, width=415):
        labels = {site: written.label(site).removesuffix("-attention") for site in written.SITES}
        site = controls.dropdown("ablation_site", _("Attention"), labels, width=168)
        shapes = [models.abilities(_choice(name)).shapes.get(site, (1, 1)) for name in shown]
        layers, heads = map(max, zip(*shapes, strict=True))
        layer, head = _number("ablation_layer", _("Layer"), layers), _number("ablation_head", _("Head"), heads)
    return site, layer, head


def _number(field: str, name: str, most: int) -> int | None:
    """A layer or head, counted from 0; None for each model's surest."""
    if state.value(field, int) > most:
        state.correct(**{field: 0})
    labels = {0: SUREST, **{number: str(number) for number in range(1, most + 1)}}
    number = controls.dropdown(field, name, labels, width=105)
    return number - 1 if number else None


def _choice(preset: str) -> ModelChoice:
    return ablations.choice_of(preset, state.current().model.device)


def _column(one: Measured, found: Comparison, site: str, layer: int | None, head: int | None) -> None:
    """One model: its translation, what is wrong with it, its attention, and the ways to its other pages."""
    preset, reference = one.output.preset, found.outputs[0]
    st.html(_words(one, reference.preset, reference.translation))
    selection = state.current()
    device = selection.model.device
    opened = None
    if lacking := ablations.lacks(preset, device, site):
        frame.note(plain(lacking))
    else:
        trace = ablations.trace(preset, device, selection.common.text)
        opened = ablations.open_head(trace, site, layer, head)
        if opened is None:
            layers, heads = trace.shapes[site]
            frame.note(
                "There is no such head here: this model has {layers} of {heads} in this attention.",
                layers=plural("{count} layer", "{count} layers", layers),
                heads=plural("{count} head", "{count} heads", heads),
            )
        else:
            _map(opened, preset, site)
            frame.caption(
                "{hard_rows} of {num_rows} rows give one key a weight of {hard} or more.",
                hard_rows=opened.hard_rows,
                num_rows=len(opened.rows),
                hard=ablations.HARD,
            )
    if models.abilities(_choice(preset)).sites and not present.is_on():
        _ways(preset, site, opened)


def _words(one: Measured, reference: str, reference_translation: str) -> str:
    """What a model is, what it wrote, and what is wrong with it, as HTML."""
    preset, translation = one.output.preset, shortened(one.output.translation)
    language = html.literal(models.languages(_choice(preset))[1])
    translation = (
        html.literal(translation)
        if preset == reference
        else marked(word_diff(reference_translation, translation)).html()
    )
    return (
        f'<div style="{_WORDS}"><p style="margin:0"><strong>{html.literal(wording.label(preset))}</strong> '
        f'<span style="font-size:0.85rem;opacity:0.75">{html.literal(ablations.what(preset))}</span></p>'
        f'<p lang="{language}" dir="auto" style="margin:0.15rem 0;font-size:1.1rem;overflow-wrap:anywhere">'
        f"{translation or html.literal(_('(nothing)'))}</p>"
        f'<p style="margin:0;font-size:0.9rem">{html.literal(wording.findings(one, reference))}</p></div>'
    )


def _map(opened: OpenHead, preset: str, site: str) -> None:
    name, phrase = written.head_label(opened.layer, opened.head), written.NAMES[site].phrase
    message = "{model}: weights of {head} of the {site} as a heatmap."
    matrix_picture(
        MatrixData(
            values=opened.weights,
            row_tokens=opened.rows,
            column_tokens=opened.keys,
            scale=ColourScale.root(_("weight"), 1.0),
            title=_("{head}, {site}", head=name, site=phrase),
            label=_(message, model=wording.label(preset), head=name, site=phrase),
            caption=f"{wording.label(preset)}: {shown(ablations.what(preset))}",
            row_name=_("query"),
            column_name=_("key"),
            rows_write=site != written.ENCODER,
            file_name=file_name(
                preset, head_name(site, opened.layer, opened.head), sentence=state.current().common.text
            ),
        ),
        Kept(),
        on_keep=lambda kept: None,
        key=f"ablation-map-{preset}",
    )


def _ways(preset: str, site: str, opened: OpenHead | None) -> None:
    """Buttons that choose this model and open another page with it, at the head that is shown here."""
    with st.container(horizontal=True):
        pages: tuple[tuple[str, str, Section], ...] = (
            (_("Attention page"), ":material/grid_view:", "attention"),
            (_("Film"), ":material/movie:", "decoding"),
        )
        for label, icon, page in pages:
            st.button(
                label, key=f"ablation-{page}-{preset}", icon=icon, type="tertiary",
                on_click=_open, args=(page, preset, site, opened),
            )  # fmt: skip


def _open(page: Section, preset: str, site: str, opened: OpenHead | None) -> None:
    state.choose(checkpoint=_choice(preset).checkpoint)
    state.change(decoding_tab="Film")
    if opened is not None:
        state.change(site=site, layer=opened.layer, head=opened.head)
    present.open_page(page)


def _how_to_read(found: Comparison, *, is_proposed: bool) -> str:
    reference = wording.reference_name(found.outputs[0].preset)
    how = _(
        "Differences from {reference} are **marked**. Each map shows the weights of one head, with queries as rows "
        "and keys as columns; all maps have the same colour scale. **Sharpest** is the head in whose rows the largest "
        "weight is highest on average, excluding the end of the sentence. The models are small and were trained for "
        "minutes: none translates well; only the differences matter.",
        reference=reference,
    )
    farthest = ablations.farthest(found.outputs)
    if not is_proposed or farthest is None:
        return how
    opens_on = _(
        "At first the tab shows {reference} and the model whose translation has the lowest chrF against that of "
        "{reference}: **{farthest}**, with {least:.1f} of 100. (If several are equal, it is the first in the "
        "table below.)",
        reference=reference,
        farthest=wording.label(farthest),
        least=min(output.likeness for output in found.outputs),
    )
    return messages.in_a_row((how, opens_on))


def _show_worth() -> None:
    """The table, its points, the file, and the command that makes it."""
    st.subheader(_("What each part contributes"), anchor=False)
    results = models.ablation_results()
    if results is None:
        frame.note(
            "There are no results in checkpoints/experiments/ablations.json. The command below measures all "
            "trained models and writes the results there."
        )
    else:
        _table(results)
    label = _("The command that measures all trained models and prints the table")
    with st.expander(label, expanded=results is None, key="ablations-command"):
        st.code(COMMAND, language="sh")
        frame.caption(
            "DIR is a folder with train/ and dev/, as described in checkpoints/experiments/README.md, which also "
            "describes how each model is trained: `python -m model train --preset NAME --seed S --data DIR`."
        )


def _table(results: "AblationResults") -> None:
    rows = ablations.rows(results)
    sets = tuple(dict.fromkeys(name for row in rows for name in row.sets))
    columns = [html.Column(_("Model"))]
    for name in sets:
        titles = (f"BLEU {name}", _("from full"), "chrF")
        columns += [html.Column(title, is_number=True) for title in titles]
    columns += [html.Column(title, is_number=True) for title in (_("tokens/s"), _("Table 3"))]
    with st.container(key="ablations-table"):
        terms.markdown(f"**{_conclusion(results, rows, sets)}**")
        st.html(html.table(columns, [_row(row, sets) for row in rows], label=_("What each part contributes")))
    if present.is_on():
        return
    terms.caption(_worth_in_words(results, rows, sets))
    with st.container(horizontal=True, vertical_alignment="center"):
        controls.table_button(_("Every run (CSV)"), partial(_csv, results), file_name("ablations", "runs"))
        present.why_divided("ablations")
    label = _("Every seed as a point: BLEU minus that of the full model, with the paper's Table 3")
    frame.unfolding(label, "ablations-seeds", _points, rows, sets)


def _points(rows: Sequence[Row], sets: Sequence[str]) -> None:
    """What each seed of each model is worth, set by set."""
    with st.grid(2, min_column_width=330, gap="medium"):
        for name in sets:
            alt = _("BLEU on {set} minus that of the full model, by seed, for every model", set=name)
            frame.chart(figures.seed_points(rows, name), f"ablation-points-{name}", file_name("ablations", name), alt)
    st.html(html.swatches(_LEGEND))


def _conclusion(results: "AblationResults", rows: Sequence[Row], sets: Sequence[str]) -> str:
    """What may be concluded from the table, and why the GRU leads where it does."""
    concluded = _(
        "These models have at most {millions:.2f} M parameters and were trained for {steps:,} steps: the table "
        "shows what a part contributes in such models, not in one of the paper's size.",
        millions=_millions(results),
        steps=ablations.training_steps(),
    )
    leads = all(max(rows, key=lambda row: _bleu(row, name)).preset == "gru" for name in sets)
    why = _(
        "The GRU leads, probably because it reads the tokens in order, while a Transformer has to learn what order "
        "means: this matters in a short training run on short sentences."
    )
    return messages.in_a_row((concluded, why if leads else ""))


def _millions(results: "AblationResults") -> float:
    return max(run.parameters for run in results.runs) / 1e6


def _bleu(row: Row, dev_set: str) -> float:
    return row.sets[dev_set].bleu[0] if dev_set in row.sets else 0.0


def _row(row: Row, sets: Sequence[str]) -> list[str]:
    cells = [wording.label(row.preset).replace(" ", "\u00a0")]
    for name in sets:
        of_set = row.sets.get(name)
        if of_set is None:
            cells += ["–"] * 3
            continue
        difference = "" if of_set.difference is None else wording.spread(*of_set.difference, is_difference=True)
        cells += [wording.spread(*of_set.bleu), difference, wording.spread(*of_set.chrf)]
    speed = "–" if row.tokens_per_second is None else f"{row.tokens_per_second:,.0f}"
    if row.preset == wording.FULL:
        return [*cells, speed, PAPER_FULL]
    return [*cells, speed, "–" if row.paper is None else signed(row.paper, 1)]


def _worth_in_words(results: "AblationResults", rows: Sequence[Row], sets: Sequence[str]) -> str:
    seeds = {row.runs for row in rows}
    runs = f"{min(seeds)}" if len(seeds) == 1 else _("{low} to {high}", low=min(seeds), high=max(seeds))
    sentences = (
        plural(
            "Greedy translations by models of at most {millions:.2f} M parameters: mean ± standard deviation over "
            "{runs} seed; **from full** is the mean difference in BLEU from the full model of the same seed; "
            "**tokens/s** is the number of training tokens per second of processor time of one thread.",
            "Greedy translations by models of at most {millions:.2f} M parameters: mean ± standard deviation over "
            "{runs} seeds; **from full** is the mean difference in BLEU from the full model of the same seed; "
            "**tokens/s** is the number of training tokens per second of processor time of one thread.",
            max(seeds),
            millions=_millions(results),
            runs=runs,
        ),
        *_of_one_part(rows, sets),
        _noise(rows, sets),
        _(
            "**Table 3** is the paper's result on newstest2013 minus 25.8, the result of its base model, which "
            "was trained far longer and has {times:.0f} times as many parameters. The table has no row without "
            "positional encodings or without residual connections.",
            times=PAPER_PARAMETERS / _millions(results),
        ),
    )
    return messages.in_a_row(sentences)


def _noise(rows: Sequence[Row], sets: Sequence[str]) -> str:
    """For which models seeds differ more than the models do."""
    if all(row.runs < 2 for row in rows):
        return _("With a single seed, the size of random differences is unknown.")
    parts = []
    for name in sets:
        found = wording.within_spread(rows, name)
        listed = messages.with_commas(map(wording.label, found)) if found else _("no model")
        parts.append(_("{set}: {models}", set=name, models=listed))
    message = "The standard deviation over seeds is **larger than the difference** here: {where}."
    return _(message, where=_("; ").join(parts))


def _of_one_part(rows: Sequence[Row], sets: Sequence[str]) -> list[str]:
    """Compare the models that differ in one part from another than the full one."""
    told = []
    if differences := _differences(rows, sets, "unscaled", "single-head"):
        message = (
            "**unscaled** also has one head, so its difference from **single head** is the effect of √dₖ: "
            "{differences}."
        )
        told.append(_(message, differences=differences))
    if differences := _differences(rows, sets, "gru-without-attention", "gru"):
        message = (
            "**gru without attention** is compared with **gru**: {differences}. Its state is 8 numbers wider, "
            "so that both models have about as many parameters, and it was trained in float32."
        )
        told.append(_(message, differences=differences))
    return told


def _differences(rows: Sequence[Row], sets: Sequence[str], name: str, other_name: str) -> str:
    """The difference in BLEU of two models on each set; "" where one was not measured."""
    found = {row.preset: row for row in rows}
    if not {name, other_name} <= found.keys():
        return ""
    one, other = found[name].sets, found[other_name].sets
    parts = [
        _("{difference} on {set}", difference=signed(one[name].bleu[0] - other[name].bleu[0], 1), set=name)
        for name in sets
        if name in one.keys() & other.keys()
    ]
    return messages.with_commas(parts)


def _csv(results: "AblationResults") -> bytes:
    """A row for each model, seed and set."""
    titles = ("model", "seed", "parameters", "last_loss_nats", "set", "sentences", "bleu", "chrf", "tokens_per_second")
    of_set = attrgetter("set", "sentences", "bleu", "chrf")
    speeds = results.tokens_per_second
    rows = (
        (run.preset, run.seed, run.parameters, run.loss, *of_set(score), speeds.get(run.preset, ""))
        for run in results.runs
        for score in run.scores
    )
    return table(titles, rows)

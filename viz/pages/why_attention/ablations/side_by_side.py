"""One sentence through some of the small models at once: translations, one attention of each, what is wrong."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models
from viz.access.texts import word_diff
from viz.pages.why_attention.ablations import texts
from viz.pages.why_attention.ablations.data import compared
from viz.pages.why_attention.ablations.data.compared import Comparison, Measured, OpenHead
from viz.pages.why_attention.shortened import shortened
from viz.pictures.matrix_picture.component import ColourScale, Kept, MatrixData, matrix_picture
from viz.selection import state
from viz.selection.model_choice import ModelChoice
from viz.selection.pages import Section
from viz.text import html, messages, sites
from viz.text.messages import _, plural, said, shown
from viz.text.sites import file_name, head_name
from viz.ui import controls, frame, long_work, tools
from viz.ui.controls import plain
from viz.ui.word_differences import marked

if TYPE_CHECKING:
    from model import Trace


#: Seconds until the page shows how far the translations are.
PATIENCE: Final = 1.5
SUREST: Final = said("Surest")
#: So tall that the maps of two columns begin side by side.
_WORDS: Final = "min-height:8.2rem;line-height:1.4"


def show(trace: "Trace") -> None:
    """The choice of models and of the attention, a column for each model, and how to read them."""
    names = compared.presets()
    if not names:
        frame.note(
            _(
                "There are no small models in checkpoints/experiments. `python -m model ablations --data DIR --out "
                "checkpoints/experiments` lays those there that were trained."
            )
        )
        return
    above = st.container(horizontal=True, vertical_alignment="bottom")
    selection = state.current()
    chosen, text = _chosen(names), selection.common.text
    task = compared.comparison_task(names, chosen, selection.model.device, text)
    found = long_work.outcome(task, _("Translate"), key="ablations", start=True, patience=PATIENCE)
    if found is None:
        return
    if found.refused:
        frame.note(
            plain(
                _(
                    "{refused} That holds for every small model; the table below needs no sentence.",
                    refused=found.refused,
                )
            )
        )
        return
    if trace.text != text:
        st.caption(_("The sentence is: {text}", text=plain(text)))
    presets = tuple(one.output.preset for one in found.shown)
    state.propose(ablations=presets)
    with above:
        site, layer, head = _widgets(names, presets)
    with st.grid(3 if len(presets) == 3 else 2, min_column_width=310 if len(presets) == 3 else 330, gap="medium"):
        for one in found.shown:
            with st.container(key=f"ablation-{one.output.preset}", gap="xsmall"):
                _column(one, found, site, layer, head)
    st.caption(_how_to_read(found, is_proposed=not chosen))


def _chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The models that a person chose, of those that there are; none where the page proposes them."""
    choices = state.current().why_attention
    if not choices.ablations_chosen:
        return ()
    known = tuple(name for name in names if name in choices.ablations)[: compared.MOST]
    if unknown := [name for name in choices.ablations if name not in names]:
        frame.note(
            plain(
                _(
                    "There is no small model “{unknown}” here: those that there are can be chosen below.",
                    unknown=unknown[0],
                )
            )
        )
    if not known or known != choices.ablations:
        # Without any the page proposes again.
        state.put(state.current().changed(ablations=known, ablations_chosen=bool(known)))
    return known


def _widgets(names: Sequence[str], shown: Sequence[str]) -> tuple[str, int | None, int | None]:
    """Which models, which attention; the site, and the layer and head from 0 where a person wants a certain one."""
    st.multiselect(
        _("Models, up to {most}", most=compared.MOST),
        names,
        key=state.bind("ablations", tuple(shown)),
        format_func=texts.label,
        max_selections=compared.MOST,
        on_change=state.take,
        args=("ablations",),
        width="stretch",
    )
    # In one piece, so that on a narrow page they stand below the models and leave them their room.
    with st.container(horizontal=True, width=400):
        labels = {site: sites.label(site).removesuffix("-attention") for site in sites.SITES}
        site = controls.dropdown("ablation_site", _("Attention"), labels, width=155)
        shapes = [models.abilities(_choice(name)).shapes.get(site, (1, 1)) for name in shown]
        layers, heads = map(max, zip(*shapes, strict=True))
        layer, head = _number("ablation_layer", _("Layer"), layers), _number("ablation_head", _("Head"), heads)
    return site, layer, head


def _number(field: str, name: str, most: int) -> int | None:
    """A layer or head, counted from 0; None for each model's surest."""
    if state.value(field, int) > most:
        state.change(**{field: 0})
    labels = {0: SUREST, **{number: str(number) for number in range(1, most + 1)}}
    number = controls.dropdown(field, name, labels, width=105)
    return number - 1 if number else None


def _choice(preset: str) -> ModelChoice:
    return compared.choice_of(preset, state.current().model.device)


def _column(one: Measured, found: Comparison, site: str, layer: int | None, head: int | None) -> None:
    """One model: its translation, what is wrong with it, its attention, and the ways to its other pages."""
    preset, reference = one.output.preset, found.outputs[0]
    st.html(_words(one, reference.preset, reference.translation))
    selection = state.current()
    device = selection.model.device
    opened = None
    if lacking := compared.lacks(preset, device, site):
        frame.note(plain(lacking))
    else:
        trace = compared.trace(preset, device, selection.common.text)
        opened = compared.open_head(trace, site, layer, head)
        if opened is None:
            layers, heads = trace.shapes[site]
            frame.note(
                _(
                    "There is no such head here: this model has {layers} of {heads} of this attention.",
                    layers=plural("{count} layer", "{count} layers", layers),
                    heads=plural("{count} head", "{count} heads", heads),
                )
            )
        else:
            _map(opened, preset, site)
            st.caption(
                _(
                    "{hard_rows} of {num_rows} rows give one key {hard} or more.",
                    hard_rows=opened.hard_rows,
                    num_rows=len(opened.rows),
                    hard=compared.HARD,
                )
            )
    _ways(preset, site, opened)


def _words(one: Measured, reference: str, reference_translation: str) -> str:
    """What a model is, what it wrote, and what is wrong with it, as HTML."""
    preset, written = one.output.preset, shortened(one.output.translation)
    language = html.literal(models.languages(_choice(preset))[1])
    translation = (
        html.literal(written) if preset == reference else marked(word_diff(reference_translation, written)).html()
    )
    return (
        f'<div style="{_WORDS}"><p style="margin:0"><strong>{html.literal(texts.label(preset))}</strong> '
        f'<span style="font-size:0.85rem;opacity:0.75">{html.literal(compared.what(preset))}</span></p>'
        f'<p lang="{language}" dir="auto" style="margin:0.15rem 0;font-size:1.1rem;overflow-wrap:anywhere">'
        f"{translation or html.literal(_('(nothing)'))}</p>"
        f'<p style="margin:0;font-size:0.9rem">{html.literal(texts.findings(one, reference))}</p></div>'
    )


def _map(opened: OpenHead, preset: str, site: str) -> None:
    name, phrase = sites.head_label(opened.layer, opened.head), sites.NAMES[site].phrase
    matrix_picture(
        MatrixData(
            values=opened.weights,
            row_tokens=opened.rows,
            column_tokens=opened.keys,
            scale=ColourScale.root(_("weight"), 1.0),
            title=_("{head}, {site}", head=name, site=phrase),
            label=_(
                "{model}: weights of {head} of the {site} as a heatmap.",
                model=texts.label(preset),
                head=name,
                site=phrase,
            ),
            caption=f"{texts.label(preset)}: {shown(compared.what(preset))}",
            row_name=_("query"),
            column_name=_("key"),
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
    tools.open_page(page)


def _how_to_read(found: Comparison, *, is_proposed: bool) -> str:
    reference = texts.reference_name(found.outputs[0].preset)
    how = _(
        "**Marked** is what {reference} does not write there. Each map has the weights of one head, rows are queries "
        "and columns keys, on the same colours; **surest** is the head whose rows give one key most of their weight on "
        "average, the end of the sentence left out. The models are small and were trained for minutes: none "
        "translates well, what counts is the difference.",
        reference=reference,
    )
    farthest = compared.farthest(found.outputs)
    if not is_proposed or farthest is None:
        return how
    opens_on = _(
        "The tab opens on {reference} and the model whose translation of this sentence is least like it by chrF, of "
        "equal ones the first of the table below: **{farthest}**, with {least:.1f} of 100.",
        reference=reference,
        farthest=texts.label(farthest),
        least=min(output.likeness for output in found.outputs),
    )
    return messages.in_a_row((how, opens_on))

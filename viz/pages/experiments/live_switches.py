"""Live switches, a part of Ablations: a part taken out of the chosen translator, and its translation at once."""

from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models, texts
from viz.pages.experiments import figures
from viz.pages.experiments.data import ablations
from viz.pages.experiments.wording import shortened
from viz.selection import state
from viz.text import html
from viz.text.messages import Message, _, said
from viz.text.written import file_name
from viz.ui import controls, frame, long_work, present
from viz.ui.token_labels import marked
from viz.ui.trace_tables import table

if TYPE_CHECKING:
    from model import Trace
    from model.abilities import Abilities
    from model.analysis.interventions.parts_off import PartScore
    from model.parts.removal import Part, PartOff

#: What the paper measured of a model that was trained without the part, if anything.
PAPER: "Final[dict[Part, Message]]" = {
    "positions": said("not in Table 3, only learned positions: 25.7, compared with 25.8 (row E)"),
    "scaling": said("not in Table 3; §3.2.1 only suspects an effect"),
    "heads": said("trained with one head: 24.9, compared with 25.8 (Table 3, A)"),
    "residuals": said("not in Table 3"),
    "norms": said("not in Table 3"),
}
#: Seconds until the page shows how far the translations are.
PATIENCE: Final = 1.5


def show(trace: "Trace") -> None:
    """The layer and the head, the translations without each part, and BLEU over the corpus."""
    abilities = models.abilities(state.current().model)
    if frame.lacking(abilities, "switches"):
        return
    translator = models.writer(state.current().model)
    layer, kept = _widgets(abilities)
    offs = ablations.parts_off(layer, kept)
    sentence_task = ablations.sentence_task(translator, trace.text, offs)
    found = long_work.outcome(sentence_task, _("Translate"), key="parts-off-sentence", start=True, patience=PATIENCE)
    if found is None:
        return
    task = ablations.score_task(translator, tuple(one.off for one in found.without if not one.lacking))
    scores = long_work.known(task)
    _translations(found, scores or ())
    frame.caption(
        "Differences from the full model are **marked**. {where} Removing a part from a trained model is **not the "
        "same as training without it**: everything that remains was trained together with it, so these drops in BLEU "
        "do not measure what the part contributes. The paper's numbers (BLEU on newstest2013) are for models trained "
        "without the part.",
        where=_where(layer),
    )
    measured = long_work.outcome(
        task, _("BLEU over {sentences} sentences", sentences=ablations.SENTENCES), key="parts-off"
    )
    if measured is None:
        frame.caption(
            "The {sentences} sentences are those of the atlas; they ship without reference translations. So BLEU "
            "is computed against the full model's own translations: 100 means that nothing changed.",
            sentences=ablations.SENTENCES,
        )
    elif scores is None:
        # The table above was drawn before the scores were there.
        st.rerun()
    else:
        _scores(measured)


def _widgets(abilities: "Abilities") -> tuple[int | None, int]:
    layers, heads = map(max, zip(*abilities.shapes.values(), strict=True))
    choices = state.current().experiments
    if choices.off_layer > layers:
        state.correct(off_layer=0)
    if choices.kept_head >= heads:
        state.correct(kept_head=0)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = {0: _("All layers")} | {number: _("Layer {number}", number=number) for number in range(1, layers + 1)}
        chosen = controls.dropdown("off_layer", _("Removed from"), names, width=150)
        labels = {head: f"H{head + 1}" for head in range(heads)}
        kept = controls.dropdown("kept_head", _("Head that remains"), labels, width=150)
        label = _("Switch off a single head: Cause")
        st.button(label, key="one-head-off", icon=":material/open_in_new:", type="tertiary", on_click=_open_cause)
    return (chosen - 1 if chosen else None), kept


def _open_cause() -> None:
    state.change(coreference_tab="Cause")
    present.open_page("coreference")


def _name(off: "PartOff") -> str:
    names: dict[Part, str] = {
        "positions": _("No positional encodings"),
        "scaling": _("No division by √dₖ"),
        "heads": _("Only H{head} of each attention", head=off.kept_head + 1),
        "residuals": _("No residual connections"),
        "norms": _("No layer norms"),
    }
    return names[off.part]


def _where(layer: int | None) -> str:
    if layer is None:
        return _("Each part is removed from all layers of encoder and decoder.")
    return _(
        "Each part is removed from layer {layer} of encoder and decoder; positions are added before the first layer.",
        layer=layer + 1,
    )


def _translations(found: ablations.Translations, scores: "tuple[PartScore, ...]") -> None:
    """The sentence translated without each part, what differs marked, with BLEU where it is known."""
    language = models.target_language(state.current().model)
    columns = [html.Column(_("Removed")), html.Column(_("Resulting translation"), language=language)]
    columns += [html.Column(_("BLEU"), is_number=True)] if scores else []
    columns.append(html.Column(_("In the paper")))
    bleu = {score.off: f"{score.bleu:.1f}" for score in scores}
    own = ["100.0"] if scores else []
    rows: list[list[str | html.Marked]] = [[_("No part"), found.whole, *own, _("25.8 (base model)")]]
    for one in found.without:
        shown: str | html.Marked = one.lacking
        if not one.lacking:
            shown = marked(texts.word_diff(found.whole, shortened(one.translation)))
        rows.append([_name(one.off), shown, *([bleu.get(one.off, "–")] if scores else []), PAPER[one.off.part]])
    with st.container(key="live-switches"):
        st.html(html.table(columns, rows, label=_("The sentence translated without each part")))


def _scores(measured: "tuple[PartScore, ...]") -> None:
    frame.chart(
        figures.bleu_bars(
            [_name(score.off) for score in measured],
            [score.bleu for score in measured],
            [score.unchanged for score in measured],
        ),
        "parts-bleu",
        file_name("parts", "bleu"),
        _("BLEU against the full model's own translations, without each part"),
    )
    same = max(measured, key=lambda score: score.unchanged)
    frame.caption(
        "{sentences} sentences of the atlas, translated greedily by the full model and by the model without each part; "
        "the full model's translations serve as references, because no human ones ship. Smallest change: “{name}”, "
        "where {unchanged:.0%} of the translations stay the same word for word.",
        sentences=ablations.SENTENCES,
        name=_name(same.off),
        unchanged=same.unchanged,
    )
    controls.table_button(_("These scores (CSV)"), partial(_csv, measured), file_name("parts", "bleu"))


def _csv(scores: "tuple[PartScore, ...]") -> bytes:
    """A row for each part that was taken out; an empty layer is all of them."""
    titles = ("part", "layer", "kept_head", "bleu_against_whole_model", "share_unchanged")
    rows = (
        (one.off.part, "" if one.off.layer is None else one.off.layer, one.off.kept_head, one.bleu, one.unchanged)
        for one in scores
    )
    return table(titles, rows)

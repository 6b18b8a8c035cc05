"""Put a cause to the test: switch heads off, or take their output from another sentence, and see what it moves."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import models
from viz.core import sites
from viz.core.file_names import file_name
from viz.core.numbers import signed
from viz.pages.coreference import pair_controls
from viz.pages.coreference.cause import data, effects, removal, site_maps, switched_heads, tables, verdicts
from viz.pages.coreference.data import Pair
from viz.pages.coreference.marked_sentence import marked_line
from viz.selection import state
from viz.selection.coreference import MARKS
from viz.ui import controls, formulas, frame, long_work, number_controls
from viz.ui.controls import plain
from viz.ui.sentence import Line

if TYPE_CHECKING:
    from model.analysis.interventions.patching import Patching

INSTEAD_LABELS: Final = {"zero": "Nothing (zero)", "mean": "Its mean"}
OWN: Final = ""


@frame.fragment
def show() -> None:
    """One pair or all of them, then three ways to look for a cause."""
    why = "A cause is put to the test by what a translator writes: er, sie or es."
    if frame.for_translators(why, "“Side by side” and “Measured” show which heads of it follow the antecedent."):
        return
    if not models.is_english_german(state.current().model):
        frame.note(pair_controls.not_german("which of er, sie and es the model prefers"))
        return
    pairs = data.choice_pairs()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = _pair(pairs)
        controls.segmented("cause_scope", "Look at", {"pair": "This pair", "set": f"All {len(pairs)} of the set"})
        controls.segmented(
            "replacement",
            "In place of a head",
            INSTEAD_LABELS,
            help_text="Zero takes a head out. Its mean, over all rows of the set’s sentences, leaves what it adds "
            "whatever the sentence is, and takes out only what it says about this one.",
        )
    looked_at = [chosen] if state.current().coreference.cause_scope == "pair" else list(pairs)
    effects.show(looked_at, partial(_show_pair, chosen if looked_at == [chosen] else None))
    removal.show(looked_at)
    _patch(looked_at)
    _bleu()
    with st.expander("Formulas and sources", key="cause-formulas"):
        formulas.show(Path(__file__).with_name("formulas.md"))


def _pair(pairs: Sequence[Pair]) -> Pair:
    """The pair that is chosen: one's own sentences first; the set's first where those leave no choice."""
    cases = pair_controls.own_cases(pair_controls.own_texts())
    own: Pair | str = "mark the pronoun and its candidates in “Side by side” first"
    if cases is not None:
        own = data.own_pair(models.translator(state.current().model), cases)
    by_name = {pair.name: pair for pair in pairs}
    labels = {name: f"{name}: {pair.cases[0].sentence}" for name, pair in by_name.items()}
    if isinstance(own, Pair):
        by_name = {OWN: own} | by_name
        labels = {OWN: f"Your sentences: {own.cases[0].sentence}"} | labels
    asked = state.current().coreference.pair
    if isinstance(own, str) and asked == OWN:
        frame.note(f"Your own sentences cannot be tested here: {plain(own)}. This is the first pair of the set.")
    shown = asked if asked in by_name else next(iter(by_name))
    return by_name[controls.dropdown("pair", "Pair of sentences", labels, shown=shown)]


def _show_pair(pair: Pair | None) -> None:
    """Both sentences, a line each, with the choice that the model has in them; nothing without a pair."""
    if pair is None:
        return
    lines = []
    own = pair_controls.own_marks([case.sentence for case in pair.cases]) if pair.is_own else []
    for number, (letter, case) in enumerate(zip(verdicts.LETTERS, pair.cases, strict=True)):
        right, wrong = verdicts.german_words(case)
        asked = f"it writes “{right}” and not “{wrong}”" if pair.is_own else f"“{right}” is right, “{wrong}” wrong"
        spans = dict(zip(MARKS, case.spans, strict=True))
        is_guess = pair.is_own and own[number].is_guess
        source = Line(letter, "en", case.sentence)
        lines.append(marked_line(source, spans, f"→ {asked}", is_guess=is_guess))
    st.html("".join(lines))


@frame.fragment
def _patch(pairs: Sequence[Pair]) -> None:
    st.subheader("Take a head’s output from the other sentence", anchor=False)
    st.caption(
        "The model reads A, but one head gives what it gave for B (activation patching). 0: the choice stays as in A; "
        "1: it becomes that of B; below 0: it moves away from B. Compared is the first German token that differs."
    )
    translator = models.translator(state.current().model)
    task = data.patching(translator, pairs)
    patching = long_work.outcome(task, "Patch every head in all pairs", key="cause-patching", start=len(pairs) == 1)
    if patching is None:
        return
    values = patching.overall.double().numpy()
    st.markdown(patching_sentence(patching))
    if np.isnan(values).all():
        return
    name = file_name("patching", pairs[0].name or "own pair" if len(pairs) == 1 else "all pairs")
    alt = "How far each head of {} carries the choice from A to B"
    site_maps.show(values, title="0 is A, 1 is B", bound=1.0, key="cause-patching", name=name, alt=alt)
    st.caption(
        "A row is a layer, a column a head, one scale for all three. Warm: the head carries the choice towards B, so "
        "it works for it; cold: it works against it."
    )
    make = partial(tables.patching, patching, data.all_heads(translator))
    number_controls.table_button("Patching (CSV)", make, name)


def patching_sentence(patching: "Patching") -> str:
    """Which head carries most of the choice, in one sentence."""
    values = patching.overall.double().numpy()
    a, b = float(patching.a.mean()), float(patching.b.mean())
    start = f"Log-odds of A’s pronoun: {signed(a)} reading A, {signed(b)} reading B. "
    if np.isnan(values).all():
        return f"{start}They are too close together: there is nothing that a head could carry."
    site, layer, head = (int(index) for index in np.unravel_index(int(np.nanargmax(values)), values.shape))
    largest = float(values[site, layer, head])
    label = sites.head_label(layer, head, sites.SITES[site])
    if largest <= 0:
        return f"{start}No single head moves the choice towards B."
    confused = " (the model does not tell A from B here)" if b >= a else ""
    return f"{start}**Most of it is carried by {label}: {largest:.0%} of the way from A to B{confused}.**"


@frame.fragment
def _bleu() -> None:
    """BLEU of a slice of the person's own sentence pairs."""
    with st.expander("What it does to translation as a whole: BLEU on sentence pairs of yours", key="cause-bleu-box"):
        st.caption(
            f"A text file, one pair a line: English, a tab, German. The first {data.MOST_PAIRS} pairs are "
            "translated twice, greedily: with every head on, and with those chosen above switched off."
        )
        file = st.file_uploader("Sentence pairs, UTF-8", key="cause-pairs", max_upload_size=2)
        if file is None:
            return
        pairs = data.uploaded_pairs(file.getvalue())
        translator, choices = models.translator(state.current().model), state.current().coreference
        chosen = switched_heads.chosen(data.all_heads(translator))
        if not chosen:
            frame.note("Choose heads to switch off first.")
            return
        off = data.removed_heads(translator, chosen, others_off=choices.others_off, others_of=choices.others_of)
        task = data.bleu_change(translator, pairs, off, choices.replacement)
        change = long_work.outcome(task, f"Translate {len(pairs)} sentences twice", key="cause-bleu")
        if change is not None:
            intact, removed = change
            st.markdown(
                f"BLEU **{intact:.1f}** with every head, **{removed:.1f}** without those: "
                f"{signed(removed - intact, 1)} on {len(pairs)} sentences."
            )

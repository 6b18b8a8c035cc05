"""Put a cause to the test: switch heads off, or take their output from another sentence, and see what it moves."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import models
from viz.core import html, sites
from viz.core.file_names import file_name
from viz.core.numbers import signed
from viz.pages.coreference.cause import data, effects, site_maps, switched_heads, tables
from viz.pages.coreference.data import Pair
from viz.selection import state
from viz.ui import controls, formulas, frame, long_work, number_controls

if TYPE_CHECKING:
    from model.analysis.coreference.cases import PronounCase
    from model.analysis.interventions.patching import Patching

INSTEAD_LABELS: Final = {"zero": "Nothing (zero)", "mean": "Its mean"}
SPARE_LABELS: Final = {False: "These heads", True: "All but these"}


@frame.fragment
def show() -> None:
    """One pair or all of them, then three ways to look for a cause."""
    why = "A cause is put to the test by what a translator writes: er, sie or es."
    if frame.for_translators(why, "“Side by side” and “Measured” show which heads of it follow the antecedent."):
        return
    st.caption(
        "Where a head looks is not yet what it does. Here heads are switched off, or are given what they computed for "
        "another sentence, while the model chooses between two German sentences that differ in the pronoun alone. "
        "Log-odds = log p(right) − log p(wrong), in nats: above 0 the model chooses right."
    )
    pairs = data.choice_pairs()
    chosen = _pair(pairs)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.segmented("cause_scope", "Look at", {"pair": "This pair", "set": f"All {len(pairs)} pairs"})
        controls.segmented("replacement", "In place of a head", INSTEAD_LABELS)
    st.caption(
        "Zero takes a head out; its mean (over all rows of the set’s sentences) leaves what it adds whatever the "
        "sentence is, and takes out only what it says about this one."
    )
    looked_at = [chosen] if state.current().coreference.cause_scope == "pair" else list(pairs)
    _switch(looked_at)
    effects.show(looked_at)
    _patch(looked_at)
    _bleu()
    with st.expander("Formulas and sources"):
        formulas.show(Path(__file__).with_name("formulas.md"))


def _pair(pairs: Sequence[Pair]) -> Pair:
    """The pair of the selection, or the first with German to choose from; both its sentences are shown."""
    names = {pair.name: pair for pair in pairs}
    asked = state.current().coreference.pair
    labels = {name: f"{name}: {pair.cases[0].sentence}" for name, pair in names.items()}
    name = controls.dropdown("pair", "Pair of sentences", labels, shown=asked if asked in names else pairs[0].name)
    pair = names[name]
    columns = (html.Column(""), html.Column("Sentence"), html.Column("It stands for"), html.Column("Right"))
    rows = [
        (letter, case.sentence, case.sentence[slice(*case.antecedent)], " not ".join(_german_words(case)))
        for letter, case in zip("AB", pair.cases, strict=True)
    ]
    st.html(html.table(columns, rows, label="The two sentences of the pair"))
    return pair


def _german_words(case: "PronounCase") -> tuple[str, str]:
    """The right and the wrong German pronoun."""
    if case.german is None:
        return "", ""
    words = zip(case.german.right.split(), case.german.wrong.split(), strict=True)
    return next((right.strip(",.;"), wrong.strip(",.;")) for right, wrong in words if right != wrong)


@frame.fragment
def _switch(pairs: Sequence[Pair]) -> None:
    st.subheader("Switch heads off", anchor=False)
    translator = models.translator(state.current().model)
    heads = data.all_heads(translator)
    chosen = switched_heads.chosen(heads)
    controls.segmented("others_off", "Switched off", SPARE_LABELS)
    switched_heads.grid(heads)
    if not chosen:
        st.caption("No head is chosen. Choose some above: press a number, or several, in any of the three attentions.")
        return
    word = "All but these are off" if state.current().coreference.others_off else "Off"
    st.caption(f"{word}: {switched_heads.names(chosen)}.")
    cases = [case for pair in pairs for case in pair.cases]
    choices = state.current().coreference
    off = data.removed_heads(translator, chosen, others_off=choices.others_off)
    task = data.removal(translator, cases, off, choices.replacement)
    effect = long_work.outcome(task, "Switch them off in all pairs", key="cause-removal", start=len(pairs) == 1)
    if effect is not None:
        lines = list(zip(cases, effect.intact.tolist(), effect.removed.tolist(), strict=True))
        _removal_table(lines, effect.accuracy_change)


def _removal_table(lines: Sequence[tuple["PronounCase", float, float]], accuracy_change: float) -> None:
    """The sentences of one pair, a line each, and in any case the mean of all."""
    numbers = [html.Column(title, is_number=True) for title in ("Log-odds, all heads", "Without", "Change")]
    columns = (html.Column("Sentence"), *numbers, html.Column("The model then chooses"))
    rows = [
        (letter, signed(intact), signed(without), signed(without - intact), _choice(case, without))
        for letter, (case, intact, without) in zip("AB", lines if len(lines) == 2 else [], strict=False)
    ]
    odds = np.array([(intact, without) for _, intact, without in lines])
    (before, after), right = odds.mean(0).tolist(), (np.sign(odds) / 2 + 0.5).mean(0).tolist()
    change = f"right in {right[1]:.0%} instead of {right[0]:.0%}"
    rows.append((f"Mean of {len(lines)}", signed(before), signed(after), signed(after - before), change))
    st.html(html.table(columns, rows, label="Log-odds with every head and without those switched off"))
    st.caption(
        "A change below 0 means that the heads helped the right pronoun. The accuracy changes by "
        f"{signed(100 * accuracy_change, 1)} points over {len(lines)} sentences."
    )


def _choice(case: "PronounCase", log_odds: float) -> str:
    right, wrong = _german_words(case)
    return f"{right} (right)" if log_odds > 0 else f"{wrong} (wrong)"


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
    name = file_name("patching", pairs[0].name if len(pairs) == 1 else "all pairs")
    alt = "How far each head of {} carries the choice from A to B"
    site_maps.show(values, title="0 is A, 1 is B", key="cause-patching", name=name, alt=alt)
    st.caption(
        "A row is a layer, a column a head, one scale for all three: warm where the head carries the choice towards B."
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
    label = f"head {head + 1} of layer {layer + 1}, {sites.label(sites.SITES[site]).lower()}"
    if largest <= 0:
        return f"{start}No single head moves the choice towards B."
    confused = " (the model does not tell A from B here)" if b >= a else ""
    return f"{start}**Most of it is carried by {label}: {largest:.0%} of the way from A to B{confused}.**"


@frame.fragment
def _bleu() -> None:
    """BLEU of a slice of the person's own sentence pairs."""
    with st.expander("What it does to translation as a whole: BLEU on sentence pairs of yours"):
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
        off = data.removed_heads(translator, chosen, others_off=choices.others_off)
        task = data.bleu_change(translator, pairs, off, choices.replacement)
        change = long_work.outcome(task, f"Translate {len(pairs)} sentences twice", key="cause-bleu")
        if change is not None:
            intact, removed = change
            st.markdown(
                f"BLEU **{intact:.1f}** with every head, **{removed:.1f}** without those: "
                f"{signed(removed - intact, 1)} on {len(pairs)} sentences."
            )

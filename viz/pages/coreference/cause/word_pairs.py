"""Choose the two texts that a model of any kind is asked about, and between which two words it chooses there."""

import streamlit as st

from viz.access import models
from viz.pages.coreference import pair_controls
from viz.pages.coreference.cause import verdicts
from viz.pages.coreference.cause.data import words
from viz.pages.coreference.cause.data.asked import Question
from viz.pages.coreference.marked_sentence import marked_line
from viz.selection import state
from viz.selection.coreference import OWN_TEXTS
from viz.text.messages import _
from viz.ui import controls, frame
from viz.ui.sentence import Line


def chosen_pair() -> Question | None:
    """The pair that is chosen: the set's first, or one's own two texts where the set has none for this model."""
    reader = models.chooser(state.current().model)
    by_name = {pair.name: pair for pair in words.set_pairs(reader)}
    labels = {name: f"{name}: {of_set.texts[0]} …" for name, of_set in by_name.items()}
    labels[OWN_TEXTS] = _("My own texts")
    asked = state.current().coreference.word_pair
    shown = asked if asked in labels else next(iter(labels))
    name = controls.dropdown("word_pair", _("Pair of texts"), labels, shown=shown)
    if name in by_name:
        return by_name[name]
    text = state.current().common.text
    other = pair_controls.second_sentence(st.container())
    return words.own_pair(reader, text, other) if other and other != text else None


def show_pair(pair: Question | None) -> None:
    """Both texts, a line each, with what the model chooses between; nothing without a pair."""
    if pair is None:
        return
    language = models.languages(state.current().model)[0]
    lines = []
    for letter, text, (first, second) in zip(verdicts.LETTERS, pair.texts, pair.words, strict=True):
        asked = (
            _("“{right}” is right, “{wrong}” wrong", right=first, wrong=second)
            if pair.name
            else _("“{first}” against “{second}”", first=first, second=second)
        )
        lines.append(marked_line(Line(letter, language, text), {}, f"→ {asked}", is_guess=False))
    st.html("".join(lines))
    if pair.before:
        st.caption(
            controls.plain(
                _("Before the word that is asked for, the model has written: “{before}”", before=pair.before)
            )
        )


def no_pair() -> None:
    """What to do where there is no second text yet."""
    frame.note(_("Type a second text that differs from the sentence above: what the model says in both is compared."))

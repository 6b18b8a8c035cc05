"""Put a cause to the test: switch heads off, or take their output from another text, and see what it moves."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import models
from viz.pages.coreference.cause import effects, pronoun_pairs, removal, site_maps, tables, verdicts, word_pairs
from viz.pages.coreference.cause.data import pronouns, words
from viz.pages.coreference.cause.data.asked import Asked
from viz.selection import state
from viz.server.background_jobs import Task
from viz.text import sites
from viz.text.messages import _, in_a_row, said
from viz.text.numbers import signed
from viz.text.sites import file_name
from viz.ui import attribution as pictures
from viz.ui import controls, formulas, frame, head_verdict, long_work, number_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from model.analysis.interventions.patching import Patching
    from model.analysis.metrics.head_names import HeadName

#: Log-odds of A and B that are closer together, in nats, say little about what carries the choice.
SMALL_GAP: Final = 0.25
INSTEAD_LABELS: Final = {"zero": said("Nothing (zero)"), "mean": said("Its mean")}

#: What a map shows for those who hear it, and the button of its file: of patching, and of the direct paths.
_OF_PATCHING: Final = said("How far each head of {site} carries the choice from A to B"), said("Patching (CSV)")
_OF_PATHS: Final = (
    said("How far each head of {site} carries the choice from A to B, by the direct path alone"),
    said("Direct paths (CSV)"),
)
_MOST_IS_CARRIED: Final = said("**Most of it is carried by {head}: {share:.0%} of the way from A to B.**")
_MOST_IS_CARRIED_UNTOLD: Final = said(
    "**Most of it is carried by {head}: {share:.0%} of the way from A to B (the model does not tell A from B here).**"
)
_MOST_IS_CARRIED_HARDLY_TOLD: Final = said(
    "**Most of it is carried by {head}: {share:.0%} of the way from A to B (the model hardly tells A from B here, so "
    "that small changes are large shares).**"
)


@frame.fragment
def show() -> None:
    """One pair or all of them, then four ways to look for a cause."""
    model = state.current().model
    with frame.loading():
        abilities = models.abilities(model)
    if frame.lacking(
        abilities, "word choice", _("“Side by side” and “Measured” show which heads follow the antecedent.")
    ):
        return
    is_pronoun = abilities.is_headlight and models.is_english_german(model)
    if is_pronoun:
        _show_pronouns()
    else:
        _show_words()
    with st.expander(_("Formulas and sources"), key="cause-formulas"):
        formulas.show(Path(__file__).with_name("formulas.md"))


def _show_pronouns() -> None:
    """An English–German translator is asked which pronoun it writes."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = pronoun_pairs.chosen_pair()
        _choices(len(pronouns.choice_pairs()))
    is_one = state.current().coreference.cause_scope == "pair"
    asked = pronoun_pairs.asked([chosen] if is_one else list(pronouns.choice_pairs()))
    _show(asked, partial(pronoun_pairs.show_pair, chosen if is_one else None))
    pronoun_pairs.bleu()


def _show_words() -> None:
    """A model of any kind is asked which of two words comes next."""
    reader, choices = models.chooser(state.current().model), state.current().coreference
    of_set = words.set_pairs(reader)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = word_pairs.chosen_pair()
        _choices(len(of_set))
    if of_set and choices.cause_scope == "set":
        _show(words.asked(reader, of_set, choices.replacement), lambda: None)
    elif chosen is None:
        word_pairs.no_pair()
    else:
        _show(words.asked(reader, [chosen], choices.replacement), partial(word_pairs.show_pair, chosen))


def _choices(count: int) -> None:
    """One pair or all of the set, if there are any, and what is put in place of a head."""
    if count:
        scopes = {"pair": _("This pair"), "set": _("All {count} of the set", count=count)}
        controls.segmented("cause_scope", _("Look at"), scopes)
    controls.segmented(
        "replacement",
        _("In place of a head"),
        INSTEAD_LABELS,
        help_text=_(
            "Zero takes a head out. Its mean, over all rows of the set’s sentences, leaves what it adds "
            "whatever the sentence is, and takes out only what it says about this one."
        ),
    )


def _show(asked: Asked, show_pair: "Callable[[], None]") -> None:
    effects.show(asked, show_pair)
    removal.show(asked)
    _patch(asked)
    if asked.direct is not None:
        _paths(asked, asked.direct)
    if asked.is_one and "self-attention" not in models.abilities(state.current().model).lacks:
        _explain(asked)


@frame.fragment
def _patch(asked: Asked) -> None:
    st.subheader(_("Take a head’s output from the other sentence"), anchor=False)
    st.caption(
        _(
            "The model reads A, but one head gives what it gave for B (activation patching). 0: the choice stays as "
            "in A; 1: it becomes that of B; below 0: it moves away from B. {compared}",
            compared=asked.compared,
        )
    )
    _show_patching(asked, asked.patching, _("Patch every head in all pairs"), "patching")


@frame.fragment
def _paths(asked: Asked, task: "Task[Patching]") -> None:
    st.subheader(_("What reaches the word directly"), anchor=False)
    same = _(
        "The same, but all other heads give what they gave for A (path patching): what a head says differently "
        "reaches the word through the residual stream and the feed-forward networks alone. A head that is warm above "
        "and dark here works through heads of later layers."
    )
    of_encoder = _("What the encoder says reaches it through cross-attention only.")
    st.caption(in_a_row((same, of_encoder if _has_cross(asked) else "")))
    _show_patching(asked, task, _("Follow the direct paths in all pairs"), "paths")


@frame.fragment
def _explain(asked: Asked) -> None:
    st.subheader(_("Which words the choice comes from"), anchor=False)
    st.caption(_("Not heads but words: what several methods of attribution give each word for A’s or B’s own word."))
    labels = {letter: _("Sentence {letter}", letter=letter) for letter in verdicts.LETTERS}
    controls.segmented("cause_text", _("Explain"), labels)
    sentence = verdicts.LETTERS.index(state.current().coreference.cause_text)
    right, wrong = asked.words[sentence]
    name = file_name("attribution", verdicts.LETTERS[sentence], asked.name)
    choice = pictures.choice_in_words(right, wrong)
    pictures.show(asked.explained(sentence), choice, key="cause-attribution", name=name)


def _has_cross(asked: Asked) -> bool:
    return any(head.site == sites.CROSS for head in asked.heads)


def _show_patching(asked: Asked, task: "Task[Patching]", label: str, what: str) -> None:
    patching = long_work.outcome(task, label, key=f"cause-{what}", start=asked.is_one)
    if patching is None:
        return
    values = patching.overall.double().numpy()
    st.markdown(patching_sentence(patching, asked.heads))
    if np.isnan(values).all():
        return
    best, effects_known = int(np.nanargmax(values)), long_work.known(asked.effects)
    is_above = effects_known is not None and verdicts.strongest(effects_known[0]) == best
    if asked.is_one and what == "patching" and not is_above:
        head_verdict.show(asked.tested(asked.heads[best]), key="cause-patched-verdict")
    name = file_name(what, asked.name)
    alt, file = _OF_PATHS if what == "paths" else _OF_PATCHING
    site_maps.show(
        values,
        asked.heads,
        title=_("0 is A, 1 is B"),
        bound=1.0,
        key=f"cause-{what}",
        name=name,
        alt=lambda site: _(alt, site=site),
    )
    st.caption(
        _(
            "A row is a layer, a column a head. Warm: the head carries the choice towards B, so it works for it; "
            "cold: it works against it."
        )
    )
    make = partial(tables.patching, patching, asked.heads)
    number_controls.table_button(_(file), make, name)


def patching_sentence(patching: "Patching", heads: "Sequence[HeadName]") -> str:
    """Which head carries most of the choice, in one sentence."""
    values = patching.overall.double().numpy()
    a, b = float(patching.a.mean()), float(patching.b.mean())
    start = _("Log-odds of A’s word: {a} reading A, {b} reading B.", a=signed(a), b=signed(b))
    if np.isnan(values).all():
        return in_a_row((start, _("They are too close together: there is nothing that a head could carry.")))
    best = int(np.nanargmax(values))
    largest, head = float(values[best]), heads[best]
    if largest <= 0:
        return in_a_row((start, _("No single head moves the choice towards B by its output.")))
    carried = _MOST_IS_CARRIED
    if a <= b:
        carried = _MOST_IS_CARRIED_UNTOLD
    elif a - b < SMALL_GAP:
        carried = _MOST_IS_CARRIED_HARDLY_TOLD
    label = sites.head_label(head.layer, head.head, head.site)
    return in_a_row((start, _(carried, head=label, share=largest)))

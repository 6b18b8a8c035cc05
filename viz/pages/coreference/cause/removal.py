"""Switch chosen heads off together: whether the choice flips, what the model then writes, and the log-odds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import models
from viz.pages.coreference.cause import switched_heads, verdicts
from viz.pages.coreference.cause.data.asked import Asked, Removal, removed_heads, strongest_of_each_layer
from viz.selection import state
from viz.selection.coreference import OthersOf
from viz.text import html
from viz.text.messages import _, in_a_row, plural, said
from viz.text.numbers import percent, signed
from viz.ui import controls, frame, long_work
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model.analysis.interventions.head_effects import RemovalEffect
    from model.analysis.metrics.head_names import HeadName

SPARE_LABELS: Final = {False: said("These heads"), True: said("All but these")}
OTHERS_LABELS: Final[dict[OthersOf, str]] = {
    "layer": said("of their layers"),
    "attention": said("of their attentions"),
    "model": said("of the whole model"),
}


@frame.fragment
def show(asked: Asked) -> None:
    """The heads that are off, what becomes of the choice, and the grid in which they are chosen."""
    st.subheader(_("Switch heads off together"), anchor=False)
    choices, heads = state.current().coreference, asked.heads
    effects = long_work.known(asked.effects)
    importance = None if effects is None else effects[0].importance.double().numpy()
    _choices(heads, importance)
    chosen, others_off = switched_heads.chosen(heads), choices.others_off
    if not chosen and importance is not None:
        chosen, others_off = (heads[int(importance.argmax())],), False
        st.caption(_("No head is chosen; this is the strongest. Choose others below."))
    if chosen:
        off = removed_heads(heads, chosen, others_off=others_off, others_of=choices.others_of)
        st.markdown(_which_are_off(len(off), len(heads), chosen, others_off=others_off))
        task = asked.removal(off)
        removal = long_work.outcome(task, _("Switch them off in all pairs"), key="cause-removal", start=asked.is_one)
        if removal is not None:
            _show_removal(removal, asked)
    else:
        st.caption(_("No head is chosen. Choose some below: press a number, or several, in any attention."))
    with st.expander(_("Choose heads"), key="cause-heads"):
        switched_heads.grid(heads)


def _which_are_off(count: int, of_model: int, chosen: Sequence["HeadName"], *, others_off: bool) -> str:
    """How many heads are off, and which, as Markdown."""
    named = switched_heads.names(chosen)
    if others_off:
        return plural(
            "**{count} of {of_model} heads** is off: all but {heads} {others_of}.",
            "**{count} of {of_model} heads** are off: all but {heads} {others_of}.",
            count,
            of_model=of_model,
            heads=named,
            others_of=OTHERS_LABELS[state.current().coreference.others_of],
        )
    return plural(
        "**{count} of {of_model} heads** is off: {heads}.",
        "**{count} of {of_model} heads** are off: {heads}.",
        count,
        of_model=of_model,
        heads=named,
    )


def _choices(heads: Sequence["HeadName"], importance: Float[np.ndarray, "head"] | None) -> None:
    """Whether the chosen heads are off or all others, and sets of heads that one click chooses."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if controls.segmented("others_off", _("Switched off"), SPARE_LABELS):
            controls.segmented("others_of", _("All others"), OTHERS_LABELS)
        one_each = () if importance is None else strongest_of_each_layer(heads, importance)
        first = _("First switch each head off, to know which are the strongest.")
        st.button(
            _("One head a layer"),
            key="cause-single",
            icon=":material/filter_1:",
            help=in_a_row((
                _(
                    "Would a single head do? Leaves on the strongest head of every layer of every attention, and "
                    "switches all others off."
                ),
                "" if one_each else first,
            )),
            disabled=not one_each,
            on_click=state.change,
            kwargs={
                "heads_off": tuple(map(switched_heads.code, one_each)), "others_off": True, "others_of": "layer",
            },
        )  # fmt: skip
        strongest = () if importance is None else tuple(heads[i] for i in np.argsort(-importance)[:5])
        st.button(
            _("The five strongest"),
            key="cause-strongest",
            disabled=not strongest,
            on_click=state.change,
            kwargs={"heads_off": tuple(map(switched_heads.code, strongest)), "others_off": False},
        )


def _show_removal(removal: Removal, asked: Asked) -> None:
    st.markdown(asked.verdict(removal))
    for letter, spans in zip(verdicts.LETTERS, removal.written, strict=False):
        if all(span.is_same for span in spans):
            text = "".join(span.first_text for span in spans).strip()
            st.caption(_("{letter}: the translation stays “{text}”", letter=letter, text=plain(text)))
        else:
            changed = html.word_changes(
                spans,
                names=(_("{letter} with every head", letter=letter), _("without these")),
                language=models.target_language(state.current().model),
            )
            st.html(changed)
    _table(removal.effect, asked)
    _likeliest(removal)


def _table(effect: "RemovalEffect", asked: Asked) -> None:
    """The sentences of a pair, a line each; of many, their mean."""
    numbers = [html.Column(title, is_number=True) for title in (_("Log-odds, all heads"), _("Without"), _("Change"))]
    columns = (html.Column(_("Sentence")), *numbers, html.Column(_("It then chooses")))
    odds = np.array([effect.intact.tolist(), effect.removed.tolist()]).T
    rows = []
    if len(asked.words) == len(verdicts.LETTERS):
        for letter, words, (intact, without) in zip(verdicts.LETTERS, asked.words, odds.tolist(), strict=True):
            before, after = verdicts.chosen_words(words, intact, without)
            chosen = after if before == after else _("{after} instead of {before}", after=after, before=before)
            if asked.has_right:
                chosen = _("{chosen}, right", chosen=chosen) if without > 0 else _("{chosen}, wrong", chosen=chosen)
            rows.append((letter, signed(intact), signed(without), signed(without - intact), chosen))
    else:
        (before, after), right = odds.mean(0).tolist(), (np.sign(odds) / 2 + 0.5).mean(0).tolist()
        chosen = _("right in {after:.0%} instead of {before:.0%}", after=right[1], before=right[0])
        mean = _("Mean of {count}", count=len(asked.words))
        rows.append((mean, signed(before), signed(after), signed(after - before), chosen))
    st.html(html.table(columns, rows, label=_("Log-odds with every head and without those switched off")))
    st.caption(_("Log-odds: log p of one word − log p of the other, in nats, {given}.", given=asked.given))


def _likeliest(removal: Removal) -> None:
    """The likeliest words in each sentence, with every head and without these."""
    if not removal.likeliest:
        return
    rows = []
    for letter, both in zip(verdicts.LETTERS, removal.likeliest, strict=True):
        for heads, words in zip((_("every head"), _("without these")), both, strict=True):
            likeliest = " · ".join(f"{verdicts.as_word(token)} {percent(share)}" for token, share in words)
            rows.append((letter, heads, likeliest))
    columns = (html.Column(_("Sentence")), html.Column(_("Heads")), html.Column(_("Likeliest there")))
    st.html(html.table(columns, rows, label=_("The likeliest words with every head and without those switched off")))

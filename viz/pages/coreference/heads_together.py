"""Switch several heads off together: whether the choice flips, what the model then writes, and what BLEU becomes.

Codes of the address count from 0: `c-3-1` is head 1 of layer 3 of the decoder's cross-attention.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import models
from viz.access.head_verdict import Question, all_heads
from viz.pages.coreference.data import causes
from viz.pages.coreference.data.causes import Removal
from viz.selection import notices, state
from viz.selection.choices import OthersOf
from viz.server.widgets import sent
from viz.text import html
from viz.text.messages import _, clauses_with_and, plural, said, with_commas
from viz.text.written import NAMES, NamedHead, percent, signed, spoken
from viz.text.written import label as site_label
from viz.ui import controls, downloads, frame, long_work, terms
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model.analysis.metrics.head_metrics import HeadName
    from model.word_choice import Chooser

LETTERS: Final = "AB"
SPARE_LABELS: Final = {False: said("These heads"), True: said("All but these")}
OTHERS_LABELS: Final[dict[OthersOf, str]] = {
    "layer": said("the same layers"),
    "attention": said("the same attentions"),
    "model": said("the whole model"),
}
#: How many heads are named; of more, their number is given.
MOST_NAMED: Final = 12
#: Megabytes of a file with sentence pairs.
LARGEST: Final = 2


@frame.fragment
def show(
    reader: "Chooser",
    asked: Sequence[Question],
    of_set: Sequence[Question],
    importance: Float[np.ndarray, "head"] | None,
) -> None:
    """The heads that are off, what becomes of the choice, and the grid in which they are chosen.

    Args:
        asked: what is asked of it.
        of_set: over whose texts means are taken in place of a head; none for those of `asked`.
        importance: how much the loss of each head changes, where that is known.
    """
    label = _("Switch several heads off together: all but one per layer, the five strongest, or any others")
    st.session_state.setdefault("cause-together", bool(state.current().coreference.heads_off))
    with st.expander(label, on_change="rerun", key="cause-together") as opened:
        if not opened.open:
            return
        heads, choices = all_heads(reader), state.current().coreference
        _shortcuts(heads, importance)
        chosen = chosen_heads(heads)
        if chosen:
            off = causes.removed_heads(heads, chosen, others_off=choices.others_off, others_of=choices.others_of)
            terms.markdown(_which_are_off(len(off), len(heads), chosen))
            task = causes.removal(reader, asked, of_set, choices.replacement, off)
            label = _("Switch them off in all pairs")
            removal = long_work.outcome(task, label, key="cause-removal", start=len(asked) == 1)
            if removal is not None:
                _show_removal(removal, asked)
        else:
            frame.caption("No head is chosen. Choose one or more below by their numbers, in any attention.")
        _grid(heads)
        if models.is_english_german(state.current().model):
            _bleu(reader, chosen, of_set)


def code(head: "HeadName") -> str:
    """The short form of a head."""
    return f"{NAMES[head.site].tag}-{head.layer}-{head.head}"


def named(heads: Sequence["HeadName"]) -> str:
    """Several heads as people name them, as links in Markdown."""
    labels = [NamedHead(*head, with_site=True).link for head in heads[:MOST_NAMED]]
    listed, more = with_commas(labels), len(heads) - MOST_NAMED
    return _("{heads} and {count} more", heads=listed, count=more) if more > 0 else listed


def chosen_heads(heads: Iterable["HeadName"]) -> tuple["HeadName", ...]:
    """The heads of the model that the selection names, in the order of tables."""
    codes = set(state.current().coreference.heads_off)
    return tuple(head for head in heads if code(head) in codes)


def forget_unknown(heads: Iterable["HeadName"]) -> None:
    """Heads that the model does not have are not switched off."""
    named = state.current().coreference.heads_off
    known = tuple(filter({code(head) for head in heads}.__contains__, named))
    # What was chosen with another model stays for it.
    if known != named and notices.is_asked("heads_off", state.current()):
        state.correct(heads_off=known)


def _shortcuts(heads: Sequence["HeadName"], importance: Float[np.ndarray, "head"] | None) -> None:
    """Whether the chosen heads are off or all others, and sets of heads that one click chooses."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if controls.segmented("others_off", _("Switched off"), SPARE_LABELS):
            controls.segmented("others_of", _("All others in"), OTHERS_LABELS)
        one_each = () if importance is None else causes.strongest_of_each_layer(heads, importance)
        strongest = () if importance is None else tuple(heads[i] for i in np.argsort(-importance)[:5])
        for key, label, those, others in (
            ("cause-single", _("One head per layer"), one_each, {"others_off": True, "others_of": "layer"}),
            ("cause-strongest", _("The five strongest"), strongest, {"others_off": False}),
        ):
            kept = {"heads_off": tuple(map(code, those)), **others}
            st.button(label, key=key, disabled=not those, on_click=state.change, kwargs=kept)
        is_any = bool(state.current().coreference.heads_off)
        st.button(
            _("Switch all on"), key="off-none", disabled=not is_any, on_click=state.change, kwargs={"heads_off": ()}
        )


def _which_are_off(count: int, of_model: int, chosen: Sequence["HeadName"]) -> str:
    """How many heads are off, and which, as Markdown."""
    choices = state.current().coreference
    if choices.others_off:
        return plural(
            "**{count} of {of_model} heads** is off: all but {heads} in {others_of}.",
            "**{count} of {of_model} heads** are off: all but {heads} in {others_of}.",
            count,
            of_model=of_model,
            heads=named(chosen),
            others_of=OTHERS_LABELS[choices.others_of],
        )
    return plural(
        "**{count} of {of_model} heads** is off: {heads}.",
        "**{count} of {of_model} heads** are off: {heads}.",
        count,
        of_model=of_model,
        heads=named(chosen),
    )


def _show_removal(removal: Removal, asked: Sequence[Question]) -> None:
    words = causes.words(asked)
    terms.markdown(removal_sentence(removal, words))
    for letter, spans in zip(LETTERS, removal.written, strict=False):
        if all(span.is_same for span in spans):
            text = "".join(span.first_text for span in spans).strip()
            frame.caption("{letter}: the translation remains “{text}”", letter=letter, text=plain(text))
        else:
            names = (_("{letter} with every head", letter=letter), _("without these heads"))
            st.html(html.word_changes(spans, names=names, language=models.target_language(state.current().model)))
    odds = np.array([removal.effect.intact.tolist(), removal.effect.removed.tolist()]).T
    numbers = [
        html.Column(title, is_number=True)
        for title in (_("Log-odds, all heads"), _("Log-odds, without these heads"), _("Change"))
    ]
    columns = [html.Column(_("Sentence")), *numbers, html.Column(_("Resulting choice"))]
    rows = []
    if len(asked) == 1:
        if removal.likeliest:
            columns += [
                html.Column(_("Most probable, all heads")),
                html.Column(_("Most probable, without these heads")),
            ]
        for number, (both, (intact, without)) in enumerate(zip(words, odds.tolist(), strict=True)):
            before, after = chosen_words(both, intact, without)
            chosen = after if before == after else _("{after} instead of {before}", after=after, before=before)
            likeliest = map(_likeliest, removal.likeliest[number]) if removal.likeliest else ()
            numbers_of_it = (signed(intact), signed(without), signed(without - intact))
            rows.append((LETTERS[number], *numbers_of_it, chosen, *likeliest))
    else:
        (before, after), right = odds.mean(0).tolist(), (np.sign(odds) / 2 + 0.5).mean(0).tolist()
        chosen = _("right in {after:.0%} instead of {before:.0%}", after=right[1], before=right[0])
        mean = _("Mean of {count}", count=len(words))
        rows.append((mean, signed(before), signed(after), signed(after - before), chosen))
    st.html(html.table(columns, rows, label=_("Log-odds with every head and without those switched off")))
    frame.caption("Log-odds: log p of one word − log p of the other, in nats, after the same words.")


def _likeliest(tokens: Sequence[tuple[str, float]]) -> str:
    return " · ".join(f"{spoken(token)} {percent(share)}" for token, share in tokens)


def chosen_words(words: tuple[str, str], intact: float, without: float) -> tuple[str, str]:
    """The word that the model prefers with every head, and the one without some; `words` are right and wrong."""
    right, wrong = map(spoken, words)
    return (right if intact > 0 else wrong), (right if without > 0 else wrong)


def removal_sentence(removal: Removal, words: Sequence[tuple[str, str]]) -> str:
    """Whether the choice between two words flips when these heads are switched off together; as Markdown."""
    effect = removal.effect
    if len(words) > len(LETTERS):
        count = int(effect.flips.sum())
        if not count:
            return _("**No choice flips.**")
        return _("**The choice flips in {count} of {sentences} sentences.**", count=count, sentences=len(words))
    odds = zip(words, effect.intact.tolist(), effect.removed.tolist(), strict=True)
    both = [chosen_words(*of_case) for of_case in odds]
    changes = clauses_with_and(
        _("{change} in {letter}", letter=letter, change=_change(*words_of_it))
        for letter, words_of_it in zip(LETTERS, both, strict=False)
    )
    if any(before != after for before, after in both):
        return _("**The choice flips. The more probable word: {changes}.**", changes=changes)
    return _("**The choice does not flip. The more probable word: {changes}.**", changes=changes)


def _change(before: str, after: str) -> str:
    if before == after:
        return _("“{word}” as before", word=plain(after))
    return _("“{after}” instead of “{before}”", after=plain(after), before=plain(before))


def _grid(heads: Sequence["HeadName"]) -> None:
    """Buttons for the heads of one attention, a row a layer."""
    sites = [*dict.fromkeys(head.site for head in heads)]
    # Not the selection's: it names the head that is put to the test above.
    names = {site: site_label(site).removesuffix("-attention") for site in sites}
    site = st.segmented_control(
        _("Attention"), sites, key="off-site", default=sites[0], required=True, format_func=names.__getitem__
    )
    of_layer: dict[int, list[HeadName]] = {}
    for head in heads:
        if head.site == site:
            of_layer.setdefault(head.layer, []).append(head)
    with st.grid(2, min_column_width=330):
        for layer, row in of_layer.items():
            _pills(f"off-{NAMES[site].tag}-{layer}", _("Layer {layer}: heads", layer=layer + 1), row)


def _pills(key: str, label: str, heads: "Sequence[HeadName]") -> None:
    codes = set(state.current().coreference.heads_off)
    st.session_state[key] = [head for head in heads if code(head) in codes]
    st.pills(
        label,
        heads,
        selection_mode="multi",
        key=key,
        format_func=lambda head: str(head.head + 1),
        on_change=_take,
        args=(key, heads),
    )


def _take(key: str, heads: Sequence["HeadName"]) -> None:
    chosen = sent(key)
    if isinstance(chosen, list) and set(chosen) <= set(heads):
        kept = [off for off in state.current().coreference.heads_off if off not in set(map(code, heads))]
        state.change(heads_off=tuple(kept + [code(head) for head in chosen]))


def _bleu(reader: "Chooser", chosen: "Sequence[HeadName]", of_set: Sequence[Question]) -> None:
    """BLEU of a slice of the person's own sentence pairs."""
    terms.markdown(f"**{_('The effect on translation as a whole: BLEU on your own sentence pairs')}**")
    message = (
        "A text file, one pair per line: English, a tab, German. The first {most_pairs} pairs are translated twice "
        "with greedy decoding: with every head on, and with the chosen heads switched off."
    )
    frame.caption(message, most_pairs=causes.MOST_PAIRS)
    file = downloads.field(_("Sentence pairs, UTF-8"), key="cause-pairs", megabytes=LARGEST)
    if file is None:
        return
    pairs = causes.uploaded_pairs(downloads.content(file, LARGEST), file.name)
    if not chosen:
        frame.note("First choose heads to switch off.")
        return
    writer, choices = models.writer(state.current().model), state.current().coreference
    off = causes.removed_heads(all_heads(reader), chosen, others_off=choices.others_off, others_of=choices.others_of)
    task = causes.bleu_change(writer, reader, pairs, of_set, choices.replacement, off)
    label = _("Translate {num_pairs} sentences twice", num_pairs=len(pairs))
    change = long_work.outcome(task, label, key="cause-bleu")
    if change is not None:
        intact, removed = change
        message = (
            "BLEU **{intact:.1f}** with every head, **{removed:.1f}** without the chosen ones: {difference} on "
            "{num_pairs} sentences."
        )
        terms.markdown(
            _(message, intact=intact, removed=removed, difference=signed(removed - intact, 1), num_pairs=len(pairs))
        )

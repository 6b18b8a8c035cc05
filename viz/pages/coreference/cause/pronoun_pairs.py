"""Choose the pair of sentences that an English–German translator is asked about: er, sie or es."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import models
from viz.pages.coreference import pair_controls
from viz.pages.coreference.cause import switched_heads, verdicts
from viz.pages.coreference.cause.data import pronouns
from viz.pages.coreference.cause.data.asked import Asked, all_heads, removed_heads
from viz.pages.coreference.data import Pair, curated, scores_task
from viz.pages.coreference.marked_sentence import marked_line
from viz.selection import state
from viz.selection.coreference import MARKS
from viz.text.messages import _, said
from viz.text.numbers import signed
from viz.ui import controls, frame, long_work, uploads
from viz.ui.controls import plain
from viz.ui.sentence import Line

if TYPE_CHECKING:
    from model.analysis.metrics.head_names import HeadName

OWN = ""
#: Megabytes of a file with sentence pairs.
LARGEST: Final = 2


def chosen_pair() -> Pair:
    """The pair that is chosen: one's own sentences first; the set's first where those leave no choice."""
    cases = pair_controls.own_cases(pair_controls.own_texts())
    own: Pair | str = said("mark the pronoun and its candidates in “Side by side” first")
    if cases is not None:
        own = pronouns.own_pair(models.translator(state.current().model), cases)
    by_name = {pair.name: pair for pair in pronouns.choice_pairs()}
    labels = {name: f"{name}: {pair.cases[0].sentence}" for name, pair in by_name.items()}
    if isinstance(own, Pair):
        by_name = {OWN: own} | by_name
        labels = {OWN: _("Your sentences: {sentence}", sentence=own.cases[0].sentence)} | labels
    asked = state.current().coreference.pair
    if isinstance(own, str) and asked == OWN:
        frame.note(
            _(
                "Your own sentences cannot be tested here: {reason}. This is the first pair of the set.",
                reason=plain(own),
            )
        )
    shown = asked if asked in by_name else next(iter(by_name))
    return by_name[controls.dropdown("pair", _("Pair of sentences"), labels, shown=shown)]


def asked(pairs: Sequence[Pair]) -> Asked:
    """What is asked of the model in these pairs."""
    translator = models.translator(state.current().model)
    return pronouns.asked(translator, pairs, state.current().coreference.replacement, _accuracy(all_heads(translator)))


def show_pair(pair: Pair | None) -> None:
    """Both sentences, a line each, with the choice that the model has in them; nothing without a pair."""
    if pair is None:
        return
    lines = []
    own = pair_controls.own_marks([case.sentence for case in pair.cases]) if pair.is_own else []
    for number, (letter, case) in enumerate(zip(verdicts.LETTERS, pair.cases, strict=True)):
        right, wrong = verdicts.german_words(case)
        choice = (
            _("it writes “{right}” and not “{wrong}”", right=right, wrong=wrong)
            if pair.is_own
            else _("“{right}” is right, “{wrong}” wrong", right=right, wrong=wrong)
        )
        spans = dict(zip(MARKS, case.spans, strict=True))
        is_guess = pair.is_own and own[number].is_guess
        source = Line(letter, "en", case.sentence)
        lines.append(marked_line(source, spans, f"→ {choice}", is_guess=is_guess))
    st.html("".join(lines))


@frame.fragment
def bleu() -> None:
    """BLEU of a slice of the person's own sentence pairs."""
    with st.expander(
        _("What it does to translation as a whole: BLEU on sentence pairs of yours"), key="cause-bleu-box"
    ):
        st.caption(
            _(
                "A text file, one pair a line: English, a tab, German. The first {most_pairs} pairs are translated "
                "twice, greedily: with every head on, and with those chosen above switched off.",
                most_pairs=pronouns.MOST_PAIRS,
            )
        )
        file = uploads.field(_("Sentence pairs, UTF-8"), key="cause-pairs", megabytes=LARGEST)
        if file is None:
            return
        pairs = pronouns.uploaded_pairs(uploads.content(file, LARGEST))
        translator, choices = models.translator(state.current().model), state.current().coreference
        heads = all_heads(translator)
        chosen = switched_heads.chosen(heads)
        if not chosen:
            frame.note(_("Choose heads to switch off first."))
            return
        off = removed_heads(heads, chosen, others_off=choices.others_off, others_of=choices.others_of)
        task = pronouns.bleu_change(translator, pairs, off, choices.replacement)
        change = long_work.outcome(
            task, _("Translate {num_pairs} sentences twice", num_pairs=len(pairs)), key="cause-bleu"
        )
        if change is not None:
            intact, removed = change
            st.markdown(
                _(
                    "BLEU **{intact:.1f}** with every head, **{removed:.1f}** without those: {difference} on "
                    "{num_pairs} sentences.",
                    intact=intact,
                    removed=removed,
                    difference=signed(removed - intact, 1),
                    num_pairs=len(pairs),
                )
            )


def _accuracy(heads: Sequence["HeadName"]) -> Float[np.ndarray, "head"] | None:
    """Accuracy of every head on the curated set by its weights, if that was measured; NaN at sites not scored."""
    scores = long_work.known(scores_task(curated(), models.reader(state.current().model), "weights"))
    if scores is None:
        return None
    tables = {site: of.accuracy.value.double().numpy() for site, of in scores.sites.items()}
    return np.array([tables[head.site][head.layer, head.head] if head.site in tables else np.nan for head in heads])

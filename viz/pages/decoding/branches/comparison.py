"""Two translations of one sentence side by side: texts, probabilities, rows; and how a branch is removed."""

from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING

import streamlit as st

from viz.access import models, texts
from viz.pages.decoding import notices, translation_controls, translations
from viz.pages.decoding.data.searches import most_changed_head
from viz.pages.decoding.figures import Written, attention_difference, common_difference, probability_curves
from viz.pictures.figures.heads import align
from viz.selection import state
from viz.selection.branch_codes import without
from viz.text.html import word_changes
from viz.text.messages import _, plural, said, said_plural
from viz.text.written import ENCODER, display_token, file_name, head_name
from viz.ui import frame
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace


@dataclass(frozen=True, eq=False)
class Translation:
    """One of two that are compared: what it is called, for people and in names of files, and its trace."""

    name: str
    file_name: str
    trace: "Trace"


def show(ours: Translation, theirs: Translation) -> None:
    """Their words, the probability of each token, and the weights of a head: by default the one that changes most."""
    st.html(
        word_changes(
            texts.word_diff(theirs.trace.translation, ours.trace.translation),
            names=(theirs.name, ours.name),
            language=models.target_language(state.current().model),
        )
    )
    message = "Probability of each token when it was written: {ours} and {theirs}, step by step"
    frame.chart(
        probability_curves(_written(ours), _written(theirs), first_difference(ours.trace, theirs.trace)),
        "branch-probabilities",
        file_name(f"{ours.file_name} against {theirs.file_name} probabilities", sentence=ours.trace.text),
        _(message, ours=ours.name, theirs=theirs.name),
    )
    frame.small_print(
        "The probability of each token when it was written, with the edits of its branch. The dashed line marks "
        "the first token that differs; before it the curves differ only where a head was edited."
    )
    _compare_attention(ours, theirs)


def _compare_attention(ours: Translation, theirs: Translation) -> None:
    most_changed = most_changed_head(ours.trace, theirs.trace)
    if most_changed is not None:
        site, layer, head = most_changed
        state.propose(site=site, layer=layer, head=head)
    st.markdown(_("**What a head attends to**"))
    site, layer, head = translation_controls.which_head(ours.trace)
    axes = [(ours.trace.axis_tokens(site)[side], theirs.trace.axis_tokens(site)[side]) for side in (0, 1)]
    rows, columns = (align(*tokens) for tokens in axes)
    mine, other_weights = (each.trace.weights(site, layer, [head])[0].numpy() for each in (ours, theirs))
    difference = common_difference(mine, other_weights, rows, columns)
    if not difference.size:
        frame.note("They have no token in common.")
        return
    largest = float(abs(difference).max())
    if largest == 0:
        frame.note(
            _(
                "Where both have the same tokens, this head has the same weights in both. Both read the same encoded "
                "sentence."
            )
            if site == ENCODER
            else _("Where both have the same tokens, this head has the same weights in both.")
        )
        return
    names = ours.trace.row_names(site)
    message = "Weights of {ours} minus weights of {theirs}, for the tokens that both have"
    frame.chart(
        attention_difference(difference, [names[i] for i in rows.first], [axes[1][0][i] for i in columns.first]),
        "branch-attention",
        file_name(f"{ours.file_name} minus {theirs.file_name}", head_name(site, layer, head), sentence=ours.trace.text),
        _(message, ours=ours.name, theirs=theirs.name),
    )
    left_out = len(rows.only_first) + len(rows.only_second)
    how_to_read = plural(
        "Rows are queries, columns keys: warm if the weight is larger in *{ours}* than in *{theirs}*, cold if it is "
        "smaller, for the tokens that both have, in the same order; {count} row is in only one of them. The largest "
        "difference is {largest:.3f}.",
        "Rows are queries, columns keys: warm if the weight is larger in *{ours}* than in *{theirs}*, cold if it is "
        "smaller, for the tokens that both have, in the same order; {count} rows are in only one of them. The "
        "largest difference is {largest:.3f}.",
        left_out,
        ours=plain(ours.name),
        theirs=plain(theirs.name),
        largest=largest,
    )
    is_most_changed = (site, layer, head) == most_changed
    st.caption(_("{sentences} No other head changes more.", sentences=how_to_read) if is_most_changed else how_to_read)


def first_difference(first: "Trace", second: "Trace") -> int | None:
    """The first step at which two translations write different tokens, or at which only one writes any."""
    tokens = [[step.token_id for step in trace.steps] for trace in (first, second)]
    pairs = enumerate(zip(*tokens, strict=False))
    position = next((at for at, (of_first, of_second) in pairs if of_first != of_second), None)
    shorter = min(map(len, tokens))
    return position if position is not None or len(tokens[0]) == len(tokens[1]) else shorter


def _written(translation: Translation) -> Written:
    steps = translation.trace.steps
    tokens = tuple(display_token(step.token) for step in steps)
    return Written(translation.name, tokens, tuple(exp(step.log_prob) for step in steps))


def remove(number: int) -> None:
    """Remove a branch with all that leave it, and say so; undo brings them back, and computes nothing again."""
    made = translations.choices()
    if not 1 <= number <= len(made):
        return
    before, at = state.current().decoding, state.current().common.step
    kept, number_of = without(made, number)
    shown = before.branch
    while shown not in number_of:
        shown = made[shown - 1].parent
    against = None if before.compared_branch is None else number_of.get(before.compared_branch)
    state.change(branches=translations.codes_of(kept), compared_branch=against)
    # Where the branch left the other one, that one has a step as well.
    step = at if shown == before.branch else min(at, made[number - 1].step)
    translations.go(number_of[shown], step)
    others = len(made) - len(kept) - 1
    notices.tell(
        said_plural(
            "Removed: branch {number} and {count} branch that started from it. Undo restores them.",
            "Removed: branch {number} and {count} branches that started from it. Undo restores them.",
            others,
            number=number,
        )
        if others
        else said("Removed: branch {number}. Undo restores it.", number=number)
    )

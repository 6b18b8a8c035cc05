"""The translations that a person made of one sentence: their tree, and two of them compared."""

from collections.abc import Sequence
from math import exp
from typing import TYPE_CHECKING

import streamlit as st

from viz.access import models, texts
from viz.core.file_names import file_name, head_name
from viz.core.html import word_changes
from viz.core.sites import ENCODER
from viz.core.token_text import display_token
from viz.figures.comparison import align
from viz.pages.decoding import translation_controls, translations
from viz.pages.decoding.branch_codes import Choice
from viz.pages.decoding.branch_names import ORIGINAL, deed
from viz.pages.decoding.branches import removal
from viz.pages.decoding.branches.component import BranchRow, TreeAct, branch_tree
from viz.pages.decoding.figures import Written, attention_difference, common_difference, probability_curves
from viz.selection import state
from viz.ui import frame

if TYPE_CHECKING:
    from model import Trace


@frame.fragment
def show(trace: "Trace") -> None:
    """Where to leave the translation, the tree of what was made so, and two of them side by side."""
    st.caption(
        "Choose a step and write another token there: the model goes on from it, as a branch beside what it wrote "
        "itself. Nothing is lost; every branch is in the address."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        translation_controls.step(trace)
        translation_controls.candidate(trace)
        translation_controls.type_word(trace)
    traces = translation_controls.all_traces()
    made = translations.choices()
    _tree(made, traces)
    _undo()
    other = translations.compared(made)
    if other is not None:
        _compare(made, traces, other)


def _tree(made: Sequence[Choice], traces: Sequence["Trace"]) -> None:
    selection = state.current()
    st.caption(
        "To the left each translation is a line over its steps, and leaves another one where it was changed; the ring "
        "is the chosen step. Click one to show it. Words that differ from the one that it leaves are underlined; log p "
        "is the sum over its tokens, in nats."
        if made
        else "So far there is only the model’s own translation."
    )
    branch_tree(
        tree_rows(made, traces, models.vocabulary(models.reader(selection.model))),
        shown=selection.decoding.branch,
        against=translations.compared(made),
        step=selection.decoding.step,
        on_act=_act,
        key="branch-tree",
        language=models.target_language(selection.model),
        name=file_name("branches", sentence=selection.common.text),
    )


def tree_rows(made: Sequence[Choice], traces: Sequence["Trace"], vocabulary: Sequence[str]) -> list[BranchRow]:
    """Each translation as a row, number 0 first."""
    rows = []
    for number, (choice, trace) in enumerate(zip((None, *made), traces, strict=True)):
        origin = trace if choice is None else traces[choice.parent]
        spans = texts.word_diff(origin.translation, trace.translation)
        rows.append(
            BranchRow(
                number=number,
                parent=None if choice is None else choice.parent,
                start=0 if choice is None else choice.step,
                length=len(trace.steps),
                name=ORIGINAL if choice is None else f"Branch {number}",
                deed="" if choice is None else deed(choice.action, vocabulary, trace.source_tokens),
                words=tuple((" ".join(span.second), span.is_same) for span in spans if span.second),
                log_prob=sum(step.log_prob for step in trace.steps),
            )
        )
    return rows


def _act(act: TreeAct) -> None:
    if act.what == "show":
        translations.show(act.branch)
    elif act.what == "remove":
        removal.remove(act.branch)
    else:
        translations.compare(None if act.branch == state.current().decoding.compared_branch else act.branch)
        return
    st.rerun()


def _undo() -> None:
    gone = removal.removed()
    if gone is None:
        return
    others = gone.count - 1
    with_it = f" and {others} {'branch' if others == 1 else 'branches'} that left it" if others else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Removed: branch {gone.number}{with_it}.", width="content")
        st.button("Bring back", key="bring-back", icon=":material/undo:", on_click=_bring_back)


def _bring_back() -> None:
    removal.bring_back()
    st.rerun()


def _compare(made: Sequence[Choice], traces: Sequence["Trace"], other: int) -> None:
    """The branch that is shown beside another one: texts, probabilities, and the attention of the chosen head."""
    selection = state.current()
    shown, names = selection.decoding.branch, translation_controls.short_names(len(traces))
    ours, theirs = traces[shown], traces[other]
    st.subheader("Compared", anchor=False)
    translation_controls.against(names, other)
    st.html(
        word_changes(
            [(span.first, span.second) for span in texts.word_diff(theirs.translation, ours.translation)],
            names=(names[other], names[shown]),
            language=models.target_language(selection.model),
        )
    )
    pair = _written(names[shown], ours), _written(names[other], theirs)
    frame.chart(
        probability_curves(*pair, first_difference(ours, theirs)),
        "branch-probabilities",
        file_name(f"branch{shown} against branch{other} probabilities", sentence=ours.text),
        f"Probability of each token when it was written: {names[shown]} and {names[other]}, step by step",
    )
    st.caption(
        "How probable each token was when it was written, under the edits of its branch. The dashed line stands before "
        "the first token that differs; before it the curves differ only where a head was edited."
    )
    _compare_attention(ours, theirs, shown, other)


def _compare_attention(ours: "Trace", theirs: "Trace", shown: int, other: int) -> None:
    st.markdown("**Where the chosen head looks**")
    site, layer, head = translation_controls.which_head(ours)
    axes = [(ours.axis_tokens(site)[side], theirs.axis_tokens(site)[side]) for side in (0, 1)]
    rows, columns = (align(*tokens) for tokens in axes)
    mine, other_weights = (trace.weights(site, layer, [head])[0].numpy() for trace in (ours, theirs))
    difference = common_difference(mine, other_weights, rows, columns)
    if not difference.size:
        frame.note("They have no token in common.")
        return
    largest = float(abs(difference).max())
    if largest == 0:
        shared = " Both read the same encoded sentence." if site == ENCODER else ""
        frame.note(f"This head looks alike in both, wherever they have the same tokens.{shared}")
        return
    frame.chart(
        attention_difference(difference, [axes[0][0][i] for i in rows.first], [axes[1][0][i] for i in columns.first]),
        "branch-attention",
        file_name(f"branch{shown} minus branch{other}", head_name(site, layer, head), sentence=ours.text),
        "Weights of the branch shown minus those of the other one, for the tokens that both have",
    )
    left_out = len(rows.only_first) + len(rows.only_second)
    st.caption(
        f"Rows look at columns: warm where branch {shown} gives more weight than branch {other}, cold where less, for "
        f"the tokens that both have, in the same order; {left_out} {'row is' if left_out == 1 else 'rows are'} in one "
        f"of them only. The largest difference is {largest:.3f}."
    )


def first_difference(first: "Trace", second: "Trace") -> int | None:
    """The first step at which two translations write different tokens, or at which only one writes any."""
    tokens = [[step.token_id for step in trace.steps] for trace in (first, second)]
    pairs = enumerate(zip(*tokens, strict=False))
    position = next((at for at, (one, two) in pairs if one != two), None)
    shorter = min(map(len, tokens))
    return position if position is not None or len(tokens[0]) == len(tokens[1]) else shorter


def _written(name: str, trace: "Trace") -> Written:
    tokens = tuple(display_token(step.token) for step in trace.steps)
    return Written(name, tokens, tuple(exp(step.log_prob) for step in trace.steps))

"""The translations that a person made of one sentence: their tree, and two of them side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Annotated, Final, Literal

import streamlit as st

from viz.access import models, texts
from viz.access.traces import rival as rival_of
from viz.pages.decoding import translation_controls, translations
from viz.pages.decoding.data.searches import aligned, most_changed_head
from viz.pages.decoding.figures import Written, attention_difference, common_difference, probability_curves
from viz.pages.decoding.translations import percent
from viz.pictures.component import Component
from viz.pictures.payload import LOCAL, LogProb, encoded, hear
from viz.selection import notices, state
from viz.selection.branch_codes import ORIGINAL, Choice, Write, deed, path_of, without
from viz.text import written
from viz.text.html import word_changes
from viz.text.messages import _, in_a_row, plural, said, said_plural
from viz.text.written import ENCODER, display_token, file_name, head_name, times_less
from viz.theme import BLUE, ORANGE
from viz.ui import frame, terms, token_labels
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace


@dataclass(frozen=True, eq=False)
class Translation:
    """One of two that are compared: what it is called, for people and in names of files, and its trace."""

    name: str
    file_name: str
    trace: "Trace"


def show_comparison(ours: Translation, theirs: Translation) -> None:
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
    frame.caption(
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
    rows, columns = aligned(ours.trace, theirs.trace, site)
    mine, other_weights = (each.trace.weights(site, layer, [head])[0].numpy() for each in (ours, theirs))
    difference = common_difference(mine, other_weights, rows, columns)
    if not difference.size:
        frame.note("These translations have no token in common.")
        return
    largest = float(abs(difference).max())
    if largest == 0:
        frame.note(
            _(
                "As long as the tokens are the same, this head has the same weights in both translations. Both "
                "read the same encoded sentence."
            )
            if site == ENCODER
            else _("As long as the tokens are the same, this head has the same weights in both translations.")
        )
        return
    names, keys = ours.trace.row_names(site), ours.trace.axis_tokens(site)[1]
    message = "Weights of {ours} minus weights of {theirs}, for the tokens that both have"
    frame.chart(
        attention_difference(
            difference,
            [names[i] for i in rows.first],
            [keys[i] for i in columns.first],
            rows_write=ours.trace.rows_write(site),
        ),
        "branch-attention",
        file_name(f"{ours.file_name} minus {theirs.file_name}", head_name(site, layer, head), sentence=ours.trace.text),
        _(message, ours=ours.name, theirs=theirs.name),
    )
    left_out = len(rows.only_first) + len(rows.only_second)
    how_to_read = plural(
        "Rows are queries, columns keys: warm if the weight is larger in *{ours}* than in *{theirs}*, cold if it is "
        "smaller, for the tokens that both have, in the same order; {count} row is in only one of the two. The "
        "largest difference is {largest:.3f}.",
        "Rows are queries, columns keys: warm if the weight is larger in *{ours}* than in *{theirs}*, cold if it is "
        "smaller, for the tokens that both have, in the same order; {count} rows are in only one of the two. "
        "The largest difference is {largest:.3f}.",
        left_out,
        ours=plain(ours.name),
        theirs=plain(theirs.name),
        largest=largest,
    )
    is_most_changed = (site, layer, head) == most_changed
    if is_most_changed:
        how_to_read = _("{sentences} No other head changes more.", sentences=how_to_read)
    terms.caption(in_a_row((how_to_read, token_labels.rows_said(ours.trace, site))))


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
    notices.answer(
        said_plural(
            "Removed: branch {number} and {count} branch that started from it. Undo restores them.",
            "Removed: branch {number} and {count} branches that started from it. Undo restores them.",
            others,
            number=number,
        )
        if others
        else said("Removed: branch {number}. Undo restores it.", number=number)
    )


#: A translation is offered unasked where it takes at most so many more tokens, about.
MAX_UNASKED: Final = 128
_COMPONENT: Final = Component("pages/decoding/branches/branch_tree.js", "pages/decoding/branches/branch_tree.css")


@dataclass(frozen=True, slots=True)
class TreeAct:
    """What a person wants, of which branch."""

    what: Literal["show", "compare", "remove"]
    branch: int


@frame.fragment
def show(trace: "Trace") -> None:
    """The tree of the translations that a person made, and two of them side by side."""
    made = translations.choices()
    if made:
        _tree(made, translation_controls.known_traces(), trace.source_tokens)
        made = translations.choices()
    other = translations.compared(made)
    if other is not None:
        _compare(trace, other)
    else:
        _offer(trace)


def _tree(made: Sequence[Choice], traces: Sequence["Trace | None"], source_tokens: Sequence[str]) -> None:
    selection = state.current()
    tree = BranchTree(
        branches=tree_rows(made, traces, models.vocabulary(models.reader(selection.model)), source_tokens),
        shown=selection.decoding.branch,
        against=translations.compared(made),
        step=selection.common.step,
        name=file_name("branches", sentence=selection.common.text),
        text_language=models.target_language(selection.model),
    )
    branch_tree(tree, on_act=_act, key="branch-tree")
    frame.caption(
        "Each line on the left is one translation, step by step; it branches off another line where it was changed. "
        "The ring is the chosen step. Click a line to show its translation. Words that differ from the translation it "
        "branches off are underlined; log p is the sum over its tokens, in nats. Every branch is kept in the URL."
    )


def _visible(text: str) -> str:
    """Words as they can be shown, with the spaces between and before them."""
    return " ".join(word and written.display_token(word) for word in text.split(" "))


@dataclass(frozen=True, slots=True)
class BranchRow:
    """A translation; number 0 is the model's own."""

    number: int
    #: parent, start: the branch that it leaves, and the step at which it does; None and 0 for the model's own.
    parent: int | None
    start: int
    length: int  #: its steps
    name: str
    deed: str  #: what was done
    #: its text in pieces with the spaces before them, each with whether the one that it leaves has the same there.
    words: tuple[tuple[Annotated[str, _visible], bool], ...]
    log_prob: LogProb | None  #: of all of it, in nats; None of a branch that is not written yet

    def derived(self) -> dict[str, object]:
        """Whether all of it is known."""
        return {"is_written": self.log_prob is not None}


def tree_rows(
    made: Sequence[Choice], traces: Sequence["Trace | None"], vocabulary: Sequence[str], source_tokens: Sequence[str]
) -> list[BranchRow]:
    """Return a row per translation, number 0 first; the trace of a branch not written yet is None."""
    rows = []
    for number, (choice, trace) in enumerate(zip((None, *made), traces, strict=True)):
        start = 0 if choice is None else choice.step
        origin = (None if choice is None else traces[choice.parent]) or trace
        words = () if trace is None or origin is None else _words(origin.translation, trace.translation)
        rows.append(
            BranchRow(
                number=number,
                parent=None if choice is None else choice.parent,
                start=start,
                length=start + 1 if trace is None else len(trace.steps),
                name=_(ORIGINAL) if choice is None else _("Branch {number}", number=number),
                deed="" if choice is None else deed(choice.action, vocabulary, source_tokens),
                words=words,
                log_prob=None if trace is None else sum(step.log_prob for step in trace.steps),
            )
        )
    return rows


def _words(origin: str, translation: str) -> tuple[tuple[str, bool], ...]:
    """A translation in pieces, each with whether the one that it leaves has the same there."""
    spans = texts.word_diff(origin, translation)
    return tuple((span.second_text, span.is_same) for span in spans if span.second)


def _act(act: TreeAct) -> None:
    if act.what == "show":
        translations.show(act.branch)
    elif act.what == "remove":
        remove(act.branch)
    else:
        translations.compare(None if act.branch == state.current().decoding.compared_branch else act.branch)
        return
    st.rerun()


def _compare(ours: "Trace", other: int) -> None:
    """The branch that is shown beside another one."""
    shown, names = state.current().decoding.branch, translation_controls.short_names(len(translations.choices()) + 1)
    st.subheader(_("Comparison"), anchor=False)
    translation_controls.against(names, other)
    theirs = Translation(names[other], f"branch{other}", translations.looked_at(other))
    show_comparison(Translation(names[shown], f"branch{shown}", ours), theirs)


def _offer(trace: "Trace") -> None:
    """What the model would write from the chosen step on if it wrote another token there."""
    step = state.current().common.step
    rival = rival_of(trace, step)
    if rival is None:
        return
    token, chosen = (plain(display_token(each.token)) for each in (rival, trace.steps[step]))
    action = Write((rival.token_id,))
    st.subheader(_("If “{token}” were written at step {step}", token=token, step=step + 1), anchor=False)
    ratio = times_less(rival.log_prob, trace.steps[step].log_prob)
    numbers = {"token": token, "share": percent(exp(rival.log_prob)), "written": chosen}
    with st.container(horizontal=True, vertical_alignment="center"):
        terms.markdown(
            _("The probability of “{token}” is {share}: {ratio} than that of “{written}”.", ratio=ratio, **numbers)
            if ratio
            else _("The probability of “{token}” is {share}, about that of “{written}”.", **numbers),
            width="content",
        )
        st.button(
            _("Keep as a branch"), key="keep-offer", icon=":material/call_split:", on_click=_keep, args=(step, action)
        )
    if len(trace.steps) - step > MAX_UNASKED:
        return
    path = (*path_of(translations.choices(), state.current().decoding.branch), (step, action))
    offered = Translation(
        _("With “{token}”", token=display_token(rival.token)),
        "offered",
        translations.looked_at_along(path, "trace-offered"),
    )
    show_comparison(offered, Translation(_(ORIGINAL), "own", trace))


def _keep(step: int, action: Write) -> None:
    translations.add(step, action)
    st.rerun()


def in_order(rows: Sequence[BranchRow]) -> list[BranchRow]:
    """Depth-first, siblings by descending start step, so that no line to a branch crosses another one."""
    ordered: list[BranchRow] = []

    def put(row: BranchRow) -> None:
        ordered.append(row)
        children = [child for child in rows if child.parent == row.number]
        for child in sorted(children, key=lambda child: (-child.start, child.number)):
            put(child)

    put(rows[0])
    return ordered


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchTree:
    """The tree."""

    branches: Annotated[Sequence[BranchRow], LOCAL]  #: number 0 first
    #: shown, against: the branch that the page shows, and the one that it is compared with.
    shown: int
    against: int | None
    step: int  #: of the branch shown
    name: str  #: of saved pictures, without their ending
    text_language: str = ""  #: of the texts, as HTML names it; "" if unknown
    shown_colour: str = BLUE
    against_colour: str = ORANGE

    def derived(self) -> dict[str, object]:
        """The branches in the order in which they are drawn."""
        return {"rows": [*map(encoded, in_order(self.branches))]}


def branch_tree(tree: BranchTree, *, on_act: Callable[[TreeAct], object], key: str) -> None:
    """Show the tree; `on_act` is called before the next run, with what a person wants."""

    def take(act: TreeAct) -> None:
        # The model's own translation stays.
        if (act.what, act.branch) != ("remove", 0):
            on_act(act)

    _COMPONENT.show(tree, key=key, act=hear(take, TreeAct, branch=range(len(tree.branches))))

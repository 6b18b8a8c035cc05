"""Beam search, of the decoding page: its tree, every hypothesis of it, and greedy search beside it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import exp
from typing import TYPE_CHECKING, Annotated, Final

import streamlit as st

from viz import theme
from viz.access import models, texts, traces
from viz.access.blocks import block_names, blocks, over_blocks
from viz.pages.decoding import export, steps
from viz.pages.decoding.data import searches
from viz.pages.decoding.figures import ancestor_heatmap
from viz.pictures.component import Component
from viz.pictures.payload import CHOSEN, Text, Token, hear
from viz.selection import notices, state
from viz.text import html
from viz.text.messages import _, said
from viz.text.written import CROSS, decimal, display_token, file_name, head_label, head_name, signed
from viz.ui import controls, frame, long_work, terms, token_labels

if TYPE_CHECKING:
    from model import BeamNode, BeamTree, Trace

#: The parts a hypothesis can play, and what they mean; the first that fits is said.
ROLES: Final[Mapping[str, str]] = {
    "winner": said("the winner"),
    "rival": said("finished rivals"),
    "lived": said("kept for some steps"),
    "dropped": said("dropped"),
}


def roles(tree: "BeamTree") -> list[str]:
    """The role of each node, in their order."""
    won = {0, *(node.index for node in tree.path(tree.hypotheses[0]))}
    rivals = {node.index for end in tree.hypotheses[1:] for node in tree.path(end)}
    return [
        "winner"
        if node.index in won
        else "rival"
        if node.index in rivals
        else "lived"
        if node.fate == "continued"
        else "dropped"
        for node in tree.nodes
    ]


def rows(tree: "BeamTree", shown: Collection[int]) -> dict[int, int]:
    """Assign each shown node a row in its step's column so that no two edges of the tree cross.

    Children stand in the order of their parents, and siblings by rank, but the winner and its ancestors come first and
    so are a straight line.
    """
    won = {0, *(node.index for node in tree.path(tree.hypotheses[0]))}
    children: dict[int, list[BeamNode]] = {}
    for node in tree.nodes:
        if node.parent is not None and node.index in shown:
            children.setdefault(node.parent, []).append(node)
    row_of: dict[int, int] = {}
    column = [0]
    while column:
        row_of |= {index: row for row, index in enumerate(column)}
        column = [
            child.index
            for parent in column
            for child in sorted(children.get(parent, ()), key=lambda node: (node.index not in won, node.rank))
        ]
    return row_of


def living(tree: "BeamTree") -> set[int]:
    """The nodes that were kept for at least a step or returned: what stays of the tree without its dropped leaves."""
    parts = roles(tree)
    return {node.index for node in tree.nodes if parts[node.index] != "dropped"}


def closest_rival(tree: "BeamTree", step: int | None, token_id: int | None = None) -> int:
    """The hypothesis to open: what came closest to the winner at a step; the winner where nothing was beside it.

    Of what was compared with one of the winner's ancestors, after the same tokens: at this step the one with this
    token, else the best; without any there, of all steps the one that was least behind.
    """
    won = (tree.nodes[0], *tree.path(tree.hypotheses[0]))
    after = {parent.index: child for parent, child in pairwise(won)}
    rivals = [node for node in tree.nodes if node.parent in after and node is not after[node.parent]]
    at_step = [node for node in rivals if node.step == step]
    there = [node for node in at_step if node.token_id == token_id] or at_step or rivals

    def behind(node: "BeamNode") -> float:
        assert node.parent is not None, "a rival follows an ancestor of the winner"
        return after[node.parent].total - node.total

    return min(there, key=behind, default=tree.winner).index


def finish_rank(tree: "BeamTree", node: int) -> int | None:
    """The place of a hypothesis among those that the search returned, from 1; None if it did not."""
    return tree.hypotheses.index(node) + 1 if node in tree.hypotheses else None


def fate(tree: "BeamTree", index: int) -> str:
    """What became of a hypothesis, when and why, as a sentence."""
    node, width = tree.nodes[index], tree.width
    began, step = node.step + 1, node.fate_step + 1
    if node.parent is None:
        return _("The beginning: all hypotheses start here.")
    if node.fate == "continued":
        return _("Kept in step {step}: at least one of its continuations was kept or finished.", step=began)
    if node.fate in ("finished", "length limit"):
        return _how_it_ended(tree, index)
    if node.fate == "outscored":
        message = (
            "Finished in step {began}, dropped in step {step}: by then {width} finished hypotheses had better scores."
        )
        return _(message, began=began, step=step, width=width)
    if node.fate == "search over":
        message = (
            "Still kept when the search stopped after step {step}: it could no longer beat the finished hypotheses."
        )
        return _(message, step=step)
    if node.fate_step > node.step:
        message = "Kept in step {began}, dropped in step {step}: none of its continuations was good enough."
        return _(message, began=began, step=step)
    message = "Dropped in step {step}, where it was compared: rank {rank}, and at most {width} are kept."
    return _(message, step=step, rank=node.rank + 1, width=width)


def _how_it_ended(tree: "BeamTree", index: int) -> str:
    """How a hypothesis ended that the search returned, and its place."""
    node = tree.nodes[index]
    step, rank, count = node.fate_step + 1, finish_rank(tree, index), len(tree.hypotheses)
    if node.fate == "finished":
        message = "Finished in step {step} and returned: rank {rank} of {count} by score."
        return _(message, step=step, rank=rank, count=count)
    message = (
        "Cut off at the longest translation, {limit} tokens, in step {step} and returned: rank {rank} of {count} by "
        "score."
    )
    return _(message, limit=tree.limit, step=step, rank=rank, count=count)


#: As wide as a tree is kept, and as high as its length penalty goes, in hundredths.
MAX_WIDTH, MAX_PENALTY = 12, 500
_COMPONENT: Final = Component("pages/decoding/beam/beam_picture.js", "pages/decoding/beam/beam_picture.css")
_COLOURS: Final = {
    "winner": theme.BLUE,
    "rival": theme.ORANGE,
    "dropped": theme.GREY,
    "dark": theme.NIGHT,
    "pale": theme.LIGHT,
}


@dataclass(frozen=True, slots=True)
class BeamBox:
    """A node of the tree as it is drawn: its numbers as texts, and its rows with and without dropped branches."""

    parent: int | None
    step: int
    token: Token
    total: str
    score: str | None
    badge: str
    role: str
    row: int
    folded: int | None
    fate: str


@dataclass(frozen=True, slots=True)
class BeamPicture:
    """The tree; `chosen` is the node that is open, `name` that of saved pictures."""

    nodes: Sequence[BeamBox]
    chosen: Annotated[int, CHOSEN]
    name: Annotated[str, CHOSEN]
    roles: Mapping[str, Text]
    colours: Mapping[str, str]


@frame.fragment
def show(trace: "Trace") -> None:
    """The settings, the tree, greedy beside beam, and the hypothesis that is open."""
    _settings()
    selection = state.current()
    task = searches.searching(models.writer(selection.model), trace.text, selection.decoding)
    tree = long_work.outcome(task, _("Search"), key="beam", start=True, patience=long_work.LONGER_PATIENCE)
    if tree is None:
        return
    node = _chosen(trace, tree)
    name = file_name("beam", f"width{tree.width}", f"penalty{selection.decoding.length_penalty}", sentence=trace.text)
    beam_picture(tree, chosen=node, on_choose=partial(_choose, trace, tree), key="beam-tree", name=name)
    terms.caption(
        _(
            "Read from left to right, one column per step. Each box is a hypothesis: its last token, and the "
            "log-probability of the whole. Numbered boxes are finished hypotheses, with their rank and score. The "
            "arrow keys move along the tree; Enter or a click opens a hypothesis below."
        ),
        help=_(
            "At each step, beam search compares the possible continuations of the hypotheses it keeps, by the "
            "log-probability of the whole, and keeps the best. Finished hypotheses are ranked by score: "
            "log-probability ÷ {penalty}, so that length alone does not count against a translation.",
            penalty=_penalty_in_words(),
        ),
    )
    controls.table_button(_("All nodes (CSV)"), partial(export.beam_nodes, tree), name)
    _compare(trace.text, tree)
    _open(trace.text, tree, node)


def _penalty_in_words() -> str:
    if models.writer(state.current().model).penalty == "wu":
        return _("((5 + tokens) / 6)^α (Wu et al. 2016)")
    return _("tokens^α, as in transformers for this model")


def _settings() -> None:
    controls.settle("beam_size", 1, MAX_WIDTH, said("Beam width"))
    controls.settle("length_penalty", 0, MAX_PENALTY, said("Length penalty"), controls.hundredths)
    with st.container(horizontal=True, gap="medium"):
        controls.whole_slider(
            "beam_size", _("Beam width"), MAX_WIDTH, help_text=_("Number of hypotheses kept; 1 is greedy decoding.")
        )
        controls.hundredths_slider(
            "length_penalty",
            _("Length penalty α"),
            0,
            200 if state.current().decoding.length_penalty <= 200 else MAX_PENALTY,
            help_text=_("0 compares plain log-probabilities; higher values favour long translations."),
        )


def _chosen(trace: "Trace", tree: "BeamTree") -> int:
    """The node that is open: the closest rival of the winner at the chosen step, unless another one was chosen."""
    decoding = state.current().decoding
    rival = traces.rival(trace, state.current().common.step)
    closest = closest_rival(tree, state.current().common.step, None if rival is None else rival.token_id)
    asked = decoding.beam_node
    if asked is not None and asked >= len(tree.nodes):
        message = (
            "There is no hypothesis {asked}: this tree has {count}, counted from 0. The hypothesis that came "
            "closest to the winner is shown."
        )
        notices.tell(said(message, asked=asked, count=len(tree.nodes)))
        state.change(beam_node=None)
    return closest if asked is None or asked >= len(tree.nodes) else asked


def _compare(text: str, tree: "BeamTree") -> None:
    """Greedy search and what the beam returned, with the words marked that greedy search did not write."""
    writer = models.writer(state.current().model)
    greedy = traces.written(writer, text)
    total = sum(step.log_prob for step in greedy.steps)
    score = searches.greedy_score(greedy, writer, tree.alpha)
    of_greedy = (_("Greedy"), greedy.translation, decimal(total, 3), str(len(greedy.steps)), decimal(score, 4))
    winner, *others = (_returned(tree, rank, greedy.translation) for rank in range(1, len(tree.hypotheses) + 1))
    columns = _columns()
    st.html(
        html.table(columns, [of_greedy, winner], label=_("Greedy decoding compared with the winner of beam search"))
    )
    terms.caption(_verdict(total, score, tree))
    if others:
        with st.expander(
            _("The other {count} hypotheses that the search returned", count=len(others)), key="beam-others"
        ):
            st.html(html.table(columns, others, label=_("Hypotheses with lower scores than the winner")))


def _columns() -> list[html.Column]:
    titles = (_("Log-probability"), _("Tokens"), _("Score"))
    numbers = [html.Column(title, is_number=True) for title in titles]
    text = html.Column(_("Translation"), language=models.target_language(state.current().model))
    return [html.Column(_("Search")), text, *numbers]


def _returned(tree: "BeamTree", rank: int, greedy: str) -> tuple[str | html.Marked, ...]:
    """The table's line for the hypothesis in this place, from 1."""
    node = tree.nodes[tree.hypotheses[rank - 1]]
    written = models.writer(state.current().model).vocabulary.decode(tree.token_ids(node.index))
    return (
        _("Beam search, rank {rank} of {count}", rank=rank, count=len(tree.hypotheses)),
        token_labels.marked(texts.word_diff(greedy, written)),
        decimal(node.total, 3),
        str(node.step + 1),
        "" if node.score is None else decimal(node.score, 4),
    )


def _verdict(total: float, score: float, tree: "BeamTree") -> str:
    """Say whether beam search beat greedy decoding."""
    winner = tree.winner
    assert winner.score is not None, "a search returns what it scored"
    message = (
        "Words that greedy decoding did not write are marked; {missing} marks where it wrote words that are "
        "missing here."
    )
    words = _(message, missing=token_labels.MISSING)
    gain = winner.score - score
    if abs(gain) < 1e-4:
        return _("{sentence} Here beam search and greedy decoding give the same result.", sentence=words)
    message = "{sentence} The winner minus greedy decoding: score {gain}, log-probability {difference}."
    return _(message, sentence=words, gain=signed(gain, 4), difference=signed(winner.total - total, 3))


def _open(text: str, tree: "BeamTree", index: int) -> None:
    """One hypothesis: what it wrote, its numbers, its fate, and what it looked at."""
    node, path = tree.nodes[index], tree.path(index)
    st.subheader(_("Open hypothesis"), anchor=False)
    if not path:
        terms.caption(fate(tree, index))
        return
    chips = "".join(
        f'<bdi style="padding:1px 7px;border-radius:4px;border:1px solid color-mix(in srgb,currentColor 25%,'
        f'transparent){";font-weight:700" if step is node else ""}">{html.literal(display_token(step.token))}</bdi>'
        for step in path
    )
    st.html(f'<div style="display:flex;flex-wrap:wrap;gap:5px;line-height:1.5">{chips}</div>')
    facts = [
        _(
            "The log-probability of its last token is {log_prob} ({percent:.3g}%), that of the whole {total}: rank "
            "{rank} in this step.",
            log_prob=decimal(node.log_prob, 4),
            percent=100 * exp(node.log_prob),
            total=decimal(node.total, 4),
            rank=node.rank + 1,
        )
    ]
    if node.score is not None:
        facts.append(_("Its score is {score}.", score=decimal(node.score, 4)))
    facts.append(fate(tree, index))
    if not steps.begins_with(traces.written(models.writer(state.current().model), text), tree.token_ids(index)):
        facts.append(steps.not_chosen(node.token))
    terms.caption("  \n".join(facts))
    _attention(text, tree, index)


def _attention(text: str, tree: "BeamTree", index: int) -> None:
    selection = state.current()
    trace = searches.hypothesis_trace(models.writer(selection.model), text, tree.token_ids(index))
    selection = selection.for_model(trace.shapes)
    state.put(selection)
    if CROSS not in trace.sites:
        frame.caption("This model has no cross-attention; the film of a branch shows what its rows attend to.")
        return
    with st.container(horizontal=True):
        layer = controls.layer(trace.layers_of(CROSS))
        head = controls.head(trace.heads_of(CROSS))
    frame.caption(
        "Cross-attention along the hypothesis: one row for each token it wrote (what it read → what it wrote · its "
        "index in the batch at that step), one column for each source token; the lighter, the more weight."
    )
    written, groups = slice(trace.rows_before, None), blocks(trace)
    weights = over_blocks(trace.weights(CROSS, layer, [head], written)[0].numpy(), groups)
    names = trace.row_names(CROSS)[written], block_names(trace, groups)
    frame.chart(
        ancestor_heatmap(weights, names[0], tree.rows(index), names[1]),
        "beam-attention",
        file_name("beam", f"node{index}", head_name(CROSS, layer, head), sentence=text),
        _("Cross-attention of {head} along the hypothesis, as a heatmap", head=head_label(layer, head)),
    )
    terms.caption(token_labels.rows_said(trace, CROSS))


def _choose(trace: "Trace", tree: "BeamTree", node: int) -> None:
    """Open a hypothesis: where the translation shown begins with it, its last token is the step that is chosen."""
    state.change(beam_node=node)
    if (path := tree.path(node)) and steps.begins_with(trace, tree.token_ids(node)):
        state.change(step=path[-1].step)
        st.rerun()


def beam_picture(tree: "BeamTree", *, chosen: int, on_choose: Callable[[int], object], key: str, name: str) -> None:
    """Show the tree; `on_choose` is called before the next run with the node that a person opened."""
    picture = BeamPicture(_boxes(tree), chosen, name, ROLES, _COLOURS)
    _COMPONENT.show(picture, key=key, node=hear(on_choose, int, node=range(len(tree.nodes))))


def _boxes(tree: "BeamTree") -> list[BeamBox]:
    parts, row_of = roles(tree), rows(tree, range(len(tree.nodes)))
    folded = rows(tree, living(tree))
    return [
        BeamBox(
            parent=node.parent,
            step=node.step,
            token=node.token,
            total=decimal(node.total),
            score=None if node.score is None else decimal(node.score, 3),
            badge=_badge(tree, node.index),
            role=parts[node.index],
            row=row_of[node.index],
            folded=folded.get(node.index),
            fate=fate(tree, node.index),
        )
        for node in tree.nodes
    ]


def _badge(tree: "BeamTree", index: int) -> str:
    score = tree.nodes[index].score
    if score is None:
        return ""
    rank = finish_rank(tree, index)
    return decimal(score, 3) if rank is None else f"{rank} · {decimal(score, 3)}"

"""Rank all heads over a pair or a whole set: switched off, estimated by gradients, swapped, by the direct path."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st
from jaxtyping import Float

from viz.access import models
from viz.access.head_verdict import Question, all_heads
from viz.pages.coreference import tables
from viz.pages.coreference.data import causes, curated, scores_task
from viz.pages.coreference.figures import every_head_map
from viz.pages.coreference.heads_together import LETTERS, chosen_words, named
from viz.pictures.head_table.component import HeadColumn, HeadTable, head_table
from viz.selection import state
from viz.selection.choices import CauseBy
from viz.text import html
from viz.text.messages import _, clauses_with_and, in_a_row, plural, said
from viz.text.written import NAMES, NamedHead, file_name, signed
from viz.ui import controls, frame, long_work, terms
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model.analysis.interventions.head_effects import HeadEffects
    from model.analysis.interventions.patching import Patching
    from model.analysis.metrics.head_metrics import HeadName
    from model.word_choice import Chooser

#: Log-odds of A and B that are closer together, in nats, say little about what carries the choice.
SMALL_GAP: Final = 0.25
BY: Final[dict[CauseBy, str]] = {
    "off": said("Switched off"),
    "estimate": said("Gradient estimate"),
    "swapped": said("Swapped"),
    "direct": said("Swapped, direct path"),
}
_READ: Final[dict[CauseBy, str]] = {
    "off": said(
        "One head at a time is switched off. Warm: without it, the right word’s log-odds (its log p − log p of the "
        "other, in nats, after the same words) fall, averaged over the sentences. Cold: they rise."
    ),
    "estimate": said(
        "The effect of switching off, estimated from one backward pass: the first-order change of the log-odds without "
        "each head’s output."
    ),
    "swapped": said(
        "The model reads A, but one head outputs what it output for B (activation patching). 0: the choice stays as "
        "in A; 1: it becomes that of B; below 0: it moves away from B."
    ),
    "direct": said(
        "Like “Swapped”, but all other heads output what they output for A (path patching): a head’s change reaches "
        "the word only through the residual stream and the feed-forward networks. The encoder’s output reaches it only "
        "through cross-attention."
    ),
}
_MOST_IS_CARRIED: Final = said("**Swapping {head} alone moves the choice {share:.0%} of the way from A to B.**")
_MOST_IS_CARRIED_UNTOLD: Final = said(
    "**Swapping {head} alone moves the choice {share:.0%} of the way from A to B (the model does not distinguish A "
    "and B here).**"
)
_MOST_IS_CARRIED_HARDLY_TOLD: Final = said(
    "**Swapping {head} alone moves the choice {share:.0%} of the way from A to B (the model hardly distinguishes A "
    "and B here, so small changes are large shares).**"
)


@frame.fragment
def show(reader: "Chooser", asked: Sequence[Question], of_set: Sequence[Question]) -> None:
    """A map, what it says in a sentence, and a table; arguments as of `heads_together.show`."""
    label = _(
        "Rank all heads by switching them off, by gradients, by swapping their output or by the direct path, and see "
        "how well the rankings agree"
    )
    with st.expander(label, on_change="rerun", key="cause-ranked") as opened:
        if not opened.open:
            return
        has_b = all(each.b is not None for each in asked)
        offered = {by: label for by, label in BY.items() if has_b or by in ("off", "estimate")}
        chosen = state.current().coreference.cause_by
        by = controls.segmented("cause_by", _("Rank by"), offered, shown=chosen if chosen in offered else "off")
        if by in ("swapped", "direct"):
            task = causes.patching(reader, asked, "direct" if by == "direct" else "all")
            patching = long_work.outcome(
                task, _("Swap every head in all pairs"), key=f"cause-{by}", start=len(asked) == 1
            )
            if patching is not None:
                _show_patching(patching, all_heads(reader), by)
            return
        instead = state.current().coreference.replacement
        effects = causes.effects(reader, asked, of_set, instead)
        both = long_work.outcome(effects, _("Switch off each head in turn"), key="cause-effects", start=len(asked) == 1)
        if both is not None:
            _show_effects(both, all_heads(reader), asked, by)


def _map(values: Float[np.ndarray, "head"], heads: "tuple[HeadName, ...]", title: str, bound: float, by: str) -> None:
    figure = every_head_map(values, heads, title=title, bound=bound)
    alt = _("{metric} of each head, layers by heads", metric=title)
    frame.chart(figure, "cause-ranked-map", file_name("heads", by), alt)
    frame.caption(_READ[by])  # type: ignore[index]


def _show_effects(
    both: "tuple[HeadEffects, HeadEffects]", heads: "tuple[HeadName, ...]", asked: Sequence[Question], by: str
) -> None:
    measured, estimated = both
    terms.markdown(sweep_sentence(measured, heads, causes.words(asked)))
    of = estimated if by == "estimate" else measured
    bound = float(measured.intact.abs().mean())
    _map(-of.mean_changes.double().numpy(), heads, _("log-odds lost"), bound, by)
    metrics = {
        "mean_change": measured.mean_changes, "importance": measured.importance,
        "estimated_mean_change": estimated.mean_changes, "estimated_importance": estimated.importance,
        "accuracy_change": measured.accuracy_changes,
    }  # fmt: skip
    columns = {name: values.double().numpy() for name, values in metrics.items()}
    attention = _accuracy(heads)
    if attention is not None:
        columns["attention_accuracy"] = attention
    titles = (
        said("Change"), said("|Change|"), said("Estimate"), said("|Estimate|"), said("Accuracy change"),
        said("Attention accuracy"),
    )  # fmt: skip
    order = np.argsort(-columns["importance"], kind="stable")
    numbers = [HeadColumn(title, values[order]) for title, values in zip(titles, columns.values(), strict=False)]
    names = [NamedHead(*head, True) for head in map(heads.__getitem__, order.tolist())]
    head_table(HeadTable(names, numbers, said("What changes without each head")), key="cause-ranked-table")
    frame.caption(
        "Changes and estimates are means over sentences, in nats; |…| is the mean of absolute values, by which heads "
        "are ranked. Click a column title to sort. Accuracy change: the change in the share of right choices without "
        "the head."
    )
    st.html(html.table(*correlations(columns, heads), label=_("How well the rankings agree")))
    to_compare = _("To compare with attention, first measure the curated set on the Measured tab.")
    scale = _("Spearman’s ρ: 1 if two metrics rank the heads in the same order, 0 if their rankings are unrelated.")
    terms.caption(in_a_row((scale, to_compare if attention is None else "")))
    controls.table_button(_("Effects (CSV)"), partial(tables.heads_and, heads, columns), file_name("effects", by))


def correlations(
    columns: dict[str, Float[np.ndarray, "head"]], heads: "Sequence[HeadName]"
) -> tuple[tuple[html.Column, ...], list[tuple[str, ...]]]:
    """Columns and rows of a table: ρ of each two rankings, of all heads, then of those of each site."""
    measured, estimated = columns["importance"], columns["estimated_importance"]
    attention = columns.get("attention_accuracy")
    pairs = {_("Switched off and gradient estimate"): (measured, estimated)}
    if attention is not None:
        pairs[_("Switched off and attention accuracy")] = (measured, attention)
        pairs[_("Gradient estimate and attention accuracy")] = (estimated, attention)
    of_site = {site: [head.site == site for head in heads] for site in dict.fromkeys(head.site for head in heads)}
    titles = [_("All"), *(_(NAMES[site].short).capitalize() for site in of_site if len(of_site) > 1)]
    rows = []
    for name, (first, second) in pairs.items():
        parts = [(first, second), *((first[here], second[here]) for here in of_site.values())]
        values = [causes.rank_correlation(*part) for part in parts[: len(titles)]]
        rows.append((name, *("–" if np.isnan(value) else signed(value) for value in values)))
    return (html.Column(_("Rankings")), *(html.Column(title, is_number=True) for title in titles)), rows


def _accuracy(heads: "Sequence[HeadName]") -> Float[np.ndarray, "head"] | None:
    """Accuracy of every head on the curated set by its weights, if that was measured; NaN at sites not scored."""
    scores = long_work.known(scores_task(curated(), models.reader(state.current().model), "weights"))
    if scores is None:
        return None
    of_site = {site: of.accuracy.value.double().numpy() for site, of in scores.sites.items()}
    return np.array([of_site[head.site][head.layer, head.head] if head.site in of_site else np.nan for head in heads])


def sweep_sentence(effects: "HeadEffects", heads: Sequence["HeadName"], words: Sequence[tuple[str, str]]) -> str:
    """Which heads flip a choice when each is switched off alone; as Markdown. `words`: right and wrong of each case."""
    flips = effects.flips.numpy()
    flipped, order = flips.sum(0), np.lexsort((-effects.importance.numpy(), -effects.flips.numpy().sum(0)))
    most, count = int(order[0]), int((flipped > 0).sum())
    if count == 0:
        change = float(effects.mean_changes[most])
        message = (
            "**None of the {num_heads} heads flips the choice when it alone is switched off.** Without {head}, the "
            "log-odds change most: {change} nats on average."
        )
        return _(message, num_heads=len(heads), head=named([heads[most]]), change=signed(change))
    if len(words) > len(LETTERS):
        return _(
            "**Switched off alone, {head} flips the most choices: {flipped} of {num_choices}.** Of {num_heads} heads, "
            "{count} flip at least one.",
            head=named([heads[most]]),
            flipped=flipped[most],
            num_choices=len(words),
            count=count,
            num_heads=len(heads),
        )
    sentences = zip(
        LETTERS, words, effects.intact.tolist(), effects.changes[:, most].tolist(), flips[:, most], strict=False
    )
    changes = clauses_with_and(
        _("{letter} changes from “{before}” to “{after}”", letter=letter, before=plain(before), after=plain(after))
        for letter, (before, after) in (
            (letter, chosen_words(both, intact, intact + change))
            for letter, both, intact, change, is_flipped in sentences
            if is_flipped
        )
    )
    others = [heads[i] for i in order[1:count]]
    rest = plural("So does {heads}.", "So do {heads}.", len(others), heads=named(others))
    flip = _("**Switched off alone, {head} flips the choice: {changes}.**", head=named([heads[most]]), changes=changes)
    return in_a_row((flip, rest if others else _("No other head does.")))


def _show_patching(patching: "Patching", heads: "tuple[HeadName, ...]", by: str) -> None:
    values = patching.overall.double().numpy()
    terms.markdown(patching_sentence(patching, heads))
    if not np.isnan(values).all():
        _map(values, heads, _("0 is A, 1 is B"), 1.0, by)
        make = partial(tables.heads_and, heads, {"share_of_the_way_to_b": values})
        controls.table_button(_("Swapped (CSV)"), make, file_name("heads", by))


def patching_sentence(patching: "Patching", heads: "Sequence[HeadName]") -> str:
    """Which head carries most of the choice, in one sentence; as Markdown."""
    values = patching.overall.double().numpy()
    a, b = float(patching.a.mean()), float(patching.b.mean())
    start = _("Log-odds of A’s word: {a} when reading A, {b} when reading B.", a=signed(a), b=signed(b))
    if np.isnan(values).all():
        return in_a_row((start, _("The two log-odds are too close to measure the effect of a head.")))
    best = int(np.nanargmax(values))
    largest, head = float(values[best]), heads[best]
    if largest <= 0:
        return in_a_row((start, _("No single head moves the choice towards B by its output.")))
    carried = _MOST_IS_CARRIED
    if a <= b:
        carried = _MOST_IS_CARRIED_UNTOLD
    elif a - b < SMALL_GAP:
        carried = _MOST_IS_CARRIED_HARDLY_TOLD
    return in_a_row((start, _(carried, head=NamedHead(*head, with_site=True).link, share=largest)))

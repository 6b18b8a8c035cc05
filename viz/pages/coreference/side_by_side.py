"""Compare two sentences: what the model makes of a pronoun in each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.errors import HeadlightError
from viz.access import attention, models
from viz.pages.coreference import data, pair_controls, pair_words, tables
from viz.pages.coreference.data import Movement, Row, Side, pronoun_choice
from viz.pages.coreference.figures import form_bars, mark_columns, movement_map
from viz.pages.coreference.pair_words import ROLES, TOKEN_FIELDS, Query, Sentence, legend, places, queries
from viz.pictures.figures.heads import Alignment, align, difference_heatmap, head_rows, row_difference
from viz.pictures.page_tools import AskedPlace
from viz.selection import state
from viz.text.html import row_name
from viz.text.messages import _, in_a_row, said, with_commas
from viz.text.written import Site, decimal, display_token, file_name, head_label, signed
from viz.ui import controls, finding, frame, head_metrics, present, sentence, terms, token_labels
from viz.ui.controls import plain
from viz.ui.head_metrics import MEASURES

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.coreference.case_files import PronounCase
    from model.analysis.coreference.pronoun_choice import PronounChoice

CONTROL: Final = said("A control: the pronoun refers to neither word, so no head can be right.")
DROPPED: Final = said(
    "A control without a pronoun: the subject is left out, as is common in Chinese. The word marked “pronoun” is the "
    "predicate without a subject, whose row is used; the antecedent is what the subject would be."
)
#: Of the first and of the second sentence: the label of the choice of a row, what a picture shows, what it has alone.
_LOOK_FROM: Final = (said("First sentence: query"), said("Second sentence: query"))
_ROWS_OF: Final = (
    said("First sentence: {measure} of the chosen query, one row per head, layer {layer}"),
    said("Second sentence: {measure} of the chosen query, one row per head, layer {layer}"),
)
_ONLY_IN: Final = (said("first: {tokens}"), said("second: {tokens}"))
_WHY: Final = (said("First sentence: why?"), said("Second sentence: why?"))


_MAP: Final = "movement"
#: Of shares a head moves at most so far: from one candidate altogether to the other, in both sentences.
MOST: Final = 2.0
#: Other movements that are smaller than this everywhere are drawn as the small ones they are.
FLOOR: Final = 0.1
#: Whether heads move and not layers, and whether by shares → what is said of the one that moves farthest.
_FARTHEST: Final = {
    (True, True): said(
        "**Of {count} heads, {head} changes most in the pronoun's row: {value}** (the maximum is {most:g})."
    ),
    (True, False): said("**Of {count} heads, {head} changes most in the pronoun's row: {value}**."),
    (False, True): said(
        "**Of {count} layers, {head} changes most in the pronoun's row: {value}** (the maximum is {most:g})."
    ),
    (False, False): said("**Of {count} layers, {head} changes most in the pronoun's row: {value}**."),
}
#: Whether heads move and not layers → what is said where none moves.
_NONE: Final = {
    True: said("**No head moves towards the right antecedent in the pronoun's row**: {value} at most."),
    False: said("**No layer moves towards the right antecedent in the pronoun's row**: {value} at most."),
}


@frame.fragment
def show() -> None:
    """The choice of a pair, the map of all heads beside its translations, and the rows of one layer on demand."""
    pair = pair_controls.show(must_be_marked=True)
    if not pair.texts[1]:
        alone = st.container()
        _show_plainly([_read(0, pair.texts[0], alone)], [alone])
        return
    asked = st.container(key="choices", horizontal=True, vertical_alignment="bottom")
    with st.grid(2, min_column_width=430, gap="medium"):
        picture, words = st.container(), st.container()
    with words:
        found = st.container()
        slots = [st.container() for _ in pair.texts]
        below, written = st.container(), st.container()
    traces: list[Trace] = []
    try:
        for number, (text, slot) in enumerate(zip(pair.texts, slots, strict=True)):
            traces.append(_read(number, text, slot))
    except HeadlightError:
        # A sentence that cannot be read must not hide the one before it.
        _show_plainly(traces, slots)
        raise
    with below:
        if all(pair.cases):
            st.html(legend(is_guess=any(pair.are_guesses)))
        if pair.is_control:
            is_dropped = any(case is not None and case.is_dropped for case in pair.cases)
            frame.caption(DROPPED if is_dropped else CONTROL)
    sides = [Side(number, trace, case) for number, (trace, case) in enumerate(zip(traces, pair.cases, strict=True))]
    with asked:
        looking, site, moved = ask(sides, found)
    with picture:
        is_drawn = all(pair.cases) and _show_movement(looking, site, bound(moved))
    with written:
        _show_choices(sides)
    # Without a map the rows are the picture; a link to a query is one to its rows.
    if is_drawn:
        is_asked = any(state.current().value(field) is not None for field in TOKEN_FIELDS)
        st.session_state.setdefault("one-layer", is_asked)
        frame.unfolding(
            _("One layer: what each head attends to, and the difference"), "one-layer", show_rows, looking, site
        )
    else:
        show_rows(looking, site)
    shown = zip(looking, slots, pair.are_guesses, strict=True)
    pair_words.show([Sentence(side, slot, is_guess) for side, slot, is_guess in shown], site)
    _caution(traces, slots)


def _read(number: int, text: str, slot: DeltaGenerator) -> "Trace":
    """The trace of a sentence; meanwhile its place says so."""
    with slot:
        return sentence.read(text, f"trace-{number}")


def _show_plainly(traces: Sequence["Trace"], slots: Sequence[DeltaGenerator]) -> None:
    for trace, slot in zip(traces, slots, strict=False):
        slot.html(sentence.lines_html(sentence.lines_of(trace)))
    _caution(traces, slots)


def _caution(traces: Sequence["Trace"], slots: Sequence[DeltaGenerator]) -> None:
    """What makes translations doubtful; the sentences of a set are in the language that the model reads, or English."""
    for trace, slot in () if state.current().coreference.pair else zip(traces, slots, strict=False):
        for caution in sentence.cautions(sentence.lines_of(trace)[0]):
            slot.caption(terms.explained(caution))


def _show_choices(sides: Sequence[Side]) -> None:
    """How probable each German pronoun was where the model wrote one."""
    model = state.current().model
    if not models.is_english_german(model) or all(side.case is None for side in sides):
        return
    st.markdown(
        f"**{_('The pronoun that the model writes')}**",
        help=_(
            "The probability of each German pronoun instead of the one written, given the words before it. They need "
            "not sum to 1, since other words could follow as well."
        ),
    )
    with st.grid(2, min_column_width=200, gap="small"):
        for side in sides:
            with st.container():
                if side.case is not None:
                    choice = pronoun_choice(models.writer(model), side.trace, side.case)
                    _show_choice(sides, side.number, side.case, choice)


def _show_choice(sides: Sequence[Side], number: int, case: "PronounCase", choice: "PronounChoice") -> None:
    trace = sides[number].trace
    if isinstance(choice.pronoun, str):
        message = "It is unknown which German word translates “{pronoun}”: {reason}."
        frame.caption(message, pronoun=plain(case.pronoun_text), reason=plain(choice.pronoun))
        return
    # A row writes the token after it.
    written = places(sides, number, (choice.pronoun.row + 1,), is_source=False)
    message = "Probability of each German pronoun at that step: {probabilities}"
    frame.chart(
        form_bars(choice.probabilities, choice.pronoun.text, written),
        f"forms-{number}",
        file_name("pronoun", sentence=trace.text),
        _(message, probabilities=with_commas(f"{form} {value:.3f}" for form, value in choice.probabilities.items())),
    )


def ask(sides: Sequence[Side], found: DeltaGenerator) -> tuple[list[Side], str, Mapping[str, Movement]]:
    """Ask for the attention, the measure and both queries, and say in `found` which head moves farthest.

    Returns the sides with the rows that are chosen, the attention, and how all heads move from the pronouns.
    """
    first, reader = sides[0].trace, models.reader(state.current().model)
    before = st.container(width="content")
    controls.measure(head_metrics.offered(models.abilities(state.current().model)))
    moved = data.movements(sides, reader, state.current().common.measure)
    if (head := farthest(moved)) is not None:
        state.propose(**dict(zip(("site", "layer", "head"), head, strict=True)))
    finding.fit(first)
    with found:
        say_farthest(moved)
    with before:
        site = controls.site(first.sites)
    pair_words.begin(sides, site)
    return [_looking(side, query, site) for side, query in zip(sides, queries(sides, site), strict=True)], site, moved


def _looking(side: Side, query: Query, site: str) -> Side:
    """Return the side with its query rows; a person may choose others."""
    case = side.case
    own = None if case is None else data.pronoun_rows(side.trace, models.reader(state.current().model), case, site)
    with st.container(width=150):
        names = token_labels.numbered(list(query.options.values()))
        labels = dict(zip(query.options, names, strict=True))
        controls.token(TOKEN_FIELDS[side.number], _(_LOOK_FROM[side.number]), labels, shown=query.at)
        if query.note:
            terms.caption(plain(query.note))
        if isinstance(own, str):
            frame.caption(
                "It is unknown which row belongs to the pronoun: {reason}. Choose a row yourself.", reason=plain(own)
            )
    return replace(side, rows=query.rows, query=query.options[query.at], is_another=query.is_another)


def show_rows(sides: Sequence[Side], site: str) -> None:
    """Where every head of a layer looks from these rows in both sentences, and how that differs."""
    first, measure = sides[0].trace, MEASURES[state.current().common.measure]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = controls.layer(first.layers_of(site))
        head = controls.head(first.heads_of(site), disabled=not measure.is_per_head)
        has_words, has_runs = (
            any(ask(side.trace, site) for side in sides) for ask in (attention.has_words_of_several, attention.has_runs)
        )
        summed = _("If a key is a word of several tokens, the weights of these tokens are summed.")
        controls.whole_words(has_words, has_runs, summed)
        sinks = controls.sinks()
    reader, common = models.reader(state.current().model), state.current().common
    read, whole = common.measure, common.whole_words
    rows = [
        data.opened_row(s.trace, reader, s.case, site, layer, s.rows, measure=read, whole_words=whole, sinks=sinks)
        for s in sides
    ]
    ours, theirs = rows
    top = 1.0 if measure.is_share else max(float(row.values.max(initial=0.0)) for row in rows) or 1.0
    marked = head if measure.is_per_head else None
    names = [
        head_metrics.row_name(site, layer, each if measure.is_per_head else None) for each in range(len(ours.values))
    ]
    if named := token_labels.rows_said(first, site):
        terms.caption(named)
    with st.grid(2, min_column_width=430, gap="medium"):
        for side, row in zip(sides, rows, strict=True):
            figure = head_rows(row.values, row.labels, number=measure.number, top=top, names=names, marked=marked)
            for role, columns in row.marked.items():
                mark_columns(figure, columns, rows=len(row.values), colour=ROLES[role].colour, dash=ROLES[role].dash)
            pair_words.tell(figure, sides, [side], [row], site, layer if measure.is_per_head else None)
            name = file_name(f"{site} L{layer + 1} row{side.rows[0] + 1} {common.measure}", sentence=side.trace.text)
            alt = _(_ROWS_OF[side.number], measure=_(measure.label).lower(), layer=layer + 1)
            with st.container(gap="xsmall"):
                st.html(row_name(side.query, writes=first.rows_write(site)))
                frame.chart(figure, f"rows-{TOKEN_FIELDS[side.number]}", name, alt)
    sentences = [_("Each row is one head and shows the weights of the query chosen above; the open head is framed.")]
    if any(row.marked for row in rows):
        sentences.append(_("Frames around columns: antecedent (solid), distractor (dashed), pronoun (dotted)."))
    if any(len(side.rows) > 1 for side in sides):
        sentences.append(_("For a query word of several tokens, their rows are averaged."))
    if has_words and whole:
        sentences.append(_("If a key is a word of several tokens, the weights of these tokens are summed."))
    if not sinks:
        at = head if measure.is_per_head else 0
        held = [decimal(float(row.held[at]), 3) for row in rows if row.held is not None]
        message = (
            "Sinks are left out as keys, and nothing is renormalised. The open head's {number} on them in "
            "these rows: {held}."
        )
        sentences.append(_(message, held=with_commas(held), number=_(measure.number)))
    terms.caption(in_a_row(sentences))
    shown = f"{site} L{layer + 1} {common.measure}"
    name = file_name(f"rows {shown}", sentence=first.text)
    controls.table_button(_("Rows (CSV)"), partial(tables.pair_rows, layer, [side.query for side in sides], rows), name)
    st.subheader(_("Difference"), anchor=False)
    alignment = align(ours.labels, theirs.labels)
    if alignment.first:
        difference = row_difference(ours.values, theirs.values, alignment)
        shared = [ours.labels[position] for position in alignment.first]
        figure = difference_heatmap(difference, shared, names, bound=top)
        both = [row.at(columns) for row, columns in zip(rows, (alignment.first, alignment.second), strict=True)]
        pair_words.tell(figure, sides, sides, both, site, layer if measure.is_per_head else None)
        alt = _("Second minus first, one row per head, for the keys that both sentences have")
        frame.chart(figure, "difference", file_name(f"difference {shown}", sentence=first.text), alt)
    _explain_difference(rows, alignment)


def _explain_difference(rows: Sequence[Row], alignment: Alignment) -> None:
    frame.caption(
        "Warm: the head gives the key more weight in the second sentence; cold: in the first. Only keys that occur in "
        "both sentences, in the same order, are compared, so a row need not sum to zero. These keys occur in one "
        "sentence only:"
    )
    named = [
        _(only_in, tokens="  ".join(display_token(row.labels[i]) for i in left) or said("none"))
        for only_in, row, left in zip(_ONLY_IN, rows, (alignment.only_first, alignment.only_second), strict=True)
    ]
    st.text("    ".join(named))


def farthest(moved: Mapping[str, Movement]) -> tuple[str, int, int] | None:
    """Attention, layer and head of what moves farthest of all; None where nothing can be said."""
    if not moved:
        return None
    site = max(moved, key=lambda name: float(moved[name].values.max()))
    return site, *moved[site].farthest


def say_farthest(moved: Mapping[str, Movement]) -> None:
    """Which head of all attentions moves farthest, and a button that opens it where another one is open."""
    found, common = farthest(moved), state.current().common
    count = sum(of.values.size for of in moved.values())
    # Of a single head the map says it all.
    if found is None or count == 1:
        return
    site, layer, head = found
    measure = MEASURES[common.measure]
    name = head_metrics.linked_title(site, layer, head if measure.is_per_head else None, with_site=True)
    with st.container(horizontal=True, vertical_alignment="center"):
        value = signed(float(moved[site].values.max()), 2)
        found_text = _FARTHEST[measure.is_per_head, measure.is_share]
        if not value.startswith("+"):
            found_text = _NONE[measure.is_per_head]
        terms.markdown(_(found_text, head=name, count=count, value=value, most=MOST), width="content")
        opened = common.site, common.layer, common.head if measure.is_per_head else 0
        if opened != found:
            chosen = {"site": site, "layer": layer, "head": head}
            st.button(_("Open it"), key="open-farthest", on_click=state.choose, kwargs=chosen)


def bound(moved: Mapping[str, Movement]) -> float:
    """How far the colours of every map reach, the same for all attentions."""
    if MEASURES[state.current().common.measure].is_share:
        return MOST
    return max([FLOOR, *(float(np.abs(of.values).max()) for of in moved.values())])


def _show_movement(sides: Sequence[Side], site: str, most: float) -> bool:
    """The map of an attention, from the rows of both sides, and what it says of the open head; whether there is one."""
    common, reader = state.current().common, models.reader(state.current().model)
    moved = data.movement(sides, reader, site, common.measure)
    if isinstance(moved, str):
        frame.note("There is no map of this attention: {reason}.", reason=moved)
        return False
    measure = MEASURES[common.measure]
    name = file_name(f"movement {site} {common.measure}", sentence=sides[0].trace.text)
    opened = (common.layer, common.head if measure.is_per_head else 0)
    averaged = not measure.is_per_head
    layers, heads = moved.values.shape
    names = (
        [head_label(layer, None) for layer in range(layers)] if averaged else head_metrics.titles(site, (layers, heads))
    )
    figure = movement_map(
        moved.values, moved.parts, names, site=site, number=measure.number, averaged=averaged, opened=opened, bound=most
    )
    frame.chart_of_heads(figure, _MAP, name, _("How far each head of each layer moves towards the right antecedent"))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        _explain(moved, opened, site, averaged=averaged)
        if not averaged:
            _offer_why(sides, site, *opened)
    is_own = [side.rows for side in sides] == [data.own_rows(side, reader, site).rows for side in sides]
    terms.caption(
        _(
            "How far each head moves towards the right antecedent, in {row}. Warm: it follows the meaning. Cold: it "
            "moves the other way. Click a cell to open its head.",
            row=tables.scored_row(site) if is_own else _("the rows chosen above"),
        ),
        help=_(
            "The head's {number} on the antecedent minus that on the distractor, summed over both sentences. Near 0, "
            "the head attends to the same word in both sentences, or to neither word. All attentions use one scale. "
            "The best head on one pair proves nothing: “Measured” counts over a set of sentences; “Cause” switches "
            "the head off.",
            number=measure.number,
        ),
    )
    controls.table_button(_("Map (CSV)"), partial(tables.movements, moved.values, moved.parts), name)
    return True


def _explain(moved: Movement, opened: tuple[int, int], site: str, *, averaged: bool) -> None:
    first, second = moved.parts[opened]
    text = _(
        "**{head}** moves by **{movement}**: {first} in the first sentence ({first_antecedent:.3f} − "
        "{first_distractor:.3f}) and {second} in the second ({second_antecedent:.3f} − {second_distractor:.3f}).",
        head=head_metrics.linked_title(site, opened[0], None if averaged else opened[1]),
        movement=signed(moved.values[opened], 3),
        first=signed(first[0] - first[1], 3),
        first_antecedent=first[0],
        first_distractor=first[1],
        second=signed(second[0] - second[1], 3),
        second_antecedent=second[0],
        second_distractor=second[1],
    )
    terms.markdown(text.replace(" − ", "\u00a0−\u00a0"), width="content")


def _offer_why(sides: Sequence[Side], site: str, layer: int, head: int) -> None:
    """The ways to why the head gives weight of each pronoun's row to its antecedent; the other sentence is its twin."""
    reader = models.reader(state.current().model)
    for own, other, label in zip(sides, reversed(sides), _WHY, strict=True):
        found = None if own.case is None else data.candidates(own.trace, reader, own.case, site)
        if found is None or isinstance(found, str) or not own.rows or not attention.can_ask_why(own.trace, reader):
            continue
        asked = AskedPlace(cast(Site, site), layer, head, own.rows[0], found[0][0]), (own.trace.text, other.trace.text)
        st.button(_(label), key=f"ask-why-{own.number}", type="tertiary", on_click=present.ask_why, args=asked)

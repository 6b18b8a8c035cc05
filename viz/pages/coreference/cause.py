"""Is this head the cause? Three interventions on one head of any sentence, then all heads by each of them."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import head_verdict as access
from viz.access import models, traces
from viz.access.head_verdict import EveryHead, Question, Stated
from viz.pages.coreference import heads_ranked, heads_together, pair_controls, tables
from viz.pages.coreference.data import Pair, causes
from viz.pages.coreference.figures import every_head_height, every_head_map
from viz.pages.coreference.pair_words import marked_line
from viz.selection import state
from viz.selection.branch_codes import Choice, EditHead, write_code
from viz.selection.choices import MARKS, Replacement
from viz.server.background_jobs import Task
from viz.text import html
from viz.text.messages import _, in_a_row, said, shown
from viz.text.written import (
    DECODER,
    ENCODER,
    decimal,
    display_token,
    display_tokens,
    file_name,
    signed,
    spoken,
    total_shown,
)
from viz.ui import attribution, controls, finding, formulas, frame, long_work, present, sentence, terms
from viz.ui.attribution import Tried
from viz.ui.controls import plain
from viz.ui.sentence import Line
from viz.ui.token_labels import step_labels

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from model import Trace
    from model.analysis.interventions.edit_comparison import EditComparison
    from model.word_choice import Chooser

#: Of a model with more bytes of weights, its heads are pointed only when that is asked for: each at each token.
LARGEST_POINTED: Final = 1 << 27
#: Pixels of the three cards, and of what is above and below the maps.
_CARDS_HEIGHT, _BESIDE_MAPS = 255, 220
_CARD: Final = (
    '<div style="line-height:1.45"><div style="font-weight:600">{title}</div>'
    '<div style="font-size:1.35rem;font-weight:600;margin:0.25rem 0">{says}</div><div>{change}</div>'
    '<div style="font-size:0.85rem;opacity:0.75">{how}</div></div>'
)
EDIT_LABELS: Final = {"off": said("Switch off"), "uniform": said("Make uniform"), "point": said("Point at a token")}
INSTEAD_LABELS: Final[dict[Replacement, str]] = {"zero": said("Nothing (zero)"), "mean": said("Its mean")}


@frame.fragment
def show() -> None:
    """The question, the verdict on one head, and all heads; what is rarely wanted is behind a line each."""
    model, pair = state.current().model, pair_controls.show()
    abilities = models.abilities(model)
    instead = _("“Side by side” shows which heads follow the antecedent.")
    if abilities.has("self-attention"):
        instead = _("“Side by side” and “Measured” show which heads follow the antecedent.")
    if frame.lacking(abilities, "word choice", instead):
        return
    of_set = causes.questions(model)
    # Each part in its place from the first run on: what arrives later in one leaves an open list of another open.
    row = st.container(key="choices", horizontal=True, vertical_alignment="bottom")
    verdict = st.container(key="cause-said")
    cards = st.container(key="cause-cards")
    maps, edit, rest = (st.container() for _part in range(3))
    chosen, trace = next((each for each in of_set if each.name == pair.name), None), None
    # Questions of a set are read as they are, other texts as a chat where that is chosen.
    reader = models.text_chooser(model) if chosen is None else models.chooser(model)
    if chosen is None:
        chosen, trace = _of_texts(reader, pair.texts, row)
    heads_together.forget_unknown(access.all_heads(reader))
    every = access.every_head(reader, chosen)
    known = long_work.known(every)
    is_open = not state.current().common.head_chosen
    if known is None and is_open and not reader.abilities.generates:
        with maps:
            known = _every_head(every)
        if known is None:
            return
    if is_open:
        _propose(reader, chosen, known, trace)
    head = _head(reader, row)
    task = access.tested(reader, chosen, head)
    with verdict:
        stated = long_work.outcome(task, _("Put this head to the test"), key="cause-verdict", start=True)
        if stated is not None:
            terms.markdown(f"**{controls.markdown(attribution.sentence(stated))}**")
    # What is not there yet has its room: the Stop of what a person begins is further down, and does not move.
    with cards:
        if stated is not None:
            _interventions(stated, chosen.texts[0])
        elif long_work.is_under_way(task, "cause-verdict"):
            st.skeleton(height=_CARDS_HEIGHT)
    with maps:
        # After the verdict, which needs a tenth of the runs.
        if known is None and not long_work.is_under_way(task, "cause-verdict"):
            known = _every_head(every)
            if known is not None and is_open and access.all_heads(reader)[known.strongest] != head:
                st.rerun()
        if known is not None:
            _texts(pair, chosen, known)
            if not present.is_on():
                _maps(reader, chosen, known, head)
        elif long_work.is_under_way(task, "cause-verdict") or long_work.is_under_way(every, "cause-every"):
            layers = sum(len(of_site) for of_site in reader.abilities.heads.values())
            st.skeleton(height=every_head_height(layers) + _BESIDE_MAPS)
    if present.is_on():
        return
    if stated is not None and trace is not None:
        with edit:
            _edit(trace, stated)
    with rest:
        _many(reader, chosen, of_set, known)
        with st.expander(_("Formulas and sources"), key="cause-formulas"):
            formulas.show(Path(__file__).with_name("cause_formulas.md"))
        _to_attribution(chosen)


def _of_texts(reader: "Chooser", texts: tuple[str, str], row: "DeltaGenerator") -> tuple[Question, "Trace | None"]:
    """What is asked of texts that no set asks about, and what the model wrote; of one that only reads, nothing."""
    text, other = texts[0], "" if texts[1] == texts[0] else texts[1]
    if not reader.abilities.generates:
        with row:
            label = attribution.asked_label(reader, text)
        return access.own_question(reader, text, other, label), None
    trace = _written(text, "cause-written-a")
    link = finding.of(trace).link
    step = None if link is None else link.step
    if step is None or step >= len(trace.steps):
        step = access.asked_step(trace, _written(other, "cause-written-b") if other else None)
    state.propose(step=step)
    labels = dict(enumerate(step_labels(trace)))
    if state.current().common.step not in labels:
        state.correct(step=len(labels) - 1)
    with row:
        step = controls.dropdown("step", _("Word"), labels, width=170)
    return access.at_step(reader, trace, step, other), trace


def _written(text: str, key: str) -> "Trace":
    model = state.current().model
    return sentence.computed(
        ("written", text, ()), lambda progress: traces.written(models.writer(model), text, progress), key
    )


def _every_head(task: Task[EveryHead]) -> EveryHead | None:
    return long_work.outcome(task, _("Switch off each head in turn"), key="cause-every", start=True)


def _propose(reader: "Chooser", asked: Question, known: EveryHead | None, trace: "Trace | None") -> None:
    """Propose the head most worth seeing: of all the strongest; while they are not tested, that of the model's run."""
    if known is not None:
        site, layer, head = access.all_heads(reader)[known.strongest]
        state.propose(site=site, layer=layer, head=head)
    else:
        found = finding.of(trace or _written(asked.texts[0], "cause-written-a"))
        state.propose(site=found.site, layer=found.layer, head=found.head)


def _head(reader: "Chooser", row: "DeltaGenerator") -> tuple[str, int, int]:
    """Site, layer and head."""
    of_sites = reader.abilities.heads
    state.fit(reader.abilities.shapes)
    with row:
        site = controls.site_list(list(of_sites))
        # On a narrow page they go to the next line together.
        with st.container(horizontal=True, width="content"):
            layer = controls.layer(len(of_sites[site]))
            return site, layer, controls.head(max(of_sites[site]))


def _interventions(stated: Stated, text: str) -> None:
    """The three interventions side by side, with what is written under the two that can be written under."""
    off, pointed, swapped = attribution.tried(stated)
    # The progress of what is written is below the cards, which stay where they are.
    cards = st.container()
    written = _written_under(stated, text)
    with cards, st.grid(3, min_column_width=200, gap="small"):
        _card(off, stated, written[0] if written else None)
        _card(pointed, stated, written[1] if len(written) > 1 else None)
        _card(swapped, stated, None, _("Only this choice is tested; no text is written.") if written else "")
    message = (
        "Each intervention changes only this head, in every row. The choice in large letters is made after the words "
        "that the unchanged model wrote before it; a text that the model writes freely may contain another choice. "
        "Nats: log p(“{token}”) − log p(“{other}”). “Pointed at” uses the token that lowers the log-odds most."
    )
    frame.caption(message, token=plain(spoken(stated.token)), other=plain(spoken(stated.against)))


def _written_under(stated: Stated, text: str) -> "tuple[EditComparison, ...]":
    """What the model writes with the head off, and pointed, from the first word on; nothing where it cannot."""
    abilities, model = models.abilities(state.current().model), state.current().model
    if not (abilities.generates and abilities.has("edits")):
        return ()
    trace, head, key = _written(text, "cause-written-a"), stated.verdict.head, stated.verdict.key
    edits = [EditHead("off", *head), *([] if key is None else [EditHead("point", *head, key)])]
    # Of a set, the German that is asked about may be longer than what the model writes itself.
    begins = [(step, edit) for edit in edits if (step := access.first_step(edit, trace.rows_before)) < len(trace.steps)]
    task = access.edited(models.writer(model), text, begins, trace.rows_before)
    return long_work.outcome(task, _("Write the text under each intervention"), key="cause-written", start=True) or ()


def _card(tried: Tried, stated: Stated, written: "EditComparison | None", unwritten: str = "") -> None:
    with st.container(border=True, height="stretch", gap="small"):
        title, before = html.literal(shown(tried.title)), stated.verdict.before
        if tried.why_not:
            reason = shown(tried.why_not)
            st.html(
                _CARD.format(title=title, says="–", change="", how=html.literal(f"{reason[0].upper()}{reason[1:]}."))
            )
            return
        says = _("“{token}” stays", token=tried.token)
        if not tried.stays:
            says = _("“{token}” instead of “{other}”", token=tried.token, other=spoken(stated.token))
        message = "{change} nats: {before} → {after}"
        after = before + tried.change
        change = _(message, change=signed(total_shown((after, -before))), before=signed(before), after=signed(after))
        how = in_a_row((shown(tried.how), _("Written freely, from the first word on:") if written else unwritten))
        st.html(_CARD.format(title=title, says=html.literal(says), change=html.literal(change), how=html.literal(how)))
        if written is not None:
            _show_written(written)


def _show_written(written: "EditComparison") -> None:
    """What is written under an edit, with what changed marked."""
    if all(span.is_same for span in written.text_diff):
        is_same = written.first_difference is None
        terms.caption(
            _("The translation stays the same.") if is_same else _("The text is the same, split into different tokens.")
        )
        return
    names = (_("The model’s own"), _("With the edit"))
    language = models.target_language(state.current().model)
    st.html(html.word_changes(written.text_diff, names=names, language=language))


def _texts(pair: Pair, asked: Question, known: EveryHead) -> None:
    """Both texts, a line each, with what the model prefers in them."""
    language = models.languages(state.current().model)[0]
    odds = [known.before] if known.in_b is None else [known.before, known.in_b]
    # The choice is counted for what the model prefers in A, which need not be what is right there.
    preferred = asked.tokens if known.prefers_right else asked.tokens[::-1]
    lines = []
    of_texts = zip(heads_together.LETTERS, asked.texts, odds, pair.cases, pair.are_guesses, strict=False)
    for letter, text, value, case, is_guess in of_texts:
        spans = {} if case is None or is_guess else dict(zip(MARKS, case.spans, strict=True))
        said_there, other = preferred if value >= 0 else preferred[::-1]
        message = "“{token}” rather than “{other}”, {odds} nats"
        says = _(message, token=spoken(said_there), other=spoken(other), odds=decimal(abs(value), 1))
        lines.append(marked_line(Line(letter, language, text), spans, f"→ {says}"))
    st.html("".join(lines))


def _maps(reader: "Chooser", asked: Question, known: EveryHead, head: tuple[str, int, int]) -> None:
    """Every head by each intervention; a click on a cell puts that head to the test."""
    heads = access.all_heads(reader)
    st.subheader(_("All heads by each intervention"), anchor=False)
    with st.grid(3, min_column_width=260, gap="medium"):
        off, point, swap = (st.container() for _column in range(3))
    with point:
        task = access.every_head_pointed(reader, asked)
        start = models.weights_bytes(state.current().model) <= LARGEST_POINTED
        pointed = long_work.outcome(task, _("Point each head at each token"), key="cause-pointed", start=start)
    maps = [(off, "off", _("Switched off"), known.off)]
    if pointed is not None and not np.isnan(pointed.changes).all():
        maps.append((point, "point", _("Pointed at its costliest token"), pointed.changes))
    if known.swapped is not None:
        maps.append((swap, "swap", _("Swapped from sentence B"), known.swapped))
    bound = max(known.before, *(float(np.nanmax(np.abs(changes))) for *_column, changes in maps))
    for column, key, title, changes in maps:
        figure = every_head_map(
            -changes,
            heads,
            title=_("log-odds lost (nats)"),
            bound=bound,
            flips=known.flips(changes),
            framed=head,
            keys=pointed.keys if key == "point" and pointed is not None else (),
        )
        with column:
            st.markdown(f"**{title}**")
            alt = _("{intervention}: log-odds that the choice loses, by head", intervention=title)
            name = file_name("cause", key, asked.name, sentence=asked.texts[0])
            frame.chart_of_heads(figure, f"cause-{key}-map", name, alt)
    frame.caption(
        "A row is a layer, a column a head. Warm: the word loses against the other one. Cold: it gains. A cross: the "
        "other word wins. All maps share one colour scale; it spans at least the log-odds of the choice. Click a cell "
        "to test its head above."
    )
    metrics = {key: changes for _column, key, _title, changes in maps}
    make = partial(tables.heads_and, heads, metrics)
    controls.table_button(_("All heads (CSV)"), make, file_name("causes", asked.name, sentence=asked.texts[0]))


def _edit(trace: "Trace", stated: Stated) -> None:
    """Any edit of the head from the chosen word on, what is written under it, and a branch that keeps it."""
    st.session_state.setdefault("cause-edit", state.current().coreference.edit_chosen)
    label = _("Edit this head's attention from this word on: switched off, uniform, or pointed at any token")
    with st.expander(label, on_change="rerun", key="cause-edit") as opened:
        if not opened.open or frame.lacking(models.abilities(state.current().model), "edits"):
            return
        state.propose(edit="uniform")
        step, (site, layer, head) = state.current().common.step, stated.verdict.head
        with st.container(horizontal=True, vertical_alignment="bottom"):
            kind = controls.segmented("edit", _("What to do with the head"), EDIT_LABELS)
            key = _key(trace, step, site, stated.verdict.key or 0) if kind == "point" else None
            is_of_encoder = site == ENCODER
            once = st.toggle(
                _("In this step only"),
                disabled=is_of_encoder,
                help=_(
                    "If off, the edit applies from this step on. The encoder runs before the first step, so "
                    "edits of the encoder always apply."
                ),
                **state.bound("edit_once", False if is_of_encoder else None),
            )
        edit = EditHead(kind, site, layer, head, key, once and not is_of_encoder)
        writer = models.writer(state.current().model)
        task = access.edited(writer, trace.text, [(step, edit)], trace.rows_before)
        found = long_work.outcome(task, _("Write the text with this edit"), key="cause-edited", start=True)
        if found is not None:
            _show_edited(found[0])
            code = write_code(Choice(0, step, edit))
            icon = ":material/call_split:"
            st.button(_("Keep as a branch"), key="keep-edit", icon=icon, on_click=_keep, args=(code, step))


def _key(trace: "Trace", step: int, site: str, costliest: int) -> int:
    """The token to point at, one that the row at this step may see; by default the costliest."""
    tokens = trace.axis_names(site)[1]
    allowed = tokens[: trace.rows_before + step + 1] if site == DECODER else tokens
    names = [f"{number} · {token}" for number, token in enumerate(display_tokens(allowed), start=1)]
    default = min(costliest, len(allowed) - 1)
    return controls.dropdown(
        "key_token",
        _("Point at"),
        dict(enumerate(names)),
        shown=state.position("key_token", len(names), default),
        width=170,
    )


def _show_edited(found: "EditComparison") -> None:
    was, now = (steps[found.step].token for steps in (found.original_steps, found.edited_steps))
    numbers = _(
        "Log-probability of “{token}” at step {step}: {before} → **{after}**, a change of **{change}** nats.",
        token=plain(display_token(was)),
        step=found.step + 1,
        before=decimal(found.log_prob_before, 3),
        after=decimal(found.log_prob_after, 3),
        change=signed(total_shown((found.log_prob_after, -found.log_prob_before), 3), 3),
    )
    instead = _("The model still writes it.")
    if now != was:
        instead = _("The model writes “{token}” instead.", token=plain(display_token(now)))
    terms.markdown(in_a_row((numbers, instead)))
    _show_written(found)


def _keep(code: str, step: int) -> None:
    """Make the edit a branch of the page that decodes, and show it there."""
    made = state.current().decoding.branches
    kept = made if code in made else (*made, code)
    state.change(branches=kept, branch=kept.index(code) + 1, step=step, decoding_tab="Film", search="Greedy")
    present.open_page("decoding")


def _many(reader: "Chooser", asked: Question, of_set: tuple[Question, ...], known: EveryHead | None) -> None:
    """Several heads at once, and all heads over a set, with what both look at."""
    st.subheader(_("Several heads, and many sentences"), anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        is_one = True
        if of_set:
            scopes = {"pair": _("This pair"), "set": _("All {count} pairs of the set", count=len(of_set))}
            is_one = controls.segmented("cause_scope", _("Shown for"), scopes) == "pair"
        controls.segmented(
            "replacement",
            _("Head output replaced by"),
            INSTEAD_LABELS,
            help_text=_(
                "Zero removes the head's whole output. The mean of the output over all rows of the set’s sentences "
                "removes only what is specific to this sentence."
            ),
        )
    questions = (asked,) if is_one else of_set
    heads_together.show(reader, questions, of_set, None if known is None else np.abs(known.off))
    heads_ranked.show(reader, questions, of_set)


def _to_attribution(asked: Question) -> None:
    """The way to what several methods of attribution give each word."""
    st.button(
        _("Which words “{token}” comes from: Attribution", token=plain(spoken(asked.tokens[0]))),
        key="cause-attribution",
        icon=":material/open_in_new:",
        type="tertiary",
        on_click=_open_attribution,
        args=(asked,),
    )


def _open_attribution(asked: Question) -> None:
    if asked.texts[0] != state.current().common.text:
        state.choose(text=asked.texts[0], other_text=asked.texts[1])
    state.change(decoding_tab="Inside", inside="Attribution")
    present.open_page("decoding")

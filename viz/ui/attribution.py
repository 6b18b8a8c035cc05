"""Show which words a token comes from, by every method, and say whether a choice depends on a head.

Every page that states what a head does to a choice states it by this sentence, so that no two disagree.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import head_verdict as access
from viz.access import models
from viz.pictures.figures import heads as figures
from viz.selection import state
from viz.server.background_jobs import Task
from viz.text import html
from viz.text.messages import Message, _, in_a_row, plural, said, shown, with_commas
from viz.text.written import NamedHead, decimal, signed, spoken
from viz.ui import controls, frame, long_work, terms
from viz.ui.controls import plain
from viz.ui.trace_tables import cell, digits, table

if TYPE_CHECKING:
    from model import Trace
    from model.abilities import Kind
    from model.analysis.attribution.methods import Method
    from model.analysis.interventions.head_verdict import Dependence, Intervention
    from model.word_choice import Chooser
    from viz.access.attribution import Explained
    from viz.access.head_verdict import Stated

NAMES: "Final[Mapping[Method, str]]" = {
    "weights": said("Attention, all heads"),
    "rollout": said("Rollout"),
    "gradient": said("Gradient × input"),
    "integrated": said("Integrated gradients"),
    "zeroing": said("Value zeroing"),
    "alti": said("ALTI"),
}
METHODS_IN_WORDS: Final = said(
    "- **Hidden alone** (leave one out; Li et al. 2016): how many nats the choice loses while nothing attends to the "
    "word.\n- **Attention**: the weights of the row that predicts the token, averaged over all heads of all layers; "
    "of cross-attention\n  if there is one.\n- **Rollout** (Abnar & Zuidema 2020): the last layer's weights, followed "
    "back through the layers below, or through the\n  encoder's.\n- **Gradient × input** (Shrikumar et al. 2016): how "
    "the choice changes with a little more of each embedding.\n- **Integrated gradients** (Sundararajan et al. 2017): "
    "the same, averaged on the path from zero to the whole embedding.\n- **Value zeroing** (Mohebbi et al. 2023): how "
    "far each layer's outputs rotate without the values of one token, followed\n  through all layers. In the decoder "
    "both attentions share a row, so little is left for the output so far.\n- **ALTI** (Ferrando et al. 2022): how "
    "close each transformed vector comes to an attention's output, the residual\n  connection included, followed "
    "through all layers."
)
_COLUMNS: Final = (
    html.Column(said("Method")),
    html.Column(said("Ranked first"), language="en"),
    html.Column(said("Drop (nats)"), is_number=True),
    html.Column(said("Beats random"), is_number=True),
)
#: Words of each method that the table names.
NAMED: Final = 3


#: Kind of model → what a method gives something to beside the words, as a title and as an explanation.
_REST: "Final[Mapping[Kind, tuple[str, str]]]" = {
    "encoder-decoder": (
        said("Output so far"),
        said("Output so far: what a method gives to the tokens already written."),
    ),
    "decoder": (
        said("The rest"),
        said(
            "The last word predicts the token and cannot be hidden from itself: it counts as “the rest”, with "
            "special tokens."
        ),
    ),
    "encoder": (
        said("The rest"),
        said("The mask token cannot be hidden from itself; it counts as “the rest”, with the other special tokens."),
    ),
}


def hidden_seconds(trace: "Trace") -> float:
    """How much of a sound is hidden at once, as chosen, in seconds; 0 of a text."""
    least = trace.source.span_seconds
    return least and (state.current().decoding.hidden_span / 1_000 or least)


def asked_seconds(trace: "Trace") -> float:
    """As `hidden_seconds`, chosen side by side."""
    if choices := trace.source.span_choices:
        offered = {round(1_000 * each): _("{seconds:g} s", seconds=each) for each in choices}
        controls.segmented("hidden_span", _("Hidden at once"), offered, shown=round(1_000 * hidden_seconds(trace)))
    return hidden_seconds(trace)


def show(task: "Task[Explained]", choice: str, *, key: str, name: str) -> None:
    """What each method gives each word, the deletion test, and a table; nothing until it is computed."""
    found = long_work.outcome(task, _("Explain"), key=key, start=True, patience=long_work.LONGER_PATIENCE)
    if found is None:
        return
    explained = replace(found, words=tuple(map(shown, found.words)))
    kind = models.abilities(state.current().model).kind
    names = {method: _(in_english) for method, in_english in NAMES.items()}
    if kind == "encoder-decoder":
        names["weights"] = _("Cross-attention, all heads")
    message = "How many nats {choice} loses when each word is hidden, and what {num_methods} methods give each word"
    if explained.of_spans:
        message = "How many nats {choice} loses when each span is hidden, and what {num_methods} methods give each span"
    alt = _(message, num_methods=len(explained.scores), choice=choice)
    frame.chart(figures.word_map(explained, names), f"{key}-words", f"{name}-words", alt)
    terms.markdown(answer(explained, names, choice))
    if explained.of_spans:
        frame.caption(
            "A span is hidden so that nothing attends to its frames, neither in the encoder nor in cross-attention; a "
            "frame next to it may still contain a little of its sound. “Hidden alone” is measured. Warm: the span "
            "supports this choice; cold: it opposes it. Each row has its own scale."
        )
    else:
        frame.caption(
            "Warm: the word supports this choice; cold: it opposes it. Each row has its own scale, up to its largest "
            "number. “Hidden alone” is measured. Gradients take into account what the token is compared with; the "
            "other methods show what the row that writes it consists of, whatever is written there."
        )
    if not explained.untested:
        _show_test(explained, names, choice, key=key, name=name)
    if certainty := integration_sentence(explained):
        terms.caption(certainty)
    if explained.lacking:
        reasons = (
            plain(_("{method}: {reason}", method=names[each], reason=why)) for each, why in explained.lacking.items()
        )
        st.info("\n\n".join(reasons), icon=":material/info:")
    with st.expander(_("The methods"), key=f"{key}-methods"):
        terms.markdown(_(METHODS_IN_WORDS))
    controls.table_button(_("Table (CSV)"), partial(numbers, explained), name)


def _show_test(explained: "Explained", names: "Mapping[Method, str]", choice: str, *, key: str, name: str) -> None:
    """The deletion test, and a table of what each method ranks first."""
    alt = _("{choice} while words are hidden, in the order of each method and in random orders", choice=choice)
    frame.chart(
        figures.deletion_lines(explained, names, _("log p or log-odds (nats)")),
        f"{key}-deletion",
        f"{name}-deletion",
        alt,
    )
    frame.caption(
        "The deletion test of {choice}: its log-probability (for two tokens, the difference) while words are "
        "hidden one after another, so that nothing attends to them. It measures the order given by a method, "
        "with several words hidden at once; it does not measure the effect of each word alone. Grey: the range "
        "of {num_random} random orders.",
        choice=choice,
        num_random=len(explained.random),
    )
    title, what = _REST[models.abilities(state.current().model).kind]
    most_needed = _("Rank of “{word}”", word=explained.words[explained.alone.most_needed])
    columns = (*_COLUMNS, html.Column(most_needed, is_number=True), html.Column(title, is_number=True))
    rows = [_row(explained, method, names) for method in explained.scores]
    st.html(html.table(columns, rows, label=_("What each method ranks first")))
    frame.caption(
        "Drop: the mean with 1, 2, … and all words hidden. Rank: a method's rank for the word that costs most when "
        "it alone is hidden. {what}",
        what=what,
    )


def choice_in_words(token: str, other: str | None) -> str:
    """A token, or it rather than another, as Markdown."""
    quoted = f"“{plain(spoken(token))}”"
    return quoted if other is None else _("{token} rather than “{other}”", token=quoted, other=plain(spoken(other)))


def numbers(explained: "Explained") -> bytes:
    """A row for each method and word: its score, how far that may be off (of integrated gradients), its place in the
    method's order, and the choice once it is hidden; then the choice, and the token that is said, with this word alone
    hidden."""
    titles = (
        "method", "word", "text", "score", "uncertain", "hidden_as", "choice_nats", "choice_nats_before", "alone_nats",
        "alone_says",
    )  # fmt: skip
    alone = list(zip(digits(explained.alone.values), map(cell, explained.tokens), strict=True))
    rows = []
    for method, scores in explained.scores.items():
        deletion = explained.deletions.get(method)
        uncertain = digits(explained.uncertain) if method == "integrated" else [""] * len(scores)
        for word, score in enumerate(digits(scores)):
            text, hidden = cell(explained.words[word]), list[object]([""] * 3)
            if deletion is not None:
                place = deletion.order.index(word)
                before, after = digits(deletion.values[place : place + 2])
                hidden = [str(place + 1), after, before]
            rows.append((method, word, text, score, uncertain[word], *hidden, *alone[word]))
    return table(titles, rows)


def answer(explained: "Explained", names: "Mapping[Method, str]", choice: str) -> str:
    """What hiding each word alone does to the choice, and which order does best in the deletion test, as Markdown."""
    if explained.untested:
        return in_a_row((_alone(explained, choice), shown(explained.untested)))
    alone, best, falls = _alone(explained, choice), explained.best, [drawn.fall for drawn in explained.random]
    mean = sum(falls) / len(falls)
    if len(explained.words) == 1:
        one_order = _("The deletion test compares nothing here: one word can be hidden in one order only.")
        return in_a_row((alone, one_order))
    if explained.deletions[best].fall <= max(0.0, mean):
        no_better = _(
            "In the deletion test no method is better than chance: hiding words in the order of a method never costs "
            "{choice} more than hiding them in random orders.",
            choice=choice,
        )
        return in_a_row((alone, no_better))
    test = _(
        "In the deletion test {choice} loses most when words are hidden in the order of **{method}**: {fall} nats on "
        "average, compared with {random} ({least} to {most}) in random orders. First in that order: {words}.",
        choice=choice,
        method=names[best],
        words=with_commas(f"“{plain(word)}”" for word in _named(explained, best)),
        fall=decimal(explained.deletions[best].fall, 1),
        random=decimal(mean, 1),
        least=decimal(min(falls), 1),
        most=decimal(max(falls), 1),
    )
    late = _(
        "But “{word}”, which costs most when hidden alone, has rank {rank} of {total} there: that order does not show "
        "what the choice depends on most.",
        word=plain(explained.words[explained.alone.most_needed]),
        rank=explained.rank(best),
        total=len(explained.words),
    )
    is_late = explained.rank(best) > 1 and explained.alone.losses.max() > 0
    return in_a_row((alone, test, late if is_late else ""))


#: Whether the sign of a word's score is uncertain → how the score is written.
_SCORES: Final = {True: said("“{word}” {score} ± {most} (sign uncertain)"), False: said("“{word}” {score} ± {most}")}


def integration_sentence(explained: "Explained") -> str:
    """How certain integrated gradients are, as Markdown: one number where they have converged, else one a word; ""
    where there are none."""
    found = explained.integration
    if found is None:
        return ""
    if found.is_converged:
        message = (
            "Integrated gradients have converged here: {points:,} points between zero and the whole embeddings; no "
            "token’s score is off by more than {worst:.3f} nats."
        )
        return _(message, points=found.points, worst=found.worst)
    words = []
    for word, score, most in zip(explained.words, explained.scores["integrated"], explained.uncertain, strict=True):
        written = {"score": signed(float(score)), "most": decimal(float(most))}
        words.append(_(_SCORES[abs(score) <= most], word=plain(word), **written))
    message = (
        "Integrated gradients have not converged here after {points:,} points between zero and the whole embeddings. "
        "The score of each word ± its estimated error, in nats: {words}."
    )
    return _(message, points=found.points, words=with_commas(words))


def _alone(explained: "Explained", choice: str) -> str:
    """What the loss of a single word does to the choice."""
    alone = explained.alone
    changed = alone.changes
    costs = {"word": plain(explained.words[alone.most_needed]), "loss": float(alone.losses.max())}
    if explained.of_spans and not changed:
        message = (
            "Why {choice}? No span of the sound changes this if it is hidden alone; {word} costs most, {loss:.1f} nats."
        )
        return _(message, choice=choice, **costs)
    if not changed and alone.losses.max() <= 0:
        return _(
            "Why {choice}? No word changes this if it is hidden alone, and none of them costs anything.", choice=choice
        )
    if not changed:
        message = "Why {choice}? No word changes this if it is hidden alone; “{word}” costs most, {loss:.1f} nats."
        return _(message, choice=choice, **costs)
    of_words = with_commas(
        _(
            "“{word}” (then “{token}”, {loss} nats)",
            word=plain(explained.words[word]),
            token=plain(spoken(explained.tokens[word])),
            loss=signed(-float(alone.losses[word]), 1),
        )
        for word in changed
    )
    if explained.of_spans:
        return plural(
            "Why {choice}? **One span of the sound, hidden alone, changes the choice: {words}.**",
            "Why {choice}? **{count} spans of the sound, each hidden alone, change the choice: {words}.**",
            len(changed),
            choice=choice,
            words=of_words,
        )
    return plural(
        "Why {choice}? **One word, hidden alone, changes the choice: {words}.**",
        "Why {choice}? **{count} words, each hidden alone, change the choice: {words}.**",
        len(changed),
        choice=choice,
        words=of_words,
    )


def _named(explained: "Explained", method: "Method") -> list[str]:
    return [explained.words[word] for word in explained.deletions[method].order[:NAMED]]


def _row(explained: "Explained", method: "Method", names: "Mapping[Method, str]") -> tuple[str, ...]:
    rest = explained.rest[method]
    return (
        names[method],
        ", ".join(_named(explained, method)),
        decimal(explained.deletions[method].fall),
        _("{count} of {total}", count=explained.beaten(method), total=len(explained.random)),
        str(explained.rank(method)),
        "—" if rest is None else signed(rest),
    )


_VERDICTS: "Final[dict[Dependence, str]]" = {
    "needs": said("The choice of {choice} depends on {head}: {off}; {pointed}; {swapped}."),
    "can change": said(
        "{head} can change the choice of {choice}, but the choice does not depend on it: {off}; {pointed}; {swapped}."
    ),
    "stays": said("{head} alone does not change the choice of {choice}: {off}; {pointed}; {swapped}."),
}
#: Whether the choice stays → what is said of it under each intervention.
_OFF: Final = {
    True: said("when it is switched off, “{token}” stays ({change} nats)"),
    False: said("when it is switched off, the choice becomes “{token}” ({change} nats)"),
}
_SWAPPED: Final = {
    True: said("with its output from the other sentence, “{token}” stays ({change} nats)"),
    False: said("with its output from the other sentence, the choice becomes “{token}” ({change} nats)"),
}
_POINTED: Final = {
    True: said("when it is pointed at “{key}”, “{token}” stays ({change} nats)"),
    False: said("when it is pointed at “{key}”, the choice becomes “{token}” ({change} nats)"),
}


@dataclass(frozen=True, slots=True)
class Tried:
    """An intervention, in words."""

    title: Message  #: what is done to the head
    token: str = ""  #: what the model then says; "" where the intervention cannot be made
    stays: bool = True  #: whether it says that without the intervention, too
    change: float = 0.0  #: of the choice, in nats
    how: str = ""  #: what the head does then
    why_not: str = ""  #: where it cannot be made, why


def tried(stated: "Stated") -> tuple[Tried, Tried, Tried]:
    """Switched off, pointed at a token, swapped from the other sentence."""

    def of(title: Message, found: "Intervention | None", token: str, how: str, why_not: str = "") -> Tried:
        if found is None:
            return Tried(title, why_not=why_not)
        return Tried(title, spoken(token), found.said == stated.verdict.said, found.change, how)

    verdict, (looks_at, weight) = stated.verdict, stated.looks_at
    point, how = said("Pointed at a token"), said("All its weight goes there.")
    if stated.key:
        point = said("Pointed at “{key}”", key=spoken(stated.key))
    if looks_at:
        how = said("Unchanged, it attends most to “{token}” ({weight:.2f}).", token=spoken(looks_at), weight=weight)
    swap, no_b = said("Swapped from sentence B"), said("there is no other sentence to take its output from")
    return (
        of(said("Switched off"), verdict.off, stated.off, said("It adds nothing.")),
        of(point, verdict.pointed, stated.pointed, how, said("it cannot be pointed at a word")),
        of(swap, verdict.swapped, stated.swapped, said("It adds what it added when reading B."), no_b),
    )


def sentence(stated: "Stated") -> Message:
    """The verdict, in any language and without Markdown."""

    def of(found: Tried, texts: dict[bool, Message]) -> str:
        if found.why_not:
            return found.why_not
        values = {"key": spoken(stated.key)} if texts is _POINTED else {}
        return said(texts[found.stays], token=found.token, change=signed(found.change, 1), **values)

    off, pointed, swapped = map(of, tried(stated), (_OFF, _POINTED, _SWAPPED))
    return said(
        _VERDICTS[stated.verdict.dependence],
        head=NamedHead(*stated.verdict.head, with_site=True),
        choice=said("“{token}” rather than “{other}”", token=spoken(stated.token), other=spoken(stated.against)),
        off=off,
        pointed=pointed,
        swapped=swapped,
    )


def chosen_label(reader: "Chooser", text: str) -> tuple[int, ...]:
    """The label of a classifier that a person has chosen, by its id; nothing of a model of words.

    Until a person chooses one it is what the model says. Raises a HeadlightError if the model cannot read the text.
    """
    names = reader.labels(text)
    return (state.position("label", len(names), access.own_question(reader, text, "").a.right),) if names else ()


def asked_label(reader: "Chooser", text: str) -> tuple[int, ...]:
    """As `chosen_label`, chosen from a list."""
    labels = dict(enumerate(reader.labels(text)))
    return tuple(
        controls.dropdown("label", _("Label"), labels, shown=each, width=190) for each in chosen_label(reader, text)
    )

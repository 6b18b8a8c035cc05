"""What was measured of a head: where it stands among all heads, what it looks at, texts from weak to strong.

On demand what it promotes there, and what is lost without it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import streamlit as st

from viz.access import head_descriptions, models
from viz.access.head_descriptions import Described, ExampleRow, Strength
from viz.pictures.head_details.component import (
    Bar,
    Bars,
    Chosen,
    Example,
    HeadExamples,
    HeadNumbers,
    Strip,
    head_examples,
    head_numbers,
)
from viz.selection import state
from viz.selection.choices import ALL_HEADS
from viz.text import head_description, html, written
from viz.text.messages import _, plural, said
from viz.text.written import head_label
from viz.ui import frame, long_work, present, terms

if TYPE_CHECKING:
    from model import Reader
    from model.analysis.head_description.describe import HeadDescription
    from model.analysis.head_description.table import Number
    from model.analysis.metrics.head_metrics import HeadName

#: Bars of a sort, the longest; and texts that are shown where they are not tenths.
MAX_BARS: Final = 8
MAX_TEXTS: Final = 8
_BINS: Final = 30
#: How examples are chosen, and what a person typed, by the keys of their widgets.
_HOW, _WANTED, _DRAWN = "head-examples-how", "head-examples-wanted", "head-examples-drawn"
#: A head copies a token that is among so many that it promotes most.
COPIES: Final = 10
_PROMOTED: Final = (
    html.Column(said("Attends to")),
    html.Column(said("Free weight"), is_number=True),
    html.Column(said("Uniform attention"), is_number=True),
    html.Column(said("Top output tokens")),
    html.Column(said("Own rank"), is_number=True),
)
#: What becomes of a token without the head: worse, better, or nothing that can be told from chance.
_COSTS: Final = said("Without it, the log-likelihood of a token falls by {change} nats on average.")
_GAINS: Final = said(
    "Without it, the log-likelihood of a token rises by {change} nats on average: these texts are predicted better."
)
_NO_COST: Final = said("Switching it off makes no difference beyond chance: {change} nats per token.")
#: Longer patterns are not looked for.
LONGEST: Final = 60
HOW: Final = {"tenths": said("Deciles"), "random": said("Random"), "search": said("Search")}


def show(reader: "Reader", described: Described, found: "HeadDescription", *, with_examples: bool) -> None:
    """Numbers and examples of a head that is described, the examples once a person unfolds them."""
    head = found.head
    st.markdown(_("#### What {head} does", head=head_label(head.layer, head.head)))
    head_numbers(_numbers(described, found), key="head-numbers")
    if not with_examples:
        return
    frame.unfolding(_("Examples, weak to strong"), "head-examples-open", _examples, reader, described, head)
    label = _("What it promotes on the tokens that it attends to (OV)")
    frame.unfolding(label, "head-promotes-open", _promotes, reader, described, head)
    frame.unfolding(_("What switching it off costs"), "head-off-open", _costs, reader, described, head)


def _numbers(described: Described, found: "HeadDescription") -> HeadNumbers:
    head = found.head
    overall = described.overall[head.site]
    shown = [] if found.main is None else [found.main]
    shown += [number for number in found.unusual if found.main is None or number.metric != found.main.metric]
    sorts = {_("by kind of token"): head_descriptions.KINDS, _("by position"): head_descriptions.PLACES}
    return HeadNumbers(
        strips=[_strip(number, overall[number.metric], found) for number in shown if number.metric in overall],
        shares=[Bars(title, _bars(described, found, cells)) for title, cells in sorts.items()],
        rest=found.rest.value,
        favourites=[token for token, _times in found.favourites],
        times=[_("{times:.1f} times", times=times) for _token, times in found.favourites],
    )


def _strip(number: "Number", heads: "np.ndarray[tuple[int], np.dtype[np.float32]]", found: "HeadDescription") -> Strip:
    name, value = head_description.metric_name(number.metric, found), f"{number.value:.2f}"
    rank = _("rank {rank} of {count}", rank=number.rank, count=number.heads)
    label = _("{name}: {value}, {rank}", name=name, value=value, rank=rank)
    return Strip(name, heads, number.value, number.low, number.high, value, rank, label)


def _bars(described: Described, found: "HeadDescription", cells: Sequence[str]) -> list[Bar]:
    shares = sorted(head_descriptions.shares(described, found.head, cells), key=lambda share: -share.value)
    return [
        Bar(head_description.metric_name(share.cell, found), share.value, share.layer, share.even)
        for share in shares[:MAX_BARS]
        if max(share.value, share.layer, share.even) > 0.003
    ]


@dataclass(frozen=True, slots=True)
class _Text:
    """A text that is shown, and what is said of it."""

    number: int
    label: str
    notes: tuple[str, ...]


def _examples(reader: "Reader", described: Described, head: "HeadName") -> None:
    """Texts of the whole range, or at random, or those that contain something."""
    strength = head_descriptions.strength(described, head)
    if not strength.order:
        frame.caption("No text of the corpus has a row to which this applies.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        labels = {_(label): name for name, label in HOW.items()}
        how = labels.get(str(st.segmented_control(
            _("Texts"), list(labels), default=next(iter(labels)), key=_HOW, label_visibility="collapsed"
        )), "tenths")  # fmt: skip
        wanted = ""
        if how == "random":
            st.button(_("Draw again"), key="head-examples-others", icon=":material/refresh:", on_click=_draw_others)
        elif how == "search":
            help_text = _("Letters within a text, or a pattern for a word: * matches any letters, ? matches one.")
            wanted = st.text_input(_("Word or pattern"), key=_WANTED, max_chars=LONGEST, help=help_text)
    terms.caption(_of_what(strength, described.heads[head]))
    found = _searched(described, head, strength, wanted) if how == "search" else []
    texts = found if how == "search" else _tenths(strength) if how == "tenths" else _random(strength)
    numbers = [text.number for text in texts]
    task = head_descriptions.example_rows(reader, described, head, strength, numbers)
    rows = long_work.outcome(task, _("Show examples"), key="head-examples", start=True)
    if rows is None:
        return
    shown = [(text, row) for text, row in zip(texts, rows, strict=True) if row is not None]
    content = _content(strength, [_example(text, row, wanted) for text, row in shown])
    own = [row for _text, row in shown]
    head_examples(content, key="head-examples-shown", on_open=lambda chosen: _open(chosen, own, head))


def _draw_others() -> None:
    st.session_state[_DRAWN] = int(st.session_state.get(_DRAWN, 0)) + 1


def _of_what(strength: Strength, found: "HeadDescription") -> str:
    """What is weak or strong."""
    if strength.is_awake:
        return _("Free weight: the share that is not at rest, by text")
    return _("{name}, by text", name=head_description.metric_name(strength.metric, found))


def _tenths(strength: Strength) -> list[_Text]:
    """The text in the middle of each tenth, with its range and how much of the corpus it stands for.

    Of fewer than ten texts, each.
    """
    found = []
    named = said("Decile {number}") if len(strength.order) >= 10 else said("Text {number} of {count}")
    for tenth, part in enumerate(np.array_split(np.array(strength.order), min(10, len(strength.order))), start=1):
        low, high = (f"{strength.values[part[at]]:.2f}" for at in (0, -1))
        share = len(part) / len(strength.values)
        count = plural("{count:,} text", "{count:,} texts", len(part))
        notes = (
            _("{low} to {high}", low=low, high=high),
            _("{texts}, {share:.1%} of the corpus", texts=count, share=share),
        )
        found.append(_Text(int(part[len(part) // 2]), _(named, number=tenth, count=len(strength.order)), notes))
    return found


def _random(strength: Strength) -> list[_Text]:
    """Some texts in the order in which they are drawn."""
    generator = np.random.default_rng(int(st.session_state.get(_DRAWN, 0)))
    drawn = generator.choice(len(strength.order), min(MAX_TEXTS, len(strength.order)), replace=False)
    return [_placed(strength, int(place)) for place in drawn]


def _placed(strength: Strength, place: int) -> _Text:
    number = strength.order[place]
    above = _("stronger than {share:.0%} of the texts", share=place / len(strength.order))
    return _Text(number, f"{strength.values[number]:.2f}", (above,))


def _searched(described: Described, head: "HeadName", strength: Strength, wanted: str) -> list[_Text]:
    """Texts that contain what a person typed, over the whole range; above them how many there are, and their mean."""
    if not wanted.strip():
        frame.caption("Type a word that the texts should contain.")
        return []
    hits = set(head_descriptions.containing(described, head.site, wanted))
    places = [place for place, number in enumerate(strength.order) if number in hits]
    if not places:
        frame.caption("No text of the corpus contains this.")
        return []
    own = strength.values[[strength.order[place] for place in places]].mean()
    all_texts = strength.values[list(strength.order)].mean()
    frame.caption(
        "{found:,} of {count:,} texts ({share:.0%}) contain it. Their mean is {mean}; the mean of all texts is "
        "{all_texts}.",
        found=len(places),
        count=len(strength.values),
        share=len(places) / len(strength.values),
        mean=f"{own:.2f}",
        all_texts=f"{all_texts:.2f}",
    )
    chosen = np.linspace(0, len(places) - 1, min(MAX_TEXTS, len(places))).round().astype(int)
    return [_placed(strength, places[at]) for at in chosen]


def _example(text: _Text, row: ExampleRow, wanted: str) -> Example:
    pattern = wanted.strip().casefold().strip("*?")
    found = [at for at, token in enumerate(row.tokens) if pattern and pattern in token.casefold()]
    query, at = ((), row.row) if row.is_key else ((row.row_name,), -1)
    weights = [round(float(weight), 4) for weight in row.weights]
    return Example(text.label, text.notes, query, row.tokens, weights, at, row.resting, found)


def _content(strength: Strength, examples: Sequence[Example]) -> HeadExamples:
    known = np.sort(strength.values[list(strength.order)])
    low, high = float(known[0]), float(known[-1])
    reach = high - low or 1.0
    cuts = [(float(known[len(known) * tenth // 10]) - low) / reach for tenth in range(1, 10)]
    of_all = len(strength.values)
    count = (
        plural("{count:,} text; dotted: deciles", "{count:,} texts; dotted: deciles", of_all)
        if len(known) == of_all
        else _("the {count:,} of {of_all:,} texts that have a value; dotted: deciles", count=len(known), of_all=of_all)
    )
    ends = f"{low:.2f}", f"{high:.2f}"
    return HeadExamples(
        examples, np.histogram(known, _BINS, (low, low + reach))[0].tolist(), cuts, *ends, count,
        _("Texts by strength, from {low} to {high}", low=ends[0], high=ends[1]),
    )  # fmt: skip


def _open(chosen: Chosen, rows: Sequence[ExampleRow], head: "HeadName") -> None:
    """The text in Attention, at the row of the head that was shown."""
    row, choice = rows[chosen.example], state.current().model
    state.choose(text=row.text)
    # Behind a chat template, or before a second text, rows stand elsewhere.
    is_as_read = not models.reads_chat(choice) and not choice.second_text.strip()
    state.change(attention_tab=ALL_HEADS, measure="weights", site=head.site, layer=head.layer, head=head.head)
    state.change(token=row.row if is_as_read else None, key_token=None, head_chosen=True)
    present.open_page("attention")


def _promotes(reader: "Reader", described: Described, head: "HeadName") -> None:
    """The tokens that a head looks at more than an even look would, and what it promotes on each."""
    if frame.lacking(reader.abilities, "circuits"):
        return
    task = head_descriptions.promoting(reader, described, head)
    found = long_work.outcome(task, _("Show what it promotes"), key="head-promotes", start=True)
    if found is None:
        return
    if not found:
        frame.caption("It attends to no token more than uniform attention would.")
        return
    copied = sum(each.own_place <= COPIES for each in found)
    if 2 * copied >= len(found):
        message = "It copies: of the {count} tokens below, {copied} are among the {most} that it promotes most."
        terms.markdown(_(message, count=len(found), copied=copied, most=COPIES))
    rows = [
        (
            written.display_token(each.token),
            written.percent(each.share),
            written.percent(each.even),
            ", ".join(map(written.display_token, each.most)),
            f"{each.own_place:,}",
        )
        for each in found
    ]
    st.html(html.table(_PROMOTED, rows, label=_("What the head promotes on the tokens that it attends to")))
    frame.caption(
        "Computed from the model's parameters alone: the token as it is embedded, times W_V and W_O, compared with the "
        "tokens that may be written, without what other layers add. Own rank: the rank of the token itself; 1 if the "
        "head copies it."
    )


def _costs(reader: "Reader", described: Described, head: "HeadName") -> None:
    """What becomes of the log-likelihood of the corpus without a head."""
    for view in ("edits", "decoding"):
        if frame.lacking(reader.abilities, view):
            return
    task = head_descriptions.costing(reader, described, head)
    found = long_work.outcome(task, _("Measure what switching it off costs"), key="head-off")
    if found is None:
        return
    sentence = _COSTS if found.high < 0 else _GAINS if found.low > 0 else _NO_COST
    terms.markdown(_(sentence, change=f"{abs(found.change):.4f}"))
    frame.caption(
        "Change {change}, between {low} and {high} (95% interval by text); {tokens:,} tokens of {texts:,} texts, whose "
        "log-likelihood is {intact} nats on average with the head.",
        change=written.signed(found.change, 4),
        low=written.signed(found.low, 4),
        high=written.signed(found.high, 4),
        tokens=found.tokens,
        texts=found.texts,
        intact=written.signed(found.intact),
    )

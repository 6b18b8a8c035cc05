"""The widgets that several pages share: the choice of site, layer, head and token, numbers, the button of a table.

Each shows one field of the selection (`viz.selection.state`) and returns its value. Labels count from 1, values from 0.

A number that a link asks for and that does not exist becomes the nearest that does, and a sentence says so. Knows
nothing of the model: what can be chosen is passed in.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import Final, Literal, TypeVar

import streamlit as st

from viz.selection import notices, state
from viz.selection.choices import BERTVIZ_VIEWS, DRAWN_AS, MEASURE_NAMES
from viz.text import written
from viz.text.messages import Message, _, plural, said
from viz.text.messages import shown as text_shown
from viz.text.written import NamedHead
from viz.ui.head_metrics import MEASURES

Option = TypeVar("Option")

#: How the addresses begin of which GitHub's Markdown makes links, wherever they stand in a text.
_ADDRESS: Final = re.compile(r"https?:(?=//)|www(?=\.)|@(?=[\w-])", re.IGNORECASE)
#: What a message gives to be typed.
_CODE: Final = re.compile(r"`([^`\n]+)`")
#: As large as a number in the URL may be.
MAX_SEED: Final = 999_999
#: The widths and bases that the formula of the positions can be tried with.
MAX_WIDTH: Final = 512
BASES: Final = (
    2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
)  # fmt: skip


def site(offered: Sequence[str]) -> str:
    """Which of the three attentions."""
    return segmented("site", _("Attention"), _site_labels(offered), shown=_shown_site(offered))


def site_list(offered: Sequence[str]) -> str:
    """Which of the three attentions, as a list where there is little room."""
    return dropdown("site", _("Attention"), _site_labels(offered), shown=_shown_site(offered), width=168)


def bertviz_view() -> str:
    """Which of bertviz's two views."""
    return segmented("bertviz_view", _("View"), {name: _(name) for name in BERTVIZ_VIEWS}, has_label=False)


def layer(count: int) -> int:
    """Which layer, labelled from 1."""
    return dropdown("layer", _("Layer"), _from_one(count), width=80)


def head(count: int, *, disabled: bool = False) -> int:
    """Which head, labelled from 1; disabled where what is shown has no head."""
    return dropdown("head", _("Head"), _from_one(count), width=80, disabled=disabled)


def drawn_as() -> str:
    """How the open head is drawn."""
    return segmented("drawn_as", _("Drawn as"), {name: _(name) for name in DRAWN_AS}, has_label=False)


def fit_measure(offered: Sequence[str]) -> None:
    """Change what the numbers of the open head are to the first that is offered, where they are none of these."""
    if state.current().common.measure not in offered:
        state.correct(measure=offered[0])


def measure(offered: Sequence[str] = MEASURE_NAMES) -> str:
    """What the numbers of the open head are; one that is not offered becomes the first."""
    fit_measure(offered)
    labels = {name: MEASURES[name].label for name in offered}
    return segmented("measure", _("Numbers"), labels)


def switch(field: str, label: str, help_text: str | None = None) -> bool:
    """A choice of yes or no."""
    return st.toggle(text_shown(label), help=help_text and text_shown(help_text), **state.bound(field))


def whole_words(has_words: bool, has_runs: bool, help_text: str | None = None) -> None:
    """Whether the tokens of a word are joined, where some word has several; that runs without spaces are not."""
    if has_words:
        switch("whole_words", _("Whole words"), help_text)
    if has_runs and state.current().common.whole_words:
        st.caption(_("Where no spaces separate words, as in this text, tokens are not joined."))


def sinks() -> bool:
    """Whether keys are shown on which heads rest that have nothing to do."""
    help_text = _(
        "When off, the keys that heads attend to when nothing else matches are left out: special tokens, "
        "punctuation and the first token that a decoder reads. Their share of the weight is stated; the rest is "
        "not renormalised."
    )
    return switch("sinks", _("Sinks"), help_text)


def sentences(field: str, label: str) -> str:
    """Several sentences, one a line."""
    typed = st.text_area(
        text_shown(label),
        height=120,
        placeholder=_("One sentence per line"),
        help=_("Press Ctrl + Enter or click elsewhere to read these texts."),
        **state.bound(field),
    )
    return typed or ""


def side() -> str:
    """The source sentence or its translation."""
    return segmented("side", _("Side"), {"source": _("Source"), "target": _("Translation")})


def position(field: str, label: str, labels: Sequence[str], *, default: int) -> int:
    """Which token of a sentence, by its position; `labels` say how each is listed."""
    return token(field, label, dict(enumerate(labels)), shown=state.position(field, len(labels), default))


def token(field: str, label: str, labels: Mapping[int, str], *, shown: int) -> int:
    """Which token or word: its position → how it is listed."""
    sign = _("▁ begins a word") if any("▁" in each for each in labels.values()) else None
    return dropdown(field, label, labels, shown=shown, help_text=sign)


def slider(field: str, label: str, low: int, high: int) -> int:
    """A whole number from `low` to `high`; one beyond, from a link or another sentence, becomes the nearest."""
    value = min(max(state.value(field, int), low), high)
    state.correct(**{field: value})
    chosen = st.slider(text_shown(label), low, high, **state.bound(field))
    return int(chosen)


def window(last: int, default: int) -> int:
    """How many positions are left out before those that are shown; by default so many."""
    chosen = state.current().attention.window_start
    value = min(max(default if chosen is None else chosen, 0), last)
    state.drop_asked(window_start=chosen is not None and value != chosen)
    shown = st.slider(_("Positions omitted before the first line"), 0, last, **state.bound("window_start", value))
    return int(shown)


def width(own: int) -> int:
    """How many dimensions the formula is given, an even number; the model's own unless another is chosen."""
    most = max(MAX_WIDTH, own)
    chosen = state.current().learn.width
    value = min(max(chosen or own, 2), most) // 2 * 2
    if chosen not in (0, value):
        state.correct(width=value)
    state.change(width=0 if value == own else value)
    chosen = st.slider(
        _("d_model (this model: {own})", own=own),
        2,
        most,
        step=2,
        key=state.bind("width", value),
        on_change=_take_width,
        args=(own,),
    )
    return int(chosen)


def base(own: int) -> int:
    """The base of the formula's wavelengths, in steps of 1, 2, 5; another one becomes the nearest step."""
    return stepped("base", _("Base (this model: {own:,})", own=own), BASES)


def stepped(field: str, label: str, steps: Sequence[int], *, help_text: str | None = None) -> int:
    """One of a few numbers above 0; another one, from a link, becomes the nearest by its ratio."""
    chosen = max(state.value(field, int), 1)
    if chosen not in steps:
        state.correct(**{field: min(steps, key=lambda step: abs(log(step / chosen)))})
    shown = st.select_slider(
        text_shown(label),
        steps,
        format_func=lambda step: f"{step:,}",
        help=help_text and text_shown(help_text),
        **state.bound(field),
    )
    return int(shown)


def seed() -> int:
    """Which draw of the example sentences, and a button for the next one."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.number_input(
            _("Seed"), min_value=0, max_value=MAX_SEED, step=1, width=150, **state.bound("example_seed")
        )
        st.button(_("Another twenty"), icon=":material/casino:", on_click=_next_seed)
    return int(chosen)


def metric(labels: Mapping[str, str]) -> str:
    """Which metric of a head its tile carries; "" is none."""
    return dropdown("metric", _("Metric under each tile"), labels, width=200)


def order() -> str:
    """In which order heads are shown."""
    labels = {"layers": _("By layer"), "highest": _("Highest first"), "lowest": _("Lowest first")}
    return dropdown("order", _("Order"), labels, width=140)


def max_heads(count: int) -> int:
    """How many of `count` heads are shown, 0 for all."""
    labels = {0: _("All"), **{number: _("First {number}", number=number) for number in (4, 8, 16) if number < count}}
    is_lacking = state.current().attention.max_heads not in labels
    state.drop_asked(max_heads=is_lacking)
    return dropdown("max_heads", _("Heads"), labels, shown=0 if is_lacking else None, width=110)


def plain(text: str) -> str:
    """Text with every sign that Streamlit's Markdown reads taken literally: `![…](…)` must not fetch a picture.

    A web or mail address becomes a link in spite of its backslashes, unless a word joiner, unseen, breaks it. What is
    written from right to left is isolated, so that it does not reorder the sentence around it.
    """
    # Half of a surrogate pair, which JSON can spell, cannot be sent to a browser.
    unlinked = _ADDRESS.sub("\\g<0>\u2060", text_shown(text).encode("utf-8", errors="replace").decode())
    escaped = "".join(f"\\{c}" if c.isascii() and not (c.isalnum() or c.isspace()) else c for c in unlinked)
    return f"\u2068{escaped}\u2069" if written.has_right_to_left(text) else escaped


def with_code(message: str) -> str:
    """A message as `plain`, except that what stands between backquotes in one line is shown as code."""
    shown = text_shown(message).encode("utf-8", errors="replace").decode()
    return "".join(f"`{part}`" if number % 2 else plain(part) for number, part in enumerate(_CODE.split(shown)))


def markdown(message: str) -> str:
    """What `said` made, as Markdown in the language of this page run: heads are links, other values plain text."""
    if isinstance(message, NamedHead):
        return message.link
    if not isinstance(message, Message):
        return plain(message)
    values = {name: markdown(value) if isinstance(value, str) else value for name, value in message.values.items()}
    if message.many:
        return plural(message.template, message.many, int(str(values.pop("count"))), **values)
    return _(message.template, **values)


def segmented(
    field: str,
    label: str,
    labels: Mapping[Option, str],
    *,
    shown: Option | None = None,
    help_text: str | None = None,
    has_label: bool = True,
) -> Option:
    """A choice of few, side by side: option → label; `shown` instead of the chosen one, where that is not offered.

    A label that is not seen is read out all the same.
    """
    texts = {option: text_shown(text) for option, text in labels.items()}
    chosen: Option | None = st.segmented_control(
        text_shown(label),
        list(labels),
        format_func=texts.__getitem__,
        required=True,
        help=help_text and text_shown(help_text),
        wrap=True,
        label_visibility="visible" if has_label else "collapsed",
        **state.bound(field, shown, always=False),
    )
    assert chosen is not None, "a choice is required"
    return chosen


def dropdown(
    field: str,
    label: str,
    labels: Mapping[Option, str],
    *,
    shown: Option | None = None,
    width: int | Literal["stretch"] = "stretch",
    disabled: bool = False,
    help_text: str | None = None,
) -> Option:
    """A choice of many from a list, as `segmented`."""
    texts = {option: text_shown(text) for option, text in labels.items()}
    chosen: Option = st.selectbox(
        text_shown(label),
        list(labels),
        format_func=texts.__getitem__,
        width=width,
        disabled=disabled,
        help=help_text and text_shown(help_text),
        **state.bound(field, shown),
    )
    return chosen


def _site_labels(offered: Sequence[str]) -> dict[str, str]:
    """What all share is the label above them."""
    return {path: written.label(path).removesuffix("-attention") for path in offered}


def _shown_site(offered: Sequence[str]) -> str | None:
    return None if state.current().common.site in offered else offered[0]


def _from_one(count: int) -> dict[int, str]:
    return {number: str(number + 1) for number in range(count)}


def _take_width(own: int) -> None:
    if (chosen := state.taken("width")) is not None:
        state.change(width=0 if chosen[0] == own else chosen[0])


def _next_seed() -> None:
    state.change(example_seed=(state.current().model_card.example_seed + 1) % (MAX_SEED + 1))


def settle(field: str, low: int, high: int, name: str, shown: Callable[[int], str] = str) -> None:
    """Set a field of the selection to the nearest number that exists, and say so where that is another one.

    `name` says what the number is, as a sentence begins; `shown` writes it for people.
    """
    asked = state.value(field, int)
    nearest = min(max(asked, low), high)
    if nearest == asked:
        return
    state.change(**{field: nearest})
    message = "{name} {asked} is out of range ({low} to {high}); {nearest} is shown."
    notices.tell(said(message, name=name, asked=shown(asked), low=shown(low), high=shown(high), nearest=shown(nearest)))


def hundredths(value: int) -> str:
    """A number of hundredths as people write it."""
    return f"{value / 100:.2f}"


def whole_slider(field: str, label: str, high: int, *, help_text: str) -> None:
    """A slider over whole numbers from 1."""
    st.slider(text_shown(label), 1, high, help=text_shown(help_text), width=220, **state.bound(field))


def hundredths_slider(field: str, label: str, low: int, high: int, *, help_text: str) -> None:
    """A slider over a number that the selection keeps in hundredths."""
    st.slider(
        text_shown(label),
        low / 100,
        high / 100,
        step=0.01,
        format="%.2f",
        help=text_shown(help_text),
        width=220,
        **state.bound(field, state.value(field, int) / 100, read=lambda value: round(value * 100)),
    )


def number(field: str, label: str, low: int, high: int, *, help_text: str) -> None:
    """A whole number to be typed."""
    st.number_input(
        text_shown(label),
        min_value=low,
        max_value=high,
        step=1,
        help=text_shown(help_text),
        width=140,
        **state.bound(field),
    )


def table_button(label: str, make: Callable[[], bytes], name: str) -> None:
    """A button that saves a table, made when it is pressed; `name` is the file's without its ending."""
    st.download_button(
        text_shown(label),
        make,
        f"{name}.csv",
        "text/csv",
        key=f"table-{name}",
        icon=":material/download:",
        on_click="ignore",
    )

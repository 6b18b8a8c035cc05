"""Choose what is compared: a pair of the curated set, or two sentences whose words a person marks.

A pair or a word that a link asks for and that does not exist is answered with a sentence.
"""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from viz.pages.coreference.data import Pair, curated_pairs
from viz.pages.coreference.marks import Marks, guessed, last_word, word_spans
from viz.selection import state
from viz.selection.coreference import MARKS, OTHER_MARKS
from viz.ui import controls, frame
from viz.ui.controls import plain

#: Groups of the curated set as people read them; "" are one's own sentences.
GROUPS: Final = {
    "": "My own sentences",
    "it": "it",
    "people": "he · she · they",
    "possessive": "its · his · her",
    "reflexive": "-self",
    "equal": "Equal distance",
    "control": "Control: no coreference",
}
NAMES: Final = ("first", "second")
#: With more words than this a list is easier to read than a field of buttons.
MAX_PILLS: Final = 60
_GROUP: Final = "pair-group"


def chosen_pair() -> Pair | None:
    """The pair of the curated set that is chosen, None for one's own sentences."""
    pairs = curated_pairs()
    asked = state.current().coreference.pair
    if asked and asked not in pairs:
        state.change(pair="")
        frame.note(
            f"The curated set has no pair “{plain(asked)}”. These are your own sentences; choose one of its "
            f"{len(pairs)} pairs by its group."
        )
    groups = ["", *dict.fromkeys(pair.group for pair in pairs.values())]
    pair = pairs.get(state.current().coreference.pair)
    st.session_state[_GROUP] = pair.group if pair else ""
    st.segmented_control(
        "Pairs",
        groups,
        key=_GROUP,
        format_func=lambda group: GROUPS.get(group, group),
        required=True,
        wrap=True,
        help=f"{len(pairs)} pairs written for Headlight. The model was never trained on them.",
        on_change=_take_group,
    )
    if pair is None:
        return None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        group = [other for other in pairs.values() if other.group == pair.group]
        labels = {other.name: _both(*(case.sentence for case in other.cases)) for other in group}
        controls.dropdown("pair", "Pair", labels)
        st.button(
            "Make it mine",
            icon=":material/edit:",
            help="Both sentences become your own: change them, mark other words, see them on the other pages.",
            on_click=_make_mine,
            args=(pair,),
        )
    return pair


def marked_words(texts: Sequence[str]) -> list[Marks]:
    """The words marked in one's own two sentences, to be clicked; the page's guess where a person marked none."""
    guesses = [guessed(text, swapped=number == 1) for number, text in enumerate(texts)]
    is_guessed = all(None not in guess.positions for guess in guesses)
    with (
        st.expander("Mark the pronoun and its candidates", expanded=not is_guessed, icon=":material/ads_click:"),
        st.grid(2, min_column_width=360, gap="medium"),
    ):
        return [_marks(*of) for of in zip(NAMES, texts, (MARKS, OTHER_MARKS), guesses, strict=True)]


def _marks(name: str, text: str, fields: Sequence[str], guess: Marks) -> Marks:
    words = [text[slice(*span)] for span in word_spans(text)]
    labels = [f"{role.capitalize()} in the {name} sentence" for role in MARKS]
    with st.container():
        chosen = zip(fields, labels, guess.positions, strict=True)
        return Marks(*(_word(field, label, words, default) for field, label, default in chosen))


def _word(field: str, label: str, words: Sequence[str], default: int | None) -> int | None:
    chosen = state.current().value(field)
    assert chosen is None or isinstance(chosen, int)
    if chosen is not None and chosen >= len(words):
        state.change(**{field: None})
        frame.note(f"{label}: there is no word {chosen + 1}, the sentence has {len(words)}.")
        chosen = None
    value = default if chosen is None else chosen
    key, options = state.bind(field, value), range(len(words))
    if len(words) > MAX_PILLS:
        return st.selectbox(
            label,
            options,
            key=key,
            format_func=lambda i: f"{i + 1} · {words[i]}",
            placeholder="Choose a word",
            on_change=state.take,
            args=(field,),
        )
    return st.pills(label, options, key=key, format_func=lambda i: plain(words[i]), on_change=state.take, args=(field,))


def _both(first: str, second: str) -> str:
    """Two sentences in one line: of the second, what comes after the words with which both begin."""
    words, others = first.split(), second.split()
    same = next((i for i, both in enumerate(zip(words, others, strict=False)) if both[0] != both[1]), 0)
    return f"{first}  /  {'… ' if same else ''}{' '.join(others[same:])}"


def _take_group() -> None:
    group = st.session_state[_GROUP]
    pairs = curated_pairs().values()
    state.choose(pair=next((pair.name for pair in pairs if pair.group == group), ""))


def _make_mine(pair: Pair) -> None:
    first, second = (case.sentence for case in pair.cases)
    state.choose(text=first, other_text=second)
    marks: dict[str, object] = {}
    for case, fields in zip(pair.cases, (MARKS, OTHER_MARKS), strict=True):
        marks |= {field: last_word(case.sentence, span) for field, span in zip(fields, case.spans, strict=True)}
    state.change(**marks)

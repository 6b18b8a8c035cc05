"""Choose the pair that all tabs compare: one of a set, or a person's two texts, whose words they mark.

A pair or a word that a link asks for and that does not exist is answered with a sentence.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.access import models, texts
from viz.pages.coreference.data import Pair, causes, marked_case, pairs_for, pairs_of
from viz.pages.coreference.pair_words import ROLES
from viz.selection import notices, state
from viz.selection.choices import MARKS, OTHER_MARKS
from viz.selection.examples import EXAMPLES, known_marks
from viz.server.widgets import sent
from viz.text.marks import Marks, guessed, last_word, pronoun_and_nouns, word_spans
from viz.text.messages import Message, _, in_a_row, said, with_and
from viz.ui import controls, frame
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


#: The group of the pairs that models are asked about which go on with a text.
GIFTS: Final = "gift"
#: Groups of the sets as people read them; "" are one's own sentences.
GROUPS: Final = {
    "": said("My own sentences"),
    "it": "it",
    "people": "he · she · they",
    "possessive": "its · his · her",
    "reflexive": "-self",
    "equal": said("Equal distance"),
    "control": said("Control: no coreference"),
    "zero": said("Control: no pronoun, subject left out"),
    GIFTS: said("Who is given something"),
}
#: Groups whose pairs swap a whole predicate.
_PREDICATES: Final = frozenset({"他", "她"})
#: The two, within a sentence.
NAMES: Final = (said("first sentence"), said("second sentence"))
#: With more words than this a list is easier to read than a field of buttons.
MAX_PILLS: Final = 60
_GROUP: Final = "pair-group"
_CHANGE: Final = "pair-change"


def _about(pairs: Mapping[str, Pair]) -> str:
    """Say what the pairs are, and of Chinese people that more than a word differs."""
    about = _("{num_pairs} pairs written for Headlight. The model was not trained on them.", num_pairs=len(pairs))
    if not any(pair.group in _PREDICATES for pair in pairs.values()):
        return about
    swapped = _(
        "In most pairs the two sentences differ in one word; in those with 他 and 她, nearly always in the whole "
        "predicate."
    )
    return in_a_row((about, swapped))


def offered() -> Mapping[str, Pair]:
    """The pairs of the sets that the chosen model can read, by their names."""
    model = state.current().model
    pairs = dict(pairs_for(models.languages(model)[0]))
    if models.abilities(model).has("word choice") and not models.is_english_german(model):
        gifts = causes.gift_questions(models.chooser(model))
        pairs |= {asked.name: Pair(asked.name, GIFTS, asked.texts) for asked in gifts}
    return pairs


def chosen() -> Pair:
    """The pair that is compared."""
    pair = offered().get(state.current().coreference.pair)
    if pair is not None:
        return pair
    texts = own_texts()
    first, second = own_marks(texts)
    cases = marked_case(texts[0], first[0]), marked_case(texts[1], second[0])
    return Pair("", "", texts, cases, are_guesses=(first[1], second[1]))


def show(*, must_be_marked: bool = False) -> Pair:
    """Let a person choose the pair, in a row; `must_be_marked`, it is said what is missing for two marked texts."""
    with frame.loading():
        pairs = offered()
    asked = state.current().coreference.pair
    if asked and asked not in pairs:
        state.change(pair="")
        message = (
            "The sets have no pair “{asked}” for this model. These are your own sentences; choose one of the "
            "{num_pairs} pairs by its group."
        )
        notices.tell(said(message, asked=asked, num_pairs=len(pairs)))
    row = st.container(key="choices-of-pair", horizontal=True, vertical_alignment="bottom")
    _choose_group(row, pairs)
    pair = pairs.get(state.current().coreference.pair)
    if pair is not None:
        with row:
            _choose_in_group(pair, pairs)
        return pair
    other = row.text_input(
        _("Compare with"),
        placeholder=_("The same sentence with the deciding word changed"),
        **state.bound("other_text", own_texts()[1]),
    )
    text = state.current().common.text
    if must_be_marked:
        _say_what_differs(text, other)
    if other:
        _mark_both((text, other), row, must_be_marked=must_be_marked)
    return chosen()


def _choose_group(row: "DeltaGenerator", pairs: Mapping[str, Pair]) -> None:
    groups = {group: _(GROUPS.get(group, group)) for group in ("", *(pair.group for pair in pairs.values()))}
    pair = pairs.get(state.current().coreference.pair)
    st.session_state[_GROUP] = pair.group if pair else ""
    first_of = {pair.group: pair.name for pair in reversed(list(pairs.values()))}
    row.selectbox(
        _("Pairs"),
        list(groups),
        key=_GROUP,
        format_func=groups.__getitem__,
        width=180,
        help=_about(pairs),
        on_change=lambda first_of: state.choose(pair=first_of.get(str(sent(_GROUP)), "")),
        args=(first_of,),
    )


def _choose_in_group(pair: Pair, pairs: Mapping[str, Pair]) -> None:
    labels = {each.name: _both(*each.texts) for each in pairs.values() if each.group == pair.group}
    controls.dropdown("pair", _("Pair"), labels)
    st.button(
        _("Edit a copy"),
        icon=":material/edit:",
        help=_("Copies both sentences into your own: change them, mark other words, see them on the other pages."),
        on_click=_make_mine,
        args=(pair,),
    )


def not_german(asked: Message) -> str:
    """Why German pronouns are not looked for in what the chosen translator writes; as Markdown.

    `asked` is what is asked of a translator to German, as a sentence begins.
    """
    source, target = models.languages(state.current().model)
    model = plain(models.name_of(state.current().model))
    if not target:
        message = (
            "{asked} is tested only for models that translate English to German. {model} does not state its output "
            "language, so there is no test here."
        )
        return _(message, asked=asked, model=model)
    message = (
        "{asked} is tested only for models that translate English to German. {model} states that it translates "
        "{source} to {target}, so there is no test here."
    )
    return _(message, asked=asked, model=model, source=source or said("an unknown language"), target=target)


def own_texts() -> tuple[str, str]:
    """One's own two sentences. A second one that nobody typed is the first one's twin, "" where none can be offered."""
    text, other = state.current().common.text, state.current().common.other_text
    first = texts.change(EXAMPLES[0].text, EXAMPLES[0].twin)
    how = st.session_state.get(_CHANGE) or first
    if not other:
        other = texts.known_twin(text)
    # Whoever opens the link has not seen the words that differed before, and would be offered what first differs.
    if not other and how is not None and (other := texts.changed(text, how)) and how != first:
        state.change(other_text=other)
    if (how := texts.change(text, other)) is not None:
        st.session_state[_CHANGE] = how
    return text, other


def _say_what_differs(text: str, other: str) -> None:
    """How the second text belongs to the first."""
    shared, count = texts.shared_words(text, other)
    if not other:
        nothing = _(
            "There is nothing to compare yet, because no twin of this sentence is known. Type the sentence "
            "again and change the word that decides what the pronoun refers to."
        )
        if pronoun_and_nouns(text)[0] is None:
            nothing = _(
                "There is nothing to compare yet, because no twin of this sentence is known. Type the sentence "
                "again and change a word. This page looks for a pronoun, such as “it” in “because it was too tired”."
            )
        frame.note(nothing)
        st.button(
            _("Copy the sentence"), icon=":material/content_copy:", on_click=state.choose, kwargs={"other_text": text}
        )
    elif other == text:
        frame.note("Both sentences are still the same. Change the word that decides what the pronoun refers to.")
    elif 2 * shared < count:
        message = (
            "These sentences share {shared} of {count} words. Differences between them need not come from what the "
            "pronoun refers to: change only a single word of the first sentence."
        )
        st.warning(_(message, shared=shared, count=count), icon=":material/warning:")


def _mark_both(texts: tuple[str, str], row: "DeltaGenerator", *, must_be_marked: bool) -> None:
    """The words of a person's own texts, to be clicked below a button of the row; the page's guess until then.

    They are on the page itself where they must be marked and some are missing.
    """
    for text, fields in zip(texts, (MARKS, OTHER_MARKS), strict=True):
        marked, count = {field: state.current().value(field) for field in fields}, len(word_spans(text))
        state.correct(**{field: None for field, word in marked.items() if isinstance(word, int) and word >= count})
    before = own_marks(texts)
    is_complete = all(None not in marks.positions for marks, _is_guess in before)
    is_guess = any(is_guess for _marks, is_guess in before)
    words = row.popover(
        _("Mark words (guessed)") if is_guess else _("Mark words"),
        key="mark-words",
        icon=":material/ads_click:",
        help=_("Which word is the pronoun, which its antecedent, and which the other candidate."),
        on_change="rerun",
    )
    if must_be_marked and not is_complete:
        _show_marks(texts, before)
    elif words.open:
        with words:
            _show_marks(texts, before)
            if is_guess and is_complete:
                st.button(_("Confirm the guess"), key="marks-right", on_click=_keep_marks, args=(before,))
    if must_be_marked:
        _say_what_is_missing(texts)


def _show_marks(texts: tuple[str, str], before: Sequence[tuple[Marks, bool]]) -> None:
    with st.grid(2, min_column_width=360, gap="medium"):
        for sentence, text, fields, (marks, _is_guess) in zip(NAMES, texts, (MARKS, OTHER_MARKS), before, strict=True):
            _mark_words(sentence, text, fields, marks)


def _say_what_is_missing(texts: Sequence[str]) -> None:
    for name, text, (marks, _is_guess) in zip(NAMES, texts, own_marks(texts), strict=True):
        missing = [ROLES[role].name for role, word in zip(MARKS, marks.positions, strict=True) if word is None]
        if missing:
            message = (
                "Click the {missing} in the {sentence} to see which heads follow the antecedent. The rows of all "
                "heads are shown below in any case."
            )
            st.info(_(message, missing=with_and(missing), sentence=name), icon=":material/ads_click:")
        elif marked_case(text, marks) is None:
            message = (
                "In the {sentence} one word has two roles. Pronoun, antecedent and distractor must be three different "
                "words: click another one."
            )
            st.warning(_(message, sentence=name), icon=":material/warning:")


def own_marks(texts: Sequence[str]) -> list[tuple[Marks, bool]]:
    """The words marked in each of one's own texts, or known of it, or else guessed; and whether they are guessed."""
    marks = []
    for number, (text, fields) in enumerate(zip(texts, (MARKS, OTHER_MARKS), strict=True)):
        known, count = _known_marks(text), len(word_spans(text))
        default = guessed(text, swapped=number == 1) if known is None else known
        values = [state.current().value(field) for field in fields]
        chosen = [mark if isinstance(mark, int) and mark < count else None for mark in values]
        kept = [a if b is None else b for a, b in zip(default.positions, chosen, strict=True)]
        # Which word is the pronoun is hardly a guess.
        is_guess = any(one is None and shown is not None for one, shown in zip(chosen[1:], kept[1:], strict=True))
        marks.append((Marks(*kept), known is None and is_guess))
    return marks


def _known_marks(text: str) -> Marks | None:
    """The marks of a sentence of the curated set, or of an example."""
    cases = (case for pair in pairs_of(text).values() for case in pair.cases)
    case = next((case for case in cases if case is not None and case.sentence == text), None)
    return known_marks(text) if case is None else Marks(*(last_word(text, span) for span in case.spans))


def _mark_words(sentence: Message, text: str, fields: Sequence[str], shown: Marks) -> None:
    words = [text[slice(*span)] for span in word_spans(text)]
    with st.container():
        for role, field, default in zip(MARKS, fields, shown.positions, strict=True):
            _word(field, _("{role} in the {sentence}", role=ROLES[role].title, sentence=sentence), words, default)


def _keep_marks(guessed_marks: Sequence[tuple[Marks, bool]]) -> None:
    for (marks, _is_guess), fields in zip(guessed_marks, (MARKS, OTHER_MARKS), strict=True):
        state.change(**dict(zip(fields, marks.positions, strict=True)))


def _word(field: str, label: str, words: Sequence[str], shown: int | None) -> None:
    is_list, options = len(words) > MAX_PILLS, range(len(words))
    bound = state.bound(field, shown, always=is_list)
    if is_list:
        st.selectbox(
            label, options, format_func=lambda i: f"{i + 1} · {words[i]}", placeholder=_("Choose a word"), **bound
        )
    else:
        st.pills(label, options, format_func=lambda i: plain(words[i]), **bound)


def _both(first: str, second: str) -> str:
    """Two sentences in one line: of the second, what comes after the words with which both begin."""
    words, others = first.split(), second.split()
    same = next((i for i, both in enumerate(zip(words, others, strict=False)) if both[0] != both[1]), 0)
    return f"{first}  /  {'… ' if same else ''}{' '.join(others[same:])}"


def _make_mine(pair: Pair) -> None:
    first, second = pair.texts
    state.choose(text=first, other_text=second)
    for case, fields in zip(pair.cases, (MARKS, OTHER_MARKS), strict=True):
        if case is not None:
            words = [last_word(case.sentence, span) for span in case.spans]
            state.change(**dict(zip(fields, words, strict=True)))

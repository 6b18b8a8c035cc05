"""Sets of sentences with pronouns: read, refused, told apart; a sentence with its marks, never read as HTML."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
import streamlit as st

from model import Translator
from model.analysis.coreference.case_files import PronounCase, PronounCases
from model.errors import DataError
from model.opening import open_reader
from viz.access import models, texts
from viz.access.texts import RareWords
from viz.pages.coreference import data, pair_controls, pair_words
from viz.pages.coreference.data import Side, curated_pairs
from viz.pages.coreference.measured.tab import FORMATS
from viz.pages.coreference.pair_words import Sentence, marked_line
from viz.pictures.focus import FocusAxis, Place
from viz.selection import state
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.text.marks import Marks
from viz.text.written import CROSS, ENCODER
from viz.ui import frame, trace_tables, words
from viz.ui.sentence import Line
from viz.ui.words import Words

GOOD = "Tom told Anna that he was late.\the\tTom\tAnna"


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"", "a.tsv", "it is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "a.tsv", "UTF-8"),
        (b"no columns\nnone here", "a.tsv", "expected 4 or 6 columns"),
        (b"{}", "a.exe", "Expected a file .jsonl"),
        (b"x" * (17 * 1024 * 1024), "a.jsonl", "too large"),
    ],
    ids=["empty", "binary", "all bad", "ending", "huge"],
)
def test_a_file_that_cannot_be_used_is_refused_with_a_reason(content: bytes, name: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        data.read_cases(content, name)


def test_bad_lines_are_kept_with_their_numbers_and_the_good_ones_used() -> None:
    given = data.read_cases(f"{GOOD}\nbad\n".encode(), "mine.tsv")
    assert len(given.cases.cases) == 1
    assert [line.number for line in given.cases.rejected] == [2]


def test_files_with_other_content_are_other_sets() -> None:
    first, again, second = (data.read_cases(text.encode(), "a.tsv").digest for text in (GOOD, GOOD, GOOD + "\n"))
    assert first == again != second


def test_what_a_file_looks_like_is_a_file_that_can_be_read() -> None:
    line = next(line for line in FORMATS.split("`") if line.startswith("{"))
    assert len(data.read_cases(line.encode(), "a.jsonl").cases.cases) == 1
    winobias = "1 [The developer] argued with the designer because [she] did not like the design."
    assert winobias in FORMATS
    partner = winobias.replace(
        "1 [The developer] argued with the designer", "2 The developer argued with [the designer]"
    )
    assert len(data.read_cases(f"{winobias}\n{partner}".encode(), "a.txt").cases.cases) == 2


def test_a_task_is_another_one_for_another_set_or_measure(
    tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch, few: PronounCases
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    given = data.CaseSet("few", few, "few")
    tasks = {
        data.scores_task(one, models.reader(Selection().model), measure).key
        for one in (given, replace(given, digest="other"))
        for measure in ("weights", "norms")
    }
    assert len(tasks) == 4


def test_every_pair_of_the_set_has_two_sentences_and_a_group_of_its_own() -> None:
    pairs = curated_pairs()
    assert len(pairs) >= 60
    assert len({pair.group for pair in pairs.values()}) >= 6
    assert {pair.is_control for pair in pairs.values() if pair.group == "control"} == {True}
    assert all(not case.overlapping for pair in pairs.values() for case in pair.cases)


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_the_words_of_a_case_are_found_in_a_text_that_is_read_or_continued(folders: Path, name: str) -> None:
    sentence = "The dog saw the cat because it was late."
    case = PronounCase(sentence, pronoun=(28, 30), antecedent=(4, 7), distractor=(16, 19))
    reader = open_reader(folders / name)
    trace = reader.trace(sentence)
    found = data.words_of_case(trace, reader, case)
    labels = texts.words(trace).labels
    assert {labels[word]: role for word, role in found.items()} == {
        "it": "pronoun", "dog": "antecedent", "cat": "distractor",
    }  # fmt: skip


def test_the_english_set_is_the_one_that_needs_no_name_of_a_language() -> None:
    assert [data.curated(language).name for language in ("en", "zh")] == ["the curated set", "curated zh"]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("Tom was late again.", "Both sentences are still the same"),
        ("Tom was here now.", ""),
        ("Tom is here right now.", "These sentences share 1 of 5 words"),
        ("Tom was here right now.", "These sentences share 2 of 5 words"),
    ],
)
def test_whoever_compares_sentences_that_share_less_than_half_is_warned(
    monkeypatch: pytest.MonkeyPatch, other: str, said: str
) -> None:
    told: list[str] = []
    monkeypatch.setattr(st, "warning", lambda text, **_look: told.append(text))
    monkeypatch.setattr(frame, "note", told.append)
    selection = Selection().changed(text="Tom was late again.", other_text=other)
    monkeypatch.setattr(st, "session_state", {"selection": selection})
    pair_controls.second_sentence(st.container())
    assert [text[: len(said)] for text in told] == ([said] if said else [])


@pytest.mark.parametrize(("pronoun", "kept"), [(3, 3), (4, None)])
def test_a_word_after_the_last_is_not_marked(monkeypatch: pytest.MonkeyPatch, pronoun: int, kept: int | None) -> None:
    selection = Selection().changed(pronoun=pronoun, antecedent=0, distractor=1)
    monkeypatch.setattr(st, "session_state", {"selection": selection})
    assert pair_controls.own_marks(["Tom was late again.", "x"])[0].marks == Marks(kept, 0, 1)


def test_marked_text_is_never_read_as_html() -> None:
    text = "<b>it</b> & <img src=x>"
    shown = marked_line(Line("EN", "en", text), {"pronoun": (3, 5), "antecedent": (4, 8)}, "<i>es</i>")
    assert "<b>" not in shown
    assert "<img" not in shown
    assert "&lt;b&gt;<mark" in shown
    assert "&lt;i&gt;es" in shown
    assert shown.count("<mark") == 1  # marks that overlap: the first one stands


def test_a_long_sentence_is_cut_after_its_last_mark() -> None:
    text = "word " * 200 + "it " + "more " * 50
    shown = marked_line(Line("EN", "en", text), {"pronoun": (1000, 1002)}, "")
    assert ">it</mark> …</span>" in shown


@pytest.mark.parametrize(("length", "cut"), [(600, False), (601, True)])
def test_a_sentence_without_marks_is_cut_after_as_many_signs_as_are_shown(length: int, cut: bool) -> None:
    shown = marked_line(Line("EN", "en", "x" * length), {}, "")
    assert f">{'x' * 600}{' …' if cut else ''}</span>" in shown


def test_marks_side_by_side_are_all_drawn_in_the_order_of_the_text() -> None:
    shown = marked_line(Line("EN", "en", "aabbc"), {"antecedent": (2, 4), "pronoun": (0, 2)}, "")
    assert re.findall(r'<mark title="(\w+)"[^>]*>(\w+)</mark>', shown) == [("pronoun", "aa"), ("antecedent", "bb")]


#: What both sentences were shown as, with what a click of words does; the axes of their tiles.
Picked = tuple[list[tuple[Words, Callable[..., object]]], list[tuple[FocusAxis, FocusAxis]]]
FOUR, FIVE = "Tom saw the cat.", "Then Tom saw a dog."


@pytest.fixture
def sides(translator: Translator) -> list[Side]:
    """Two sentences that begin differently, as do what was written for them; each with the row of its second word."""
    told = ((FOUR, "Tom sagte mir"), (FIVE, "Das Tier sagte es"))
    traces = [translator.trace_tokens(text, translator.tokenizer.encode(written)) for text, written in told]
    return [Side(number, trace, None) for number, trace in enumerate(traces)]


def test_twins_stand_at_the_same_place_between_equal_words_and_all_their_tokens_are_pointed_at(
    sides: list[Side],
) -> None:
    # Words: Tom saw the cat. | Tom sagte mi (of mir), and Then Tom saw a dog. | Das Tier sagte ▁.
    assert texts.twins(*(side.trace for side in sides)) == {0: 1, 1: 2, 2: 3, 3: 4, 5: 7, 6: 8}
    # Of the tokens ▁T om ▁ sa w …, and ▁T he n ▁T om ▁ sa w …
    assert pair_words.places(sides, 0, (2, 3), is_source=True) == [
        Place("source", (2, 3)),
        Place("other source", [5, 6, 7]),
    ]
    assert pair_words.places(sides, 1, (7,), is_source=False) == [
        Place("other target", (7,)),
        Place("target", [3, 4, 5]),
    ]
    assert pair_words.places(sides, 1, (4,), is_source=False) == [Place("other target", (4,))]


@pytest.mark.parametrize("layer", [1, None])
def test_a_picture_of_rows_tells_its_heads_the_words_of_its_columns_and_the_word_that_looks(
    sides: list[Side], layer: int | None
) -> None:
    figure, of = go.Figure(), [replace(sides[1], rows=(6,))]
    row = data.Row(np.zeros((3, 2), np.float32), ("Then", "Tom"), ((1,), (3, 4)), {})
    pair_words.tell(figure, sides, of, [row], CROSS, layer)
    meta = figure.layout.meta
    assert meta["heads"] == (
        [[CROSS, 1, head, -0.5, 1.5, head - 0.5, head + 0.5] for head in range(3)] if layer else []
    )
    then, tom = ([*map(dict, places)] for places, *_box in meta["words"])
    assert then == [{"side": "other source", "tokens": [1]}]
    assert tom == [{"side": "other source", "tokens": [3, 4]}, {"side": "source", "tokens": [0, 1]}]
    assert [box for _places, *box in meta["words"]] == [[-0.5, 0.5, -0.5, 2.5], [0.5, 1.5, -0.5, 2.5]]
    # A row of cross-attention stands for the token that it writes.
    assert dict(meta["query"]) == {"side": "other target", "tokens": [7]}


@pytest.fixture
def on_page(sides: list[Side], chosen: Selection, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Picked]:
    """Show both sentences by an attention, with this selected."""
    monkeypatch.setattr(st, "session_state", {"selection": chosen})
    sent: list[tuple[FocusAxis, FocusAxis]] = []
    monkeypatch.setattr(trace_tables, "send", lambda _trace, _reader, _site, axes, key: sent.append(axes))
    monkeypatch.setattr(words, "word_picker", lambda shown, on_choose, key: pickers.append((shown, on_choose)))
    pickers: list[tuple[Words, Callable[..., object]]] = []

    def show(site: str, shown: Sequence[Side] = sides, **selected: object) -> Picked:
        state.change(**selected)
        pickers.clear()
        sent.clear()
        pair_words.show([Sentence(side, st.container(), False) for side in shown], site)
        return list(pickers), list(sent)

    return show


def test_the_row_beside_stands_for_the_word_in_the_place_of_this_one(sides: list[Side]) -> None:
    first, second = (side.trace for side in sides)
    # Of ▁T om ▁ sa w …, and ▁T he n ▁T om ▁ sa w …: token for token.
    assert [texts.row_beside(first, second, ENCODER, row) for row in range(5)] == [3, 4, 5, 6, 7]
    # A word that nothing stands for, and the end.
    assert texts.row_beside(second, first, ENCODER, 0) is None
    ends = [len(trace.source_tokens) - 1 for trace in (first, second)]
    assert texts.row_beside(first, second, ENCODER, ends[0]) == ends[1]
    # Rows of the translation write sagte.
    written = [
        [row for row, token in enumerate(trace.target_tokens[1:]) if row in texts.rows_of_word(trace, CROSS, word)]
        for trace, word in ((first, 5), (second, 7))
    ]
    assert [texts.row_beside(first, second, CROSS, row) for row in written[0]] == written[1]


def test_a_word_that_is_clicked_looks_and_so_does_its_twin(on_page: Callable[..., Picked]) -> None:
    def clicked(number: int, *chosen: int, site: str = ENCODER, **selected: object) -> tuple[object, ...]:
        pickers, _tiles = on_page(site, **selected)
        pickers[number][1]((chosen, ()))
        selection = state.current()
        return selection.common.token, selection.coreference.other_token, selection.attention.from_words

    # The other sentence follows: what is chosen in it is let go of.
    assert clicked(0, 3, other_token=2) == (6, None, (3,))
    assert clicked(1, 1, token=2) == (None, 3, (0,))
    # A word without a twin is no word of the first sentence; none is looked from again without one.
    assert clicked(1, 0) == (None, 0, ())
    assert clicked(0) == (None, None, ())
    # The row of cross-attention that writes a word comes before it. A pair of the set leaves other pages alone.
    assert clicked(1, 7, site=CROSS, from_words=(2,), pair="it-01") == (None, 6, (2,))


def test_each_sentence_has_its_lines_of_words_with_their_twins_and_the_words_that_look(
    sides: list[Side], on_page: Callable[..., Picked]
) -> None:
    looking = [replace(sides[0], rows=(2, 3)), replace(sides[1], rows=(6, 0))]
    ((first, _), (second, _)), tiles = on_page(CROSS, looking, other_token=6)
    assert [line.words for line in first.lines] == [("Tom", "saw", "the", "cat."), ("Tom", "sagte", "mir")]
    # Of the second sentence: the tokens of Tom, saw, a and dog.; then nothing stands where Tom stands.
    assert first.lines[0].twins == FocusAxis("other source", groups=[(3, 4), (5, 6, 7), (8,), (9, 10, 11, 12)])
    assert first.lines[1].twins == FocusAxis("other target", groups=[(), (7, 8, 9), (10,)])
    assert second.lines[0].twins == FocusAxis("source", groups=[(), (0, 1), (2, 3, 4), (5,), (6, 7, 8, 9)])
    assert [line.axis.side for shown in (first, second) for line in shown.lines] == [
        "source", "target", "other source", "other target",
    ]  # fmt: skip
    # Rows 2 and 3 write sagte, 6 sagte in the second, 0 Das: words are counted through both lines.
    assert (first.resting, second.resting) == ((5,), (7, 5))
    assert (first.chosen, second.chosen) == (((5,), ()), ((7,), ()))
    assert [[axis.side for axis in axes] for axes in tiles] == [["target", "source"], ["other target", "other source"]]
    # A word that is shown because the chosen one has no counterpart is not marked as chosen.
    looking = [replace(looking[0], is_another=True), looking[1]]
    ((first, _), (second, _)), tiles = on_page(CROSS, looking, other_token=6)
    assert (first.chosen, second.chosen) == (((), ()), ((7,), ()))


def test_the_words_of_a_case_are_marked_in_their_lines_and_only_candidates_are_doubted(
    sides: list[Side], on_page: Callable[..., Picked]
) -> None:
    case = data.marked_case(FIVE, Marks(2, 1, 4))
    shown = pair_words._lines(Sentence(replace(sides[1], case=case), st.container(), True), sides[0].trace)
    (source, target) = ([(mark.word, mark.name, bool(mark.doubt)) for mark in line.marks] for line in shown)
    assert sorted(source) == [(1, "antecedent", True), (2, "pronoun", False), (4, "distractor", True)]
    assert not target


@pytest.mark.parametrize(
    ("token", "looking"), [(None, (2, None)), (2, (2, None)), (0, (0, None))], ids=["none", "the same", "another"]
)
def test_a_word_of_another_page_looks_unless_another_token_was_chosen(
    sides: list[Side], monkeypatch: pytest.MonkeyPatch, token: int | None, looking: tuple[object, ...]
) -> None:
    selection = Selection().changed(from_words=(1, 2), token=token)
    monkeypatch.setattr(st, "session_state", {"selection": selection})
    pair_words.begin(sides, ENCODER)
    assert (state.current().common.token, state.current().coreference.other_token) == looking


@pytest.mark.parametrize(("count", "field"), [(60, "pills"), (61, "selectbox")])
def test_the_words_of_a_long_sentence_are_a_list(monkeypatch: pytest.MonkeyPatch, count: int, field: str) -> None:
    drawn: list[str] = []
    for name in ("pills", "selectbox"):
        monkeypatch.setattr(st, name, lambda *_given, _name=name, **_more: drawn.append(_name))
    monkeypatch.setattr(st, "session_state", {"selection": Selection()})
    pair_controls._word("pronoun", "Pronoun", ["w"] * count, None)
    assert drawn == [field]


def test_a_rare_word_is_underlined_inside_a_mark_too() -> None:
    source = Line("EN", "en", "The qzxv (Brzk) sat.", RareWords({"qzxv": 4, "(Brzk)": 6}))
    shown = marked_line(source, {"antecedent": (10, 14)}, "")
    assert 'title="4 tokens">qzxv</mark>' in shown
    assert 'title="6 tokens">(</mark><mark title="antecedent"' in shown
    assert 'title="6 tokens">Brzk</mark></mark>' in shown

"""Sets of sentences with pronouns: read, refused, told apart; a sentence with its marks, never read as HTML."""

from pathlib import Path

import pytest

from model import Translator
from model.analysis.coreference.case_files import PronounCase
from model.opening import open_reader
from viz.access import texts
from viz.pages.coreference import data, pair_words
from viz.pages.coreference.data import Side
from viz.pages.coreference.measured.tab import FORMATS
from viz.pages.coreference.pair_words import marked_line
from viz.pictures.focus import Place
from viz.text.written import CROSS, ENCODER
from viz.ui.sentence import Line


def test_what_a_file_looks_like_is_a_file_that_can_be_read() -> None:
    line = next(line for line in FORMATS.split("`") if line.startswith("{"))
    assert len(data.read_cases(line.encode(), "a.jsonl").cases.cases) == 1
    winobias = "1 [The developer] argued with the designer because [she] did not like the design."
    assert winobias in FORMATS
    partner = winobias.replace(
        "1 [The developer] argued with the designer", "2 The developer argued with [the designer]"
    )
    assert len(data.read_cases(f"{winobias}\n{partner}".encode(), "a.txt").cases.cases) == 2


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


def test_marked_text_is_never_read_as_html() -> None:
    text = "<b>it</b> & <img src=x>"
    shown = marked_line(Line("EN", "en", text), {"pronoun": (3, 5), "antecedent": (4, 8)}, "<i>es</i>")
    assert "<b>" not in shown
    assert "<img" not in shown
    assert "&lt;b&gt;<mark" in shown
    assert "&lt;i&gt;es" in shown
    assert shown.count("<mark") == 1  # marks that overlap: the first one stands


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

"""Sets of sentences with pronouns: read, refused, told apart; a sentence with its marks, never read as HTML."""

from dataclasses import replace
from pathlib import Path

import pytest

from model.analysis.coreference.case_files import PronounCases
from model.errors import DataError
from viz.access import models
from viz.access.texts import RareWords
from viz.pages.coreference import data
from viz.pages.coreference.data import curated_pairs
from viz.pages.coreference.measured.tab import FORMATS
from viz.pages.coreference.pair_words import marked_line
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.ui.sentence import Line

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


def test_a_rare_word_is_underlined_inside_a_mark_too() -> None:
    source = Line("EN", "en", "The qzxv (Brzk) sat.", RareWords({"qzxv": 4, "(Brzk)": 6}))
    shown = marked_line(source, {"antecedent": (10, 14)}, "")
    assert 'title="4 tokens">qzxv</mark>' in shown
    assert 'title="6 tokens">(</mark><mark title="antecedent"' in shown
    assert 'title="6 tokens">Brzk</mark></mark>' in shown

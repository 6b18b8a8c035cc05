"""Sentences with a dictionary's nouns: grammar, what is never made, which rows are believed, what “it” can mean."""

import lzma
import re
from pathlib import Path

import pytest

from model.errors import DataError
from model.training.dictionary_lexicon import (
    GERMAN_CASES,
    NOUNS_FILE,
    Adjective,
    DictionaryNoun,
    NounPhrase,
    read_nouns,
)
from model.training.lexicon import GENDERS, NOUNS, Noun
from model.training.noun_sentences import NEVER, NounFrame, filled, noun_pairs, touchable
from model.training.pronouns import part_of_noun

ROWS = """\
lamp\tLampe\tf\tlamps\tLampen\t4.6\t9.1
spoon\tLöffel\tm\tspoons\tLöffel\t4.1\t7.0
can\tKanne\tf\tcans\tKannen\t6.46\t1.51
attention\tAufmerksamkeit\tf\t\t\t5.2\t8.0
NATO\tNATO\tf\t\t\t4.0\t9.0
kingfisher\tEisvogel\tm\tkingfishers\tEisvögel\t2.6\t0.7
"""
LAMP = DictionaryNoun("lamp", "Lampe", "f", "lamps", "Lampen", 9.0)
SPOON = DictionaryNoun("spoon", "Löffel", "m", "spoons", "Löffel", 9.0)
CIRCUS = DictionaryNoun("circus", "Zirkus", "m", "circuses", "Zirkusse", 9.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / NOUNS_FILE).write_bytes(lzma.compress(ROWS.encode()))
    return tmp_path


def test_rows_that_are_names_or_mostly_something_else_are_left_out(folder: Path) -> None:
    assert [noun.english for noun in read_nouns(folder)] == ["lamp", "spoon", "attention", "kingfisher"]
    # A common spelling is believed where pairs confirm it, a rare one always.
    for frequency, support, is_believed in ((4.3, 4.0, True), (4.3, 3.99, False), (4.29, 0.1, True)):
        row = f"lamp\tLampe\tf\tlamps\tLampen\t{frequency}\t{support}\n"
        (folder / NOUNS_FILE).write_bytes(lzma.compress(row.encode()))
        assert bool(read_nouns(folder)) == is_believed


@pytest.mark.parametrize("row", ["lamp\tLampe", "lamp\tLampe\tx\tlamps\tLampen\t4\t9", "a\tb\tf\t\t\tmany\t9"])
def test_a_file_that_is_no_such_table_is_refused_with_its_line(folder: Path, row: str) -> None:
    (folder / NOUNS_FILE).write_bytes(lzma.compress((ROWS + row).encode()))
    with pytest.raises(DataError, match="line 7"):
        read_nouns(folder)
    with pytest.raises(DataError, match="no file"):
        read_nouns(folder / "elsewhere")


def test_a_frame_is_filled_in_the_case_that_it_names() -> None:
    frame = NounFrame("b", "She put {x} next to {y}.", "Sie legte {x:acc} neben {y:gen}.")
    small = NounPhrase(SPOON, "a", Adjective("small", "klein"), is_plural=False)
    pair = filled(frame, {"x": small, "y": NounPhrase(LAMP, "the", None, is_plural=True)})
    assert pair == ("She put a small spoon next to the lamps.", "Sie legte einen kleinen Löffel neben der Lampen.")
    assert filled(frame, {"x": small, "y": NounPhrase(CIRCUS, "the", None, is_plural=False)}) is None


def test_sentences_that_are_scored_are_never_made(folder: Path) -> None:
    nouns = read_nouns(folder)
    made = list(noun_pairs(nouns, 3_000, seed=5))
    assert len(made) == 3_000
    assert not NEVER & {pair.source for pair in made}
    apart = frozenset(pair.source for pair in made[:200])
    assert not apart & {pair.source for pair in noun_pairs(nouns, 1_000, seed=5, apart=apart)}
    assert list(noun_pairs(nouns, 50, seed=5)) == made[:50]
    # The word itself is learned, in other sentences.
    assert any("ttention" in pair.source and "ufmerksamkeit" in pair.target for pair in made)


CHILD = DictionaryNoun("child", "Kind", "n", "children", "Kinder", 9.0)
BOY = DictionaryNoun("boy", "Junge", "m", "boys", "Jungen", 9.0)
STUDENT = DictionaryNoun("student", "Student", "m", "students", "Studenten", 9.0)
STATE = DictionaryNoun("state", "Staat", "m", "states", "Staaten", 9.0)
LAKE = DictionaryNoun("lake", "See", "m", "lakes", "Seen", 9.0)
NAME = DictionaryNoun("name", "Name", "m", "names", "Namen", 9.0)
IDEA = DictionaryNoun("idea", "Idee", "f", "ideas", "Ideen", 9.0)
CAR = DictionaryNoun("car", "Auto", "n", "cars", "Autos", 9.0)
SMALL, OLD, NEW = Adjective("small", "klein"), Adjective("old", "alt"), Adjective("new", "neu")


@pytest.mark.parametrize(
    ("noun", "determiner", "adjective", "is_plural", "forms"),
    [
        (SPOON, "a", SMALL, False,
         ("ein kleiner Löffel", "einen kleinen Löffel", "einem kleinen Löffel", "eines kleinen Löffels")),
        (LAMP, "the", OLD, True, ("die alten Lampen", "die alten Lampen", "den alten Lampen", "der alten Lampen")),
        (CHILD, "the", SMALL, False, ("das kleine Kind", "das kleine Kind", "dem kleinen Kind", "des kleinen Kindes")),
        (CHILD, "a", SMALL, True, ("kleine Kinder", "kleine Kinder", "kleinen Kindern", "kleiner Kinder")),
        (IDEA, "no", NEW, False, ("keine neue Idee", "keine neue Idee", "keiner neuen Idee", "keiner neuen Idee")),
        (CAR, "my", NEW, False, ("mein neues Auto", "mein neues Auto", "meinem neuen Auto", "meines neuen Autos")),
        (CAR, "no", NEW, True, ("keine neuen Autos", "keine neuen Autos", "keinen neuen Autos", "keiner neuen Autos")),
        (BOY, "this", None, False, ("dieser Junge", "diesen Jungen", "diesem Jungen", "dieses Jungen")),
        (STUDENT, "a", None, False, ("ein Student", "einen Studenten", "einem Studenten", "eines Studenten")),
        (STATE, "the", None, False, ("der Staat", "den Staat", "dem Staat", "des Staates")),
        (LAKE, "the", None, False, ("der See", "den See", "dem See", "des Sees")),
        (NAME, "the", None, False, ("der Name", "den Namen", "dem Namen", None)),
        (CIRCUS, "the", None, False, ("der Zirkus", "den Zirkus", "dem Zirkus", None)),
        (LAMP, "a", None, True, ("Lampen", "Lampen", "Lampen", None)),
    ],
)  # fmt: skip
def test_every_case_is_as_in_a_grammar(
    noun: DictionaryNoun, determiner: str, adjective: Adjective | None, is_plural: bool, forms: tuple[str | None, ...]
) -> None:
    phrase = NounPhrase(noun, determiner, adjective, is_plural)
    assert tuple(phrase.german(case) for case in GERMAN_CASES) == forms


def noun(english: str, german: str, support: float = 9.0) -> DictionaryNoun:
    article, _, name = german.partition(" ")
    return DictionaryNoun(english, name, GENDERS[article], f"{english}s", name, support)


def held_out() -> list[Noun]:
    every = {noun for of_kind in NOUNS.values() for noun in of_kind}
    return sorted((noun for noun in every if part_of_noun(noun.english) != "train"), key=lambda noun: noun.english)


def test_what_is_held_out_never_enters_by_itself_nor_in_a_compound() -> None:
    articles = {"m": "der", "f": "die", "n": "das"}
    themselves = [noun(one.english, f"{articles[one.gender]} {one.german}") for one in held_out()]
    longer = [noun(f"great {one.english}", f"{articles[one.gender]} Groß{one.german.lower()}") for one in held_out()]
    assert len(themselves) > 100
    assert touchable([*themselves, *longer]) == []


def test_it_has_the_gender_of_its_noun_in_every_sentence() -> None:
    lamp, boat = noun("lantern", "die Laterne"), noun("canoe", "das Kanu")
    pronouns = {"Löffel": "er|ihn|ihm", "Laterne": "sie|ihr", "Kanu": "es|ihm"}
    made = [pair for pair in noun_pairs([SPOON, lamp, boat], 3_000, seed=1) if re.search(r"\b(it|It)\b", pair.source)]
    about = [pair for pair in made if "It has to do" not in pair.source and "It does not work" not in pair.source]
    assert len(about) > 500
    for pair in about:
        (own,) = {forms for name, forms in pronouns.items() if name in pair.target}
        assert re.search(rf"\b({own})\b", pair.target, re.IGNORECASE), pair
    assert not any(re.search(r"\b[Nn]o (spoon|lantern|canoe)", pair.source) for pair in about)

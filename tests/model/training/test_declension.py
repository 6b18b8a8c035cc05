"""German noun phrases against forms that every grammar has."""

import pytest

from model.training.dictionary_lexicon import GERMAN_CASES, Adjective, DictionaryNoun, NounPhrase

LAMP = DictionaryNoun("lamp", "Lampe", "f", "lamps", "Lampen", 9.0)
SPOON = DictionaryNoun("spoon", "Löffel", "m", "spoons", "Löffel", 9.0)
CHILD = DictionaryNoun("child", "Kind", "n", "children", "Kinder", 9.0)
BOY = DictionaryNoun("boy", "Junge", "m", "boys", "Jungen", 9.0)
STUDENT = DictionaryNoun("student", "Student", "m", "students", "Studenten", 9.0)
STATE = DictionaryNoun("state", "Staat", "m", "states", "Staaten", 9.0)
LAKE = DictionaryNoun("lake", "See", "m", "lakes", "Seen", 9.0)
NAME = DictionaryNoun("name", "Name", "m", "names", "Namen", 9.0)
IDEA = DictionaryNoun("idea", "Idee", "f", "ideas", "Ideen", 9.0)
CAR = DictionaryNoun("car", "Auto", "n", "cars", "Autos", 9.0)
CIRCUS = DictionaryNoun("circus", "Zirkus", "m", "circuses", "Zirkusse", 9.0)
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


@pytest.mark.parametrize(
    ("phrase", "english"),
    [
        (NounPhrase(SPOON, "a", OLD, is_plural=False), "an old spoon"),
        (NounPhrase(IDEA, "a", None, is_plural=False), "an idea"),
        (NounPhrase(IDEA, "a", NEW, is_plural=False), "a new idea"),
        (NounPhrase(CHILD, "this", None, is_plural=True), "these children"),
        (NounPhrase(CHILD, "a", SMALL, is_plural=True), "small children"),
    ],
)
def test_english_has_its_articles(phrase: NounPhrase, english: str) -> None:
    assert phrase.english == english

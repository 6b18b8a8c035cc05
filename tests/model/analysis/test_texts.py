"""Texts: copied words and babble, texts compared word by word, and sentences to measure on."""

import bz2
import gzip
from pathlib import Path

import pytest

from model.analysis.corpus import OWN_CORPUS, CorpusSentence, read_text
from model.analysis.held_out import is_babble, is_copied, score_copying
from model.analysis.word_diff import WordSpan, word_diff
from model.errors import DataError
from model.training.copying import held_out_copying

CASES = held_out_copying(48, seed=1)
REFERENCE = {case.pair.source: case.pair.target for case in CASES}


def test_references_copy_everything_and_none_babbles() -> None:
    scores = score_copying(CASES, lambda texts: [REFERENCE[text] for text in texts])
    assert (scores.sentences, scores.copied, scores.babbling, scores.failures) == (48, 1.0, 0, ())
    assert scores.kinds == {"words": 1.0, "names": 1.0, "numbers": 1.0}


def test_translations_that_babble_are_counted() -> None:
    scores = score_copying(CASES, lambda texts: [f"{REFERENCE[text]} Deckedecke" for text in texts])
    assert (scores.copied, scores.babbling, len(scores.failures)) == (1.0, 48, 48)


@pytest.mark.parametrize(
    ("text", "output", "expected"),
    [
        ("Zorplik", "Zorplik ist eine Stadt.", True),
        ("Zorplik", "Zorpliks Bürgermeister", True),
        ("Zorplik", "Zorpliken ist eine Stadt.", False),
        ("Zorplik", "zorplik", False),
        ("brale", "Was heißt „brale“?", True),
        ("33", "Es sind 33.", True),
        ("33", "Es sind 133.", False),
    ],
)
def test_copied_is_letter_by_letter_and_a_word_of_its_own(text: str, output: str, *, expected: bool) -> None:
    assert is_copied(text, output) == expected


@pytest.mark.parametrize(
    "output",
    [
        "Die Deckedecke ist neu.",
        "Das ist Zeendramwondwonder.",
        "Er sah den Hund Hund Hund.",
        "Nein, nein, nein.",
        "der Der DER Mann",
    ],
)
def test_repetitions_babble(output: str) -> None:
    assert is_babble(output, "The blanket is new.")
    assert is_babble(output, "The Decke is new, the zeendram won it, der Hund, nein.")


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("Die Decke ist neu.", "The blanket is new."),
        ("Bonbons, Purpur, ein Kuckuck und ein Barbar.", "Candies, purple, a cuckoo and a barbarian."),
        ("Nein, nein, nein!", "No, no, no!"),
        ("Wie schreibt man „bralbral“?", "How do you spell “bralbral”?"),
        ("Er lachte und lachte.", "He laughed and laughed."),
        ("Dass das das Haus ist, weiß ich.", "I know that this is the house."),
        ("1000000 Menschen", "1000000 people"),
        ("", ""),
    ],
)
def test_what_repeats_itself_by_right_is_no_babble(output: str, source: str) -> None:
    assert not is_babble(output, source)


def test_words_are_compared_in_reading_order() -> None:
    assert word_diff("Die Katze schläft heute .", "Eine Katze schläft .") == (
        WordSpan((" Die",), (" Eine",)),
        WordSpan((" Katze", " schläft"), (" Katze", " schläft")),
        WordSpan((" heute",), ()),
        WordSpan((" .",), (" .",)),
    )
    assert word_diff("", "neu") == (WordSpan((), (" neu",)),)
    assert word_diff("", " ") == ()


def test_a_word_is_the_same_with_and_without_the_punctuation_beside_it() -> None:
    assert [span for span in word_diff("die Straße nicht, weil", "die Straße, weil") if not span.is_same] == [
        WordSpan((" nicht",), ())
    ]
    assert [span for span in word_diff("„Das war’s!“", "Das war’s.") if not span.is_same] == [
        WordSpan((" „",), ()),
        WordSpan(("!", "“"), (".",)),
    ]
    # A space before a mark is no change of words.
    assert all(span.is_same for span in word_diff("Ja , gut", "Ja, gut"))


def test_a_character_of_a_script_without_spaces_is_a_word() -> None:
    (before, change, after) = word_diff("因为它太累了。", "因为他太累了。")
    assert change == WordSpan(("它",), ("他",))
    assert before.is_same
    assert after.is_same
    # A vowel sign belongs to its word.
    assert word_diff("", "हिन्दी।") == (WordSpan((), (" हिन्दी", "।")),)


@pytest.mark.parametrize("text", ["", "Das ist (fast) alles …", "„Nie!“, rief er.", "他说：“好”。 OK"])
def test_the_words_of_a_text_together_are_the_text(text: str) -> None:
    assert "".join(span.second_text for span in word_diff("Das ist alles, rief er.", text)).strip() == text
    assert "".join(span.first_text for span in word_diff(text, "Das ist alles, rief er.")).strip() == text


def test_a_text_file_holds_sentences_and_perhaps_translations(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("\ufeffOne.\n\n  Two.\tZwei.\nThree.\t\n", encoding="utf-8")
    expected = [CorpusSentence("One."), CorpusSentence("Two.", "Zwei."), CorpusSentence("Three.")]
    assert list(read_text(path)) == expected
    assert list(read_text(path, 2)) == expected[:2]
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(DataError, match="contains no sentence"):
        read_text(path)
    path.write_text("One.\n\nTwo.\tZwei.\tDeux.\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 3: expected a sentence, or .* translation, got 3 columns\.$"):
        read_text(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("text.csv", 'text,translation\n"One, two.",\n\nThree.,Drei.\n'),
        ("text.csv", '"One, two."\nThree.,Drei.\n'),
        ("text.jsonl", '{"text": "One, two."}\n{"text": "Three.", "translation": "Drei.", "id": 3}\n'),
    ],
)
def test_a_table_has_a_sentence_and_perhaps_its_translation_in_each_row(
    tmp_path: Path, name: str, content: str
) -> None:
    expected = [CorpusSentence("One, two."), CorpusSentence("Three.", "Drei.")]
    packed = {"": content.encode(), ".gz": gzip.compress(content.encode()), ".bz2": bz2.compress(content.encode())}
    for suffix, of_file in packed.items():
        path = tmp_path / f"{name}{suffix}"
        path.write_bytes(of_file)
        corpus = read_text(path)
        # Read from the file each time.
        assert (len(corpus), list(corpus), list(corpus)) == (2, expected, expected)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "One,two,three\n", "line 1: expected a sentence"),
        ("a.csv", f'"{"word " * 50_000}"\n', "line 1: field larger than field limit"),
        ("a.jsonl", '{"words": "One."}\n', "line 1: expected a field “text”"),
        ("a.jsonl", "One.\n", "line 1: expected one JSON object"),
    ],
)
def test_a_row_that_is_no_sentence_is_named(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_text(tmp_path / name)


def test_our_own_corpus_has_200_different_sentences() -> None:
    sentences = read_text(OWN_CORPUS)
    assert len({sentence.text for sentence in sentences}) == 200
    assert all(sentence.target is None for sentence in sentences)

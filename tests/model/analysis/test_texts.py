"""Texts: copied words and babble, texts compared word by word, and sentences to measure on."""

import bz2
import gzip
import json
import lzma
from collections import Counter
from pathlib import Path

import pyarrow
import pytest
from pyarrow import ipc, parquet

from model.analysis.corpus import CorpusSentence, read_text
from model.analysis.data_files import Columns
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
        ("a.csv", "One,two,three\n", r"no column 'text'. Its columns are 'One', 'two', 'three'"),
        ("a.csv", "id,said\n1,One.\n2,Two.\n", r"no column 'text'. Its columns are 'id', 'said'"),
        ("a.csv", "One.\nTwo,two,three\n", "line 2: expected a sentence"),
        ("a.csv", f'"{"word " * 50_000}"\n', "line 1: field larger than field limit"),
        ("a.jsonl", '{"words": "One."}\n', "line 1: expected a field “text”"),
        ("a.jsonl", "One.\n", "line 1: expected one JSON object"),
    ],
)
def test_a_row_that_is_no_sentence_is_named(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_text(tmp_path / name)


def test_words_over_a_number_are_a_row_where_other_rows_begin_with_words(tmp_path: Path) -> None:
    (path := tmp_path / "text.tsv").write_text("Hello\tHallo\n3\tDrei\nDogs\tHunde\n", encoding="utf-8")
    assert [sentence.text for sentence in read_text(path)] == ["Hello", "3", "Dogs"]


TABLE = {"id": ["1", "2", "3", "4"], "de": ["Eins.", "Zwei.", None, "Vier."], "en": ["One.", "=1+1", "  ", "Four."]}


def written(folder: Path, kind: str) -> Path:
    """`TABLE` in a format."""
    path = folder / f"rows.{kind}"
    rows = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
    match kind:
        case "parquet":
            parquet.write_table(pyarrow.table(TABLE), path, row_group_size=3)
        case "folder":
            path.mkdir()
            table = pyarrow.table(TABLE)
            names = ["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"]
            for name, part in zip(names, (table[:3], table[3:]), strict=True):
                with pyarrow.OSFile(str(path / name), "wb") as file, ipc.new_stream(file, table.schema) as stream:
                    stream.write_table(part)
            state = {"_data_files": [{"filename": name} for name in names], "_split": "train"}
            (path / "state.json").write_text(json.dumps(state), encoding="utf-8")
        case "jsonl.xz":
            path.write_bytes(lzma.compress("\n".join(map(json.dumps, rows)).encode()))
        case _:
            sign = "," if kind.startswith("csv") else "\t"
            lines = [sign.join(TABLE), *(sign.join(value or "" for value in row.values()) for row in rows)]
            path.write_text("\n".join(lines), encoding="utf-8")
    return path


FORMATS = ("csv", "tsv", "jsonl.xz", "parquet", "folder")


@pytest.mark.parametrize("kind", FORMATS)
def test_a_column_is_read_by_its_name_from_every_format(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, kind)
    # A cell that a spreadsheet would compute is text, and a blank one is no sentence.
    assert list(read_text(path, columns=Columns("en"))) == [(text, None) for text in ("One.", "=1+1", "Four.")]
    both = [("Eins.", "One."), ("Zwei.", "=1+1"), ("Vier.", "Four.")]
    assert list(read_text(path, columns=Columns("de", "en"))) == both
    assert list(read_text(path, 1, columns=Columns("de", "en"))) == both[:1]
    listed = "id, de, en" if "jsonl" in kind else "'id', 'de', 'en'"
    with pytest.raises(DataError, match=listed):
        read_text(path, columns=Columns("fr"))


def test_a_sample_is_drawn_by_its_seed_and_not_by_the_format(tmp_path: Path) -> None:
    texts = [f"Sentence {number}." for number in range(300)]
    lines, table = tmp_path / "a.txt", tmp_path / "b.parquet"
    lines.write_text("\n".join(texts), encoding="utf-8")
    parquet.write_table(pyarrow.table({"text": texts}), table, row_group_size=70)
    first, again, other = (read_text(path, sample=20, seed=seed) for path, seed in ((lines, 1), (table, 1), (lines, 2)))
    drawn = [sentence.text for sentence in first]
    assert [sentence.text for sentence in again] == drawn
    assert [sentence.text for sentence in other] != drawn
    assert (len(first), len(set(drawn)), drawn) == (20, 20, sorted(drawn, key=texts.index))
    assert [sentence.text for sentence in read_text(lines, sample=301)] == texts
    # Each row is drawn as often as another.
    seen = Counter(sentence for seed in range(40) for sentence in read_text(lines, sample=30, seed=seed))
    assert (sum(seen.values()), max(seen.values()) < 14, len(seen) > 280) == (1_200, True, True)


def test_hostile_tables_are_refused_in_a_sentence(tmp_path: Path) -> None:
    bomb, numbers, delta = tmp_path / "bomb.parquet", tmp_path / "numbers.parquet", tmp_path / "delta.parquet"
    parquet.write_table(pyarrow.table({"text": ["word " * 200_000] * 100}), bomb)
    with pytest.raises(DataError, match="unpacks to more than"):
        read_text(bomb)
    parquet.write_table(pyarrow.table({"text": [1, 2]}), numbers)
    with pytest.raises(DataError, match="values of type int64; expected text"):
        read_text(numbers)
    encoding = {"text": "DELTA_BYTE_ARRAY"}
    parquet.write_table(pyarrow.table({"text": ["a", "b"]}), delta, use_dictionary=False, column_encoding=encoding)
    with pytest.raises(DataError, match="delta encoding"):
        read_text(delta)
    numbers.write_bytes(b"PAR1 is all that is true of it PAR1")
    with pytest.raises(DataError, match="damaged or of another format"):
        read_text(numbers)
    folder = written(tmp_path, "folder")
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "../bomb.parquet"}]}), encoding="utf-8")
    with pytest.raises(DataError, match="a link that leads out of the folder"):
        read_text(folder)
    (folder / "train").mkdir()
    (folder / "state.json").rename(folder / "train" / "state.json")
    with pytest.raises(DataError, match=r"several parts \(train\)"):
        read_text(folder)

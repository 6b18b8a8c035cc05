"""Word times of the usual files are read alike, written so that they are read again, and errors name the line."""

import json
from pathlib import Path

import pytest

from model.analysis.timing.subtitles import WRITERS
from model.analysis.timing.word_times import LARGEST_FILE, MOST_WORDS, WordTime, parse_word_times, read_word_times
from model.errors import DataError

WORDS = (WordTime("Das", 0.25, 0.5), WordTime("“Tier”", 0.5, 1.125), WordTime("schläft.", 62.0, 62.75))
OBJECTS = [{"word": f" {word}", "start": start, "end": end} for word, start, end in WORDS]
LONG_GRID = """File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 63
tiers? <exists>
size = 3
item []:
    item [1]:
        class = "TextTier"
        name = "clicks"
        xmin = 0
        xmax = 63
        points: size = 1
        points [1]:
            number = 0.1
            mark = "a ""click"" of 2 parts"
    item [2]:
        class = "IntervalTier"
        name = "phones"
        xmin = 0
        xmax = 63
        intervals: size = 1
        intervals [1]:
            xmin = 0
            xmax = 63
            text = "d"
    item [3]:
        class = "IntervalTier"
        name = "words" ! the one
        xmin = 0
        xmax = 63
        intervals: size = 5
""" + "".join(
    f'        intervals [{i}]:\n            xmin = {start}\n            xmax = {end}\n            text = "{word}"\n'
    for i, (word, start, end) in enumerate((("", 0, 0.25), *WORDS[:2], ("<p:>", 1.125, 62), WORDS[2]), 1)
)
FILES = {
    "heading.csv": "end,score,word,start\n" + "".join(f"{end},0.9,{word},{start}\n" for word, start, end in WORDS),
    "plain.csv": "".join(f'"{word}";{start};{end}\r\n' for word, start, end in WORDS),
    "audacity.txt": "".join(f"{start:.6f}\t{end:.6f}\t{word}\n" for word, start, end in WORDS),
    "long.TextGrid": LONG_GRID,
    "whisper.srt": "1\n00:00:00,250 --> 00:00:00,500\n<u>Das</u> “Tier” schläft.\n\n"
    "2\n00:00:00,500 --> 00:00:01,125\nDas <u>“Tier”</u> schläft.\n\n"
    "3\n00:00:01,125 --> 00:01:02,000\nDas “Tier” schläft.\n\n"
    "4\n00:01:02,000 --> 00:01:02,750\nDas “Tier” <u>schläft.</u>\n",
    "stamped.vtt": "WEBVTT\n\nNOTE 12\n\n00:00.250 --> 00:01.125 align:start\n"
    "Das<00:00:00.500><c> &ldquo;Tier&rdquo;</c>\n\nlast\n01:02.000 --> 01:02.750\n<v Anna>schläft.\n",
    "list.json": json.dumps(OBJECTS),
    "whisper.json": json.dumps({"text": "…", "segments": [{"id": 0, "words": OBJECTS[:2]}, {"words": OBJECTS[2:]}]}),
    "gentle.json": json.dumps({"words": [OBJECTS[0], {"word": "um", "case": "not-found-in-audio"}, *OBJECTS[1:]]}),
    "aeneas.json": json.dumps(
        {"fragments": [{"begin": str(start), "end": str(end), "lines": [word]} for word, start, end in WORDS]}
    ),
    "pipeline.json": json.dumps({"chunks": [{"text": f" {word}", "timestamp": [a, b]} for word, a, b in WORDS]}),
}


@pytest.mark.parametrize("name", FILES)
def test_the_files_of_the_usual_tools_give_the_same_words(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for encoding in ("utf-8-sig", "utf-16") if name == "long.TextGrid" else ("utf-8",):
        path.write_bytes(FILES[name].encode(encoding))
        assert read_word_times(path) == WORDS


@pytest.mark.parametrize("ending", WRITERS)
def test_what_is_exported_is_read_again(ending: str) -> None:
    words = (WordTime('a"<i>', 0.02, 0.5), WordTime("&amp;", 0.5, 0.74), WordTime("c", 3_700.0, 3_701.5))
    read = parse_word_times(WRITERS[ending](words, 3_702.25).encode(), f"x{ending}")
    # SRT has no way to write a tag that is none.
    assert [word.word for word in read] == (['a"', "&", "c"] if ending == ".srt" else [word.word for word in words])
    assert [word[1:] for word in read] == [word[1:] for word in words]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "word,start,end\na,0,1\n\nb,one,2\n", "line 4: expected seconds from 0 to 86,400, got one"),
        ("a.csv", "word,start,end\na,0,1\nb,nan,2\n", "line 3: expected seconds"),
        ("a.csv", "a,0,1\nb,1\n", "line 2: expected 3 columns, got 2"),
        ("a.csv", "word,from,to\na,0,1\n", "line 1: expected the columns word, start and end, got word, from, to"),
        ("a.tsv", "0\t1\ta\n2\t3\tb\n1.5\t4\tc\n", "line 3: “c” begins at 1.5 s, before the word above it"),
        ("a.csv", "a,2,1\n", "line 1: “a” ends at 1 s, before it begins at 2 s"),
        ("a.csv", b"a,0,1\n\xff,1,2\n", "line 2: expected UTF-8 text"),
        ("a.csv", "a\x00b,0,1\n", "line 1: expected a word of at most 200 visible characters"),
        ("a.srt", "1\n00:00:00,000 --> 00:00:01,000\nDas Tier\n", "line 2: expected one word, got “Das Tier”"),
        ("a.vtt", "WEBVTT\n\n0:1 --> 0:0x\na\n", "line 3: expected START --> END"),
        ("a.vtt", "WEBVTT\n\n99999:00:00 --> 00:00:01\na\n", "line 3: expected a time such as"),
        ("a.TextGrid", LONG_GRID.replace("xmax = 62.75", 'xmax = "x"'), 'line 52: expected a number, got "x"'),
        ("a.TextGrid", LONG_GRID.replace("size = 5", "size = 6"), "expected a number, got the end of the file"),
        ("a.TextGrid", LONG_GRID.replace('"words"', '"turns"'), "called “words”, got phones, turns"),
        ("a.TextGrid", "PK\x03\x04", "line 1: expected a text in quotes"),
        ("a.json", '{"words": [\n{"word": "a", "start": 0,}]}', "line 2: it is not valid JSON"),
        ("a.json", "[" * 100_000, "not valid JSON"),
        ("a.json", '[{"word": "a", "start": 1e999, "end": 2}]', "entry 1 of the words: expected a word with start"),
        ("a.json", f'[{{"word": "a", "start": 0, "end": {"9" * 4000}}}]', "entry 1 of the words"),
        ("a.json", '[{"word": "\\ud800", "start": 0, "end": 1}]', "entry 1 of the words: expected a word of at most"),
        ("a.json", '{"segments": [{"text": "a b"}]}', "expected “words”, “segments” with “words”"),
        ("a.csv", "word,start,end\n", "contains no word"),
        ("a.csv", "a,0,1\n" * (MOST_WORDS + 1), "more than 20,000 words"),
        ("a.csv", " " * (LARGEST_FILE + 1), "too large: at most 4 MiB"),
        ("a.doc", "a", "Expected word times as .csv"),
    ],
)
def test_a_file_that_is_not_as_expected_is_refused_in_a_sentence(name: str, content: str | bytes, said: str) -> None:
    with pytest.raises(DataError) as error:
        parse_word_times(content if isinstance(content, bytes) else content.encode(), name)
    assert said in str(error.value)


def test_hostile_subtitles_are_read_in_time_that_grows_with_their_length() -> None:
    for line in ("<u>", "<", "00:00:00,000 --> 00:00:01,000\n", '"'):
        content = (line * (LARGEST_FILE // len(line) // 4)).encode()
        for ending in (".srt", ".TextGrid"):
            with pytest.raises(DataError):
                parse_word_times(b"00:00:00,000 --> 00:00:01,000\na b\n" + content, f"x{ending}")

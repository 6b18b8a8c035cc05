"""Sentence pairs out of plain and packed files, and files that hold none."""

import contextlib
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from model import pairs
from model.errors import DataError
from model.pairs import Pair, parse_pairs, read_lines, read_pairs

PAIRS = [Pair("One.", "Eins."), Pair("Two “words”.", "Zwei Wörter.")]
TEXT = "".join(f"{pair.source}\t{pair.target}\n" for pair in PAIRS)


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".xz", lzma.compress), (".gz", gzip.compress)])
def test_pairs_are_read_from_plain_and_packed_files(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / f"pairs.tsv{suffix}"
    path.write_bytes(pack(TEXT.encode()))
    assert read_pairs(path) == PAIRS
    assert read_pairs(path, limit=1) == PAIRS[:1]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", b"one column\n", "line 1: expected"),
        ("b.tsv", TEXT.encode() + b"\tempty source\n", "line 3"),
        ("c.tsv", b"One.\tEins.\n" + "Äpfel\tapples".encode("latin-1"), r"c\.tsv, line 2 is not UTF-8"),
        ("d.tsv.xz", b"no xz", "cannot be read"),
        ("e.tsv.gz", gzip.compress(TEXT.encode(), mtime=0)[:20], "cannot be read"),
        ("f.tsv", b"\n \n", "no sentence pair"),
        ("g.tsv", None, "no file"),
    ],
)
def test_files_that_are_no_pairs_are_said(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_pairs(tmp_path / name)


def test_white_space_around_columns_blank_lines_and_further_columns_do_not_count() -> None:
    assert parse_pairs(["\n", " One. \t Eins.\tnote\r\n", "", "Two “words”.\tZwei Wörter."], "x") == PAIRS


@pytest.mark.parametrize(("suffix", "pack"), [(".xz", lzma.compress), (".gz", gzip.compress)])
def test_whatever_byte_of_a_packed_file_is_damaged_its_pairs_come_out_or_a_sentence(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    path, content = tmp_path / f"pairs.tsv{suffix}", pack(TEXT.encode() * 30)
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 0x5A
        path.write_bytes(damaged)
        with contextlib.suppress(DataError):
            assert read_pairs(path) == PAIRS * 30


def test_a_line_as_long_as_allowed_is_read_and_a_longer_one_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "LONGEST_LINE", 20)
    path = tmp_path / "lines.tsv"
    path.write_bytes(b"a" * 20 + b"\n")
    with pytest.raises(DataError, match="line 1: more than 20 bytes"):
        list(read_lines(path))
    path.write_bytes(b"a" * 19 + b"\n" + b"b" * 20)
    assert list(read_lines(path)) == ["a" * 19, "b" * 20]


def test_a_packed_file_may_unpack_to_so_much_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, lines = tmp_path / "lines.tsv.gz", b"0123456789\n" * 1_000
    path.write_bytes(gzip.compress(lines))
    monkeypatch.setattr(pairs, "MOST_RATIO", 1)
    monkeypatch.setattr(pairs, "ALWAYS_ALLOWED", len(lines) - path.stat().st_size)
    assert len(list(read_lines(path))) == 1_000
    monkeypatch.setattr(pairs, "ALWAYS_ALLOWED", len(lines) - path.stat().st_size - 1)
    with pytest.raises(DataError, match="unpacks to more than 10,999 bytes"):
        list(read_lines(path))


def test_a_file_without_an_end_is_refused_at_its_first_line() -> None:
    with pytest.raises(DataError, match="/dev/zero, line 1: more than 1,048,576 bytes"):
        read_pairs(Path("/dev/zero"))

"""Sentence pairs out of plain and packed files, and files that hold none."""

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from model.errors import DataError
from model.pairs import Pair, parse_pairs, read_pairs

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
        ("c.tsv", "Äpfel\tapples".encode("latin-1"), "UTF-8"),
        ("d.tsv.xz", b"no xz", "cannot be read"),
        ("e.tsv.gz", gzip.compress(TEXT.encode(), mtime=0)[:20], "cannot be read"),
        ("f.tsv", b"\n \n", "no pair"),
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

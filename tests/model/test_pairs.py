"""Sentence pairs and arrays out of files: both sides of every bound, and what is wrong is said in words."""

import bz2
import contextlib
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from model import pairs
from model.arrays_file import TooLargeError, open_arrays, read_json, reason
from model.errors import DataError
from model.pairs import Pair, parse_pairs, read_lines, read_pairs

PAIRS = [Pair("One.", "Eins."), Pair("Two “words”.", "Zwei Wörter.")]
TEXT = "".join(f"{pair.source}\t{pair.target}\n" for pair in PAIRS)


@pytest.mark.parametrize(
    ("suffix", "pack"), [("", bytes), (".xz", lzma.compress), (".gz", gzip.compress), (".bz2", bz2.compress)]
)
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
        ("e.tsv.bz2", b"no bzip2 at all", "cannot be read: damaged"),
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


@pytest.mark.parametrize(("suffix", "pack"), [(".xz", lzma.compress), (".gz", gzip.compress), (".bz2", bz2.compress)])
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


NUMBERS = np.arange(1_000, dtype=np.int64)


def packed(arrays: Mapping[str, np.ndarray], *, compressed: bool = False) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def read_arrays(content: bytes, largest: int = 1 << 30) -> dict[str, np.ndarray]:
    with open_arrays(io.BytesIO(content), largest) as arrays:
        return {name: arrays[name] for name in arrays}


def wrong_with(content: bytes) -> str:
    try:
        with open_arrays(io.BytesIO(content), 1 << 30) as arrays:
            read_json(arrays, "a.json")
            return ""
    except Exception as error:
        return reason(error)


def test_a_file_as_large_as_allowed_is_read_and_one_byte_more_is_refused() -> None:
    content = packed({"a": NUMBERS})
    np.testing.assert_array_equal(read_arrays(content, len(content))["a"], NUMBERS)
    with pytest.raises(TooLargeError, match="bytes; at most"):
        read_arrays(content, len(content) - 1)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_zipfile_would_unpack_without_a_bound_is_refused(method: int) -> None:
    array, file = io.BytesIO(), io.BytesIO()
    np.save(array, NUMBERS)
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("a.npy", array.getvalue())
    assert wrong_with(file.getvalue()) == "a.npy is packed otherwise than NumPy does it"


def test_a_list_of_arrays_that_is_hidden_from_the_bound_is_refused() -> None:
    content = packed({"a": NUMBERS})
    with zipfile.ZipFile(commented := io.BytesIO(content), "a") as archive:
        archive.comment = b"x" * 30
    second = content[:-22] + b"PK\x06\x07" + bytes(16) + content[-22:]
    for hidden in (commented.getvalue(), second, content[:-1], b""):
        assert wrong_with(hidden) == "it is not an .npz file, or is incomplete"


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"b": NUMBERS}, "it lacks a.json"),
        ({"a.json": np.frombuffer(b"[1", np.uint8)}, "its a.json is not valid JSON"),
        ({"a.json": np.frombuffer(b"\xff", np.uint8)}, "its a.json is not valid JSON"),
        ({"a.json": np.frombuffer(b"[" * 100_000, np.uint8)}, "its a.json is not valid JSON"),
        ({"a.json": np.frombuffer(b'"\\ud800"', np.uint8)}, "its a.json is not valid JSON"),
    ],
)
def test_what_is_wrong_with_the_json_is_said(arrays: dict[str, np.ndarray], said: str) -> None:
    assert wrong_with(packed(arrays)) == said


@pytest.mark.parametrize("header", [b"{'descr': (", b"{'descr': '<i8', 'shape': (", b"\xff\xfe", b"(((", b"{}"])
def test_a_header_that_no_python_parses_is_said_in_words(header: bytes) -> None:
    array = b"\x93NUMPY\x01\x00" + len(header.ljust(118)).to_bytes(2, "little") + header.ljust(118) + bytes(80)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.json.npy", array)
    assert wrong_with(file.getvalue()) == "the header of a.json.npy cannot be read"


def test_whatever_bytes_of_a_file_are_damaged_the_reason_is_words_alone() -> None:
    content = bytearray(packed({"a.json": np.frombuffer(b'{"a": "b"}' * 20, np.uint8), "b": NUMBERS}, compressed=True))
    for position in range(0, len(content), 7):
        damaged = content.copy()
        damaged[position] ^= 0x5A
        text = wrong_with(bytes(damaged))
        assert not set(text) & set("(){}[]'\\<>"), text

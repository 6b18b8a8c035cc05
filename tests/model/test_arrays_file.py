"""Files of arrays: both sides of every bound, and whatever is wrong is said in words."""

import io
import zipfile
from collections.abc import Mapping

import numpy as np
import pytest

from model import arrays_file
from model.arrays_file import TooLargeError, open_arrays, read_json, reason

NUMBERS = np.arange(1_000, dtype=np.int64)


def packed(arrays: Mapping[str, np.ndarray], *, compressed: bool = False) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def read(content: bytes, largest: int = 1 << 30) -> dict[str, np.ndarray]:
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
    np.testing.assert_array_equal(read(content, len(content))["a"], NUMBERS)
    with pytest.raises(TooLargeError, match="bytes; at most"):
        read(content, len(content) - 1)


def test_a_file_may_unpack_to_as_much_as_its_size_allows_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    content = packed({"a": np.zeros(100_000)}, compressed=True)
    unpacked = 100_000 * 8 + 128  # the header of an array
    monkeypatch.setattr(arrays_file, "MOST_RATIO", 1)
    monkeypatch.setattr(arrays_file, "ALWAYS_ALLOWED", unpacked - len(content))
    assert read(content)["a"].shape == (100_000,)
    monkeypatch.setattr(arrays_file, "ALWAYS_ALLOWED", unpacked - len(content) - 1)
    with pytest.raises(TooLargeError, match="unpacks to"):
        read(content)


def test_the_list_of_arrays_may_be_as_long_as_allowed_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    content = packed({f"a{number}": NUMBERS[:1] for number in range(100)})
    length = int.from_bytes(content[-10:-6], "little")
    assert length > 4_000
    monkeypatch.setattr(arrays_file, "LARGEST_DIRECTORY", length)
    assert len(read(content)) == 100
    monkeypatch.setattr(arrays_file, "LARGEST_DIRECTORY", length - 1)
    with pytest.raises(TooLargeError, match="list of its arrays"):
        read(content)


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
        assert wrong_with(hidden) == "it is no .npz file, or not all of it is there"


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"b": NUMBERS}, "it lacks a.json"),
        ({"a.json": np.frombuffer(b"[1", np.uint8)}, "its a.json is no valid JSON"),
        ({"a.json": np.frombuffer(b"\xff", np.uint8)}, "its a.json is no valid JSON"),
        ({"a.json": np.frombuffer(b"[" * 100_000, np.uint8)}, "its a.json is no valid JSON"),
        ({"a.json": np.frombuffer(b'"\\ud800"', np.uint8)}, "its a.json is no valid JSON"),
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

"""Reading pairs and planning batches."""

import gzip
import lzma
from itertools import islice
from pathlib import Path

import pytest

from model.config import TransformerConfig
from model.errors import DataError
from model.tokenizer import Tokenizer
from model.training.data import Example, Pair, collate, encode_pairs, endless_batches, plan_epoch, read_pairs

PAIRS = [Pair("One.", "Eins."), Pair("Two “words”.", "Zwei Wörter.")]
TEXT = "".join(f"{pair.source}\t{pair.target}\n" for pair in PAIRS)
EXAMPLES = [Example([5] * (i % 13 + 1), [6] * ((i * 7) % 11 + 1)) for i in range(300)]


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".xz", lzma.compress), (".gz", gzip.compress)])
def test_pairs_are_read_from_plain_and_packed_files(tmp_path: Path, suffix: str, pack):
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
        ("e.tsv.gz", gzip.compress(TEXT.encode())[:20], "cannot be read"),
        ("f.tsv", b"", "no pair"),
        ("g.tsv", None, "no file"),
    ],
)
def test_files_that_are_no_pairs_are_said(tmp_path: Path, name: str, content: bytes | None, message: str):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_pairs(tmp_path / name)


def test_every_example_is_in_exactly_one_batch_of_an_epoch_and_no_batch_is_too_large():
    plan = plan_epoch(EXAMPLES, 60, seed=3, epoch=0)
    assert sorted(i for batch in plan for i in batch) == list(range(len(EXAMPLES)))
    for batch in plan:
        assert (max(max(map(len, EXAMPLES[i])) for i in batch) + 1) * len(batch) <= 60


def test_a_plan_depends_on_seed_and_epoch_alone():
    assert plan_epoch(EXAMPLES, 60, seed=3, epoch=1) == plan_epoch(EXAMPLES, 60, seed=3, epoch=1)
    assert plan_epoch(EXAMPLES, 60, seed=3, epoch=1) != plan_epoch(EXAMPLES, 60, seed=3, epoch=2)
    assert plan_epoch(EXAMPLES, 60, seed=3, epoch=1) != plan_epoch(EXAMPLES, 60, seed=4, epoch=1)


@pytest.mark.parametrize("start", [0, 5, 200])
def test_starting_later_gives_the_batches_that_would_have_come(config: TransformerConfig, start: int):
    batches = list(islice(endless_batches(EXAMPLES, config, 60, seed=1), start + 3))
    resumed = list(islice(endless_batches(EXAMPLES, config, 60, seed=1, start=start), 3))
    for expected, got in zip(batches[start:], resumed, strict=True):
        assert expected.source.tolist() == got.source.tolist()
        assert expected.target_out.tolist() == got.target_out.tolist()


def test_a_batch_shifts_the_target_by_one(config: TransformerConfig):
    batch = collate([Example([7, 8], [9, 10, 11]), Example([7], [9])], config)
    assert batch.source.tolist() == [[7, 8, 3], [7, 3, 0]]
    assert batch.target_in.tolist() == [[2, 9, 10, 11], [2, 9, 0, 0]]
    assert batch.target_out.tolist() == [[9, 10, 11, 3], [9, 3, 0, 0]]
    assert batch.num_tokens == 3 + 2 + 4 + 2


def test_pairs_too_long_or_too_unequal_are_left_out(tokenizer: Tokenizer):
    pairs = [Pair("Tom.", "Tom."), Pair("word " * 200, "Wort"), Pair("Hi", "Ein Mann geht mit dem Hund " * 5)]
    examples = encode_pairs(pairs, tokenizer, max_tokens=100)
    assert [tokenizer.decode(example.source) for example in examples] == ["Tom."]

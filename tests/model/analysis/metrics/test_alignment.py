"""Alignment error rates: by hand, and of heads that were told where to look."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.nn.functional import one_hot

from model import Translator
from model.analysis.metrics.alignment import (
    NO_LINK,
    AlignedPair,
    AlignedWords,
    count_links,
    diagonal_links,
    linked_words,
    read_alignments,
    score_alignment,
)
from model.errors import DataError
from model.trace.trace import Trace
from model.words import find_words, pieces_of_spans, pieces_of_words

Plan = Callable[[Trace, int], torch.Tensor]
"""A trace and a layer → weights [head, row, key] instead of the model's."""


WORDS = ("a", "man", "walks", "(", "🦊", ")", "tomorrow")
MIRRORED = AlignedPair(WORDS, WORDS[::-1], frozenset((i, len(WORDS) - 1 - i) for i in range(len(WORDS))))
ROW = {"en": ["the", "dog"], "de": ["der", "hund"], "sure": [[0, 0], [1, 1]]}


def planted(translator: Translator, shift: int) -> Plan:
    """Head 1.2 looks at the mirrored word in the row `shift` after the one that predicts it; all others at </s>."""

    def weights(trace: Trace, layer: int) -> torch.Tensor:
        keys = torch.full((4, len(trace.target_tokens)), len(trace.source_tokens) - 1)
        offsets = translator.tokenizer.offsets
        source = pieces_of_words(trace.text, offsets(trace.text))
        target_text = " ".join(trace.text.split()[::-1])
        for word, pieces in enumerate(pieces_of_words(target_text, offsets(target_text))):
            for piece in pieces * layer:
                keys[2, piece + shift] = source[-1 - word][-1]
        return one_hot(keys, len(trace.source_tokens)).float()

    return weights


@pytest.mark.parametrize(("shift", "right", "wrong"), [(1, "word_in", "word_out"), (0, "word_out", "word_in")])
def test_a_head_that_aligns_perfectly_has_error_rate_zero(
    translator: Translator, shift: int, right: str, wrong: str
) -> None:
    scores = score_alignment(
        translator, [MIRRORED, MIRRORED], matrices=lambda _writer: {"": planted(translator, shift)}
    )
    assert scores.ways[right].best_head == (1, 2)
    assert scores.ways[right].best == scores.ways[right].cross_selected == 0
    assert scores.ways[right].head_averaged[1] == 0
    assert scores.ways[wrong].heads[1][2] > 0
    assert (scores.rows, scores.sure_links, scores.predicted_links) == (2, 14, 14)
    assert scores.diagonal == pytest.approx(1 - 1 / 7)


@pytest.mark.parametrize(
    ("num_source", "num_target", "sources"),
    [(3, 3, [0, 1, 2]), (1, 3, [0, 0, 0]), (6, 2, [0, 3]), (2, 5, [0, 0, 1, 1, 1])],
)
def test_the_baseline_goes_along_the_diagonal_to_the_last_word(
    num_source: int, num_target: int, sources: list[int]
) -> None:
    assert diagonal_links(num_source, num_target) == [(source, row) for row, source in enumerate(sources)]


def test_the_end_of_the_source_is_no_word(translator: Translator) -> None:
    trace, words = translator.trace("Tom told me", "me told Tom"), AlignedWords([[0], [1]], [[0], []])
    links = linked_words(trace, words, "word_in", planted(translator, 1))
    assert links.shape == (2, 5, 2)
    assert links[0, 0].tolist() == [0, NO_LINK]


def test_words_are_those_of_the_file_also_where_a_text_would_be_cut_into_others(translator: Translator) -> None:
    pair = AlignedPair(("我们", "在图书馆里"), ("wir", "dort"), frozenset({(0, 0), (1, 1)}))
    offsets = translator.tokenizer.offsets

    def weights(trace: Trace, layer: int) -> torch.Tensor:
        keys = torch.full((4, len(trace.target_tokens)), len(trace.source_tokens) - 1)
        texts = ((trace.text, pair.source), (" ".join(pair.target), pair.target))
        source, target = (pieces_of_spans(offsets(text), find_words(text, of)) for text, of in texts)
        for pieces, looked_at in zip(target, source, strict=True):
            for piece in pieces * layer:
                keys[2, piece + 1] = looked_at[-1]
        return one_hot(keys, len(trace.source_tokens)).float()

    scores = score_alignment(translator, [pair], matrices=lambda _writer: {"": weights})
    assert scores.ways["word_in"].heads[1][2] == 0


def test_the_error_rate_of_a_set_is_that_of_its_sets_of_links() -> None:
    generator = torch.Generator().manual_seed(3)
    linked = [torch.randint(-1, 7, (7,), generator=generator) for _ in range(4)]
    found = {(row, int(i), j) for row, of in enumerate(linked) for j, i in enumerate(of) if i != NO_LINK}
    sure = {(row, *link) for row in range(4) for link in MIRRORED.sure}
    counted = [count_links(of, MIRRORED) for of in linked]
    rate = 1 - sum(float(hits) for hits, _ in counted) / sum(total for _, total in counted)
    assert rate == pytest.approx(1 - 2 * len(found & sure) / (len(found) + len(sure)))


def test_pairs_that_the_model_refuses_are_counted(translator: Translator) -> None:
    long = AlignedPair(("word",) * 100, ("wort",), frozenset())
    scores = score_alignment(translator, [long, MIRRORED])
    assert (scores.rows, scores.skipped_rows) == (1, 1)
    assert scores.skipped == {"blank, or too long for this model": 1}
    with pytest.raises(DataError, match="No row could be scored"):
        score_alignment(translator, [long])


def test_rows_are_read_as_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text(
        "\ufeff" + json.dumps(ROW) + "\n\n" + json.dumps({**ROW, "sure": [[1, 0], [1, 0]]}), encoding="utf-8"
    )
    first, second = read_alignments(path)
    assert first == AlignedPair(("the", "dog"), ("der", "hund"), frozenset({(0, 0), (1, 1)}))
    assert second.sure == {(1, 0)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no json", "one JSON object"),
        ("[" * 100_000, "one JSON object"),
        ('{"en": ["a"], "sure": []}', "field “de”"),
        (json.dumps({**ROW, "en": "the dog"}), "“en” to be a list of words"),
        (json.dumps({**ROW, "de": ["der hund", "x"]}), "without white space"),
        (json.dumps({**ROW, "sure": "0-0"}), "list of links"),
        (json.dumps({**ROW, "sure": [[0, True]]}), "two whole numbers"),
        (json.dumps({**ROW, "sure": [[0, 2]]}), r"below 2 and 2, got \[0, 2\]"),
    ],
    ids=lambda value: value[:30],
)
def test_a_malformed_row_is_said_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps(ROW) + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=f"gold.jsonl, line 2: expected .*{message}"):
        read_alignments(path)


@pytest.mark.parametrize(("content", "message"), [(b"", "contains no row"), (b"{}\xff\n", "line 1 is not UTF-8")])
def test_an_empty_or_binary_file_is_said(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_alignments(path)


def test_a_word_is_linked_to_the_source_word_that_it_looks_at_most(translator: Translator) -> None:
    trace = translator.trace("The dog sleeps.", "Der Hund.")
    weights = torch.tensor([[[0.1, 0.2, 0.7], [0.5, 0.4, 0.1], [0.2, 0.5, 0.3]]])
    words = AlignedWords(source=[[0], [1], [2]], target=[[0], [1]])
    for way, expected in (("word_out", [2, 0]), ("word_in", [0, 1])):
        found = linked_words(trace, words, way, lambda trace, layer: weights)
        # Of two layers, the head and the mean of all.
        assert found.tolist() == [[expected] * 2] * 2


@pytest.mark.parametrize("size", [1, 3, 256])
def test_pairs_belong_to_either_half_in_turn_however_they_are_cut(
    translator: Translator, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr("model.over_corpus.TEXTS_AT_ONCE", size)
    second = AlignedPair(("two", *WORDS[1:]), (*WORDS[:0:-1], "two"), MIRRORED.sure)
    refused = AlignedPair(("word",) * 100, ("wort",), frozenset())
    mirror = planted(translator, 1)

    def in_turn(trace: Trace, layer: int) -> torch.Tensor:
        """Head 1.2 is right about the first text, head 1.0 about the second."""
        weights = mirror(trace, layer)
        return weights.flip(0)[[1, 2, 3, 0]] if trace.text.startswith("two") else weights

    scores = score_alignment(
        translator, [MIRRORED, second, refused, MIRRORED, second], matrices=lambda _writer: {"": in_turn}
    )
    assert scores.ways["word_in"].chosen == ((1, 2), (1, 0))
    assert (scores.rows, scores.skipped_rows) == (4, 1)

"""Sentences to measure on: read from a file, told apart, and our own."""

from pathlib import Path

import pytest

from model.analysis.corpus import OWN_CORPUS, CorpusSentence, corpus_digest, read_text
from model.errors import DataError


def test_the_digest_tells_sentences_apart() -> None:
    digests = [
        corpus_digest([CorpusSentence(*texts) for texts in corpus])
        for corpus in ([("ab",), ("c",)], [("a",), ("bc",)], [("ab", "c")], [("ab", ""), ("c",)], [("c",), ("ab",)])
    ]
    assert len(set(digests)) == len(digests)


def test_a_text_file_holds_sentences_and_perhaps_translations(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("\ufeffOne.\n\n  Two.\tZwei.\nThree.\t\n", encoding="utf-8")
    expected = [CorpusSentence("One."), CorpusSentence("Two.", "Zwei."), CorpusSentence("Three.")]
    assert read_text(path) == expected
    assert read_text(path, 2) == expected[:2]
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(DataError, match="contains no sentence"):
        read_text(path)


def test_our_own_corpus_has_200_different_sentences() -> None:
    sentences = read_text(OWN_CORPUS)
    assert len({sentence.text for sentence in sentences}) == 200
    assert all(sentence.target is None for sentence in sentences)

"""Whether a sum comes true is said by its ranks."""

import pytest

from model.analysis.embedding_space import SumAnswer
from viz.pages.learn.transformer.embeddings import verdict


@pytest.mark.parametrize(
    ("rank", "rank_without", "said"),
    [
        (1, 1, "True:"),
        (3, 1, "True only without the input words"),
        (2, 1, "otherwise it has rank 2"),
        (2, 2, "False:** d has rank **2** of 8,000"),
        (1_204, 1_201, "False:** d has rank **1,201** of 8,000"),
    ],
)
def test_a_miss_is_said_with_its_rank(rank: int, rank_without: int, said: str) -> None:
    assert said in verdict(SumAnswer((), rank, rank_without, 0.5), ("a", "b", "c", "d"), 8_000)


def test_typed_words_are_no_markdown() -> None:
    words = ("![a](https://evil.example/a.png)", "b", "c", "d")
    assert "![a](" not in verdict(SumAnswer((), 2, 2, 0.5), words, 8_000)

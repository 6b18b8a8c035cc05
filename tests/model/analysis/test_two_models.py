"""Heads of two models compared word by word: against plain loops, and of a model with itself."""

import math

import pytest
import torch

from model import Translator
from model.analysis.two_models import (
    cross_divergences,
    head_distances,
    matched,
    matched_rows,
    matched_words,
    sites_of,
    words_of,
)
from model.errors import DataError
from model.trace.axes import whole_words
from tests.conftest import SENTENCES
from tests.model.adapters.zoo import writer
from tests.model.analysis.interventions.test_choices import reader_of
from tests.recomputed import head_weights

TEXTS = SENTENCES[:2]


def test_words_are_matched_in_order_and_in_any_case_of_letters() -> None:
    found = matched_words(["The", "animal", "did", "n't", "run."], ["the", "animal", "didn't", "run."])
    assert found == ((0, 1, 4), (0, 1, 3))
    assert matched_words(["a"], ["b"]) == ((), ())


def test_a_divergence_is_that_of_each_row_by_its_definition() -> None:
    torch.manual_seed(0)
    first, second = torch.rand(2, 3, 4).softmax(-1), torch.rand(3, 3, 4).softmax(-1)
    found = cross_divergences(first, second)
    for a in range(2):
        for b in range(3):
            total = 0.0
            for p, q in zip(first[a].tolist(), second[b].tolist(), strict=True):
                middle = [(x + y) / 2 for x, y in zip(p, q, strict=True)]
                total += sum(x * math.log2(x / m) for x, m in zip(p, middle, strict=True)) / 2
                total += sum(y * math.log2(y / m) for y, m in zip(q, middle, strict=True)) / 2
            assert float(found[a, b]) == pytest.approx(total, abs=1e-6)
    # Rounding leaves no distance below nothing.
    alike = torch.rand(9, 20, 30).softmax(-1).double()
    assert float(cross_divergences(alike, alike * (1 + 1e-12 * torch.rand(9, 20, 30))).min()) >= 0


@pytest.mark.parametrize("site", ["encoder.self", "decoder.self", "decoder.cross"])
def test_every_head_is_nearest_to_itself_in_the_same_model(translator: Translator, site: str) -> None:
    done: list[int] = []
    found = head_distances(translator, translator, TEXTS, (site, site), done.append)
    assert done == [1, 1]
    assert (found.texts, found.skipped) == (2, 0)
    assert float(found.distances.diagonal().abs().max()) < 1e-6
    assert sorted(found.matching()) == [(number, number) for number in range(8)]
    torch.testing.assert_close(found.distances, found.distances.T, atol=1e-6, rtol=0)


def test_words_of_two_tokenizers_are_compared_with_a_rest_that_makes_rows_whole(translator: Translator) -> None:
    other = reader_of("bert")
    sites = sites_of(translator, other)
    assert sites == {"encoder.self": "encoder.self"}
    traces = translator.trace(SENTENCES[0]), other.trace(SENTENCES[0])
    queries, keys = matched(*traces, ("encoder.self", "encoder.self"))
    words = [words_of(trace, "encoder.self")[0].labels for trace in traces]
    assert [words[0][i].lower() for i in queries.first] == [words[1][j] for j in queries.second]
    assert len(queries.first) == len(SENTENCES[0].split())
    for trace, chosen, looked in zip(traces, queries, keys, strict=True):
        rows = matched_rows(trace, "encoder.self", chosen, looked)
        torch.testing.assert_close(rows.sum(-1), torch.ones(rows.shape[:2]), atol=1e-5, rtol=0)
        # What is left is what the special tokens are given.
        groups = words_of(trace, "encoder.self")[0].groups
        special = [at for at in range(len(trace.source_tokens)) if not any(at in group for group in groups)]
        expected = trace.weights("encoder.self", 1)[2][list(groups[2])].mean(0)[special].sum()
        assert float(rows[4 + 2, 2, -1]) == pytest.approx(float(expected), abs=1e-5)


@pytest.mark.parametrize("site", ["decoder.self", "decoder.cross"])
def test_rows_of_translations_are_matched_by_the_word_that_they_write(translator: Translator, site: str) -> None:
    text, written = "Tom told me.", "Tom sagte mir, dass er kommen würde."
    traces = translator.trace(text, written), writer("bart").trace(text, written)
    queries, keys = matched(*traces, (site, site))
    words = []
    for trace, chosen, looked in zip(traces, queries, keys, strict=True):
        target, rows = whole_words(trace.target_tokens, trace.special_tokens), words_of(trace, site)[0]
        written_by = [tuple(row + 1 for row in rows.groups[at]) for at in chosen]
        words.append([target.labels[target.groups.index(tokens)].casefold() for tokens in written_by])
        # Weights are averaged over these rows.
        found = matched_rows(trace, site, chosen, looked)[0].double().numpy()
        real = head_weights(trace, site, 0)[0]
        columns = words_of(trace, site)[1].groups
        for at, tokens in enumerate(written_by):
            row = real[[token - 1 for token in tokens]].mean(0)
            given = [row[list(columns[key])].sum() for key in looked]
            assert found[at] == pytest.approx([*given, 1 - sum(given)], abs=1e-5)
    assert words[0] == words[1]
    assert len(words[0]) >= 3


def test_texts_that_cannot_be_compared_are_counted_and_none_is_an_error(translator: Translator) -> None:
    both = ("encoder.self", "encoder.self")
    found = head_distances(translator, translator, [TEXTS[0], " ", "word " * 100], both)
    assert (found.texts, found.skipped) == (1, 2)
    with pytest.raises(DataError, match="no word of these texts could be matched"):
        head_distances(translator, translator, [" "], both)

"""Metrics, jobs, names and error rates of heads: against plain loops, by hand, and at the edges."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.analysis.metrics import estimates
from model.analysis.metrics.estimates import HeadCounts, bootstrap_mean, score_heads
from model.analysis.metrics.head_jobs import RULES, HeadJob, SurestHead, jobs_of_heads, surest_head
from model.analysis.metrics.head_metrics import (
    AttentionRows,
    HeadName,
    LayerHead,
    all_heads,
    check_heads,
    film_metrics,
    head_metrics,
    is_punctuation,
    rank_correlation,
    ranked,
)
from model.errors import EditError
from model.nn.attention import attention_weights
from model.training.film import Film, FilmSentence, Links
from tests.model.analysis.atlas.test_measure import slow_rows

NAMES = ["entropy", "distance", "previous", "same", "next", "first", "last", "diagonal", "punctuation"]


def causal(n: int) -> torch.Tensor:
    return torch.ones(n, n, dtype=torch.bool).tril()


def full(queries: int, keys: int) -> torch.Tensor:
    return torch.ones(queries, keys, dtype=torch.bool)


def random_weights(heads: int, mask: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(3)
    queries, keys = mask.shape
    return attention_weights(
        torch.randn(heads, queries, 4), torch.randn(heads, keys, 4), scale=1.0, mask=mask.expand(heads, -1, -1)
    ).weights


@pytest.mark.parametrize(
    ("site", "queries", "keys"),
    [
        ("encoder.self", 7, 7),
        ("decoder.self", 7, 7),
        ("decoder.cross", 5, 8),
        ("decoder.cross", 9, 4),
        ("decoder.cross", 1, 6),
        ("decoder.cross", 2, 6),
    ],
)
def test_metrics_are_those_of_plain_loops(site: str, queries: int, keys: int) -> None:
    mask = causal(7) if site == "decoder.self" else full(queries, keys)
    tokens = ("▁a", "▁,", "b", ".", "▁c", "...", "d", "</s>", "e")
    weights = random_weights(3, mask)
    metrics = head_metrics(AttentionRows(weights, mask, site, tokens[:keys]))
    assert [name for name in metrics if name != "induction"] == NAMES
    for head in range(3):
        rows = slow_rows(weights[head].numpy(), site, tokens[:queries], tokens[:keys])
        for name, values in metrics.items():
            expected = sum(rows[name]) / len(rows[name]) if rows[name] else math.nan
            assert float(values[head]) == pytest.approx(expected, rel=1e-5, abs=1e-6, nan_ok=True), name


def test_a_sentence_of_one_token_has_no_metrics() -> None:
    metrics = head_metrics(AttentionRows(torch.ones(2, 1, 1), full(1, 1), "encoder.self", ["</s>"]))
    assert all(values.isnan().all() for values in metrics.values())


def test_without_punctuation_there_is_no_metric_of_it() -> None:
    metrics = head_metrics(AttentionRows(random_weights(2, full(3, 3)), full(3, 3), "encoder.self", list("abc")))
    assert metrics["punctuation"].isnan().all()


@pytest.mark.parametrize("token", [".", "▁,", "▁(", "…", "؟", "'", "「", "▁--"])
def test_punctuation(token: str) -> None:
    assert is_punctuation(token)


@pytest.mark.parametrize("token", ["", "▁", "a.", "<s>", "</s>", "$", "7", "😀", "<0x2E>"])
def test_no_punctuation(token: str) -> None:
    assert not is_punctuation(token)


NONE = float("nan")
LOW = np.full((2, 3), 0.1)
SHARES = [rule.metric for rule in RULES if rule.threshold == 0.4]


def around(values: list[float], reach: float) -> np.ndarray:
    """Intervals of a layer's heads, as far below as above."""
    return np.array([[[value - reach, value + reach] for value in values]])


def test_a_head_has_a_job_only_where_the_interval_reaches_the_threshold_as_a_whole() -> None:
    values = [0.45, 0.45, 0.2, NONE]
    sure, unsure = around(values, 0.01), around(values, 0.1)
    metrics = {"previous": np.array([values])}
    assert list(jobs_of_heads("encoder.self", metrics, {"previous": sure})) == [(0, 0), (0, 1)]
    assert jobs_of_heads("encoder.self", metrics, {"previous": unsure}) == {}
    job = jobs_of_heads("encoder.self", metrics, {"previous": sure})[0, 0][0]
    assert (job.value, job.low, job.high) == (0.45, sure[0, 0, 0], sure[0, 0, 1])


def test_without_an_interval_the_number_itself_counts() -> None:
    jobs = jobs_of_heads("encoder.self", {"next": np.array([[0.4, 0.39]])}, {})
    assert jobs == {(0, 0): (HeadJob("next", 0.4),)}


def test_of_several_jobs_the_clearest_is_named_first() -> None:
    metrics = {"antecedent": np.array([[0.7]]), "same": np.array([[0.9]]), "entropy": np.array([[3.0]])}
    assert [job.metric for job in jobs_of_heads("encoder.self", metrics, {})[0, 0]] == ["same", "antecedent"]


def test_of_an_error_rate_what_is_right_counts() -> None:
    jobs = jobs_of_heads("decoder.cross", {"aer_word_out": np.array([[0.25, 0.75]])}, {})
    assert jobs == {(0, 0): (HeadJob("aer_word_out", 0.75),)}
    ends = {"aer_word_out": np.array([[[0.125, 0.375]]])}
    jobs = jobs_of_heads("decoder.cross", {"aer_word_out": np.array([[0.25]])}, ends)
    assert jobs == {(0, 0): (HeadJob("aer_word_out", 0.75, 0.625, 0.875),)}


def test_the_last_key_is_no_job_where_one_row_alone_may_look_at_it() -> None:
    metrics = {"last": np.array([[0.98]])}
    assert jobs_of_heads("decoder.self", metrics, {}) == {}
    assert list(jobs_of_heads("decoder.cross", metrics, {})) == [(0, 0)]


def tables(**values: np.ndarray) -> dict[str, np.ndarray]:
    return dict.fromkeys(SHARES, LOW) | values


def raised(layer: int, head: int, value: float) -> np.ndarray:
    changed = LOW.copy()
    changed[layer, head] = value
    return changed


def test_a_head_with_a_job_goes_before_one_that_rests() -> None:
    metrics = {"encoder.self": tables(first=raised(0, 0, 0.99)), "decoder.self": tables(same=raised(1, 2, 0.5))}
    assert surest_head(metrics) == SurestHead("decoder.self", 1, 2, HeadJob("same", 0.5))


def test_without_another_job_the_surest_rest_is_named() -> None:
    metrics = {"encoder.self": tables(last=raised(1, 1, 0.9), next=raised(0, 2, 0.39))}
    assert surest_head(metrics) == SurestHead("encoder.self", 1, 1, HeadJob("last", 0.9))


def test_of_different_jobs_the_one_that_exceeds_its_threshold_most_is_surest() -> None:
    metrics = {"decoder.cross": {"antecedent": np.array([[0.7, 0.95]]), "same": np.array([[0.9, 0.5]])}}
    assert surest_head(metrics) == SurestHead("decoder.cross", 0, 1, HeadJob("antecedent", 0.95))


def test_a_metric_that_no_head_has_names_none() -> None:
    nothing = dict.fromkeys(SHARES, np.full((2, 3), NONE))
    assert surest_head({"decoder.cross": nothing}) is None
    with_one = nothing | {"last": raised(0, 1, 0.2)}
    assert surest_head({"decoder.cross": with_one}) == SurestHead("decoder.cross", 0, 1, HeadJob("last", 0.2))


HEADS = dict.fromkeys(("encoder.self", "decoder.self", "decoder.cross"), (4, 4))


def test_all_heads_come_in_the_order_of_a_table() -> None:
    table = np.arange(3 * 2 * 4).reshape(3, 2, 4)
    names = list(all_heads(HEADS))
    sites = ["encoder.self", "decoder.self", "decoder.cross"]
    assert [table[sites.index(name.site), name.layer, name.head] for name in names] == list(range(24))


@pytest.mark.parametrize("name", [("decoder.cross", 2, 0), ("encoder.self", 0, 4), ("encoder.cross", 0, 0)])
def test_a_head_that_does_not_exist_is_named(name: tuple[str, int, int]) -> None:
    with pytest.raises(EditError, match="There is no head"):
        check_heads(HEADS, [HeadName(*name)])


def test_ranking_goes_downwards_and_leaves_out_what_has_no_metric() -> None:
    values = np.array([[[0.5, -2.0]], [[np.nan, 3.0]], [[0.5, 1.0]]])
    assert [(name, value) for name, value in ranked(values)] == [
        (("decoder.self", 0, 1), 3.0),
        (("decoder.cross", 0, 1), 1.0),
        (("encoder.self", 0, 0), 0.5),
        (("decoder.cross", 0, 0), 0.5),
        (("encoder.self", 0, 1), -2.0),
    ]


def test_rank_correlation_by_hand() -> None:
    # Ranks 1 2 3 4 5 and 2 1 4 3 5: ρ = 1 − 6 · Σd² / (n (n² − 1)) = 1 − 6 · 4 / 120.
    assert rank_correlation([10, 20, 30, 40, 50], [2, 1, 4, 3, 5]) == pytest.approx(0.8)
    # Ranks 1, 2½, 2½, 4 and 1, 3, 2, 4: deviations −1½ 0 0 1½ and −1½ ½ −½ 1½.
    assert rank_correlation([1, 7, 7, 9], [0, 5, 3, 8]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))


def test_rank_correlation_sees_the_order_only_and_skips_what_is_unknown() -> None:
    first = np.array([[0.1, np.nan], [0.4, 2.0]])
    assert rank_correlation(first, np.exp(first)) == pytest.approx(1.0)
    assert rank_correlation(first, [[5.0, 9.0], [np.nan, -3.0]]) == pytest.approx(-1.0)


@pytest.mark.parametrize(("first", "second"), [([], []), ([1.0], [2.0]), ([1.0, 2.0], [3.0, 3.0])])
def test_where_nothing_can_be_ranked_there_is_no_correlation(first: list[float], second: list[float]) -> None:
    assert math.isnan(rank_correlation(first, second))


# [row, head]: head 0 is right on the first half, head 1 on three of four rows, the last is the mean of the heads.
HITS = torch.tensor([[1.0, 0.5, 0.0], [1.0, 0.5, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])[:, None]
COUNTS = HeadCounts(HITS, torch.ones(4), torch.tensor([0, 0, 1, 1]))


def test_an_error_rate_is_what_hits_lack_of_totals() -> None:
    scores = score_heads(COUNTS)
    assert scores.heads == ((0.5, 0.25),)
    assert scores.head_averaged == (0.5,)
    assert scores.best_head == LayerHead(0, 1)
    assert scores.best == 0.25


def test_totals_weigh_the_rows() -> None:
    counts = HeadCounts(HITS, torch.tensor([1.0, 1.0, 3.0, 3.0]), COUNTS.folds)
    assert score_heads(counts).heads == ((0.75, 0.625),)


def test_cross_selection_scores_each_half_with_the_head_chosen_on_the_other() -> None:
    scores = score_heads(COUNTS)
    assert scores.chosen == (LayerHead(0, 0), LayerHead(0, 1))
    assert scores.cross_selected == pytest.approx(1 - (0 + 0 + 0.5 + 0.5) / 4)


def test_without_a_second_half_there_is_no_fair_error_rate() -> None:
    scores = score_heads(HeadCounts(HITS[:1], torch.ones(1), torch.zeros(1, dtype=torch.long)))
    assert scores.cross_selected is None


def test_the_mean_of_the_heads_is_never_the_best_head() -> None:
    hits = torch.tensor([[[0.0, 0.5, 1.0], [0.5, 0.0, 1.0]]])
    assert score_heads(HeadCounts(hits, torch.ones(1), torch.tensor([0]))).best_head == LayerHead(0, 1)


def test_intervals_agree_with_drawing_pairs_by_hand() -> None:
    generator = torch.Generator().manual_seed(3)
    values = (torch.rand(60, 2, generator=generator) > 0.4).float()
    groups = [f"{i // 2}" for i in range(60)]
    found = bootstrap_mean(values, groups)
    means = values.view(30, 2, 2).mean(1)
    drawn = torch.stack([means[torch.randint(30, (30,), generator=generator)].mean(0) for _ in range(4_000)])
    torch.testing.assert_close(found.value, values.mean(0))
    torch.testing.assert_close(found.low, drawn.quantile(0.025, dim=0), rtol=0, atol=0.03)
    torch.testing.assert_close(found.high, drawn.quantile(0.975, dim=0), rtol=0, atol=0.03)


def test_twins_with_opposite_answers_leave_no_doubt_about_one_half() -> None:
    values = torch.tensor([0.0, 1.0] * 20)
    assert bootstrap_mean(values, [f"{i // 2}" for i in range(40)]).at() == (0.5, 0.5, 0.5)
    assert bootstrap_mean(values, [f"{i}" for i in range(40)]).at()[1] < 0.45


def test_the_ends_of_an_interval_leave_as_much_out_below_as_above(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of two drawn of 0 and 1 the mean is 0 or 1 in a quarter each: three tenths on either side reach the half between.
    monkeypatch.setattr(estimates, "LEVEL", 0.4)
    assert bootstrap_mean(torch.tensor([0.0, 1.0]), ["a", "b"]).at() == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(("draws", "sizes"), [(30, [7, 7, 6]), (28, [7, 7, 6]), (3, [1] * 20), (1000, [20])])
def test_as_many_samples_are_drawn_at_once_as_may_be_held_and_all_in_all_as_many_as_stated(
    draws: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 8 * estimates.DRAWS_AT_ONCE == 32 * 2**20  # bytes
    monkeypatch.setattr(estimates, "SAMPLES", 20)
    monkeypatch.setattr(estimates, "DRAWS_AT_ONCE", draws)
    drawn = list(estimates._drawn_counts(4))
    assert [len(counts) for counts in drawn] == sizes
    assert all((counts.sum(1) == 4).all() for counts in drawn)


def film_of(encoder: np.ndarray, cross: np.ndarray, links: Links = ((1, (0,)), (2, (1, 2)))) -> Film:
    """One sentence of three words, two frames, one layer and one head."""
    causal = np.tril(np.full((3, 3), 85, dtype=np.uint8))
    sentence = FilmSentence(
        source="a b c",
        target="x y",
        source_tokens=("a", "b", "c"),
        target_tokens=("<s>", ".", "y"),
        links=links,
        translations=("", "x y"),
        weights={
            "encoder.self": encoder[:, None, None].astype(np.uint8),
            "decoder.self": np.stack([causal, causal])[:, None, None],
            "decoder.cross": cross[:, None, None].astype(np.uint8),
        },
    )
    return Film(run={}, steps=(0, 5), losses=(float("nan"), 1.0), scores={}, sentences=(sentence,))


def test_a_head_becomes_a_previous_token_head_in_the_frame_in_which_it_does() -> None:
    previous = np.array([[255, 0, 0], [255, 0, 0], [0, 255, 0]])
    film = film_of(np.stack([np.full((3, 3), 85), previous]), np.full((2, 3, 3), 85))
    metrics = film_metrics(film, "encoder.self")
    # The first row has no key before it.
    np.testing.assert_allclose(metrics["previous"][:, 0, 0], [1 / 3, 1], atol=1e-6)
    np.testing.assert_allclose(metrics["entropy"][:, 0, 0], [np.log2(3), 0], atol=1e-6)
    assert np.isnan(metrics["punctuation"]).all()


def test_a_decoder_s_head_is_measured_in_the_rows_that_have_a_choice_and_at_what_the_decoder_reads() -> None:
    film = film_of(np.full((2, 3, 3), 85), np.full((2, 3, 3), 85))
    metrics = film_metrics(replace(film, sentences=film.sentences * 2), "decoder.self")
    # A third for each key: row 1 sees two of them, row 2 three; the key "." is one of them.
    np.testing.assert_allclose(metrics["entropy"][:, 0, 0], [np.log2(3) * (2 / 3 + 1) / 2] * 2, atol=1e-6)
    np.testing.assert_allclose(metrics["punctuation"][:, 0, 0], [1 / 3] * 2, atol=1e-6)


def test_alignment_is_the_weight_on_the_words_that_a_word_renders() -> None:
    # Row 1 reads x, row 2 reads y; x renders a, y renders b and c.
    reads = np.array([[0, 0, 0], [255, 0, 0], [0, 102, 153]])
    predicts = np.array([[255, 0, 0], [0, 102, 153], [0, 0, 0]])
    metrics = film_metrics(film_of(np.full((2, 3, 3), 85), np.stack([reads, predicts])), "decoder.cross")
    assert metrics["word_in"][:, 0, 0].tolist() == pytest.approx([1, 0])
    assert metrics["word_out"][:, 0, 0].tolist() == pytest.approx([0, 1])


def test_a_link_of_the_first_row_is_predicted_by_no_row_and_not_by_the_last() -> None:
    flat = np.full((2, 3, 3), 85)
    weights = np.array([[0, 255, 0], [0, 255, 0], [0, 0, 255]])
    metrics = film_metrics(film_of(flat, np.stack([weights, weights]), ((0, (0,)), (1, (1,)))), "decoder.cross")
    assert metrics["word_out"][:, 0, 0].tolist() == pytest.approx([1, 1])
    assert metrics["word_in"][:, 0, 0].tolist() == pytest.approx([0.5, 0.5])

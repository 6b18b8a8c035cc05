"""Metrics, jobs, names and error rates of heads: against plain loops, by hand, and at the edges."""

import math

import numpy as np
import pytest
import torch

from model.analysis.metrics.estimates import HeadCounts, bootstrap_mean, score_heads
from model.analysis.metrics.head_jobs import RULES, HeadJob, SurestHead, jobs_of_heads, surest_head
from model.analysis.metrics.head_metrics import (
    SENTENCE_METRICS,
    AttentionRows,
    LayerHead,
    film_metrics,
    head_metrics,
    rank_correlation,
    ranked,
)
from model.nn.attention import attention_weights
from model.trace.axes import is_punctuation
from model.training.film import Film, FilmSentence, Links
from tests.model.analysis.atlas.test_measure import slow_rows


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
    assert set(metrics) == set(SENTENCE_METRICS)
    for head in range(3):
        rows = slow_rows(weights[head].numpy(), site, tokens[:queries], tokens[:keys])
        for name, values in metrics.items():
            expected = sum(rows[name]) / len(rows[name]) if rows[name] else math.nan
            assert float(values[head]) == pytest.approx(expected, rel=1e-5, abs=1e-6, nan_ok=True), name


def test_where_no_row_has_a_choice_there_is_no_metric() -> None:
    alone = head_metrics(AttentionRows(torch.ones(2, 1, 1), full(1, 1), "encoder.self", ["</s>"]))
    assert all(values.isnan().all() for values in alone.values())
    without = head_metrics(AttentionRows(random_weights(2, full(3, 3)), full(3, 3), "encoder.self", list("abc")))
    assert without["punctuation"].isnan().all()


def test_keys_that_are_left_out_take_their_weight_along_and_nothing_is_renormalised() -> None:
    weights = torch.tensor([[[0.5, 0.3, 0.2, 0.0], [0.1, 0.2, 0.3, 0.4], [0.9, 0.1, 0.0, 0.0]]])
    mask = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 0, 0]], dtype=torch.bool)
    rows = AttentionRows(weights, mask, "encoder.self", ["<s>", "a", "b", "."])
    found = head_metrics(rows.without([0, 3]))
    # The last row has one key left, and does not count.
    assert float(found["entropy"]) == pytest.approx(-sum(w * np.log2(w) for w in (0.3, 0.2, 0.2, 0.3)) / 2)
    assert float(found["next"]) == pytest.approx((0.3 + 0.3) / 2)
    assert all(found[name].isnan().all() for name in ("first", "last", "punctuation"))
    assert float(head_metrics(rows)["first"]) == pytest.approx(0.5)


NONE = float("nan")
LOW = np.full((2, 3), 0.1)
SHARES = [rule.metric for rule in RULES if rule.threshold == 0.4]


NEXT, ERROR = HeadJob("next", 0.4), HeadJob("aer_word_out", 0.75)


@pytest.mark.parametrize(
    ("site", "values", "ends", "jobs"),
    [
        # The whole interval has to reach the threshold; without one, the number itself.
        ("encoder.self", {"next": 0.45}, {"next": (0.44, 0.46)}, [HeadJob("next", 0.45, 0.44, 0.46)]),
        ("encoder.self", {"next": 0.45}, {"next": (0.35, 0.55)}, []),
        ("encoder.self", {"next": 0.4}, {}, [NEXT]),
        ("encoder.self", {"next": 0.39}, {}, []),
        ("encoder.self", {"next": NONE}, {}, []),
        # The clearest comes first; entropy says nothing of a job.
        (
            "encoder.self", {"antecedent": 0.7, "same": 0.9, "entropy": 3.0}, {},
            [HeadJob("same", 0.9), HeadJob("antecedent", 0.7)],
        ),
        # Of an error rate what is right counts.
        ("decoder.cross", {"aer_word_out": 0.25}, {}, [ERROR]),
        ("decoder.cross", {"aer_word_out": 0.75}, {}, []),
        (
            "decoder.cross", {"aer_word_out": 0.25}, {"aer_word_out": (0.125, 0.375)},
            [HeadJob("aer_word_out", 0.75, 0.625, 0.875)],
        ),
        # One row alone may look at the decoder's last key.
        ("decoder.self", {"last": 0.98}, {}, []),
        ("decoder.cross", {"last": 0.98}, {}, [HeadJob("last", 0.98)]),
    ],
)  # fmt: skip
def test_a_head_has_the_jobs_whose_thresholds_it_reaches_for_sure(
    site: str, values: dict[str, float], ends: dict[str, tuple[float, float]], jobs: list[HeadJob]
) -> None:
    metrics = {name: np.array([[value]]) for name, value in values.items()}
    found = jobs_of_heads(site, metrics, {name: np.array([[pair]]) for name, pair in ends.items()})
    assert found == ({(0, 0): tuple(jobs)} if jobs else {})


def tables(**values: np.ndarray) -> dict[str, np.ndarray]:
    return dict.fromkeys(SHARES, LOW) | values


def raised(layer: int, head: int, value: float) -> np.ndarray:
    changed = LOW.copy()
    changed[layer, head] = value
    return changed


def test_the_surest_head_exceeds_its_threshold_most_and_one_that_rests_comes_last() -> None:
    rest, other = tables(first=raised(0, 0, 0.99)), tables(same=raised(1, 2, 0.5))
    assert surest_head({"encoder.self": rest, "decoder.self": other}) == SurestHead(
        "decoder.self", 1, 2, HeadJob("same", 0.5)
    )
    nothing = tables(last=raised(1, 1, 0.9), next=raised(0, 2, 0.39))
    assert surest_head({"encoder.self": nothing}) == SurestHead("encoder.self", 1, 1, HeadJob("last", 0.9))
    jobs = {"antecedent": np.array([[0.7, 0.95]]), "same": np.array([[0.9, 0.5]])}
    assert surest_head({"decoder.cross": jobs}) == SurestHead("decoder.cross", 0, 1, HeadJob("antecedent", 0.95))
    assert surest_head({"decoder.cross": dict.fromkeys(SHARES, np.full((2, 3), NONE))}) is None


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
    # What is unknown on one side is left out; fewer than two, or all alike, have no order.
    assert rank_correlation([[0.1, np.nan], [0.4, 2.0]], [[5.0, 9.0], [np.nan, -3.0]]) == pytest.approx(-1.0)
    assert all(math.isnan(rank_correlation(*pair)) for pair in (([], []), ([1.0], [2.0]), ([1.0, 2.0], [3.0, 3.0])))


# [row, head]: head 0 is right on the first half, head 1 on three of four rows, the last is the mean of the heads.
HITS = torch.tensor([[1.0, 0.5, 0.0], [1.0, 0.5, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])[:, None]
FOLDS = torch.tensor([0, 0, 1, 1])


def test_an_error_rate_is_what_hits_lack_of_totals_and_each_half_is_scored_by_the_head_chosen_on_the_other() -> None:
    scores = score_heads(HeadCounts(HITS, torch.ones(4), FOLDS))
    assert (scores.heads, scores.head_averaged) == (((0.5, 0.25),), (0.5,))
    # The mean of the heads is never the best head.
    assert (scores.best_head, scores.best) == (LayerHead(0, 1), 0.25)
    assert scores.chosen == (LayerHead(0, 0), LayerHead(0, 1))
    assert scores.cross_selected == pytest.approx(1 - (0 + 0 + 0.5 + 0.5) / 4)
    assert score_heads(HeadCounts(HITS, torch.tensor([1.0, 1.0, 3.0, 3.0]), FOLDS)).heads == ((0.75, 0.625),)
    # Without a second half there is no fair error rate.
    assert score_heads(HeadCounts(HITS[:1], torch.ones(1), torch.zeros(1, dtype=torch.long))).cross_selected is None


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


def test_alignment_is_the_weight_on_the_words_that_a_word_renders() -> None:
    # Row 1 reads x, row 2 reads y; x renders a, y renders b and c.
    reads = np.array([[0, 0, 0], [255, 0, 0], [0, 102, 153]])
    predicts = np.array([[255, 0, 0], [0, 102, 153], [0, 0, 0]])
    metrics = film_metrics(film_of(np.full((2, 3, 3), 85), np.stack([reads, predicts])), "decoder.cross")
    assert metrics["word_in"][:, 0, 0].tolist() == pytest.approx([1, 0])
    assert metrics["word_out"][:, 0, 0].tolist() == pytest.approx([0, 1])


@pytest.mark.parametrize(
    ("tokens", "expected"), [((".", "▁,", "▁(", "…", "؟", "'", "「", "▁--"), True),
    (("", "▁", "a.", "<s>", "</s>", "$", "7", "😀", "<0x2E>"), False)],
)  # fmt: skip
def test_punctuation_is_what_unicode_says(tokens: tuple[str, ...], expected: bool) -> None:
    assert [is_punctuation(token) for token in tokens] == [expected] * len(tokens)

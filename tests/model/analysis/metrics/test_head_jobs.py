"""Which heads have a job, which is named first, and which head is surest of its own."""

import numpy as np

from model.analysis.metrics.head_jobs import RULES, HeadJob, SurestHead, jobs_of_heads, surest_head

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

"""Which heads have a job, and which is named first."""

import numpy as np

from model.analysis.atlas.jobs import Job, jobs_of_heads

NONE = float("nan")


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
    assert jobs == {(0, 0): (Job("next", 0.4),)}


def test_of_several_jobs_the_clearest_is_named_first() -> None:
    metrics = {"antecedent": np.array([[0.7]]), "same": np.array([[0.9]]), "entropy": np.array([[3.0]])}
    assert [job.metric for job in jobs_of_heads("encoder.self", metrics, {})[0, 0]] == ["same", "antecedent"]


def test_of_an_error_rate_what_is_right_counts() -> None:
    jobs = jobs_of_heads("decoder.cross", {"aer_word_out": np.array([[0.25, 0.75]])}, {})
    assert jobs == {(0, 0): (Job("aer_word_out", 0.75),)}


def test_the_last_key_is_no_job_where_one_row_alone_may_look_at_it() -> None:
    metrics = {"last": np.array([[0.98]])}
    assert jobs_of_heads("decoder.self", metrics, {}) == {}
    assert list(jobs_of_heads("decoder.cross", metrics, {})) == [(0, 0)]

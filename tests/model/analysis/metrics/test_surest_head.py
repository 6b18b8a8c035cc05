"""The head of a text that is surest of a simple job."""

import numpy as np

from model.analysis.metrics.surest_head import JOBS, RESTS, SurestHead, surest_head

LOW = np.full((2, 3), 0.1)
NONE = np.full((2, 3), np.nan)


def tables(**values: np.ndarray) -> dict[str, np.ndarray]:
    return dict.fromkeys((*JOBS, *RESTS), LOW) | values


def raised(layer: int, head: int, value: float) -> np.ndarray:
    changed = LOW.copy()
    changed[layer, head] = value
    return changed


def test_a_head_with_a_job_goes_before_one_that_rests() -> None:
    metrics = {"encoder.self": tables(first=raised(0, 0, 0.99)), "decoder.self": tables(same=raised(1, 2, 0.5))}
    assert surest_head(metrics) == SurestHead("decoder.self", 1, 2, "same", 0.5)


def test_without_a_sure_job_the_surest_rest_is_named() -> None:
    metrics = {"encoder.self": tables(last=raised(1, 1, 0.9), next=raised(0, 2, 0.49))}
    assert surest_head(metrics) == SurestHead("encoder.self", 1, 1, "last", 0.9)


def test_a_metric_that_no_head_has_names_none() -> None:
    nothing = dict.fromkeys((*JOBS, *RESTS), NONE)
    assert surest_head({"decoder.cross": nothing}) is None
    with_one = nothing | {"last": raised(0, 1, 0.2)}
    assert surest_head({"decoder.cross": with_one}) == SurestHead("decoder.cross", 0, 1, "last", 0.2)

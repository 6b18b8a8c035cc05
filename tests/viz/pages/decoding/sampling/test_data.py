"""Samples by the settings of a selection."""

import pytest

from tests.viz.pages.decoding.opening import TEXT
from tests.viz.pages.decoding.sampling.drawing import samples_of
from viz.access import models
from viz.selection.selection import Selection


def test_the_settings_of_the_selection_are_those_of_the_model(chosen: Selection) -> None:
    selection = chosen.changed(num_samples=3, sampling_seed=5, temperature=150, top_k=7, top_p=80)
    found = samples_of(selection)
    from model import Sampling

    sampling = Sampling(temperature=1.5, top_k=7, top_p=0.8)
    expected = models.translator(chosen.model).sample(TEXT, n=3, sampling=sampling, seed=5)
    assert [one.token_ids for one in found] == [one.token_ids for one in expected]
    assert [one.filtered_log_prob for one in found] == [one.filtered_log_prob for one in expected]


def test_0_and_100_switch_the_filters_off(chosen: Selection) -> None:
    for one in samples_of(chosen.changed(top_k=0, top_p=100)):
        assert one.filtered_log_probs == pytest.approx(one.log_probs, abs=1e-5)


def test_more_samples_keep_the_first_ones(chosen: Selection) -> None:
    few, many = (samples_of(chosen.changed(num_samples=count)) for count in (2, 5))
    assert [one.token_ids for one in few] == [one.token_ids for one in many[:2]]

"""Which word of a translation is asked about."""

import pytest

from tests.viz.pages.decoding.opening import TEXT
from tests.viz.reading import traced
from viz.access.head_verdict import least_sure_step
from viz.selection.selection import Selection


def test_the_least_sure_step_has_the_closest_best_other_token() -> None:
    trace = traced(TEXT, Selection().changed(checkpoint="en-de"))
    leads = [step.candidates[0].log_prob - step.candidates[1].log_prob for step in trace.steps]
    found = least_sure_step(trace)
    assert leads[found] == pytest.approx(min(leads))
    assert leads[found] < max(leads)

"""An atlas that the page measures where HEADLIGHT_CLUSTER says."""

import sys
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.patience import PATIENCE
from tests.viz.page_run import healthy
from tests.viz.pages.atlas.opening import maps, opened
from viz.server.background_jobs import Job

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'headlight[cluster]'")


def measured(app: AppTest) -> dict[str, Any]:
    opened(app, site="encoder.self", corpus_figure="distance").button(key="atlas-start").click().run()
    job = app.session_state["long-work/atlas"]
    assert isinstance(job, Job)
    assert job.wait(PATIENCE)
    return next(one for one in maps(healthy(app.run()))["maps"] if one["key"] == "distance")


def has_measured() -> bool:
    return "model.analysis.atlas.measure" in sys.modules


@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_the_atlas_that_a_worker_measured_is_shown(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        monkeypatch.setenv("HEADLIGHT_CLUSTER", cluster.scheduler_address)
        found = measured(app)
        assert list(client.run(has_measured).values()) == [True]
    assert [float(text) for text in found["texts"]]

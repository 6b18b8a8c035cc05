"""The two tables of metrics, that of the model and that of the pages, against each other and against addresses."""

import pytest

from model.analysis.metrics import head_metrics
from model.analysis.metrics.head_jobs import RULES
from model.analysis.metrics.head_metrics import ROW_METRICS, SENTENCE_METRICS, OwnTexts
from viz.selection.choices import KEPT
from viz.selection.selection import FIELDS
from viz.text.messages import speaking
from viz.text.metrics import JOBS, METRICS, OF_SENTENCES
from viz.text.written import SITES


def over(key: str) -> str:
    """What the model measures a metric over."""
    metric = head_metrics.METRICS[key]
    if isinstance(metric, OwnTexts):
        return "film" if metric.of_films else "corpus"
    return "sentence" if key in SENTENCE_METRICS else "corpus"


def test_both_tables_have_the_same_metrics_and_measure_them_over_the_same() -> None:
    assert {key: metric.over for key, metric in METRICS.items()} == {key: over(key) for key in head_metrics.METRICS}
    assert {rule.metric for rule in RULES} == set(JOBS)
    # What the model reads off norms too is said of norms; of the others a page says that they have none.
    assert {key for key, metric in METRICS.items() if metric.of_norms} == set(ROW_METRICS)


def test_an_address_may_name_every_metric_that_its_page_shows() -> None:
    assert FIELDS["metric"].options == ("", *SENTENCE_METRICS, KEPT)
    assert OF_SENTENCES == SENTENCE_METRICS
    assert set(FIELDS["corpus_metric"].options) == {key for key in METRICS if over(key) != "film"}
    assert set(FIELDS["film_metric"].options) == {key for key in METRICS if over(key) != "corpus"}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("key", METRICS)
def test_a_metric_means_something_where_the_model_has_it_and_elsewhere_has_a_reason(key: str, language: str) -> None:
    metric, known = METRICS[key], head_metrics.METRICS[key]
    with speaking(language):
        for site in SITES:
            assert metric.meaning_at(site, "weights")
            assert metric.why_none(site)
            if metric.over != "film" and site not in known.sites:
                assert site in metric.none_at
            if metric.of_norms:
                assert metric.meaning_at(site, "norms") != metric.meaning_at(site, "weights")

"""Words of the atlas's metrics."""

from viz.pages.atlas import metric_texts
from viz.selection.atlas import CORPUS_METRICS, READ_OFF
from viz.text.sites import SITES


def test_every_figure_and_every_site_has_its_words() -> None:
    for key in CORPUS_METRICS:
        for site in SITES:
            for read_off in READ_OFF:
                assert metric_texts.meaning(key, site, read_off).endswith(".")
            assert metric_texts.why_none(key, site)
    assert "share of norms" in metric_texts.meaning("previous", "encoder.self", "norms")

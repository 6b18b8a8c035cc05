"""What people read about the jobs of heads."""

from types import SimpleNamespace

import pytest

from model.analysis.metrics.head_jobs import RULES as JOB_RULES
from model.analysis.metrics.head_jobs import HeadJob
from viz.access.head_jobs import HeadJobs
from viz.text.sites import CROSS
from viz.ui import head_jobs
from viz.ui.head_jobs import NAMES, linked_title, on_tiles, row_name, sentence, signs_said, title, titles

FOLLOWS = HeadJob("antecedent", 0.722, 0.651, 0.785)
MEASURED = HeadJobs({(0, 1): (FOLLOWS, HeadJob("same", 0.41, 0.40, 0.42))}, 200)


def test_every_job_has_a_name() -> None:
    assert {rule.metric for rule in JOB_RULES} == set(NAMES)


def test_a_title_has_the_surest_job_and_none_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_jobs, "state", SimpleNamespace(current=lambda: SimpleNamespace(model=None)))
    monkeypatch.setattr("viz.access.head_jobs.of_model", lambda choice, site: MEASURED)
    assert title(CROSS, 0, 1) == "L1 H2 · follows antecedents 0.72"
    assert linked_title(CROSS, 0, 1, with_site=True) == f"[cross L1 H2](#head-{CROSS}-L1H2) · follows antecedents 0.72"
    assert row_name(CROSS, 0, 1) == "L1 H2 · ↪"
    assert titles(CROSS, (1, 2)) == ("L1 H1", title(CROSS, 0, 1))
    assert title(CROSS, 0, None) == "L1, all heads"


def test_the_sentence_has_all_jobs_with_their_intervals_and_says_what_was_measured() -> None:
    said = sentence(MEASURED, 0, 1)
    assert "**follows antecedents** 0.72 (0.65 to 0.79); **same token** 0.41 (0.40 to 0.42)" in said
    assert "over 200 sentences" in said
    assert "none" in sentence(MEASURED, 0, 0)
    alone = HeadJobs({(0, 0): (HeadJob("next", 0.5),)}, 0)
    assert sentence(alone, 0, 0) == "Job, measured in this sentence only: **next token** 0.50."


def test_tiles_carry_a_word_and_say_the_number_on_hover() -> None:
    tiles = on_tiles(MEASURED, (1, 2))
    assert tiles is not None
    assert tiles.signs == ("", "↪")
    assert (tiles.said, tiles.intervals) == (("", "follows antecedents 0.72"), ("", " (0.65 to 0.79)"))
    assert on_tiles(HeadJobs({}, 200), (1, 2)) is None
    assert on_tiles(None, (1, 2)) is None


def test_each_word_that_stands_under_a_tile_is_explained_once_and_no_other() -> None:
    aligns = (HeadJob("aer_word_in", 0.5),)
    measured = HeadJobs({(0, 1): MEASURED.of_heads[0, 1], (1, 0): aligns, (1, 1): aligns}, 200)
    assert signs_said(measured).endswith(": ↪ follows antecedents · ⇇ aligns token read.")
    assert signs_said(HeadJobs({}, 200)) == signs_said(None) == ""

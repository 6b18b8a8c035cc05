"""The tab Why: tables of all parts add up to the same number, and of no change there is nothing to explain."""

import re
from pathlib import Path

import pytest

from model.analysis.reasons.score import CANCELLING
from tests.paths import ROOT
from tests.viz.page_run import app_of, healthy
from tests.viz.sent import sent_to, unlinked
from viz.selection.catalogue import ROOT_VARIABLE


def test_the_tables_of_both_sides_and_of_pairs_add_up_to_the_score_and_cancelling_is_said(
    tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    app = app_of(view="Why", text="Tom was late.", site="decoder.cross", layer=1, head=2, token=1, key_token=2)
    app.session_state["all-parts"] = True
    healthy(app.run())
    ((page, _arrays),) = sent_to(app, "why")
    tables = [element.value for element in app.html if "<table" in element.value]
    shares = [[float(share.replace("−", "-")) for share in re.findall(r">([+−]?\d+\.\d\d)<", each)] for each in tables]
    assert [sum(each) for each in shares] == pytest.approx([page["total"]] * 3, abs=0.06)
    *pairs, _rest = shares[2]
    assert sum(map(abs, pairs)) > CANCELLING * abs(page["total"])
    assert any("Pairs of parts partly cancel" in unlinked(caption.value) for caption in app.caption)


def test_before_the_first_word_that_differs_no_change_is_explained_and_no_picture_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
    app = app_of(view="Why", checkpoint="induction", text="abcd abcd", other="abcd abce", token=3, key_token=1)
    healthy(app.run())
    ((page, _arrays),) = sent_to(app, "why")
    assert "there is no change to explain" in page["because"]
    # The last letter of each differs, though the text has its "d" before it too, as the twin has.
    marked, in_twin = (line["swapped"] for line in page["lines"])
    assert len(marked) == 1
    assert marked == in_twin
    assert not sent_to(app, "trail_picture")

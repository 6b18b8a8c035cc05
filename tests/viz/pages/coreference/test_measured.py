"""Heads measured on pronouns: the page, its sentences against the figures, its tables, maps, and files that are bad."""

import base64
import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from model import Translator
from model.analysis.coreference.case_files import curated_cases
from model.analysis.coreference.cases import PronounCases
from model.analysis.coreference.measure_translator import CoreferenceScores, measure_coreference
from model.analysis.metrics.head_names import LayerHead
from model.errors import DataError
from tests.paths import ROOT
from tests.viz.sent import charts
from viz.access import models
from viz.pages.coreference import data
from viz.pages.coreference.figures import head_map
from viz.pages.coreference.measured import figures, findings, tab, tables
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection

GOOD = "Tom told Anna that he was late.\the\tTom\tAnna"


@pytest.fixture(scope="module")
def few() -> PronounCases:
    """Every seventh pair of the curated set, so that all groups and some controls are there."""
    cases = curated_cases().cases
    names = sorted({case.pair for case in cases})[::7]
    return PronounCases(tuple(case for case in cases if case.pair in names))


@pytest.fixture(scope="module")
def scores(translator: Translator, few: PronounCases) -> CoreferenceScores:
    return measure_coreference(translator, few)


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch, few: PronounCases) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    # What another test measured would be there already.
    st.cache_resource.clear()
    given = data.CaseSet("the curated set", few, "few")
    monkeypatch.setattr(data, "curated", lambda: given)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["lab"] = "Measured"
    return app


def opened(app: AppTest, **params: str) -> AppTest:
    for name, value in params.items():
        app.query_params[name] = str(value)
    app.run()
    app.switch_page("viz/pages/coreference/page.py").run()
    assert not app.exception, app.exception[0].value
    return app


def measured(app: AppTest) -> AppTest:
    """Press the button and wait for the end."""
    app.button(key="measured-start").click().run()
    assert app.session_state["long-work/measured"].wait(60)
    return app.run()


def read(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(content.decode("utf-8-sig").splitlines()))


def test_the_page_measures_the_curated_set_and_shows_what_python_measures(
    app: AppTest, scores: CoreferenceScores
) -> None:
    measured(opened(app))
    assert not app.error
    shown = [one.value for one in app.markdown]
    for site in scores.sites.values():
        assert findings.verdict(site) in shown
    # Two maps, a ladder and groups for each site, and the margins.
    assert len(charts(app)) == 4 * len(scores.sites) + 1
    site = scores.sites["encoder.self"]
    figure = head_map(site.accuracy.value.numpy(), title="accuracy", centre=0.5, floor=0.1)
    assert charts(app)[0]["data"][0]["z"] == json.loads(figure.to_json())["data"][0]["z"]


def test_a_result_is_kept_for_whoever_comes_back(app: AppTest) -> None:
    measured(opened(app))
    first = app.session_state["long-work/measured"]
    app.switch_page("viz/pages/decoding/page.py").run()
    app.switch_page("viz/pages/coreference/page.py").run()
    assert app.session_state["long-work/measured"] is first
    assert charts(app)


def test_other_weights_need_a_measurement_of_their_own(app: AppTest) -> None:
    opened(app, measure="rollout")
    assert not charts(app)
    assert app.button(key="measured-start").label == "Measure"


@pytest.mark.parametrize(("measure", "columns"), [("norms", 4), ("rollout", 1)])
def test_norms_have_a_column_a_head_and_rollout_one_for_all(app: AppTest, measure: str, columns: int) -> None:
    measured(opened(app, measure=measure))
    assert not app.error
    heatmap = charts(app)[0]["data"][0]
    assert np.asarray(numbers_of(heatmap)).shape == (2, columns)


def numbers_of(heatmap: dict[str, Any]) -> np.ndarray:
    """The numbers of a heatmap, which plotly may have packed."""
    z = heatmap["z"]
    if isinstance(z, dict):
        return np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape(tuple(map(int, z["shape"].split(","))))
    return z


@pytest.mark.parametrize(("low", "said"), [(0.02, "A head beats"), (-0.01, "No head reliably beats")])
def test_the_verdict_follows_the_interval_of_the_gain(scores: CoreferenceScores, low: float, said: str) -> None:
    site = scores.sites["encoder.self"]
    sure = [
        replace(one, gain=replace(one.gain, value=torch.tensor(0.1), low=torch.tensor(low))) for one in site.held_out
    ]
    assert site.held_out
    told = findings.verdict(replace(site, held_out=tuple(sure)))
    assert said in told
    assert ("which excludes" in told) == (low > 0)


def test_heads_are_named_from_one_and_rollout_names_layers(scores: CoreferenceScores) -> None:
    site = scores.sites["encoder.self"]
    assert findings.head_name(site, *LayerHead(1, 2)) == "head 3 of layer 2"
    assert findings.head_name(replace(site, measure="rollout"), 1, 0) == "layer 2"


def test_the_summary_says_what_the_scores_say(scores: CoreferenceScores) -> None:
    lines = {what: (encoder, cross) for what, encoder, cross in findings.summary(scores)}
    nearest = scores.sites["encoder.self"].baselines.nearest
    assert lines["Nearest candidate"][0] == f"{100 * nearest:.1f} %"
    assert scores.contrast is not None
    accuracy = float(scores.contrast.accuracy.value)
    assert lines["The model prefers the right German pronoun"][0].startswith(f"{100 * accuracy:.1f} %")


def test_the_table_of_heads_holds_every_head_with_the_ends_of_its_interval(scores: CoreferenceScores) -> None:
    rows = [row for row in read(tables.heads(scores)) if row["site"] == "encoder.self"]
    site = scores.sites["encoder.self"]
    assert len(rows) == site.accuracy.value.numel()
    for row in rows:
        place = int(row["layer"]), int(row["head"])
        found = [float(row[name]) for name in ("accuracy", "accuracy_low", "accuracy_high")]
        assert found == list(site.accuracy.at(*place))


def test_the_table_of_sentences_gives_back_the_accuracy_of_a_head(scores: CoreferenceScores) -> None:
    rows = [r for r in read(tables.rows(scores)) if (r["site"], r["layer"], r["head"]) == ("encoder.self", "1", "2")]
    site = scores.sites["encoder.self"]
    right = [np.sign(float(r["weight_on_antecedent"]) - float(r["weight_on_distractor"])) / 2 + 0.5 for r in rows]
    assert len(rows) == len(site.cases)
    assert np.mean(right) == pytest.approx(float(site.accuracy.value[1, 2]), abs=1e-6)


def test_margins_are_written_with_the_german_they_compare(scores: CoreferenceScores) -> None:
    rows = read(tables.contrast(scores))
    assert scores.contrast is not None
    assert [float(row["margin_nats"]) for row in rows] == scores.contrast.margins.tolist()
    assert rows[0]["right"] != rows[0]["wrong"]


def test_a_map_is_dark_at_its_centre_and_reaches_as_far_as_the_largest_deviation() -> None:
    figure = head_map(np.array([[0.5, 0.75], [0.4, 0.5]]), title="accuracy", centre=0.5, floor=0.1)
    heatmap = figure.data[0]
    assert (heatmap.zmin, heatmap.zmax) == (0.25, 0.75)
    flat = head_map(np.full((2, 2), 0.52), title="accuracy", centre=0.5, floor=0.1).data[0]
    assert (flat.zmin, flat.zmax) == (0.4, 0.6)


def test_a_ladder_puts_the_most_accurate_head_first_and_keeps_its_interval() -> None:
    values = np.array([0.4, 0.9, 0.6])
    figure = figures.head_ladder(
        ["1·1", "1·2", "1·3"], values, values - 0.1, values + 0.05, {"chance": 0.5, "nearest candidate": 0.45}
    )
    points = figure.data[-1]
    assert list(figure.layout.xaxis.ticktext) == ["1·2", "1·3", "1·1"]
    assert list(points.y) == [0.9, 0.6, 0.4]
    np.testing.assert_allclose(points.error_y.array, 0.05)
    np.testing.assert_allclose(points.error_y.arrayminus, 0.1)
    assert [line.y[0] for line in figure.data[:-1]] == [0.5, 0.45]


def test_sentences_in_a_hover_are_not_read_as_html() -> None:
    figure = figures.margin_bars(np.array([1.0]), ["<b>it</b>"])
    assert figure.data[0].customdata[0] == "&lt;b&gt;it&lt;/b&gt;"


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"", "a.tsv", "it is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "a.tsv", "UTF-8"),
        (b"no columns\nnone here", "a.tsv", "expected 4 or 6 columns"),
        (b"{}", "a.exe", "Expected a file .jsonl"),
        (b"x" * (17 * 1024 * 1024), "a.jsonl", "too large"),
    ],
    ids=["empty", "binary", "all bad", "ending", "huge"],
)
def test_a_file_that_cannot_be_used_is_refused_with_a_reason(content: bytes, name: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        data.read_cases(content, name)


def test_bad_lines_are_kept_with_their_numbers_and_the_good_ones_used() -> None:
    given = data.read_cases(f"{GOOD}\nbad\n".encode(), "mine.tsv")
    assert len(given.cases.cases) == 1
    assert [line.number for line in given.cases.rejected] == [2]


def test_files_with_other_content_are_other_sets() -> None:
    first, again, second = (data.read_cases(text.encode(), "a.tsv").digest for text in (GOOD, GOOD, GOOD + "\n"))
    assert first == again != second


def test_what_a_file_looks_like_is_a_file_that_can_be_read() -> None:
    line = next(line for line in tab.FORMATS.split("`") if line.startswith("{"))
    assert len(data.read_cases(line.encode(), "a.jsonl").cases.cases) == 1
    winobias = "1 [The developer] argued with the designer because [she] did not like the design."
    assert winobias in tab.FORMATS
    partner = winobias.replace(
        "1 [The developer] argued with the designer", "2 The developer argued with [the designer]"
    )
    assert len(data.read_cases(f"{winobias}\n{partner}".encode(), "a.txt").cases.cases) == 2


def test_a_task_is_another_one_for_another_set_or_measure(
    tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch, few: PronounCases
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    given = data.CaseSet("few", few, "few")
    tasks = {
        data.scores_task(one, models.reader(Selection().model), measure).key
        for one in (given, replace(given, digest="other"))
        for measure in ("weights", "norms")
    }
    assert len(tasks) == 4

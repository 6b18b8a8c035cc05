"""Heads measured on pronouns: what the page shows, and the sentences that say what the scores say."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from model.analysis.coreference.case_files import PronounCases
from model.analysis.coreference.measure import CoreferenceScores
from model.analysis.metrics.head_metrics import LayerHead
from tests.patience import PATIENCE
from tests.viz import page_run
from tests.viz.page_run import app_of
from tests.viz.sent import charts, unlinked
from viz.access import models
from viz.pages.coreference import data, tables
from viz.pictures.figures.heads import head_map
from viz.selection.catalogue import ROOT_VARIABLE


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch, few: PronounCases) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    # What another test measured would be there already.
    st.cache_resource.clear()
    given = data.CaseSet("the curated set", few, "few")
    monkeypatch.setattr(data, "curated", lambda _: given)
    return app_of(lab="Measured")


def opened(app: AppTest, **params: str) -> AppTest:
    return page_run.opened(app, "coreference", **params)


def measured(app: AppTest) -> AppTest:
    """Wait for the end of what begins by itself."""
    assert app.session_state["long-work/measured"].wait(PATIENCE)
    return app.run()


def test_the_page_measures_the_curated_set_and_shows_what_python_measures(
    app: AppTest, scores: CoreferenceScores
) -> None:
    for part in (*(f"{site}-heads" for site in scores.sites), "preference"):
        app.session_state[f"measured-{part}"] = True
    measured(opened(app))
    assert not app.error
    assert [one.value for one in app.subheader] == ["Encoder self-attention: the pronoun's own row"]
    assert not any("The set included with Headlight is in English" in unlinked(one.value) for one in app.info)
    shown = [unlinked(one.value) for one in app.markdown]
    for site in scores.sites.values():
        assert unlinked(tables.verdict(site)) in shown
    assert any(text.startswith("In the pair above, the most accurate head") for text in shown)
    # Two maps and the groups for each site, and the margins.
    assert len(charts(app)) == 3 * len(scores.sites) + 1
    site = scores.sites["encoder.self"]
    figure = head_map(site.accuracy.value.numpy(), title="accuracy", centre=0.5, floor=0.1)
    assert charts(app)[0]["data"][0]["z"] == json.loads(figure.to_json())["data"][0]["z"]
    # What was found is said first.
    (said,) = (place for place, text in enumerate(shown) if unlinked(tables.first_sentence(scores)) in text)
    assert said < min(shown.index(unlinked(tables.verdict(site))) for site in scores.sites.values())
    # Every accuracy is drawn on one scale.
    maps = [one["data"][0] for one in charts(app) if "colorbar" in one["data"][0]]
    for title in {one["colorbar"]["title"]["text"] for one in maps}:
        of_title = [one for one in maps if one["colorbar"]["title"]["text"] == title]
        assert len({(one["zmin"], one["zmax"]) for one in of_title}) == 1, title
    # A result is kept for whoever comes back.
    first = app.session_state["long-work/measured"]
    app.switch_page("viz/pages/decoding/page.py").run()
    app.switch_page("viz/pages/coreference/page.py").run()
    assert app.session_state["long-work/measured"] is first
    assert charts(app)


def test_a_large_model_measures_when_it_is_asked_and_says_before_how_long(
    app: AppTest, few: PronounCases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "LARGEST_UNASKED", 1_000)
    page_run.healthy(opened(app))
    assert "long-work/measured" not in app.session_state
    button = app.button(key="measured-start")
    assert re.fullmatch(rf"Measure {len(few.cases)} sentences, about [\d,]+ s", button.label)
    button.click().run()
    page_run.healthy(measured(app))
    assert charts(app)
    assert "measured-start" not in {one.key for one in app.button}


@pytest.mark.parametrize("taught", [10.0, 0.0])
def test_a_head_that_was_taught_to_follow_the_pronoun_is_not_taken_for_found(
    app: AppTest, trained_with: Callable[[dict[str, float]], None], taught: float
) -> None:
    trained_with({"taught": taught, "taught_layer": 1, "taught_head": 2})
    shown = measured(opened(app))
    said = [unlinked(caption.value) for caption in shown.caption if "was taught, not found" in caption.value]
    assert [text.startswith("**L2 H3 was taught") for text in said] == ([True] if taught else [])


@pytest.mark.parametrize(
    ("lows", "said", "better"),
    [
        ((0.02, 0.02), "A head beats the nearest candidate, whichever", 2),
        ((0.02, -0.01), "in only one of the two halves", 1),
        ((-0.01, -0.01), "No head reliably beats", 0),
    ],
)
def test_the_verdict_follows_the_interval_of_the_gain(
    scores: CoreferenceScores, lows: tuple[float, float], said: str, better: int
) -> None:
    site = scores.sites["encoder.self"]
    sure = [
        replace(one, gain=replace(one.gain, value=torch.tensor(0.1), low=torch.tensor(low)))
        for one, low in zip(site.held_out, lows, strict=True)
    ]
    verdict = tables.verdict(replace(site, held_out=tuple(sure)))
    assert said in verdict
    assert verdict.count("so they are not equally good") == better
    # In points of 100.
    assert verdict.count("+10.0 points (+2.0 to") == better


def test_the_summary_says_what_the_scores_say(scores: CoreferenceScores) -> None:
    lines = {what: (encoder, cross) for what, encoder, cross in tables.summary(scores)}
    nearest = scores.sites["encoder.self"].baselines.nearest
    assert lines["Nearest candidate"][0] == f"{100 * nearest:.1f}%"
    first, second = sorted(scores.sites["encoder.self"].held_out, key=lambda one: one.chosen_on)
    for half, rest, one in (("first", "second", first), ("second", "first", second)):
        head = f"L{one.head.layer + 1} H{one.head.head + 1}"
        share = f"{100 * float(one.accuracy.value):.1f}%"
        assert lines[f"Best head of the {half} half, tested on the {rest} half"][0].startswith(f"{head}: {share}")
    # What reads and what writes have a column each; of a decoder alone there is the row that reads.
    site = scores.sites["encoder.self"]
    other = replace(site, baselines=replace(site.baselines, nearest=0.125))
    for sites, shown in (
        ({"encoder.self": site, "decoder.cross": other}, [f"{100 * nearest:.1f}%", "12.5%"]),
        ({"decoder.self": other}, ["12.5%", tables.ABSENT]),
    ):
        of_sites = {what: columns for what, *columns in tables.summary(replace(scores, sites=sites))}
        assert of_sites["Nearest candidate"] == shown
    assert scores.contrast is not None
    accuracy = float(scores.contrast.accuracy.value)
    assert lines["The model prefers the right German pronoun"][0].startswith(f"{100 * accuracy:.1f}%")


def test_the_first_sentence_names_a_head_only_where_it_beats_the_nearest_noun(scores: CoreferenceScores) -> None:
    site = scores.sites["encoder.self"]

    def verdict(low: float) -> str:
        held_out = tuple(
            replace(
                one,
                head=LayerHead(1, 2),
                accuracy=replace(one.accuracy, value=torch.tensor(0.75)),
                gain=replace(one.gain, low=torch.tensor(low)),
            )
            for one in site.held_out
        )
        return tables.first_sentence(replace(scores, sites={"encoder.self": replace(site, held_out=held_out)}))

    assert "No head reliably follows" in verdict(-0.01)
    assert "L2 H3" in verdict(0.02)
    assert "75.0%" in verdict(0.02)

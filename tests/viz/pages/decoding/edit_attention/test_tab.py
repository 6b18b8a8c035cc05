"""The tab that edits attention: what is tried is what the model's own comparison says, and can be kept as a branch."""

import time
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import SwitchOff, Translator
from model.analysis.attribution.choice import choice_at
from model.analysis.interventions.edit_comparison import compare_edit
from model.analysis.interventions.head_verdict import against_other, head_verdict
from model.analysis.metrics.head_names import HeadName
from tests.paths import ROOT
from tests.patience import PATIENCE
from tests.viz.page_run import app_of, healthy, opened
from tests.viz.reading import traced
from tests.viz.sent import charts
from viz.access import models
from viz.pages.decoding.data import branches, effects
from viz.pages.decoding.edit_attention import tab as edit_attention
from viz.selection.branch_codes import EditHead
from viz.selection.selection import Selection
from viz.server.background_jobs import Progress
from viz.text.numbers import signed
from viz.text.sites import SITES
from viz.ui.controls import plain

TEXT = "Tom was late again."


@pytest.fixture
def saved(tiny_checkpoints: Path) -> Translator:
    """The translator as the page loads it: a checkpoint is rounded when it is saved."""
    return Translator.load(tiny_checkpoints / "en-de", device="cpu")


def editing(**params: str) -> AppTest:
    chosen = {"text": TEXT, "studio": "Edit attention", "site": "decoder.cross", "layer": "1", "head": "2", "step": "5"}
    return opened(app_of(**{**chosen, **params}), "decoding")


def numbers(app: AppTest) -> str:
    return next(element.value for element in app.markdown if element.value.startswith("Log-probability"))


def test_the_numbers_are_those_of_the_models_own_comparison(saved: Translator) -> None:
    compared = compare_edit(saved, TEXT, 5, [SwitchOff("decoder.cross", 1, 2, since=5)])
    shown = numbers(editing()).replace("−", "-")
    assert f"{compared.log_prob_before:.3f} → **{compared.log_prob_after:.3f}**" in shown
    assert f"**{compared.log_prob_change:+.3f}** nats" in shown or abs(compared.log_prob_change) < 0.0005


def test_the_verdict_of_the_head_is_that_of_the_model_without_the_edit(saved: Translator) -> None:
    app = editing(other="Tom was here again.")
    assert app.session_state["long-work/edit-verdict"].wait(60)
    healthy(app.run())
    trace, head = saved.trace(TEXT), HeadName("decoder.cross", 1, 2)
    choice, place = against_other(saved, choice_at(trace, 5), TEXT, "Tom was here again.")
    verdict = head_verdict(saved, choice, head, trace, place)
    assert verdict.swapped is not None
    (shown,) = [one.value for one in app.markdown if "switched off" in one.value and "nats" in one.value]
    for found in (verdict.off, verdict.swapped, verdict.pointed):
        assert found is not None
        assert plain(f"({signed(found.change, 1)} nats)") in shown


def keys_to_point_at(app: AppTest) -> list[str]:
    """What the keys are chosen from reads: buttons, or a list where there are many."""
    (choice,) = [one for one in (*app.pills, *app.selectbox) if one.key == "key_token"]
    return choice.options


@pytest.mark.parametrize(("most", "option"), [(60, "1 · \\\\u202e"), (1, "1 · \\u202e")])
def test_tokens_to_point_at_are_read_as_markdown_by_buttons_only(
    monkeypatch: pytest.MonkeyPatch, most: int, option: str
) -> None:
    monkeypatch.setattr(edit_attention, "MAX_PILLS", most)
    monkeypatch.setattr(edit_attention, "display_token", lambda token: "\\u202e")
    assert keys_to_point_at(editing(edit="point"))[0] == option


def test_a_button_makes_the_branch_and_shows_it() -> None:
    app = editing()
    healthy(app.button(key="keep-edit").click().run())
    assert app.query_params["branches"] == "0-5-off-c-1-2"
    assert (app.query_params["branch"], app.query_params["step"]) == ("1", "5")
    assert app.button(key="keep-edit").label == "This is branch 1"
    assert app.button(key="keep-edit").disabled


@pytest.mark.parametrize(
    ("edit", "params", "code"),
    [
        ("uniform", {"once": "True"}, "0-5-uniform-c-1-2-once"),
        ("point", {"key_token": "3"}, "0-5-point-c-1-2-3"),
        ("point", {"key_token": "3", "site": "decoder.self"}, "0-5-point-d-1-2-3"),
        ("point", {"key_token": "900", "site": "encoder.self"}, "0-5-point-e-1-2-0"),
        ("off", {"once": "True", "site": "encoder.self"}, "0-5-off-e-1-2"),
    ],
)
def test_every_edit_of_every_attention_can_be_kept(edit: str, params: dict[str, str], code: str) -> None:
    app = editing(edit=edit, **params)
    healthy(app.button(key="keep-edit").click().run())
    assert app.query_params["branches"] == code


def test_another_edit_of_the_same_step_is_tried_in_place_of_the_one_shown_or_in_addition() -> None:
    app = editing(branches="0-5-off-c-1-2", branch="1", head="3")
    healthy(app.button(key="keep-edit").click().run())
    assert app.query_params["branches"] == "0-5-off-c-1-2.0-5-off-c-1-3"
    app = editing(branches="0-5-off-c-1-2", branch="1", head="3")
    app.toggle(key="edit/added").set_value(True).run()
    healthy(app.button(key="keep-edit").click().run())
    assert app.query_params["branches"] == "0-5-off-c-1-2.1-5-off-c-1-3"


def test_a_row_points_at_keys_that_the_mask_allows_only() -> None:
    app = editing(edit="point", site="decoder.self")
    assert len(keys_to_point_at(app)) == 6


@pytest.mark.parametrize(("edit", "expected"), [("off", 0.0), ("uniform", 1.0), ("point", 1.0)])
def test_the_row_before_and_after_is_that_of_the_traces(saved: Translator, edit: str, expected: float) -> None:
    app = editing(edit=edit, key_token="3")
    before, after = (np.array(bars["y"]) for bars in charts(app)[0]["data"][:2])
    own = traced(TEXT, Selection().changed(checkpoint="en-de"))
    np.testing.assert_allclose(before, own.weights("decoder.cross", 1, [2], [5])[0, 0], atol=1e-6)
    assert after.sum() == pytest.approx(expected, abs=1e-5)
    if edit == "point":
        assert after[3] == 1
    if edit == "uniform":
        np.testing.assert_allclose(after, 1 / len(after), atol=1e-6)


def test_it_opens_on_an_edit_that_makes_the_token_least_probable() -> None:
    writer = models.writer(Selection().changed(checkpoint="en-de").model)
    token_id = branches.grow(branches.Sessions(), writer, TEXT, ()).steps[5].token_id

    def log_prob(edit: EditHead) -> float:
        return branches.log_prob(branches.Sessions(), writer, TEXT, ((5, edit),), 5, token_id)

    found = effects.strongest_edit(writer, TEXT, 5, "decoder.cross")
    assert found is not None
    others = [EditHead("off", "decoder.cross", layer, head) for layer in range(2) for head in range(4)]
    others += [EditHead("point", "decoder.cross", found.layer, found.head, key) for key in range(3)]
    assert log_prob(found) <= min(map(log_prob, others)) + 1e-5
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    for name, value in {"text": TEXT, "studio": "Edit attention", "step": "5"}.items():
        app.query_params[name] = value
    app.run()
    healthy(app.switch_page("viz/pages/decoding/page.py").run())
    assert app.selectbox(key="layer").value == found.layer
    assert app.selectbox(key="head").value == found.head
    assert app.segmented_control(key="edit").value == found.edit
    assert any("This opens on the edit" in caption.value for caption in app.caption)
    # What the page proposes is in no address.
    assert not {"site", "layer", "head", "edit"} & set(app.query_params)


@pytest.mark.parametrize("site", SITES)
def test_the_map_of_heads_is_that_of_edits_made_one_by_one(saved: Translator, site: str) -> None:
    writer = models.writer(Selection().changed(checkpoint="en-de").model)
    path = ((2, EditHead("uniform", "decoder.cross", 0, 0)),)
    task = effects.effects_of_heads(branches.Sessions(), writer, TEXT, (), 5, site)
    progress = Progress(task.total, task.unit)
    found = task.compute(progress)
    for layer, head in ((0, 0), (1, 3)):
        compared = compare_edit(saved, TEXT, 5, [SwitchOff(site, layer, head)])
        assert found[layer, head] == pytest.approx(compared.log_prob_change, abs=1e-4)
    assert progress.done == task.total == 8
    # In a branch, its own edits stay in force.
    in_branch = effects.effects_of_heads(branches.Sessions(), writer, TEXT, path, 5, site)
    assert not np.allclose(found, in_branch.compute(Progress(8, "heads")))


def maps_of_heads(app: AppTest) -> list[list[int]]:
    """Layers and heads of each map of heads."""
    heatmaps = (chart["data"][0] for chart in charts(app) if chart["data"][0]["type"] == "heatmap")
    return [np.array(heatmap["customdata"]["shape"].split(", "), int).tolist() for heatmap in heatmaps]


def awaiting_the_map(app: AppTest) -> AppTest:
    until = time.monotonic() + PATIENCE
    while not maps_of_heads(app) and time.monotonic() < until:
        healthy(app.run())
    return app


def test_the_map_of_a_decoders_heads_is_there_without_a_click() -> None:
    assert maps_of_heads(awaiting_the_map(editing())) == [[2, 4]]


def test_the_map_of_the_encoders_is_drawn_when_it_is_asked_for_and_stays() -> None:
    app = editing(site="encoder.self")
    assert maps_of_heads(app) == []
    healthy(app.button(key="each-head-start").click().run())
    assert maps_of_heads(awaiting_the_map(app)) == [[2, 4]]
    healthy(app.run())
    assert maps_of_heads(app) == [[2, 4]]

"""The opened head on its page: measures, words and special tokens, as heatmap and as lines, and what a link says."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from viz import derived, loader
from viz.choices import MEASURES as MEASURE_NAMES
from viz.choices import SITES, Selection
from viz.components.head_lines import LinesPlace
from viz.figures.heads import head_heatmap
from viz.loader import ROOT_VARIABLE
from viz.measures import MEASURES
from viz.tabs import opened_head

ROOT = Path(__file__).parents[2]
TEXT = "Tom told me that he would be late."


@pytest.fixture
def app(tiny_checkpoints, monkeypatch):
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["text"] = TEXT
    return app


def opened(app, **params):
    for name, value in params.items():
        app.query_params[name] = str(value)
    app.run()
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    return app


def heatmap(app):
    (chart,) = app.get("plotly_chart")
    return json.loads(chart.proto.spec)


def lines(app):
    payload = app.get("bidi_component")[-1].proto.bytes
    (length,) = struct.unpack("<I", payload[:4])
    header = json.loads(payload[4 : 4 + length])
    shape = len(header["headNames"]), len(header["queryTokens"]), len(header["keyTokens"])
    return header, (np.frombuffer(payload[4 + length :], "<u2").reshape(shape) / 65535) ** 2 * header["top"]


def captions(app):
    return " ".join(element.value for element in app.caption)


def layer_of(app, **choices):
    selection = Selection(checkpoint="en-de", text=TEXT, **choices)
    trace = loader.trace(TEXT, selection)
    return trace, derived.opened_layer(trace, selection.site, selection.layer, selection)


# ---- the numbers ----


@pytest.mark.parametrize("site", SITES)
def test_opened_weights_are_those_of_the_trace(app, site):
    trace, layer = layer_of(app, site=site, layer=1)
    np.testing.assert_array_equal(layer.values, trace.weights(site, 1).numpy())
    assert (layer.queries.labels, layer.keys.labels) == trace.axis_tokens(site)
    assert not layer.values.flags.writeable


@pytest.mark.parametrize("site", SITES)
def test_norms_are_weights_times_one_length_a_key(app, site):
    trace, norms = layer_of(app, site=site, measure="norms")
    weights = trace.weights(site, 0).numpy()
    with np.errstate(invalid="ignore"):
        lengths = norms.values / weights
    for head in lengths:
        assert np.nanstd(head, axis=0).max() < 1e-4


@pytest.mark.parametrize("site", SITES)
def test_a_rollout_is_one_matrix_whose_rows_sum_to_one(app, site):
    _, rollout = layer_of(app, site=site, measure="rollout", layer=1)
    assert len(rollout.values) == 1
    np.testing.assert_allclose(rollout.values.sum(-1), 1, atol=1e-5)


def test_words_sum_over_keys_and_special_tokens_leave_both_sides(app):
    _, layer = layer_of(app, site="decoder.cross", words=True)
    np.testing.assert_allclose(layer.values.sum(-1), 1, atol=1e-5)
    assert layer.keys.labels == (*TEXT.split(), "</s>")
    _, hidden = layer_of(app, site="decoder.cross", words=True, special=False)
    assert hidden.keys.labels == tuple(TEXT.split())
    assert "<s>" not in hidden.queries.labels
    assert (hidden.values.sum(-1) < 1).any()


# ---- the page ----


@pytest.mark.parametrize("drawn", ["Heatmap", "Lines"])
@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("measure", MEASURE_NAMES)
def test_every_measure_is_drawn_and_explained(app, measure, site, drawn):
    opened(app, measure=measure, site=site, drawn=drawn)
    meaning, formula = MEASURES[measure].explained_at(site)
    assert meaning in captions(app)
    assert f"${formula}$" in captions(app)
    assert len(app.get("plotly_chart")) == (drawn == "Heatmap")
    assert len(app.get("bidi_component")) == 1 + (drawn == "Lines")


def test_the_lines_hold_what_the_heatmap_holds(app):
    opened(app, layer=1, head=2, also="0.3", drawn="Lines", threshold=20, token=3)
    header, values = lines(app)
    _, layer = layer_of(app, layer=1)
    np.testing.assert_allclose(values, layer.values, atol=1e-4)
    command = header["command"]
    assert (command["heads"], command["query"], command["threshold"]) == ([0, 2, 3], 3, 20)
    assert header["fileName"].startswith("headlight-encoder-self-layer1-weights-")
    app.segmented_control(key="drawn").set_value("Heatmap").run()
    figure = heatmap(app)
    assert "Layer 2 · Head 3" in figure["data"][0]["hovertemplate"]
    assert (figure["layout"]["shapes"][0]["y0"], figure["layout"]["shapes"][0]["y1"]) == (2.5, 3.5)
    assert app.query_params["also"] == "0.3"
    assert app.query_params["threshold"] == "20"


@pytest.mark.parametrize("drawn", ["Heatmap", "Lines"])
def test_hidden_special_tokens_and_joined_words_are_said(app, drawn):
    opened(app, drawn=drawn)
    assert "do not sum to 1" not in captions(app)
    app.toggle(key="special").set_value(False)
    app.toggle(key="words").set_value(True).run()
    assert "rows do not sum to 1" in captions(app)
    assert "keys are summed and queries averaged" in captions(app)
    if drawn == "Lines":
        assert lines(app)[0]["keyTokens"] == TEXT.split()
    assert (app.query_params["special"], app.query_params["words"]) == ("False", "True")


def test_a_rollout_says_that_it_has_no_head_and_keeps_the_chosen_one(app):
    opened(app, measure="rollout", head=2, drawn="Lines")
    assert app.selectbox(key="head").disabled
    assert lines(app)[0]["headNames"] == ["All heads"]
    assert "no head to choose" in captions(app)
    app.segmented_control(key="measure").set_value("norms").run()
    assert not app.selectbox(key="head").disabled
    assert lines(app)[0]["command"]["heads"] == [2]


def test_norms_have_a_scale_of_their_own_and_the_hover_says_so(app):
    opened(app, measure="norms")
    _, layer = layer_of(app, measure="norms")
    data = heatmap(app)["data"][0]
    assert "no upper bound" in data["hovertemplate"]
    assert data["colorbar"]["ticktext"][-1] == f"{layer.values.max():.2g}"


def test_a_link_with_heads_and_tokens_that_do_not_exist_still_opens(app):
    opened(app, also="1.99", token=4000, threshold=5000, drawn="Lines")
    command = lines(app)[0]["command"]
    assert (command["heads"], command["query"], command["threshold"]) == ([0, 1], None, 100)


def test_what_a_person_does_to_the_lines_becomes_the_selection(app, monkeypatch):
    _, layer = layer_of(app, words=True)
    stored = [Selection(text=TEXT, words=True, head=1, also=(2,), token=2)]
    monkeypatch.setattr(opened_head.state, "current", lambda: stored[-1])
    monkeypatch.setattr(opened_head.state, "put", stored.append)
    take = opened_head._take
    here = layer.queries.place_of(2)
    # The open head stays while it is on, and so does a token within the word that is kept.
    take(LinesPlace((0, 1), query=here, threshold=9), layer, MEASURES["weights"])
    assert (stored[-1].head, stored[-1].also, stored[-1].token, stored[-1].threshold) == (1, (0,), 2, 9)
    take(LinesPlace((0, 3), query=None), layer, MEASURES["weights"])
    assert (stored[-1].head, stored[-1].also, stored[-1].token) == (0, (3,), None)
    last = len(layer.queries.groups) - 1
    take(LinesPlace((0,), query=last), layer, MEASURES["rollout"])
    assert (stored[-1].head, stored[-1].also) == (0, (3,))
    assert stored[-1].token == layer.queries.groups[last][0]


# ---- the figure ----


def test_a_heatmap_of_large_numbers_is_coloured_by_their_share_of_the_top():
    values = np.array([[0.0, 2.0], [8.0, 4.0]], np.float32)
    figure = head_heatmap(values, "ab", "cd", number="norm", top=8.0, note="no upper bound")
    np.testing.assert_allclose(figure.data[0].z, np.sqrt(values / 8))
    np.testing.assert_array_equal(figure.data[0].customdata, values)
    assert "norm %{customdata:.4f}" in figure.data[0].hovertemplate
    assert not figure.layout.shapes

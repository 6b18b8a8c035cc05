"""The opened head: measures, words and special tokens, as heatmap and as lines, and what the lines may send back."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import later
from model.trace.trace import Trace
from tests.viz.page_run import app_of, opened, traced
from tests.viz.sent import sent_to, unlinked, unpack
from viz.access import attention, models
from viz.access.attention import MatrixView, OpenedLayer
from viz.pages.attention.opened_head.lines_component import LinesData, LinesView, read_view
from viz.pictures.payload import digest, pack
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import MEASURE_NAMES as MEASURE_NAMES
from viz.selection.selection import Selection
from viz.text.written import SITES, percent
from viz.ui.head_metrics import MEASURES

TEXT = "Tom told me that he would be late."
#: Its keys where sinks are left out.
FREE = TEXT.removesuffix(".").split()


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return app_of(text=TEXT)


def heatmap(app: AppTest) -> tuple[dict[str, Any], np.ndarray]:
    ((header, (values,)),) = sent_to(app, "matrix_picture")
    return header, values.reshape(len(header["rowTokens"]), len(header["columnTokens"]))


def lines(app: AppTest) -> tuple[dict[str, Any], np.ndarray]:
    ((header, (stored,)),) = sent_to(app, "head_lines")
    shape = len(header["headNames"]), len(header["queryTokens"]), len(header["keyTokens"])
    return header, (stored.reshape(shape) / 65535) ** 2 * header["top"]


def captions(app: AppTest) -> str:
    return unlinked(" ".join(unlinked(element.value) for element in app.caption))


def layer_of(app: AppTest, **choices: bool | int | str) -> tuple[Trace, OpenedLayer]:
    selection = Selection().changed(checkpoint="en-de", text=TEXT, **choices)
    trace = traced(TEXT, selection)
    common, reader = selection.common, models.reader(selection.model)
    return trace, attention.opened_layer(trace, reader, common.site, common.layer, MatrixView.of(common))


# ---- the numbers ----


def test_words_sum_over_keys_and_sinks_leave_them_and_special_tokens_both_sides(app: AppTest) -> None:
    trace, layer = layer_of(app, site="decoder.cross")
    np.testing.assert_allclose(layer.values.sum(-1), 1, atol=1e-5)
    assert layer.keys.labels == (*TEXT.split(), "</s>")
    # A row of cross-attention is of the tokens that write its word: none is averaged into the next word's.
    written = later.axes.whole_words([*trace.target_tokens[1:], "</s>"])
    assert layer.queries.groups == written.groups
    assert any(len(group) > 1 for group in written.groups)
    assert [label.split(" → ")[1] for label in layer.queries.labels] == list(written.labels)
    _, hidden = layer_of(app, site="decoder.cross", sinks=False)
    assert hidden.keys.labels == tuple(FREE)
    assert "<s>" not in hidden.queries.labels
    # What is left has the weights that it had.
    np.testing.assert_array_equal(hidden.values[:, :, :-1], layer.values[:, : hidden.values.shape[1], : len(FREE) - 1])
    assert (hidden.values.sum(-1) < 1).all()


# ---- the page ----


@pytest.mark.parametrize(("site", "drawn"), tuple(zip(SITES, ("Heatmap", "Lines", "Heatmap"), strict=True)))
@pytest.mark.parametrize("measure", MEASURE_NAMES)
def test_every_measure_is_drawn_and_explained(app: AppTest, measure: str, site: str, drawn: str) -> None:
    opened(app, measure=measure, site=site, drawn=drawn)
    meaning, formula = MEASURES[measure].explained_at(site)
    assert meaning in captions(app)
    assert formula in captions(app)
    assert len(sent_to(app, "matrix_picture")) == (drawn == "Heatmap")
    assert len(sent_to(app, "head_lines")) == (drawn == "Lines")
    assert not app.get("plotly_chart")


def test_the_lines_hold_what_the_heatmap_holds(app: AppTest) -> None:
    opened(app, layer=1, head=2, also="0.3", drawn="Lines", threshold=20, token=3, words=0)
    header, values = lines(app)
    _, layer = layer_of(app, layer=1, whole_words=False)
    np.testing.assert_allclose(values, layer.values, atol=1e-4)
    command = header["command"]
    assert (command["heads"], command["query"], command["threshold"]) == ([0, 2, 3], 3, 20)
    assert header["fileName"].startswith("headlight-encoder-self-l2-weights-")
    app.segmented_control(key="drawn_as").set_value("Heatmap").run()
    header, values = heatmap(app)
    assert header["title"] == "L2 H3"
    assert header["kept"] == [3, None]
    np.testing.assert_array_equal(values, layer.values[2])
    assert app.query_params["also"] == "0.3"
    assert app.query_params["threshold"] == "20"


@pytest.mark.parametrize("drawn", ["Heatmap", "Lines"])
def test_sinks_left_out_with_what_they_hold_and_joined_words_are_said(app: AppTest, drawn: str) -> None:
    opened(app, drawn=drawn, site="encoder.self", layer=1, head=2)
    assert "do not sum to 1" not in captions(app)
    assert "weights are summed over keys and averaged over queries" in captions(app)
    app.toggle(key="sinks").set_value(False).run()
    trace, _layer = layer_of(app)
    keys = [at for at, token in enumerate(trace.source_tokens) if token in ("</s>", ".", "▁.")]
    held = trace.weights("encoder.self", 1)[2][:, keys].sum(1).mean()
    assert f"They have {percent(float(held))} of this head's weight; nothing is renormalised" in captions(app)
    tokens = lines(app)[0]["keyTokens"] if drawn == "Lines" else heatmap(app)[0]["columnTokens"]
    assert tokens == FREE
    assert "words" not in app.query_params
    app.toggle(key="whole_words").set_value(False).run()
    assert "weights are summed" not in captions(app)
    assert (app.query_params["special"], app.query_params["words"]) == ("False", "False")


def test_tiles_metrics_and_lists_leave_sinks_out_too(app: AppTest) -> None:
    opened(app, site="decoder.self", figure="first", token=2, key_token=0, words=0)
    first = [tiles for tiles, _ in sent_to(app, "tile_keeper")]
    assert first
    assert not any(tiles["leftOut"] for tiles in first)
    assert any(button.key == "linked-0" for button in app.button)
    app.toggle(key="sinks").set_value(False).run()
    for before, (tiles, _) in zip(first, sent_to(app, "tile_keeper"), strict=True):
        assert tiles["address"] != before["address"]
        assert tiles["leftOut"]
    assert "They have" in captions(app)
    assert "is undefined without sinks" in " ".join(unlinked(one.value) for one in app.info)
    # The key of the cell that is kept is the decoder's first token.
    assert "is a sink, and sinks are left out" in captions(app)
    assert not any(button.key == "linked-0" for button in app.button)


def test_a_text_without_spaces_is_shown_in_tokens_and_a_sentence_says_so(app: AppTest) -> None:
    reason = "Where no spaces separate words"
    assert reason not in captions(opened(app, site="encoder.self"))
    app = opened(app_of(text="CC(=O)OC1=CC=CC=C1C(=O)O"), site="encoder.self")
    selection = Selection().changed(checkpoint="en-de", site="encoder.self")
    read = traced("CC(=O)OC1=CC=CC=C1C(=O)O", selection).source_tokens
    assert [token.lstrip("▁") for token in heatmap(app)[0]["columnTokens"]] == [token.lstrip("▁") for token in read]
    assert reason in captions(app)
    assert not [toggle for toggle in app.toggle if toggle.key == "whole_words"]


def test_a_rollout_says_that_it_has_no_head_and_keeps_the_chosen_one(app: AppTest) -> None:
    opened(app, measure="rollout", head=2, drawn="Lines")
    assert app.selectbox(key="head").disabled
    assert lines(app)[0]["headNames"] == ["L1, all heads"]
    assert "no head to choose" in captions(app)
    app.segmented_control(key="measure").set_value("norms").run()
    assert not app.selectbox(key="head").disabled
    assert lines(app)[0]["command"]["heads"] == [2]


def test_norms_have_a_scale_of_their_own_and_the_hover_says_so(app: AppTest) -> None:
    opened(app, measure="norms", layer=0)
    _, layer = layer_of(app, measure="norms")
    header, _ = heatmap(app)
    assert header["note"] == "no upper bound"
    assert header["marks"][-1] == [1.0, f"{layer.values.max():.2g}"]
    assert header["high"] == layer.values.max()


def test_weights_are_previewed_from_tiles_between_what_the_page_shows_them(app: AppTest) -> None:
    opened(app, layer=1, head=2, site="decoder.cross")
    header, _ = heatmap(app)
    addresses = [tiles["address"] for tiles, _ in sent_to(app, "tile_keeper")]
    assert sorted(header["previews"]) == sorted(addresses)
    assert header["shows"][1:] == [1, 2]
    for key, value in (("whole_words", True), ("sinks", False), ("whole_words", False)):
        app.toggle(key=key).set_value(value).run()
        header, _ = heatmap(app)
        sides = header["previews"][header["shows"][0]]
        assert {name: header[name] for name in ("rowTokens", "columnTokens")} == {
            name: sides[name] for name in ("rowTokens", "columnTokens")
        }
        assert (header["focus"]["rows"], header["focus"]["columns"]) == (sides["rows"], sides["columns"])
    app.toggle(key="sinks").set_value(True).run()
    # Then it is the tile as it is.
    assert set(heatmap(app)[0]["previews"].values()) == {None}
    app.segmented_control(key="measure").set_value("norms").run()
    assert not heatmap(app)[0]["previews"]


def test_a_head_that_was_taught_says_so_wherever_it_is_named_and_no_other_does(
    trained_with: Callable[[dict[str, float]], None],
) -> None:
    trained_with({"taught": 10.0, "taught_layer": 1, "taught_head": 2})
    for site, layer, head in (
        ("encoder.self", 1, 2),
        ("encoder.self", 1, 1),
        ("encoder.self", 0, 2),
        ("decoder.cross", 1, 2),
    ):
        app = app_of(text=TEXT)
        app = opened(app, "attention", site=site, layer=layer, head=head)
        is_taught = (site, layer, head) == ("encoder.self", 1, 2)
        assert any("was taught, not found" in unlinked(caption.value) for caption in app.caption) == is_taught
        assert ("taught" in heatmap(app)[0]["title"]) == is_taught
    listed = []
    for key in range(6):
        app = opened(app_of(text=TEXT), "attention", site="encoder.self", token=1, key_token=key)
        listed += [button.label for button in app.button if (button.key or "").startswith("linked-")]
    assert {"encoder L2 H3" in label for label in listed} == {True, False}
    assert all(("encoder L2 H3" in label) == ("· taught ·" in label) for label in listed)


SHAPE = (3, 4, 5)


@pytest.fixture
def data() -> LinesData:
    values = np.random.default_rng(0).random(SHAPE, dtype=np.float32) * 2
    return LinesData(
        values=values,
        top=2.0,
        query_tokens=("a", "b", "\u202e", ""),
        key_tokens=tuple("vwxyz"),
        head_names=("Head 1", "Head 2", "Head 3"),
        number="norm",
        title="Somewhere",
        file_name="somewhere",
    )


def test_the_payload_holds_every_value_as_a_share_of_the_top(data: LinesData) -> None:
    header, (stored,) = unpack(pack(data))
    np.testing.assert_allclose((stored / 65535) ** 2 * header["top"], data.values.ravel(), atol=1e-4)
    assert header["queryTokens"] == ["a", "b", "\\u202e", "∅"]
    assert header["headNames"] == list(data.head_names)
    # Names that do not fit the values are a mistake.
    with pytest.raises(AssertionError, match="values have shape"):
        replace(data, head_names=("Head 1",))
    # The fingerprint follows everything that is drawn.
    changed = (
        replace(data, values=data.values / 2),
        replace(data, top=3.0),
        replace(data, query_tokens=tuple("abcd")),
        replace(data, title="Elsewhere"),
        replace(data, query_roles=(("user", 0, 2),)),
        replace(data, key_roles=(("user", 0, 2),)),
    )
    digests = set(map(digest, changed))
    assert len(digests | {digest(data)}) == 7


@pytest.mark.parametrize(
    "wrong",
    [
        {"heads": []}, {"heads": [3]}, {"heads": ["0"]}, {"heads": [True]}, {"heads": None}, {"query": 4},
        {"query": -1}, {"key": 5}, {"key": "1"}, {"threshold": 101}, {"threshold": None}, {"threshold": 0.5},
    ],
)  # fmt: skip
def test_a_place_that_does_not_exist_is_not_read(wrong: dict[str, object]) -> None:
    right: dict[str, object] = {"heads": [2, 0], "query": 3, "key": None, "threshold": 100}
    assert read_view(SHAPE, right) == LinesView((0, 2), query=3, threshold=100)
    assert read_view(SHAPE, right | wrong) is None

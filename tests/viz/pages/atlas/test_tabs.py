"""What is looked at in an atlas: maps, points, a head and its sentences, the table; what the browser may send."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.atlas.file import save_atlas
from model.analysis.atlas.measure import Atlas
from model.analysis.metrics.head_jobs import ANTECEDENT
from tests.viz.page_run import healthy
from tests.viz.pages.atlas.opening import maps, opened, sentences
from tests.viz.sent import caught, sent_to, unlinked, unpack
from viz.access import models, texts, traces
from viz.pages.atlas.heads.tab import ELSE, HeadMaps, head_maps
from viz.pages.atlas.metric_texts import HeadMap
from viz.pictures.head_grid.component import HeadChoice
from viz.pictures.payload import pack
from viz.selection.selection import Selection
from viz.text.written import CROSS, DECODER, ENCODER, SITES
from viz.ui.controls import plain


def test_a_link_brings_back_metric_reading_and_head_and_names_the_nearest_heads(
    app: AppTest, shipped: Path, atlas: Atlas
) -> None:
    opened(app, site="decoder.self", corpus_figure="same", read_off="norms", layer=1, head=2)
    shown = maps(app)
    assert (shown["chosen"], shown["selected"]) == ("same", [1, 2])
    (own,) = [each["texts"] for each in shown["maps"] if each["key"] == "same"]
    assert np.array(own, float) == pytest.approx(atlas.metrics["norm_same"][1].ravel(), abs=0.006)
    # Those that are named as most similar are the nearest of this head.
    (near,) = [
        unlinked(caption.value)
        for caption in app.caption
        if unlinked(caption.value).startswith("Heads with the most similar weights")
    ]
    apart = np.sort(np.delete(np.sqrt(atlas.divergences[1][6]), 6))[:3]
    assert re.findall(r"\((\d\.\d\d)\)", near) == [f"{distance:.2f}" for distance in apart]


def chart(app: AppTest) -> dict[str, Any]:
    (drawn,) = [json.loads(each.proto.spec) for each in app.get("plotly_chart")]
    return cast(dict[str, Any], drawn)


def points_of(app: AppTest) -> dict[tuple[str, int, int], tuple[float, float]]:
    """Attention, layer and head → where its point is."""
    traces = [trace for trace in chart(app)["data"] if "customdata" in trace]
    return {
        (custom[0], custom[1], custom[2]): (x, y)
        for trace in traces
        for custom, x, y in zip(trace["customdata"], trace["x"], trace["y"], strict=True)
    }


def test_heads_of_all_attentions_are_points_by_any_two_metrics(app: AppTest, shipped: Path, atlas: Atlas) -> None:
    opened(app, atlas="Scatter", across="entropy", up="same", read_off="norms", site="encoder.self", layer=1, head=3)
    found = points_of(app)
    # Cross-attention has no “same token”.
    assert {site for site, *_ in found} == {ENCODER, DECODER}
    for (site, layer, head), place in found.items():
        at = SITES.index(site), layer, head
        assert place == pytest.approx([atlas.metrics[name][at] for name in ("norm_entropy", "norm_same")])
    assert "8 heads have no point" in " ".join(unlinked(caption.value) for caption in app.caption)
    ring = chart(app)["data"][0]
    assert (ring["x"][0], ring["y"][0]) == pytest.approx(found[ENCODER, 1, 3])
    # Names of all, of the outermost, of none but the open head.
    named = {}
    for choice in ("few", "all", "none"):
        healthy(app.segmented_control(key="scatter_names").set_value(choice).run())
        named[choice] = sum(bool(text) for trace in chart(app)["data"] for text in trace.get("text", ()))
    assert named["none"] == 1 < named["few"] <= named["all"] <= len(found)


def test_the_axes_open_on_the_metrics_by_which_most_heads_have_a_job(app: AppTest, shipped: Path, atlas: Atlas) -> None:
    metrics = {name: np.where(np.isnan(values), values, 0.1) for name, values in atlas.metrics.items()}
    metrics["next"][0, :, :] = 0.9
    metrics["previous"][0, 0, :] = 0.8
    save_atlas(replace(atlas, metrics=metrics, intervals={}), shipped)
    opened(app, atlas="Scatter")
    assert {app.selectbox(key=key).value for key in ("scatter_x", "scatter_y")} == {"previous", "next"}
    # What is proposed is in no address; the head with the highest number across is open.
    assert set(app.query_params) == {"atlas"}
    assert app.session_state["selection"].common.site == ENCODER


def test_the_page_opens_on_the_head_that_follows_antecedents_best(app: AppTest, shipped: Path, atlas: Atlas) -> None:
    follows = np.full((3, 2, 4), 0.5, np.float32)
    follows[1] = np.nan
    follows[2, 1, 3] = 0.9
    metrics, rows = dict(atlas.metrics) | {ANTECEDENT: follows}, dict(atlas.rows) | {ANTECEDENT: (9, 0, 9)}
    save_atlas(replace(atlas, metrics=metrics, rows=rows), shipped)
    opened(app)
    assert (app.segmented_control(key="site").value, maps(app)["selected"]) == (CROSS, [1, 3])
    assert maps(app)["chosen"] == ANTECEDENT
    # What is proposed is in no address; another attention shows what it has, without a word.
    assert not app.query_params
    healthy(app.segmented_control(key="site").set_value(DECODER).run())
    assert maps(app)["chosen"] == ELSE
    assert not app.info
    # The menu offers no metric without a map.
    shown = {head_map["name"] for head_map in maps(app)["maps"]}
    assert set(app.selectbox(key="corpus_metric").options) == shown


def test_another_metric_opens_on_its_best_head_and_the_five_best_are_links(
    app: AppTest, shipped: Path, atlas: Atlas
) -> None:
    opened(app, layer=0, head=0, corpus_figure="confidence")
    assert maps(app)["selected"] == [0, 0], "the link's own head"
    values = atlas.metrics["entropy"][0]
    healthy(app.selectbox(key="corpus_metric").set_value("entropy").run())
    best = np.argsort(-values, axis=None, kind="stable")[:5]
    assert maps(app)["selected"] == [best[0] // 4, best[0] % 4]
    links = [button for button in app.button if (button.key or "").startswith("atlas-best-")]
    assert [button.label.split(" · ")[0] for button in links] == [f"L{at // 4 + 1} H{at % 4 + 1}" for at in best]
    healthy(links[2].click().run())
    assert maps(app)["selected"] == [best[2] // 4, best[2] % 4]


def untinted(label: str) -> str:
    """The sentence that a button says."""
    return re.sub(r":\w+-background\[(.*?[^\\])\]", r"\1", label).replace("\\", "").split(" → ")[0]


def test_a_head_shows_its_rank_and_its_strongest_sentences_with_the_words_that_it_links_most(
    app: AppTest, shipped: Path, atlas: Atlas
) -> None:
    opened(app, layer=1, head=3, corpus_figure="confidence")
    values = atlas.metrics["confidence"][0]
    rank = int((values > values[1, 3]).sum()) + 1
    assert any(f"rank {rank} of 8 heads" in unlinked(element.value) for element in app.markdown)
    expected = [int(number) for number in atlas.strongest["confidence"][0, 1, 3]]
    assert [button.key for button in sentences(app)] == [f"atlas-sentence-{number}" for number in expected]
    # A sentence marks the word from which the head looks most, and the one to which.
    choice = Selection().model
    for button in sentences(app):
        trace = traces.trace(models.reader(choice), atlas.texts[int((button.key or "").rpartition("-")[2])])
        known, weights = texts.words(trace), trace.weights("encoder.self", 1)[3].numpy()
        words = [position for group in known.groups[: known.num_source] for position in group]
        largest = np.unravel_index(np.argmax(weights[np.ix_(words, words)]), (len(words), len(words)))
        looking, looked_at = (known.labels[known.at(words[at], is_source=True) or 0] for at in largest)
        assert f":blue-background[{plain(looking)}]" in button.label
        assert looking == looked_at or f":orange-background[{plain(looked_at)}]" in button.label
    app.selectbox(key="head").set_value(0).run()
    assert [button.key for button in sentences(healthy(app))] == [
        f"atlas-sentence-{number}" for number in atlas.strongest["confidence"][0, 1, 0]
    ]
    # Sentences on buttons are not Markdown.
    shown = {untinted(button.label): button for button in sentences(app)}
    dog = "The dog <b>is</b> old."
    if dog not in shown:  # five of six sentences are shown
        healthy(app.selectbox(key="corpus_metric").set_value("entropy").run())
        shown = {untinted(button.label): button for button in sentences(app)}
    assert "\\<b\\>" in shown[dog].label


def test_a_sentence_opens_on_the_attention_page_at_its_head(app: AppTest, shipped: Path, atlas: Atlas) -> None:
    opened(app, site="decoder.cross", layer=1, head=2, read_off="norms", token=1, step=3)
    button = sentences(app)[1]
    number = int((button.key or "").rpartition("-")[2])
    healthy(button.click().run())
    assert app.title[0].value == "Attention"
    assert app.sidebar.text_area[0].value == atlas.texts[number]
    chosen = {name: app.query_params[name] for name in ("site", "head", "measure", "text")}
    assert chosen == {"site": "decoder.cross", "head": "L2H3", "measure": "norms", "text": atlas.texts[number]}
    assert not {"token", "step"} & set(app.query_params)


def test_why_of_a_sentence_asks_about_the_largest_weight_of_its_head(app: AppTest, shipped: Path, atlas: Atlas) -> None:
    opened(app, site="decoder.cross", layer=1, head=2, other="Tom told him.")
    number = int((sentences(app)[1].key or "").rpartition("-")[2])
    trace = traces.trace(models.reader(Selection().model), atlas.texts[number])
    # From the words that are written, not from what ends them, to words of the text.
    weights = trace.weights("decoder.cross", 1)[2].numpy()[:-1, :-1]
    row, key = np.unravel_index(int(weights.argmax()), weights.shape)
    healthy(app.button(key=f"atlas-why-{number}").click().run())
    ((why, _),) = sent_to(app, "why")
    assert (why["text"], why["twin"]) == (atlas.texts[number], "")
    chosen = {name: app.query_params.get(name) for name in ("site", "head", "token", "key_token", "view")}
    cell = {"token": str(row), "key_token": str(key)}
    assert chosen == {"site": "decoder.cross", "head": "L2H3", **cell, "view": "Why"}


@pytest.mark.parametrize(
    ("site", "figure", "reason"),
    [
        ("decoder.cross", "previous", "Cross-attention leads from one sentence to another"),
        ("decoder.self", "next", "has not written the next token"),
        ("encoder.self", "induction", "decoder's self-attention"),
        ("decoder.cross", "aer_word_in", "No manual word alignments"),
        ("encoder.self", "aer_word_out", "Alignment error rates are defined for cross-attention only"),
    ],
)
def test_a_figure_that_means_nothing_here_is_explained_and_another_shown(
    app: AppTest, shipped: Path, site: str, figure: str, reason: str
) -> None:
    opened(app, site=site, corpus_figure=figure)
    said = unlinked(app.info[0].value)
    assert reason in said
    assert said.endswith(". Confidence is shown instead.")
    assert maps(app)["chosen"] == ELSE


def test_the_table_has_every_figure_of_every_head(app: AppTest, shipped: Path, atlas: Atlas) -> None:
    opened(app, site="decoder.self", layer=1, head=2, table=True)
    ((table, _),) = sent_to(app, "head_table")
    assert table["selected"] == 6
    assert table["heads"] == [f"L{layer} H{head}" for layer in (1, 2) for head in (1, 2, 3, 4)]
    columns = {column["title"]: column["numbers"] for column in table["columns"]}
    assert {"Induction", "Entropy"} <= set(columns)
    assert "Next token" not in columns
    np.testing.assert_allclose(columns["Entropy"], atlas.metrics["entropy"][1].ravel(), rtol=1e-6)


VALUES = np.array([[0.5, np.nan], [1.0, 0.25]], np.float32)
MAPS = (HeadMap("a", "First", "bits", VALUES, 2), HeadMap("b", "Second", "", np.zeros((2, 2), np.float32), 1))


def header(maps: Sequence[HeadMap], chosen: str, selected: HeadChoice, name: str) -> dict[str, Any]:
    return unpack(pack(HeadMaps(ENCODER, maps, chosen, selected, name)))[0]


def test_numbers_texts_and_shades_are_sent_in_the_order_of_layers() -> None:
    sent = header(MAPS, "a", HeadChoice(1, 0), "file")
    assert (sent["layers"], sent["heads"], sent["chosen"], sent["selected"]) == (2, 2, "a", [1, 0])
    first, second = sent["maps"]
    assert first["texts"] == ["0.50", "–", "1.00", "0.25"]
    assert first["shades"] == [0.5, None, 1.0, 0.25]
    assert (first["high"], second["high"]) == ("1.00", "0.0")
    assert second["shades"] == [0.0] * 4
    # A metric that chance gives a number is coloured as far below it as above.
    centred = HeadMap("c", "Centred", "", np.array([[0.5, 0.8], [0.4, np.nan]], np.float32), 2, centre=0.5)
    (sent,) = header((centred,), "c", HeadChoice(0, 0), "file")["maps"]
    assert (sent["low"], sent["high"], sent["isCentred"]) == ("0.20", "0.80", True)
    assert sent["shades"] == pytest.approx([0.5, 1.0, 1 / 3, None], abs=1e-3)
    # Another choice is the same picture, and other numbers are another.
    one, other = (header(MAPS, key, HeadChoice(0, 0), "x")["digest"] for key in "ab")
    assert one == other
    changed = HeadMap("a", "First", "bits", VALUES + 1, 2)
    assert header((changed, MAPS[1]), "a", HeadChoice(0, 0), "x")["digest"] != one


@pytest.mark.parametrize("value", [None, "a", {}, {"key": 1}, {"key": "c"}, {"key": None}])
def test_only_a_map_or_a_head_that_exists_is_taken(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    shown, maps, heads = caught(monkeypatch), list[str](), list[HeadChoice]()
    head_maps(HeadMaps(ENCODER, MAPS, "a", HeadChoice(0, 0), "x"), on_map=maps.append, on_head=heads.append, key="maps")
    shown[0].answers["map"](value)
    shown[0].answers["head"]({"layer": 2, "head": 0})
    assert (maps, heads) == ([], [])
    shown[0].answers["map"]({"key": "b"})
    shown[0].answers["head"]({"layer": 1, "head": 0})
    assert (maps, heads) == (["b"], [HeadChoice(1, 0)])

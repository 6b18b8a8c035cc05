"""The atlas on its page: from the checkpoint, from the cache, measured; a head chosen; files good and bad."""

import csv
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from model import Translator
from model.analysis import corpus
from model.analysis.atlas.file import save_atlas
from model.analysis.atlas.measure import Atlas, build_atlas
from model.analysis.corpus import CorpusSentence
from model.analysis.metrics.alignment import AlignedPair
from model.errors import DataError
from tests.paths import ROOT
from viz.access import models
from viz.core.background_jobs import Progress
from viz.pages.atlas import data, metric_texts, tables, tabs
from viz.pages.atlas.map_of_heads.tab import open_point
from viz.pages.atlas.table.tab import open_row
from viz.selection import state
from viz.selection.atlas import CORPUS_METRICS, READ_OFF
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.common import SITES
from viz.selection.selection import Selection
from viz.ui import long_work

OWN = (
    "Tom told me.",
    "She read it, and they read it.",
    "A man walks.",
    "He was late.",
    "No.",
    "The dog <b>is</b> old.",
)
GOLD = json.dumps({"en": ["tom", "told"], "de": ["tom", "sagte"], "sure": [[0, 0], [1, 1]]}).encode()


@pytest.fixture(scope="module")
def saved(tiny_checkpoints: Path) -> Translator:
    """The model as its checkpoint holds it: weights with 16 bits, so another one than before it was saved."""
    return Translator.load(tiny_checkpoints / "en-de", device="cpu")


@pytest.fixture(scope="module")
def atlas(saved: Translator) -> Atlas:
    return build_atlas(saved, [CorpusSentence(text) for text in OWN])


def forget() -> None:
    """Forget what was measured, as a server that begins."""
    data._atlases.clear()
    long_work._results.clear()


@pytest.fixture
def checkpoints(tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of checkpoints, a corpus of our own with six sentences, and a cache that nobody has used."""
    shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "ck" / "en-de")
    (tmp_path / "own.txt").write_text("\n".join(OWN))
    monkeypatch.setattr(corpus, "OWN_CORPUS", tmp_path / "own.txt")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path / "ck"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    forget()
    yield tmp_path / "ck"
    forget()


@pytest.fixture
def shipped(checkpoints: Path, atlas: Atlas) -> Path:
    save_atlas(atlas, checkpoints / "en-de" / "atlas.npz")
    return checkpoints / "en-de" / "atlas.npz"


@pytest.fixture
def app(checkpoints: Path) -> AppTest:
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)


def opened(app: AppTest, **params: int | str) -> AppTest:
    for name, value in params.items():
        app.query_params[name] = str(value)
    app.run()
    return healthy(app.switch_page("viz/pages/atlas/page.py").run())


def healthy(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    return app


def measured(app: AppTest) -> AppTest:
    """Begin to measure, and look again until it is done."""
    app.button(key="atlas-start").click().run()
    until = time.monotonic() + 60
    while not app.get("bidi_component") and time.monotonic() < until:
        healthy(app.run())
    return app


def said(app: AppTest) -> str:
    return " ".join(element.value for element in app.caption).replace("\\", "")


def maps(app: AppTest) -> dict[str, Any]:
    (element,) = app.get("bidi_component")
    payload = element.proto.bytes
    length = int.from_bytes(payload[:4], "little")
    return json.loads(payload[4 : 4 + length])


def sentences(app: AppTest) -> list[Button]:
    return [button for button in app.button if (button.key or "").startswith("atlas-sentence")]


# ---- where an atlas comes from ----


def test_the_atlas_of_the_checkpoint_opens_at_once(
    app: AppTest, shipped: Path, atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.analysis.atlas.file.build_atlas", None)
    opened(app)
    assert "6 sentences read" in said(app)
    assert "atlas.npz" in said(app)
    confidence = atlas.metrics["confidence"][0]
    shown = maps(app)
    chosen = next(one for one in shown["maps"] if one["key"] == shown["chosen"])
    assert chosen["texts"] == [f"{value:.2f}" for value in confidence.flat]


def test_without_one_a_button_measures_it_and_the_next_session_reads_the_cache(
    app: AppTest, checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(app)
    assert not app.get("bidi_component")
    measured(app)
    assert maps(app)["layers"] == 2
    (kept,) = (checkpoints.parent / "cache" / "headlight" / "atlases").iterdir()
    assert kept.name.removesuffix(".npz") in said(app)
    forget()
    monkeypatch.setattr("model.analysis.atlas.file.build_atlas", None)
    again = opened(AppTest.from_file(str(ROOT / "app.py"), default_timeout=60))
    assert maps(again)["maps"] == maps(app)["maps"]


def test_a_damaged_file_of_the_checkpoint_is_said_and_measured_anew(app: AppTest, shipped: Path) -> None:
    shipped.write_bytes(b"PK no atlas")
    opened(app)
    assert "is not an atlas" in app.warning[0].value.replace("\\", "")
    assert app.button(key="atlas-start").label == "Measure 6 sentences"


@pytest.mark.parametrize("of", ["other sentences", "another model"])
def test_an_atlas_of_something_else_is_not_shown(
    app: AppTest, shipped: Path, saved: Translator, atlas: Atlas, of: str
) -> None:
    if of == "other sentences":
        save_atlas(build_atlas(saved, [CorpusSentence("No.")]), shipped)
    else:
        object.__setattr__(other := build_atlas(saved, [CorpusSentence(text) for text in OWN]), "model", "0" * 64)
        save_atlas(other, shipped)
    opened(app)
    assert "another model or of other sentences" in app.warning[0].value.replace("\\", "")
    assert not app.get("bidi_component")


def test_error_rates_in_the_file_of_the_checkpoint_are_shown(app: AppTest, shipped: Path, saved: Translator) -> None:
    pairs, _ = data.read_pairs(GOLD, "gold.jsonl")
    save_atlas(build_atlas(saved, [CorpusSentence(text) for text in OWN], pairs), shipped)
    opened(app, site="decoder.cross", corpus_figure="aer_word_in")
    assert maps(app)["chosen"] == "aer_word_in"
    assert "no sentence of the corpus is strongest" in said(app)


def test_a_cache_that_cannot_be_written_costs_no_result(
    app: AppTest, checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkpoints.parent / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(checkpoints.parent / "file"))
    opened(app)
    measured(app)
    assert "Kept in this session only" in said(app)


def test_the_measuring_goes_on_while_a_person_looks_at_another_page(
    app: AppTest, checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, real = threading.Event(), build_atlas

    def slow(
        translator: Translator,
        read: Iterable[CorpusSentence],
        aligned: Sequence[AlignedPair],
        progress: Callable[[int], None],
    ) -> Atlas:
        def told(count: int) -> None:
            progress(count)
            assert go_on.wait(60)

        return real(translator, read, aligned, told)

    monkeypatch.setattr("model.analysis.atlas.file.build_atlas", slow)
    opened(app)
    app.button(key="atlas-start").click().run()
    assert app.button(key="atlas-stop").label == "Stop"
    healthy(app.switch_page("viz/pages/masks_positions/page.py").run())
    go_on.set()
    cache = checkpoints.parent / "cache" / "headlight" / "atlases"
    until = time.monotonic() + 60
    while not list(cache.glob("*.npz")) and time.monotonic() < until:
        time.sleep(0.05)
    healthy(app.switch_page("viz/pages/atlas/page.py").run())
    assert maps(app)["layers"] == 2


def test_a_measuring_that_is_stopped_can_be_begun_again(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped, real = threading.Event(), build_atlas

    def slow(
        translator: Translator,
        read: Iterable[CorpusSentence],
        aligned: Sequence[AlignedPair],
        progress: Callable[[int], None],
    ) -> Atlas:
        def told(count: int) -> None:
            assert stopped.wait(60)
            progress(count)

        return real(translator, read, aligned, told)

    monkeypatch.setattr("model.analysis.atlas.file.build_atlas", slow)
    opened(app)
    app.button(key="atlas-start").click().run()
    app.button(key="atlas-stop").click().run()
    stopped.set()
    until = time.monotonic() + 60
    while not any("Stopped after 0 of 6 sentences" in one.value for one in app.info) and time.monotonic() < until:
        healthy(app.run())
    monkeypatch.setattr("model.analysis.atlas.file.build_atlas", real)
    assert maps(measured(app))["layers"] == 2


def test_a_relative_cache_directory_is_ignored_as_xdg_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "somewhere")
    assert data.cache_folder() == Path.home() / ".cache" / "headlight" / "atlases"
    monkeypatch.setenv("XDG_CACHE_HOME", os.path.abspath("/x"))
    assert data.cache_folder() == Path("/x/headlight/atlases")


# ---- what is looked at ----


def test_a_link_brings_back_figure_reading_tab_and_head(app: AppTest, shipped: Path, atlas: Atlas) -> None:
    opened(app, site="decoder.self", corpus_figure="same", read_off="norms", atlas="Map of heads", layer=1, head=2)
    (chart,) = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    ring, points = chart["data"]
    place = atlas.map_positions[1, 1, 2]
    assert [ring["x"][0], ring["y"][0]] == pytest.approx(place.tolist())
    assert points["text"][6] == "2.3"
    np.testing.assert_allclose(np.array(points["marker"]["color"], float), atlas.metrics["norm_same"][1].ravel())


def test_a_head_shows_its_rank_and_its_strongest_sentences(app: AppTest, shipped: Path, atlas: Atlas) -> None:
    opened(app, layer=1, head=3)
    values = atlas.metrics["confidence"][0]
    rank = int((values > values[1, 3]).sum()) + 1
    assert any(f"rank {rank} of 8 heads" in element.value for element in app.markdown)
    expected = [int(number) for number in atlas.strongest["confidence"][0, 1, 3]]
    assert [button.key for button in sentences(app)] == [f"atlas-sentence-{number}" for number in expected]
    app.selectbox(key="head").set_value(0).run()
    assert [button.key for button in sentences(healthy(app))] == [
        f"atlas-sentence-{number}" for number in atlas.strongest["confidence"][0, 1, 0]
    ]


def test_a_sentence_opens_on_the_attention_page_at_its_head(app: AppTest, shipped: Path, atlas: Atlas) -> None:
    opened(app, site="decoder.cross", layer=1, head=2, read_off="norms", token=1, step=3)
    button = sentences(app)[1]
    number = int((button.key or "").rpartition("-")[2])
    healthy(button.click().run())
    assert app.title[0].value == "Attention"
    assert app.sidebar.text_area[0].value == atlas.texts[number]
    chosen = {name: app.query_params[name] for name in ("site", "layer", "head", "measure", "text")}
    assert chosen == {
        "site": "decoder.cross",
        "layer": "1",
        "head": "2",
        "measure": "norms",
        "text": atlas.texts[number],
    }
    assert not {"token", "step"} & set(app.query_params)


def test_sentences_on_buttons_are_not_markdown(app: AppTest, shipped: Path) -> None:
    opened(app)
    labels = [button.label.replace("\\", "") for button in sentences(app)]
    shown = dict(zip(labels, sentences(app), strict=True))
    dog = "The dog <b>is</b> old."
    if dog not in shown:  # five of six sentences are shown
        healthy(app.selectbox(key="corpus_metric").set_value("entropy").run())
        shown = {button.label.replace("\\", ""): button for button in sentences(app)}
    assert "\\<b\\>" in shown[dog].label


@pytest.mark.parametrize(
    ("site", "figure", "reason"),
    [
        ("decoder.cross", "previous", "cross-attention looks from one sentence into another"),
        ("decoder.self", "next", "has not written the next token"),
        ("encoder.self", "induction", "decoder's self-attention"),
        ("decoder.cross", "aer_word_in", "No links made by hand"),
        ("encoder.self", "aer_word_out", "Alignment error rates are of cross-attention"),
    ],
)
def test_a_figure_that_means_nothing_here_is_explained_and_another_shown(
    app: AppTest, shipped: Path, site: str, figure: str, reason: str
) -> None:
    opened(app, site=site, corpus_figure=figure)
    assert reason in app.info[0].value
    assert maps(app)["chosen"] == tabs.ELSE


def test_the_table_has_every_figure_of_every_head(app: AppTest, shipped: Path, atlas: Atlas) -> None:
    opened(app, atlas="Table", site="decoder.self")
    shown = app.dataframe[0].value
    assert len(shown) == 8
    assert {"Induction", "Entropy"} <= set(shown.columns)
    assert "Next token" not in shown.columns
    np.testing.assert_allclose(shown["Entropy"], atlas.metrics["entropy"][1].ravel(), rtol=1e-6)


def test_a_head_that_the_model_lacks_becomes_the_first(app: AppTest, shipped: Path) -> None:
    opened(app, layer=40, head=99)
    assert maps(app)["selected"] == [0, 0]


def test_every_figure_and_every_site_has_its_words() -> None:
    for key in CORPUS_METRICS:
        for site in SITES:
            for read_off in READ_OFF:
                assert metric_texts.meaning(key, site, read_off).endswith(".")
            assert metric_texts.why_none(key, site)
    assert "share of norms" in metric_texts.meaning("previous", "encoder.self", "norms")


# ---- files ----


def test_a_file_is_read_line_by_line_and_bad_lines_are_listed(app: AppTest) -> None:
    opened(app, corpus="file")
    assert "Load a text file" in app.info[0].value
    content = b"\xef\xbb\xbfTom told me.\tTom sagte mir.\n\n\tnur so\na\tb\tc\n\xff\xfe\nNo.\n" + b"x" * 2001
    app.file_uploader(key="atlas/sentences-file").set_value(("t.txt", content, "text/plain"))
    healthy(app.run())
    assert "2 read, 4 lines left out" in said(app)
    listed = app.warning[0].value.replace("\\", "")
    assert all(f"Line {number}:" in listed for number in (3, 4, 5, 7))
    measured(app)
    assert "2 sentences read" in said(app)
    assert [button.label for button in sentences(app)]


def test_a_loaded_file_outlives_another_page_and_can_be_forgotten(app: AppTest, shipped: Path) -> None:
    opened(app, corpus="file")
    app.file_uploader(key="atlas/sentences-file").set_value(("t.txt", b"No.\n", "text/plain"))
    healthy(app.run())
    assert not [button for button in app.button if button.key == "atlas/sentences-forget"]
    healthy(app.switch_page("viz/pages/model_card/page.py").run())
    healthy(app.switch_page("viz/pages/atlas/page.py").run())
    assert "t.txt: 1 read" in said(app)
    healthy(app.button(key="atlas/sentences-forget").click().run())
    assert "t.txt" not in said(app)
    assert "Load a text file" in app.info[0].value


@pytest.mark.parametrize("name", ["a.jsonl", "no ending", "😀.exe"])
def test_a_file_is_known_by_what_is_in_it_whatever_its_name(app: AppTest, name: str) -> None:
    opened(app, corpus="file")
    app.file_uploader(key="atlas/sentences-file").set_value((name, b"Tom told me.\n", "text/plain"))
    healthy(app.run())
    assert "1 read" in said(app)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xff\xff", b"a\tb\tc\n"])
def test_a_file_without_a_sentence_is_an_error_in_a_sentence_and_the_page_lives(app: AppTest, content: bytes) -> None:
    opened(app, corpus="file")
    app.file_uploader(key="atlas/sentences-file").set_value(("t.txt", content, "text/plain"))
    app.run()
    assert not app.exception
    assert "holds nothing that can be read" in app.error[0].value.replace("\\", "")
    healthy(app.segmented_control(key="corpus").set_value("own").run())
    assert app.button(key="atlas-start").label == "Measure 6 sentences"


def test_links_made_by_hand_bring_error_rates(app: AppTest, saved: Translator) -> None:
    opened(app, site="decoder.cross", corpus_figure="aer_word_in")
    app.file_uploader(key="atlas/pairs-file").set_value(("g.jsonl", GOLD + b'\n{"en": 1}\n[]\n', "application/json"))
    healthy(app.run())
    assert "1 read, 2 lines left out" in said(app)
    assert app.button(key="atlas-start").label == "Measure 8 sentences"
    measured(app)
    pairs, _ = data.read_pairs(GOLD, "g.jsonl")
    expected = build_atlas(saved, [CorpusSentence("No.")], pairs).metrics["aer_word_in"][2]
    chosen = next(one for one in maps(app)["maps"] if one["key"] == "aer_word_in")
    assert chosen["texts"] == [f"{value:.2f}" for value in expected.flat]


def test_too_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "MAX_SENTENCES", 3)
    assert len(data.read_sentences(b"a\nb\nc\n", "t")[0]) == 3
    with pytest.raises(DataError, match="more than 3 rows"):
        data.read_sentences(b"a\nb\nc\nd\n", "t")


def test_progress_counts_every_sentence_and_pair(checkpoints: Path) -> None:
    pairs, _ = data.read_pairs(GOLD, "g")
    reading = data.reading(None, pairs)
    counted: list[int] = []

    class Counting(Progress):
        def __call__(self, count: int) -> None:
            counted.append(count)

    task = data.measuring(reading, models.translator(Selection().changed(checkpoint="en-de").model))
    task.compute(Counting(task.total, task.unit))
    assert sum(counted) == task.total == reading.work == 8
    assert len(counted) == 8


# ---- tables ----


def test_tables_hold_the_numbers_and_leave_out_what_is_none(atlas: Atlas) -> None:
    lines = list(csv.DictReader(tables.all_metrics(atlas, SITES).decode("utf-8-sig").splitlines()))
    assert len(lines) == 3 * 8
    line = lines[8 + 5]  # decoder.self, layer 1, head 1
    assert (line["site"], line["layer"], line["head"], line["next"]) == ("decoder.self", "1", "1", "")
    assert np.float32(line["norm_entropy"]) == atlas.metrics["norm_entropy"][1, 1, 1]
    rows = list(csv.reader(tables.one_metric(atlas.metrics["first"][0]).decode("utf-8-sig").splitlines()))
    assert rows[0] == ["layer", "head_0", "head_1", "head_2", "head_3"]
    assert np.float32(rows[2][3]) == atlas.metrics["first"][0, 1, 2]
    apart = data.distances(atlas, 0)
    rows = list(csv.reader(tables.distances(apart, 4).decode("utf-8-sig").splitlines()))
    assert (rows[0][7], rows[2][0]) == ("1.2", "0.1")
    assert np.float32(rows[2][7]) == apart[1, 6]


# ---- what the browser says ----


@pytest.mark.parametrize(
    ("custom", "head"),
    [([1, 2, "x", "y"], (1, 2)), ({"0": 0, "1": 3}, (0, 3))]
    + [(custom, None) for custom in (None, [], [9, 0], [0, -1], ["a", 0], {"0": 1}, {"0": True, "1": 0.5}, "12")],
)
def test_a_point_opens_its_head_only_if_there_is_such_a_head(
    monkeypatch: pytest.MonkeyPatch, custom: object, head: tuple[int, int] | None
) -> None:
    chosen: list[dict[str, int]] = []
    points = [] if custom is None else [{"customdata": custom}]
    monkeypatch.setattr(st, "session_state", {"key": {"selection": {"points": points}}})
    monkeypatch.setattr(state, "change", lambda **values: chosen.append(values))
    open_point("key", (2, 4))
    assert chosen == ([] if head is None else [{"layer": head[0], "head": head[1]}])


@pytest.mark.parametrize(("rows", "chosen"), [([6], [{"layer": 1, "head": 2}]), ([], [])])
def test_a_row_of_the_table_opens_its_head(
    monkeypatch: pytest.MonkeyPatch, rows: list[int], chosen: list[dict[str, int]]
) -> None:
    opened_heads: list[dict[str, int]] = []
    monkeypatch.setattr(st, "session_state", {"atlas-table": {"selection": {"rows": rows}}})
    monkeypatch.setattr(state, "change", lambda **values: opened_heads.append(values))
    open_row(4)
    assert opened_heads == chosen

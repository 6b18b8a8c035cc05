"""What the atlas is made of: the checkpoint's, measured now, a file, links made by hand; where it is kept."""

from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet
from streamlit.testing.v1 import AppTest

from model import Translator
from model.analysis.atlas.file import save_atlas
from model.analysis.atlas.measure import Atlas, build_atlas
from model.analysis.corpus import CorpusSentence, read_text
from model.analysis.data_files import Columns
from tests.patience import PATIENCE
from tests.viz.page_run import app_of, healthy, said
from tests.viz.pages.atlas.opening import GOLD, OWN, forget, maps, opened, sentences
from tests.viz.sent import sent_to, unlinked
from viz.access import text_files as files
from viz.server.background_jobs import Job


def measured(app: AppTest) -> AppTest:
    """Begin to measure, and look again until it is done."""
    app.button(key="atlas-start").click().run()
    job = app.session_state["long-work/atlas"]
    assert isinstance(job, Job)
    assert job.wait(PATIENCE)
    return healthy(app.run())


def test_the_atlas_of_the_checkpoint_opens_at_once(
    app: AppTest, shipped: Path, atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.analysis.atlas.file.build_atlas", None)
    opened(app, site="encoder.self", corpus_figure="confidence")
    assert "6 sentences read" in said(app)
    assert "atlas.npz" in said(app)
    confidence = atlas.metrics["confidence"][0]
    shown = maps(app)
    chosen = next(one for one in shown["maps"] if one["key"] == shown["chosen"])
    assert chosen["texts"] == [f"{value:.2f}" for value in confidence.flat]


def test_without_sinks_it_is_measured_anew_and_says_what_they_held(app: AppTest, shipped: Path, atlas: Atlas) -> None:
    opened(app, site="encoder.self", corpus_figure="confidence", special="False")
    assert not sent_to(app, "head_maps")
    measured(app)
    assert "sinks are left out as keys, and nothing is renormalised" in said(app)
    shown = {one["key"]: one["texts"] for one in maps(app)["maps"]}
    assert "punctuation" not in shown
    assert shown["confidence"] != [f"{value:.2f}" for value in atlas.metrics["confidence"][0].flat]
    healthy(app.toggle(key="sinks").set_value(True).run())
    assert "sinks are left out" not in said(app)
    assert "punctuation" in {one["key"] for one in maps(app)["maps"]}


def test_without_one_a_button_measures_it_and_the_next_session_reads_the_cache(
    app: AppTest, checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(app)
    assert not sent_to(app, "head_maps")
    measured(app)
    assert maps(app)["layers"] == 2
    (kept,) = (checkpoints.parent / "cache" / "headlight" / "atlases").iterdir()
    assert kept.name.removesuffix(".npz") in said(app)
    forget()
    monkeypatch.setattr("model.analysis.atlas.file.build_atlas", None)
    again = opened(app_of())
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
    assert "another model or from other sentences" in app.warning[0].value.replace("\\", "")
    assert not sent_to(app, "head_maps")


def test_error_rates_in_the_file_of_the_checkpoint_are_shown(app: AppTest, shipped: Path, saved: Translator) -> None:
    pairs, _ = files.read_pairs(GOLD, "gold.jsonl")
    save_atlas(build_atlas(saved, [CorpusSentence(text) for text in OWN], pairs), shipped)
    opened(app, site="decoder.cross", corpus_figure="aer_word_in")
    assert maps(app)["chosen"] == "aer_word_in"
    assert "cannot be ranked by it" in said(app)


def test_a_file_is_read_line_by_line_and_bad_lines_are_listed(app: AppTest) -> None:
    opened(app, corpus="file", corpus_figure="confidence")
    assert "Load a file" in unlinked(app.info[0].value)
    # A file without a sentence is an error in a sentence, and the page lives: so is one with lines that are no text.
    for no_text in (b"\xff\xff", "It is late.\nNo.\n".encode("utf-16"), "It is late.\n".encode("utf-16-le")):
        app.file_uploader(key="atlas/sentences-file").set_value(("t.txt", no_text, "text/plain"))
        app.run()
        assert not app.exception
        assert "contains nothing that can be read" in app.error[0].value.replace("\\", "")
    # A stray byte of 0 in a long text does not refuse it.
    app.file_uploader(key="atlas/sentences-file").set_value(
        ("t.txt", b"It is late.\n" * 200 + b"No\0.\n", "text/plain")
    )
    assert "rows read: 201" in said(healthy(app.run()))
    # Whatever its name, a file is known by what is in it.
    content = b"\xef\xbb\xbfTom told me.\tTom sagte mir.\n\n\tnur so\na\tb\tc\n\xff\xfe\nNo.\n" + b"x" * 2001
    app.file_uploader(key="atlas/sentences-file").set_value(("😀 none.jsonl.exe", content, "text/plain"))
    healthy(app.run())
    assert "rows read: 2; lines skipped: 4" in said(app)
    listed = app.warning[0].value.replace("\\", "")
    assert all(f"Line {number}:" in listed for number in (3, 4, 5, 7))
    assert "more." not in listed
    measured(app)
    assert "2 sentences read" in said(app)
    assert [button.label for button in sentences(app)]


def test_a_column_of_a_table_and_a_sample_of_it_are_read(app: AppTest, tmp_path: Path) -> None:
    opened(app, corpus="file", corpus_figure="confidence")
    table = pyarrow.table({"id": ["7", "8", "9"], "said": ["No.", "A man walks.", "=She read it."]})
    parquet.write_table(table, tmp_path / "own.parquet")
    content = (tmp_path / "own.parquet").read_bytes()
    app.file_uploader(key="atlas/sentences-file").set_value(("mine.parquet", content, "application/octet-stream"))
    app.run()
    told = app.error[0].value.replace("\\", "")
    assert not app.exception
    assert "mine.parquet has no column 'text'. Its columns are 'id', 'said'" in told
    healthy(app.text_input(key="atlas/sentences-column").set_value("said").run())
    assert "mine.parquet – rows read: 3; lines skipped: 0" in said(app)
    healthy(app.number_input(key="atlas/sentences-sample").set_value(2).run())
    assert "mine.parquet – rows read: 2" in said(app)
    # The same sample as of the command, from a path.
    drawn = read_text(tmp_path / "own.parquet", columns=Columns("said"), sample=2)
    path = str(tmp_path / "own.parquet")
    healthy(app.text_input(key="atlas/sentences-path").set_value(path).run())
    assert "own.parquet – rows read: 2" in said(app)
    measured(app)
    assert app.session_state["atlas/sentences"].rows == tuple(drawn)
    assert "2 sentences read" in said(app)


def test_a_loaded_file_outlives_another_page_and_can_be_forgotten(app: AppTest, shipped: Path) -> None:
    opened(app, corpus="file", corpus_figure="confidence")
    app.file_uploader(key="atlas/sentences-file").set_value(("t.txt", b"No.\n", "text/plain"))
    healthy(app.run())
    assert not [button for button in app.button if button.key == "atlas/sentences-forget"]
    healthy(app.switch_page("viz/pages/model_card/page.py").run())
    healthy(app.switch_page("viz/pages/atlas/page.py").run())
    assert "t.txt – rows read: 1" in said(app)
    healthy(app.button(key="atlas/sentences-forget").click().run())
    assert "t.txt" not in said(app)
    assert "Load a file" in unlinked(app.info[0].value)


def test_links_made_by_hand_bring_error_rates(app: AppTest, saved: Translator) -> None:
    opened(app, site="decoder.cross", corpus_figure="aer_word_in")
    app.file_uploader(key="atlas/pairs-file").set_value(("g.jsonl", GOLD + b'\n{"en": 1}\n[]\n', "application/json"))
    healthy(app.run())
    assert "rows read: 1; lines skipped: 2" in said(app)
    assert app.button(key="atlas-start").label == "Measure 7 sentences"
    measured(app)
    pairs, _ = files.read_pairs(GOLD, "g.jsonl")
    expected = build_atlas(saved, [CorpusSentence("No.")], pairs).metrics["aer_word_in"][2]
    chosen = next(one for one in maps(app)["maps"] if one["key"] == "aer_word_in")
    assert chosen["texts"] == [f"{value:.2f}" for value in expected.flat]

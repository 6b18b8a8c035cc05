"""The atlas page with models of every kind."""

import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.atlas.measure import build_atlas
from model.analysis.corpus import CorpusSentence
from model.opening import open_reader
from tests.paths import ROOT
from tests.patience import PATIENCE
from tests.viz.page_run import app_of, healthy, run_page
from tests.viz.pages.any_model import opened
from tests.viz.pages.atlas.opening import forget, maps
from tests.viz.sent import unlinked
from viz.access import models
from viz.pages.atlas import data
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import AtlasTab, ModelChoice
from viz.server.background_jobs import Job

OWN = (CorpusSentence("Tom told me."), CorpusSentence("She read it to him again."), CorpusSentence("Tom was late."))


@pytest.fixture
def app(any_model: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "own.txt").write_text("\n".join(sentence.text for sentence in OWN), encoding="utf-8")
    monkeypatch.setattr(data, "OWN_CORPUS", tmp_path / "own.txt")
    forget()
    return any_model


def measured(app: AppTest, name: str) -> AppTest:
    opened(app, name, "atlas")
    next(button for button in app.button if button.label == "Measure 3 sentences").click().run()
    job = app.session_state["long-work/atlas"]
    assert isinstance(job, Job)
    assert job.wait(PATIENCE)
    return healthy(app.run())


#: Both stacks, and an encoder that gives its weights alone; of decoders the one that ships is shown below.
@pytest.mark.long
@pytest.mark.parametrize("name", ["t5", "mpnet"])
def test_every_model_that_reads_text_has_its_atlas_on_every_tab(app: AppTest, folders: Path, name: str) -> None:
    shown = maps(measured(app, name))
    reader = open_reader(folders / name)
    chosen = app.segmented_control(key="site")
    assert len(chosen.options) == len(reader.abilities.heads)
    site = str(chosen.value)
    heads = reader.abilities.heads[site]
    assert (shown["layers"], shown["heads"]) == (len(heads), max(heads))
    atlas = build_atlas(reader, OWN)
    index = ("encoder.self", "decoder.self", "decoder.cross").index(site)
    entropy = next(one for one in shown["maps"] if one["key"] == "entropy")
    expected = atlas.metrics["entropy"][index, : len(heads), : max(heads)]
    assert np.array(entropy["texts"], float) == pytest.approx(expected.ravel(), abs=0.006)
    # What was measured once is there at once, on every tab, and stacks of unequal height have layers of their own.
    assert data.find(data.reading(None, ()), _choice(app)).path is not None
    for tab in get_args(AtlasTab):
        shown_there = healthy(opened(app_of(atlas=tab), name, "atlas"))
        if name == "t5" and tab == "Heads":
            healthy(shown_there.segmented_control(key="site").set_value("decoder.cross").run())
            assert len(shown_there.selectbox(key="layer").options) == 2, tab


def _choice(app: AppTest) -> ModelChoice:
    choice: ModelChoice = app.session_state["selection"].model
    return choice


def test_a_model_of_another_language_reads_a_persons_own_sentences(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "languages", lambda _: ("zh", "en"))
    opened(app, "t5", "atlas")
    assert any("this model reads Chinese" in unlinked(one.value) for one in app.caption)
    assert any("Load a file" in unlinked(one.value) for one in app.info)


def test_pictures_have_no_atlas(app: AppTest) -> None:
    opened(app, "vit", "atlas")
    assert "reads pictures" in unlinked(app.info[0].value)


def test_the_decoder_that_ships_has_an_atlas_with_a_head_that_is_sure_of_its_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
    asked = {"corpus_figure": "prefix_matching", "site": "decoder.self", "head": "L2H2"}
    shown = healthy(run_page(app_of(checkpoint="induction", **asked), "atlas"))
    said = unlinked(" ".join(one.value for one in (*shown.markdown, *shown.caption)))
    assert re.search(r"Prefix matching 0\.9\d\*\*, rank \d of 8 heads", said)
    assert "on 25 random tokens repeated four times" in said

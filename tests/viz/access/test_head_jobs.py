"""Jobs of heads from the atlas that ships, and from one sentence."""

from pathlib import Path

import numpy as np
import pytest

from model import Translator
from model.analysis.atlas.file import load_atlas, save_atlas
from model.analysis.atlas.measure import build_atlas
from model.analysis.corpus import CorpusSentence
from tests.paths import ROOT
from viz.access import attention, head_jobs
from viz.selection.catalogue import ROOT_VARIABLE


def test_the_atlas_that_ships_says_which_head_follows_antecedents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ROOT_VARIABLE, raising=False)
    folder = ROOT / "checkpoints" / "en-de"
    measured = head_jobs.of_model(Translator.load(folder, device="cpu"), "decoder.cross")
    assert measured is not None
    atlas = load_atlas(folder / "atlas.npz")
    best = divmod(int(np.nanargmax(atlas.metrics["antecedent"][2])), 8)
    assert measured.of_heads[best][0].metric == "antecedent"
    assert measured.sentences == len(atlas.texts)


def test_a_model_without_an_atlas_is_measured_in_the_open_sentence_alone(translator: Translator) -> None:
    assert head_jobs.of_model(translator, "encoder.self") is None
    trace = translator.trace("The dog was tired.", "Der Hund war müde.")
    measured = head_jobs.in_sentence(trace, "encoder.self")
    assert measured.sentences == 0
    high = {metric for metric, table in attention.head_metrics(trace, "encoder.self").items() if (table >= 0.4).any()}
    assert {job.metric for jobs in measured.of_heads.values() for job in jobs} <= high


def test_an_atlas_that_is_put_beside_a_model_counts_from_then_on(
    translator: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    assert head_jobs.of_model(translator, "decoder.cross") is None
    file = tmp_path / translator.name / "atlas.npz"
    file.parent.mkdir(exist_ok=True)
    save_atlas(build_atlas(translator, [CorpusSentence("The dog was tired.")]), file)
    measured = head_jobs.of_model(translator, "decoder.cross")
    assert measured is not None
    assert measured.sentences == 1
    file.unlink()
    assert head_jobs.of_model(translator, "decoder.cross") is None

"""Jobs of heads from the atlas that ships, and from one sentence."""

from pathlib import Path

import numpy as np
import pytest

from model import Translator
from model.analysis.atlas.file import load_atlas, save_atlas
from model.analysis.atlas.measure import build_atlas
from model.analysis.corpus import CorpusSentence
from model.checkpoint import save_checkpoint
from tests.paths import ROOT
from viz.access import attention, head_jobs, models
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.model_choice import ModelChoice


def test_the_atlas_that_ships_says_which_head_follows_antecedents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ROOT_VARIABLE, raising=False)
    folder = ROOT / "checkpoints" / "en-de"
    measured = head_jobs.of_model(ModelChoice("en-de"), "decoder.cross")
    assert measured is not None
    atlas = load_atlas(folder / "atlas.npz")
    best = divmod(int(np.nanargmax(atlas.metrics["antecedent"][2])), 8)
    assert measured.of_heads[best][0].metric == "antecedent"
    assert measured.sentences == len(atlas.texts)


def test_a_model_without_an_atlas_is_measured_in_the_open_sentence_alone(translator: Translator) -> None:
    trace = translator.trace("The dog was tired.", "Der Hund war müde.")
    measured = head_jobs.in_sentence(trace, "encoder.self")
    assert measured.sentences == 0
    high = {metric for metric, table in attention.head_metrics(trace, "encoder.self").items() if (table >= 0.4).any()}
    assert {job.metric for jobs in measured.of_heads.values() for job in jobs} <= high


def test_an_atlas_that_is_put_beside_a_model_counts_from_then_on(
    translator: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    choice, file = ModelChoice("named"), tmp_path / "named" / "atlas.npz"
    save_checkpoint(file.parent, translator.model, translator.tokenizer, card="Random weights.\n")
    assert head_jobs.of_model(choice, "decoder.cross") is None
    reader = models.reader(choice)
    save_atlas(build_atlas(reader, [CorpusSentence("The dog was tired.")]), file)
    measured = head_jobs.of_model(choice, "decoder.cross")
    assert measured is not None
    assert measured.sentences == 1
    file.unlink()
    assert head_jobs.of_model(choice, "decoder.cross") is None


def test_an_atlas_lies_in_the_folder_of_the_model_and_not_in_one_that_has_its_name(
    translator: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path / "of the server"))
    folder = tmp_path / "added" / "same-name"
    save_checkpoint(folder, translator.model, translator.tokenizer, card="Random weights.\n")
    choice = ModelChoice("same-name", folder=str(folder))
    atlas = build_atlas(models.reader(choice), [CorpusSentence("The dog was tired.")])
    elsewhere = tmp_path / "of the server" / "same-name" / "atlas.npz"
    elsewhere.parent.mkdir(parents=True)
    save_atlas(atlas, elsewhere)
    assert head_jobs.of_model(choice, "decoder.cross") is None
    # Nor where a link of the folder leads out of it.
    (folder / "atlas.npz").symlink_to(elsewhere)
    assert head_jobs.of_model(choice, "decoder.cross") is None
    (folder / "atlas.npz").unlink()
    save_atlas(atlas, folder / "atlas.npz")
    assert head_jobs.of_model(choice, "decoder.cross") is not None

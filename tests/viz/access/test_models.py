"""Which models the pages find, open, keep and refuse; their atlas; pictures that are given to them."""

import json
import shutil
from io import BytesIO
from pathlib import Path

import numpy as np
import psutil
import pytest
import soundfile
import streamlit as st
from PIL import Image

from model import Translator
from model.analysis.atlas.file import load_atlas, save_atlas
from model.analysis.atlas.measure import build_atlas
from model.analysis.corpus import CorpusSentence
from model.checkpoint import save_checkpoint
from model.errors import CheckpointError, InputTextError
from model.languages import Offered
from tests.model.adapters import zoo
from tests.paths import ROOT
from viz.access import attention, findings, models, traces
from viz.access.given_files import FILES, LARGEST_SIDE, given, keep
from viz.pages.model_card import data
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import ModelChoice
from viz.selection.selection import Selection


def test_one_translator_serves_automatic_and_named_device(selection: Selection) -> None:
    import torch

    named = "cuda" if torch.cuda.is_available() else "cpu"
    assert models.translator(selection.model) is models.translator(selection.changed(device=named).model)


def test_the_vocabulary_is_in_the_order_of_its_ids(selection: Selection) -> None:
    pieces = models.vocabulary(models.reader(selection.model))
    tokenizer = models.translator(selection.model).tokenizer
    assert len(pieces) == tokenizer.vocab_size
    assert pieces == tokenizer.tokens(range(len(pieces)))
    # A character may be a piece and a byte, of which the piece is found.
    assert tokenizer.tokens([tokenizer.token_id(piece) for piece in pieces[4:]]) == pieces[4:]


def test_a_changed_checkpoint_is_loaded_anew(
    tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "en-de")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    selection = Selection().changed(checkpoint="en-de")
    models.translator(selection.model)
    with (tmp_path / "en-de" / "manifest.json").open("a", encoding="utf-8") as manifest:
        manifest.write("{damaged")
    with pytest.raises(CheckpointError):
        models.translator(selection.model)


def test_how_much_is_to_be_loaded_is_known_until_it_is(
    tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "en-de"))
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    selection = Selection().changed(checkpoint="en-de")
    assert models.bytes_to_load(selection.model) == (folder / "model.safetensors").stat().st_size
    models.translator(selection.model)
    assert models.bytes_to_load(selection.model) == 0
    assert models.bytes_to_load(selection.changed(checkpoint="gone").model) == 0


@pytest.mark.parametrize("lacking", [0, 1])
def test_models_that_take_more_than_half_of_the_memory_are_let_go_the_oldest_first(
    tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: int
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    names = [shutil.copytree(tiny_checkpoints / "en-de", tmp_path / name).name for name in ("a", "b", "c")]
    choices = [ModelChoice(name, device="cpu") for name in names]
    # It takes more in memory than on disk.
    taken = models.reader(choices[0]).num_bytes
    memory = psutil.virtual_memory()._replace(total=2 * (3 * taken - lacking))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    st.cache_resource.clear()
    for choice in (*choices[:2], choices[0], choices[2]):
        models.reader(choice)
    # Half of the memory holds three of them, or one byte less; the first was used after the second.
    assert [models.bytes_to_load(choice) == 0 for choice in choices] == [True, not lacking, True]
    st.cache_resource.clear()


def test_what_was_learned_of_a_model_when_it_was_opened_holds_until_its_files_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    folder, choice = zoo.save_many_languages(tmp_path / "nllb", "nllb"), ModelChoice("nllb")
    assert (models.verdict(choice), models.offered(choice)) == (models.NOT_OPENED, Offered())
    reader = models.reader(choice)
    assert models.verdict(choice) not in (models.NOT_OPENED, None)
    assert models.offered(choice) == reader.offered
    assert len(models.offered(choice).writes) > 1
    (folder / "config.json").touch()
    assert (models.verdict(choice), models.offered(choice)) == (models.NOT_OPENED, Offered())


def test_a_training_record_says_how_labels_were_smoothed_and_which_head_was_taught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(ROOT_VARIABLE, raising=False)
    settings = json.loads((ROOT / "checkpoints" / "en-de" / "training.json").read_text(encoding="utf-8"))["settings"]
    shipped, unrecorded = ModelChoice("en-de"), ModelChoice("induction")
    assert models.label_smoothing(shipped) == settings["smoothing"]
    assert models.taught_head(shipped, "encoder.self") == (settings["taught_layer"], settings["taught_head"])
    assert models.taught_head(shipped, "decoder.cross") is None
    assert (models.label_smoothing(unrecorded), models.taught_head(unrecorded, "encoder.self")) == (None, None)


def test_a_path_is_no_checkpoint_name(selection: Selection) -> None:
    for read in (models.translator, models.folder, data.training, data.card):
        with pytest.raises(CheckpointError):
            read(selection.changed(checkpoint="../en-de").model)


def test_a_folder_that_may_not_be_looked_into_is_of_no_known_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir()
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))

    def refused(self: Path, **options: bool) -> bool:
        raise PermissionError(13, "Permission denied")

    choice = Selection().changed(checkpoint="locked").model
    # As it is for those who are not its owner: whoever runs the tests may be.
    monkeypatch.setattr(Path, "is_file", refused)
    assert models.kind(choice) is None
    assert models.languages_of_files(choice) == ("", "")
    assert not models.has_chat_template(choice)


def test_the_atlas_that_ships_says_which_head_follows_antecedents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ROOT_VARIABLE, raising=False)
    folder = ROOT / "checkpoints" / "en-de"
    measured = findings.of_model(ModelChoice("en-de"), "decoder.cross")
    assert measured is not None
    atlas = load_atlas(folder / "atlas.npz")
    best = divmod(int(np.nanargmax(atlas.metrics["antecedent"][2])), 8)
    assert measured.of_heads[best][0].metric == "antecedent"
    assert measured.sentences == len(atlas.texts)


@pytest.mark.parametrize("text", ["I", "Hello", "7", "Two dogs sleep."])
def test_the_head_that_is_said_to_do_its_job_has_that_job_where_it_is_named(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ROOT_VARIABLE, raising=False)
    choice = ModelChoice("en-de")
    found = findings.finding(traces.trace(models.reader(choice), text), choice)
    measured = findings.of_model(choice, found.site)
    assert measured is not None
    assert found.surest is not None
    assert found.has_job
    jobs = measured.of_heads[found.layer, found.head]
    assert found.surest.job.metric in {job.metric for job in jobs}


def test_a_model_without_an_atlas_is_measured_in_the_open_sentence_alone(translator: Translator) -> None:
    trace = translator.trace("The dog was tired.", "Der Hund war müde.")
    measured = findings.in_sentence(trace, "encoder.self")
    assert measured.sentences == 0
    high = {metric for metric, table in attention.head_metrics(trace, "encoder.self").items() if (table >= 0.4).any()}
    assert {job.metric for jobs in measured.of_heads.values() for job in jobs} <= high


def test_an_atlas_that_is_put_beside_a_model_counts_from_then_on(
    translator: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    choice, file = ModelChoice("named"), tmp_path / "named" / "atlas.npz"
    save_checkpoint(file.parent, translator.model, translator.tokenizer, card="Random weights.\n")
    assert findings.of_model(choice, "decoder.cross") is None
    reader = models.reader(choice)
    save_atlas(build_atlas(reader, [CorpusSentence("The dog was tired.")]), file)
    measured = findings.of_model(choice, "decoder.cross")
    assert measured is not None
    assert measured.sentences == 1
    file.unlink()
    assert findings.of_model(choice, "decoder.cross") is None


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
    assert findings.of_model(choice, "decoder.cross") is None
    # Nor where a link of the folder leads out of it.
    (folder / "atlas.npz").symlink_to(elsewhere)
    assert findings.of_model(choice, "decoder.cross") is None
    (folder / "atlas.npz").unlink()
    save_atlas(atlas, folder / "atlas.npz")
    assert findings.of_model(choice, "decoder.cross") is not None


PICTURE = FILES["picture"]


def a_file(size: tuple[int, int], kind: str) -> bytes:
    file = BytesIO()
    Image.linear_gradient("L").resize(size).convert("RGB").save(file, kind)
    return file.getvalue()


def test_the_same_picture_is_asked_for_by_the_same_name() -> None:
    content = a_file((30, 20), "PNG")
    assert keep(PICTURE, content, "a.png") == keep(PICTURE, content, "a.png")
    content = a_file((40, 30), "PNG")
    first, second = keep(PICTURE, content, "secret.png"), keep(PICTURE, content, "mine.png")
    assert given(PICTURE, first)[0].startswith("secret.png")
    assert "secret" not in given(PICTURE, second)[0]


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_photograph_of_24_megapixels_is_shrunk_and_kept(kind: str) -> None:
    _, picture = given(PICTURE, keep(PICTURE, a_file((6_000, 4_000), kind), f"{kind}.photo"))
    assert max(picture.size) <= LARGEST_SIDE
    assert picture.width / picture.height == pytest.approx(1.5, rel=0.01)
    # A gradient from black above to white below is still one.
    column = np.asarray(picture.convert("L"))[:, picture.width // 2]
    assert column[0] < 10 < 245 < column[-1]


@pytest.mark.parametrize("size", [(60, 40), (2_400, 1_600)], ids=["small", "shrunk"])
def test_a_photograph_taken_sideways_stands_upright(size: tuple[int, int]) -> None:
    upright = Image.linear_gradient("L").resize(size).convert("RGB")
    file, noted = BytesIO(), Image.Exif()
    # The camera was turned: its file has to be turned clockwise (EXIF orientation 6).
    noted[0x0112] = 6
    upright.transpose(Image.Transpose.ROTATE_90).save(file, "JPEG", exif=noted)
    _, picture = given(PICTURE, keep(PICTURE, file.getvalue(), f"{size}.jpg"))
    assert picture.width > picture.height
    column = np.asarray(picture.convert("L"))[:, picture.width // 2]
    assert column[0] < 20 < 235 < column[-1]


def test_a_sound_is_kept_for_whoever_gave_it_at_the_rate_that_models_read() -> None:
    file, kind = BytesIO(), FILES["sound"]
    soundfile.write(file, np.full((96_000, 2), [0.2, 0.4]), 48_000, format="FLAC")
    first, second = (keep(kind, file.getvalue(), name) for name in ("secret.flac", "mine.flac"))
    name, sound = given(kind, first)
    assert (name.partition(" ")[0], sound.rate, sound.seconds) == ("secret.flac", 16_000, 2)
    assert np.median(sound.samples) == pytest.approx(0.3, abs=1e-3)
    assert "secret" not in given(kind, second)[0]
    with pytest.raises(InputTextError, match="no longer available"):
        given(kind, "another")


def test_a_model_that_is_not_there_is_named_where_others_are(
    tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    with pytest.raises(CheckpointError, match=rf"no model experiments/gone in {tiny_checkpoints.name}/"):
        models.folder(ModelChoice("experiments/gone"))
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    with pytest.raises(CheckpointError, match=rf"no checkpoint in {tmp_path.name}/"):
        models.folder(ModelChoice())

"""The film of a training on the page: it opens on what changes most, and what is no film gets a sentence."""

import re
import shutil
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.model.adapters.zoo import save_model
from tests.model.training.small_trainer import trained
from tests.viz.page_run import app_of, as_read, healthy, said
from tests.viz.pages.experiments.opening import at
from tests.viz.pages.experiments.through_training.invented import HOSTILE, film, saved
from tests.viz.sent import sent_to, unlinked
from viz.selection.catalogue import ROOT_VARIABLE
from viz.theme import HEAD_COLOURS

TAB = "Through training"


@pytest.fixture
def root(tiny_checkpoints: Path, tmp_path: Path) -> Path:
    """A folder of checkpoints with the invented film among the experiments."""
    shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "en-de")
    (tmp_path / "experiments").mkdir()
    saved(tmp_path / "experiments" / "film.npz")
    return tmp_path


@pytest.fixture
def filmed(app: AppTest, root: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(root))
    return app


def header(app: AppTest) -> dict[str, Any]:
    ((found, _),) = sent_to(app, "training_film")
    return found


def other_arrays() -> bytes:
    np.savez(file := BytesIO(), other=np.zeros(3))
    return file.getvalue()


def changed_film(folder: Path, **changed: np.ndarray) -> bytes:
    """A film with other arrays under some of its names."""
    with np.load(BytesIO(saved(folder / "film.npz", film()))) as arrays:
        kept = {name: arrays[name] for name in arrays}
    np.savez(file := BytesIO(), **{**kept, **changed})
    return file.getvalue()


def broken_header() -> bytes:
    with zipfile.ZipFile(file := BytesIO(), "w") as archive:
        archive.writestr("film.json.npy", b"\x93NUMPY\x01\x00\x04\x00{'d(")
    return file.getvalue()


def upload(app: AppTest, content: bytes, name: str = "own.npz") -> AppTest:
    app.file_uploader(key="training-film-file").set_value((name, content, "application/octet-stream"))
    app.run()
    assert not app.exception
    return app


def test_it_opens_on_the_head_sentence_and_frame_in_which_alignment_grows_most(filmed: AppTest) -> None:
    shown = header(at(filmed, TAB))
    assert shown["command"] == {"number": 1, "step": 3, "layer": 0, "head": 0}
    assert str(shown["finding"]).startswith(
        "Cross-attention L1 H1 comes to attend to the target word being predicted (steps 10 to 100): "
    )
    # The mean of two sentences with 0.4 and 0.8, from a quarter.
    assert str(shown["finding"]).endswith("0.60 of its weight at the end, 0.25 at step 0.")
    assert "A head counts as aligning if at least 0.4 of its weight is on linked words" in said(filmed)
    assert "Of 6 frames" not in said(filmed)
    assert shown["source"] == HOSTILE
    assert not [name for name in filmed.query_params if name.startswith("film_")]
    assert "attends to the word being predicted" in said(filmed)
    assert not [one for one in (*filmed.caption, *filmed.markdown, *filmed.html, *filmed.info) if "![x](" in one.value]


def test_another_attention_shows_its_own_head_metric_and_job(filmed: AppTest) -> None:
    at(filmed, TAB)
    shown = header(healthy(filmed.selectbox(key="film_site").set_value("encoder.self").run()))
    assert "L2 H2 becomes “previous token” (steps 10 to 100)" in str(shown["finding"])
    assert (shown["command"]["layer"], shown["command"]["head"]) == (1, 1)
    assert shown["threshold"] == 0.4
    assert filmed.selectbox(key="film_metric").value == "previous"
    assert shown["jobs"][3] == [[3, "←", HEAD_COLOURS[0], "previous token 0.90"]]
    assert filmed.query_params["film_site"] == "encoder.self"
    assert "counts as aligning" not in said(filmed)


def test_a_link_opens_at_its_step_head_and_metric_and_what_is_not_there_becomes_what_is(filmed: AppTest) -> None:
    link = {"film_step": 900, "film_layer": 1, "film_head": 1, "film_metric": "entropy", "film_sentence": 0}
    shown = header(at(filmed, TAB, **link))
    assert shown["command"] == {"number": 1, "step": 4, "layer": 1, "head": 1}
    assert (shown["metric"]["name"], shown["source"]) == ("Entropy", "A dog runs .")
    far = {"film_layer": 99, "film_head": 99, "film_sentence": 99, "film_metric": "same", "film_step": 999_999}
    opened = at(app_of(), TAB, **far)
    shown = header(opened)
    assert shown["command"] == {"number": 1, "step": len(shown["steps"]) - 1, "layer": 1, "head": 1}
    told = [as_read(one.value) for one in opened.info]
    assert all(any(f"“{name}={value}”" in one for one in told) for name, value in far.items())


def test_a_file_that_is_no_film_gets_a_sentence_in_the_language_of_the_page_and_the_film_stays(
    filmed: AppTest, tmp_path: Path
) -> None:
    before = header(at(filmed, TAB, lang="zh"))
    floats = changed_film(tmp_path, **{"0/encoder.self": np.zeros(3, np.float32)})
    no_json = changed_film(tmp_path, **{"film.json": np.frombuffer(b"[1", np.uint8)})
    names = {"http", "evil", "npz", "npy", "Headlight", "film", "json", "JSON", "encoder", "self"}
    no_films = (b"PK\x03\x04 no archive", b"", b"GIF89a<script>", other_arrays(), floats, no_json, broken_header())
    for content in no_films:
        told = upload(filmed, content, "![x](http://evil).npz").error[0].value
        assert "![x](" not in told
        assert set(re.findall("[A-Za-z]{2,}", told)) <= names
        assert header(filmed) == before


def test_a_film_of_ones_own_takes_the_place_of_the_one_that_ships_and_gives_it_back(
    filmed: AppTest, tmp_path: Path
) -> None:
    at(filmed, TAB, film_site="encoder.self")
    shown = header(healthy(upload(filmed, saved(tmp_path / "own.npz", film(("decoder.cross",), heads=3)))))
    assert (shown["heads"], filmed.selectbox(key="film_site").options) == (3, ["Decoder cross"])
    # A file that is none, chosen after it and taken out again, leaves it open.
    upload(filmed, b"no film", "other.npz")
    for told in (1, 0):
        assert (header(filmed)["heads"], len(filmed.error)) == (3, told)
        assert "Showing own" in said(filmed)
        filmed.file_uploader(key="training-film-file").clear().run()
    upload(filmed, saved(tmp_path / "own.npz", film(("decoder.cross",), heads=3)))
    back = next(button for button in filmed.button if button.label.startswith("Close"))
    assert header(healthy(back.click().run()))["heads"] == 2


def test_the_training_of_a_model_with_a_film_beside_its_weights_is_chosen(filmed: AppTest, root: Path) -> None:
    saved(root / "en-de" / "film.npz", film(("encoder.self",), heads=3))
    first = header(at(filmed, TAB, film_site="decoder.cross", film_head=1))
    choice = filmed.selectbox(key="film_of")
    assert choice.options == ["Full model, from scratch", "en-de"]
    shown = header(healthy(choice.set_value("en-de").run()))
    assert (first["heads"], shown["heads"]) == (2, 3)
    # What was chosen in the film before says nothing of this one.
    assert filmed.selectbox(key="film_site").options == ["Encoder self"]
    assert filmed.query_params["film_of"] == "en-de"
    assert "film_head" not in filmed.query_params
    again = app_of()
    assert header(at(again, TAB, film_of="../evil"))["heads"] == 2


def test_where_no_film_ships_a_sentence_says_so_and_one_can_be_opened(app: AppTest, tmp_path: Path) -> None:
    at(app, TAB)
    assert "There is no training film" in unlinked(app.info[0].value)
    assert "--film FILE.npz" in app.code[0].value
    assert header(healthy(upload(app, saved(tmp_path / "own.npz"))))["layers"] == 2


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("kind", "spelling"), [("gpt2", "bytes"), pytest.param("bart", "metaspace", marks=pytest.mark.long)]
)
def test_the_film_of_a_trainers_callback_opens(filmed: AppTest, tmp_path: Path, kind: str, spelling: str) -> None:
    file = tmp_path / "watched.npz"
    trained(save_model(tmp_path / kind, kind, spelling), None, tmp_path, file)
    app = healthy(upload(at(filmed, TAB), file.read_bytes()))
    shown = header(app)
    assert shown["steps"] == [0, 2, 4, 6, 7]
    assert shown["source"] in app.selectbox(key="film_sentence").options
    assert "reads them at each frame" in said(app)
    assert "BLEU" not in said(app)
    assert shown["losses"][0] is None

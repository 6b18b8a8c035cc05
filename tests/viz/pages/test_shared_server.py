"""A server that a class shares, and bad input: no folder can be named, files are small, nothing breaks a page."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from model.errors import CheckpointError
from tests.benchmarks import forged, hostile
from tests.benchmarks.hostile import Hostile
from tests.viz.page_run import run_page, said
from tests.viz.pages.any_model import add, opened
from viz.access import models as access_folders
from viz.selection import catalogue
from viz.selection.catalogue import DOWNLOADS_VARIABLE, FOLDERS_VARIABLE, ROOT_VARIABLE
from viz.server import limits

LARGE: Final = b"x" * (2 * 1024**2 + 1)


@dataclass(frozen=True)
class Field:
    """A field for a file: its key, the page and the parameters that show it, and the models that it is shown for."""

    key: str
    page: str
    params: dict[str, str]


FIELDS: Final = (
    Field("given-file", "attention", {"checkpoint": "vit"}),
    Field("atlas/sentences-file", "atlas", {"corpus": "file"}),
    Field("atlas/pairs-file", "atlas", {"corpus": "file", "checkpoint": "en-de"}),
    Field("training-film-file", "experiments", {"claim": "Through training"}),
    Field("measured-file", "coreference", {"lab": "Measured", "given": "file"}),
    Field("cause-pairs", "coreference", {"lab": "Cause", "checkpoint": "en-de", "off": "c-0-0"}),
)


@pytest.fixture
def patched(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """What makes a server shared in the middle of a test."""
    yield monkeypatch
    monkeypatch.undo()
    limits.rules.cache_clear()


def share(patched: pytest.MonkeyPatch) -> None:
    """From now on the server is shared."""
    patched.setenv(limits.SHARED_VARIABLE, "1")
    limits.rules.cache_clear()


@pytest.mark.usefixtures("shared")
def test_a_shared_server_has_no_field_for_a_folder(any_model: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDERS_VARIABLE, "/")
    monkeypatch.setenv(DOWNLOADS_VARIABLE, "1")
    # The sidebar is that of every page.
    app = next(forged.views()).opened()
    assert not app.exception
    assert not [field for field in app.text_input if str(field.key).startswith("add/")]
    assert not [one for one in app.expander if one.label == "Add a model"]


def test_a_folder_sent_to_the_field_that_another_server_would_have_is_not_opened(
    any_model: AppTest, folders: Path, patched: pytest.MonkeyPatch
) -> None:
    app = opened(any_model, "en-de")
    field = next(one for one in app.text_input if one.key == "add/folder")
    button = next(one for one in app.button if one.label == "Add")
    share(patched)
    path = WidgetState(id=field.id, string_value=str(folders / "bert"))
    forged.send(app, path, WidgetState(id=button.id, trigger_value=True))
    assert not app.exception
    assert app.selectbox(key="checkpoint").value == "en-de"


def test_a_folder_that_a_session_had_added_is_closed_to_it(
    any_model: AppTest, folders: Path, tmp_path: Path, patched: pytest.MonkeyPatch
) -> None:
    mine = Path(shutil.copytree(folders / "gpt2", tmp_path / "mine"))
    app = add(opened(any_model, "en-de"), mine)
    assert app.selectbox(key="checkpoint").value == "mine"
    share(patched)
    app.run()
    assert not app.exception
    assert "mine" not in app.selectbox(key="checkpoint").options
    assert app.selectbox(key="checkpoint").value != "mine"
    assert "opens only the models on its list" in said(app)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("path", ["/etc", "../any", "~", "{folders}/bert", "file:///etc/passwd", "."])
def test_an_address_that_names_a_path_opens_none_and_says_what_there_is(
    path: str, any_model: AppTest, folders: Path
) -> None:
    for name in ("checkpoint", "folder", "add/folder", "model"):
        any_model.query_params[name] = path.format(folders=folders)
    any_model.run()
    assert not any_model.exception
    assert not any_model.error
    assert "opens only the models on its list" in said(any_model)
    assert "Add a model" not in said(any_model)


@pytest.mark.usefixtures("shared")
def test_what_a_page_asks_for_folders_refuses_too(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDERS_VARIABLE, str(folders))
    monkeypatch.setenv(DOWNLOADS_VARIABLE, "1")
    assert catalogue.folders_to_add_from() == ()
    assert not catalogue.downloads_allowed()
    for refused in (access_folders.checked, access_folders.fetched, lambda path: catalogue.add(Path(path))):
        with pytest.raises(CheckpointError, match="This server is shared"):
            refused(str(folders / "bert"))


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.key)
def test_a_file_larger_than_a_shared_server_takes_is_refused_though_a_browser_sends_it(
    field: Field, any_model: AppTest
) -> None:
    for name, value in field.params.items():
        any_model.query_params[name] = value
    app = run_page(any_model, field.page)
    uploader = app.file_uploader(key=field.key)
    assert uploader.proto.max_upload_size_mb <= 2
    # What the browser checks, a forged message does not.
    uploader.proto.max_upload_size_mb = 200
    uploader.set_value(("large.txt", LARGE, "text/plain"))
    app.run()
    assert not app.exception
    assert "large.txt is 2.0 MB; the limit is 2 MB" in said(app)


@pytest.mark.usefixtures("shared")
def test_a_page_that_computes_too_long_says_so_and_stays_alive(
    any_model: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = replace(limits.rules(), seconds=0.0)
    monkeypatch.setattr(limits, "rules", lambda: impatient)
    any_model.query_params["text"] = "A sentence that nobody has read before."
    app = any_model.run()
    assert not app.exception
    assert [title.value for title in app.title] == ["Attention"]
    assert "this server is shared and limits each computation" in said(app)


def test_a_setting_that_cannot_be_is_a_sentence_in_place_of_the_app(
    any_model: AppTest, patched: pytest.MonkeyPatch
) -> None:
    share(patched)
    patched.setenv(limits.SECONDS_VARIABLE, "a while")
    app = any_model.run()
    assert not app.exception
    assert "must be a whole number of seconds" in said(app)
    assert not app.title


SLICE = list(hostile.inputs(12))


@pytest.fixture
def small(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("one", SLICE, ids=lambda one: f"{one.number}")
def test_bad_input_leaves_the_page_alive(one: Hostile) -> None:
    problem = hostile.problem_of(one)
    assert not problem, f"{one}: {problem}"


SENT = {"string_value": (forged.STALE,), "double_array_value": ((-1.0,),), "json_value": forged.JSON[3:5]}
VIEWS = [
    next(forged.views()),
    forged.View("viz/pages/decoding/page.py", "Branches"),
    forged.View("viz/pages/experiments/page.py", "Ablations"),
]


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_a_value_that_a_widget_cannot_have_changes_nothing(
    view: forged.View, tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    tried = list(forged.problems_of(view, SENT))
    assert tried
    assert not [problem for _, problem in tried if problem]

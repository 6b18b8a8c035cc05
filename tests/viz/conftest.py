"""What the tests of pages share: installed packages read once, and a selection for the decoding page's tabs."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, local_script_runner

from model import Translator
from model.checkpoint import write_manifest
from tests.viz.page_run import app_of
from tests.viz.pages.decoding.opening import TEXT
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.server import limits


def until_it_has_run(runner: local_script_runner.LocalScriptRunner, timeout: float) -> None:
    """As Streamlit waits for a run of `AppTest`, but without waking up a thousand times a second beside it."""
    thread = runner._script_thread
    assert thread is not None
    thread.join(timeout)
    assert not thread.is_alive(), f"the page did not end in {timeout:g} s"


@pytest.fixture(scope="session", autouse=True)
def what_each_run_would_do_is_done_once() -> Iterator[None]:
    """Streamlit compiles the scripts at each run and reads the metadata of packages, of which none has components."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", list)
        scripts = ScriptCache()
        patch.setattr(local_script_runner, "ScriptCache", lambda: scripts)
        patch.setattr(local_script_runner, "require_widgets_deltas", until_it_has_run)
        yield


@pytest.fixture
def chosen(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Selection:
    """A selection of the tiny checkpoint, which the app finds as well."""
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return Selection().changed(checkpoint="en-de", text=TEXT)


@pytest.fixture
def selection(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Selection:
    """The same with the sentence that a page opens with."""
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return Selection().changed(checkpoint="en-de")


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app with the tiny checkpoint, not run yet."""
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return app_of()


@pytest.fixture
def trained_with(
    recorded_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[dict[str, float]], None]:
    """Gives the server one checkpoint alone, whose record says these settings of its training."""

    def given(settings: dict[str, float]) -> None:
        folder = Path(shutil.copytree(recorded_checkpoints / "en-de", tmp_path / "en-de"))
        record = json.loads((folder / "training.json").read_text(encoding="utf-8"))
        record["settings"] |= settings
        (folder / "training.json").write_text(json.dumps(record), encoding="utf-8")
        write_manifest(folder)
        monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))

    return given


@pytest.fixture
def saved(tiny_checkpoints: Path) -> Translator:
    """The translator as a page loads it: a checkpoint is rounded when it is saved."""
    return Translator.load(tiny_checkpoints / "en-de", device="cpu")


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The rules of a server that a class or a lab shares."""
    monkeypatch.setenv(limits.SHARED_VARIABLE, "1")
    monkeypatch.delenv(limits.SECONDS_VARIABLE, raising=False)
    limits.rules.cache_clear()
    yield
    monkeypatch.undo()
    limits.rules.cache_clear()

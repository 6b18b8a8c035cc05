"""What the first page needs is loaded as the server begins; what cannot be is left to the page, which says so."""

import asyncio
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from tests.paths import ROOT
from tests.patience import PATIENCE
from tests.viz.page_run import app_of
from viz import warm_start
from viz.access import models, traces
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection

AFTERWARDS = """
import sys
from streamlit.testing.v1 import AppTest
from viz import warm_start
warm_start.prepare()
before = set(sys.modules)
app = AppTest.from_file("app.py", default_timeout=300).run()
assert app.title[0].value == "Attention"
print("new:", *sorted(name for name in sys.modules.keys() - before if name.split(".")[0] in ("viz", "model", "torch")))
"""


@pytest.mark.long
def test_the_first_page_finds_every_module_loaded() -> None:
    code = AFTERWARDS.replace('"app.py"', repr(str(ROOT / "app.py")))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=400
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1].split() == ["new:"]


def test_the_first_model_and_its_first_trace_are_kept(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    opened = Selection()
    warm_start.prepare()
    assert models.bytes_to_load(opened.model) == 0
    reader = models.reader(opened.model)
    traces.trace(reader, opened.common.text, progress=lambda written, most: pytest.fail("it is made again"))


def test_a_damaged_model_is_the_pages_to_report(
    tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "en-de")
    (tmp_path / "en-de" / "model.safetensors").write_bytes(b"damaged")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    warm_start.prepare()
    app = app_of().run()
    assert not app.exception
    assert "differs from its manifest" in app.error[0].value


def test_a_large_model_and_one_of_other_people_wait_until_somebody_asks(
    tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "en-de")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    assert models.is_small_and_ours(Selection().model)
    size = models.weights_bytes(Selection().model)
    for most, is_loaded in ((size, True), (size - 1, False)):
        monkeypatch.setattr(models, "LARGEST_UNASKED", most)
        assert models.is_small_and_ours(Selection().model) == is_loaded
    monkeypatch.undo()
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    (tmp_path / "en-de" / "manifest.json").unlink()
    assert not models.is_small_and_ours(Selection().model)


def test_the_server_serves_while_it_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    may_end, has_ended = Event(), Event()

    def load() -> None:
        may_end.wait(PATIENCE)
        has_ended.set()

    async def serve() -> None:
        async with warm_start.while_serving(None):  # type: ignore[arg-type]
            assert not has_ended.is_set()
            may_end.set()

    monkeypatch.setattr(warm_start, "prepare", load)
    # In a thread of its own: a browser's tests keep a loop in this one.
    with ThreadPoolExecutor(1) as own:
        own.submit(asyncio.run, serve()).result()
    assert has_ended.wait(PATIENCE)

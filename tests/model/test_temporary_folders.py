"""A temporary folder goes with whoever made it: at the end of its block, or when another is made after a kill."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from model.temporary_folders import SETTLED, TemporaryFolder, remove_left, temporary_folder
from tests.paths import ROOT
from tests.patience import PATIENCE

#: Holds a folder with a file, and runs a module of ours under limits, until it is killed.
HOLDER = """
import sys
from pathlib import Path
from model.adapters.limited_process import answer_of
from model.temporary_folders import temporary_folder
with temporary_folder("trial", Path(sys.argv[1])) as folder:
    (folder / "file").write_bytes(bytes(100))
    answer_of("sleeping", [], seconds=600, memory=8 << 30, patience=600)
"""
SLEEPING = """
import sys, time
from pathlib import Path
from model.adapters.limited_process import serve
def sleep():
    Path(__file__).with_name("begun").touch()
    time.sleep(600)
    return {}
serve(sleep)
"""


def aged(folder: Path) -> None:
    os.utime(folder, (time.time() - SETTLED - 1,) * 2)


def test_a_folder_is_its_makers_alone_and_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    with temporary_folder("trial", tmp_path) as folder:
        (folder / "a").mkdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert list(tmp_path.iterdir()) == [folder]
    held = TemporaryFolder("trial", tmp_path)
    held.remove()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_someone_holds_or_that_is_none_of_ours_stays(tmp_path: Path) -> None:
    others = [tmp_path / "other", tmp_path / ".headlight-1.partial", tmp_path / ".headlight-link"]
    others[0].mkdir()
    others[1].touch()
    others[2].symlink_to(others[0])
    with temporary_folder("trial", tmp_path) as folder:
        for path in (folder, *others):
            aged(path)
        remove_left(tmp_path)
        assert {*tmp_path.iterdir()} == {folder, *others}
    (left := tmp_path / ".headlight-trial-new").mkdir()
    remove_left(tmp_path)
    assert left.is_dir()
    aged(left)
    remove_left(tmp_path)
    assert {*tmp_path.iterdir()} == {*others}
    remove_left(tmp_path / "nowhere")


@pytest.mark.long
def test_a_killed_process_leaves_no_process_and_its_folder_goes_with_the_next(tmp_path: Path) -> None:
    (tmp_path / "sleeping.py").write_text(SLEEPING, encoding="utf-8")
    (home := tmp_path / "home").mkdir()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])}
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(home)], cwd=tmp_path, env=environment) as holder:
        waits_until(lambda: (tmp_path / "begun").exists())
        (child,) = psutil.Process(holder.pid).children()
        (folder,) = home.iterdir()
        aged(folder)
        remove_left(home)
        assert folder.is_dir()
        holder.kill()
        killed = time.monotonic()
    waits_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
    assert time.monotonic() - killed < 10
    with temporary_folder("trial", home) as next_one:
        assert list(home.iterdir()) == [next_one]


def waits_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)

"""What is imported when it is asked for, how threads wait, and how a computation is ended."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import model
from model import Translator, interruption, later
from model.errors import CancelledError
from model.thread_settings import sleep_while_waiting
from tests.paths import ROOT

WITHOUT_TORCH = ("decoding.cost", "training_record")


def test_every_name_that_the_type_checker_sees_can_be_asked_for() -> None:
    for module in (model, later):
        for node in ast.walk(ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("model"):
                for alias in node.names:
                    found = getattr(module, alias.asname or alias.name)
                    assert found.__name__ in (alias.name, f"{node.module}.{alias.name}")


@pytest.mark.parametrize(
    ("module", "asked", "found"),
    [
        ("model.later", "sorted(name for name in sys.modules if name.startswith('model'))", "['model', 'model.later']"),
        *((f"model.{counting}", "'torch' in sys.modules", "False") for counting in WITHOUT_TORCH),
    ],
)
def test_nothing_is_imported_before_it_is_needed(module: str, asked: str, found: str) -> None:
    program = f"import sys, {module}; print({asked})"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == found


def test_another_name_is_an_error_of_attributes() -> None:
    name = "no_such_module"
    with pytest.raises(AttributeError, match=r"model\.later"):
        getattr(later, name)


def test_what_a_person_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    sleep_while_waiting()
    assert os.environ["OMP_WAIT_POLICY"] == "active"


def test_it_is_said_before_the_app_can_load_torch() -> None:
    code = "import os, sys\nimport viz.access.models\nprint(os.environ['OMP_WAIT_POLICY'], 'torch' in sys.modules)"
    clean = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=clean,
        check=True,
        capture_output=True,
        encoding="utf-8",
        timeout=200,
    )
    assert done.stdout.split() == ["passive", "False"]


def test_a_translation_ends_at_the_pass_at_which_it_is_asked_to(translator: Translator) -> None:
    passes = 0

    def check() -> None:
        nonlocal passes
        passes += 1
        if passes == 3:
            raise CancelledError

    with pytest.raises(CancelledError), interruption.interruptible(check):
        translator.translate("The cat sat on the mat.")
    assert passes == 3


def test_nobody_is_asked_outside_of_the_block(translator: Translator) -> None:
    asked = []
    with interruption.interruptible(lambda: asked.append(1)):
        pass
    translator.translate("The cat sat on the mat.")
    assert asked == []

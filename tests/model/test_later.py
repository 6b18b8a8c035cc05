"""What is imported when it is first asked for is what the type checker sees."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import model
from model import later
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

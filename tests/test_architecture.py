"""Imports point app → viz → model and never back; torch and pickle stay where they belong."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODEL, VIZ = sorted((ROOT / "model").rglob("*.py")), sorted((ROOT / "viz").rglob("*.py"))


def imported(path: Path) -> set[str]:
    """First parts of all names that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("path", MODEL, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_model_knows_nothing_of_pages(path: Path):
    assert not imported(path) & {"streamlit", "plotly", "bertviz", "viz", "app", "tests", "pickle"}


@pytest.mark.parametrize("path", VIZ, ids=lambda path: str(path.relative_to(ROOT)))
def test_viz_knows_nothing_of_the_app(path: Path):
    assert not imported(path) & {"app", "tests", "pickle"}


@pytest.mark.parametrize("path", sorted((ROOT / "viz" / "figures").glob("*.py")), ids=lambda path: path.name)
def test_figures_are_pure(path: Path):
    assert not imported(path) & {"streamlit", "torch"}


@pytest.mark.parametrize("path", [*MODEL, *VIZ], ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is(path: Path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("model.errors", ("torch", "streamlit")),
        ("model.config", ("torch", "streamlit")),
        ("model.training.loop", ("streamlit", "plotly", "bertviz", "pytest")),
        ("viz.state", ("torch",)),
        ("viz.controls", ("torch",)),
    ],
)
def test_importing_a_module_does_not_load(module: str, absent: tuple[str, ...]):
    script = f"import sys, {module}; print([name for name in {absent!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"

"""Imports point from app to viz to model, never back; and torch waits until a page asks for it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODEL = sorted((ROOT / "model").rglob("*.py"))
VIZ = sorted((ROOT / "viz").rglob("*.py"))
FIGURES = sorted((ROOT / "viz" / "figures").glob("*.py"))


def name_of(path):
    return str(path.relative_to(ROOT))


def imported(path):
    """Top-level packages that a file imports anywhere, but for type checking."""
    found = set()

    def visit(node):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text(encoding="utf-8")))
    return found


@pytest.mark.parametrize("path", MODEL, ids=name_of)
def test_the_model_knows_nothing_of_the_screen(path):
    assert not imported(path) & {"viz", "app", "streamlit", "plotly", "bertviz"}


@pytest.mark.parametrize("path", VIZ, ids=name_of)
def test_viz_knows_nothing_of_the_app_and_leaves_torch_to_the_model(path):
    assert not imported(path) & {"app", "torch", "safetensors", "sentencepiece"}


@pytest.mark.parametrize("path", VIZ, ids=name_of)
def test_only_the_loader_imports_the_model_beyond_its_errors(path):
    if path.name == "loader.py":
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    inside = {child for node in guarded for child in ast.walk(node)}
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node not in inside}
    assert {module for module in modules if module and module.split(".")[0] == "model"} <= {"model.errors"}


@pytest.mark.parametrize("path", FIGURES, ids=name_of)
def test_figures_are_pure(path):
    assert "streamlit" not in imported(path)


def test_everything_but_a_translation_is_there_before_torch():
    modules = [name_of(path)[:-3].replace("/", ".") for path in VIZ]
    modules = [module.removesuffix(".__init__") for module in modules if ".pages." not in module]
    code = f"import importlib, sys\nfor m in {modules}: importlib.import_module(m)\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=120)

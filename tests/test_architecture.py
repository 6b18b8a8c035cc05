"""Imports point from app to viz to model, never back; torch waits until it is needed, and pickle never comes."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT

MODEL = sorted((ROOT / "model").rglob("*.py"))
VIZ = sorted((ROOT / "viz").rglob("*.py"))
PICKLING = {"pickle", "dill", "joblib", "shelve"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    return name_of(path)[:-3].replace("/", ".").removesuffix(".__init__")


def imported_modules(node: ast.AST) -> Iterator[str]:
    """Modules that a file imports anywhere, but for type checking."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
    for child in ast.iter_child_nodes(node):
        yield from imported_modules(child)


def test_every_module_says_what_it_is_and_unpickles_nothing() -> None:
    wrong = []
    for path in (*MODEL, *VIZ):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        packages = {module.partition(".")[0] for module in imported_modules(tree)}
        # Torch's reader of plain tensors runs in a process of its own, with limits.
        unpickles = "torch.load" in text and path.name != "weights_process.py"
        if not ast.get_docstring(tree) or packages & PICKLING or unpickles:
            wrong.append(name_of(path))
        assert text.count("torch.load(") == text.count("weights_only=True")
    assert len(MODEL) > 100 < len(VIZ)
    assert not wrong


@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        (["model.errors", "model.config"], ["torch"]),
        ([module_of(path) for path in VIZ if not {"pages", "gallery"} & {*path.parts}], ["torch"]),
        ([module_of(path) for path in MODEL if "training" in path.parts], ["streamlit", "plotly", "bertviz", "pytest"]),
    ],
    ids=["errors and settings", "viz", "training"],
)
def test_importing_these_modules_does_not_load(modules: list[str], absent: list[str]) -> None:
    load = f"import importlib, sys\nfor m in {modules}: importlib.import_module(m)"
    code = f"{load}\nprint(set({absent}) & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, encoding="utf-8", timeout=120
    )
    assert done.stdout.strip() == "set()"


def test_every_expander_has_a_key() -> None:
    """Without one the browser knows it by its place: whatever appears above it closes it under a person's hand."""
    calls = [
        (name_of(path), call)
        for path in VIZ
        if ".expander(" in (text := path.read_text(encoding="utf-8"))
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "expander"
    ]
    assert calls
    assert not [name for name, call in calls if "key" not in {keyword.arg for keyword in call.keywords}]

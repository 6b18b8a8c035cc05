"""Imports point from app to viz to model; torch waits, pickle never comes; every file that is opened is known."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.paths import ROOT

MODEL = sorted((ROOT / "model").rglob("*.py"))
VIZ = sorted((ROOT / "viz").rglob("*.py"))
PICKLING = {"pickle", "dill", "joblib", "shelve"}


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All nodes of a source, parsed once for all tests."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


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
        tree = nodes(path)[0]
        assert isinstance(tree, ast.Module)
        packages = {module.partition(".")[0] for module in imported_modules(tree)}
        # Torch's reader of plain tensors runs in a process of its own, with limits.
        unpickles = "torch.load" in text and path.name != "weights_process.py"
        if not ast.get_docstring(tree) or packages & PICKLING or unpickles:
            wrong.append(name_of(path))
        assert text.count("torch.load(") == text.count("weights_only=True")
    assert len(MODEL) > 100 < len(VIZ)
    assert not wrong


@pytest.mark.long
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
        if ".expander(" in path.read_text(encoding="utf-8")
        for call in nodes(path)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "expander"
    ]
    assert calls
    assert not [name for name, call in calls if "key" not in {keyword.arg for keyword in call.keywords}]


_NAMES: Final = {"open", "load_file", "safe_open", "urlopen"}
_ATTRIBUTES: Final = {
    "open", "read_text", "read_bytes", "from_pretrained", "ZipFile", "load_file", "safe_open", "memmap", "fromfile",
    "copyfile", "copytree",
}  # fmt: skip

#: Files of a model's folder: by our function, or by a library while it holds them.
FOLDERS: Final = {
    "model/folder_files.py": {"os.open"},
    "model/adapters/library.py": {
        "model_class.made.from_pretrained", "transformers.AutoImageProcessor.from_pretrained",
        "transformers.AutoTokenizer.from_pretrained",
    },
    "model/adapters/folder_check.py": {"safe_open"},
    "model/adapters/peft_adapter.py": {"load_file"},
    "model/marian/loading.py": {"safe_open"},
    "model/arrays_file.py": {"archive.open", "np.load", "zipfile.ZipFile"},
}  # fmt: skip
#: Copies that we made of such files.
COPIES: Final = {
    "model/adapters/config_limits.py": {"(folder / name).read_text", "path.read_bytes"},
    "model/adapters/tokenizer_trial_process.py": {"AutoTokenizer.from_pretrained"},
    # A folder of our own with a link to the one file that was checked and is held.
    "model/adapters/weights_process.py": {
        "auto.from_pretrained", "transformers.AutoConfig.from_pretrained", "transformers.AutoTokenizer.from_pretrained",
    },
}  # fmt: skip
#: Files that a person names, in a command or a session, or that a run of theirs left.
NAMED: Final = {
    "model/__main__.py": {"table.read_text"},
    "model/adapters/image_reader.py": {"Image.open", "path.open"},
    # Beside a film, the text of our own that it fills.
    "model/analysis/ablations/measure.py": {"Path(__file__).with_name(template).read_text", "film.read_bytes"},
    "model/analysis/coreference/case_files.py": {"path.open"},
    "model/file_writing.py": {"os.open", "path.open", "unfinished.open"},
    "model/pairs.py": {"gzip.open", "lzma.open", "open"},
    "model/trace/file.py": {"path.open"},
    "model/training/command.py": {"(run / LOG).read_bytes"},
    "model/training/loop.py": {"load_file", "path.open", "path.read_text", "safe_open"},
}
#: Files of our own source, and the system's.
OWN: Final = {
    "model/adapters/placement.py", "model/later.py", "model/sealed_files.py", "model/training/lexicon.py",
    "viz/gallery/docs.py", "viz/gallery/site.py", "viz/locale/__main__.py", "viz/pages/attention/bertviz/tab.py",
    "viz/pages/learn/collection/drawing.py", "viz/pages/learn/lessons/lesson.py", "viz/pages/learn/story/bar.py",
    "viz/pages/model_card/tabs.py", "viz/pictures/offline.py", "viz/selection/examples.py", "viz/server/scripts.py",
    "viz/text/glossary.py", "viz/text/messages.py", "viz/ui/formulas.py", "viz/ui/frame.py", "viz/ui/snippets.py",
}  # fmt: skip


def is_numpys_load(node: ast.Attribute) -> bool:
    return node.attr == "load" and isinstance(node.value, ast.Name) and node.value.id == "np"


def reads(file: Path) -> set[str]:
    """What of a module opens files, called or handed on; an `open` of no module that is not called is of a page."""
    found, called = set(), {id(node.func) for node in nodes(file) if isinstance(node, ast.Call)}
    modules = {alias.name for node in nodes(file) if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes(file):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in _NAMES:
            found.add(node.id)
        if not isinstance(node, ast.Attribute) or not (node.attr in _ATTRIBUTES or is_numpys_load(node)):
            continue
        if node.attr != "open" or id(node) in called or ast.unparse(node.value) in modules:
            found.add(ast.unparse(node))
    return found


def test_every_place_that_opens_a_file_is_known() -> None:
    found = {name_of(file): opened for file in (*MODEL, *VIZ) if (opened := reads(file))}
    assert {name: opened for name, opened in found.items() if name not in OWN} == FOLDERS | COPIES | NAMED
    assert found.keys() >= OWN


TEXT_MODES = {f"{way}{more}" for way in "rwax" for more in ("", "t", "+", "t+", "+t")}


def names_no_encoding(call: ast.Call) -> bool:
    """Whether a call reads or writes text in whatever encoding the system has."""
    given = {keyword.arg for keyword in call.keywords}
    if "encoding" in given:
        return False
    match call.func:
        case ast.Attribute(attr="read_text" | "write_text"):
            return True
        case ast.Attribute(value=ast.Name(id="subprocess")):
            return bool(given & {"text", "universal_newlines"})
        case ast.Name(id="open") | ast.Attribute(attr="open"):
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            has_mode = any(isinstance(value, ast.Constant) and value.value in TEXT_MODES for value in values)
            return has_mode or len(call.args) == isinstance(call.func, ast.Name)
    return False


def test_every_text_that_is_read_or_written_names_its_encoding() -> None:
    """By its call, for what `test_portable` does not run."""
    files = [ROOT / "app.py", *MODEL, *VIZ, *sorted((ROOT / "tests").rglob("*.py"))]
    opens = re.compile(r"\b(open|read_text|write_text|subprocess)\b")
    unnamed = [
        f"{name_of(file)}:{node.lineno}"
        for file in files
        if opens.search(file.read_text(encoding="utf-8"))
        for node in nodes(file)
        if isinstance(node, ast.Call) and names_no_encoding(node)
    ]
    assert not unnamed


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("path.read_text()", True),
        ("path.write_text(text, newline='')", True),
        ("open(path)", True),
        ("path.open('a')", True),
        ("path.open()", True),
        ("open(path, mode='w')", True),
        ("subprocess.run(command, text=True)", True),
        ("open(path, 'rb')", False),
        ("path.open('a', encoding='utf-8')", False),
        ("archive.open(entry)", False),
        ("subprocess.run(command, capture_output=True)", False),
    ],
)
def test_a_call_without_an_encoding_is_known(code: str, expected: bool) -> None:
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    assert names_no_encoding(call) == expected

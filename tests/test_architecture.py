"""Imports point from app to viz to model; torch waits, pickle never comes; every file that is opened is known."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
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
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
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
        ([module_of(path) for path in VIZ if not {"pages", "gallery", "heads.py"} & {*path.parts}], ["torch"]),
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


#: What is no result but keeps account while something runs; it changes in its own module alone.
IN_MOTION: Final = {
    "AskedClass", "Called", "Grid", "Known", "LayerCall", "QueuedJob", "Sessions", "Taps", "Tests", "_Beside", "_Gates",
    "_Notices", "_Outcome", "_Past", "_Pieces", "_Screen", "_Walk",
}  # fmt: skip


def test_what_is_computed_is_a_frozen_dataclass() -> None:
    """What one person was shown is in caches and in the sessions of others: who got it must not change it."""
    changing = re.compile(r"^ *@dataclass\b(?!.*frozen=True).*\n(?: *@.*\n)* *class (\w+)", re.M)
    found = [name for path in (*MODEL, *VIZ) for name in changing.findall(path.read_text(encoding="utf-8"))]
    assert sorted(found) == sorted(IN_MOTION)


_NAMES: Final = {"open", "load_file", "safe_open", "urlopen"}
_ATTRIBUTES: Final = {
    "open", "read_text", "read_bytes", "from_pretrained", "ZipFile", "load_file", "safe_open", "memmap", "fromfile",
    "copyfile", "copytree",
}  # fmt: skip

#: Files of a model's folder: by our function, or by a library while it holds them.
FOLDERS: Final = {
    "model/folder_files.py": {"os.open"},
    "model/adapters/library.py": {
        "made.from_pretrained", "transformers.AutoFeatureExtractor.from_pretrained",
        "transformers.AutoImageProcessor.from_pretrained", "transformers.AutoTokenizer.from_pretrained",
    },
    "model/adapters/folder_check.py": {"safe_open"},
    "model/adapters/peft_adapter.py": {"load_file"},
    "model/arrays_file.py": {"archive.open", "np.load", "zipfile.ZipFile"},
}  # fmt: skip
#: Copies that we made of such files.
COPIES: Final = {
    "model/adapters/config_limits.py": {"(folder / name).read_text", "path.read_bytes"},
    "model/adapters/tokenizer_trial_process.py": {"AutoTokenizer.from_pretrained"},
    # A folder of our own with a link to the one file that was checked and is held.
    "model/adapters/weights_process.py": {
        "transformers.AutoConfig.from_pretrained", "transformers.AutoTokenizer.from_pretrained",
    },
}  # fmt: skip
#: Files that a person names, in a command or a session, or that a run of theirs left.
NAMED: Final = {
    "model/__main__.py": {"table.read_text"},
    "model/sources/picture_file.py": {"Image.open", "path.open"},
    # The second one writes, into memory.
    "model/sources/sound_file.py": {"path.open", "wave.open"},
    # Beside a film, the text of our own that it fills.
    "model/analysis/ablations/measure.py": {"Path(__file__).with_name(template).read_text", "film.read_bytes"},
    "model/analysis/coreference/case_files.py": {"path.open"},
    "model/analysis/timing/word_times.py": {"path.open"},
    "model/file_writing.py": {"os.open", "path.open", "unfinished.open"},
    # Only to lock it.
    "model/temporary_folders.py": {"os.open"},
    "model/pairs.py": {"bz2.open", "gzip.open", "lzma.open", "open"},
    "model/trace/file.py": {"path.open"},
    "model/training/command.py": {"(run / LOG).read_bytes"},
    "model/training/loop.py": {"load_file", "path.read_text", "safe_open"},
}
#: Files of our own source, and the system's.
OWN: Final = {
    "model/adapters/placement.py", "model/analysis/head_description/cells.py", "model/cluster.py", "model/later.py",
    "model/sealed_files.py", "model/training/lexicon.py",
    "viz/gallery/docs.py", "viz/gallery/site.py", "viz/gallery/typefaces.py", "viz/locale/__main__.py",
    "viz/pages/attention/opened_head/bertviz_page.py", "viz/pages/atlas/report.py",
    "viz/ui/collection/page_file.py", "viz/pages/learn/lessons/lesson.py", "viz/pages/learn/story/bar.py",
    "viz/pages/model_card/sections.py", "viz/pictures/offline.py", "viz/selection/examples.py",
    "viz/server/opening_page/ahead.py", "viz/server/scripts.py",
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


#: Methods and functions that make, move or write files or folders, whatever they are of; those of four modules.
_WRITING: Final = {
    "write_text", "write_bytes", "touch", "mkdir", "rename", "symlink_to", "hardlink_to", "savez", "savez_compressed",
    "tofile", "save_file", "save_pretrained", "extractall", "TemporaryDirectory", "TemporaryFile",
    "NamedTemporaryFile", "mkdtemp", "mkstemp",
}  # fmt: skip
_WRITING_OF: Final = {
    "os": {
        "open", "mkdir", "makedirs", "rename", "renames", "replace", "link", "symlink", "truncate", "mkfifo", "mknod",
    },
    "shutil": {"copy", "copy2", "copyfile", "copytree", "copyfileobj", "move", "make_archive", "unpack_archive"},
    "np": {"save", "memmap"},
    "torch": {"save"},
}  # fmt: skip
#: The functions of `model/file_writing.py`, each with the number of its argument `inside`, a folder that we fill.
_OURS: Final = {
    "write_bytes": 2, "write_text": 2, "append_line": 2, "written_file": 1, "written_path": 1, "make_folder": 1,
}  # fmt: skip
#: By module, what writes otherwise than by these functions.
WRITES: Final = {
    # Reading alone: the flags say so.
    "model/folder_files.py": {"os.open"},
    # Into a file that `written_file` has opened, or into memory.
    "model/analysis/atlas/file.py": {"np.savez_compressed"},
    "model/analysis/head_description/file.py": {"np.savez_compressed"},
    "model/over_corpus.py": {"np.savez"},
    "model/sources/sound_file.py": {"wave.open"},
    "model/trace/file.py": {"np.savez"},
    "model/training/film.py": {"np.savez_compressed"},
    "viz/ui/trace_tables.py": {"np.save"},
    # By its name, at the path that `written_path` gives.
    "model/training/loop.py": {"save_file"},
    # Temporary files and folders, which only the person who made them can enter; what is moved out of one is a folder.
    "model/temporary_folders.py": {"mkdtemp", "os.open"},
    "model/adapters/folder_check.py": {"(private / INDEX).write_text", "(private / name).symlink_to"},
    "model/adapters/limited_process.py": {"TemporaryFile"},
    "model/adapters/other_weights.py": {"(made / 'whole').rename", "home.rename", "target.mkdir"},
    "model/adapters/weights_process.py": {
        "(Path(alone) / file.name).symlink_to", "(target / 'model.safetensors.index.json').write_text",
        "model.save_pretrained", "save_file", "tokenizer.save_pretrained", "TemporaryDirectory",
    },
}  # fmt: skip
#: By module, the functions of ours that write at a path that a person named, which may pass links.
PATHS_OF_A_PERSON: Final = {
    # A cache.
    "model/analysis/atlas/file.py": {"make_folder"},
    "model/analysis/corpus_commands.py": {"write_text"},
    "model/analysis/head_description/file.py": {"make_folder"},
    "model/analysis/head_description/writing.py": {"make_folder"},
    "model/checkpoint.py": {"make_folder"},
    "model/trace/file.py": {"written_file"},
    "model/training/command.py": {"make_folder"},
    "model/training/film.py": {"written_file"},
    "model/training/loop.py": {"make_folder"},
    "viz/locale/__main__.py": {"written_file"},
    "viz/notebook/pictures.py": {"write_text"},
}


def is_opened_to_write(call: ast.Call, name: str) -> bool:
    """Whether a call is of an `open` in whose mode something may be written."""
    modes = [*call.args, *(keyword.value for keyword in call.keywords)]
    mode = re.compile(r"[rbt]*[wax+][rwaxbt+]*")
    return name in ("open", "fdopen") and any(
        isinstance(given, ast.Constant) and isinstance(given.value, str) and mode.fullmatch(given.value) is not None
        for given in modes
    )


def writes(tree: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    """What writes files and folders otherwise than by our functions; and which of these are given no `inside`."""
    others, ours = set(), set()
    for node in tree:
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        if not owner and name in _OURS:
            if len(node.args) <= _OURS[name] and "inside" not in {keyword.arg for keyword in node.keywords}:
                ours.add(name)
        elif name in _WRITING or name in _WRITING_OF.get(owner, ()) or is_opened_to_write(node, name):
            others.add(ast.unparse(node.func))
    return others, ours


def test_every_place_that_writes_a_file_is_known() -> None:
    found = {name_of(file): writes(nodes(file)) for file in (*MODEL, *VIZ) if name_of(file) != "model/file_writing.py"}
    assert {name: others for name, (others, _ours) in found.items() if others} == WRITES
    assert {name: ours for name, (_others, ours) in found.items() if ours} == PATHS_OF_A_PERSON


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


def test_a_module_that_a_text_names_is_named_from_where_it_is() -> None:
    """Installed, `model` and `viz` lie below `headlight`: a text that begins with them names nothing there."""
    below = {module for file in (*MODEL, *VIZ) if "." in (module := module_of(file))}
    begins = {f"{module.rpartition('.')[0]}." for module in below}
    named = [
        f"{name_of(file)}:{node.lineno}"
        for file in (*MODEL, *VIZ)
        # But where what lies above is put before it.
        if not re.search(r"(?<!\.)__name__\.removesuffix", file.read_text(encoding="utf-8"))
        for node in nodes(file)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value in below or (node.value.count(".") > 1 and node.value in begins)
    ]
    assert not named


def test_browser_tests_ask_for_what_is_drawn_by_what_waits_for_it() -> None:
    """A box is None, and an element not the one that is shown, while a page is drawn anew: `pointing.py` asks again."""
    files = [path for path in (ROOT / "tests" / "browser").glob("*.py") if path.name != "pointing.py"]
    asked = re.compile(r"\.bounding_box\(|\.element_handles?\(|\.query_selector|assert [^=]*\.count\(\) > ")
    assert [path.name for path in files if asked.search(path.read_text(encoding="utf-8"))] == []


#: What only speaks of sound, in names of a source; `Source` and `FileKind` are asked for abilities by other names.
OF_SOUND: Final = re.compile(r"sound(?!ing)|Sound|SOUND|^hears$|[sS]peech|word_times|[rR]ecordings?|audio|^timing$")
ITS_OWN: Final = re.compile(
    r"model/sources/|model/adapters/(ear|speech_\w+)\.py|model/analysis/timing/|model/training/|"
    r"viz/.*/(word_times|sound_panel|sound_field|spectrogram|recordings|film/lane)\.py"
)


def test_at_most_six_files_know_of_sound_and_the_architecture_lists_them() -> None:
    documented = (ROOT / ".github" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| sound, outside its own files \|.*$", documented, re.M)
    knowing = set()
    for path in (*MODEL, *VIZ):
        names = {
            name
            for node in nodes(path)
            for name in (getattr(node, field, None) for field in ("id", "attr", "arg", "name", "module"))
            if isinstance(name, str)
        }
        literals = {node.value for node in nodes(path) if isinstance(node, ast.Constant) and node.value == "sound"}
        if (literals or any(map(OF_SOUND.search, names))) and not ITS_OWN.match(name_of(path)):
            knowing.add(name_of(path))
    _, in_model, in_viz = re.split("In `(?:model|viz)/`", row)
    sides = {"model": in_model, "viz": in_viz}
    assert len(knowing) <= 6
    assert sorted(knowing) == sorted(f"{s}/{name}" for s in sides for name in re.findall(r"`([\w/]+\.py)`", sides[s]))

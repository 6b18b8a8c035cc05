"""Every place of the code that opens a file to read it, so that a new one is not overlooked.

A file of a model's folder is opened by `folder_files`, or, by libraries that open files by their names, while it holds
the file (`named_file`, `Folder.held`); `tests/model/adapters/test_folder_reads.py` shows it.
"""

import ast
from pathlib import Path
from typing import Final

from tests.paths import ROOT

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
    "model/file_writing.py": {"target.open", "unfinished.open"},
    "model/pairs.py": {"gzip.open", "lzma.open", "open"},
    "model/trace/file.py": {"path.open"},
    "model/training/command.py": {"(run / LOG).read_bytes"},
    "model/training/run_files.py": {"load_file", "path.open", "path.read_text", "safe_open"},
}
#: Files of our own source, and the system's.
OWN: Final = {
    "model/adapters/placement.py", "model/later.py", "model/training/compositions.py", "model/training/copying.py",
    "model/training/lexicon.py", "model/training/noun_sentences.py", "viz/gallery/site.py", "viz/locale/__main__.py",
    "viz/locale/extraction.py", "viz/pages/attention/bertviz/tab.py", "viz/pages/learn/lessons/lesson.py",
    "viz/pages/learn/story/bar.py", "viz/pages/model_card/tabs.py", "viz/pictures/offline.py",
    "viz/selection/examples.py", "viz/server/bundle.py", "viz/text/glossary.py", "viz/text/messages.py",
    "viz/ui/formulas.py", "viz/ui/page_style.py", "viz/ui/snippets.py",
}  # fmt: skip
#: Where `open` is of what a person opens on a page.
NO_FILES: Final = {
    "viz/pages/coreference/cause.py": {"opened.open"},
    "viz/pages/coreference/heads_ranked.py": {"opened.open"},
    "viz/pages/coreference/heads_together.py": {"opened.open"},
    "viz/pages/coreference/measured/tab.py": {"opened.open"},
    "viz/pages/decoding/film/tab.py": {"unfolded.open"},
    "viz/pages/decoding/sampling.py": {"steps.open"},
    "viz/pages/learn/lessons/tab.py": {"contents.open"},
    "viz/pages/learn/transformer/embeddings.py": {"unfolded.open"},
    "viz/pages/paper/ablations.py": {"opened.open"},
    "viz/pages/paper/positions.py": {"opened.open"},
    "viz/ui/frame.py": {"slot.open"},
}


def is_numpys_load(node: ast.Attribute) -> bool:
    return node.attr == "load" and isinstance(node.value, ast.Name) and node.value.id == "np"


def reads(file: Path) -> set[str]:
    """What of a module opens files, called or handed on."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in _NAMES:
            found.add(node.id)
        if isinstance(node, ast.Attribute) and (node.attr in _ATTRIBUTES or is_numpys_load(node)):
            found.add(ast.unparse(node))
    return found


def test_every_place_that_opens_a_file_is_known() -> None:
    modules = [file for package in ("model", "viz") for file in (ROOT / package).rglob("*.py")]
    found = {file.relative_to(ROOT).as_posix(): opened for file in modules if (opened := reads(file))}
    assert {name: opened for name, opened in found.items() if name not in OWN} == FOLDERS | COPIES | NAMED | NO_FILES
    assert found.keys() >= OWN

"""Build the wheel: `model`, `viz`, `app.py` and the checkpoints become one package, `headlight`.

In the repository they are top-level packages, so that the app runs from a clone. Installed under those names they
would hide a person's own `model.py`, so the build writes `headlight.model` and `headlight.viz` wherever they are
imported, and `headlight` wherever a text gives a command of ours. Nothing else changes, and no line moves.
"""

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

#: Folders and files of the repository that the package has.
CONTENT: Final = ("model", "viz", "app.py", "checkpoints", ".streamlit", ".github/docs")
LEFT_OUT: Final = ("__pycache__", "*.pyc")
IMPORT: Final = re.compile(r"^(\s*)(from|import) (model|viz)(?=[. ])", re.MULTILINE)
#: Below `model/training`: recipes of sentences that only a training makes, and their words.
RECIPES: Final = (
    "made_sets.py", "noun_sentences.py", "noun_genders.py", "dictionary_lexicon.py", "compositions.py",
    "affordances.txt", "continuations.txt", "dictionary_kinds.txt", "noun_frames.txt", "openings.txt",
)  # fmt: skip
#: What an extra brings.
EXTRAS: Final = {"notebook": "viz/notebook/requirements.txt", "cluster": ".packaging/cluster-requirements.txt"}
#: Addresses of the project, below that of its repository.
URLS: Final = {
    "Source": "", "Documentation": "/tree/main/.github/docs", "Changelog": "/blob/main/.github/CHANGELOG.md",
    "Issues": "/issues",
}  # fmt: skip
#: As texts of the repository give a command, and as the package has it.
COMMANDS: Final = {
    "python -m model": "headlight",
    **{f"python -m viz.{name}": f"headlight {name}" for name in ("gallery", "heads")},
}
#: Files whose text gives the command: the sources, the Chinese for it, the READMEs of what ships.
TEXTS: Final = {".py", ".js", ".html", ".po", ".md", ".toml"}


def packaged(text: str) -> str:
    """A file's text as the package has it."""
    text = IMPORT.sub(r"\1\2 headlight.\3", text)
    for ours, theirs in COMMANDS.items():
        text = text.replace(ours, theirs)
    return text


def write_package(root: Path, target: Path) -> None:
    """Write the package `headlight` of this repository into an empty folder."""
    shutil.copytree(root / ".packaging" / "headlight", target, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for name in CONTENT:
        copy = target / name.removeprefix(".github/")
        if (root / name).is_dir():
            shutil.copytree(root / name, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        else:
            shutil.copyfile(root / name, copy)
    for name in RECIPES:
        (target / "model" / "training" / name).unlink()
    # A checkpoint is checked byte by byte: nothing in it changes.
    for path in target.rglob("*"):
        if path.suffix in TEXTS and path.is_file() and target / "checkpoints" not in path.parents:
            text = path.read_text(encoding="utf-8")
            path.write_text(packaged(text), encoding="utf-8", newline="\n")


class CustomBuildHook(BuildHookInterface[Any]):
    """Lay the package into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write it into a folder of its own, which the wheel takes whole."""
        if version == "editable":
            raise ValueError("An editable install has no use here: run the app from the clone, as README.md says.")
        self._folder = Path(tempfile.mkdtemp())
        write_package(Path(self.root), self._folder / "headlight")
        build_data["force_include"][str(self._folder / "headlight")] = "headlight"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove that folder."""
        shutil.rmtree(self._folder, ignore_errors=True)


class CustomMetadataHook(MetadataHookInterface):
    """Take what the package needs from requirements.txt, the one list of it, and what extras need from their own.

    Its addresses are those of the repository whose hosted checks build it; a build elsewhere has none.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Read the lists."""
        server, repository = (os.environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY"))
        metadata["urls"] = {name: f"{server}/{repository}{path}" for name, path in URLS.items()} if repository else {}
        metadata["dependencies"] = self._least("requirements.txt")
        metadata["optional-dependencies"] = {name: self._least(file) for name, file in EXTRAS.items()}

    def _least(self, path: str) -> list[str]:
        """Each pinned version becomes the least: `torch==2.13.0` is `torch~=2.13`, so 2.14 will do and 3 will not."""
        lines = (Path(self.root) / path).read_text(encoding="utf-8").splitlines()
        pinned = [line.partition("#")[0].strip() for line in lines]
        return [re.sub(r"==(\d+\.\d+)[.\d]*", r"~=\1", line) for line in pinned if line]

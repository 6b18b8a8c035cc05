"""List the models that can be chosen, by name: the server's, and those that a person has added in this session.

The server's are the sub-folders of `checkpoints/`, the folders that it was started with, and the experiments, which lie
in `checkpoints/experiments`. A folder that a person adds is known to that session alone; addresses name models, never a
path. A server that many share (`viz.server.limits`) knows its own only.
"""

import ipaddress
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import streamlit as st

from model.errors import CheckpointError
from viz.server import limits
from viz.text.messages import Message, _, said

ROOT_VARIABLE: Final = "HEADLIGHT_CHECKPOINTS"
DOWNLOADS_VARIABLE: Final = "HEADLIGHT_ALLOW_DOWNLOADS"
FOLDERS_VARIABLE: Final = "HEADLIGHT_MODEL_FOLDERS"
#: The folder below the checkpoints' whose sub-folders are small models that lack a part; their names begin with it.
EXPERIMENTS: Final = "experiments"
#: A session adds no more folders than this.
MAX_ADDED: Final = 20
_ADDED: Final = "catalogue/added"
#: The small models of `checkpoints/experiments` that are known, by the names of their folders, to be translated.
_EXPERIMENT_NAMES: Final[tuple[Message, ...]] = (
    said("additive"),
    said("convolutional"),
    said("full"),
    said("gru without attention"),
    said("learned positions"),
    said("no dropout"),
    said("no positions"),
    said("no residual"),
    said("no smoothing"),
    said("post-norm"),
    said("single head"),
    said("sixteen heads"),
    said("two heads"),
    said("unscaled"),
)
#: What programs call the folder into which they save any model.
_NO_NAMES: Final = frozenset({"model", "checkpoint", "best_model", "final_model", "output", "best", "final"})
#: The checkpoints that come with Headlight.
OWN_ROOT: Final = Path(__file__).parents[2] / "checkpoints"
#: Nanoseconds after which a folder's time of change is sure to differ from that of a later change.
_SETTLED: Final = 100_000_000
#: Folder of checkpoints → what it was when it was listed, and the list.
_LISTED: Final[dict[Path, tuple[object, dict[str, Path]]]] = {}


def checkpoint_root() -> Path:
    """The folder whose sub-folders are checkpoints: `checkpoints/`, or what HEADLIGHT_CHECKPOINTS names."""
    named = os.environ.get(ROOT_VARIABLE)
    return Path(named) if named else OWN_ROOT


def downloads_allowed() -> bool:
    """Whether the server's setting allows downloads of models at all; a person must ask for one too."""
    return limits.rules().names_folders and os.environ.get(DOWNLOADS_VARIABLE) == "1"


def can_add() -> bool:
    """Whether a person may add a model of their own."""
    return downloads_allowed() or folders_to_add_from() != ()


def folders_to_add_from() -> tuple[Path, ...] | None:
    """The folders below which a person may name one with a model: those of HEADLIGHT_MODEL_FOLDERS.

    Where the variable is not set: all folders (None) on a server that only this machine reaches. On one that others
    reach there are none, because an answer would tell them which files exist; nor on a shared server.
    """
    if not limits.rules().names_folders:
        return ()
    named = os.environ.get(FOLDERS_VARIABLE, "")
    if named:
        return tuple(Path(folder).expanduser() for folder in named.split(os.pathsep) if folder)
    return None if _only_this_machine_reaches() else ()


def server_models() -> dict[str, Path]:
    """Name → folder of the models that every viewer can choose; damaged ones too, so that their message can be read.

    A page asks for them dozens of times a run: the folders are listed again only once they have changed.
    """
    root = checkpoint_root()
    changed = (_changed(root), _changed(os.path.join(root, EXPERIMENTS)))
    stamp = *changed, *sys.argv
    known = _LISTED.get(root)
    if known is not None and known[0] == stamp:
        return dict(known[1])
    shipped = [path for path in _folders_in(root) if path.name != EXPERIMENTS]
    named = _named([*shipped, *_command_line_folders()])
    listed = named | {f"{EXPERIMENTS}/{name}": folder for name, folder in experiments().items()}
    # A link may come to lead elsewhere while the folder that it lies in stays as it is.
    if max(changed) < time.time_ns() - _SETTLED and not any(folder.is_symlink() for folder in listed.values()):
        _LISTED[root] = stamp, dict(listed)
    return listed


def experiments_root() -> Path:
    """The folder with the experiments, their results and their film; there may be none."""
    return checkpoint_root() / EXPERIMENTS


def experiments() -> dict[str, Path]:
    """Preset → folder of the small models that differ in one part each; as models, they are experiments/PRESET."""
    return {folder.name: folder for folder in _folders_in(experiments_root())}


def label(name: str) -> str:
    """How a list calls the model of this name: an experiment says so."""
    group, _slash, own = name.partition("/")
    if group != EXPERIMENTS or not own:
        return name
    words = own.replace("-", " ")
    return _("Small model: {name}", name=_(words) if words in _EXPERIMENT_NAMES else words)


def models() -> dict[str, Path]:
    """Name → folder of the models that this session can choose: the server's, then its own."""
    return server_models() | _added()


def folder_of(name: str) -> str:
    """The folder of a model that only this session has on its list; "" for any other."""
    return "" if name in server_models() else str(_added().get(name, ""))


def add(folder: Path) -> str:
    """List a folder in this session, and return its name there. Raises as `check_may_name_folders`."""
    check_may_name_folders()
    known = models()
    for name, path in known.items():
        if path.resolve() == folder.resolve():
            return name
    name = _unique(display_name(folder), known)
    kept = list(_added().items())[-(MAX_ADDED - 1) :]
    st.session_state[_ADDED] = dict([*kept, (name, folder)])
    return name


def check_may_name_folders() -> None:
    """Raise a CheckpointError where a person may name no folder of the machine."""
    if not limits.rules().names_folders:
        raise CheckpointError(
            "This server is shared: it opens only the models on its list. Choose one from the list; the administrator "
            "of the server can add more to its folder of checkpoints."
        )


def display_name(folder: Path) -> str:
    """How people call the model in a folder: the folder's or link's name, or the model's in a cache of the hub.

    A folder that is called "model" says nothing: the one around it has the name.
    """
    real, written = folder.resolve(), Path(os.path.abspath(folder))
    if real.parent.name == "snapshots" and (cached := real.parents[1].name).startswith("models--"):
        return cached.removeprefix("models--").replace("--", "/")
    named = written.parent if written.name.lower() in _NO_NAMES and written.parent != checkpoint_root() else written
    return os.fsencode(named.name).decode("utf-8", errors="replace") or "model"


def _only_this_machine_reaches() -> bool:
    """Whether the server listens on a loopback address and answers to no other name."""
    hosts = [st.get_option("server.address"), *(st.get_option("server.allowedHosts") or [""])]
    return all(map(_is_loopback, hosts))


def _is_loopback(host: str | None) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address((host or "").strip("[]")).is_loopback
    except ValueError:
        return False


def _folders_in(root: Path) -> list[Path]:
    try:
        return [path for path in sorted(root.iterdir()) if path.is_dir() and not path.name.startswith((".", "_"))]
    except OSError:
        # It is not there, or may not be looked into.
        return []


def _changed(folder: str | Path) -> int:
    """When something came into a folder or left it, in nanoseconds; 0 if there is no such folder."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _added() -> dict[str, Path]:
    added: dict[str, Path] = st.session_state.get(_ADDED, {})
    return added if limits.rules().names_folders else {}


def _command_line_folders() -> list[Path]:
    """The folders of `streamlit run app.py -- FOLDER …`; under any other program the arguments are not ours."""
    program, *arguments = sys.argv or [""]
    return [Path(argument).expanduser() for argument in arguments] if Path(program).name == "app.py" else []


def given_first() -> str:
    """The name of the first folder with which the app was started; "" where it was started without any."""
    folders = _command_line_folders()
    return next((name for name, path in server_models().items() if path == folders[0]), "") if folders else ""


def _named(folders: Iterable[Path]) -> dict[str, Path]:
    named: dict[str, Path] = {}
    for folder in folders:
        named[_unique(display_name(folder), named)] = folder
    return named


def _unique(name: str, taken: Iterable[str]) -> str:
    names, number, unique = set(taken), 2, name
    while unique in names:
        unique, number = f"{name} ({number})", number + 1
    return unique

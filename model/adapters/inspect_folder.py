"""Tell whether a folder that a person names holds a model that can be opened, without loading it."""

from pathlib import Path
from typing import Final

from model.abilities import Kind
from model.adapters.families import family_of
from model.adapters.folder_check import CONFIG, LARGEST_CONFIG, check_folder, check_tokenizer_files
from model.checked import Malformed, parsed
from model.errors import CheckpointError
from model.training_record import MANIFEST

#: No path of a file system is longer.
MAX_PATH: Final = 4_096
#: So much of a path is repeated in a message.
_SHOWN: Final = 80


def folder_with_model(typed: str) -> Path:
    """The folder at a path as a person types or pastes it: quotation marks around it and ~ are understood.

    Raises:
        CheckpointError: there is no folder, or it holds no model that can be opened; the message says what works.
    """
    path = _folder(typed)
    if (path / MANIFEST).is_file():
        return path
    if family_of(check_folder(path).config.get("model_type")).kind != "image":
        check_tokenizer_files(path)
    return path


def kind_in(path: Path) -> Kind | None:
    """Which kind of model a folder says that it holds, before anything is loaded; None if it does not say."""
    if (path / MANIFEST).is_file():
        return "encoder-decoder"
    try:
        if (path / CONFIG).stat().st_size > LARGEST_CONFIG:
            return None
        return family_of(parsed((path / CONFIG).read_text(encoding="utf-8")).get("model_type")).kind
    except (OSError, UnicodeDecodeError, Malformed, CheckpointError):
        return None


def _folder(typed: str) -> Path:
    text = typed.strip().strip("\"'").removeprefix("file://")
    if not text:
        raise CheckpointError("Type or paste the path of a folder with a model in it, for example ~/models/bert.")
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"
    if len(text) > MAX_PATH or not text.isprintable():
        raise CheckpointError(f"“{shown}” is no path of a folder: it is too long, or holds signs that cannot be seen.")
    try:
        path = Path(text).expanduser().resolve()
        is_folder, is_file = path.is_dir(), path.is_file()
    except (OSError, RuntimeError, ValueError) as error:
        raise CheckpointError(f"“{shown}” is no path of a folder that can be opened here.") from error
    if is_file:
        raise CheckpointError(f"“{shown}” is a file. Give the folder that it lies in.")
    if not is_folder:
        raise CheckpointError(
            f"There is no folder “{shown}” on the machine that Headlight runs on. Give the whole path of a folder that "
            "`save_pretrained` of transformers wrote, or of a checkpoint of Headlight's own."
        )
    try:
        next(path.iterdir(), None)
    except OSError as error:
        raise CheckpointError(f"The folder “{shown}” cannot be read; allow it and try again.") from error
    return path

"""A model by its name on the Hugging Face hub: from this machine's cache, or fetched where a person allows it.

Nothing is fetched unless `allowed` says so, and then only settings, tokenizers and safetensors, never code or pickle.
Knows nothing of what is in a folder.
"""

import re
from pathlib import Path
from typing import Final

from model.errors import CheckpointError
from model.reader import Reader, open_reader

PATTERNS: Final = ("*.safetensors", "*.json", "*.txt", "*.model", "*.spm")
#: Repositories often hold the same model for other programs too.
NOT_WANTED: Final = ("*/*",)
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")


def open_hub(name: str, allowed: bool, *, device: str | None = None, dtype: str = "float32") -> Reader:
    """Open a model by its name on the hub.

    Args:
        name: such as "google-bert/bert-base-uncased".
        allowed: whether it may be fetched from the network; if not, it must lie in the cache already.
        device, dtype: as in `open_reader`.

    Raises:
        CheckpointError: there is no such model here (or there), or it cannot be opened.
        DeviceError: as in `open_reader`.
    """
    reader = open_reader(hub_folder(name, allowed), device, dtype)
    # Its folder is called by a long number.
    reader.name = name
    return reader


def hub_folder(name: str, allowed: bool) -> Path:
    """The folder on this machine that holds a model of the hub.

    Raises:
        CheckpointError: the name is none, or the model is not here and may not or cannot be fetched.
    """
    if not _NAME.fullmatch(name) or ".." in name:
        raise CheckpointError(f"{name[:100]!r} is no name of a model; names look like google-bert/bert-base-uncased.")
    # Imported here: it opens no connection, but few need it.
    from huggingface_hub import snapshot_download

    try:
        found = snapshot_download(
            name, local_files_only=not allowed, allow_patterns=list(PATTERNS), ignore_patterns=list(NOT_WANTED)
        )
    except Exception as error:  # The hub's client raises errors of many libraries.
        if not allowed:
            raise CheckpointError(
                f"{name} is not on this machine, and Headlight fetches nothing unless it is allowed to. Allow it, or "
                "download the model yourself and give its folder."
            ) from error
        raise CheckpointError(f"{name} could not be fetched: {' '.join(str(error).split())[:200]}") from error
    return Path(found)

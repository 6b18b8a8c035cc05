"""Models of the Hugging Face hub: fetch one by its name, and tell which links of a folder lead into the hub's cache.

Only settings, tokenizers and safetensors are fetched, never code or pickle.
"""

import re
from pathlib import Path
from typing import Final

from model.errors import CheckpointError

PATTERNS: Final = ("*.safetensors", "*.json", "*.txt", "*.model", "*.spm")
#: Repositories often hold the same model for other programs too.
NOT_WANTED: Final = ("*/*",)
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")


def hub_folder(name: str) -> Path:
    """The folder on this machine that holds a model of the hub, fetched unless it is in the cache.

    Raises:
        CheckpointError: the name is none, or the model cannot be fetched.
    """
    if not _NAME.fullmatch(name) or ".." in name:
        raise CheckpointError(
            "{name!r} is no name of a model; names look like google-bert/bert-base-uncased.", name=name[:100]
        )
    # Imported here: it opens no connection, but few need it.
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=list(PATTERNS), ignore_patterns=list(NOT_WANTED)))
    except Exception as error:  # The hub's client raises errors of many libraries.
        raise CheckpointError(
            "{name} could not be fetched: {error}", name=name, error=" ".join(str(error).split())[:200]
        ) from error


def is_hub_blob(file: Path, root: Path) -> bool:
    """Whether a link of a folder (`root`, resolved) leads to where the hub's cache keeps the files of all versions."""
    in_cache = root.parent.name == "snapshots"
    return in_cache and file.resolve().parent == root.parent.parent / "blobs"

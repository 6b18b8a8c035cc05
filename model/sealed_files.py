"""Keep what took long to find out in a cache, so that only what this code wrote there itself is believed.

A kept file is JSON with a seal: an HMAC over its name, its content and the versions of our code and of the libraries,
by a key that lies in the cache for its owner alone. What was damaged, made elsewhere, copied from another name or found
by another version counts as not kept. Whoever can read the key, as every program of the same person can, could make a
seal: against these no file of the person's own protects.
"""

import hashlib
import hmac
import json
import os
import secrets
import stat
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from model.checked import Malformed, parsed
from model.errors import CheckpointError
from model.file_writing import make_folder, remove_oldest, write_bytes
from model.folder_files import open_file, read_file

#: What computes or reads what is kept, besides our own code.
LIBRARIES: Final = ("torch", "transformers", "tokenizers", "safetensors", "gguf", "peft", "numpy")
#: Bytes of a kept file.
LARGEST: Final = 65_536
_KEY: Final = "key"
_KEY_BYTES: Final = 32


@cache
def versions() -> str:
    """A digest of our code below this package, and of the libraries' versions."""
    root = Path(__file__).parent
    whole = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        whole.update(f"{file.relative_to(root).as_posix()}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    for name in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            whole.update(f"{name}={metadata.version(name)}\n".encode())
    return whole.hexdigest()


def sealed_name(*parts: str) -> str:
    """The name of a kept file or folder: of what it is about, as the versions of today found it."""
    return hashlib.sha256(json.dumps([versions(), *parts]).encode()).hexdigest()


def read_sealed(kept: Path, path: Path) -> dict[str, Any] | None:
    """The content of a file below the cache `kept`; None where there is none that this code sealed."""
    try:
        read = parsed(read_file(path.parent, path.name, LARGEST).decode("utf-8"))
        content, key = read["content"], _key(kept)
        is_ours = key is not None and hmac.compare_digest(str(read["seal"]), _seal(key, kept, path, content))
    except (CheckpointError, Malformed, OSError, KeyError, TypeError, ValueError):
        return None
    return content if is_ours and isinstance(content, dict) else None


def write_sealed(kept: Path, path: Path, content: dict[str, Any], most: int | None = None) -> None:
    """Keep a content below the cache `kept`, and of the files beside it at most so many, the newest.

    Raises a DataError or OSError if it cannot be written.
    """
    make_folder(path.parent, kept)
    text = json.dumps({"seal": _seal(_key(kept) or _new_key(kept), kept, path, content), "content": content})
    write_bytes(path, text.encode(), kept)
    if most is not None:
        remove_oldest(path.parent, most)


def _seal(key: bytes, kept: Path, path: Path, content: object) -> str:
    name = path.relative_to(kept).as_posix()
    told = json.dumps([versions(), name, content], sort_keys=True).encode()
    return hmac.new(key, told, hashlib.sha256).hexdigest()


def _key(kept: Path) -> bytes | None:
    """The cache's key; None where there is none, or another person could have read or made it."""
    try:
        with open_file(kept, _KEY, _KEY_BYTES) as file:
            found, now = file.read(), os.fstat(file.fileno())
    except (CheckpointError, OSError):
        return None
    is_private = os.name == "nt" or (now.st_uid == os.getuid() and not stat.S_IMODE(now.st_mode) & 0o077)
    return found if is_private and len(found) == _KEY_BYTES else None


def _new_key(kept: Path) -> bytes:
    key = secrets.token_bytes(_KEY_BYTES)
    write_bytes(kept / _KEY, key, kept, mode=0o600)
    return key

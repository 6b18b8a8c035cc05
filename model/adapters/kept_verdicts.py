"""Keep on disk that a model was proven exact, so that another process need not prove the same content again.

Only what was proven exact is kept: a file then holds numbers and a few fixed words, and no sentence to be shown. A file
is believed if its digest is that of its content and every value is one that a proof could have found; what it says of
heads is compared with the model again (`open_folder`).
"""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, get_args

import torch
import transformers

from model.abilities import Kind, PositionScheme, Proof
from model.adapters.proof import NOWHERE, Explored
from model.checked import Malformed, parsed
from model.errors import CheckpointError, DataError
from model.file_writing import remove_oldest, write_text
from model.folder_files import read_file

#: To be raised when `proof` changes what it asks for.
PROVEN_BY: Final = 1
LARGEST: Final = 1 << 16
MOST_FILES: Final = 512
MOST_LAYERS, MOST_HEADS, MOST_TOKENS = 10_000, 100_000, 1 << 31
SITES: Final = ("encoder.self", "decoder.self", "decoder.cross")


def load_verdict(folder: Path, key: Sequence[str]) -> tuple[Explored, bool] | None:
    """What was found of a model, and whether keys and values may be kept; None where nothing believable is kept.

    `key` names the content, the kind of device and the number type.
    """
    name = _name(key)
    try:
        kept = parsed(read_file(folder, name, LARGEST).decode("utf-8"))
        content = kept["content"]
        if kept["digest"] != _digest(content) or content["key"] != list(key):
            return None
        return _found(content)
    except (CheckpointError, Malformed, OSError, KeyError, TypeError, ValueError, AttributeError):
        return None


def keep_verdict(folder: Path, key: Sequence[str], found: Explored, caches: bool) -> None:
    """Keep what was found of a model that is exact; a folder that cannot be written to costs time the next time."""
    content: dict[str, Any] = {
        "key": list(key),
        "kind": found.kind,
        "heads": {site: list(heads) for site, heads in found.heads.items()},
        "difference": found.proof.difference,
        "tokens": found.proof.tokens,
        "positions": found.positions,
        "table": found.table,
        "lengths": [[*pair, site] for pair, site in found.lengths.items()],
        "caches": caches,
    }
    with suppress(OSError, DataError):
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"digest": _digest(content), "content": content})
        write_text(folder / _name(key), text)
        remove_oldest(folder, MOST_FILES)


def _name(key: Sequence[str]) -> str:
    versions = (str(PROVEN_BY), torch.__version__, transformers.__version__)
    return f"{hashlib.sha256(json.dumps([*versions, *key]).encode()).hexdigest()}.json"


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _found(content: dict[str, Any]) -> tuple[Explored, bool]:
    """The values of a file, each checked. Raises what a wrong one makes Python raise."""
    heads = {
        _one_of(site, SITES): tuple(_count(number, MOST_HEADS) for number in layers)
        for site, layers in content["heads"].items()
    }
    if not heads or not all(0 < len(layers) <= MOST_LAYERS for layers in heads.values()):
        raise ValueError("heads")
    difference, table, caches = content["difference"], content["table"], content["caches"]
    if type(difference) is not float or not 0 <= difference < 1 or type(caches) is not bool:
        raise ValueError("difference")
    lengths = {
        (_count(queries, MOST_TOKENS), _count(keys, MOST_TOKENS)): _one_of(site, tuple(heads))
        for queries, keys, site in content["lengths"]
    }
    proof = Proof(
        is_exact=True,
        difference=difference,
        heads=sum(map(sum, heads.values())),
        tokens=_count(content["tokens"], MOST_TOKENS),
    )
    kind: Any = _one_of(content["kind"], get_args(Kind))
    positions: Any = _one_of(content["positions"], get_args(PositionScheme))
    rows = None if table is None else _count(table, MOST_TOKENS)
    return Explored(kind, heads, NOWHERE, proof, positions, rows, lengths), caches


def _one_of(value: Any, known: Sequence[str]) -> str:
    return known[known.index(value)]


def _count(value: Any, most: int) -> int:
    if type(value) is not int or not 0 < value <= most:
        raise ValueError(value)
    return value

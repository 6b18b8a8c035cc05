"""Keep what was measured of a model's heads in one .npz file without pickle, and such files in a folder.

`heads.json` (UTF-8 bytes) holds digests, texts and the heads of each layer; beside it are `SITE/NAME` for each array of
`SiteSums`, and `repeated/NAME`, which NumPy reads without Headlight.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np

from model.analysis.atlas.file import UNFINISHED, drop_oldest
from model.analysis.corpus import CorpusSentence, corpus_digest
from model.analysis.head_description.cells import KINDS
from model.analysis.head_description.measure import Measured, SiteSums, cells_of, measure_in_stages
from model.arrays_file import Array, checked_array, open_arrays, read_json, said_of_file
from model.errors import DataError, said
from model.file_writing import make_folder, written_file
from model.folder_files import open_file, read_as_data
from model.interruption import Progress, no_progress
from model.nn.encoder_decoder import SITES
from model.reader import Reader

FORMAT: Final = "headlight-heads-4"
#: Bytes of unpacked content beyond which a file is refused.
LARGEST: Final = 1 << 29
#: How the files of a folder begin.
PREFIX: Final = "heads"
_ARRAYS: Final = tuple(field.name for field in fields(SiteSums) if field.name != "tokens")


def save_measured(measured: Measured, path: str | Path, inside: Path | None = None) -> None:
    """Write it whole or not at all. As `written_path`."""
    header = {
        "format": FORMAT,
        "model": measured.model,
        "corpus": measured.corpus,
        "total": measured.total,
        "given": measured.given,
        "texts": measured.texts,
        "translations": measured.translations,
        "heads": {site: list(layers) for site, layers in measured.heads.items()},
        "tokens": {site: list(sums.tokens) for site, sums in measured.sites.items()},
    }
    arrays: dict[str, Array] = {"heads.json": np.frombuffer(json.dumps(header).encode(), np.uint8)}
    arrays |= {f"{site}/{name}": getattr(sums, name) for site, sums in measured.sites.items() for name in _ARRAYS}
    arrays |= {f"repeated/{name}": values for name, values in measured.repeated.items()}
    with written_file(Path(path), inside) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def load_measured(path: str | Path) -> Measured:
    """Read what `save_measured` wrote. Raises a DataError if the file is missing, none of these, or damaged."""
    path = Path(path)
    with (
        said_of_file(path.name, said("{name} was not written by Headlight, or it is damaged ({reason}).")),
        read_as_data(path),
        open_file(path.parent, path.name, LARGEST) as file,
        open_arrays(file, LARGEST) as arrays,
    ):
        return _read({name: arrays[name] for name in arrays})


def cache_path(folder: Path, model: str, corpus: str) -> Path:
    """Where a folder keeps what was measured of this model over this corpus, by their digests."""
    return folder / f"{PREFIX}-{hashlib.sha256(f'{FORMAT} {model} {corpus}'.encode()).hexdigest()[:24]}.npz"


def kept(folder: Path, model: str, corpus: str) -> Measured | None:
    """What a folder keeps of this model over this whole corpus; None where it keeps nothing, or a damaged file."""
    with suppress(DataError):
        found = load_measured(cache_path(folder, model, corpus))
        if (found.model, found.corpus, found.given) == (model, corpus, found.total):
            return found
    return None


def cached_in_stages(
    reader: Reader,
    sentences: Sequence[CorpusSentence],
    folder: Path,
    progress: Progress = no_progress,
    *,
    quick: Sequence[CorpusSentence] = (),
) -> Iterator[Measured]:
    """As `measure_in_stages`, but the whole alone where the folder has it; else it is kept there."""
    model, corpus = reader.weights_digest, corpus_digest(sentences)
    if (found := kept(folder, model, corpus)) is not None:
        yield found
        return
    for measured in measure_in_stages(reader, sentences, progress, folder / UNFINISHED, quick=quick):
        if measured.given == measured.total:
            # A folder that cannot be written costs time the next time, not the result now.
            with suppress(OSError, DataError):
                make_folder(folder)
                path = cache_path(folder, model, corpus)
                save_measured(measured, path, folder)
                drop_oldest(folder, path, PREFIX)
        yield measured


def _read(arrays: Mapping[str, Array]) -> Measured:
    header = read_json(arrays, "heads.json")
    if header["format"] != FORMAT:
        raise ValueError(said("format {found}, expected {expected}", found=header["format"], expected=FORMAT))
    heads = {str(site): tuple(int(count) for count in layers) for site, layers in header["heads"].items()}
    texts, translations = (tuple(map(str, header[name])) for name in ("texts", "translations"))
    if not heads or not set(heads) <= set(SITES) or len(texts) != len(translations):
        raise ValueError(said("its tables do not fit together"))
    sites = {
        site: _site(arrays, site, tuple(map(str, header["tokens"][site])), len(texts), sum(heads[site]))
        for site in heads
    }
    repeated = {
        name.partition("/")[2]: checked_array(arrays[name], np.float32, (None,))
        for name in arrays
        if name.startswith("repeated/")
    }
    return Measured(
        model=str(header["model"]),
        corpus=str(header["corpus"]),
        total=int(header["total"]),
        given=int(header["given"]),
        texts=texts,
        translations=translations,
        heads=MappingProxyType(heads),
        sites=MappingProxyType(sites),
        repeated=MappingProxyType(repeated),
    )


def _site(arrays: Mapping[str, Array], site: str, tokens: tuple[str, ...], texts: int, heads: int) -> SiteSums:
    """The sums of a site; every axis has the length that its name asks for."""
    lengths = {
        "text": texts, "head": heads, "cell": len(cells_of(site)), "kind": len(KINDS), "token": len(tokens), "place": 3,
        "look": 2,
    }  # fmt: skip
    found = {}
    for field in fields(SiteSums):
        if field.name != "tokens":
            axes = field.type.dim_str.split()  # type: ignore[union-attr]
            found[field.name] = checked_array(
                arrays[f"{site}/{field.name}"], np.float32, [lengths[axis] for axis in axes]
            )
    return SiteSums(tokens=tokens, **found)

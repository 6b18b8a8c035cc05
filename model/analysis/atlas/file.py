"""Save an atlas in one .npz file without pickle, load it, and cache such files.

`atlas.json` (UTF-8 bytes) holds digests, texts and the names of metrics; beside it are `figures/NAME`
[site, layer, head], `intervals/NAME` [site, layer, head, end], `strongest/NAME`, `divergences` and `mean_outputs`,
which NumPy reads without Headlight. A file of the first format has no intervals, and one without `heads` is of a model
that has all of them; both are read all the same.
"""

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np

from model.analysis.atlas.measure import Atlas, build_atlas, reading_digest
from model.analysis.coreference.case_files import PronounCases
from model.analysis.corpus import CorpusSentence, Origin
from model.analysis.data_files import Columns
from model.analysis.metrics.alignment import AlignedPair
from model.arrays_file import Array, checked_array, open_arrays, read_json, said_of_file
from model.errors import DataError, said
from model.file_writing import make_folder, written_file
from model.folder_files import open_file, read_as_data
from model.interruption import Progress, no_progress
from model.nn.encoder_decoder import SITES
from model.reader import Reader

FORMAT: Final = "headlight-atlas-2"
_READABLE: Final = (FORMAT, "headlight-atlas-1")
#: Bytes of unpacked content beyond which a file is refused.
LARGEST: Final = 1 << 28
#: Bytes that all files of a cache may take together; the oldest go first.
LARGEST_CACHE: Final = 1 << 28
#: The folder in a cache that has the parts of atlases that are not whole yet.
UNFINISHED: Final = "unfinished"


def save_atlas(atlas: Atlas, path: str | Path, inside: Path | None = None) -> None:
    """Write an atlas, whole or not at all: another process never sees half of one. As `written_path`."""
    path = Path(path)
    header = {
        "format": FORMAT,
        "model": atlas.model,
        "corpus": atlas.corpus,
        "sites": SITES,
        "heads": {site: list(of_layers) for site, of_layers in atlas.heads.items()},
        "sentences": atlas.sentences,
        "texts": atlas.texts,
        "translations": atlas.translations,
        "skipped": dict(atlas.skipped),
        "rows": {name: list(rows) for name, rows in atlas.rows.items()},
        "origin": None if atlas.origin is None else atlas.origin._asdict(),
    }
    arrays: dict[str, Array] = {
        "atlas.json": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        **{f"figures/{name}": table for name, table in atlas.metrics.items()},
        **{f"intervals/{name}": table for name, table in atlas.intervals.items()},
        **{f"strongest/{name}": table for name, table in atlas.strongest.items()},
        "divergences": atlas.divergences,
        "mean_outputs": atlas.mean_outputs,
    }
    if atlas.held is not None:
        arrays["held"] = atlas.held
    with written_file(path, inside) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def load_atlas(path: str | Path) -> Atlas:
    """Read what `save_atlas` wrote. Raises a DataError if the file is missing, no atlas, damaged, or too large."""
    path = Path(path)
    with (
        said_of_file(path.name, said("{name} is not an atlas written by Headlight, or it is damaged ({reason}).")),
        read_as_data(path),
        open_file(path.parent, path.name, LARGEST) as file,
        open_arrays(file, LARGEST) as arrays,
    ):
        return _read({name: arrays[name] for name in arrays})


def cache_path(folder: Path, model: str, corpus: str) -> Path:
    """Where `cached_atlas` keeps the atlas of these digests (`Atlas.model`, `Atlas.corpus`)."""
    return folder / f"atlas-{hashlib.sha256(f'{FORMAT} {model} {corpus}'.encode()).hexdigest()[:24]}.npz"


def cached_atlas(
    reader: Reader,
    sentences: Sequence[CorpusSentence],
    folder: Path,
    aligned: Sequence[AlignedPair] = (),
    progress: Progress = no_progress,
    cases: PronounCases | None = None,
    *,
    sinks: bool = True,
) -> Atlas:
    """The atlas of this model and these sentences, from the folder if it is there, else made and kept there.

    A file that is damaged, or of something else, is made again; what was stopped goes on. Arguments and errors are
    those of `build_atlas`.
    """
    model = reader.weights_digest
    corpus = reading_digest(sentences, aligned, sinks=sinks)
    path = cache_path(folder, model, corpus)
    with contextlib.suppress(DataError):
        atlas = load_atlas(path)
        if (atlas.model, atlas.corpus) == (model, corpus):
            return atlas
    atlas = build_atlas(reader, sentences, aligned, progress, cases, folder / UNFINISHED, sinks=sinks)
    # A cache that cannot be written costs time the next time, not the result now.
    with contextlib.suppress(OSError, DataError):
        make_folder(folder)
        save_atlas(atlas, path, folder)
        drop_oldest(folder, path)
    return atlas


def drop_oldest(folder: Path, spared: Path, prefix: str = "atlas") -> None:
    """Delete the files of a cache that were written longest ago until the others fit `LARGEST_CACHE`."""
    files = [(file.stat(), file) for file in folder.glob(f"{prefix}-*.npz") if file != spared]
    room = LARGEST_CACHE - spared.stat().st_size
    for stat, file in sorted(files, key=lambda entry: entry[0].st_mtime_ns, reverse=True):
        room -= stat.st_size
        if room < 0:
            file.unlink(missing_ok=True)


def _read(arrays: Mapping[str, Array]) -> Atlas:
    header = read_json(arrays, "atlas.json")
    if header["format"] not in _READABLE or tuple(header["sites"]) != SITES:
        found = [header["format"], *header["sites"]]
        raise ValueError(said("format {found}, expected {expected}", found=found, expected=[FORMAT, *SITES]))
    texts, translations = (_texts(header[name]) for name in ("texts", "translations"))
    mean_outputs = checked_array(arrays["mean_outputs"], np.float32, (len(SITES), None, None, None))
    shape = mean_outputs.shape[:3]
    heads = shape[1] * shape[2]
    rows = {str(name): tuple(int(count) for count in counts) for name, counts in header["rows"].items()}
    metrics = {name: checked_array(arrays[f"figures/{name}"], np.float32, shape) for name in rows}
    intervals = {
        name: checked_array(arrays[f"intervals/{name}"], np.float32, (*shape, 2))
        for name in rows
        if f"intervals/{name}" in arrays
    }
    strongest = {
        name: checked_array(arrays[f"strongest/{name}"], np.int32, (*shape, None))
        for name in rows
        if f"strongest/{name}" in arrays
    }
    if len(texts) != len(translations) or any(len(counts) != len(SITES) for counts in rows.values()):
        raise ValueError(said("its tables do not fit together"))
    if any(table.min() < -1 or table.max() >= len(texts) for table in strongest.values()):
        raise ValueError(said("it names sentences that it does not hold"))
    return Atlas(
        model=str(header["model"]),
        corpus=str(header["corpus"]),
        sentences=int(header.get("sentences", len(texts))),
        texts=texts,
        translations=translations,
        skipped=MappingProxyType({str(reason): int(count) for reason, count in header["skipped"].items()}),
        metrics=MappingProxyType(metrics),
        intervals=MappingProxyType(intervals),
        rows=MappingProxyType(rows),
        strongest=MappingProxyType(strongest),
        divergences=checked_array(arrays["divergences"], np.float32, (len(SITES), heads, heads)),
        mean_outputs=mean_outputs,
        heads=MappingProxyType(_heads(header.get("heads"), shape)),
        origin=_origin(header.get("origin")),
        held=checked_array(arrays["held"], np.float32, shape) if "held" in arrays else None,
    )


def _origin(value: object) -> Origin | None:
    """Where the sentences come from; an earlier file does not say."""
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) != set(Origin._fields):
        raise ValueError(said("it does not say where its sentences come from"))
    origin = Origin(**value | {"columns": Columns(*map(str, value["columns"]))})
    counts = origin.rows, origin.seed, *(count for count in (origin.limit, origin.sample) if count is not None)
    if not isinstance(origin.name, str) or not all(type(count) is int for count in counts):
        raise ValueError(said("it does not say where its sentences come from"))
    return origin


def _heads(value: object, shape: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Site → the heads of each layer, within the tables."""
    if value is None:
        return dict.fromkeys(SITES, (shape[2],) * shape[1])
    if not isinstance(value, dict) or not value or not set(value) <= set(SITES):
        raise ValueError(said("its heads are of no sites"))
    found = {}
    for site in SITES:
        if site in value:
            counts = value[site]
            fits = isinstance(counts, list) and 0 < len(counts) <= shape[1]
            if not fits or not all(type(count) is int and 0 < count <= shape[2] for count in counts):
                raise ValueError(said("its heads of {site} do not fit its tables", site=site))
            found[site] = tuple(counts)
    return found


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(said("its texts are not text"))
    return tuple(value)

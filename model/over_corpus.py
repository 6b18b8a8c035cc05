"""The one way over a corpus: chunks of texts become partial results, these are added in order, and the sum is finished.

A partial result is arrays by name: it goes into a file without pickle, and may come from another process
(`model.cluster`). Chunks may be computed in any order; they are added in that of the texts, so the sum and the order of
ties are always the same.
Where a folder is given, each chunk's result is kept there until the whole is finished, named by the measurement, the
model, the settings and the texts: who begins again after a kill or a stop computes only what is open.
"""

import hashlib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np

from model.arrays_file import Array, open_arrays
from model.errors import DataError
from model.file_writing import make_folder, remove_oldest, written_file
from model.folder_files import open_file
from model.interruption import Kept, Progress, no_progress

#: Texts of a chunk, which are sorted by length and tokenized together; more where there would be too many chunks.
TEXTS_AT_ONCE: Final = 256
#: Of a small corpus a chunk has fewer, but no fewer than these, so that so many processes can share it.
FEWEST, SHARES = 32, 64
#: Chunks of a corpus: with them the files of a run are bounded.
MOST_CHUNKS: Final = 4_000
#: Unfinished runs that a folder keeps; the oldest go first.
MOST_RUNS: Final = 8
#: Bytes of a chunk's file beyond which it is not read.
LARGEST: Final = 1 << 30

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Partial:
    """What some texts give."""

    sums: Mapping[str, Any]  #: numbers, and arrays of numbers, that are added; 0 where a name is missing
    rows: Mapping[str, Array]  #: one entry or some for each text: those of later texts follow

    def __post_init__(self) -> None:
        object.__setattr__(self, "sums", {name: np.asarray(value) for name, value in self.sums.items()})

    def __add__(self, other: "Partial") -> "Partial":
        """This one's texts, then the other's."""
        sums = {name: self.sums.get(name, 0) + other.sums.get(name, 0) for name in {**self.sums, **other.sums}}
        rows = {
            name: np.concatenate([part.rows[name] for part in (self, other) if name in part.rows])
            for name in {**self.rows, **other.rows}
        }
        return Partial(sums, rows)


class Chunk(NamedTuple):
    """Some texts that follow each other, and how many chunks stand before them."""

    number: int
    items: Sequence[Any]


OfChunk = Callable[[Sequence[Any], Progress], Partial]
"""What some texts give; it tells its second argument how many are done since the last call."""
Compute = Callable[[OfChunk, Iterator[Chunk], Progress], Iterable[tuple[int, Partial]]]
"""Computes all chunks and gives their numbers and results, in any order."""


@dataclass(frozen=True, eq=False)
class ByModels:
    """An `OfChunk` that another process can compute with models that it opens itself."""

    function: Callable[..., Partial]  #: of a module, or a `partial` of one: called with models, texts, progress
    models: tuple[Any, ...]

    def __call__(self, items: Sequence[Any], progress: Progress) -> Partial:
        """What some texts give, in this process."""
        return self.function(*self.models, items, progress)


def one_by_one(of_chunk: OfChunk, chunks: Iterator[Chunk], progress: Progress) -> Iterator[tuple[int, Partial]]:
    """Compute the chunks in this process, in order."""
    for chunk in chunks:
        yield chunk.number, of_chunk(chunk.items, progress)


_COMPUTE: Final[ContextVar[Compute]] = ContextVar("headlight_compute", default=one_by_one)


@contextmanager
def computed_by(compute: Compute) -> Iterator[None]:
    """While the block runs, in this thread only, `compute` says where and in which order chunks are computed."""
    token = _COMPUTE.set(compute)
    try:
        yield
    finally:
        _COMPUTE.reset(token)


@dataclass(frozen=True, kw_only=True)
class Sum(Generic[Item, Result]):
    """What is to be summed over a corpus.

    `name` says which measurement this is, of which model, with which settings; it is asked for only where partial
    results are kept.
    """

    of_chunk: Callable[[Sequence[Item], Progress], Partial]
    finish: Callable[[Partial], Result]
    name: Callable[[], str] = str
    merge: Callable[[Partial, Partial], Partial] = Partial.__add__


def over_corpus(
    items: Collection[Item],
    wanted: Sum[Item, Result],
    progress: Progress = no_progress,
    unfinished: Path | None = None,
    *,
    texts_at_once: int | None = None,
    leaves: bool = False,
) -> Result:
    """The finished sum over all texts, which are read once, some hundreds at a time, here or as `computed_by` says.

    Args:
        items: texts, or what is measured of each; what their `repr` shows names a chunk.
        progress: called with the number of texts done since the last call, `Kept` where an earlier run computed them;
            it may end the work by an exception.
        unfinished: a folder for the results of chunks until the whole is finished; one that cannot be written costs
            time after a kill, not the result now.
        texts_at_once: texts of a chunk; by default `TEXTS_AT_ONCE`, or fewer of a small corpus.
        leaves: leave the results of chunks there, because these texts are a part of what is to be finished; `forget`
            removes them.
    """
    size = _chunk_size(items, texts_at_once)
    kept = None if unfinished is None else _Kept(unfinished, wanted.name())

    total: Partial | None = None
    following, waiting, begun = 0, dict[int, Partial](), dict[int, Chunk]()

    def add(number: int, partial: Partial) -> None:
        nonlocal total, following
        waiting[number] = partial
        while following in waiting:
            added = waiting.pop(following)
            total = added if total is None else wanted.merge(total, added)
            following += 1

    def missing() -> Iterator[Chunk]:
        for chunk in _chunks(items, size):
            if kept is not None and (found := kept.read(chunk)) is not None:
                progress(Kept(len(chunk.items)))
                add(chunk.number, found)
            else:
                begun[chunk.number] = chunk
                yield chunk

    for number, partial in _COMPUTE.get()(wanted.of_chunk, missing(), progress):
        chunk = begun.pop(number)
        if kept is not None:
            kept.write(chunk, partial)
        add(number, partial)
    result = wanted.finish(Partial({}, {}) if total is None else total)
    if kept is not None and not leaves:
        kept.remove()
    return result


def forget(items: Collection[Item], wanted: Sum[Item, Result], unfinished: Path, *, texts_at_once: int) -> None:
    """Remove what `over_corpus` left of these texts."""
    kept = _Kept(unfinished, wanted.name())
    kept.remove(_chunks(items, _chunk_size(items, texts_at_once)))


def _chunk_size(items: Collection[Item], wanted: int | None) -> int:
    # Cut alike wherever it is computed: batches of other texts would round otherwise.
    size = wanted or min(TEXTS_AT_ONCE, max(FEWEST, math.ceil(len(items) / SHARES)))
    return max(size, math.ceil(len(items) / MOST_CHUNKS))


def _chunks(items: Iterable[Item], size: int) -> Iterator[Chunk]:
    rest = iter(items)
    for number, some in enumerate(iter(lambda: list(islice(rest, size)), [])):
        yield Chunk(number, some)


def packed(name: str, texts: Iterable[str]) -> dict[str, Array]:
    """Texts as rows of a `Partial`."""
    encoded = [text.encode("utf-8", errors="surrogatepass") for text in texts]
    return {
        name: np.frombuffer(b"".join(encoded), np.uint8),
        f"{name}/lengths": np.array(list(map(len, encoded)), np.int64),
    }


def unpacked(name: str, rows: Mapping[str, Array]) -> list[str]:
    """The texts that `packed` made these rows of; none where there are no such rows."""
    if name not in rows:
        return []
    whole, ends = rows[name].tobytes(), np.cumsum(rows[f"{name}/lengths"]).tolist()
    return [
        whole[begin:end].decode("utf-8", errors="surrogatepass") for begin, end in zip([0, *ends], ends, strict=False)
    ]


class _Kept:
    """The results of the chunks of one measurement, a file each, in a folder of its own."""

    def __init__(self, home: Path, name: str) -> None:
        self._home, self._name = home, name
        self._folder = home / hashlib.sha256(name.encode()).hexdigest()[:24]
        self._used: list[Path] = []
        with suppress(OSError):
            remove_oldest(home, MOST_RUNS)

    def read(self, chunk: Chunk) -> Partial | None:
        """The result of a chunk; None where there is none, or its file is damaged."""
        path = self._path(chunk)
        with (
            suppress(Exception),  # Whatever NumPy thinks of a damaged file.
            open_file(self._folder, path.name, LARGEST) as file,
            open_arrays(file, LARGEST) as arrays,
        ):
            parts: dict[str, dict[str, Array]] = {"sums": {}, "rows": {}}
            for name in arrays:
                kind, _, own = name.partition("/")
                parts[kind][own] = arrays[name]
            self._used.append(path)
            return Partial(**parts)
        return None

    def write(self, chunk: Chunk, computed: Partial) -> None:
        """Keep the result of a chunk, if that can be."""
        path = self._path(chunk)
        arrays = {f"sums/{name}": value for name, value in computed.sums.items()}
        arrays |= {f"rows/{name}": value for name, value in computed.rows.items()}
        with suppress(OSError, DataError):
            make_folder(self._folder, self._home)
            with written_file(path, self._home) as file:
                np.savez(file, **arrays)
            self._used.append(path)

    def remove(self, chunks: Iterable[Chunk] = ()) -> None:
        """Remove the results that were used, and those of chunks; and the folder if nothing else is in it."""
        for path in (*self._used, *map(self._path, chunks)):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            self._folder.rmdir()
            self._home.rmdir()

    def _path(self, chunk: Chunk) -> Path:
        digest = hashlib.sha256(self._name.encode())
        for item in chunk.items:
            digest.update(f"\n{item!r}".encode())
        return self._folder / f"{digest.hexdigest()}.npz"

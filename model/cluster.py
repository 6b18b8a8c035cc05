"""Compute the chunks of a corpus in other processes, here or on other machines, by Dask (`distributed`).

A message holds the name of a measurement's function, its settings, some texts, and where a model lies. A worker opens
that model itself, once, and answers with arrays: no weights and no credentials are sent. It must have the same
Headlight and find the same model, or nothing is computed. Dask decides which worker computes what, and gives the chunks
of a worker that has died to another; `over_corpus` decides what is kept for later and in which order results are added.

Dask reads messages as pickle: whoever reaches its scheduler can run programs on every worker. So connections are
encrypted, and both sides known by their certificates: those of workers started here are made for them and never leave
this machine, those of other clusters are the ones that Dask's own settings name. Without TLS only this machine's own
addresses may be given; a scheduler file is trusted as it is.
"""

import hashlib
import logging
import os
import signal
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

import torch

from model.arguments import WholeNumber, path, short
from model.errors import CheckpointError, ClusterError, HeadlightError, memory_short
from model.interruption import Progress, no_progress, pause
from model.nn.hooks import current_listener
from model.opening import open_reader
from model.over_corpus import ByModels, Chunk, OfChunk, Partial, computed_by, one_by_one
from model.reader import Reader
from model.temporary_folders import temporary_folder

#: Seconds between two checks whether to stop.
INTERVAL: Final = 0.2
#: Seconds to wait for a scheduler, and for the first worker.
PATIENCE: Final = 60
#: Chunks sent for each that is computed, so that a worker that has finished one finds the next there.
AHEAD: Final = 2
#: Models that a worker keeps open.
MOST_OPEN: Final = 2


@dataclass(frozen=True)
class ModelPlace:
    """Where workers find a model, and which it must be."""

    name: str  #: a folder that all can read, or the hub's name of a model that is in each worker's cache
    digest: str  #: its `weights_digest`
    device: str | None
    dtype: str


def add_arguments(parser: ArgumentParser) -> None:
    """The options of a command that goes over a corpus."""
    where = parser.add_mutually_exclusive_group()
    text = "compute in N processes of this machine (needs the extra “cluster”)"
    where.add_argument("--workers", type=WholeNumber(1, 1_024), metavar="N", help=text)
    text = "compute on a Dask cluster, given by its scheduler's address"
    where.add_argument("--cluster", metavar="tls://HOST:PORT", help=text)
    where.add_argument("--scheduler-file", type=path, metavar="FILE", help="the same, by the file that it wrote")


@contextmanager
def computing(arguments: Namespace, *opened: tuple[Path, Reader]) -> Iterator[None]:
    """In the block, compute where these options say, with the models that the command has opened, and their folders."""
    given = arguments.cluster or arguments.scheduler_file
    if not (arguments.workers or given):
        yield
        return
    places = {}
    for folder, reader in opened:
        name = str(folder.resolve()) if folder.exists() else folder.as_posix()
        places[reader.key] = ModelPlace(name, reader.weights_digest, arguments.device, arguments.dtype)
    cluster = local_workers(arguments.workers) if arguments.workers else joined(str(given))
    with cluster as client, computed_on(client, places):
        yield


@contextmanager
def local_workers(count: int) -> Iterator[Any]:
    """A client of a cluster of so many processes of this machine, which end with the block."""
    distributed = _library()
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, (os.cpu_count() or 1) // count))
    with temporary_folder("cluster") as folder, ExitStack() as until_end:
        with _connecting(f"{count} workers"):
            until_end.enter_context(_no_pages())
            cluster = distributed.LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                security=True,
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                preload=[__name__],
                local_directory=str(folder),
                memory_limit=None,
                silence_logs=logging.CRITICAL,
                env=dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads),
            )
            until_end.enter_context(cluster)
            client = until_end.enter_context(distributed.Client(cluster, set_as_default=False))
        yield client


@contextmanager
def joined(where: str) -> Iterator[Any]:
    """A client of a cluster that runs; `where` is its scheduler's address, or a scheduler file."""
    distributed = _library()
    if "://" not in where and not Path(where).is_file():
        raise ClusterError("There is no scheduler file {file}.", file=short(where))
    given = {"address": _checked(where)} if "://" in where else {"scheduler_file": where}
    with ExitStack() as until_end:
        with _connecting(where):
            client = distributed.Client(**given, timeout=PATIENCE, set_as_default=False)
            until_end.enter_context(client)
            client.wait_for_workers(1, timeout=PATIENCE)
        yield client


@contextmanager
def _connecting(where: str) -> Iterator[None]:
    """What Dask raises as one sentence."""
    try:
        yield
    except Exception as error:  # Of sockets, certificates, settings, scheduler files.
        message = "The cluster ({where}) cannot be used: {reason}."
        raise ClusterError(message, where=short(where), reason=_reason(error)) from error


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__


def _no_pages() -> Any:
    """Settings that leave Dask's HTTP servers without pages: they are not encrypted, and nobody asked for them."""
    import dask

    return dask.config.set({f"distributed.{of}.http.routes": [] for of in ("scheduler", "worker")})


def dask_setup(_worker: Any) -> None:
    """Called by Dask in each worker that is started here. A terminal sends Ctrl-C to it too; its maker ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _library() -> Any:
    try:
        import cryptography  # noqa: F401 (of the same extra: makes certificates)
        import distributed
    except ImportError as error:
        message = "This needs Dask: run `pip install '.[cluster]'` in a clone of Headlight ({error})."
        raise ClusterError(message, error=error) from error
    # What goes wrong is said by errors; Dask's log would repeat it between the lines of a progress bar.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    return distributed


def _checked(address: str) -> str:
    parts = urlsplit(address)
    is_here = parts.hostname == "localhost"
    with suppress(ValueError):
        is_here = is_here or ip_address(parts.hostname or "").is_loopback
    if parts.scheme != "tls" and not (parts.scheme == "tcp" and is_here):
        message = "Expected tls://HOST:PORT, or a tcp:// address of this machine, got {address}."
        raise ClusterError(message, address=short(address))
    return address


@contextmanager
def computed_on(client: Any, places: Mapping[str, ModelPlace]) -> Iterator[None]:
    """In the block and thread, compute chunks on a client's cluster; what needs a model without a place, here.

    Args:
        client: of `local_workers` or `joined`, or any `distributed.Client`.
        places: `Reader.key` → where workers find that model.
    """

    def compute(of_chunk: OfChunk, chunks: Iterator[Chunk], progress: Progress) -> Iterator[tuple[int, Partial]]:
        keys = [reader.key for reader in of_chunk.models] if isinstance(of_chunk, ByModels) else []
        # Edits of heads are this thread's own.
        if not keys or not places.keys() >= set(keys) or current_listener() is not None:
            yield from one_by_one(of_chunk, chunks, progress)
        else:
            assert isinstance(of_chunk, ByModels)
            given = (of_chunk.function, [places[key] for key in keys], _own_code())
            yield from _Run(client, given).results(chunks, progress)

    with computed_by(compute):
        yield


class _Run:
    """The chunks of one corpus on a cluster."""

    def __init__(self, client: Any, given: tuple[Any, ...]) -> None:
        self._client, self._given = client, given
        self._running: dict[Any, Chunk] = {}
        #: texts that are computed, and the number of the last chunk that was sent.
        self._done, self._last = 0, -1

    def results(self, chunks: Iterator[Chunk], progress: Progress) -> Iterator[tuple[int, Partial]]:
        """Number and result of each chunk, as they come; only so many are sent as workers have use for."""
        try:
            while self._send(chunks) or self._running:
                for future in self._finished(progress):
                    chunk = self._running.pop(future)
                    sums, rows = self._result(future, chunk)
                    self._done += len(chunk.items)
                    progress(len(chunk.items))
                    yield chunk.number, Partial(sums, rows)
        finally:
            # Where the connection is lost, there is nothing left to cancel.
            with suppress(Exception):
                self._client.cancel(list(self._running), force=True)

    def _send(self, chunks: Iterator[Chunk]) -> bool:
        """Send what there is room for; whether anything was sent."""
        with self._watching():
            room = AHEAD * max(1, sum(self._client.nthreads().values()))
        sent = False
        # One chunk that comes late does not let all others pile up.
        while len(self._running) < room and self._last < self._first() + 4 * room:
            if (chunk := next(chunks, None)) is None:
                break
            with self._watching():
                future = self._client.submit(of_chunk, *self._given, list(chunk.items), pure=False)
            self._running[future], self._last, sent = chunk, chunk.number, True
        return sent

    def _first(self) -> int:
        return min((chunk.number for chunk in self._running.values()), default=self._last)

    def _finished(self, progress: Progress) -> list[Any]:
        """The chunks that are done, once one is."""
        import distributed

        wait: Any = distributed.wait  # has no types
        while True:
            progress(0)
            pause()
            with self._watching(), self._client.as_current(), suppress(TimeoutError):
                return list(wait(list(self._running), timeout=INTERVAL, return_when="FIRST_COMPLETED").done)

    @contextmanager
    def _watching(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # Dask's own and those of sockets.
            message = (
                "The connection to the cluster was lost ({reason}): {done:,} texts have been computed, {missing:,} "
                "were being computed. Run the same command again: finished texts are not computed again."
            )
            missing = sum(len(chunk.items) for chunk in self._running.values())
            raise ClusterError(message, reason=_reason(error), done=self._done, missing=missing) from error

    def _result(self, future: Any, chunk: Chunk) -> tuple[Any, Any]:
        try:
            sums, rows = future.result()
            return sums, rows
        except Exception as error:
            if isinstance(error, HeadlightError) or memory_short(error) is not None:
                raise
            message = (
                "A worker failed at texts that begin with {first} ({reason}); {done:,} texts have been computed. "
                "Workers need the same version of Headlight, and enough RAM for the model and its texts. Run the same "
                "command again: finished texts are not computed again."
            )
            reason, first = f"{type(error).__name__}: {_reason(error)}", short(str(chunk.items[0]))
            raise ClusterError(message, reason=reason, done=self._done, first=first) from error


def of_chunk(
    function: Callable[..., Partial], places: Sequence[ModelPlace], code: str, items: Sequence[Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The sums and rows of some texts, in a worker. Raises a ClusterError if it has other code or another model."""
    if code != _own_code():
        raise ClusterError("A worker has another version of Headlight; install the same version everywhere.")
    partial = function(*map(_opened, places), items, no_progress)
    return dict(partial.sums), dict(partial.rows)


_OPENING: Final = Lock()


def _opened(place: ModelPlace) -> Reader:
    # Two threads of a worker open a model once.
    with _OPENING:
        return _opened_once(place)


@lru_cache(maxsize=MOST_OPEN)
def _opened_once(place: ModelPlace) -> Reader:
    try:
        reader = open_reader(place.name, _own_device(place.device), place.dtype)
    except CheckpointError as error:
        message = (
            "A worker cannot open the model: {reason} Use a path that all workers can read, or its name on the hub."
        )
        raise ClusterError(message, reason=error.message) from error
    if reader.weights_digest != place.digest:
        raise ClusterError("On a worker, {name} is a different model; copy the same one there.", name=place.name)
    return reader


def _own_device(device: str | None) -> str | None:
    """Of several GPUs that a worker sees, its own: workers that are started here are numbered."""
    from distributed import get_worker

    name, gpus = get_worker().name, torch.cuda.device_count()
    return f"cuda:{name % gpus}" if device in (None, "cuda") and gpus > 1 and isinstance(name, int) else device


@lru_cache(maxsize=1)
def _own_code() -> str:
    """Names the source of this package: what is computed elsewhere is computed by the same."""
    digest, folder = hashlib.sha256(), Path(__file__).parent
    for file in sorted(folder.rglob("*.py")):
        digest.update(f"{file.relative_to(folder).as_posix()}\n".encode() + file.read_bytes())
    return digest.hexdigest()

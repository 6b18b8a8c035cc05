"""An atlas by several processes: python -m tests.benchmarks.cluster FILE.tsv [FILE.tsv …] [--lines 2000].

The first lines of all files are read by the model that ships, with a thread for each worker. One and two workers are
measured. More are computed from the seconds of the chunks that one worker took, as if each had a core of its own:
chunks are given to whoever is free first, and the process that adds results up needs its own time for each. Printed are
the seconds from the command to the atlas, of which workers need some to start and to open the model, and the
efficiency: the seconds of one worker ÷ (workers × seconds), with and without that start.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import heapq
import os
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from model.analysis.atlas.measure import build_atlas
from model.analysis.corpus import CorpusSentence, read_text
from model.cluster import ModelPlace, computed_on, local_workers
from model.opening import open_reader
from tests.paths import ROOT

CHECKPOINT: Final = ROOT / "checkpoints" / "en-de"
MEASURED: Final = (1, 2)
COMPUTED: Final = (8, 64)


class Run(NamedTuple):
    """Seconds of a run: until workers are there, until the first chunk is done, of each further one, of all; and the
    processor's seconds of the process that adds them up."""

    start: float
    first: float
    chunks: list[float]
    whole: float
    adding: float


def measure(sentences: list[CorpusSentence], workers: int) -> Run:
    """Read a corpus with so many workers."""
    reader = open_reader(CHECKPOINT, "cpu")
    place = ModelPlace(str(CHECKPOINT), reader.weights_digest, "cpu", "float32")
    came: list[float] = []
    begin = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        local_workers(workers) as client,
        computed_on(client, {reader.key: place}),
    ):
        started, busy = time.perf_counter(), time.process_time()
        unfinished = Path(folder) / "unfinished"
        build_atlas(
            reader, sentences, (), lambda done: came.append(time.perf_counter()) if done else None, None, unfinished
        )
        end, busy = time.perf_counter(), time.process_time() - busy
    between = [after - before for before, after in pairwise(came)]
    return Run(started - begin, came[0] - started, between, end - begin, busy)


def computed(one: Run, workers: int) -> tuple[float, float]:
    """Seconds of so many workers from those of one: with the start, and without."""
    usual = sum(one.chunks) / len(one.chunks)
    opening, chunks = max(0.0, one.first - usual), [usual, *one.chunks]
    free = [0.0] * workers
    for seconds in chunks:
        heapq.heapreplace(free, free[0] + seconds)
    rest = one.whole - one.start - one.first - sum(one.chunks)
    work = max(max(free), one.adding) + rest
    return one.start + opening + work, work


def main() -> None:
    """Measure, compute, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--lines", type=int, default=2_000, help="of each file")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    sentences = [sentence for file in arguments.files for sentence in read_text(file, arguments.lines)]
    runs = {workers: measure(sentences, workers) for workers in MEASURED}
    one = runs[1]
    alone = one.whole - one.start - (one.first - sum(one.chunks) / len(one.chunks))
    print(f"{len(sentences):,} sentences, {len(one.chunks) + 1} chunks of {sum(one.chunks) / len(one.chunks):.2f} s")
    print("workers      seconds  of them start  efficiency  without the start")
    for workers in (*MEASURED, *COMPUTED):
        if workers in runs:
            run = runs[workers]
            whole, how = run.whole, "measured"
            opening = run.first - sum(one.chunks) / len(one.chunks)
            work = whole - run.start - opening
        else:
            (whole, work), how = computed(one, workers), "computed"
        shares = f"{one.whole / workers / whole:10.2f}  {alone / workers / work:17.2f}"
        print(f"{workers:7}  {whole:11.1f}  {whole - work:13.1f}  {shares}  {how}")
    print(
        f"the process that adds results up: {one.adding / (len(one.chunks) + 1) * 1e3:.0f} ms of a core for each chunk"
    )


if __name__ == "__main__":
    main()

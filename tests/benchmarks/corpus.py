"""Memory of an atlas over a long corpus: python -m tests.benchmarks.corpus [--lines 20000 40000 80000].

Each corpus of short lines, all different, is read in a process of its own by a small random encoder. Printed are the
peak memory above the model, and by the slope that of 1,000,000 lines; it ends with 1 if that is above 300 MB.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from scipy.stats import linregress

from tests.benchmarks.peers import measured

MILLION: Final = 1_000_000
MOST_MB: Final = 300


def measure(lines: int) -> None:
    """Print seconds and megabytes above the model, once a few sentences have been read."""
    from model.analysis.atlas.measure import build_atlas
    from model.analysis.corpus import CorpusSentence, read_text
    from model.opening import open_reader
    from tests.model.adapters.zoo import save_model

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        reader = open_reader(save_model(home / "bert", "bert", "wordpiece"))
        build_atlas(reader, [CorpusSentence("Tom told me.")])
        text = home / "text.txt"
        text.write_text("".join(f"Tom {number} told me.\n" for number in range(lines)), encoding="utf-8")
        seconds, most = measured(lambda: build_atlas(reader, read_text(text), unfinished=home / "unfinished"))
        print(json.dumps([seconds, most / 1e6]))


def main() -> None:
    """Measure every length, and say what a million lines need."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lines", type=int, nargs="+", default=[20_000, 40_000, 80_000])
    parser.add_argument("--alone", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        measure(arguments.alone)
        return
    found = []
    for lines in arguments.lines:
        command = [sys.executable, "-m", "tests.benchmarks.corpus", "--alone", str(lines)]
        seconds, megabytes = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        print(f"{lines:,} lines: {seconds:.0f} s, {megabytes:.0f} MB above the model", flush=True)
        found.append(megabytes)
    fitted = linregress(arguments.lines, found)
    needed = max(found[-1], fitted.intercept + fitted.slope * MILLION)
    print(f"slope {fitted.slope * 1e5:.1f} MB each 100,000 lines: {needed:.0f} MB for {MILLION:,}, allowed {MOST_MB}")
    sys.exit(needed > MOST_MB)


if __name__ == "__main__":
    main()

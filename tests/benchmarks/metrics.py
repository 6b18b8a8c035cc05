"""Measure a checkpoint anew: python -m tests.benchmarks.metrics --data DIR [--checkpoint DIR] [--check].

Runs every command whose figures stand in the checkpoint's metrics.json, on data files found anywhere below DIR, and
writes the file and the manifest; with --check it compares instead and ends with 1 if a figure differs.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from model.checkpoint import write_manifest

TRANSLATION = ("multi30k_flickr2017", "multi30k_val", "tatoeba_dev", "newstest2013", "visitors")
WINOBIAS = tuple(f"winobias_{side}_type{kind}_dev.txt" for side in ("pro", "anti") for kind in (1, 2))
COMMANDS = (
    *(f"evaluate --data {name}.tsv.xz{beam} --json" for name in TRANSLATION for beam in ("", " --beam 4")),
    "pronouns --part test --json",
    "pronouns --part dev --json",
    "copying --json",
    "align --data en-de_dev.jsonl --json",
    *(f"coreference --data {name} --json" for name in ("curated", "winograd_dev.jsonl", *WINOBIAS)),
    "reasons --data curated --json",
)
VARYING = {"seconds", "device"}
ENCODER = "encoder.self"
#: How far a figure may be from one of another machine: rounding.
CLOSE = 0.002


def measure(data: Path, checkpoint: Path, command: str) -> dict[str, Any]:
    """One command's result, with its file found below `data`."""
    words = command.split()
    if "--data" in words and "curated" not in words:
        index = words.index("--data") + 1
        found = sorted(data.rglob(words[index]))
        if not found:
            raise SystemExit(f"There is no {words[index]} below {data}.")
        words[index] = str(found[0])
    result = subprocess.run(
        [sys.executable, "-m", "model", *words, "--checkpoint", str(checkpoint)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    if result.returncode:
        raise SystemExit(f"{command}: {result.stderr[-500:]}")
    return {"command": f"python -m model {command}", "result": condensed(json.loads(result.stdout))}


def condensed(result: dict[str, Any]) -> dict[str, Any]:
    """Of a table with an object for every head, what a person compares: accuracies of encoder heads by their numbers.

    The command prints intervals, both sites and more; hundreds of numbers would hide these. Nor are the changes of each
    pair among them.
    """
    result = {name: value for name, value in result.items() if name not in ("version", "changes")}
    if not isinstance(result.get("heads"), list):
        return result
    site = result["sites"][ENCODER]
    heads: dict[str, dict[str, float]] = {}
    for head in result["heads"]:
        if head["site"] == ENCODER:
            heads.setdefault(str(head["layer"]), {})[str(head["head"])] = head["accuracy"]
    kept = {name: result[name] for name in ("set", "rows", "skipped", "skipped_because")}
    kept |= {"chance": site["baselines"]["chance"]}
    kept |= {"baselines": {name: site["baselines"][name] for name in ("nearest", "first")}}
    kept |= {"heads": heads, "best_head": site["best_head"]}
    kept |= {"groups": site["groups"]} if site["groups"] else {}
    kept |= {"head_averaged": {str(layer): value for layer, value in enumerate(site["head_averaged"])}}
    if site["held_out"]:
        first, second = ({"layer": one["layer"], "head": one["head"]} for one in site["held_out"])
        halves = {"chosen_on_first_half": first, "chosen_on_second_half": second}
        kept |= {"cross_selected": {"accuracy": site["cross_selected"], **halves}}
    return kept


def figures(entry: dict[str, Any]) -> dict[str, Any]:
    """What must come out the same on every machine."""
    return {name: value for name, value in entry["result"].items() if name not in VARYING}


def same(stored: Any, found: Any) -> bool:
    """Whether two results are equal, but for rounding."""
    if isinstance(stored, dict) and isinstance(found, dict):
        return stored.keys() == found.keys() and all(same(value, found[name]) for name, value in stored.items())
    if isinstance(stored, list) and isinstance(found, list):
        return len(stored) == len(found) and all(map(same, stored, found))
    if isinstance(stored, float) and isinstance(found, float):
        return math.isclose(stored, found, rel_tol=0, abs_tol=CLOSE)
    return bool(stored == found)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the sets, anywhere below")
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoints/en-de"))
    parser.add_argument("--check", action="store_true", help="compare with metrics.json instead of writing it")
    arguments = parser.parse_args()
    path = arguments.checkpoint / "metrics.json"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(partial(measure, arguments.data, arguments.checkpoint), COMMANDS)
        entries = list(tqdm(results, total=len(COMMANDS), unit="command"))
    if not arguments.check:
        path.write_text(json.dumps({"entries": entries}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        write_manifest(arguments.checkpoint)
        return 0
    stored = {entry["command"]: figures(entry) for entry in json.loads(path.read_text(encoding="utf-8"))["entries"]}
    differing = [entry["command"] for entry in entries if not same(stored.get(entry["command"]), figures(entry))]
    print("\n".join(differing) or "Every figure is the one that metrics.json holds.")
    return 1 if differing else 0


if __name__ == "__main__":
    stopping.leave(main)

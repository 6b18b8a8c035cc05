"""Write the tables of a checkpoint's card anew: python -m tests.benchmarks.card [--checkpoint DIR].

Their figures are those of its metrics.json and training.json. Each stands in the card, README.md, between
`<!-- NAME -->` and `<!-- /NAME -->`; the words around it are a person's.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from model.checkpoint import write_manifest

Results = Mapping[str, Any]
"""Command → what it found."""

CARD: Final = "README.md"
HELD_OUT: Final = {
    "frames": "sentence frame",
    "drawn frames": "sentence frame, drawn from a wide table",
    "combinations": "combination of noun and property",
    "nouns": "noun",
}
READINGS: Final = {"word_in": "for the word going in", "word_out": "for the word coming out"}


def written(card: str, results: Results, data: Sequence[Mapping[str, Any]]) -> str:
    """The card with every table made anew, from what was measured and what it was trained on."""
    tables = {"data": _data(data), **{name: table(results) for name, table in TABLES.items()}}
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = card.partition(begin)
        _, place, after = rest.partition(end)
        if not place:
            raise SystemExit(f"The card should have a place for a table between {begin.strip()} and {end}.")
        card = "\n".join([before + begin.strip(), *table, end + after])
    return card


def anew(checkpoint: Path) -> str:
    """The card of a checkpoint with the figures of its files."""
    data = json.loads((checkpoint / "training.json").read_text(encoding="utf-8"))["data"]
    return written((checkpoint / CARD).read_text(encoding="utf-8"), results_of(checkpoint), data)


def results_of(checkpoint: Path) -> Results:
    """What the checkpoint's metrics.json holds, by command, without “python -m model”."""
    entries = json.loads((checkpoint / "metrics.json").read_text(encoding="utf-8"))["entries"]
    return {entry["command"].removeprefix("python -m model "): entry["result"] for entry in entries}


def _table(columns: str, rows: Iterable[Iterable[str]]) -> list[str]:
    count = columns.count("|") + 1
    return [f"| {columns} |", "|" + "---|" * count, *(f"| {' | '.join(row)} |" for row in rows)]


def _data(data: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = ([one["name"], f"{one['pairs']:,}", f"{one['weight']:g}", one["what"], one["licence"]] for one in data)
    return _table("set | pairs | weight | what it is | licence stated at its source", rows)


def _translation(results: Results) -> list[str]:
    greedy = [one for name, one in results.items() if name.startswith("evaluate") and one["beam"] == 1]
    beam = {one["set"]: one for name, one in results.items() if name.startswith("evaluate") and one["beam"] > 1}
    rows = (
        [one["set"], f"{one['sentences']:,}"]
        + [f"{score:.1f}" for found in (one, beam[one["set"]]) for score in (found["bleu"], found["chrf"])]
        for one in greedy
    )
    return _table("set | sentences | BLEU (greedy) | chrF (greedy) | BLEU (beam 4, α 0.6) | chrF (beam 4)", rows)


def _pronouns(results: Results) -> list[str]:
    test, dev = (results[f"pronouns --part {part} --json"] for part in ("test", "dev"))
    rows = (
        [said, f"{test[name]['cases']:,}"]
        + [_percent(found[name][share]) for share in ("right", "both_right") for found in (test, dev)]
        for name, said in HELD_OUT.items()
    )
    columns = "what is new | sentences | right pronoun, test | dev | both sides of a pair right, test | dev"
    return _table(columns, rows)


def _best_known(results: Results) -> list[str]:
    pairs = results["pronouns --part test --json"]["best_known"]
    return [f"- “{english}” → “{german}”" for english, german in pairs.items()]


def _copying(results: Results) -> list[str]:
    found = results["copying --json"]
    shares = [found["copied"], *(found["kinds"][kind] for kind in ("word", "name", "number"))]
    row = [str(found["sentences"]), *map(_percent, shares), str(found["babbling"])]
    return _table("sentences | copied whole | made-up words | names | numbers | translations that babble", [row])


def _alignment(results: Results) -> list[str]:
    found = results["align --data en-de_dev.jsonl --json"]
    rows = []
    for name, said in READINGS.items():
        best, fair = found[name]["best_head"], found[name]["cross_selected"]
        layers = ", ".join(f"{rate:.3f}" for rate in found[name]["head_averaged"].values())
        rows.append([said, _head(best), f"{best['aer']:.3f}", f"{fair['aer']:.3f}", layers])
    return _table("reading | best single head | its error rate | fair | each layer's heads averaged", rows)


def _coreference(results: Results) -> list[str]:
    rows = []
    for one in (found for name, found in results.items() if name.startswith("coreference")):
        best, fair, nearest = one["best_head"], one["cross_selected"]["accuracy"], one["baselines"]["nearest"]
        rows.append(
            [one["set"], str(one["rows"]), _head(best), *map("{:.3f}".format, (best["accuracy"], fair, nearest))]
        )
    return _table("set | rows | best single head | accuracy | fair | nearest candidate", rows)


def _percent(share: float) -> str:
    return f"{share:.1%}".replace("%", " %")


def _head(head: Mapping[str, int]) -> str:
    return f"layer {head['layer'] + 1}, head {head['head'] + 1}"


TABLES: Final[Mapping[str, Callable[[Results], list[str]]]] = {
    "translation": _translation,
    "pronouns": _pronouns,
    "best known": _best_known,
    "copying": _copying,
    "alignment": _alignment,
    "coreference": _coreference,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoints/en-de"))
    folder = parser.parse_args().checkpoint
    card = folder / CARD
    card.write_text(anew(folder), encoding="utf-8")
    write_manifest(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

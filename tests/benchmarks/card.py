"""Write the tables of a checkpoint's card anew: python -m tests.benchmarks.card [--checkpoint DIR] [--data DIR].

Their figures are those of its metrics.json and training.json. Each stands in the card, README.md, between
`<!-- NAME -->` and `<!-- /NAME -->`; the words around it are a person's.

After a training, `--data` makes all that depends on the weights first: metrics.json and the atlas, from the data found
below DIR. For the checkpoint that ships it takes README's picture too and prints what lessons say that is no longer so.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from model.analysis.reasons.held_run import Part
from model.analysis.reasons.report import SENTENCES, part_label
from model.checkpoint import write_manifest
from tests.paths import ROOT

Results = Mapping[str, Any]
"""Command → what it found."""

CARD: Final = "README.md"
SHIPPED: Final = ROOT / "checkpoints" / "en-de"
IN_ENGLISH: Final = (
    "set | BLEU, greedy | beam 4 | | pronouns in pairs with a new … | right | both sides",
    ("sentence frame", "sentence frame, drawn from a wide table", "combination of noun and property", "noun"),
)
IN_CHINESE: Final = (
    "数据集 | BLEU，贪心 | 束宽 4 | | 代词，句对中新的部分是…… | 正确 | 两句都对",
    ("句式", "句式，从大表中抽取", "名词与属性的组合", "名词"),
)
READMES: Final = {ROOT / CARD: IN_ENGLISH, ROOT / ".github" / "README.zh-CN.md": IN_CHINESE}
HELD_OUT: Final = dict(zip(("frames", "drawn frames", "combinations", "nouns"), IN_ENGLISH[1], strict=True))
KINDS: Final = {
    "it": "“it”, a subject and another noun",
    "people": "“he”, “she”, “they”, people",
    "possessive": "“its”, “his”, “her”",
    "reflexive": "“himself”, “herself”",
    "equal": "“it”, two nouns side by side",
}
READINGS: Final = {"word_in": "token just read", "word_out": "token being predicted"}


def anew(checkpoint: Path) -> dict[Path, str]:
    """The checkpoint's card, and of the one that ships the project's README, with the figures of its files."""
    results, card = results_of(checkpoint), checkpoint / CARD
    data = json.loads((checkpoint / "training.json").read_text(encoding="utf-8"))["data"]
    tables = {"data": _data(data), **{name: table(results) for name, table in TABLES.items()}}
    texts = {card: filled(card.read_text(encoding="utf-8"), tables)}
    if checkpoint.resolve() == SHIPPED:
        for readme, words in READMES.items():
            texts[readme] = filled(readme.read_text(encoding="utf-8"), {"shipped": _shipped(results, words)})
    return texts


def filled(text: str, tables: Mapping[str, list[str]]) -> str:
    """The text with every table made anew.

    Raises:
        SystemExit: it has no place for one of them.
    """
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = text.partition(begin)
        _, place, after = rest.partition(end)
        if not place:
            raise SystemExit(f"There should be a place for a table between {begin.strip()} and {end}.")
        text = "\n".join([before + begin.strip(), *table, end + after])
    return text


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


def _translation_rows(results: Results) -> list[list[str]]:
    greedy = [one for name, one in results.items() if name.startswith("evaluate") and one["beam"] == 1]
    beam = {one["set"]: one for name, one in results.items() if name.startswith("evaluate") and one["beam"] > 1}
    return [
        [one["set"], f"{one['sentences']:,}"]
        + [f"{score:.1f}" for found in (one, beam[one["set"]]) for score in (found["bleu"], found["chrf"])]
        for one in greedy
    ]


def _translation(results: Results) -> list[str]:
    columns = "set | sentences | BLEU (greedy) | chrF (greedy) | BLEU (beam 4, α 0.6) | chrF (beam 4)"
    return _table(columns, _translation_rows(results))


def _pronoun_rows(results: Results) -> list[list[str]]:
    test, dev = (results[f"pronouns --part {part} --json"] for part in ("test", "dev"))
    return [
        [said, f"{test[name]['cases']:,}"]
        + [_percent(found[name][share]) for share in ("right", "both_right") for found in (test, dev)]
        for name, said in HELD_OUT.items()
    ]


def _pronouns(results: Results) -> list[str]:
    columns = "what is new | sentences | right pronoun, test | dev | both sides of a pair right, test | dev"
    return _table(columns, _pronoun_rows(results))


def _best_known(results: Results) -> list[str]:
    pairs = results["pronouns --part test --json"]["best_known"]
    return [f"- “{english}” → “{german}”" for english, german in pairs.items()]


def _copying(results: Results) -> list[str]:
    found = results["copying --json"]
    shares = [found["copied"], *(found["kinds"][kind] for kind in ("words", "names", "numbers"))]
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


def _kinds(results: Results) -> list[str]:
    found = results["coreference --data curated --json"]
    rows = [[KINDS[name], str(of["rows"]), f"{of['accuracy']:.3f}"] for name, of in found["groups"].items()]
    return _table(f"curated, by kind | rows | accuracy of {_head(found['best_head'])}", rows)


def _reasons(results: Results) -> list[str]:
    """How the head turns that moves farthest: of the best known pair, and over the pairs in which head and word do."""
    found = results["reasons --data curated --json"]
    alone = {} if found["example"] is None else found["example"]["mechanism"]
    below = part_label(Part(**found["below"]))
    rows = [
        [label.format(below=below), f"{alone[name]:.3f}" if name in alone else "", *_interval(found["mechanism"][name])]
        for name, label in SENTENCES.items()
        if name in found["mechanism"]
    ]
    columns = (
        f"{found['head']['site']}, {_head(found['head'])} | best known | median of {len(found['counted'])} pairs | 95%"
    )
    return _table(columns, rows)


def _interval(found: Mapping[str, float]) -> list[str]:
    return [f"{found['value']:.3f}", f"{found['low']:.3f} to {found['high']:.3f}"]


def _shipped(results: Results, words: tuple[str, Sequence[str]]) -> list[str]:
    """Translation and pronouns side by side, in short."""
    columns, kinds = words
    rows = [
        [name, greedy, beam, "", kind, right, both]
        for (name, _, greedy, _, beam, _), (_, _, right, _, both, _), kind in zip(
            _translation_rows(results), _pronoun_rows(results), kinds, strict=False
        )
    ]
    return _table(columns, rows)


def _percent(share: float) -> str:
    return f"{share:.1%}"


def _head(head: Mapping[str, int]) -> str:
    return f"layer {head['layer'] + 1}, head {head['head'] + 1}"


TABLES: Final[Mapping[str, Callable[[Results], list[str]]]] = {
    "translation": _translation,
    "pronouns": _pronouns,
    "best known": _best_known,
    "copying": _copying,
    "alignment": _alignment,
    "coreference": _coreference,
    "kinds": _kinds,
    "reasons": _reasons,
}


def measured(folder: Path, data: Path) -> None:
    """Lay metrics.json and the atlas of these weights into a checkpoint's folder, each by its own command."""
    alignment = sorted(data.rglob("en-de_dev.jsonl"))
    commands = [
        ["tests.benchmarks.metrics", "--data", data],
        ["model", "atlas", "--align", *alignment[:1], "--out", folder / "atlas.npz"],
    ]
    for command in commands:
        subprocess.run([sys.executable, "-m", *map(str, command), "--checkpoint", str(folder)], check=True)
        write_manifest(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--checkpoint", type=Path, default=SHIPPED)
    parser.add_argument("--data", type=Path, help="folder with the sets, anywhere below: measure these weights first")
    arguments = parser.parse_args()
    folder = arguments.checkpoint
    if arguments.data is not None:
        measured(folder, arguments.data)
    for path, text in anew(folder).items():
        path.write_text(text, encoding="utf-8")
    write_manifest(folder)
    if arguments.data is None or folder.resolve() != SHIPPED:
        return 0
    print("Take the README's picture again: python -m tests.benchmarks.readme_pictures --model FOLDER")
    # What is said of the weights in words: a person puts right what fails.
    lessons = "tests/viz/pages/learn/lessons/test_lessons.py"
    return subprocess.run([sys.executable, "-m", "pytest", "-q", lessons], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    stopping.leave(main)

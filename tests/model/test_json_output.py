"""What commands print as JSON: a version, and the fields that the documents list."""

import json
import re
from pathlib import Path

import pytest

from model.__main__ import build_parser, main
from model.file_writing import JSON_VERSION
from tests.conftest import SENTENCES
from tests.paths import ROOT

PAGE = ROOT / ".github" / "docs" / "json.md"
FILES = {
    "text.txt": "Tom told me.\n",
    "pairs.tsv": "".join(f"{a}\t{b}\n" for a, b in zip(SENTENCES[::2], SENTENCES[1::2], strict=True)),
    "cases.tsv": "Tom told Anna that he was late.\the\tTom\tAnna\n",
    "twins.tsv": f"{SENTENCES[0]}\t{SENTENCES[0].replace('tired', 'old')}\n",
    "gold.jsonl": json.dumps({"en": ["tom"], "de": ["tom"], "sure": [[0, 0]]}) + "\n",
}
TINY = ["--vocab-size", "370", "--d-model", "16", "--num-layers", "1", "--num-heads", "2", "--d-ff", "16"]
COMMANDS = {
    "translate": ["Tom told me."],
    "evaluate": ["--data", "pairs.tsv", "--show"],
    "verify": ["MODEL"],
    "align": ["--data", "gold.jsonl"],
    "coreference": ["--data", "cases.tsv"],
    "reasons": ["--data", "twins.tsv"],
    "pronouns": ["--part", "dev", "--pairs", "1"],
    "copying": ["--sentences", "3"],
    "atlas": ["--text", "text.txt", "--out", "atlas.npz"],
    "compare": ["MODEL", "MODEL", "--text", "pairs.tsv"],
    "claims": ["--size", "64", "--width", "8", "--kernel", "9"],
    "train": ["--data", "pairs.tsv", "--dev", "pairs.tsv", "--run", "run", "--out", "out", "--steps", "1", *TINY],
}
#: Commands whose output is compared with the page where they are tested.
ELSEWHERE = {"ablations", "timing"}
#: What `viz` prints.
OF_VIZ = {"heads"}
#: Commands that choose no checkpoint by an option.
ALONE = {"verify", "compare", "claims", "train"}


def listed() -> dict[str, set[str]]:
    """Command → its fields on the page."""
    sections = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    fields = {}
    for name, text in zip(sections[::2], sections[1::2], strict=True):
        rows = re.findall(r"^\| ([a-z_, ]+) \|", text, re.MULTILINE)
        fields[name] = {field for row in rows for field in row.split(", ")} - {"field"}
    return fields


def is_as_listed(command: str, text: str) -> bool:
    """Whether a command printed its version and the fields of the page, and no others."""
    printed = json.loads(text)
    return bool(printed["version"] == JSON_VERSION) and set(printed) == listed()[command]


def test_the_page_lists_every_command_that_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    (commands,) = re.findall(r"\{([a-z,]+)\}", build_parser().format_usage())
    able = set()
    for name in commands.split(","):
        with pytest.raises(SystemExit):
            main([name, "--help"])
        able |= {name} if "--json" in capsys.readouterr().out else set()

    assert set(listed()) - OF_VIZ == {*able, "train"} == {*COMMANDS, *ELSEWHERE}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_prints_its_version_and_the_fields_of_the_page(
    command: str,
    tiny_checkpoints: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("model.analysis.layer_kinds.WIDEST", 16)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    checkpoint = str(tiny_checkpoints / "en-de")
    arguments = [checkpoint if argument == "MODEL" else argument for argument in COMMANDS[command]]
    options = [] if command in ALONE else ["--checkpoint", checkpoint]
    asked = [] if command == "train" else ["--json"]
    assert main([command, *arguments, *options, *asked]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert is_as_listed(command, line)

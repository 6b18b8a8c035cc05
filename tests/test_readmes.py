"""README.md and its Chinese twin say the same; what model/README.md shows from Python runs."""

import ast
import re
from pathlib import Path

import pytest

from tests.paths import ROOT

ENGLISH = ROOT / "README.md"
CHINESE = ROOT / ".github" / "README.zh-CN.md"
BOTH = (ENGLISH, CHINESE)


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def without_code(path: Path) -> str:
    return re.sub(r"```.*?```", "", text_of(path), flags=re.DOTALL)


def blocks(path: Path) -> list[str]:
    """Code between fences, without its comments."""
    found = re.findall(r"^```\w+\n.*?^```", text_of(path), re.MULTILINE | re.DOTALL)
    return [re.sub(r"[ ]{2,}# .*", "", block) for block in found]


def targets(path: Path) -> list[Path]:
    """Files that links and pictures name, except the other README and the docs, in their order."""
    links = re.findall(r"\]\(([^)#]+)", without_code(path))
    files = [(path.parent / link).resolve() for link in links if "://" not in link]
    # The guide is one file in Chinese.
    assert all(file.exists() for file in files)
    return [file for file in files if file not in BOTH and file.parent.name != "docs"]


def shape(path: Path) -> list[str]:
    """How each line of the text begins: headings, points of lists, rows of tables with their columns."""
    begins = re.findall(r"^(#+ |- |\|.*)", without_code(path), re.MULTILINE)
    return [f"| × {begin.count('|')}" if begin.startswith("|") else begin for begin in begins]


def test_both_have_the_same_commands_word_for_word() -> None:
    english, chinese = map(blocks, BOTH)
    assert english[:2] == chinese[:2]
    assert len(english) >= 7
    assert english == chinese


def test_both_have_the_same_sections_lists_and_tables() -> None:
    assert shape(ENGLISH) == shape(CHINESE)
    assert sum(begin.startswith("#") for begin in shape(ENGLISH)) >= 7


def test_both_show_the_same_pictures_and_link_to_the_same_files_which_are_there() -> None:
    english, chinese = map(targets, BOTH)
    assert english == chinese
    assert [file.name for file in english if file.suffix == ".webp"] == ["headlight.webp"]


def test_each_names_the_other_at_its_top() -> None:
    assert text_of(ENGLISH).splitlines()[2] == "English · [简体中文](.github/README.zh-CN.md)"
    assert text_of(CHINESE).splitlines()[2] == "[English](../README.md) · 简体中文"


@pytest.mark.parametrize("pattern", [r"\d[\d.,]*\d|\d", r"`[^`\n]+`", r"\*\*P\*\*|Ctrl \+ Z"])
def test_both_give_the_same_numbers_and_names(pattern: str) -> None:
    english, chinese = (sorted(re.findall(pattern, without_code(path))) for path in BOTH)
    assert english == chinese


def test_the_chinese_is_in_full_width_punctuation_with_spaces_around_latin() -> None:
    prose = re.sub(r"`[^`\n]*`|\]\([^)]*\)|[*_“”]", "", without_code(CHINESE))
    han = "\u4e00-\u9fff"
    assert not re.findall(rf"[{han}][,;:!?]|[,;!?][{han}]", prose)
    assert not re.findall(rf"[{han}][A-Za-z0-9]|[A-Za-z0-9][{han}]", prose)


def test_the_command_of_each_shell_that_the_hosted_checks_take_is_there_once_and_names_tests_that_exist() -> None:
    text, workflow = text_of(ENGLISH), text_of(ROOT / ".github" / "workflows" / "checks.yml")
    assert "'^python -m venv .*pytest.*$'" in workflow
    assert len(re.findall(r"^python3 -m venv .*pytest.*$", text, re.MULTILINE)) == 1
    (windows,) = re.findall(r"^python -m venv .*pytest.*$", text, re.MULTILINE)
    tests = re.findall(r" (tests\\\S+)", windows.partition("-m pytest")[2])
    assert len(tests) > 3
    assert all((ROOT / name.replace("\\", "/")).exists() for name in tests)


README = (ROOT / "model" / "README.md").read_text(encoding="utf-8")
#: Calls that take many seconds; their own tests run them on small models.
LONG = ("measure_coreference", "measure_effects", "patch_heads", "scores", "effects")


def test_every_line_of_python_runs() -> None:
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        for statement in ast.parse(block).body:
            is_long = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} & set(LONG)
            if isinstance(statement, ast.Import | ast.ImportFrom) or not is_long:
                exec(compile(ast.Module([statement], []), "README.md", "exec"), names)
    assert {"changed", "tree", "patch_heads"} <= names.keys()


def test_every_file_that_it_names_is_there() -> None:
    table = README[README.index("## Where things are") :]
    named = re.findall(r"`([\w/]+\.py|[\w/]+/)`", table)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / "model" / name).exists() and not (ROOT / name).exists()] == []

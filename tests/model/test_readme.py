"""What model/README.md shows from Python runs, and the files that it names are there."""

import ast
import re

from tests.paths import ROOT

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

"""Find every text that a person sees in the source: Python, the browser's scripts, examples, lessons and formulas.

Knows Babel and files; runs nothing of the app.
"""

import ast
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from babel.messages.catalog import Catalog

from viz.selection.examples import FILE as EXAMPLES
from viz.server.scripts import texts_in
from viz.text.messages import OWN_NAME
from viz.ui.formulas import NAME, formulas_in

ROOT: Final = Path(__file__).parents[2]
#: What a language is called by itself: no call in the source, and told from the word by its context.
NAME_CONTEXT: Final = "name of the language"

#: Function → the places of its texts, counted from 1; the errors' classes are added by their names.
PLURALS: Final = frozenset({"plural", "said_plural"})
SINGULARS: Final = frozenset({"_", "said", "line_error", "note", "caption", "small_print"})
#: Where the choices of a person are described.
_SELECTION: Final = ROOT / "viz" / "selection"
_ERRORS_FILE: Final = ROOT / "model" / "errors.py"
#: A text is a key or a pair of keys, one for 1 and one for other numbers.
Text = str | tuple[str, str]


def source_files() -> list[Path]:
    """Every file that may hold a text, in a fixed order."""
    folders = (ROOT / "model", ROOT / "viz")
    python = [ROOT / "app.py", *(path for folder in folders for path in folder.rglob("*.py"))]
    lessons = (ROOT / "viz" / "pages" / "learn").rglob("*.toml")
    formulas = (ROOT / "viz").rglob(f"*{NAME}")
    return [*sorted([*python, EXAMPLES]), *sorted((ROOT / "viz").rglob("*.js")), *sorted(lessons), *sorted(formulas)]


def error_names() -> frozenset[str]:
    """The names of the errors whose first argument is a sentence."""
    tree = ast.parse(_ERRORS_FILE.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.ClassDef)) | {"Malformed"}


def texts_of(path: Path) -> Iterator[Text]:
    """The texts of a file, in the order in which they stand there."""
    if path.suffix == ".py":
        source = path.read_text(encoding="utf-8")
        if path.is_relative_to(_SELECTION):
            yield from _options(source)
        yield from python_texts(source)
    elif path.suffix == ".js":
        yield from texts_in(path.read_bytes())
    elif path.suffix == ".md":
        for formula in formulas_in(path.read_text(encoding="utf-8")):
            yield from filter(None, (formula.title, formula.text))
    elif path == EXAMPLES:
        for examples in tomllib.loads(path.read_text(encoding="utf-8")).values():
            yield from (example["look_for"] for example in examples)
    else:
        yield from lesson_texts(tomllib.loads(path.read_text(encoding="utf-8")))


def python_texts(source: str) -> Iterator[Text]:
    """The texts of a module: what `_`, `said`, `plural`, `frame.note` … and errors are given as literals.

    A long one is named before the call: `message = "…"`, then `DataError(message, path=path)`.
    """
    errors, message = error_names(), None
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call | ast.Assign)]
    for call in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(call, ast.Assign):
            message = call.value if getattr(call.targets[0], "id", "") == "message" else message
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        given = [message if getattr(arg, "id", "") == "message" else arg for arg in call.args]
        literals = [arg.value if isinstance(arg, ast.Constant) else None for arg in given]
        if name in PLURALS and len(literals) > 1 and isinstance(literals[0], str) and isinstance(literals[1], str):
            yield literals[0], literals[1]
        elif (name in SINGULARS or name in errors) and literals and isinstance(literals[0], str):
            yield literals[0]


def _options(source: str) -> Iterator[str]:
    """The options of each `Literal` that people read as they are named, with a capital letter: tabs, ways to look."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Literal":
            names = [part.value for part in ast.walk(node.slice) if isinstance(part, ast.Constant)]
            yield from (name for name in names if isinstance(name, str) and name[:1].isupper() and not name.isupper())


def lesson_texts(lesson: Mapping[str, Any]) -> Iterator[Text]:
    """The texts of a lesson or of the story, of its steps and of their questions."""
    yield from (lesson["title"], lesson["section"], *lesson.get("summary", ()))
    if "exercise" in lesson:
        yield lesson["exercise"]
    for step in lesson["steps"]:
        yield from (step["title"], step["text"])
        if question := step.get("question"):
            yield from (question["ask"], *question["options"], *filter(None, question["wrong"]))
            if because := question.get("because"):
                yield because


def template() -> Catalog:
    """All texts, each once, by the file where it stands first: without line numbers, so that little changes."""
    catalogue = Catalog(fuzzy=False)
    catalogue.add(OWN_NAME, context=NAME_CONTEXT, auto_comments=["what this language calls itself"])
    for path in source_files():
        for text in texts_of(path):
            catalogue.add(text, locations=[(path.relative_to(ROOT).as_posix(), 0)])
    return catalogue

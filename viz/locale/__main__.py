"""Find every text that a person sees in the source; bring every catalogue up to date with it, or begin a new one.

python -m viz.locale            what is new in the source comes into each catalogue, what is gone leaves it
python -m viz.locale begin fr   a new language: an empty catalogue, viz/locale/fr.po
python -m viz.locale missing    what is not translated yet: language, file and text, a line each

Knows Babel and files; runs nothing of the app.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from model.file_writing import print_in_utf_8, written_file
from viz.selection.examples import FILE as EXAMPLES
from viz.server.scripts import texts_in
from viz.text.messages import FOLDER, OWN_NAME
from viz.ui.formulas import NAME, formulas_in

ROOT: Final = Path(__file__).parents[2]
#: What a language is called by itself: no call in the source, and told from the word by its context.
NAME_CONTEXT: Final = "name of the language"

#: Function → the places of its texts, counted from 1; the errors' classes are added by their names.
PLURALS: Final = frozenset({"plural", "said_plural"})
SINGULARS: Final = frozenset({"_", "said", "line_error", "note", "caption"})
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
    files = [file for kind in ("js", "html") for file in sorted((ROOT / "viz").rglob(f"*.{kind}"))]
    return [*sorted([*python, EXAMPLES]), *files, *sorted(lessons), *sorted(formulas)]


@cache
def error_names() -> frozenset[str]:
    """The names of the errors whose first argument is a sentence."""
    tree = ast.parse(_ERRORS_FILE.read_text(encoding="utf-8"))
    names = {node.name for node in tree.body if isinstance(node, ast.ClassDef)} | {"Malformed"}
    return frozenset(names - {"Message"})


def texts_of(path: Path) -> Iterator[Text]:
    """The texts of a file, in the order in which they stand there."""
    if path.suffix == ".py":
        source = path.read_text(encoding="utf-8")
        if path.is_relative_to(_SELECTION):
            yield from _options(source)
        yield from python_texts(source)
    elif path.suffix == ".js":
        yield from texts_in(path.read_bytes())
    elif path.suffix == ".html":
        yield from template_texts(path)
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

    A long one is named before the call: `message = "…"`, then `DataError(message, path=path)`. Either may be one of
    several by a condition.
    """
    errors = error_names()
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call | ast.Assign)]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node, ast.Assign):
            if getattr(node.targets[0], "id", "") == "message":
                yield from _literals(node.value)
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [list(_literals(arg)) for arg in node.args]
        if name in PLURALS and len(given) > 1 and any(given[:2]):
            if len(given[0]) != len(given[1]):
                raise ValueError(f"line {node.lineno}: {name} needs two texts, one of 1 and one of other numbers")
            yield from zip(*given[:2], strict=True)
        elif (name in SINGULARS or name in errors) and given:
            yield from given[0]


def _literals(given: ast.expr) -> Iterator[str]:
    """A literal, or each of those that a condition chooses from."""
    if isinstance(given, ast.IfExp):
        yield from _literals(given.body)
        yield from _literals(given.orelse)
    elif isinstance(given, ast.Constant) and isinstance(given.value, str):
        yield given.value


def template_texts(path: Path) -> Iterator[str]:
    """The texts that a Jinja2 template gives `_` as literals."""
    with path.open("rb") as file:
        for _line, _function, text, _comments in babel_extract(file, ("_",), (), {}):
            if isinstance(first := text[0] if isinstance(text, tuple) else text, str):
                yield first


def _options(source: str) -> Iterator[str]:
    """The options of each `Literal` that people read as they are named, with a capital letter: tabs, ways to look."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Literal":
            names = [part.value for part in ast.walk(node.slice) if isinstance(part, ast.Constant)]
            yield from (name for name in names if isinstance(name, str) and name[:1].isupper() and not name.isupper())


def lesson_texts(lesson: Mapping[str, Any]) -> Iterator[Text]:
    """The texts of a lesson, of the story or of the final test's questions: of the whole, of steps, of questions."""
    yield from filter(None, (lesson.get("title"), lesson.get("section"), *lesson.get("summary", ())))
    if "exercise" in lesson:
        yield lesson["exercise"]
    if check := lesson.get("check"):
        yield from (check["ask"], check["hint"], check["because"])
    for step in lesson["steps"]:
        yield from filter(None, (step.get("title"), step.get("text")))
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


def main(arguments: list[str]) -> int:
    """Do what the arguments say; the exit status."""
    match arguments:
        case []:
            for path in sorted(FOLDER.glob("*.po")):
                update(path)
        case ["begin", code]:
            path = FOLDER / f"{code}.po"
            assert not path.exists(), f"{path} is there already"
            _write(Catalog(locale=code, fuzzy=False), path)
            update(path)
        case ["missing"]:
            for path in sorted(FOLDER.glob("*.po")):
                say_missing(path)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def update(path: Path) -> None:
    """Write a catalogue anew: the texts of the source in its order, each with the translation that it has."""
    before, after = read(path), template()
    for message in after:
        known = before.get(message.id, message.context) if message.id else None
        if known is not None:
            message.string, message.flags, message.user_comments = known.string, known.flags, known.user_comments
    after.locale = before.locale
    _write(after, path)


def say_missing(path: Path) -> None:
    """Print what a catalogue does not translate."""
    for message in read(path):
        if message.id and not (all(message.string) if isinstance(message.string, tuple) else message.string):
            where = message.locations[0][0] if message.locations else "-"
            print(path.stem, where, repr(message.id), sep="\t")


def read(path: Path) -> Catalog:
    """The catalogue of a file."""
    with path.open("rb") as file:
        return read_po(file, locale=path.stem)


def _write(catalogue: Catalog, path: Path) -> None:
    # Without dates and line numbers: what differs is a text that changed.
    rules = f"nplurals={catalogue.num_plurals}; plural={catalogue.plural_expr};"
    head = ("Language: " + path.stem, "Content-Type: text/plain; charset=utf-8", "Plural-Forms: " + rules)
    with written_file(path) as file:
        file.write("".join(['msgid ""\nmsgstr ""\n', *(f'"{line}\\n"\n' for line in head), "\n"]).encode())
        write_po(file, catalogue, width=120, omit_header=True, include_lineno=False)


if __name__ == "__main__":
    print_in_utf_8()
    sys.exit(main(sys.argv[1:]))

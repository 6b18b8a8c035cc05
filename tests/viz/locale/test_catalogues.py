"""Every catalogue has what the source says, nothing bypasses it, and messages use the field's terms."""

import ast
import re
import string
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest
from babel.messages.catalog import Catalog

from tests.paths import ROOT
from viz.locale.__main__ import error_names, python_texts, read, source_files
from viz.selection.selection import FIELDS
from viz.text.messages import FOLDER

CATALOGUES = sorted(FOLDER.glob("*.po"))


def names(text: str) -> set[str]:
    return {f"{name}!{conversion}:{spec}" for _, name, spec, conversion in string.Formatter().parse(text) if name}


def texts_of(value: str | Sequence[str] | None) -> Sequence[str]:
    """A text, or the forms of one that counts; none is an empty one."""
    return (value or "",) if value is None or isinstance(value, str) else value


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_a_catalogue_holds_exactly_the_texts_of_the_source(path: Path, source: Catalog) -> None:
    texts = {(message.id, message.context) for message in source if message.id}
    assert {(message.id, message.context) for message in read(path) if message.id} == texts, "python -m viz.locale"


def test_every_text_that_a_condition_chooses_from_is_found() -> None:
    source = """
if falls:
    message = "It falls by {number}."
else:
    message = "It rises by {number}."
_(message, number=1)
said("Rows" if wide else "Columns")
plural("{count} row", "{count} rows", 2)
"""
    found = ["It falls by {number}.", "It rises by {number}.", "Rows", "Columns", ("{count} row", "{count} rows")]
    assert list(python_texts(source)) == found


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_no_translation_is_fuzzy_or_names_other_values(path: Path) -> None:
    for message in read(path):
        if not message.id or not message.string:
            continue
        assert not message.fuzzy, message.id
        known = set[str]().union(*map(names, texts_of(message.id)))
        for text in texts_of(message.string):
            assert names(text) <= known, message.id
            # What a sentence names once it has in every language.
            if isinstance(message.id, str):
                assert names(text) == known, message.id


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_nothing_is_missing(path: Path) -> None:
    missing = [message.id for message in read(path) if message.id and not all(texts_of(message.string))]
    assert missing == []


def throws_away_what_it_translates_by(function: ast.FunctionDef) -> bool:
    """It calls `_` and stores it, too, outside of comprehensions, which have a scope of their own."""
    stored, waiting = False, list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.comprehension):
            continue
        stored |= isinstance(node, ast.Name) and node.id == "_" and isinstance(node.ctx, ast.Store)
        waiting += ast.iter_child_nodes(node)
    return stored and any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_"
        for node in ast.walk(function)
    )


#: What shows its first argument, of Streamlit, of a column or container of it, and of ours.
SHOW_FIRST = frozenset(
    {
        "badge", "button", "caption", "checkbox", "download_button", "error", "expander", "field", "file_uploader",
        "header", "info", "link_button", "markdown", "menu_button", "metric", "multiselect", "note", "number_input",
        "pills", "popover", "radio", "segmented_control", "select_slider", "selectbox", "slider", "spinner",
        "subheader", "success", "tabs", "text_area", "text_input", "title", "toast", "toggle", "warning", "write",
        "Column",
    }
)  # fmt: skip
#: What shows its second: the first names a field.
SHOW_SECOND = frozenset({"segmented", "dropdown", "switch", "optional_switch", "multiple"})
#: Ours that translate what they show.
TRANSLATES = frozenset({"frame.note", "frame.caption"})
SHOWN_BY_NAME = frozenset({"label", "help", "help_text", "placeholder", "alt", "title", "caption", "note"})
#: Icons and colours of Markdown, and what stands in both languages as it is.
_NO_WORDS = re.compile(
    r":material/\w+:|:\w+-?\w*\[|bertviz|Headlight|BLEU|chrF|CSV|PNG|SVG|PDF|HTML|log p|</?\w+[^>]*>|\bpx\b|\w+_\w+"
)
_WORD = re.compile(r"[A-Za-z]{2,}")
#: Terms that are the same in every language, beside the names of fields of the selection.
ALLOWED = {"logit", "tanh"} | FIELDS.keys()
#: Where no page runs, English is spoken.
ENGLISH = ROOT / "viz" / "notebook"


def bare(node: ast.expr) -> str:
    """The words of a literal, or of an f-string between its values; "" of anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr):
        text = " ".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    else:
        return ""
    return text if _WORD.search(_NO_WORDS.sub("", text)) else ""


def given(call: ast.Call) -> Iterator[ast.expr]:
    """What a call is given to be shown; `frame.note` and its like look for their texts in the catalogue."""
    if ast.unparse(call.func) in TRANSLATES:
        return
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in SHOW_FIRST:
        yield from call.args[:1]
    if name in SHOW_SECOND:
        yield from call.args[1:2]
    if name in SHOW_FIRST | SHOW_SECOND | {"chart", "table", "MatrixData"}:
        yield from (keyword.value for keyword in call.keywords if keyword.arg in SHOWN_BY_NAME)


def bypassing(path: Path, errors: frozenset[str]) -> Iterator[str]:
    """Where a module shows, raises or translates something in a way that no catalogue can follow, and why."""
    is_shown = ENGLISH not in path.parents and path.relative_to(ROOT).parts[0] != "model"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        where = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.FunctionDef) and throws_away_what_it_translates_by(node):
            yield f"{where}: {node.name} uses the underscore for what it throws away"
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "message":
            if isinstance(node.value, ast.JoinedStr):
                yield f"{where}: a message that is named first has lost its template"
        elif isinstance(node, ast.Call):
            shown = map(bare, given(node)) if is_shown else ()
            yield from (f"{where}: no catalogue knows {text}" for text in shown if text and text not in ALLOWED)
            is_error = isinstance(node.func, ast.Name) and node.func.id in errors
            if is_error and node.args and isinstance(node.args[0], ast.JoinedStr):
                yield f"{where}: an error has lost its template before anyone could translate it"


@pytest.mark.long
def test_nothing_is_shown_raised_or_translated_past_the_catalogue() -> None:
    errors = error_names()
    assert [wrong for path in source_files() if path.suffix == ".py" for wrong in bypassing(path, errors)] == []


#: What is not to be read in a message, and what is written instead.
PATTERNS: Final = {
    r"(?<!here )\b(?:is|are|was|were) no (?!longer)": "is not a …",
    r"\banew\b": "again",
    r"\bbeside\b": "next to, with",
    r"\b(?:stands?|stood)\b": "is, comes, occurs, refers to",
    r"\b(?:lies?|lying)\b": "is",
    r"\bholds? (?!for\b|back\b)(?:a|an|no|the|only|its|more|at most|\{|[0-9])": "contains, has",
    r"(?:^|[.;:] )(?:Asked|Compared|Counted|Drawn|Found|Kept|Marked|Measured|Named|Nearest|Shown) (?:is|are)\b": (
        "the subject first"
    ),
    r"\blook(?:s|ed|ing)? (?:at|back|elsewhere)\b": "attends to",
    r"\b(?:known|recorded|measured|shown|read|told) of\b": "… for",
    r"\bso (?:large|long|many|short|small) an?\b": "such a …",
    r"\bputs? out\b": "outputs",
    r"\btold apart\b": "within seed noise",
    r"\bpieces?\b(?!\})": "token",
    r"\b[Gg]reedy search\b": "greedy decoding",
    r"\b(?:likest|likeliest|surer|surest)\b": "most similar, most probable, confident",
    r"\bone a (?:line|row)\b|\b(?:bar|head|line|one|row|tile) a (?:head|key|layer|sentence|step|token)\b": "one per …",
    r"\b(?:any|no)body\b": "the subject",
    r"\d %": "a number and % without a space",
    r"\b[Mm]end(?:s|ed)?\b": "fix",
    r"\b(?:a|one|this|short|each|another) training\b(?! (?:data|loss|pair|run|sentence|set|step|text))": "run",
    r"\bof (?:its|their|your) own\b": "its own",
    r"\b[Aa]nother \w+ than\b|\bother \w+ than\b": "different from",
    r"\bin the place of\b": "corresponds to",
}


@pytest.fixture(scope="module")
def texts(source: Catalog) -> list[str]:
    """Every text of the app once, on one line."""
    return [" ".join(text.split()) for message in source if message.id for text in texts_of(message.id)]


@pytest.mark.parametrize(("pattern", "better"), PATTERNS.items(), ids=list(PATTERNS))
def test_no_message_has_a_word_that_another_says_better(pattern: str, better: str, texts: list[str]) -> None:
    found = [text for text in texts if re.search(pattern, text)]
    assert not found, f"{better}: {found}"

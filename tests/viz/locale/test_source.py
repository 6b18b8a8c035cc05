"""No sentence that a person sees bypasses the catalogues: what is given to be shown is never a bare text."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.paths import ROOT
from viz.locale.extraction import error_names, python_texts
from viz.selection.selection import FIELDS

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
TRANSLATES = frozenset({"frame.note", "frame.caption", "frame.small_print"})
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


def calls(path: Path) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]


def test_nothing_is_shown_that_no_catalogue_knows() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}: {text}"
        for path in sorted([ROOT / "app.py", *(ROOT / "viz").rglob("*.py")])
        if ENGLISH not in path.parents
        for call in calls(path)
        for node in given(call)
        if (text := bare(node)) and text not in ALLOWED
    ]
    assert found == []


def test_every_error_has_a_template() -> None:
    """An f-string has lost its template before anyone could translate it."""
    errors = error_names()
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for folder in ("model", "viz")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for call in calls(path)
        if isinstance(call.func, ast.Name) and call.func.id in errors and call.args
        if isinstance(call.args[0], ast.JoinedStr)
    ]
    assert found == []


def test_a_message_that_is_named_first_is_a_template() -> None:
    source = 'message = "a {b}"\nraise DataError(message, b=b)\nmessage = ("c "\n"{d}")\nsaid(message, d=d)'
    assert list(python_texts(source)) == ["a {b}", "c {d}"]
    named = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in ("model", "viz")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "message"
        if isinstance(node.value, ast.JoinedStr)
    ]
    assert named == []

"""What a field says of itself in its type, and that widgets and changes name only fields."""

import ast
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest

from tests.paths import ROOT
from viz.selection.fields import MaxLength, Param, ResetBy, SessionOnly, fields_of
from viz.selection.selection import FIELDS

#: Functions whose first argument names a field, and those whose keywords do.
BY_ARGUMENT = {"state.bind", "state.take", "state.position", "state.value", "frame.tabs", "segmented", "dropdown"}
#: Modules whose functions draw a field that their first argument names, but for two.
WIDGETS = ("controls.", "number_controls.")
NO_WIDGETS = {"controls.plain", "number_controls.table_button"}
BY_KEYWORD = {"state.change", "state.choose"}


@dataclass(frozen=True)
class First:
    colour: Annotated[Literal["red", "blue"], Param("c"), ResetBy("size", "name"), ResetBy("count")] = "red"
    count: int | None = None


@dataclass(frozen=True)
class Second:
    name: Annotated[str, MaxLength(3)] = ""
    secret: Annotated[str, SessionOnly()] = ""


@dataclass(frozen=True)
class Both:
    first: First
    second: Second


def test_a_field_is_described_by_its_type() -> None:
    known = fields_of(Both)
    colour = known["colour"]
    assert list(known) == ["colour", "count", "name", "secret"]
    assert (colour.section, colour.name, colour.param, colour.default) == ("first", "colour", "c", "red")
    assert (colour.options, colour.reset_by) == (("red", "blue"), frozenset({"size", "name", "count"}))
    assert (known["count"].kind, known["count"].param, known["count"].options) == (int | None, "count", ())
    assert (known["name"].max_length, known["name"].in_address) == (3, True)
    assert not known["secret"].in_address


def test_two_fields_may_not_have_one_name() -> None:
    @dataclass(frozen=True)
    class Twice:
        first: First
        again: First

    with pytest.raises(TypeError, match="'colour'"):
        fields_of(Twice)


def test_two_fields_may_not_have_one_name_in_addresses() -> None:
    @dataclass(frozen=True)
    class Other:
        c: int = 0

    @dataclass(frozen=True)
    class Clash:
        first: First
        other: Other

    with pytest.raises(TypeError, match="one name in addresses"):
        fields_of(Clash)


def test_a_field_is_reset_by_fields_only() -> None:
    assert all(field.reset_by <= FIELDS.keys() for field in FIELDS.values())


def test_widgets_and_changes_name_fields_only() -> None:
    named = {
        name for path in (ROOT / "viz").rglob("*.py") for name in names_in(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert len(named) > 40
    assert named <= FIELDS.keys()


def names_in(tree: ast.Module) -> set[str]:
    """The names of fields that a module writes out: of widgets, and of changes of the selection."""
    names: set[str] = set()
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        function = ast.unparse(call.func)
        keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        if function in BY_ARGUMENT or (function.startswith(WIDGETS) and function not in NO_WIDGETS):
            names |= texts(call.args[:1])
        if function in BY_KEYWORD or function.endswith(".changed"):
            names |= keywords.keys()
        if "on_change" in keywords and ast.unparse(keywords["on_change"]) == "state.take":
            arguments = keywords["args"]
            names |= texts(arguments.elts) if isinstance(arguments, ast.Tuple) else set()
    return names


def texts(nodes: list[ast.expr]) -> set[str]:
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}

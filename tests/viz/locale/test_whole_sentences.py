"""No sentence is glued of halves: no text by `+`, an f-string or a join, and no message is a half."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from babel.messages.catalog import Catalog

from tests.paths import ROOT
from viz.locale.__main__ import source_files

#: What gives a text in the language of the page.
TEXTS: Final = frozenset({"_", "plural", "shown", "in_a_row"})
#: Of what stands beside a text: markup, and values that plotly fills in.
MARKUP: Final = re.compile(r"<[^>]*>|%\{[^}]*\}|&\w+;|\\text|style=\S*")
#: How a half of a sentence begins or ends.
HALF: Final = re.compile(
    r"^[,;)…]|[,(]$|^ |^(?:and|are|at|because|but|by|has|have|if|in|is|of|on|or|that|to|was|which|who|with)\b"
)
#: Messages that look like halves, and why they are none.
WHOLE: Final = {
    ", ": "between the members of a list",
    "; ": "between the members of a list",
    " and ": "between two words", " or ": "between two words",
    "of": "a token to choose", "because, was": "two words to choose",
    "is longer than {most:,} characters": "a reason, after the number of a line",
    "in RAM": "a place, in a message about room", "on the GPU": "a place, in a message about room",
    "with its output from the other sentence, the choice becomes “{token}” ({change} nats)": "a clause of a list",
    "with its output from the other sentence, “{token}” stays ({change} nats)": "a clause of a list",
    "in this sentence only": "where a job was measured, in brackets",
    **dict.fromkeys(
        (
            "at {position}", "by kind", "by kind of token", "by position", "in order", "in total",
            "is what was written", "of the change in the log-odds", "of the change in {head}", "with biases",
            "with the cache", "… in controls",
        ),
        "a heading or the name of a line",
    ),
    **dict.fromkeys(
        (
            "on 25 random tokens repeated four times, the weight of a token on its own earlier occurrences, between 0 "
            "and 1",
            "on 25 random tokens repeated four times, the weight of a token on what followed the same token earlier, "
            "between 0 and 1; that is what an induction head attends to",
            "on 25 random tokens repeated four times, the weight on the previous token, between 0 and 1",
        ),
        "what a metric means, after its name",
    ),
}  # fmt: skip


def glued(path: Path) -> Iterator[str]:
    """Where a module puts words beside a text, or texts side by side with nothing but a space between them."""
    for scope in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(scope, ast.FunctionDef | ast.Module):
            continue
        body = [node for part in scope.body for node in ast.walk(part)]
        named = {
            target.id
            for node in body
            if isinstance(node, ast.Assign) and isinstance(scope, ast.FunctionDef) and is_text(node.value, set())
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in body:
            parts = parts_of(node)
            words = " ".join(
                part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )
            texts = sum(is_text(part, named) for part in parts)
            has_words = re.search(r"[A-Za-z]{2,}", MARKUP.sub("", words))
            if (texts and has_words) or (texts > 1 and words.isspace()):
                yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"


def is_text(node: ast.expr, named: set[str]) -> bool:
    if isinstance(node, ast.FormattedValue):
        node = node.value
    if isinstance(node, ast.Name):
        return node.id in named
    return isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in TEXTS


def parts_of(node: ast.AST) -> list[ast.expr]:
    """What an f-string, a sum of strings or a join puts together, the text between them included."""
    match node:
        case ast.JoinedStr(values):
            return values
        case ast.BinOp(left, ast.Add(), right):
            return [*parts_of(left), *parts_of(right)] or [left, right]
        case ast.Call(ast.Attribute(ast.Constant() as between, "join"), [ast.Tuple(members) | ast.List(members)]):
            return [between, *members]
        case ast.Call(ast.Attribute(ast.Constant() as between, "join"), [ast.Call(_, [_, ast.Tuple(members)])]):
            return [between, *members]
        case ast.expr():
            return [node] if isinstance(node, ast.Call | ast.Constant | ast.Name) else []
    return []


@pytest.mark.long
def test_nothing_is_glued_to_a_text() -> None:
    assert [where for path in source_files() if path.suffix == ".py" for where in glued(path)] == []


def test_no_message_is_half_a_sentence(source: Catalog) -> None:
    forms = (message.id if isinstance(message.id, tuple) else (str(message.id),) for message in source if message.id)
    halves = {text for of_message in forms for text in of_message if HALF.search(text.rstrip("\n"))}
    assert halves == WHOLE.keys(), sorted(halves ^ WHOLE.keys())

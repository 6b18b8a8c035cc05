"""Every catalogue has what the source says, with the same placeholders, and nothing fuzzy."""

import ast
import string
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.paths import ROOT
from viz.locale.__main__ import read
from viz.locale.extraction import source_files, template
from viz.text.messages import FOLDER

CATALOGUES = sorted(FOLDER.glob("*.po"))


def names(text: str) -> set[str]:
    return {f"{name}!{conversion}:{spec}" for _, name, spec, conversion in string.Formatter().parse(text) if name}


def texts_of(value: str | Sequence[str] | None) -> Sequence[str]:
    """A text, or the forms of one that counts; none is an empty one."""
    return (value or "",) if value is None or isinstance(value, str) else value


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_a_catalogue_holds_exactly_the_texts_of_the_source(path: Path) -> None:
    texts = {(message.id, message.context) for message in template() if message.id}
    assert {(message.id, message.context) for message in read(path) if message.id} == texts, "python -m viz.locale"


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


def test_no_function_that_translates_uses_the_underscore_for_what_it_throws_away() -> None:
    wrong = []
    for path in source_files():
        if path.suffix != ".py":
            continue
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                stored, called = _underscores(function)
                if stored and called:
                    wrong.append(f"{path.relative_to(ROOT)}: {function.name}")
    assert wrong == []


def _underscores(function: ast.FunctionDef) -> tuple[bool, bool]:
    """Whether it stores `_` outside of comprehensions, which have a scope of their own, and whether it reads it."""
    stored, waiting = False, list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.comprehension):
            continue
        stored |= isinstance(node, ast.Name) and node.id == "_" and isinstance(node.ctx, ast.Store)
        waiting += ast.iter_child_nodes(node)
    called = any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_"
        for node in ast.walk(function)
    )
    return stored, called

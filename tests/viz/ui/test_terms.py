"""Terms on pages: the first text that has one explains it, and no other does."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of, opened
from viz.text import glossary, messages

#: What a page of newcomers shows in any case, in each language.
PAGES: list[tuple[str, dict[str, object]]] = [
    ("attention", {}),
    ("decoding", {"studio": "Inside"}),
    ("coreference", {}),
    ("learn", {"lesson": "positions", "step_of_lesson": 6}),
    ("atlas", {}),
]


def texts_of(app: AppTest) -> list[str]:
    """Every text of a page in small print, between others, or beside a sign, from above."""
    kinds = {"markdown", "caption", "info", "success", "warning"}
    return [str(getattr(element, "value", "")) for element in app.main if element.type in kinds]


@pytest.mark.parametrize("language", messages.languages())
@pytest.mark.parametrize(("page", "choices"), PAGES)
def test_a_page_explains_a_term_once_where_it_comes_first(page: str, choices: dict[str, object], language: str) -> None:
    app = opened(app_of(), page, lang=language, **choices)
    linked = re.findall(r"\[([^\]]+)\]\(#term-", "\n".join(texts_of(app)))
    with messages.speaking(language):
        term_of = {name: term.names[0] for term in glossary.terms(language) for name in term.names}
    terms = [term_of[name] for name in linked]
    assert terms
    assert len(terms) == len(set(terms))

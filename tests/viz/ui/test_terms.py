"""Terms on pages are explained; the browser's tests say that each is once."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of, opened
from viz.text import messages

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
def test_texts_of_a_page_explain_terms_each_text_a_term_once(
    page: str, choices: dict[str, object], language: str
) -> None:
    app = opened(app_of(), page, lang=language, **choices)
    found = [re.findall(r"#term-[^)]+", text) for text in texts_of(app)]
    assert sum(map(len, found)) > 2
    assert [terms for terms in found if len(terms) != len(set(terms))] == []

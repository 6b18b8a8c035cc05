"""The glossary: two sentences a term in every language, and links in texts that make nothing of them HTML."""

import re

import pytest

from tests.paths import ROOT
from viz.pages.learn.lessons.lesson import lessons
from viz.text import glossary, messages

LANGUAGES = list(messages.languages())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_term_has_two_sentences_and_a_lesson(language: str) -> None:
    terms = glossary.terms(language)
    assert len(terms) >= 30
    sentences = {term.names[0]: len(re.findall(r"[.。](?= |$|(?<=。))", term.text)) for term in terms}
    assert {name: count for name, count in sentences.items() if count != 2} == {}
    assert {term.lesson for term in terms} <= set(lessons())
    # What would end a link's title, or be Markdown within it.
    assert [term.text for term in terms if set('"\\`*_[]<>') & set(term.text)] == []


def test_no_language_falls_back_on_english() -> None:
    english = {term.text for term in glossary.terms("en")}
    assert {code: english & {term.text for term in glossary.terms(code)} for code in LANGUAGES if code != "en"} == {
        code: set() for code in LANGUAGES if code != "en"
    }


def test_a_term_is_linked_once_where_it_comes_first_and_nothing_else_changes() -> None:
    text = (
        "The softmax of nats; another softmax. Senates have tokenizers, `softmax` is code, $softmax$ and [nat](x) too."
    )
    linked = glossary.explained(text)
    assert linked.count("](#term-") == 2
    assert linked.startswith("The [softmax](#term-scaled-dot-product ")
    assert re.sub(r'\[([^\]]+)\]\(#term-[\w-]+ "[^"]*"\)', r"\1", linked) == text


def test_of_a_text_the_first_few_terms_are_explained() -> None:
    names = [term.names[0] for term in glossary.terms("en")]
    assert glossary.explained(", ".join(names)).count("](#term-") == glossary.MOST


def test_chinese_terms_are_found_within_a_sentence() -> None:
    with messages.speaking("zh"):
        assert "[困惑度](#term-loss " in glossary.explained("平滑会损害困惑度。")


def test_the_glossary_of_the_docs_is_the_app_s() -> None:
    written = (ROOT / ".github" / "GLOSSARY.md").read_text(encoding="utf-8")
    assert written == glossary.markdown(), "run `python -m viz.text.glossary > .github/GLOSSARY.md`"

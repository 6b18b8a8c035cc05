"""Tokens that can be seen, words that are marked, languages and terms."""

import re

import pytest

from tests.paths import ROOT
from tests.viz.pages.coreference.test_side_by_side import ANIMAL, IT, STREET
from viz.locale import __main__ as locale
from viz.pages.learn.lessons.lesson import lessons
from viz.selection.examples import EXAMPLES
from viz.text import glossary, messages
from viz.text.language import other_language
from viz.text.marks import guessed
from viz.text.written import display_token, display_word


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("▁animal", "▁animal"), ("</s>", "</s>"), ("<0xF0>", "<0xF0>"), ("😀", "😀"), ("שלום", "שלום"), ("é", "é"),
        ("\x00", "␀"), ("a\tb\n", "a␉b␊"), ("\x7f", "␡"), ("\x85", "\\u0085"), ("a b", "a␣b"), ("\u00a0", "\\u00a0"),
        ("\u202eevil", "\\u202eevil"), ("\u2066x\u2069", "\\u2066x\\u2069"), ("\u200b", "\\u200b"),
        ("\ufeff", "\\ufeff"), ("\u2028", "\\u2028"), ("\ud800", "\\ud800"), ("\ue000", "\\ue000"),
        ("\U000e0041", "\\U000e0041"), ("\u3164", "\\u3164"), ("\u0301", "◌\u0301"), ("\ufe0f", "\\ufe0f"),
        ("❤\ufe0f", "❤\ufe0f"), ("\ufe0fab", "\\ufe0fab"), ("\uffff", "\\uffff"), ("", "∅"),
    ],
)  # fmt: skip
def test_every_character_of_a_token_is_visible_and_none_reorders_the_text(token: str, shown: str) -> None:
    assert display_token(token) == shown


def test_no_shown_token_holds_a_control_or_bidirectional_character() -> None:
    for code in [*range(0x3000), 0xFEFF, 0xE0001]:
        shown = display_token(chr(code))
        assert shown.strip(), hex(code)
        assert not any(
            mark in shown for mark in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        )
        assert all(ord(character) >= 0x20 for character in shown)


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("didn't", "didn't"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("a\x07b", "a␇b"),
        ("a\ud800", "a\\ud800"),
        ("\u200b", "\\u200b"),
        ("", "∅"),
    ],
)
def test_a_word_is_shown_as_typed_unless_nothing_of_it_would_be_seen(word: str, shown: str) -> None:
    assert display_word(word) == shown


FIRST, SECOND = EXAMPLES[0].text, EXAMPLES[0].twin


@pytest.mark.parametrize(
    ("text", "swapped", "positions"),
    [
        (FIRST, False, (IT, ANIMAL, STREET)),
        (SECOND, True, (IT, STREET, ANIMAL)),
        ("A cat and a dog saw the bird, and it flew.", False, (9, 1, 4)),
        ("A cat and a dog saw the bird, and it flew.", True, (9, 4, 1)),
        ("It's late.", False, (0, None, None)),
        ("Her dog ran.", False, (0, None, None)),
        ("The cat saw a mouse.", False, (None, None, None)),
        ("😀 !", False, (None, None, None)),
    ],
)
def test_marks_are_guessed_from_articles_before_the_pronoun(
    text: str, swapped: bool, positions: tuple[int | None, ...]
) -> None:
    assert guessed(text, swapped=swapped).positions == positions


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Die Katze schläft auf dem Bett.", "German"),
        ("Buongiorno amici", "Italian"),
        ("Le chat dort sur le lit.", "French"),
        ("猫在床上睡觉。", "Chinese"),
        ("Кошка спит на кровати.", "Russian"),
    ],
)
def test_another_language_is_named(text: str, name: str) -> None:
    assert other_language(text, "en") == name


@pytest.mark.parametrize(
    "text",
    [
        *(example.text for example in EXAMPLES),
        "It is late.",
        "Schadenfreude",
        "The Zeitgeist of the Kindergarten was wanderlust.",
        "Angela Merkel met Emmanuel Macron in Paris.",
        "x = 3 + y",
        "😀 😀",
        "",
    ],
)
def test_english_and_what_could_be_any_language_is_left_alone(text: str) -> None:
    assert other_language(text, "en") == ""


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


LINK = r'\[([^\]]+)\]\(#term-[\w-]+ "[^"]*"\)'


def terms_of(linked: str) -> list[str]:
    """The words of a text that are explained."""
    return re.findall(LINK, linked)


def test_a_term_is_linked_once_where_it_comes_first_and_nothing_else_changes() -> None:
    text = (
        "The softmax of nats; another softmax. Senates have tokenizers, `softmax` is code, $softmax$ and [nat](x) too, "
        "“perplexity” is quoted, *entropy* explained."
    )
    linked = glossary.explained(text)
    assert terms_of(linked) == ["softmax", "nats"]
    assert linked.startswith("The [softmax](#term-scaled-dot-product ")
    assert re.sub(LINK, r"\1", linked) == text
    # Chinese terms are found within a sentence.
    with messages.speaking("zh"):
        assert "[困惑度](#term-loss " in glossary.explained("平滑会损害困惑度。")


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("en", "Rotary position embeddings, in most models today", ["Rotary position embeddings"]),
        ("en", "Move by the arrow keys; the two sentences share a verb.", []),
        ("en", "A sub-layer, then layer normalisation of a key", ["key"]),
        ("en", "A recurrent layer, then the output layer", []),
        ("zh", "循环层之后是输出层", []),
        ("zh", "开头的方向键只移动子层，词汇汇总", []),
        ("zh", "每一层的头", ["层", "头"]),
    ],
)
def test_the_longest_name_says_which_term_is_meant(language: str, text: str, found: list[str]) -> None:
    with messages.speaking(language):
        assert terms_of(glossary.explained(text)) == found


@pytest.mark.parametrize(("term", "said"), [("norm", ["范数"]), ("memory", ["memory", "编码器"])])
def test_a_word_with_two_meanings_gets_the_card_of_the_one_that_is_meant(term: str, said: list[str]) -> None:
    """A norm is the length of a vector or a layer norm, memory the encoder's output or RAM; Chinese has two words."""
    messages_of = [message for message in locale.read(messages.FOLDER / "zh.po") if isinstance(message.id, str)]
    with messages.speaking("en"):
        texts = {
            re.sub(r"\{[^}]*\}", "", str(message.id)): str(message.string) for message in messages_of if message.id
        }
        linked = [text for text in texts if re.search(rf"\[{term}s?\]\(#term-", glossary.explained(text))]
    assert len(linked) > 3
    assert [text for text in linked if not any(word in texts[text] for word in said)] == []


def test_the_glossary_of_the_docs_is_the_app_s() -> None:
    written = (ROOT / ".github" / "GLOSSARY.md").read_text(encoding="utf-8")
    assert written == glossary.markdown(), "run `python -m viz.text.glossary > .github/GLOSSARY.md`"

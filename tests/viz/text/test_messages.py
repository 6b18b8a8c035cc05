"""English by default, another language where it is spoken; sentences joined; values that stay values."""

import copy
import re

import pytest

from model import checked
from model.checked import Malformed
from model.errors import CheckpointError, DataError, said, said_plural
from viz.text import messages
from viz.text.messages import _, plural, speaking


def test_english_is_spoken_where_nobody_chose() -> None:
    assert messages.language() == "en"
    assert _("Stop") == "Stop"
    # Braces in values are no names.
    assert _("Loading {name}, {size} …", name="{size}", size="1 kB") == "Loading {size}, 1 kB …"
    # A copy of a message keeps its template.
    assert copy.deepcopy(said("{count:,} tokens", count=2)).template == "{count:,} tokens"


def test_a_message_is_its_english_sentence_and_is_translated_when_shown() -> None:
    message = said("{count:,} tokens", count=1200)
    assert message == "1,200 tokens"
    with messages.speaking("zh"):
        assert "1,200" in messages.shown(message)
        assert messages.shown(message) != message
    # Text of people is never looked up.
    with messages.speaking("zh"):
        assert messages.shown("Stop") == "Stop"


def test_a_small_number_is_written_as_a_power_of_ten_in_every_language() -> None:
    message = said("{largest:.0e}, {share:.2f}", largest=3e-7, share=0.25)
    for code in ("en", "zh"):
        with messages.speaking(code):
            assert messages.shown(message) == "3·10⁻⁷, 0.25"


def test_an_error_within_an_error_is_translated_with_it() -> None:
    inner = said("encoder-only")
    error = DataError("{family}: {kind}", family="X", kind=inner)
    assert str(error) == "X: encoder-only"
    with messages.speaking("zh"):
        assert "encoder-only" not in messages.shown(error.message)
    # What was wrong with a value is said within the error that names the file.
    with pytest.raises(Malformed) as wrong:
        checked.count("x", "entries[0].seed")
    outer = CheckpointError("{name} cannot be used: {error}.", name="vocab.json", error=wrong.value)
    assert str(outer) == "vocab.json cannot be used: entries[0].seed must be a whole number, 0 or more, got 'x'."
    with messages.speaking("zh"):
        chinese = messages.shown(outer.message)
    assert not re.findall("[a-z]{3,}", re.sub(r"vocab\.json|entries\[0\]\.seed", "", chinese))


@pytest.mark.parametrize(("count", "expected"), [(0, "0 heads"), (1, "1 head"), (2, "2 heads")])
def test_plural_forms_follow_the_number(count: int, expected: str) -> None:
    assert plural("{count} head", "{count} heads", count) == expected
    assert said_plural("{count} head", "{count} heads", count) == expected


@pytest.mark.parametrize(("locale", "code"), [("zh-CN", "zh"), ("zh", "zh"), ("de-AT", "en"), (None, "en"), ("", "en")])
def test_the_browsers_language_is_the_nearest_there_is(locale: str | None, code: str) -> None:
    assert messages.nearest(locale) == code


def test_a_share_has_no_space_whoever_fills_the_sentence() -> None:
    written = "In 71% of 1,200"
    assert _("In {share:.0%} of {count:,}", share=0.714, count=1200) == written
    assert said("In {share:.0%} of {count:,}", share=0.714, count=1200) == written
    with pytest.raises(KeyError):
        said("In {share:.0%} of {count:,}", count=1200)


def test_sentences_and_lists_are_joined_as_the_language_of_the_page_joins_them() -> None:
    assert messages.in_a_row(["One.", "", "Two.", "Three."]) == "One. Two. Three."
    assert [join([]) for join in (messages.in_a_row, messages.with_commas, messages.with_or)] == [""] * 3
    assert messages.with_commas("abc") == "a, b, c"
    assert messages.with_and("ab") == "a and b"
    assert messages.clauses_with_and("ab") == "a and b"
    assert messages.with_or("ab") == "a or b"
    with speaking("zh"):
        assert messages.in_a_row(["一。", "二。"]) == "一。二。"
        assert messages.with_commas("甲乙丙") == "甲、乙、丙"
    with speaking("zh"):
        assert messages.with_commas([said("Model"), "X"]).startswith("模型")

"""The sentences of a batch and their masks on the page."""

import pytest
from streamlit.testing.v1 import AppTest

from model import Translator
from model.errors import InputTextError
from tests.viz.page_run import healthy
from tests.viz.pages.paper.opening import at
from tests.viz.sent import charts
from viz.pages.paper.masks import MAX_COMPANIONS, companions


def test_blank_lines_are_no_sentences() -> None:
    assert companions("\n Yes. \n\n  \nNo.\n") == ("Yes.", "No.")
    assert companions(" \n ") == ()


def test_as_many_sentences_as_promised_are_taken_and_one_more_is_refused() -> None:
    assert len(companions("Yes.\n" * MAX_COMPANIONS)) == MAX_COMPANIONS
    with pytest.raises(
        InputTextError, match=f"At most {MAX_COMPANIONS} .* there are {MAX_COMPANIONS + 2} lines. Remove 2"
    ):
        companions("Yes.\n" * (MAX_COMPANIONS + 2))


def test_the_share_of_padding_on_the_page_is_that_of_the_tokens(app: AppTest, translator: Translator) -> None:
    texts = ["Hi.", "Tom told me that he would be late."]
    at(app, "Masks", text=texts[0], companion=texts[1])
    masks = translator.masks(texts)
    for name, rows in (("Source", masks.source_tokens), ("Translation", masks.target_tokens)):
        cells = [token == "<pad>" for row in rows for token in row]
        said = next(element.value for element in app.markdown if element.value.startswith(f"**{name}**"))
        share = f"{100 * sum(cells) / len(cells):.0f}%"
        assert said == f"**{name}**: {share} padding, {sum(cells)} of {len(cells)} cells"


def test_each_sentence_of_the_batch_can_be_looked_at(app: AppTest) -> None:
    at(app, "Masks", companion="Hi.\nYes.")
    assert len(app.selectbox(key="batch_member").options) == 3
    before = charts(app)
    healthy(app.selectbox(key="batch_member").set_value(2).run())
    assert charts(app)[:5] == before[:5]
    assert charts(app)[5:] != before[5:]
    assert app.query_params["member"] == "2"


def test_a_member_that_is_not_in_the_batch_becomes_one_that_is(app: AppTest) -> None:
    at(app, "Masks", member=7, companion="Hi.")
    assert app.selectbox(key="batch_member").value == 1


def test_without_further_sentences_the_batch_is_the_sentence_alone(app: AppTest) -> None:
    at(app, "Masks", companion=" ")
    assert app.selectbox(key="batch_member").value == 0
    assert any("0% padding" in element.value for element in app.markdown)


@pytest.mark.parametrize(
    ("typed", "said"), [("Hi.\n" * 9, "At most 8"), ("Hi.\n" + "word " * 900, "Sentence 3 is too long")]
)
def test_a_batch_that_will_not_do_leaves_the_masks_of_the_sentence(app: AppTest, typed: str, said: str) -> None:
    at(app, "Masks")
    app.text_area(key="batch_sentences").set_value(typed).run()
    assert not app.exception
    assert said in app.error[0].value
    assert app.text_area(key="batch_sentences").value == typed
    assert len(charts(app)) == 3


def test_markup_in_a_companion_is_shown_literally(app: AppTest) -> None:
    at(app, "Masks")
    text = "<img src=x> ![x](https://evil.example/a.png)"
    healthy(app.text_area(key="batch_sentences").set_value(text).run())
    for element in (*app.markdown, *app.caption, *app.html):
        assert "<img" not in element.value
        assert "](https" not in element.value

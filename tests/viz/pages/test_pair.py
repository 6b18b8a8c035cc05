"""An encoder reads two texts as a pair: the field, its place in addresses, and the texts' names along the axes."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.pages.any_model import opened
from tests.viz.sent import sent_to
from viz.theme import ROLE_COLOURS

TEXT, SECOND = "The animal didn't cross the street.", "It was too tired."


@pytest.fixture
def app(any_model: AppTest) -> AppTest:
    any_model.query_params["text"] = TEXT
    return any_model


def runs_of(app: AppTest, component: str, runs: str, words: str) -> list[tuple[str, str]]:
    ((header, _),) = sent_to(app, component)
    return [(role, " ".join(header[words][begin:end])) for role, begin, end, _ in header[runs]]


def test_a_second_text_is_read_and_named_along_the_axes(app: AppTest) -> None:
    opened(app, "bert")
    alone = len(sent_to(app, "matrix_picture")[0][0]["columnTokens"])
    app.text_area(key="second_text").set_value(SECOND).run()
    assert not app.exception
    assert app.query_params["second"] in (SECOND, [SECOND])
    app.toggle(key="sinks").set_value(False).run()
    for side in ("row", "column"):
        runs = runs_of(app, "matrix_picture", f"{side}Roles", f"{side}Tokens")
        ends = "." if side == "row" else ""
        assert runs == [(role, text.lower().removesuffix(".") + ends) for role, text in (("A", TEXT), ("B", SECOND))]
    assert len(sent_to(app, "matrix_picture")[0][0]["columnTokens"]) > alone
    ((header, _),) = sent_to(app, "word_picker")
    (line,) = header["lines"]
    assert line["mark"] == "PAIR"
    assert [colour for *_, colour in line["roles"]] == [ROLE_COLOURS["A"], ROLE_COLOURS["B"]]
    ((header, _),) = sent_to(app, "head_grid")
    assert [role for role, *_ in header["roles"]] == ["A", "B"]


@pytest.mark.parametrize(
    "page", ["attention", "decoding", "coreference", "atlas", "learn", "experiments", "model_card"]
)
def test_every_page_opens_for_a_pair(app: AppTest, page: str) -> None:
    app.query_params["second"], app.query_params["learn"] = SECOND, "The Transformer"
    opened(app, "bert", page)
    assert not app.error, app.error[0].value


@pytest.mark.parametrize("name", ["gpt2", "t5", "vit", "chat", "en-de"])
def test_models_that_read_no_pairs_offer_no_second_text(app: AppTest, name: str) -> None:
    app.query_params["second"] = SECOND
    opened(app, name)
    assert not any(area.key == "second_text" for area in app.text_area)
    assert not app.error

"""Every page with models of every kind from a folder: what they have is shown, what they lack is said."""

import shutil
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of, run_page, until
from tests.viz.pages.any_model import MODELS, add, opened
from tests.viz.sent import charts, numbers, sent_to, unlinked
from viz.selection.catalogue import DOWNLOADS_VARIABLE
from viz.selection.choices import DecodingTab
from viz.selection.examples import examples_in

PAGES = ("attention", "decoding", "coreference", "atlas", "experiments", "model_card")


@pytest.fixture
def app(any_model: AppTest) -> AppTest:
    return any_model


def said(app: AppTest) -> str:
    return " ".join(unlinked(one.value).replace("\\", "") for one in (*app.info, *app.error, *app.warning))


#: Models that write, of which every tab of the decoding page is opened below, the first one too.
WRITERS = ("gpt2", "t5", "whisper")


@pytest.mark.parametrize("name", [*MODELS, "vit", "whisper", "hubert"])
def test_every_page_opens_for_every_kind_of_model_and_is_never_empty(app: AppTest, name: str) -> None:
    for page in (page for page in PAGES if page != "decoding" or name not in WRITERS):
        opened(app, name, page)
        assert not app.error, (page, app.error[0].value)
        assert len(app.main.children) > 1, page
        assert app.info or app.html or app.get("bidi_component") or app.get("plotly_chart"), page


def test_a_decoder_is_asked_what_its_pronoun_attends_to_not_the_word_after_it(app: AppTest) -> None:
    opened(app, "gpt2")
    ((question, _),) = sent_to(app, "link_question")
    assert question["asked"] == ["it", "animal"]
    ((headline, _),) = sent_to(app, "headline")
    assert "“it”" in "".join(headline["suggestion"])
    # The row that writes the word, and the row that reads it: not one of them twice.
    heads = [button.label.removesuffix(" (when reading it)") for button in app.button if " · 0." in button.label]
    assert len(set(heads)) == len(heads) == 3


@pytest.mark.parametrize(("name", "speaks_of_cross"), [("gpt2", False), ("t5", True)])
def test_a_film_names_the_attentions_that_the_model_has(app: AppTest, name: str, speaks_of_cross: bool) -> None:
    opened(app, name, "decoding")
    ((header, _),) = sent_to(app, "decode_player")
    assert ("Cross-attention" in header["titles"][0]) == speaks_of_cross
    assert len(set(header["titles"])) == 2


@pytest.mark.parametrize(
    ("name", "view"),
    [
        ("t5", {"view": "Why"}),
        ("t5", {"drawn": "bertviz"}),
        ("vit", {"drawn": "bertviz"}),
        ("whisper", {"drawn": "Lines"}),
    ],
    ids=str,
)
def test_every_view_of_the_attention_page_opens(app: AppTest, name: str, view: dict[str, str]) -> None:
    app.query_params.update(view)
    opened(app, name)
    assert not app.error, app.error[0].value


@pytest.mark.long
def test_a_span_of_a_sound_is_hidden_as_long_as_a_person_chooses(app: AppTest) -> None:
    app.query_params.update({"studio": "Attribution", "step": "1", "than": "0", "span": "1000"})
    opened(app, "whisper", "decoding")
    losses = []
    for seconds in (1.0, 0.5):
        app.segmented_control(key="hidden_span").set_value(round(1_000 * seconds)).run()
        words, *_ = charts(until(app, charts))
        names = words["layout"]["xaxis"]["ticktext"]
        assert [name.split("–")[0] for name in names[:3]] == [f"{seconds * at:g}" for at in range(3)]
        assert names[-1] == "after the sound"
        losses.append(numbers(words["data"][0]["customdata"])[0])
    assert len(losses[0]) < len(losses[1])
    # The silence is the same span whatever the length.
    assert losses[0][-1] == pytest.approx(losses[1][-1], abs=1e-4)
    assert np.ptp(losses[0]) > 0
    assert app.query_params["span"] == "500"


def test_a_beam_a_reason_and_a_head_off_are_shown_of_a_sound_as_of_a_text(app: AppTest) -> None:
    app.query_params.update({"search": "Beam search", "node": "3"})
    opened(app, "whisper", "decoding")
    drawn = charts(until(app, charts))
    # A row for each token of the hypothesis: none for what the decoder was told before it wrote.
    ((tree, _),) = sent_to(app, "beam_picture")
    assert len(numbers(drawn[0]["data"][0]["z"])) == tree["nodes"][3]["step"] + 1
    ((why, _),) = sent_to(opened(app_of(view="Why"), "whisper"), "why")
    assert why["lines"][0]["tokens"][1:3] == ["0.1–0.2 s", "0.2–0.3 s"]
    moved = app_of(learn="The Transformer", change="off", site="decoder.cross", head="L1H1", checkpoint="whisper")
    ((walk, _),) = sent_to(run_page(moved, "learn"), "walk")
    assert walk["changed"]["written"]


@pytest.mark.parametrize(
    ("name", "why_not"), [("bert", ""), ("mpnet", "Only the attention weights"), ("vit", "patches")]
)
def test_why_is_offered_of_what_can_be_split_and_else_a_sentence_says_why_not(
    app: AppTest, name: str, why_not: str
) -> None:
    opened(app, name)
    ((grid, _),), ((heatmap, _),) = (sent_to(app, component) for component in ("head_grid", "matrix_picture"))
    assert (grid["asks"], heatmap["focus"]["asks"]) == ("" if why_not else "encoder.self", not why_not)
    assert any("#why-encoder.self-" in unlinked(one.value) for one in app.caption) == (not why_not)
    # Random weights may ask about a word that a twin lacks.
    asking = opened(app_of(view="Why", alone="True"), name)
    assert bool(sent_to(asking, "why")) == (not why_not)
    card = opened(app, name, "model_card")
    on_card = " ".join(unlinked(one.value) for one in card.markdown)
    for reason in ("Only the attention weights", "patches"):
        assert (reason in said(asking)) == (reason in on_card) == (reason == why_not), reason


@pytest.mark.parametrize("tab", get_args(DecodingTab))
@pytest.mark.parametrize("name", WRITERS)
def test_every_tab_of_the_decoding_page_opens_for_a_model_that_writes(app: AppTest, name: str, tab: str) -> None:
    app.query_params["studio"] = tab
    opened(app, name, "decoding")
    assert not app.error, app.error[0].value
    assert app.info or app.html or app.get("bidi_component") or app.get("plotly_chart")


def test_a_folder_is_added_chosen_and_shown(app: AppTest, folders: Path, tmp_path: Path) -> None:
    shutil.copytree(folders / "bert", tmp_path / "mine")
    add(opened(app, "en-de"), tmp_path / "mine")
    assert not app.error
    assert app.selectbox(key="checkpoint").value == "mine"
    assert app.query_params["checkpoint"] in ("mine", ["mine"])
    assert app.get("bidi_component")
    assert str(tmp_path) not in str(dict(app.query_params))


HOSTILE = {
    "nothing": "   ", "a path upwards": "../..", "no folder": "/no/such/folder", "10,000 characters": "x/" * 5_000,
    "HTML": "<img src=https://evil.example/x onerror=alert(1)>", "a NUL": "a\x00b",
    "somebody's home": "~nobody-has-this-name/x", "a name of the hub": "google-bert/bert-base-uncased",
}  # fmt: skip


def test_what_is_no_folder_with_a_model_is_answered_with_a_sentence(app: AppTest) -> None:
    opened(app, "bert")
    for name, typed in HOSTILE.items():
        add(app, typed)
        assert len(app.error) == 1, name
        assert len(app.error[0].value) < 700, name
        assert "<img" not in app.error[0].value.replace("\\<", "")
        assert app.selectbox(key="checkpoint").value == "bert"


def test_a_hub_name_needs_the_box_and_the_setting(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(app, "bert")
    assert not app.checkbox
    monkeypatch.setenv(DOWNLOADS_VARIABLE, "1")
    app.run()
    asked: list[str] = []

    def fetched(name: str) -> str:
        asked.append(name)
        return name

    monkeypatch.setattr("viz.access.models.hub_folder", fetched)
    app.checkbox(key="add/fetch").check()
    add(app, "google-bert/bert-base-uncased")
    assert asked == ["google-bert/bert-base-uncased"]


def test_the_side_of_a_model_that_reads_pictures_or_texts_is_chosen_and_in_the_address(app: AppTest) -> None:
    opened(app, "clip")
    assert not app.sidebar.text_area
    app.run()
    app.selectbox(key="reads").set_value("text").run()
    assert not app.exception
    assert not app.error
    assert app.query_params["reads"] == "text"
    app.text_area(key="text").set_value("A cat sat.").run()
    assert "PICTURE" not in " ".join(element.value for element in app.html)
    app.selectbox(key="reads").set_value("picture").run()
    assert not app.sidebar.text_area
    assert "PICTURE" in " ".join(element.value for element in app.html)


def test_a_language_that_no_file_names_is_asked_for_and_examples_follow_it(app: AppTest) -> None:
    opened(app, "gpt2")
    asked = app.selectbox(key="reads")
    assert asked.value == ""
    asked.set_value("zh").run()
    assert not app.exception
    assert app.query_params["reads"] == "zh"
    assert app.text_area(key="text").value == examples_in("zh")[0].text
    app.switch_page("viz/pages/atlas/page.py").run()
    assert any("this model reads Chinese" in unlinked(one.value) for one in app.caption)


def test_an_added_folder_that_becomes_a_link_is_not_followed(app: AppTest, folders: Path, tmp_path: Path) -> None:
    mine = Path(shutil.copytree(folders / "bert", tmp_path / "mine"))
    add(opened(app, "en-de"), mine)
    mine.rename(tmp_path / "moved")
    mine.symlink_to(folders / "bert")
    app.run()
    assert not app.exception
    assert "no longer points" in app.error[0].value

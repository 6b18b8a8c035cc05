"""What stands on the left of every page: which languages, devices, tabs and sentences can be chosen."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import pytest
import streamlit as st

from model.languages import Offered
from viz.access import models
from viz.selection import catalogue, state
from viz.selection.choices import ModelChoice
from viz.selection.examples import ALL_EXAMPLES, EXAMPLES, examples_in
from viz.selection.selection import FIELDS, PAGES, Selection
from viz.ui import controls, sidebar


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    state.put(Selection())


#: Field → its labels and which one is shown.
Lists = dict[str, tuple[dict[str, str], object]]


@pytest.fixture
def lists(monkeypatch: pytest.MonkeyPatch) -> Lists:
    """The lists that are drawn."""
    drawn: Lists = {}

    def dropdown(field: str, label: str, labels: Mapping[str, str], *, shown: object = None, **_settings: str) -> None:
        drawn[field] = dict(labels), shown

    monkeypatch.setattr(controls, "dropdown", dropdown)
    monkeypatch.setattr(controls, "segmented", dropdown)
    return drawn


@pytest.mark.parametrize(("length", "shown"), [(100, "x" * 100), (101, "x" * 100 + " …")])
def test_a_model_that_is_not_on_the_list_is_named_up_to_a_length(
    length: int, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(state, "take_missing", lambda: "x" * length)
    monkeypatch.setattr(catalogue, "can_add", lambda: False)
    monkeypatch.setattr(st, "info", lambda text, **_settings: said.append(text.replace("\\", "")))
    sidebar.say_missing(["en-de", "other"])
    assert f"the model “{shown}”" in said[0]
    assert "“en-de”" in said[0]


def test_only_chosen_tabs_are_shown_and_with_them_their_pages() -> None:
    fields = [page.tab for page in PAGES.values()]
    assert all(map(sidebar.is_shown, fields))
    code, (page, label) = list(sidebar.codes().items())[1]
    state.change(shown_tabs=(code, "no-such-tab"))
    assert [field for field in fields if sidebar.is_shown(field)] == [page.tab]
    assert [each for each in FIELDS[page.tab].options if sidebar.is_shown(page.tab, each)] == [label]


@pytest.mark.parametrize(
    ("offered", "asked", "lists_shown"),
    [
        (Offered(), ModelChoice(), {}),
        (Offered(writes=("fra",)), ModelChoice(), {}),
        (Offered(writes=("fra", "deu")), ModelChoice(), {"writes": (["", "deu", "fra"], "")}),
        (
            Offered(("fra", "deu"), ("fra", "deu"), ("deu", "fra")),
            ModelChoice(),
            {"reads": (["deu", "fra"], "deu"), "writes": (["deu", "fra"], "fra")},
        ),
        (
            Offered(("fra", "deu"), ("fra", "deu"), ("deu", "fra")),
            ModelChoice(reads="fra", writes="xyz"),
            {"reads": (["deu", "fra"], "fra"), "writes": (["xyz", "deu", "fra"], "xyz")},
        ),
    ],
)
def test_languages_are_offered_where_there_are_several_by_their_names(
    offered: Offered,
    asked: ModelChoice,
    lists_shown: dict[str, tuple[list[str], str]],
    lists: Lists,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # They stand in the order of their names, not in that of the model.
    monkeypatch.setattr(models, "language_name", {"deu": "A", "fra": "B"}.__getitem__)
    monkeypatch.setattr(models, "offered", lambda choice: offered)
    sidebar._offered_languages(asked)
    assert {field: (list(labels), shown) for field, (labels, shown) in lists.items()} == lists_shown


@pytest.mark.parametrize(("languages", "is_asked"), [(("", ""), True), (("", "de"), True), (("en", ""), False)])
def test_a_person_is_asked_which_language_is_read_where_the_files_do_not_say(
    languages: tuple[str, str], is_asked: bool, lists: Lists, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "kind", lambda choice: "decoder")
    monkeypatch.setattr(models, "languages_of_files", lambda choice: languages)
    monkeypatch.setattr(models, "offered", lambda choice: Offered())
    place: Any = nullcontext()
    sidebar._language(place)
    assert set(lists) == ({"reads"} if is_asked else set())
    if is_asked:
        names = list(lists["reads"][0].values())
        assert names[0] == "Not given"
        assert names[1:] == sorted(names[1:])


@pytest.mark.parametrize(
    ("has_gpu", "chosen", "offered"),
    [
        (False, "auto", None), (False, "cpu", ["auto", "cpu"]), (False, "cuda", ["auto", "cpu", "cuda"]),
        (True, "auto", ["auto", "cpu", "cuda"]), (True, "cpu", ["auto", "cpu", "cuda"]),
    ],
)  # fmt: skip
def test_a_device_is_offered_where_there_is_a_choice(
    has_gpu: bool, chosen: str, offered: list[str] | None, lists: Lists, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "has_gpu", lambda: has_gpu)
    state.change(device=chosen)
    sidebar._device()
    assert (list(lists["device"][0]) if lists else None) == offered


@pytest.mark.parametrize(("before", "height"), [(0, None), (4, "content"), (5, 180)])
def test_sentences_of_before_are_a_click_away_cut_at_a_length_and_scroll_where_they_are_many(
    before: int, height: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels: list[str] = []
    heights: list[object] = []

    def container(*, height: object, **_settings: object) -> Any:
        heights.append(height)
        return nullcontext()

    texts = [letter * length for letter, length in zip("abcde", (70, 71, 1, 2, 3), strict=True)][:before]
    monkeypatch.setattr(state, "sentences", lambda: (Selection().common.text, *texts))
    monkeypatch.setattr(models, "kind", lambda choice: "decoder")
    monkeypatch.setattr(st, "container", container)
    monkeypatch.setattr(st, "button", lambda label, **_settings: labels.append(label))
    sidebar._sentences()
    assert heights == ([] if height is None else [height])
    assert labels == ["a" * 70, "b" * 70 + " …", "c", "dd", "eee"][:before]
    # A model of pictures reads none.
    monkeypatch.setattr(models, "kind", lambda choice: "image")
    sidebar._sentences()
    assert len(heights) <= 1


def test_an_example_in_another_language_becomes_the_first_in_the_models_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "reads_chat", lambda choice: False)
    monkeypatch.setattr(models, "languages", lambda choice: ("de", "en"))
    own = examples_in("de")
    for text, kept in ((EXAMPLES[2].text, own[0].text), (own[1].text, own[1].text), ("A text.", "A text.")):
        state.change(text=text)
        assert sidebar._examples() == own
        assert state.current().common.text == kept
    assert EXAMPLES[2] in ALL_EXAMPLES


@pytest.mark.parametrize(("is_ours", "icon"), [(True, ":material/translate:"), (False, ":material/search:")])
def test_an_example_says_what_to_look_for_in_the_model_that_is_chosen(
    is_ours: bool, icon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    icons: list[str] = []
    answers: dict[str, Any] = {
        "kind": "encoder-decoder" if is_ours else "decoder",
        "languages": ("en", ""),
        "target_language": "",
    }
    answers |= {"is_english_german": is_ours, "reads_chat": False, "has_chat_template": False}
    for name, answer in answers.items():
        monkeypatch.setattr(models, name, lambda choice, answer=answer: answer)
    for name in ("text_area", "menu_button"):
        monkeypatch.setattr(st, name, lambda *_texts, **_settings: None)
    monkeypatch.setattr(st, "container", lambda **_settings: nullcontext())
    monkeypatch.setattr(st, "button", lambda label, *, icon, **_settings: icons.append(icon))
    monkeypatch.setattr(st, "caption", said.append)
    for example in EXAMPLES:
        said.clear()
        state.change(text=example.text)
        sidebar._given()
        is_said = bool(example.look_for) and (is_ours or not example.only_in_german)
        assert said == ([f"**Look for:** {controls.plain(example.look_for)}"] if is_said else [])
    assert set(icons) == {icon}
    state.change(text="A text of a person's own.")
    sidebar._given()
    assert len(said) <= 1


def test_a_picture_is_chosen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[object] = []
    monkeypatch.setattr(state, "choose", lambda **values: chosen.append(values["picture_digest"]))
    state.change(picture_digest="abc")
    for digest in ("abc", "def", "abc"):
        sidebar._look_at(digest)
    assert chosen == ["def"]

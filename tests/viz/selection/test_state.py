"""The selection and its way through the URL."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.examples import EXAMPLES
from viz.selection.selection import Selection
from viz.selection.url import MAX_TEXT_IN_URL, parse, to_params

DEFAULT = Selection().changed(checkpoint="en-de")
CHANGED = Selection().changed(
    checkpoint="other",
    device="cpu",
    text="Grüße & <b>?=#</b> 😀",
    other_text="Zwei",
    site="decoder.cross",
    layer=3,
    head=7,
    token=0,
    other_token=4,
    step=5,
    side="target",
    attention_tab="bertviz",
    masks_tab="Positional encodings",
    batch_sentences="Yes.\nNo.",
    batch_member=1,
    model_card_tab="Scores",
    example_seed=7,
    metric="entropy",
    order="lowest",
    max_heads=8,
    drawn_as="Lines",
    measure="norms",
    further_heads=(2, 5),
    threshold=20,
    whole_words=True,
    special_tokens=False,
    scaled=False,
    masked=False,
    bertviz_view="Model view",
    position=3,
    dimension=4,
    shift=5,
    width=64,
    base=100,
    picture_format="SVG",
    coreference_tab="Cause",
    pair="it-04",
    pronoun=7,
    antecedent=1,
    distractor=0,
    other_pronoun=2,
    other_antecedent=3,
    other_distractor=4,
)


def test_a_link_brings_back_every_choice() -> None:
    assert parse(to_params(CHANGED), Selection()) == CHANGED


def test_defaults_are_left_out_of_the_link() -> None:
    assert to_params(Selection()) == {}
    assert to_params(Selection().changed(layer=2)) == {"layer": "2"}


def begun() -> None:
    """As the app, in a session that has added a model."""
    from pathlib import Path

    import streamlit as st

    from viz.selection import catalogue, state

    st.session_state[catalogue._ADDED] = {"mine": Path("mine")}
    state.begin(list(catalogue.models()))


@pytest.mark.parametrize("asked", ["", "gone"])
def test_without_a_model_of_the_server_ones_own_first_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    app = AppTest.from_function(begun)
    app.query_params["checkpoint"] = asked
    selection = app.run().session_state["selection"]
    assert (selection.model.checkpoint, selection.model.folder) == ("mine", "mine")
    (tmp_path / "en-de").mkdir()
    app = AppTest.from_function(begun)
    assert app.run().session_state["selection"].model.checkpoint == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("site", "encoder"),
        ("site", ""),
        ("layer", "-1"),
        ("layer", "two"),
        ("layer", "1.5"),
        ("layer", "٣"),
        ("layer", "9" * 5000),
        ("head", "0x1"),
        ("token", "None"),
        ("step", " 1"),
        ("device", "tpu"),
        ("view", "x"),
        ("part", "x"),
        ("side", "both"),
        ("lab", "x"),
        ("pair", "x" * 61),
        ("pronoun", "-1"),
        ("about", "x"),
        ("seed", "-3"),
        ("words", "1"),
        ("figure", "x"),
        ("measure", "x"),
        ("also", "-1"),
        ("also", "1.a"),
        ("member", "-1"),
    ],
)
def test_a_wrong_value_becomes_the_default(name: str, value: str) -> None:
    assert parse({name: value}, Selection()) == Selection()


def test_an_unknown_parameter_is_ignored() -> None:
    assert parse({"utm_source": "x", "layer": "2"}, Selection()) == Selection().changed(layer=2)


def test_a_repeated_head_is_kept_once() -> None:
    assert parse({"also": "4.4.2"}, Selection()).common.further_heads == (4, 2)


def test_a_very_long_text_stays_out_of_the_link_and_is_not_lost() -> None:
    long = DEFAULT.changed(text="x" * (MAX_TEXT_IN_URL + 1), layer=2)
    params = to_params(long)
    assert "text" not in params
    assert parse(params, long) == long


def test_an_empty_text_is_a_choice_too() -> None:
    assert parse(to_params(DEFAULT.changed(text="")), DEFAULT).common.text == ""


@pytest.mark.parametrize(
    ("layer", "head", "expected"), [(3, 7, (3, 7)), (4, 7, (0, 7)), (3, 8, (3, 0)), (99, 99, (0, 0))]
)
def test_a_layer_or_head_that_the_model_lacks_becomes_the_first(
    layer: int, head: int, expected: tuple[int, int]
) -> None:
    selection = DEFAULT.changed(layer=layer, head=head).within(4, 8)
    assert (selection.common.layer, selection.common.head) == expected


def test_the_animal_and_the_street_come_first() -> None:
    assert EXAMPLES[0].text.endswith("too tired.")
    assert EXAMPLES[0].twin.endswith("too wide.")


def test_every_example_differs_from_its_twin_in_a_few_words_only() -> None:
    for example in EXAMPLES:
        words, others = example.text.split(), example.twin.split()
        assert 1 <= sum(word != other for word, other in zip(words, others, strict=True)) <= 2

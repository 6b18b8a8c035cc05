"""Reading and writing addresses."""

import pytest

from viz.selection.fields import MAX_TEXT_IN_URL
from viz.selection.selection import Selection
from viz.selection.url import parse, to_params

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
    paper_tab="Positions",
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
    from_atlas=True,
    position=3,
    dimension=4,
    shift=5,
    width=64,
    base=100,
    picture_format="SVG",
    picture_paper="white",
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
    assert to_params(Selection().changed(threshold=2)) == {"threshold": "2"}


def test_what_a_page_proposes_is_left_out_of_the_link_and_what_a_person_chose_is_not() -> None:
    proposed = Selection().proposed(site="decoder.cross", layer=3, head=1, step=9)
    assert to_params(proposed) == {}
    assert to_params(proposed.changed(head=0)) == {"site": "decoder.cross", "head": "L4H1"}
    assert to_params(proposed.changed(step=0)) == {"step": "0"}


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

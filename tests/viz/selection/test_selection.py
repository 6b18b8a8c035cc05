"""The selection as a value: changed, reset and fitted to a model."""

import pytest

from viz.selection.selection import FIELDS, Selection

#: Every choice that is ever reset, away from its default.
CHOSEN = Selection().changed(
    token=3, key_token=4, window_start=9, step=5, branches=("0-2-t40",), branch=1, compared_branch=0, beam_node=7,
    other_token=2, pair="it-03", pronoun=7, antecedent=1, distractor=0, other_pronoun=6, other_antecedent=5,
    other_distractor=4,
)  # fmt: skip


def test_a_change_goes_to_the_section_that_holds_the_choice() -> None:
    selection = Selection().changed(threshold=2, beam_size=6, checkpoint="other")
    assert (selection.attention.threshold, selection.decoding.beam_size, selection.model.checkpoint) == (2, 6, "other")
    assert selection.changed(threshold=0, beam_size=4, checkpoint="") == Selection()


def test_a_choice_that_does_not_exist_cannot_be_changed() -> None:
    with pytest.raises(KeyError, match="beam"):
        Selection().changed(beam=6)


def test_a_choice_is_found_by_its_name() -> None:
    assert Selection().changed(beam_size=6).value("beam_size") == 6


@pytest.mark.parametrize(
    ("chosen", "reset"),
    [
        (
            {"text": "It is late."},
            "token key_token window_start step step_chosen branches branch compared_branch beam_node pair pronoun "
            "antecedent distractor other_text other_pronoun other_antecedent other_distractor",
        ),
        (
            {"checkpoint": "other"},
            "token key_token window_start step step_chosen branches branch compared_branch beam_node other_token",
        ),
        ({"site": "decoder.cross"}, "token key_token window_start other_token"),
        ({"other_text": "It is late."}, "other_token pair other_pronoun other_antecedent other_distractor"),
        ({"pair": "it-04"}, "token other_token"),
        ({"pronoun": 2}, "token"),
        ({"other_pronoun": 2}, "other_token"),
        ({"picture_digest": "abc"}, "token key_token"),
        ({"beam_size": 6}, "beam_node"),
        ({"length_penalty": 0}, "beam_node"),
        ({"layer": 1, "head": 2, "branch": 0}, ""),
    ],
)
def test_what_belonged_to_a_choice_before_goes_with_it(chosen: dict[str, object], reset: str) -> None:
    defaults = {name: FIELDS[name].default for name in reset.split()}
    assert CHOSEN.chosen(**chosen) == CHOSEN.changed(**chosen, **defaults)


def test_what_is_chosen_together_is_not_reset() -> None:
    assert CHOSEN.chosen(text="It is late.", token=1).common.token == 1


def test_a_page_proposes_a_head_until_a_person_chooses_any_part_of_one() -> None:
    proposed = Selection().proposed(site="decoder.cross", layer=3, head=1)
    assert (proposed.common.site, proposed.common.layer, proposed.common.head) == ("decoder.cross", 3, 1)
    assert proposed.proposed(layer=2).common.layer == 2
    chosen = proposed.chosen(head=5)
    assert chosen.proposed(site="encoder.self", layer=0, head=0) == chosen
    assert (chosen.common.site, chosen.common.layer, chosen.common.head) == ("decoder.cross", 3, 5)
    assert chosen.chosen(text="It is late.").common.head_chosen


def test_a_step_is_proposed_anew_for_another_text() -> None:
    chosen = Selection().chosen(step=4)
    assert chosen.proposed(step=9).common.step == 4
    assert chosen.chosen(text="It is late.").proposed(step=9).common.step == 9


@pytest.mark.parametrize(
    ("layer", "head", "expected"), [(3, 7, (3, 7)), (4, 7, (0, 7)), (3, 8, (3, 0)), (99, 99, (0, 0))]
)
def test_a_layer_or_head_that_the_model_lacks_becomes_the_first(
    layer: int, head: int, expected: tuple[int, int]
) -> None:
    selection = Selection().changed(layer=layer, head=head).within(4, 8)
    assert (selection.common.layer, selection.common.head) == expected


def test_an_attention_that_the_model_lacks_becomes_its_first() -> None:
    selection = Selection().changed(site="decoder.cross", layer=2, head=1)
    fitted = selection.for_model({"encoder.self": (2, 4)})
    assert fitted == Selection().changed(site="encoder.self", layer=0, head=1)
    assert selection.for_model({"encoder.self": (2, 4), "decoder.cross": (3, 2)}) == selection

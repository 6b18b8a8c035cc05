"""The selection as a value: its fields, changed, reset and fitted to a model; choices undone; examples."""

import pytest

from viz.selection.examples import EXAMPLES, examples_in, known_marks
from viz.selection.history import MAX_CHOICES, MAX_SENTENCES, SECONDS, History, remembered
from viz.selection.selection import FIELDS, Selection
from viz.text.marks import word_spans

#: Every choice that is ever reset, away from its default.
CHOSEN = Selection().changed(
    token=3, key_token=4, window_start=9, step=5, branches=("0-2-t40",), branch=1, compared_branch=0, beam_node=7,
    other_token=2, pair="it-03", pronoun=7, antecedent=1, distractor=0, other_pronoun=6, other_antecedent=5,
    other_distractor=4,
)  # fmt: skip


def test_a_change_goes_to_the_section_that_holds_the_choice_and_nowhere_else() -> None:
    selection = Selection().changed(threshold=2, beam_size=6, checkpoint="other")
    assert (selection.attention.threshold, selection.decoding.beam_size, selection.model.checkpoint) == (2, 6, "other")
    assert selection.changed(threshold=0, beam_size=4, checkpoint="") == Selection()
    with pytest.raises(KeyError, match="beam"):
        Selection().changed(beam=6)
    assert Selection().changed(beam_size=6).value("beam_size") == 6
    assert CHOSEN.chosen(text="It is late.", token=1).common.token == 1


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
        ({"given_file": "abc"}, "token key_token"),
        ({"beam_size": 6}, "beam_node"),
        ({"length_penalty": 0}, "beam_node"),
        ({"layer": 1, "head": 2, "branch": 0}, ""),
    ],
)
def test_what_belonged_to_a_choice_before_goes_with_it(chosen: dict[str, object], reset: str) -> None:
    defaults = {name: FIELDS[name].default for name in reset.split()}
    assert CHOSEN.chosen(**chosen) == CHOSEN.changed(**chosen, **defaults)


@pytest.mark.parametrize(("metric", "after"), [("kept", ""), ("entropy", "entropy")])
def test_another_model_has_no_words_to_link_but_the_same_metrics(metric: str, after: str) -> None:
    chosen = Selection().chosen(metric=metric, from_words=(1,), to_words=(2,)).chosen(checkpoint="other")
    assert (chosen.attention.metric, chosen.common.from_words) == (after, ())


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


START = Selection()


def of(*heads: int) -> History:
    """A session in which these heads were opened, one after the other."""
    history = History.begun(START, "attention")
    for number, head in enumerate(heads, 1):
        history = history.noted(START.changed(head=head), "attention", number * 10.0)
    return history


def test_undo_gives_the_choice_before_and_redo_the_one_after() -> None:
    history = of(2, 5)
    assert history.moved(-1).now.selection.common.head == 2
    assert history.moved(-2).now.selection == START
    assert history.moved(-2).moved(1).now.selection.common.head == 2
    assert history.moved(-9).at == 0
    assert history.moved(9) == history
    # A choice after an undo forgets what was undone.
    history = of(2, 5).moved(-1).noted(START.changed(head=7), "attention", 99.0)
    assert [choice.selection.common.head for choice in history.choices] == [0, 2, 7]
    # The history is bounded.
    history = of(*range(1, MAX_CHOICES + 20))
    assert len(history.choices) == MAX_CHOICES
    assert history.now.selection.common.head == MAX_CHOICES + 19


def test_what_a_page_proposes_is_no_choice() -> None:
    history = of(2)
    chosen = history.now.selection
    assert history.noted(chosen.proposed(step=7), "decode", 99.0) == history
    assert history.noted(chosen.changed(presented="1", screen=2), "attention", 99.0) == history
    # What a page corrects when it opens comes with the choice before.
    history = of(2).absorbed(START.changed(head=2, lesson="look-up"))
    assert len(history.choices) == 2
    assert history.now.selection.learn.lesson == "look-up"


def test_a_slider_that_moves_is_one_choice_and_heads_clicked_as_fast_are_several() -> None:
    slid = History.begun(START, "")
    for number in range(5):
        slid = slid.noted(START.changed(threshold=10 + number), "", 5 + number * SECONDS / 2)
    assert slid.now.selection.attention.threshold == 14
    assert slid.moved(-1).now.selection == START
    # Just so many seconds after the last change it is a choice of its own.
    last = slid.now.seconds
    for seconds, before in ((last + SECONDS - 0.01, START), (last + SECONDS, slid.now.selection)):
        assert slid.noted(START.changed(threshold=80), "", seconds).moved(-1).now.selection == before
    later = slid.noted(START.changed(threshold=90), "", 99.0)
    assert later.moved(-1).now.selection.attention.threshold == 14
    # What was chosen before the slider moved can still be undone.
    history = of(2)
    for threshold, seconds in ((10, 20.0), (11, 20.1)):
        history = history.noted(START.changed(head=2, threshold=threshold), "", seconds)
    assert [choice.selection.common.head for choice in history.choices] == [0, 2, 2]
    clicked = History.begun(START, "")
    for head in (1, 2, 3):
        clicked = clicked.noted(START.changed(head=head), "", 5 + head * SECONDS / 9)
    assert clicked.moved(-1).now.selection.common.head == 2


def test_steps_that_follow_fast_are_one_choice_though_each_chooses_its_word() -> None:
    stepped = History.begun(START, "")
    for step in range(1, 5):
        chosen = START.changed(step=step, from_words=(step + 9,), token=step)
        stepped = stepped.noted(chosen, "decode", 5 + step * SECONDS / 2)
    assert stepped.now.selection.common.from_words == (13,)
    assert stepped.moved(-1).now.selection == START


def test_sentences_are_remembered_once_the_newest_first() -> None:
    sentences: tuple[str, ...] = ()
    for text in ("a", "b", " ", "a"):
        sentences = remembered(sentences, text)
    assert sentences == ("a", "b")
    for number in range(MAX_SENTENCES + 5):
        sentences = remembered(sentences, str(number))
    assert len(sentences) == MAX_SENTENCES
    assert sentences[0] == str(MAX_SENTENCES + 4)


def test_the_nouns_that_it_stands_for_stand_in_both_sentences() -> None:
    known = [example for example in EXAMPLES if example.stands_for is not None]
    assert known[0] is EXAMPLES[0]
    for example in known:
        for text in (example.text, example.twin):
            words = text.rstrip(".").split()
            assert words.count("it") == 1
            assert set(example.stands_for or ()) < set(words)


@pytest.mark.parametrize("language", ["de", "zh"])
def test_examples_in_other_languages_name_their_pronoun_and_what_it_stands_for(language: str) -> None:
    examples = examples_in(language)
    assert len({example.text for example in examples}) == len(examples) == 6
    for example in examples:
        assert example.text != example.twin
        for is_twin, text in enumerate((example.text, example.twin)):
            marks = known_marks(text)
            assert (marks is None) == (example.stands_for is None)
            if marks is not None and example.stands_for is not None:
                words = [text[slice(*span)] for span in word_spans(text)]
                found = [words[position] for position in marks.positions if position is not None]
                nouns = example.stands_for[::-1] if is_twin else example.stands_for
                assert found == [example.pronouns[is_twin], *nouns]

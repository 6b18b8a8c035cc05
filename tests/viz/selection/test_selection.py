"""The selection as a value: its fields, changed, reset and fitted to a model; choices undone; examples."""

import ast
from dataclasses import dataclass, make_dataclass
from typing import Annotated, Literal

import pytest

from tests.paths import ROOT
from viz.selection.examples import EXAMPLES, examples_in, known_marks
from viz.selection.fields import MaxLength, Param, ResetBy, SessionOnly, fields_of
from viz.selection.selection import FIELDS, Selection
from viz.selection.state import MAX_CHOICES, MAX_SENTENCES, SECONDS, History, remembered
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
        ({"picture_digest": "abc"}, "token key_token"),
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
    assert (chosen.attention.metric, chosen.attention.from_words) == (after, ())


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


#: Functions whose first argument names a field, and those whose keywords do.
BY_ARGUMENT = {"state.bind", "state.take", "state.position", "state.value", "frame.tabs", "segmented", "dropdown"}
#: Modules whose functions draw a field that their first argument names, but for two.
WIDGETS = ("controls.", "number_controls.")
NO_WIDGETS = {"controls.plain", "number_controls.table_button"}
BY_KEYWORD = {"state.change", "state.choose"}


@dataclass(frozen=True)
class First:
    colour: Annotated[Literal["red", "blue"], Param("c"), ResetBy("size", "name"), ResetBy("count")] = "red"
    count: int | None = None


@dataclass(frozen=True)
class Second:
    name: Annotated[str, MaxLength(3)] = ""
    secret: Annotated[str, SessionOnly()] = ""


@dataclass(frozen=True)
class Both:
    first: First
    second: Second


def test_a_field_is_described_by_its_type() -> None:
    known = fields_of(Both)
    colour = known["colour"]
    assert list(known) == ["colour", "count", "name", "secret"]
    assert (colour.section, colour.name, colour.param, colour.default) == ("first", "colour", "c", "red")
    assert (colour.options, colour.reset_by) == (("red", "blue"), frozenset({"size", "name", "count"}))
    assert (known["count"].kind, known["count"].param, known["count"].options) == (int | None, "count", ())
    assert (known["name"].max_length, known["name"].in_address) == (3, True)
    assert not known["secret"].in_address
    assert [FIELDS["token"].can_be(value) for value in (0, 1, None, -1)] == [True, True, True, False]


@dataclass(frozen=True)
class Other:
    c: int = 0


@pytest.mark.parametrize(("second", "why"), [(First, "'colour'"), (Other, "one name in addresses")])
def test_two_fields_may_not_have_one_name_nor_one_in_addresses(second: type, why: str) -> None:
    with pytest.raises(TypeError, match=why):
        fields_of(make_dataclass("Clash", [("first", First), ("second", second)], frozen=True))


def test_a_field_is_reset_by_fields_only() -> None:
    assert all(field.reset_by <= FIELDS.keys() for field in FIELDS.values())


def test_widgets_and_changes_name_fields_only() -> None:
    named = {
        name for path in (ROOT / "viz").rglob("*.py") for name in names_in(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert len(named) > 40
    assert named <= FIELDS.keys()


def names_in(tree: ast.Module) -> set[str]:
    """The names of fields that a module writes out: of widgets, and of changes of the selection."""
    names: set[str] = set()
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        function = ast.unparse(call.func)
        keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        if function in BY_ARGUMENT or (function.startswith(WIDGETS) and function not in NO_WIDGETS):
            names |= texts(call.args[:1])
        if function in BY_KEYWORD or function.endswith(".changed"):
            names |= keywords.keys()
        if "on_change" in keywords and ast.unparse(keywords["on_change"]) == "state.take":
            arguments = keywords["args"]
            names |= texts(arguments.elts) if isinstance(arguments, ast.Tuple) else set()
    return names


def texts(nodes: list[ast.expr]) -> set[str]:
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


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
    assert stepped.now.selection.attention.from_words == (13,)
    assert stepped.moved(-1).now.selection == START


def test_the_page_is_that_of_the_choice_which_is_undone_or_done_again() -> None:
    history = of(2).noted(START.changed(head=2, beam_size=7), "decode", 99.0)
    undone = history.moved(-1)
    assert undone.page_from(history) == "decode"
    assert undone.moved(-1).page_from(undone) == "attention"
    assert undone.moved(1).page_from(undone) == "decode"
    assert history.moved(-2).page_from(history) == "attention"


def test_sentences_are_remembered_once_the_newest_first() -> None:
    sentences: tuple[str, ...] = ()
    for text in ("a", "b", " ", "a"):
        sentences = remembered(sentences, text)
    assert sentences == ("a", "b")
    for number in range(MAX_SENTENCES + 5):
        sentences = remembered(sentences, str(number))
    assert len(sentences) == MAX_SENTENCES
    assert sentences[0] == str(MAX_SENTENCES + 4)


def test_there_are_ten_examples_that_differ_from_their_twins_in_a_word_or_two() -> None:
    assert EXAMPLES[0].text.endswith("too tired.")
    assert EXAMPLES[0].twin.endswith("too wide.")
    for example in EXAMPLES:
        words, others = example.text.split(), example.twin.split()
        assert 1 <= sum(word != other for word, other in zip(words, others, strict=True)) <= 2
    assert len({example.text for example in EXAMPLES}) == 10
    assert START.common.text == EXAMPLES[0].text
    for example in EXAMPLES:
        assert len([sign for sign in example.look_for if sign in ".?!"]) == 1, example.look_for
        assert example.look_for[-1] in ".?"
    assert examples_in("fr") == ()
    assert examples_in("") == examples_in("en") == EXAMPLES
    assert examples_in("zh-Hans") == examples_in("zh")


def test_the_nouns_that_it_stands_for_stand_in_both_sentences() -> None:
    known = [example for example in EXAMPLES if example.stands_for is not None]
    assert known[0] is EXAMPLES[0]
    for example in known:
        for text in (example.text, example.twin):
            words = text.rstrip(".").split()
            assert words.count("it") == 1
            assert set(example.stands_for or ()) < set(words)


@pytest.mark.parametrize(("text", "noun"), [(EXAMPLES[0].text, "animal"), (EXAMPLES[0].twin, "street")])
def test_what_it_stands_for_is_known_in_an_example_and_in_its_twin(text: str, noun: str) -> None:
    marks, spans = known_marks(text), word_spans(text)
    assert marks is not None
    assert marks.antecedent is not None
    assert text[slice(*spans[marks.antecedent])] == noun
    assert known_marks("It is known of no other sentence.") is None


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

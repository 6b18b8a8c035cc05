"""Parts of the decoding page, drawn from what a test makes up: bounds, choices between branches, and what is named."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import streamlit as st

from model import Translator
from model.errors import SessionError, TokenError
from tests.viz.pages.decoding.test_beam import by_hand
from tests.viz.pages.decoding.test_sampling import drawn as sample
from tests.viz.pages.decoding.viewer import Viewer
from viz.access import head_verdict, models, traces
from viz.pages.decoding import export, sampling, translation_controls, translations
from viz.pages.decoding.beam import tab as beam
from viz.pages.decoding.branches import tab
from viz.pages.decoding.branches.tab import BranchTree, Translation, TreeAct
from viz.pages.decoding.data import branches, searches
from viz.pages.decoding.figures import Written, probability_curves
from viz.pictures.figures.charts import MAX_ONE_BY_ONE
from viz.selection import state
from viz.selection.branch_codes import MAX_PIECES, Choice, Write
from viz.selection.fields import MAX_TEXT_IN_URL
from viz.selection.selection import Selection
from viz.text.written import DECODER
from viz.ui import controls, finding, frame

MODEL = SimpleNamespace(
    end_ids=frozenset({2}), penalty="wu", vocabulary=SimpleNamespace(tokens=lambda ids: ("</s>",), decode=str)
)


@pytest.fixture
def session(chosen: Selection, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A session in which the tests' model is chosen; who asks for a writer gets a made-up one."""
    found: dict[str, Any] = {"selection": chosen}
    monkeypatch.setattr(st, "session_state", found)
    monkeypatch.setattr(models, "writer", lambda _choice: MODEL)
    return found


def of_steps(*token_ids: int) -> Any:
    """A trace with nothing but steps, each a token called by its number."""
    return SimpleNamespace(steps=[SimpleNamespace(token_id=one, token=f"t{one}", log_prob=-1.0) for one in token_ids])


def notices() -> list[str]:
    return translations.take()


def test_the_step_after_the_last_is_not_there() -> None:
    last = len(Viewer().ids) - 1
    for step in (last, last + 1):
        viewer = Viewer(step=str(step))
        assert viewer.selection.common.step == last
        assert len(viewer.notices) == step - last


@pytest.mark.parametrize(("step", "is_there"), [(-1, False), (0, True), (2, True), (3, False)])
def test_tokens_are_written_at_steps_that_are_there(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch, step: int, is_there: bool
) -> None:
    done: list[object] = []
    monkeypatch.setattr(translations, "trace_of", lambda _number: of_steps(5, 6, 7))
    monkeypatch.setattr(translations, "add", lambda *given: done.append(given))
    translations.draw(step, 100, 0, 100)
    assert (len(done), len(notices())) == ((1, 0) if is_there else (0, 1))


def test_long_branches_that_nobody_looks_at_are_grown_while_the_tokens_to_write_last(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # From steps 4 and 7 of ten 6 and 3 are left, of another branch at its step 12 one at least.
    made = (Choice(0, 4, Write((8,))), Choice(1, 7, Write((8,))), Choice(0, 12, Write((8,))))
    monkeypatch.setattr(translations, "choices", lambda: made)
    monkeypatch.setattr(translations, "source", lambda: (None, None, ""))
    monkeypatch.setattr(translations, "trace_of", lambda _number: of_steps(*range(10)))
    monkeypatch.setattr(translations, "trace_along", lambda path: len(path))
    monkeypatch.setattr(branches, "is_grown", lambda *_given: False)
    for most, grown in ((5, [None, 2, 1]), (8, [1, None, 1]), (9, [1, 2, None]), (10, [1, 2, 1])):
        monkeypatch.setattr(translations, "MAX_UNASKED", most)
        assert translations.known_traces()[1:] == grown, most


def test_a_file_has_every_branch_along_its_own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "grow", lambda _own, _writer, _text, path: path)
    made = (Choice(0, 4, Write((8,))), Choice(1, 6, Write((9,))))
    unused: Any = None
    paths: list[Any] = [(), ((4, Write((8,))),), ((4, Write((8,))), (6, Write((9,))))]
    assert translations.written(unused, unused, "", made) == paths


@pytest.mark.parametrize(("step", "shown"), [(1, 1), (5, 2)])
def test_the_models_own_is_shown_at_the_step_that_was_shown_or_its_last(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch, step: int, shown: int
) -> None:
    monkeypatch.setattr(translations, "trace_of", lambda _number: of_steps(5, 6, 7))
    monkeypatch.setattr(translations, "choices", tuple)
    state.change(step=step)
    translations.show(0)
    assert state.current().common.step == shown


@pytest.mark.parametrize(
    ("shown", "asked", "against"), [(1, 2, 2), (1, 3, 0), (1, 1, 0), (2, None, 1), (0, None, None), (0, 1, 1)]
)
def test_a_branch_is_compared_with_another_that_is_there(
    session: dict[str, Any], shown: int, asked: int | None, against: int | None
) -> None:
    made = (Choice(0, 4, Write((8,))), Choice(1, 6, Write((9,))))
    state.change(branches=translations.codes_of(made), branch=shown, compared_branch=asked)
    assert translations.compared(made) == against


@pytest.mark.parametrize(("number", "compared"), [(1, None), (2, 1)])
def test_no_branch_is_compared_with_itself(session: dict[str, Any], number: int, compared: int | None) -> None:
    state.change(branches=("0-4-t8", "0-4-t9"), compared_branch=1)
    translations.go(number, 3)
    decoding = state.current().decoding
    assert (decoding.branch, decoding.compared_branch, state.current().common.step) == (number, compared, 3)


@pytest.mark.parametrize(("length", "has_room"), [(MAX_TEXT_IN_URL, True), (MAX_TEXT_IN_URL + 1, False)])
def test_the_address_has_room_for_so_many_characters_of_branches(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch, length: int, has_room: bool
) -> None:
    monkeypatch.setattr(translations, "codes_of", lambda _made: ("x" * length,))
    monkeypatch.setattr(branches, "begin", lambda *_given: None)
    translations.add(3, Write((8,)))
    assert len(notices()) == (0 if has_room else 1)


def test_a_translation_of_one_step_has_no_slider_and_steps_count_from_one(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[list[str]] = []

    def slider(_label: str, options: range, format_func: Callable[[int], str], **_more: object) -> int:
        drawn.append([format_func(option) for option in options])
        return options[-1]

    monkeypatch.setattr(st, "select_slider", slider)
    assert (translations.slider(1), drawn) == (0, [])
    assert (translations.slider(2), drawn) == (1, [["1", "2"]])


def test_the_target_of_label_smoothing_has_its_share_of_the_other_tokens_too(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "label_smoothing", lambda _choice: 0.2)
    monkeypatch.setattr(models, "vocabulary", lambda _reader: ("a", "b", "c", "d"))
    # 1 − 0.2, and a quarter of the 0.2.
    assert "the target was 85% for the right token" in translations.label_smoothing_note()


@pytest.mark.parametrize(
    ("probability", "shown"), [(0.0991, "9.9%"), (0.0996, "10%"), (0.99, "99%"), (0.9902, "99.0%"), (0.001, "0.1%")]
)
def test_percentages_have_a_digit_more_where_it_tells_something(probability: float, shown: str) -> None:
    assert translations.percent(probability) == shown


def test_the_field_for_a_word_names_the_token_that_is_there_and_the_last_one_beyond_it(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    labels: list[str] = []
    monkeypatch.setattr(st, "text_input", lambda label, **_more: labels.append(label))
    for step in (1, 7):
        state.change(step=step)
        translation_controls.type_word(of_steps(5, 6, 9))
    assert labels == ["Write instead of “t6” at step 2", "Write instead of “t9” at step 3"]


@pytest.mark.parametrize(("link", "proposed"), [(2, 2), (3, 1), (None, 1)])
def test_the_step_that_links_a_pronoun_is_proposed_if_this_translation_has_it(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch, link: int | None, proposed: int
) -> None:
    found = SimpleNamespace(link=None if link is None else SimpleNamespace(step=link))
    monkeypatch.setattr(finding, "open_on_finding", lambda _trace: None)
    monkeypatch.setattr(finding, "of", lambda _trace: found)
    monkeypatch.setattr(head_verdict, "least_sure_step", lambda _trace: 1)
    translation_controls.propose(of_steps(5, 6, 7))
    assert state.current().common.step == proposed


def test_a_kept_branch_that_did_not_end_well_is_no_rival_and_a_token_that_is_named_is_found() -> None:
    tree = by_hand()
    kept = tree.nodes[6]
    lived = replace(tree, nodes=(*tree.nodes[:6], replace(kept, fate="continued"), *tree.nodes[7:]))
    assert beam.roles(lived)[6] == "lived"
    assert beam.closest_rival(tree, 1, 8) == 8
    assert beam.closest_rival(tree, 1, 99) == 7


@pytest.mark.parametrize(("asked", "open_", "noted"), [(8, 8, 0), (9, 7, 1), (None, 7, 0)])
def test_the_node_after_the_last_is_not_there(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch, asked: int | None, open_: int, noted: int
) -> None:
    said: list[str] = []
    monkeypatch.setattr(traces, "rival", lambda _trace, _step: None)
    monkeypatch.setattr(frame, "note", lambda message, **_values: said.append(message))
    state.change(step=1, beam_node=asked)
    assert beam._chosen(of_steps(5, 6), by_hand()) == open_
    assert len(said) == noted


@pytest.mark.parametrize(("penalty", "highest"), [(200, 200), (201, 500)])
def test_the_slider_of_the_penalty_reaches_as_far_as_people_go_or_as_what_is_chosen_needs(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch, penalty: int, highest: int
) -> None:
    ends: list[int] = []
    monkeypatch.setattr(controls, "whole_slider", lambda *_given, **_more: None)
    monkeypatch.setattr(
        controls, "hundredths_slider", lambda _field, _label, low, high, **_more: ends.extend((low, high))
    )
    state.change(length_penalty=penalty)
    beam._settings()
    assert ends == [0, highest]


def test_what_a_beam_returned_is_told_with_its_rank_its_tokens_and_its_numbers(session: dict[str, Any]) -> None:
    rank, _text, *numbers = beam._returned(by_hand(), 2, "x")
    assert (rank, numbers) == ("Beam, 2 of 2", ["−5.000", "2", "−2.0000"])


@pytest.mark.parametrize(
    ("total", "score", "said"),
    [
        (-5.0, -2.0, "score is 0.5000 higher, its log-probability 1.000 higher"),
        (-3.5, -1.75, "score is 0.2500 higher, its log-probability 0.500 lower"),
        (-3.5, -1.25, "score is 0.2500 lower, its log-probability 0.500 lower"),
        (-4.0, -1.5, "give the same result"),
    ],
)
def test_the_winner_is_set_against_what_greedy_search_wrote(total: float, score: float, said: str) -> None:
    # The winner's score is −1.5, its log-probability −4.
    assert said in beam._verdict(total, score, by_hand())


def test_two_translations_are_compared_by_the_keys_and_rows_that_both_have(
    session: dict[str, Any], translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, shown = "Tom was late.", list[Any]()
    ours, theirs = (
        Translation(name, name, translator.trace_tokens(text, translator.tokenizer.encode(written)))
        for name, written in (("ours", "Das Tier sagte es"), ("theirs", "Tom sagte mir"))
    )
    said: list[str] = []
    monkeypatch.setattr(frame, "chart", lambda figure, *_about: shown.append(figure))
    monkeypatch.setattr(st, "caption", said.append)
    monkeypatch.setattr(translation_controls, "which_head", lambda _trace: (DECODER, 0, 1))
    for most in ((DECODER, 0, 1), None):
        monkeypatch.setattr(tab, "most_changed_head", lambda *_traces, most=most: most)
        tab._compare_attention(ours, theirs)
    # ▁T stands at other positions in them, and so do ▁s, ag and te.
    keys = [ours.trace.target_tokens.index(token) for token in ("<s>", "▁T", "▁s", "ag", "te")]
    other = [theirs.trace.target_tokens.index(token) for token in ("<s>", "▁T", "▁s", "ag", "te")]
    assert keys != other
    figure = shown[0]
    assert list(figure.layout.xaxis.ticktext) == ["&lt;s&gt;", "▁T", "▁s", "ag", "te"]
    first, second = (each.trace.weights(DECODER, 0, [1])[0].numpy() for each in (ours, theirs))
    # A row stands for the token that it writes, and so is the one before it.
    rows, other_rows = ([position - 1 for position in of[1:]] for of in (keys, other))
    assert [label.split(" → ")[1] for label in figure.layout.yaxis.ticktext] == [
        f"<b>{token}</b>" for token in ("▁T", "▁s", "ag", "te")
    ]
    difference = first[np.ix_(rows, keys)] - second[np.ix_(other_rows, other)]
    np.testing.assert_allclose(figure.data[0].customdata, difference, atol=1e-6)
    left = len(ours.trace.target_tokens) + len(theirs.trace.target_tokens) - 2 * len(rows)
    assert f"{left} rows are in only one of them" in said[0]
    assert ["No other head changes more." in text for text in said] == [True, False]
    assert all("the word in bold, which the model writes there" in text for text in said)
    # Of a translation and itself no head is the one that changes.
    assert searches.most_changed_head(ours.trace, ours.trace) is None


@pytest.mark.parametrize(("steps", "compared"), [(131, 1), (132, 0)])
def test_what_takes_long_to_write_is_offered_and_not_written_unasked(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch, steps: int, compared: int
) -> None:
    done: list[object] = []
    monkeypatch.setattr(tab, "rival_of", lambda _trace, _step: SimpleNamespace(token="x", token_id=9, log_prob=-2.0))
    monkeypatch.setattr(translations, "looked_at_along", lambda *_given: None)
    monkeypatch.setattr(tab, "show_comparison", lambda *both: done.append(both))
    state.change(step=3)
    tab._offer(of_steps(*range(steps)))
    assert len(done) == compared


def test_what_a_person_does_in_the_tree_is_done_to_that_branch(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[object] = []
    for module, name in ((translations, "show"), (translations, "compare"), (tab, "remove")):
        monkeypatch.setattr(module, name, partial(lambda name, number: done.append((name, number)), name))
    monkeypatch.setattr(st, "rerun", lambda: done.append("again"))
    for act in (TreeAct("show", 2), TreeAct("remove", 1), TreeAct("compare", 1)):
        tab._act(act)
    assert done == [("show", 2), "again", ("remove", 1), "again", ("compare", 1)]
    # Choosing what is compared already ends it.
    state.change(compared_branch=1)
    tab._act(TreeAct("compare", 1))
    assert done[-1] == ("compare", None)


def test_no_more_tokens_are_spelt_than_can_be_written_at_once() -> None:
    vocabulary = SimpleNamespace(tokens=lambda _ids: ())
    spelt: Any = {"end_ids": (), "reserved_ids": (), "spell": lambda word: range(len(word))}
    writer: Any = SimpleNamespace(vocabulary=vocabulary, **spelt)
    assert branches.spell("x" * MAX_PIECES, writer) == tuple(range(MAX_PIECES))
    for length, said in ((MAX_PIECES + 1, f"{MAX_PIECES + 1} tokens"), (200, "200 tokens"), (201, "201 characters")):
        with pytest.raises(TokenError, match=said):
            branches.spell("x" * length, writer)


def test_nothing_is_changed_at_the_step_after_the_last(chosen: Selection) -> None:
    writer, text = models.writer(chosen.model), "Tom was late."
    own = branches.grow(branches.Sessions(), writer, text, ())
    with pytest.raises(SessionError, match=f"no token {len(own.steps) + 1} to change"):
        branches.begin(branches.Sessions(), writer, text, ((len(own.steps), Write((40,))),))


def test_settings_of_a_beam_below_and_above_what_there_is_become_the_nearest() -> None:
    for width, penalty, expected in ((0, 60, (1, 0.6)), (1, 500, (1, 5.0)), (12, 501, (12, 5.0)), (13, 0, (12, 0.0))):
        choices = Selection().changed(beam_size=width, length_penalty=penalty).decoding
        assert searches.beam_settings(choices) == expected


def test_curves_reach_over_the_longer_one_and_the_shown_one_has_the_colour_of_its_line_in_the_tree() -> None:
    few, many = (Written("x", ("a",) * count, (1.0,) * count) for count in (1, MAX_ONE_BY_ONE + 1))
    for shown, other in ((few, many), (many, few)):
        figure = probability_curves(shown, other, None)
        # One tick a step would be too many of them.
        assert figure.layout.xaxis.dtick is None
        low, high = figure.layout.yaxis.range
        assert low < 0 < 1 < high
        tree = BranchTree(branches=(), shown=1, against=0, step=0, name="")
        assert [curve.line.color for curve in figure.data] == [tree.against_colour, tree.shown_colour]


def test_cards_of_samples_say_which_have_the_same_text(session: dict[str, Any]) -> None:
    drawn = [sample((3, 2), "ab"), sample((4, 4, 2), "ab"), sample((5, 2), "c"), sample((5, 6), "d")]
    cards = sampling._cards(drawn, [[0], [1], [2], [3]], "c", [str(number) for number in range(9)])
    assert [card.note for card in cards] == [
        "Another card has the same text, split into other tokens.",
        "Another card has the same text, split into other tokens.",
        "The same text as the greedy translation.",
        "Cut off at the longest text that the model may write.",
    ]
    assert [card.tokens for card in cards] == [("3", "2"), ("4", "4", "2"), ("5", "2"), ("5", "6")]
    assert sampling._which([*range(6)]) == "samples 1, 2, 3, 4, 5, 6"
    assert sampling._which([*range(7)]) == "samples 1, 2, 3, 4, 5, 6, …"


@pytest.mark.parametrize(
    ("seed", "following"), [(0, 1), (controls.MAX_SEED - 1, controls.MAX_SEED), (controls.MAX_SEED, 0)]
)
def test_after_the_last_seed_comes_the_first(session: dict[str, Any], seed: int, following: int) -> None:
    state.change(sampling_seed=seed)
    sampling._next_seed()
    assert state.current().decoding.sampling_seed == following


def test_a_file_is_about_as_large_as_its_button_says(chosen: Selection, monkeypatch: pytest.MonkeyPatch) -> None:
    selection = chosen.changed(branches=("0-4-t40", "1-6-t41"))
    monkeypatch.setattr(st, "session_state", {"selection": selection})
    offers: dict[str, tuple[Callable[[], bytes], int]] = {}

    def offer(label: str, _inside: str, make: Callable[[], bytes], _name: str, size: int) -> None:
        offers[label] = make, size

    monkeypatch.setattr(export, "show_offer", offer)
    export.files(branches.grow(branches.Sessions(), models.writer(chosen.model), chosen.common.text, ()))
    assert list(offers) == ["Steps and candidates", "NumPy arrays", "Branches", "Beam search"]
    for label in ("Steps and candidates", "Branches"):
        make, size = offers[label]
        assert 0.25 < size / len(make()) < 4, label


def test_a_branch_that_is_kept_counts_with_its_session_and_its_trace(
    chosen: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[Any, int]] = []

    def put(_key: object, grown: object, size: int, _viewer: str) -> object:
        kept.append((grown, size))
        return grown

    monkeypatch.setattr(branches, "_kept", lambda: SimpleNamespace(get=lambda *_key: None, put=put))
    branches.grow(branches.Sessions(), models.writer(chosen.model), chosen.common.text, ((3, Write((40,))),))
    ((grown, size),) = kept
    assert size > max(grown.session.num_bytes, traces.num_bytes(grown.trace)) > 0

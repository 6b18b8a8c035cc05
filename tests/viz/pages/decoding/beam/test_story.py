"""Roles, rows and fates of a beam's tree."""

import pytest

from model import BeamTree
from tests.viz.pages.decoding.beam.by_hand import by_hand, node
from tests.viz.pages.decoding.opening import TEXT
from tests.viz.reading import tree_of
from viz.pages.decoding.beam import tab as beam_story
from viz.selection.selection import Selection


def test_every_node_of_a_small_tree_has_the_role_worked_out_by_hand() -> None:
    assert beam_story.roles(by_hand()) == [
        "winner", "rival", "winner", "dropped", "winner", "rival", "dropped", "dropped", "dropped",
    ]  # fmt: skip
    assert beam_story.living(by_hand()) == {0, 1, 2, 4, 5}


def test_rows_worked_out_by_hand_put_the_winner_first_and_siblings_by_rank() -> None:
    rows = beam_story.rows(by_hand(), range(9))
    assert rows == {0: 0, 2: 0, 1: 1, 3: 2, 4: 0, 7: 1, 8: 2, 5: 3, 6: 4}
    assert beam_story.rows(by_hand(), {0, 1, 2, 4, 5}) == {0: 0, 2: 0, 1: 1, 4: 0, 5: 1}


@pytest.mark.parametrize("width", [1, 3, 12])
def test_no_two_lines_of_a_real_tree_cross_and_the_winner_is_a_straight_one(chosen: Selection, width: int) -> None:
    tree = tree_of(TEXT, Selection().changed(checkpoint="en-de", text=TEXT, beam_size=width))
    for shown in (set(range(len(tree.nodes))), beam_story.living(tree)):
        rows = beam_story.rows(tree, shown)
        assert set(rows) == shown
        for step in range(tree.nodes[-1].step + 1):
            column = sorted(
                (rows[one.index], rows[one.parent])
                for one in tree.nodes
                if one.step == step and one.index in shown and one.parent is not None
            )
            assert [row for row, _ in column] == list(range(len(column)))
            parents = [parent for _, parent in column]
            assert parents == sorted(parents)
        assert {rows[one.index] for one in tree.path(tree.winner.index)} == {0}


def test_every_fate_is_told_with_the_step_that_decided_counted_from_one() -> None:
    tree = by_hand()
    fates = [beam_story.fate(tree, index) for index in range(9)]
    assert fates[0] == "The beginning: all hypotheses start here."
    assert fates[1] == "Kept in step 1: at least one of its continuations was kept or finished."
    assert fates[3] == "Dropped in step 1, where it was compared: rank 3, and at most 2 are kept."
    assert fates[4] == "Finished in step 2 and returned: rank 1 of 2 by score."
    assert fates[6] == "Kept in step 2, dropped in step 3: none of its continuations was good enough."
    assert fates[7] == "Finished in step 2, dropped in step 3: by then 2 finished hypotheses had better scores."
    assert fates[8] == "Still kept when the search stopped after step 2: it could no longer beat the finished ones."


def test_a_hypothesis_at_the_longest_translation_says_so() -> None:
    tree = BeamTree(
        width=1, alpha=0.0, limit=51, nodes=(node(0, None, -1, 0), node(1, 0, 0, 0, "length limit", 0, -1.0)),
        hypotheses=(1,),
    )  # fmt: skip
    assert beam_story.fate(tree, 1) == (
        "Cut off at the longest translation, 51 tokens, in step 1 and returned: rank 1 of 1 by score."
    )


def test_the_closest_rival_follows_the_winners_own_tokens() -> None:
    tree = by_hand()
    # The winner is 2 → 4; its rivals are 1 and 3 after <s>, 7 and 8 after 2.
    assert beam_story.closest_rival(tree, 0) == 1
    assert beam_story.closest_rival(tree, 1) == 7
    assert beam_story.closest_rival(tree, None) == 1

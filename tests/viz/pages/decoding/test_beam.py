"""Beam search: roles, rows and fates of its tree, what the browser gets and sends, and its page."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import BeamNode, BeamTree
from model.decoding.beam import Fate
from tests.viz.page_run import as_read, traced, tree_of
from tests.viz.pages.decoding.opening import TEXT, app_at, opened
from tests.viz.sent import caught, sent_to, unlinked
from viz.access import models
from viz.pages.decoding.beam import tab as beam_story
from viz.pages.decoding.beam.tab import beam_picture
from viz.pages.decoding.data import searches
from viz.pages.decoding.figures import ancestor_heatmap
from viz.selection.selection import Selection


def node(
    index: int,
    parent: int | None,
    step: int,
    rank: int,
    fate: Fate = "continued",
    fate_step: int = 0,
    score: float | None = None,
    row: int | None = None,
) -> BeamNode:
    return BeamNode(
        index=index, parent=parent, token_id=index, token=f"t{index}", step=step, rank=rank, log_prob=-0.5,
        total=-float(index), row=row, fate=fate, fate_step=fate_step, score=score,
    )  # fmt: skip


def by_hand() -> BeamTree:
    """<s> with two kept children and one that is not; under each kept one, something of every fate."""
    nodes = (
        node(0, None, -1, 0, row=0), node(1, 0, 0, 0, row=0), node(2, 0, 0, 1, row=1),
        node(3, 0, 0, 2, "outranked", 0), node(4, 2, 1, 0, "finished", 1, score=-1.5),
        node(5, 1, 1, 1, "finished", 1, score=-2.0), node(6, 1, 1, 2, "outranked", 2, row=0),
        node(7, 2, 1, 3, "outscored", 2, score=-9.0), node(8, 2, 1, 4, "search over", 1),
    )  # fmt: skip
    return BeamTree(width=2, alpha=0.6, limit=7, nodes=nodes, hypotheses=(4, 5))


@pytest.fixture
def chosen(chosen: Selection) -> Selection:
    return chosen.changed(beam_size=3)


@pytest.fixture
def app(chosen: Selection) -> AppTest:
    return app_at("Beam search")


def picture(app: AppTest) -> dict[str, Any]:
    ((header, _),) = sent_to(app, "beam_picture")
    return header


def test_it_opens_on_the_closest_rival_of_the_winner_and_shows_greedy_beside_it(
    app: AppTest, chosen: Selection
) -> None:
    opened(app, beam=3, step=0)
    tree = tree_of(TEXT, Selection().changed(checkpoint="en-de", text=TEXT, beam_size=3))
    header = picture(app)
    assert header["chosen"] != tree.winner.index
    # Of its first step it is the token that the model would have written next.
    first = models.writer(chosen.model).trace(TEXT).steps[0]
    node = tree.nodes[header["chosen"]]
    assert (node.step, node.token_id) == (0, first.candidates[1].token_id)
    assert tree.nodes[header["chosen"]].parent in {0, *(node.index for node in tree.path(tree.winner.index))}
    assert len(header["nodes"]) == len(tree.nodes)
    tables = " ".join(element.value for element in app.html)
    assert "Greedy" in tables
    assert "Beam search, rank 1 of 3" in tables
    assert 'lang="de"' in tables
    assert any("((5 + tokens) / 6)^α (Wu et al. 2016)" in caption.proto.help for caption in app.caption)
    assert "node" not in app.query_params
    assert len(app.get("plotly_chart")) == 1


def test_a_node_of_a_link_is_opened_with_its_own_attention(app: AppTest, chosen: Selection) -> None:
    tree = tree_of(TEXT, chosen)
    index = tree.hypotheses[-1]
    opened(app, beam=3, node=index, layer=1, head=2)
    assert picture(app)["chosen"] == index
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    labels = figure["layout"]["yaxis2"]["ticktext"]
    assert [int(label.rsplit("row ")[-1]) - 1 for label in labels] == list(tree.rows(index))
    assert any(beam_story.fate(tree, index) in unlinked(element.value) for element in app.caption)


def test_settings_that_do_not_exist_become_the_nearest_and_nothing_is_lost(app: AppTest) -> None:
    opened(app, beam=99, penalty=9999, node=99999, layer=77, head=88)
    said = [as_read(element.value) for element in app.info]
    assert "Beam width 99 is out of range (1 to 12); 12 is shown." in said
    assert "Length penalty 99.99 is out of range (0.00 to 5.00); 5.00 is shown." in said
    assert any(one.startswith("There is no hypothesis 99999") for one in said)
    assert any("“layer=77”" in one for one in said)
    assert (app.query_params["beam"], app.query_params["penalty"]) == ("12", "500")
    assert "node" not in app.query_params
    assert app.query_params["text"] == TEXT
    assert len(app.get("plotly_chart")) == 1
    # Whole sentences, in the language that is read by now.
    app.segmented_control(key="language").set_value("zh").run()
    assert len(app.info) == len(said)
    assert not [one.value for one in app.info if "width" in one.value or "penalty" in one.value.replace("penalty=", "")]


def test_roles_rows_and_the_closest_rival_of_a_small_tree_are_those_worked_out_by_hand() -> None:
    assert beam_story.roles(by_hand()) == [
        "winner", "rival", "winner", "dropped", "winner", "rival", "dropped", "dropped", "dropped",
    ]  # fmt: skip
    assert beam_story.living(by_hand()) == {0, 1, 2, 4, 5}
    # Rows worked out by hand put the winner first, and siblings by rank.
    rows = beam_story.rows(by_hand(), range(9))
    assert rows == {0: 0, 2: 0, 1: 1, 3: 2, 4: 0, 7: 1, 8: 2, 5: 3, 6: 4}
    assert beam_story.rows(by_hand(), {0, 1, 2, 4, 5}) == {0: 0, 2: 0, 1: 1, 4: 0, 5: 1}
    # The closest rival follows the winner's own tokens.
    tree = by_hand()
    # The winner is 2 → 4; its rivals are 1 and 3 after <s>, 7 and 8 after 2.
    assert beam_story.closest_rival(tree, 0) == 1
    assert beam_story.closest_rival(tree, 1) == 7
    assert beam_story.closest_rival(tree, None) == 1


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
    assert (
        fates[8] == "Still kept when the search stopped after step 2: it could no longer beat the finished hypotheses."
    )
    # A hypothesis at the longest translation says so.
    tree = BeamTree(
        width=1, alpha=0.0, limit=51, nodes=(node(0, None, -1, 0), node(1, 0, 0, 0, "length limit", 0, -1.0)),
        hypotheses=(1,),
    )  # fmt: skip
    assert beam_story.fate(tree, 1) == (
        "Cut off at the longest translation, 51 tokens, in step 1 and returned: rank 1 of 1 by score."
    )


def test_the_browser_gets_every_node_with_its_numbers_and_the_places_of_those_returned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = caught(monkeypatch)
    beam_picture(by_hand(), chosen=4, on_choose=lambda node: None, key="beam", name="x")
    header = shown[0].header
    assert (len(header["nodes"]), header["chosen"]) == (9, 4)
    assert [one["badge"] for one in header["nodes"]] == ["", "", "", "", "1 · −1.500", "2 · −2.000", "", "−9.000", ""]
    assert header["nodes"][3]["folded"] is None
    assert header["nodes"][5]["total"] == "−5.00"
    assert list(header["roles"]) == ["winner", "rival", "lived", "dropped"]


@pytest.mark.parametrize("sent", [None, 3, {}, {"node": "1"}, {"node": True}, {"node": -1}, {"node": 9}])
def test_what_a_browser_should_not_send_opens_no_node(monkeypatch: pytest.MonkeyPatch, sent: object) -> None:
    shown, chosen = caught(monkeypatch), list[int]()
    beam_picture(by_hand(), chosen=4, on_choose=chosen.append, key="beam", name="x")
    shown[0].answers["node"](sent)
    assert chosen == []
    shown[0].answers["node"]({"node": 8})
    assert chosen == [8]


@pytest.fixture
def tree(chosen: Selection) -> BeamTree:
    return tree_of(TEXT, chosen)


def test_the_score_of_a_translation_counts_its_end_even_where_it_is_missing(chosen: Selection) -> None:
    end = models.translator(chosen.model).config.eos_id
    trace = traced(TEXT, chosen)
    first = replace(trace.steps[0], token_id=end + 1, log_prob=-3.0)
    ended = replace(trace, steps=(first, replace(first, token_id=end)))
    # -6 over ((5 + 2) / 6)^1 and over ((5 + 3) / 6)^1.
    writer = models.writer(chosen.model)
    assert searches.greedy_score(ended, writer, 1.0) == pytest.approx(-36 / 7)
    assert searches.greedy_score(replace(trace, steps=(first, first)), writer, 1.0) == pytest.approx(-4.5)


def test_rows_of_the_heatmap_name_what_went_in_what_came_out_and_the_row_of_the_batch() -> None:
    weights = np.array([[0.25, 0.75], [1.0, 0.0]], np.float32)
    figure = ancestor_heatmap(weights, ["<s> → ▁a", "▁a → <b>"], (0, 2), ["x", "y"])
    assert list(figure.layout.yaxis.ticktext) == ["&lt;s&gt; → <b>▁a</b> · row 1", "▁a → <b>&lt;b&gt;</b> · row 3"]
    np.testing.assert_array_equal(figure.data[0].customdata, weights)
    np.testing.assert_allclose(figure.data[0].z, np.sqrt(weights))

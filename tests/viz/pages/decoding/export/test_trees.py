"""Trees of branches and of beams as JSON."""

import json

import pytest

from tests.viz.pages.decoding.branches.opening import TEXT
from tests.viz.reading import tree_of
from viz.access import models
from viz.pages.decoding import export
from viz.pages.decoding.data import branches
from viz.pages.decoding.data.searches import beam_settings
from viz.selection.branch_codes import Choice, Write
from viz.selection.selection import Selection


def test_the_tree_of_branches_as_json_tells_how_each_came_about() -> None:
    selection, sessions = Selection().changed(checkpoint="en-de", text=TEXT), branches.Sessions()
    made = (Choice(0, 4, Write((40,))),)
    grown = [branches.grow(sessions, models.writer(selection.model), TEXT, path) for path in ((), ((4, Write((40,))),))]
    found = json.loads(export.branches(made, grown, text=TEXT, checkpoint="en-de", digest="d"))
    own, branch = found["branches"]
    assert (own["parent"], own["action"], own["translation"]) == (None, None, grown[0].translation)
    assert branch["action"] == {"kind": "write", "token_ids": [40]}
    assert (branch["parent"], branch["step"], branch["code"]) == (0, 4, "0-4-t40")
    assert branch["steps"][4]["token_id"] == 40
    assert branch["log_prob"] == pytest.approx(sum(step["log_prob"] for step in branch["steps"]))


def test_the_tree_of_the_beam_as_json_has_every_node() -> None:
    selection = Selection().changed(checkpoint="en-de", beam_size=99, length_penalty=99_999)
    assert beam_settings(selection.decoding) == (12, 5.0)
    tree = tree_of(TEXT, Selection().changed(checkpoint="en-de", beam_size=3, length_penalty=100))
    found = json.loads(export.beam(tree, TEXT, checkpoint="en-de", digest="d"))
    assert (found["width"], found["alpha"]) == (3, 1.0)
    assert [node["index"] for node in found["nodes"]] == list(range(len(tree.nodes)))
    assert found["nodes"][tree.winner.index]["fate"] == tree.winner.fate

"""Tables and trees of what was decoded, as files."""

import csv
import json
from io import StringIO

import pytest

from tests.viz.page_run import traced, tree_of
from tests.viz.pages.decoding.opening import TEXT
from tests.viz.pages.decoding.test_beam import by_hand
from tests.viz.pages.decoding.test_branches import TEXT as BRANCHED
from tests.viz.pages.decoding.test_sampling import drawn, samples_of
from viz.access import models
from viz.pages.decoding import export
from viz.pages.decoding.data import branches
from viz.pages.decoding.data.searches import beam_settings, logit_lens
from viz.selection.branch_codes import Choice, Write
from viz.selection.selection import Selection


def test_the_table_holds_the_tree() -> None:
    lines = list(csv.DictReader(export.beam_nodes(by_hand()).decode("utf-8-sig").splitlines()))
    assert len(lines) == 9
    assert (lines[0]["parent"], lines[0]["returned_rank"], lines[0]["score"]) == ("", "", "")
    assert [line["returned_rank"] for line in lines if line["returned_rank"]] == ["1", "2"]
    assert [line["rank"] for line in lines] == ["1", "1", "2", "3", "1", "2", "3", "4", "5"]
    assert (lines[7]["fate"], lines[7]["fate_step (from 1)"], float(lines[7]["score"])) == ("outscored", "3", -9.0)


def test_the_table_has_a_row_for_each_level_step_and_rank(chosen: Selection) -> None:
    trace = traced(TEXT, chosen)
    lens = logit_lens(trace, models.writer(chosen.model))
    lines = list(csv.DictReader(export.lens(lens, trace.target_tokens).decode("utf-8-sig").splitlines()))
    assert len(lines) == 3 * len(trace.steps) * 5
    line = next(line for line in lines if (line["level"], line["step (from 1)"], line["rank"]) == ("1", "4", "2"))
    assert int(line["token_id"]) == int(lens.token_ids[1, 3, 1])
    assert float(line["probability"]) == pytest.approx(float(lens.probabilities[1, 3, 1]), rel=1e-7)
    assert int(line["written_rank"]) == int(lens.chosen_ranks[1, 3])


def test_the_tables_hold_every_sample_and_every_token(chosen: Selection) -> None:
    samples = samples_of(chosen.changed(num_samples=3))
    vocabulary = models.vocabulary(models.reader(chosen.model))
    lines = list(csv.DictReader(StringIO(export.samples(samples).decode("utf-8-sig"), newline="")))
    assert [float(line["log_prob"]) for line in lines] == [one.log_prob for one in samples]
    tokens = export.sampled_tokens(samples, vocabulary).decode("utf-8-sig")
    lines = list(csv.DictReader(StringIO(tokens, newline="")))
    assert len(lines) == sum(len(one.token_ids) for one in samples)
    of_second = [int(line["token_id"]) for line in lines if line["sample (from 1)"] == "2"]
    assert tuple(of_second) == samples[1].token_ids


def test_a_text_that_is_a_formula_is_none_in_a_table() -> None:
    (line,) = csv.DictReader(export.samples([drawn((1,), "=1+1")]).decode("utf-8-sig").splitlines())
    assert line["text"] == "'=1+1"


def test_the_tree_of_branches_as_json_tells_how_each_came_about() -> None:
    selection, sessions = Selection().changed(checkpoint="en-de", text=BRANCHED), branches.Sessions()
    made = (Choice(0, 4, Write((40,))),)
    grown = [
        branches.grow(sessions, models.writer(selection.model), BRANCHED, path) for path in ((), ((4, Write((40,))),))
    ]
    found = json.loads(export.branches(made, grown, text=BRANCHED, checkpoint="en-de", digest="d"))
    own, branch = found["branches"]
    assert (own["parent"], own["action"], own["translation"]) == (None, None, grown[0].translation)
    assert branch["action"] == {"kind": "write", "token_ids": [40]}
    assert (branch["parent"], branch["step"], branch["code"]) == (0, 4, "0-4-t40")
    assert branch["steps"][4]["token_id"] == 40
    assert branch["log_prob"] == pytest.approx(sum(step["log_prob"] for step in branch["steps"]))


def test_the_tree_of_the_beam_as_json_has_every_node() -> None:
    selection = Selection().changed(checkpoint="en-de", beam_size=99, length_penalty=99_999)
    assert beam_settings(selection.decoding) == (12, 5.0)
    tree = tree_of(BRANCHED, Selection().changed(checkpoint="en-de", beam_size=3, length_penalty=100))
    found = json.loads(export.beam(tree, BRANCHED, checkpoint="en-de", digest="d"))
    assert (found["width"], found["alpha"]) == (3, 1.0)
    assert [node["index"] for node in found["nodes"]] == list(range(len(tree.nodes)))
    assert found["nodes"][tree.winner.index]["fate"] == tree.winner.fate

"""Tables of what was decoded."""

import csv
import io
from io import StringIO

import pytest

from tests.viz.pages.decoding.beam.by_hand import by_hand
from tests.viz.pages.decoding.branches.opening import TEXT as BRANCHED
from tests.viz.pages.decoding.opening import TEXT
from tests.viz.pages.decoding.sampling.drawing import drawn, samples_of
from tests.viz.reading import traced
from viz.access import models
from viz.pages.decoding import export
from viz.pages.decoding.data import branches
from viz.pages.decoding.data.searches import logit_lens, step_costs
from viz.selection.branch_codes import Write
from viz.selection.selection import Selection


def test_the_table_holds_the_tree() -> None:
    lines = list(csv.DictReader(export.beam_nodes(by_hand()).decode("utf-8-sig").splitlines()))
    assert len(lines) == 9
    assert (lines[0]["parent"], lines[0]["returned_rank"], lines[0]["score"]) == ("", "", "")
    assert [line["returned_rank"] for line in lines if line["returned_rank"]] == ["1", "2"]
    assert (lines[7]["fate"], lines[7]["fate_step (from 1)"], float(lines[7]["score"])) == ("outscored", "3", -9.0)


def test_the_table_of_steps_is_that_of_the_branch() -> None:
    from viz.ui import trace_tables

    selection = Selection().changed(checkpoint="en-de", text=BRANCHED)
    trace = branches.grow(branches.Sessions(), models.writer(selection.model), BRANCHED, ((4, Write((40,))),))
    rows = list(csv.DictReader(io.StringIO(trace_tables.steps(trace).decode("utf-8-sig"))))
    assert rows[4]["token_id"] == "40"
    assert len(rows) == len(trace.steps)


def test_the_table_holds_every_part_of_every_step(chosen: Selection) -> None:
    costs = step_costs(traced(TEXT, chosen), models.translator(chosen.model))
    lines = list(csv.DictReader(export.costs(costs).decode("utf-8-sig").splitlines()))
    assert len(lines) == len(costs)
    assert int(lines[3]["reused_target_rows"]) == 3
    assert int(lines[3]["recomputed_total"]) == costs[3].recomputed.total
    assert int(lines[3]["cached_feed_forward"]) == costs[3].cached.feed_forward


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

"""Tables of a trace as files: every number and token comes back, and no cell is a formula."""

import csv
import io
from dataclasses import replace
from math import exp
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from model import Translator
from model.analysis.metrics.derived_row import derive_row
from model.trace.trace import Trace
from viz.ui import trace_tables


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace("The dog was tired.", "Der Hund war müde.")


def read(file: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠1"])
def test_a_token_that_would_be_a_formula_is_text(text: str) -> None:
    assert trace_tables.cell(text) == f"'{text}"
    assert read(trace_tables.matrix(np.ones((1, 1), np.float32), [text], ["x"]))[1][0] == f"'{text}"


@pytest.mark.parametrize("text", ["▁The", "'", "a=b", "", "1", ",", '"', "▁=1"])
def test_any_other_token_stays_as_it_is(text: str) -> None:
    assert trace_tables.cell(text) == text
    assert read(trace_tables.matrix(np.ones((1, 1), np.float32), [text], ["x"]))[1][0] == text


def test_every_table_guards_its_tokens(trace: Trace) -> None:
    hostile = "=HYPERLINK(1)"
    steps = tuple(
        replace(step, token=hostile, candidates=tuple(replace(c, token=hostile) for c in step.candidates))
        for step in trace.steps
    )
    source, target = (hostile,) * len(trace.source_tokens), (hostile,) * len(trace.steps)
    changed = replace(trace, source=replace(trace.source, tokens=source), target_tokens=target, steps=steps)
    files = (
        trace_tables.open_head(changed, "decoder.cross", 0, 0),
        trace_tables.all_heads(changed, "decoder.cross"),
        trace_tables.tokens(changed),
        trace_tables.steps(changed),
        trace_tables.positional_encoding(changed.source_tokens, trace.positional["source"].numpy()),
    )
    for file in files:
        cells = [found for row in read(file) for found in row if "HYPERLINK" in found]
        assert cells
        assert all(found.startswith(f"'{hostile}") for found in cells)


def test_a_file_of_tokens_is_utf_8_and_has_their_ids(trace: Trace) -> None:
    file = trace_tables.tokens(trace)
    assert file.startswith(b"\xef\xbb\xbf")
    assert list(pd.read_csv(io.BytesIO(file)).columns) == ["side", "position (from 1)", "token_id", "token"]
    rows = read(trace_tables.tokens(trace))[1:]
    assert [row[3] for row in rows] == [*trace.source_tokens, *trace.target_tokens]
    assert [int(row[2]) for row in rows] == [*trace.source_ids, *trace.target_ids]
    assert [row[0] for row in rows].count("source") == len(trace.source_tokens)


def test_the_open_head_and_all_heads_come_back_bit_by_bit_each_with_its_place(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = read(trace_tables.open_head(trace, "decoder.cross", 1, 2))
    assert rows[0] == ["", *trace.source_tokens]
    assert [row[0] for row in rows[1:]] == list(trace.row_names("decoder.cross"))
    again = np.array([row[1:] for row in rows[1:]], np.float32)
    assert (again == trace.weights("decoder.cross", 1)[2].numpy()).all()
    # Also where not all rows are taken at once, and as an array.
    monkeypatch.setattr(trace_tables, "ROWS_AT_ONCE", 3)
    titles, *parts = read(trace_tables.open_head(trace, "decoder.cross", 1, 2))
    assert [titles, *([row[0]] for row in parts)] == [rows[0], *([row[0]] for row in rows[1:])]
    array = np.load(io.BytesIO(trace_tables.open_head_array(trace, "decoder.cross", 1, 2)))
    for found in (np.array([row[1:] for row in parts], np.float32), array):
        np.testing.assert_allclose(found, again, rtol=1e-5)
    # All heads come back bit by bit, each with its place.
    found = pd.read_csv(
        io.BytesIO(trace_tables.all_heads(trace, "decoder.self")), dtype={"weight": np.float32}, keep_default_na=False
    )
    assert len(found) == trace_tables.num_weights(trace, "decoder.self")
    exact = np.stack([trace.weights("decoder.self", layer).numpy() for layer in range(2)])
    index = tuple(found[f"{name} (from 1)"] - 1 for name in ("layer", "head", "query_position", "key_position"))
    assert (exact[index] == found["weight"]).all()
    assert (np.array(trace.target_tokens)[index[3]] == found["key_token"]).all()
    assert (np.array(trace.row_names("decoder.self"))[index[2]] == found["query"]).all()
    # Sites may have layers of their own number.
    uneven = replace(trace, inputs=MappingProxyType({**trace.inputs, "encoder.self": trace.inputs["encoder.self"][:1]}))
    assert {row[0] for row in read(trace_tables.all_heads(uneven, "encoder.self"))[1:]} == {"1"}
    assert {row[0] for row in read(trace_tables.all_heads(uneven, "decoder.self"))[1:]} == {"1", "2"}


def test_a_step_says_what_was_read_written_and_weighed(trace: Trace) -> None:
    found = pd.read_csv(io.BytesIO(trace_tables.steps(trace)), keep_default_na=False)
    assert list(found["token_read"]) == list(trace.target_tokens)
    assert list(found["token_written"]) == [step.token for step in trace.steps]
    assert np.allclose(found["probability"], [exp(step.log_prob) for step in trace.steps], rtol=1e-12)
    assert np.allclose(found["entropy_nats"], [step.entropy for step in trace.steps], rtol=1e-12)
    assert list(found["candidate_20"]) == [step.candidates[19].token for step in trace.steps]
    assert (found["candidate_probability_1"] >= found["candidate_probability_2"]).all()
    # What was read before the first step is no part of it, and steps may know more or fewer candidates.
    fewer = tuple(replace(step, candidates=step.candidates[: step.index]) for step in trace.steps[2:])
    titles, *rows = read(trace_tables.steps(replace(trace, steps=fewer)))
    assert [row[1] for row in rows] == list(trace.target_tokens[2:])
    assert titles[-1] == f"candidate_probability_{fewer[-1].index}"
    assert [len(row) - 6 for row in rows] == [2 * step.index for step in fewer]


@pytest.mark.parametrize("side", ["source", "target"])
def test_positional_encodings_come_back_bit_by_bit(trace: Trace, side: str) -> None:
    tokens = trace.source_tokens if side == "source" else trace.target_tokens
    rows = read(trace_tables.positional_encoding(tokens, trace.positional[side].numpy()))
    again = np.array([row[2:] for row in rows[1:]], np.float32)
    assert (again == trace.positional[side].numpy()).all()
    assert rows[0][:3] == ["position (from 1)", "token", "dimension_0"]


def test_numbers_keep_their_digits_and_a_head_without_one_has_an_empty_cell() -> None:
    values = np.array([[1e-38, 1 / 3, 0.1, 1.0, 0.0, 123456.78]], np.float32)
    assert (np.array(trace_tables.digits(values), np.float32) == values).all()
    known = {"entropy": np.array([[0.5, 1.25]]), "previous": np.array([[np.nan, 1.0]])}
    assert read(trace_tables.metrics(known)) == [
        ["layer (from 1)", "head (from 1)", "entropy", "previous"],
        ["1", "1", "0.5", ""],
        ["1", "2", "1.25", "1.0"],
    ]


def test_the_origin_of_a_row_leads_from_dot_products_to_the_weights_of_the_trace(trace: Trace) -> None:
    derived = derive_row(trace.attention("decoder.self", 1), 2, 1, scaled=True, masked=True)
    titles, *rows = read(trace_tables.row_origin(derived, trace.target_tokens))
    assert titles == ["key_position (from 1)", "key_token", "allowed", "q_dot_k", "scaled", "masked", "weight"]
    assert [row[2] for row in rows] == ["1", "1"] + ["0"] * (len(rows) - 2)
    weights = trace.weights("decoder.self", 1, [2], [1])[0, 0].numpy()
    np.testing.assert_array_equal(np.array([row[6] for row in rows], np.float32), weights)
    scale = trace.attention("decoder.self", 1).scale
    np.testing.assert_allclose([float(row[3]) * scale for row in rows], [float(row[4]) for row in rows], rtol=1e-5)
    assert rows[2][5] == "-inf"

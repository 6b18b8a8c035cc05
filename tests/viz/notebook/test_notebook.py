"""The notebook: its pictures hold what the trace holds, a notebook runs, and what is saved works alone."""

import json
import re
from dataclasses import replace
from math import exp
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import numpy as np
import pytest
import torch

from model import Trace, Translator
from model.analysis.reasons.score import Question, explain
from model.analysis.reasons.trail import asked_at, follow_trail
from model.analysis.reasons.without import outcomes
from model.opening import as_writer, open_reader
from tests.paths import ROOT
from tests.viz.sent import unpack
from viz.notebook import Picture, film, heads, lines, save, why
from viz.notebook import pictures as widgets
from viz.text.written import display_token, display_tokens

TEXT = "Tom told me."


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace(TEXT)


def parts(picture: Picture) -> list[tuple[dict[str, object], list[bytes]]]:
    """Each part of a picture with its payloads."""
    left, found = list(picture.payloads), []
    for part in json.loads(picture.plan)["parts"]:
        found.append((part, left[: part["count"]]))
        left = left[part["count"] :]
    assert not left
    return found


def test_a_grid_holds_every_head_of_the_trace_and_the_open_one_first(trace: Trace) -> None:
    tiles, grid, matrix = parts(heads(trace, "decoder.cross", opened=(1, 2)))
    assert [part["element"] for part, _ in (tiles, grid, matrix)] == ["tile-keeper", "head-grid", "matrix-picture"]
    assert [part["hidden"] for part, _ in (tiles, grid, matrix)] == [True, False, False]
    header, _ = unpack(grid[1][0])
    assert header["selected"] == [1, 2]
    assert header["address"] == unpack(tiles[1][0])[0]["address"]
    first, *all_heads = matrix[1]
    assert len(all_heads) == 8
    for number, packed in enumerate(all_heads):
        header, (values,) = unpack(packed)
        expected = trace.weights("decoder.cross", number // 4)[number % 4].numpy()
        np.testing.assert_array_equal(values, expected.ravel())
        assert header["title"] == f"Decoder cross-attention, L{number // 4 + 1} H{number % 4 + 1}"
    assert first == all_heads[6]


def test_lines_hold_the_heads_of_a_layer(trace: Trace) -> None:
    ((_, (packed,)),) = parts(lines(trace, "encoder.self", 1, shown=[3, 0]))
    header, (values,) = unpack(packed)
    assert header["command"]["heads"] == [0, 3]
    expected = trace.weights("encoder.self", 1).numpy()
    assert (values / 65535.0) ** 2 == pytest.approx(expected.ravel(), abs=1e-4)


def test_arrays_and_tokens_are_enough(trace: Trace) -> None:
    weights = np.full((1, 2, 2, 3), 1 / 3, np.float32)
    _, _, matrix = parts(heads(weights, queries=["a", "<b>"], keys=["c", "d", "e"]))
    header, (values,) = unpack(matrix[1][2])
    assert (header["rowTokens"], header["columnTokens"]) == (["a", "<b>"], ["c", "d", "e"])
    np.testing.assert_array_equal(values, weights[0, 1].ravel())
    ((_, (packed,)),) = parts(lines(weights[0], queries=["a", "b"], keys=["c", "d", "e"]))
    assert unpack(packed)[0]["headNames"] == ["L1 H1", "L1 H2"]
    # NumPy's numbers name heads as Python's do.
    ((_, (packed,)),) = parts(lines(np.ones((2, 1, 1)), queries=["a"], shown=np.arange(2)))  # type: ignore[arg-type]
    assert unpack(packed)[0]["command"]["heads"] == [0, 1]
    _, (_, (grid,)), _ = parts(heads(np.ones((1, 2, 1, 1)), queries=["a"], opened=tuple(np.array([0, 1]))))
    assert unpack(grid)[0]["selected"] == [0, 1]


def test_a_film_has_every_step_that_wrote(translator: Translator, trace: Trace) -> None:
    ((_, (packed,)),) = parts(film(trace, translator))
    assert len(unpack(packed)[0]["steps"]) == len(trace.steps)
    decoder = as_writer(open_reader(ROOT / "checkpoints" / "induction"))
    session = decoder.decode("abc abc a")
    for _step in range(3):
        session.step()
    ((_, (packed,)),) = parts(film(session.trace(), decoder))
    assert [step["token"] for step in unpack(packed)[0]["steps"]] == [step.token for step in session.steps]
    for read, writer in ((replace(trace, steps=()), translator), (decoder.trace("abc abc a"), decoder)):
        with pytest.raises(ValueError, match=r"this one only read.*of a session"):
            film(read, writer)


def test_pictures_of_one_text_know_each_others_tokens_and_those_of_another_do_not(translator: Translator) -> None:
    def sides(picture: Picture, part: int) -> list[object]:
        header = unpack(parts(picture)[part][1][0])[0]
        axes = header.get("axes") if part == 0 else [header["focus"]["rows"], header["focus"]["columns"]]
        return [axis["side"] for axis in axes]  # type: ignore[union-attr]

    one, other = (translator.trace(text) for text in (TEXT, "Tom told him."))
    grid = heads(one, "decoder.cross")
    drawn = [(grid, 0), (grid, 2), (film(one, translator), 0)]
    assert len({tuple(sides(picture, part)[:2]) for picture, part in drawn}) == 1
    assert sides(heads(other, "decoder.cross"), 2)[1] != sides(grid, 2)[1]
    # Of the same text read along with another translation only the source is the same.
    rows, columns = sides(heads(translator.trace(TEXT, "Ein Hund."), "decoder.cross"), 2)
    assert (rows != sides(grid, 2)[0], columns) == (True, sides(grid, 2)[1])
    assert unpack(parts(heads(np.ones((1, 1, 1, 1)), queries=["a"]))[2][1][0])[0]["focus"] is None


def test_what_does_not_fit_is_refused_with_a_reason(
    trace: Trace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    weights = np.full((1, 2, 2, 2), 0.5)
    with pytest.raises(ValueError, match=r"no attention 'x' in this trace; it has encoder.self"):
        heads(trace, "x")
    with pytest.raises(ValueError, match=r"no head \(0, 9\): layers run from 0 to 1, heads from 0 to 3"):
        heads(trace, "encoder.self", opened=(0, 9))
    with pytest.raises(ValueError, match="no layer 7"):
        lines(trace, "encoder.self", 7)
    with pytest.raises(ValueError, match="heads 0 to 3"):
        lines(trace, "encoder.self", 0, shown=[4])
    with pytest.raises(ValueError, match="Pass the tokens"):
        heads(weights)
    with pytest.raises(ValueError, match=r"3 queries, 3 keys\], got \[1, 2, 2, 2\]"):
        heads(weights, queries=["a", "b", "c"])
    for wrong in (weights * 3, weights - 0.6, weights * np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            heads(wrong, queries=["a", "b"])
    # One key may have all weight, and others none.
    assert heads(np.eye(2)[None, None], queries=["a", "b"])
    with pytest.raises(ValueError, match="Lines of 65 heads cannot be told apart"):
        lines(np.ones((65, 1, 1)), queries=["a"])
    assert lines(np.ones((64, 1, 1)), queries=["a"])
    size = sum(map(len, heads(trace).payloads))
    with monkeypatch.context() as patched:
        patched.setattr(widgets, "MOST_BYTES", size)
        assert heads(trace).payloads == heads(trace, "encoder.self").payloads
        patched.setattr(widgets, "MOST_BYTES", size - 1)
        with pytest.raises(ValueError, match="fewer layers or a shorter text"):
            heads(trace, "encoder.self")
    # Lines name the axes that they were given.
    with pytest.raises(ValueError, match=r"weights \[head, 1 queries, 1 keys\], got \[1, 1\]"):
        lines([[1.0]], queries=["a"])
    # The title of a saved page is text that can be written.
    with pytest.raises(ValueError, match="Expected title to be text that UTF-8 can write"):
        save(heads(np.ones((1, 1, 1, 1)), queries=["a"]), tmp_path / "a.html", title="\ud800")


def drawn(picture: Picture) -> tuple[list[str], list[Element]]:
    """The texts of a still, and all its paths."""
    root = fromstring(picture.still)
    name = "{http://www.w3.org/2000/svg}"
    return ["".join(each.itertext()) for each in root.iter(f"{name}text")], [*root.iter(f"{name}path")]


def test_a_still_has_what_its_picture_shows(trace: Trace, translator: Translator) -> None:
    names, _ = drawn(heads(trace, "decoder.cross", opened=(1, 2)))
    rows, keys = trace.row_names("decoder.cross"), trace.axis_names("decoder.cross")[1]
    assert {*display_tokens(rows), *display_tokens(keys), "Decoder cross-attention, L2 H3", "L2", "H4"} <= {*names}
    names, paths = drawn(lines(trace, "encoder.self", 1, shown=[3, 0]))
    assert names.count(display_token(trace.source_tokens[0])) == 2
    assert "L2 H1 L2 H4" in names
    weights = trace.weights("encoder.self", 1)[[0, 3]]
    assert sorted(float(path.attrib["opacity"]) for path in paths) == pytest.approx(
        sorted(weights[weights >= 0.02].tolist()), abs=0.005
    )
    names, _ = drawn(film(trace, translator))
    for step in trace.steps:
        assert display_token(step.token) in names
        assert any(name.startswith(f"{100 * exp(step.log_prob):.1f}%") for name in names)


def test_cells_of_a_still_are_lighter_the_more_weight_they_have() -> None:
    weights = np.array([[[[0.0, 1.0], [0.25, 0.75]]]])
    _, paths = drawn(heads(weights, queries=["<a>", "b&"]))
    cells = {path.attrib["fill"]: path.attrib["d"] for path in paths if "M0 0h2" not in path.attrib["d"]}
    lightness = {colour: sum(bytes.fromhex(colour[1:])) for colour in cells}
    assert [cells[colour] for colour in sorted(cells, key=lambda each: lightness[each])] == [
        f"M{column} {row}h1v1h-1z" for row, column in ((1, 0), (1, 1), (0, 1))
    ]


def test_why_answers_what_is_asked_of_it_while_the_kernel_runs(translator: Translator) -> None:
    trace = translator.trace("Tom told me that it was late.")
    cell = Question(site="decoder.cross", layer=1, head=2, row=1, key=2, rival=4)
    picture = why(trace, translator, cell, twin="")
    answering = picture.answering
    assert answering is not None
    steps = answering.picture().steps
    reason = explain(translator.parts, trace, cell)
    bar = follow_trail(reason, ()).levels[-1].parts[0]
    # Outside of a question nothing is asked, and what cannot be answered is said and changes nothing.
    assert answering.hear("trail", {"codes": ".".join(bar.trail)}) == ""
    assert answering.page().total == pytest.approx(bar.share)
    for name, value in (("trail", "x"), ("rival", {"key": -1}), ("nothing", {}), ("twin", {"text": 3})):
        assert answering.hear(name, value) == ""
    assert "no token that matches" in answering.hear("twin", {"text": "x"})
    assert "“c9” does not exist" in answering.hear("trail", {"codes": "c9"})
    assert answering.page().total == pytest.approx(bar.share)
    # A test is a run of the model; the picture's step is then said to be tested.
    assert answering.hear("test", {"codes": ".".join(bar.trail)}) == ""
    (one,) = outcomes(translator, reason, [asked_at(follow_trail(reason, ()), bar.trail[-1])])
    run = answering.page().tests[".".join(bar.trail)].run
    assert run is not None
    assert run.score == pytest.approx(one.by_run.score)
    assert [bool(step.tested) for step in answering.picture().steps[:2]] == [False, True]
    assert "does not exist" in answering.hear("test", {"codes": "c9"})
    assert answering.hear("rival", {"key": 0}) == ""
    assert not any(step.tested for step in answering.picture().steps)
    assert answering.page().total == pytest.approx(explain(translator.parts, trace, replace(cell, rival=0)).total)
    assert answering.hear("twin", {"text": "Tom told me that he was late."}) == ""
    assert answering.page().twin == "Tom told me that he was late."
    names, _paths = drawn(picture)
    assert any(f"“{display_token(trace.source_tokens[2])}”".replace("▁", "") in name for name in names)
    # The trail of the still has every step, none of them tested.
    assert all(any(name.startswith(f"{step.name} ") for name in names) for step in steps)
    assert picture.still.count("stroke-dasharray") == len(steps) - 1
    for wrong, told in ((replace(cell, head=9), "no head 9"), (replace(cell, site="x"), "no layer 1 of 'x'")):
        with pytest.raises(ValueError, match=told):
            why(trace, translator, wrong)
    with pytest.raises(ValueError, match="Expected the model that the trace is of"):
        why(trace, open_reader(ROOT / "checkpoints" / "induction"))


@pytest.mark.parametrize("token", ["\ud800", "a\udfff", 3, None, b"a", ["a"]], ids=repr)
@pytest.mark.parametrize("name", ["queries", "keys"])
def test_a_token_that_is_not_text_is_named(token: object, name: str) -> None:
    tokens: dict[str, Any] = {"queries": ["a", "b"], "keys": ["c", "d"], name: ["e", token]}
    for draw, weights in ((heads, np.full((1, 1, 2, 2), 0.5)), (lines, np.full((1, 2, 2), 0.5))):
        with pytest.raises(ValueError, match=re.escape(f"Expected {name}[1] to be text")) as error:
            draw(weights, **tokens)
        assert repr(token) in str(error.value)
        str(error.value).encode("utf-8")


@pytest.mark.parametrize("shape", [(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0), (1, 1, 0, 0)])
def test_weights_of_nothing_are_refused_with_their_shape(shape: tuple[int, ...]) -> None:
    tokens: dict[str, Any] = {"queries": ["a"] * shape[2], "keys": ["b"] * shape[3]}
    with pytest.raises(ValueError, match=re.escape(f"at least one layer, head, query and key, got {list(shape)}")):
        heads(np.ones(shape), **tokens)
    if 0 in shape[1:]:
        with pytest.raises(ValueError, match=re.escape(f"at least one head, query and key, got {list(shape[1:])}")):
            lines(np.ones(shape[1:]), **tokens)


@pytest.mark.parametrize(
    "weights", ["abc", {}, [[[[1.0], [1.0, 2.0]]]], torch.ones(1, 1, 1, 1, requires_grad=True)], ids=repr
)
def test_weights_that_are_no_numbers_are_refused_with_what_is_expected(weights: Any) -> None:
    for draw in (heads, lines):
        with pytest.raises(ValueError, match="Expected a trace, or weights as an array of numbers: "):
            draw(weights, queries=["a"])


@pytest.mark.parametrize("opened", [(0,), (0, 0, 0), (0.5, 0), (None, 0), "ab", (-1, 0), (1, 0)])
def test_a_head_that_is_not_there_cannot_be_open(opened: object) -> None:
    with pytest.raises(ValueError, match=r"There is no head .*: layers run from 0 to 0, heads from 0 to 0"):
        heads(np.ones((1, 1, 1, 1)), queries=["a"], opened=opened)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--<script>", "<!-- \u2028"])
def test_a_hostile_text_neither_ends_nor_swallows_the_script_of_a_saved_page(
    tmp_path: Path, translator: Translator, text: str
) -> None:
    path = save(film(translator.trace(text), translator), tmp_path / "a.html", title=f"<b>{text}")
    page = path.read_text(encoding="utf-8")
    assert [page.count(part) for part in ("<script", "</script", "<!--", "<b>")] == [1, 1, 0, 0]
    assert "\u2028" not in page[page.index("<script") :]

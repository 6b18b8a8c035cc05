"""What a model did with a text is computed once and kept for all viewers, and what is derived from it."""

import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from model import Candidate, Translator
from model.errors import InputTextError
from model.opening import open_reader
from tests.model.adapters import zoo
from tests.viz.page_run import traced
from tests.viz.pages.decoding.opening import TEXT as LATE
from viz.access import attention, models, traces
from viz.access.head_verdict import least_sure_step
from viz.pictures.tiles.codes import code
from viz.selection.choices import MEASURE_NAMES, Measure
from viz.selection.selection import Selection
from viz.text.metrics import OF_SENTENCES
from viz.text.written import SITES

TEXT = "The animal was tired."


def test_a_sentence_is_traced_once_errors_never_and_sessions_leave_when_told(selection: Selection) -> None:
    assert traced(TEXT, selection) is traced(TEXT, selection)
    for _ in range(2):
        with pytest.raises(InputTextError):
            traced("  ", selection)
    writer = models.writer(selection.model)
    session = traces.session(writer, TEXT)
    assert traces.session(writer, TEXT) is session
    traces.forget_sessions()
    assert traces.session(writer, TEXT) is not session


def test_progress_is_told_after_every_token_and_not_for_a_known_text(selection: Selection) -> None:
    reported: list[tuple[int, int]] = []
    text, reader = "A text that nobody has translated before.", models.reader(selection.model)
    trace = traces.trace(reader, text, progress=lambda written, most: reported.append((written, most)))
    assert [written for written, _ in reported] == list(range(1, len(trace.steps) + 1))
    assert all(written <= most for written, most in reported)
    traces.trace(reader, text, progress=lambda written, most: pytest.fail("it was known"))


OPENING = Selection().common.text


@pytest.mark.parametrize("site", SITES)
def test_figures_are_those_of_the_traces_weights_and_cannot_be_written(selection: Selection, site: str) -> None:
    figures = attention.head_metrics(traced(OPENING, selection), site)
    assert tuple(figures) == OF_SENTENCES
    trace = traced(OPENING, selection)
    free = trace.mask(site, 1).sum(-1) > 1
    weights = trace.weights(site, 1).numpy()[:, free]
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = -np.nan_to_num(weights * np.log2(weights)).sum(-1).mean(-1)
    np.testing.assert_allclose(figures["entropy"][1], bits, rtol=1e-5)
    assert not any(values.flags.writeable for values in figures.values())


def test_another_sentence_has_other_addresses(selection: Selection) -> None:
    assert len({attention.tiles_key(traced(text, selection), site) for text in ("a", "b") for site in SITES}) == 6
    assert len({attention.tiles_key(traced(OPENING, selection), SITES[0], measure) for measure in MEASURE_NAMES}) == 3


@pytest.mark.parametrize(("measure", "heads"), [("norms", 4), ("rollout", 1)])
def test_tiles_by_another_measure_are_parts_of_its_largest_number(
    selection: Selection, measure: Measure, heads: int
) -> None:
    trace, reader = traced(OPENING, selection), models.reader(selection.model)
    measured = attention.head_tiles(trace, reader, SITES[2], measure)
    view = attention.MatrixView(measure, whole_words=False, sinks=True)
    values = np.stack([attention.opened_layer(trace, reader, SITES[2], layer, view).values for layer in range(2)])
    assert measured.top == pytest.approx(values.max() if measure == "norms" else 1.0)
    cells = np.frombuffer(zlib.decompress(measured.tiles.deflated), np.uint8).reshape(2, *values.shape).astype(int)
    assert values.shape[1] == heads
    np.testing.assert_array_equal(cells[0] + 256 * cells[1], code(values / np.float32(measured.top)))


def test_rows_and_columns_of_a_bert_are_called_as_bert_writes_its_pieces(tmp_path: Path) -> None:
    trace = open_reader(zoo.save_model(tmp_path / "bert", "bert")).trace("The streetcars.")
    for is_joined, expected in ((False, trace.source.names), (True, ("[CLS]", "the", "streetcars.", "[SEP]"))):
        view = attention.MatrixView("weights", whole_words=is_joined, sinks=True)
        queries, keys = attention.shown_axes(trace, "encoder.self", view)
        assert queries.labels == keys.labels == expected
    assert trace.row_names("encoder.self") == trace.source.names
    assert any(name.startswith("##") for name in trace.source.names)
    assert not any("▁" in name for name in trace.source.names)


@pytest.mark.parametrize(
    ("tokens", "rival"), [(("▁It", "▁it", "▁She", "▁He"), "▁She"), (("▁It", "▁it"), "▁it"), (("▁It",), None)]
)
def test_a_rival_is_more_than_the_same_token_in_capitals_where_there_is_another(
    tokens: tuple[str, ...], rival: str | None, translator: Translator
) -> None:
    trace = translator.trace(TEXT)
    found = tuple(Candidate(number, token, -float(number + 1)) for number, token in enumerate(tokens))
    step = replace(trace.steps[1], token_id=0, token=tokens[0], candidates=found)
    best = traces.rival(replace(trace, steps=(trace.steps[0], step)), 1)
    assert (best and best.token) == rival


def test_outputs_are_proved_of_texts_up_to_a_length_and_a_file_holds_weights_up_to_a_size(
    selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, trace = models.reader(selection.model), traced(TEXT, selection)
    monkeypatch.setattr(traces, "LONGEST_PROVED", 5)
    assert [traces.extras(reader, text) for text in ("x" * 5, "x" * 6)] == [{traces.OUTPUTS}, set()]
    weights = sum(trace.weights(site, layer).numpy().nbytes for site in trace.sites for layer in range(2))
    monkeypatch.setattr(traces, "MAX_WEIGHT_BYTES", weights)
    assert traces.has_weights(trace)
    with_weights = len(traces.content(trace))
    monkeypatch.setattr(traces, "MAX_WEIGHT_BYTES", weights - 1)
    assert not traces.has_weights(trace)
    assert len(traces.content(trace)) == pytest.approx(with_weights - weights, rel=0.01)


def test_the_row_that_scaling_changes_most_is_found(translator: Translator) -> None:
    trace = translator.trace("The dog was tired.", "Der Hund war müde.")
    queries, keys = trace.axis_tokens(SITES[2])
    assert len(queries) != len(keys)
    found = []
    for head in range(4):
        apart = [
            np.abs(np.subtract(*(
                attention.derived_row(trace, SITES[2], 1, head, row, scaled=scaled, masked=True).weights.numpy()
                for scaled in (True, False)
            ))).sum()
            for row in range(len(queries))
        ]  # fmt: skip
        found.append(attention.row_that_scaling_changes(trace, SITES[2], 1, head))
        assert apart[found[-1]] == pytest.approx(max(apart))
    assert len(set(found)) > 1


def test_the_least_sure_step_has_the_closest_best_other_token() -> None:
    trace = traced(LATE, Selection().changed(checkpoint="en-de"))
    leads = [step.candidates[0].log_prob - step.candidates[1].log_prob for step in trace.steps]
    found = least_sure_step(trace)
    assert leads[found] == pytest.approx(min(leads))
    assert leads[found] < max(leads)


@pytest.mark.parametrize(
    ("kind", "said"), [("t5", ("adds a bias",)), ("gemma2", ("soft cap",)), ("gpt_oss", ("sink takes",)), ("gpt2", ())]
)
def test_what_a_model_does_to_a_score_beyond_the_formula_is_said(
    tmp_path: Path, kind: str, said: tuple[str, ...]
) -> None:
    zoo.save_model(tmp_path, kind, "metaspace")
    trace = open_reader(tmp_path).trace(TEXT)
    told = attention.added_to_scores(trace, trace.sites[0], 0, 0, 2, 1)
    assert [part for part in ("adds a bias", "soft cap", "sink takes") if part in told] == list(said)

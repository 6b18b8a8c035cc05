"""What lessons say, computed in another way: by the model's own modules, by torch, by the paper's formulas."""

import json
from itertools import groupby
from math import exp
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from model.errors import CheckpointError, DataError, TokenError, TraceError
from model.nn.edits import SwitchOff
from model.nn.hooks import listen
from tests.paths import ROOT
from viz.access import models
from viz.pages.learn.lessons.data import claims, positions, reasons, search, stream, training
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.pictures import Bars, Curves, Rows
from viz.pictures.matrix_picture.component import MatrixData
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import ModelChoice

TEXT = "The animal didn't cross the street because it was too tired."
LAYERS = 6
TWIN = "The animal didn't cross the street because it was too wide."


def test_switching_off_the_strongest_head_is_one_run_without_it(shipped: Shipped) -> None:
    view = claims.strongest_off(shipped, text=TEXT)
    assert isinstance(view.picture, Rows)
    table, trace = view.picture.rows, shipped.trace(TEXT)
    weights = np.stack([trace.weights("decoder.cross", layer).numpy() for layer in range(LAYERS)])
    ids = [step.token_id for step in trace.steps]
    row = 1
    layer, head, _ = map(int, np.unravel_index(weights[:, :, row].argmax(), weights[:, :, row].shape))
    off = [SwitchOff("decoder.cross", layer, head)]
    expected = shipped.translator.trace_tokens(TEXT, ids, edits=off).steps[row].log_prob
    assert table[row][1] == f"L{layer + 1} H{head + 1}"
    assert table[row][5] == f"{np.exp(expected):.2f}"
    lost = max(range(len(table)), key=lambda row: float(str(table[row][4])) - float(str(table[row][5])))
    assert view.found["before"] == pytest.approx(exp(trace.steps[lost].log_prob), rel=1e-4)
    assert [f"{view.found['before']:.2f}", f"{view.found['after']:.2f}", view.found["head"]] == [
        *table[lost][4:6], table[lost][1],
    ]  # fmt: skip
    assert view.found["weight"] == pytest.approx(weights.max((0, 1, 3)).mean())


def test_rows_saturate_where_a_softmax_of_the_plain_dot_products_does(shipped: Shipped) -> None:
    trace = shipped.trace(TEXT)
    view = claims.saturated(shipped, text=TEXT)
    assert isinstance(view.picture, Bars)
    expected = 0
    for layer in range(trace.layers_of("encoder.self")):
        inputs = trace.attention("encoder.self", layer)
        weights = (inputs.query @ inputs.key.transpose(-1, -2)).softmax(-1)
        expected += int((weights.amax(-1) > claims.SATURATED).sum())
    assert view.picture.series["not divided"][0] == pytest.approx(expected, abs=1)
    # The first row of the decoder's self-attention has one key alone.
    rows = len(trace.source_ids) + 2 * len(trace.target_ids) - 1
    assert view.found["rows"] == LAYERS * shipped.translator.config.num_heads * rows
    saturated = {
        name: view.picture.series[label].sum() for name, label in (("scaled", "divided by √dₖ"), ("raw", "not divided"))
    }
    for name, count in saturated.items():
        assert view.found[name] == count
        assert view.found[f"{name}_share"] == pytest.approx(count / view.found["rows"])


def test_two_measures_are_compared_in_every_row_of_the_encoder(shipped: Shipped) -> None:
    view, trace = claims.weight_and_norm(shipped, text=TEXT), shipped.trace(TEXT)
    assert isinstance(view.picture, Bars)
    differ = []
    for layer in range(LAYERS):
        output = shipped.translator.model.get_parameter(f"encoder.layers.{layer}.self_attention.output.weight")
        of_heads = output.detach().unflatten(1, (8, -1)).permute(1, 2, 0)
        norms = (trace.attention("encoder.self", layer).values() @ of_heads).norm(dim=-1)
        weights = trace.weights("encoder.self", layer)
        differ.append((weights.argmax(-1) != (weights * norms[:, None]).argmax(-1)).double().numpy())
    every = np.stack(differ)
    assert next(iter(view.picture.series.values())) == pytest.approx(every.mean((1, 2)))
    own = every.mean(-1)
    layer, head = divmod(int(own.argmax()), 8)
    numbers = {"rows": every.size, "share": every.mean(), "count": every.sum(), "most": own.max()}
    for name, value in numbers.items():
        assert view.found[name] == pytest.approx(value), name
    assert (view.found["head"], view.found["verdict"]) == (f"L{layer + 1} H{head + 1}", "In some rows")


def test_bleu_is_the_mean_over_the_seeds_of_the_list(shipped: Shipped) -> None:
    runs = json.loads((ROOT / "checkpoints/experiments/ablations.json").read_text(encoding="utf-8"))["runs"]
    own = [
        score["bleu"]
        for run in runs
        if run["preset"] == "no-positions"
        for score in run["scores"]
        if score["set"] == "multi30k_val"
    ]
    found = training.bleu(shipped, presets=["full", "no-positions"], dev_set="multi30k_val").found
    assert found["no_positions"] == pytest.approx(mean(own))
    assert found["no_positions_deviation"] == pytest.approx(stdev(own))


@pytest.mark.parametrize("preset", ["single-head", "no-dropout", "no-smoothing", "no-positions", "sixteen-heads"])
def test_a_difference_agrees_with_the_paper_where_every_set_shows_its_direction(shipped: Shipped, preset: str) -> None:
    view, name = training.differences(shipped, presets=[preset]), preset.replace("-", "_")
    less = [float(view.found[f"{name}_less_{number}"]) for number in (1, 2)]
    paper, told = float(view.found.get(f"{name}_paper", "nan")), view.found[f"{name}_told"]
    signs = {np.sign(value) for value in (*less, paper)}
    assert view.found["agree"] == int(told != "not told apart" and len(signs) == 1)
    assert isinstance(view.picture, Rows)
    ((_, *numbers, _reading, in_table),) = view.picture.rows
    of_paper = "nan" if str(in_table) == "not in Table 3" else in_table
    written = [float(str(number).replace("−", "-")) for number in (*numbers, of_paper)]
    assert written == pytest.approx([*less, paper], abs=0.051, nan_ok=True)
    assert [view.found[kind] for kind in ("presets", "better", "worse", "not_told")] == [
        1, *(int(told == kind) for kind in ("better", "worse", "not told apart")),
    ]  # fmt: skip


def test_without_small_models_an_error_says_what_is_missing(
    tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    choice = ModelChoice("en-de")
    tiny = Shipped(choice, models.translator(choice))
    with pytest.raises(CheckpointError):
        training.through(tiny, text="Tom loves Mary.", presets=["full"])
    with pytest.raises(DataError, match="no results of ablations"):
        training.bleu(tiny, presets=["full"], dev_set="multi30k_val")


def test_what_is_exchanged_between_two_sentences_is_what_the_encoder_gives_at_these_words(shipped: Shipped) -> None:
    tests = [["it", "tired"], ["animal", "street"]]
    view = reasons.exchanged(shipped, text=TEXT, other=TWIN, head="finding", word="es", words=tests)
    trace, translator = shipped.trace(TEXT), shipped.translator
    row = shipped.row(trace, "decoder.self", "es")
    target = torch.tensor([trace.target_ids[: row + 1]])
    chosen = [translator.tokenizer.token_id(f"▁{word}") for word in ("es", "sie")]
    with torch.inference_mode():
        own, other = (translator.model.encode(torch.tensor([translator.source_ids(text)])) for text in (TEXT, TWIN))
        for number, words in enumerate([[], *tests]):
            memory, at = own.clone(), [at for word in words for at in shipped.keys(trace, "decoder.cross", word)]
            memory[0, at] = other[0, at]
            es, sie = translator.model.projection(translator.model.decode(target, memory)[0, -1])[chosen].tolist()
            assert view.found[f"odds_{number}"] == pytest.approx(es - sie, abs=1e-3)


def test_the_models_own_rate_rises_as_often_as_its_log_begins_anew(shipped: Shipped) -> None:
    view = training.own_rate(shipped)
    assert isinstance(view.picture, Curves)
    (rates,) = view.picture.lines.values()
    assert view.found["rises"] == sum(is_above for is_above, _ in groupby(rates, lambda rate: rate > 0))


def test_the_loss_of_a_step_is_that_of_torch(shipped: Shipped) -> None:
    found = training.smoothed(shipped, text=TEXT, word="es", percent=10).found
    trace = shipped.trace(TEXT)
    at = next(row for row, step in enumerate(trace.steps) if step.token == "▁es")
    with torch.inference_mode():
        logits = shipped.translator.model(torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids]))[0, at]
    right = torch.tensor(trace.steps[at].token_id)
    assert found["smoothed_loss"] == pytest.approx(float(F.cross_entropy(logits, right, label_smoothing=0.1)), rel=1e-4)
    assert found["loss"] == pytest.approx(float(F.cross_entropy(logits, right)), rel=1e-3)


def test_the_gradient_of_a_step_is_that_of_torch_with_the_same_smoothing(shipped: Shipped) -> None:
    found, trace = training.gradient(shipped, text=TEXT, word="es", percent=10).found, shipped.trace(TEXT)
    at = next(row for row, step in enumerate(trace.steps) if step.token == "▁es")
    with torch.inference_mode():
        logits = shipped.translator.model(torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids]))[0, at]
    own, right = logits.clone().requires_grad_(), trace.steps[at].token_id
    (slopes,) = torch.autograd.grad(F.cross_entropy(own, torch.tensor(right), label_smoothing=0.1), own)
    assert found["of_word"] == pytest.approx(float(slopes[right]), rel=1e-3)
    others = torch.cat([slopes[:right], slopes[right + 1 :]])
    assert found["of_rival"] == pytest.approx(float(others[others.abs().argmax()]), rel=1e-3)


@pytest.mark.parametrize("index", [0, 50, 100])
def test_the_loss_over_certainty_is_that_of_torch(shipped: Shipped, index: int) -> None:
    picture = training.loss_over_certainty(shipped, percent=10).picture
    assert isinstance(picture, Curves)
    vocabulary, p = shipped.translator.config.vocab_size, picture.x[index]
    said = np.full(vocabulary, (1 - p) / (vocabulary - 1))
    said[7] = p
    log_probs = torch.tensor(np.log(said))
    for values, smoothing in zip(picture.lines.values(), (0.0, 0.1), strict=True):
        expected = F.cross_entropy(log_probs, torch.tensor(7), label_smoothing=smoothing)
        assert values[index] == pytest.approx(float(expected))


def test_a_model_without_positions_reads_two_orders_of_the_same_words_alike(shipped: Shipped) -> None:
    texts = ("Mary loves Tom.", "Tom loves Mary.")
    views = [positions.backwards(shipped, text=text, presets=["no-positions"]).found for text in texts]
    assert views[0]["no_positions"] == views[1]["no_positions"]


PHARMACY = "What time does the pharmacy close on Saturdays?"


def test_log_probabilities_are_sums_over_the_tokens_and_a_score_divides_them_by_the_penalty(shipped: Shipped) -> None:
    found = search.greedy_and_beam(shipped, text=PHARMACY).found
    greedy = sum(step.log_prob for step in shipped.trace(PHARMACY).steps)
    assert found["greedy_log_prob"] == pytest.approx(greedy, abs=1e-3)
    assert found["greedy"] == shipped.translator.translate(PHARMACY)
    assert found["beam"] == shipped.translator.translate(PHARMACY, beam=4)
    length = len(shipped.trace(PHARMACY).steps)
    assert found["greedy_score"] == pytest.approx(float(found["greedy_log_prob"]) / ((5 + length) / 6) ** 0.6, rel=1e-5)


def test_units_that_fire_are_those_above_zero(shipped: Shipped) -> None:
    trace = shipped.trace(TEXT)
    at = list(trace.source_tokens).index("▁it")
    with torch.inference_mode(), listen(record={"hook_hidden"}) as recorded:
        shipped.translator.model.encode(torch.tensor([trace.source_ids]))
    picture = stream.fired(shipped, text=TEXT, word="it").picture
    assert isinstance(picture, Bars)
    for layer, count in enumerate(picture.series["units"]):
        hidden = recorded[f"encoder.layers.{layer}.feed_forward.hook_hidden"][0][0, at]
        assert count == int((hidden > 0).sum())
    # Of one layer the strongest are drawn at every token.
    view = stream.units(shipped, text=TEXT, word="it", layer=4)
    assert isinstance(view.picture, MatrixData)
    every = recorded["encoder.layers.4.feed_forward.hook_hidden"][0][0].numpy()
    strongest = sorted(range(every.shape[1]), key=lambda unit: -every[at, unit])[: stream.UNITS]
    assert list(view.picture.column_tokens) == [str(unit + 1) for unit in strongest]
    np.testing.assert_allclose(view.picture.values, every[:, strongest], atol=1e-4)
    fired, others = every[at] > 0, [row for row in range(len(every)) if row != at]
    elsewhere = (every[others] > 0)[:, fired]
    expected = {"fired": fired.sum(), "alone": (elsewhere.sum(0) == 0).sum(), "shared": elsewhere.mean()}
    assert {name: view.found[name] for name in expected} == pytest.approx(expected)
    assert [view.found["largest"], view.picture.scale.high] == pytest.approx(
        [every[at].max(), every[:, strongest].max()]
    )
    # A model with fewer layers than a lesson names shows its last.
    for deep in (stream.units(shipped, text=TEXT, word="it", layer=99), stream.normed(shipped, text=TEXT, layer=99)):
        assert deep.found["layer"] == LAYERS


def test_a_lesson_names_heads_and_words_that_another_model_may_lack(shipped: Shipped) -> None:
    trace = shipped.trace(TEXT)
    assert shipped.head(trace, "decoder.cross 99 99") == ("decoder.cross", 5, 7)
    assert shipped.head(trace, "encoder.self 0 6") == ("encoder.self", 0, 6)
    assert shipped.row(trace, "encoder.self", "animal") == trace.source_tokens.index("▁animal")
    with pytest.raises(TraceError, match="needs the word “whale”"):
        shipped.row(trace, "encoder.self", "whale")


def test_a_neighbour_has_the_cosine_of_the_two_rows(shipped: Shipped) -> None:
    matrix, tokens = shipped.translator.model.projection.weight.detach(), shipped.translator.all_tokens()
    found = stream.neighbours(shipped, word="street", other="water").found
    rows = [matrix[tokens.index(f"▁{word}")] for word in ("street", str(found["nearest"]), "water")]
    assert found["cosine"] == pytest.approx(float(torch.cosine_similarity(rows[0], rows[1], dim=0)), abs=1e-5)
    assert found["other_cosine"] == pytest.approx(float(torch.cosine_similarity(rows[0], rows[2], dim=0)), abs=1e-5)
    own = stream.neighbours(shipped, word="street", other=str(found["nearest"])).found
    assert (own["other_rank"], own["verdict"]) == (1, "Yes, the nearest")


def test_a_word_without_a_piece_of_its_own_is_an_error_that_says_so(shipped: Shipped) -> None:
    with pytest.raises(TokenError, match="no single token for the word 'Donaudampfschiff'"):
        stream.neighbours(shipped, word="Donaudampfschiff", other="dog")

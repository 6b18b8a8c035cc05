"""What lessons say, computed in another way: by the model's own modules, by torch, by the paper's formulas."""

import json
import math
from itertools import pairwise
from math import exp
from pathlib import Path
from statistics import mean, stdev
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from model.errors import CheckpointError, DataError, TokenError
from model.nn.edits import SwitchOff
from model.nn.hooks import listen
from tests.paths import ROOT
from viz.access import models, texts, traces
from viz.pages.learn.lessons.data import claims, layer_kinds, positions, search, stream, training
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.pictures import Bars, Curves, Rows
from viz.pictures.matrix_picture.component import MatrixData
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import ModelChoice

TEXT = "The animal didn't cross the street because it was too tired."
LAYERS = 6
TWIN = "The animal didn't cross the street because it was too wide."


def test_keys_of_cross_attention_are_the_memory_times_their_matrix(shipped: Shipped) -> None:
    translator = shipped.translator
    trace = shipped.trace(TEXT)
    linear = translator.model.get_submodule("decoder.layers.1.cross_attention.key")
    assert isinstance(linear, nn.Linear)
    with torch.inference_mode():
        expected = linear(translator.model.encode(torch.tensor([trace.source_ids])))[0]
    np.testing.assert_allclose(claims._keys(trace, 1), expected.numpy(), atol=1e-5)
    for other in (TWIN, "Tom sleeps."):
        view = claims.keys_of_memory(shipped, text=TEXT, target="Ich weiß es nicht.", other=other)
        assert view.found["recomputed"] < 1e-5  # type: ignore[operator]
        both = [[claims._keys(of, layer) for of in (trace, shipped.trace(other))] for layer in range(LAYERS)]
        apart = [max(np.abs(a - b).max() for a, b in zip(*keys, strict=False)) for keys in both]
        assert view.found["other_source"] == pytest.approx(max(apart))
        assert isinstance(view.picture, Rows)
        assert [row[3] for row in view.picture.rows] == [f"{difference:.2f}" for difference in apart]


def test_switching_off_the_strongest_head_is_one_run_without_it(shipped: Shipped) -> None:
    picture = claims.strongest_off(shipped, text=TEXT).picture
    assert isinstance(picture, Rows)
    trace = shipped.trace(TEXT)
    weights = np.stack([trace.weights("decoder.cross", layer).numpy() for layer in range(LAYERS)])
    row = 1
    layer, head, _ = map(int, np.unravel_index(weights[:, :, row].argmax(), weights[:, :, row].shape))
    ids = [step.token_id for step in trace.steps]
    off = [SwitchOff("decoder.cross", layer, head)]
    expected = shipped.translator.trace_tokens(TEXT, ids, edits=off).steps[row].log_prob
    assert picture.rows[row][1] == f"L{layer + 1} H{head + 1}"
    assert picture.rows[row][5] == f"{np.exp(expected):.2f}"


def test_rows_saturate_where_a_softmax_of_the_plain_dot_products_does(shipped: Shipped) -> None:
    trace = shipped.trace(TEXT)
    picture = claims.saturated(shipped, text=TEXT).picture
    assert isinstance(picture, Bars)
    expected = 0
    for layer in range(trace.layers_of("encoder.self")):
        inputs = trace.attention("encoder.self", layer)
        weights = (inputs.query @ inputs.key.transpose(-1, -2)).softmax(-1)
        expected += int((weights.amax(-1) > claims.SATURATED).sum())
    assert picture.series["not divided"][0] == pytest.approx(expected, abs=1)


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


@pytest.mark.parametrize(("length", "shown"), [(160, "a" * 160), (161, "a" * 160 + " …")])
def test_a_translation_without_an_end_is_cut_after_160_characters(
    shipped: Shipped, monkeypatch: pytest.MonkeyPatch, length: int, shown: str
) -> None:
    written = SimpleNamespace(translation="a" * length)
    monkeypatch.setattr(traces, "trace", lambda *_: written)
    picture = training.through(shipped, text="Tom loves Mary.", presets=["full"]).picture
    assert isinstance(picture, Rows)
    assert picture.rows[0][1] == shown


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


def test_a_hidden_word_is_a_key_that_no_attention_sees(shipped: Shipped) -> None:
    view = search.hidden_words(shipped, text=TEXT, word="es", other="sie", hidden="animal")
    trace, translator = shipped.trace(TEXT), shipped.translator
    row = shipped.row(trace, "decoder.self", "es")
    assert view.found["before"] == pytest.approx(exp(trace.steps[row].log_prob), abs=1e-4)
    known = texts.words(trace)
    seen = torch.ones(1, len(trace.source_ids), dtype=torch.bool)
    seen[0, list(known.groups[known.labels.index("animal")])] = False
    source, target = torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids[: row + 1]])
    with torch.no_grad():
        hidden = translator.model.decode(target, translator.model.encode(source, seen), seen)
        expected = float(translator.model.projection(hidden[0, -1]).softmax(-1)[trace.steps[row].token_id])
    assert view.found["hidden_after"] == pytest.approx(expected, abs=1e-4)


def test_every_word_of_the_sentence_is_hidden_once(shipped: Shipped) -> None:
    view = search.hidden_words(shipped, text=TEXT, word="es", other="sie", hidden="animal")
    assert isinstance(view.picture, Bars)
    assert view.picture.labels == [
        "nothing", "The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too", "tired",
    ]  # fmt: skip
    assert all(len(values) == len(view.picture.labels) for values in view.picture.series.values())


@pytest.mark.parametrize(("step", "expected"), [(1_000, 512**-0.5 * 1_000 * 4_000**-1.5), (25_600, 512**-0.5 / 160)])
def test_the_schedule_is_that_of_equation_3(shipped: Shipped, step: int, expected: float) -> None:
    picture = training.schedule(shipped, others=[1_000]).picture
    assert isinstance(picture, Curves)
    own = next(iter(picture.lines.values()))
    assert own[picture.x == step] == pytest.approx(expected)


def test_the_loss_of_a_step_is_that_of_torch(shipped: Shipped) -> None:
    found = training.smoothed(shipped, text=TEXT, word="es", percent=10).found
    trace = shipped.trace(TEXT)
    at = next(row for row, step in enumerate(trace.steps) if step.token == "▁es")
    with torch.inference_mode():
        logits = shipped.translator.model(torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids]))[0, at]
    right = torch.tensor(trace.steps[at].token_id)
    assert found["smoothed_loss"] == pytest.approx(float(F.cross_entropy(logits, right, label_smoothing=0.1)), rel=1e-4)
    assert found["loss"] == pytest.approx(float(F.cross_entropy(logits, right)), rel=1e-3)


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


def test_dropout_zeroes_some_numbers_and_scales_the_others(shipped: Shipped) -> None:
    picture = training.dropout(shipped, text=TEXT, word="animal", percent=10).picture
    assert isinstance(picture, Bars)
    before, after = picture.series.values()
    kept = after != 0
    assert 0 < (~kept).sum() < len(kept) / 2
    assert after[kept] == pytest.approx(before[kept] / 0.9)


def test_encodings_are_those_of_the_formula(shipped: Shipped) -> None:
    picture = positions.encodings(shipped, positions=40).picture
    assert isinstance(picture, MatrixData)
    assert picture.values[7, 20] == pytest.approx(math.sin(7 / 10_000 ** (20 / 256)), abs=1e-6)
    assert (picture.scale.low, picture.scale.high) == (-1, 1)
    assert picture.values[7, 21] == pytest.approx(math.cos(7 / 10_000 ** (20 / 256)), abs=1e-6)


def test_the_likeness_of_two_positions_is_their_dot_product(shipped: Shipped) -> None:
    table, curve = positions.encodings(shipped, positions=40).picture, positions.likeness(shipped, distance=20).picture
    assert isinstance(table, MatrixData)
    assert isinstance(curve, Curves)
    for first, second in ((0, 9), (30, 13)):
        product = float(table.values[first].astype(float) @ table.values[second])
        assert curve.lines["dot product"][curve.x == second - first] == pytest.approx(product, abs=1e-3)


def test_turned_pairs_are_those_of_the_shifted_position(shipped: Shipped) -> None:
    picture = positions.shift(shipped, position=10, by=3).picture
    assert isinstance(picture, Rows)
    turned, shifted = (
        np.array([[float(number.replace("−", "-")) for number in str(row[column]).split(",")] for row in picture.rows])
        for column in (3, 4)
    )
    np.testing.assert_allclose(turned, shifted, atol=1.1e-3)


def test_a_model_without_positions_reads_two_orders_of_the_same_words_alike(shipped: Shipped) -> None:
    texts = ("Mary loves Tom.", "Tom loves Mary.")
    views = [positions.backwards(shipped, text=text, presets=["no-positions"]).found for text in texts]
    assert views[0]["no_positions"] == views[1]["no_positions"]


def test_operations_are_those_of_table_1(shipped: Shipped) -> None:
    picture = layer_kinds.operations(shipped, width=512).picture
    assert isinstance(picture, Curves)
    n, d = picture.x, 512
    expected = {
        "self-attention": n * n * d,
        "recurrent": n * d * d,
        "convolution": 3 * n * d * d,
        "restricted": 9 * n * d,
    }
    assert set(picture.lines) == set(expected)
    for kind, values in picture.lines.items():
        np.testing.assert_allclose(values, expected[kind])


def test_convolutions_join_the_ends_of_a_sentence_when_their_reach_has_grown_to_it(shipped: Shipped) -> None:
    found = layer_kinds.in_turn(shipped, text=TEXT).found
    length, layers = int(found["length"]), int(found["convolution_layers"])
    assert layers == length - 1
    dilated = int(found["dilated_layers"])
    reach = [sum(3**depth for depth in range(count)) for count in (dilated - 1, dilated)]
    assert reach[0] < length - 1 <= reach[1]


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_each_convolution_brings_influence_one_position_further(shipped: Shipped, layers: int) -> None:
    assert layer_kinds.influence(shipped, kind="convolution", layers=layers).found["reach"] == layers


PHARMACY = "What time does the pharmacy close on Saturdays?"


def test_log_probabilities_are_sums_over_the_tokens_and_a_score_divides_them_by_the_penalty(shipped: Shipped) -> None:
    found = search.greedy_and_beam(shipped, text=PHARMACY).found
    greedy = sum(step.log_prob for step in shipped.trace(PHARMACY).steps)
    assert found["greedy_log_prob"] == pytest.approx(greedy, abs=1e-3)
    assert found["greedy"] == shipped.translator.translate(PHARMACY)
    assert found["beam"] == shipped.translator.translate(PHARMACY, beam=4)
    length = len(shipped.trace(PHARMACY).steps)
    assert found["greedy_score"] == pytest.approx(float(found["greedy_log_prob"]) / ((5 + length) / 6) ** 0.6, rel=1e-5)


def test_the_winner_of_the_beam_leads_from_the_step_that_is_named_and_not_before(shipped: Shipped) -> None:
    text = "I can't go back there now."
    shown, beam = search.living(shipped, text=text), shipped.translator.translate(text, beam=search.WIDTH)
    leaders = [row[1].rpartition(" (")[0] for row in shown.picture.rows]  # type: ignore[union-attr]
    leads = int(shown.found["leads"])
    assert not beam.startswith(leaders[leads - 2])
    assert all(beam.startswith(leader) for leader in leaders[leads - 1 :])
    assert leaders[leads - 2].split()[-1] == shown.found["first"]
    assert f"{leaders[leads - 2].rpartition(' ')[0]} {shown.found['winner']} " in beam


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


def test_what_came_in_and_what_was_added_become_what_comes_in_next(shipped: Shipped) -> None:
    path = stream._path(shipped, TEXT, "it")
    parts = [part for layer in path.layers for part in layer]
    for part, following in pairwise(parts):
        torch.testing.assert_close(part.before + part.added, following.before, rtol=1e-4, atol=1e-4)


def test_a_norm_makes_every_spread_one(shipped: Shipped) -> None:
    picture = stream.normed(shipped, text=TEXT, layer=1).picture
    assert isinstance(picture, Bars)
    assert picture.series["after the norm"] == pytest.approx(1.0, abs=1e-3)
    assert picture.series["before the norm"].min() > 1.5


def test_a_neighbour_has_the_cosine_of_the_two_rows(shipped: Shipped) -> None:
    matrix, tokens = shipped.translator.model.projection.weight.detach(), shipped.translator.all_tokens()
    found = stream.neighbours(shipped, word="street", other="water").found
    rows = [matrix[tokens.index(f"▁{word}")] for word in ("street", str(found["nearest"]), "water")]
    assert found["cosine"] == pytest.approx(float(torch.cosine_similarity(rows[0], rows[1], dim=0)), abs=1e-5)
    assert found["other_cosine"] == pytest.approx(float(torch.cosine_similarity(rows[0], rows[2], dim=0)), abs=1e-5)


def test_the_matrix_is_counted_once_among_all_parameters(shipped: Shipped) -> None:
    found = stream.shared(shipped).found
    assert found["all"] == sum(parameter.numel() for parameter in shipped.translator.model.parameters())
    assert found["once"] == shipped.translator.model.projection.weight.numel()


def test_a_word_without_a_piece_of_its_own_is_an_error_that_says_so(shipped: Shipped) -> None:
    with pytest.raises(TokenError, match="no token that is the word 'Donaudampfschiff'"):
        stream.neighbours(shipped, word="Donaudampfschiff", other="dog")

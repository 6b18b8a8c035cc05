"""What lessons say, computed in another way: by the model's own modules, by torch, by the paper's formulas."""

import json
import math
from dataclasses import replace
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

from model import later
from model.errors import CheckpointError, DataError, TokenError, TraceError
from model.nn.edits import SwitchOff
from model.nn.hooks import listen
from tests.paths import ROOT
from viz.access import models, texts, traces
from viz.pages.learn.lessons.data import claims, layer_kinds, positions, search, stream, training
from viz.pages.learn.lessons.data.shipped import Shipped, is_most
from viz.pages.learn.lessons.pictures import Bars, Curves, Rows
from viz.pictures.matrix_picture.component import MatrixData
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import ModelChoice
from viz.text.written import display_token

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


def test_switching_off_the_strongest_head_is_one_run_without_it(
    shipped: Shipped, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    without = np.zeros(len(ids)), np.array([ids[0] + 1, *ids[1:]])
    monkeypatch.setattr(claims, "_without", lambda *_: without)
    found, picture = (view := claims.strongest_off(shipped, text=TEXT)).found, view.picture
    assert isinstance(picture, Rows)
    assert [row[-1] for row in picture.rows] == ["yes", *["no"] * (len(ids) - 1)]
    assert [found[name] for name in ("tokens", "changed", "same")] == [len(ids), 1, len(ids) - 1]


def test_rows_saturate_where_a_softmax_of_the_plain_dot_products_does(
    shipped: Shipped, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    monkeypatch.setattr(claims, "SATURATED", 1.0)
    assert claims.saturated(shipped, text=TEXT).found["raw"] == 0


def test_two_tokens_are_swapped_where_there_are_two_before_the_last(
    shipped: Shipped, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced = {target: shipped.experiment("no-positions").trace(TEXT, target) for target in ("Nein", "Nein.")}
    monkeypatch.setattr(traces, "trace", lambda *_: traced["Nein"])
    with pytest.raises(TraceError, match="too few tokens"):
        claims.order_without_positions(shipped, text=TEXT)
    monkeypatch.setattr(traces, "trace", lambda *_: traced["Nein."])
    for difference, verdict in ((0.001, "No"), (0.0011, "Yes")):
        swapped = SimpleNamespace(differences=(0.0, 0.5, difference))
        monkeypatch.setattr(later.outputs, "swap_earlier_tokens", lambda *_, swapped=swapped: swapped)
        found = claims.order_without_positions(shipped, text=TEXT).found
        own = {"first": 0.0, "last": difference, "layers": 3, "one": "N", "other": "ein", "verdict": verdict}
        assert {name: found[name] for name in own} == own


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


@pytest.mark.parametrize(("part", "whole", "is_it"), [(2, 5, False), (3, 6, False), (3, 5, True), (4, 6, True)])
def test_most_is_more_than_half(part: int, whole: int, is_it: bool) -> None:
    assert is_most(part, whole) == is_it


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
    of_paper = "nan" if str(in_table) == "no such row" else in_table
    written = [float(str(number).replace("−", "-")) for number in (*numbers, of_paper)]
    assert written == pytest.approx([*less, paper], abs=0.051, nan_ok=True)
    assert [view.found[kind] for kind in ("presets", "better", "worse", "not_told")] == [
        1, *(int(told == kind) for kind in ("better", "worse", "not told apart")),
    ]  # fmt: skip


@pytest.mark.parametrize("more", [0, 1])
def test_a_translation_without_an_end_is_cut_after_160_characters_or_120(
    shipped: Shipped, monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    written = SimpleNamespace(translation="a" * (160 + more))
    monkeypatch.setattr(traces, "trace", lambda *_: written)
    view = training.through(shipped, text="Tom loves Mary.", presets=["full", "no-positions"])
    assert isinstance(view.picture, Rows)
    assert view.picture.rows[0][1] == "a" * 160 + " …" * more
    assert (view.found["same"], view.found["no_positions"]) == (1, view.picture.rows[0][1])
    monkeypatch.setattr(later.parts_off, "translate_without", lambda *_: ["a" * (120 + more)])
    found = search.without_part(shipped, texts=["Tom loves Mary."], part="norms").found
    assert found["without_1"] == "a" * 120 + " …" * more


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


def test_the_loss_of_a_step_is_that_of_torch(shipped: Shipped, monkeypatch: pytest.MonkeyPatch) -> None:
    found = training.smoothed(shipped, text=TEXT, word="es", percent=10).found
    trace = shipped.trace(TEXT)
    at = next(row for row, step in enumerate(trace.steps) if step.token == "▁es")
    with torch.inference_mode():
        logits = shipped.translator.model(torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids]))[0, at]
    right = torch.tensor(trace.steps[at].token_id)
    assert found["smoothed_loss"] == pytest.approx(float(F.cross_entropy(logits, right, label_smoothing=0.1)), rel=1e-4)
    assert found["loss"] == pytest.approx(float(F.cross_entropy(logits, right)), rel=1e-3)
    # A right token that is not among the likeliest takes the place of the last of them.
    rare = int(logits.argmin())
    steps = (*trace.steps[:at], replace(trace.steps[at], token_id=rare), *trace.steps[at + 1 :])
    odd = replace(trace, steps=steps)
    monkeypatch.setattr(traces, "trace", lambda *_: odd)
    picture = training.smoothed(shipped, text=TEXT, word="es", percent=10).picture
    assert isinstance(picture, Bars)
    best = logits.argsort(descending=True)[: training.CANDIDATES - 1].tolist()
    tokens = shipped.translator.all_tokens()
    assert [str(label) for label in picture.labels] == [display_token(tokens[one]) for one in (*best, rare)]
    assert next(iter(picture.series.values())).tolist() == [0.0] * len(best) + [1.0]


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


def test_a_rate_rises_again_where_it_leaves_0() -> None:
    assert training._rises(np.array([0.1, 0.2, 0.0, 0.0, 0.3, 0.0])) == 2
    assert training._rises(np.array([0.1, 0.2, 0.1])) == 1


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
    tree = search._tree(shipped.translator, text, search.WIDTH, search.ALPHA)
    (other,) = (node for node in tree.nodes if (node.step, node.row) == (leads - 2, 0))
    both = zip(tree.path(other.index), tree.path(tree.winner.index), strict=False)
    common = [one.token_id == own.token_id for one, own in both]
    assert shown.found["parts"] == 1 + common.index(False)


def test_units_that_fire_are_those_above_zero(shipped: Shipped, monkeypatch: pytest.MonkeyPatch) -> None:
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
    silent = SimpleNamespace(recorded=lambda _: torch.zeros(16, 30))
    monkeypatch.setattr(stream, "captured_run", lambda *_: silent)
    picture = stream.units(shipped, text=TEXT, word="it", layer=0).picture
    assert isinstance(picture, MatrixData)
    assert picture.scale.high > 0


def test_a_lesson_names_heads_and_words_that_another_model_may_lack(
    shipped: Shipped, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = shipped.trace(TEXT)
    assert shipped.head(trace, "decoder.cross 99 99") == ("decoder.cross", 5, 7)
    assert shipped.head(trace, "encoder.self 0 6") == ("encoder.self", 0, 6)
    known = texts.Words(("A", "b.", "X", "Y"), ((0,), (1, 2), (0,), (3, 4)), 2)
    monkeypatch.setattr(texts, "words", lambda _: known)
    assert [shipped.row(trace, "encoder.self", word) for word in ("A", "b")] == [0, 2]
    assert [shipped.row(trace, "decoder.self", word) for word in ("X", "Y", "none")] == [0, 2, 0]
    assert [shipped.keys(trace, site, "b") for site in ("encoder.self", "decoder.cross")] == [(1, 2), (1, 2)]
    assert shipped.keys(trace, "decoder.self", "Y") == (3, 4)
    for site, word in (("encoder.self", "Y"), ("decoder.cross", "X"), ("decoder.self", "A")):
        with pytest.raises(TraceError, match="has no word"):
            shipped.keys(trace, site, word)
    with pytest.raises(TraceError, match="has no word"):
        shipped.row(trace, "encoder.self", "Y")


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


def test_a_neighbour_has_the_cosine_of_the_two_rows_and_its_rank(
    shipped: Shipped, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix, tokens = shipped.translator.model.projection.weight.detach(), shipped.translator.all_tokens()
    found = stream.neighbours(shipped, word="street", other="water").found
    rows = [matrix[tokens.index(f"▁{word}")] for word in ("street", str(found["nearest"]), "water")]
    near = stream.neighbours(shipped, word="street", other="water").picture
    assert isinstance(near, Bars)
    words = [str(label) for label in near.labels[: stream.NEIGHBOURS]]
    for rank, word in enumerate(words, 1):
        if word.startswith("▁"):
            own = stream.neighbours(shipped, word="street", other=word.removeprefix("▁")).found
            assert (own["other_rank"], own["verdict"]) == (
                rank, "Yes, the nearest" if rank == 1 else "Yes, but not the nearest",
            )  # fmt: skip
            if rank > 2:
                with monkeypatch.context() as patch:
                    patch.setattr(stream, "NEIGHBOURS", rank - 1)
                    shorter = stream.neighbours(shipped, word="street", other=word.removeprefix("▁")).found
                assert shorter["verdict"] == "No"
    assert found["cosine"] == pytest.approx(float(torch.cosine_similarity(rows[0], rows[1], dim=0)), abs=1e-5)
    assert found["other_cosine"] == pytest.approx(float(torch.cosine_similarity(rows[0], rows[2], dim=0)), abs=1e-5)


def test_the_matrix_is_counted_once_among_all_parameters(shipped: Shipped) -> None:
    found = stream.shared(shipped).found
    assert found["all"] == sum(parameter.numel() for parameter in shipped.translator.model.parameters())
    assert found["once"] == shipped.translator.model.projection.weight.numel()


def test_a_word_without_a_piece_of_its_own_is_an_error_that_says_so(shipped: Shipped) -> None:
    with pytest.raises(TokenError, match="no token that is the word 'Donaudampfschiff'"):
        stream.neighbours(shipped, word="Donaudampfschiff", other="dog")

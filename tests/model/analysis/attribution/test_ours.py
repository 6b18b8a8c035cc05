"""Attribution of our own translator: each method against its definition, and words hidden one by one."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from torch import nn

from model import Trace, Translator
from model.analysis.attribution.choice import AttentionSum, TokenChoice, choice_at, visible
from model.analysis.attribution.methods import (
    METHODS,
    OF_CHOICE,
    Method,
    attribute,
    contributions,
    delete,
    distances,
    gradient_times_input,
    integrated_gradients,
    shares,
)
from model.analysis.attribution.runs import TranslatorRun, attention_sum
from model.analysis.metrics.measures import rollout_at
from model.analysis.residual_stream.capture import CapturedRun, Sublayer, capture
from model.errors import DataError
from model.nn.layers import EncoderLayer
from model.nn.masks import AttentionMask
from tests.model.analysis.attribution.conftest import STEP


@torch.no_grad()
def test_tokens_hidden_at_the_end_are_as_if_the_sentence_had_ended_before(either: Translator, trace: Trace) -> None:
    whole = choice_at(trace, STEP)
    length = len(whole.source)
    for gone in (1, 3, 5):
        hidden = whole_but(either, trace, whole, range(length - gone, length))
        shorter = replace(whole, place=replace(whole.place, source=whole.source[: length - gone]))
        assert hidden == pytest.approx(intact(either, trace, shorter), abs=1e-4)


def test_steps_that_are_not_and_a_token_against_itself_are_refused(trace: Trace) -> None:
    count = len(trace.steps)
    assert [choice_at(trace, step).place.row for step in (0, count - 1)] == [0, count - 1]
    assert [len(choice_at(trace, step).prefix) for step in (0, STEP)] == [1, STEP + 1]
    for step in (-1, count):
        with pytest.raises(DataError, match=rf"Steps run from 0 to {count - 1}, got {step}"):
            choice_at(trace, step)
    with pytest.raises(DataError, match="with itself"):
        choice_at(trace, STEP, against=trace.steps[STEP].token_id)


def intact(translator: Translator, trace: Trace, choice: TokenChoice) -> float:
    return whole_but(translator, trace, choice, ())


def whole_but(translator: Translator, trace: Trace, choice: TokenChoice, hidden: Sequence[int]) -> float:
    logits = TranslatorRun(translator, choice, trace).seen_logits(visible(len(choice.source), [hidden]))
    return float(choice.of_logits(logits))


SUBLAYERS = [Sublayer("encoder", 1, "self"), Sublayer("decoder", 0, "self"), Sublayer("decoder", 1, "cross")]


@pytest.fixture(scope="module")
def captured(either: Translator, trace: Trace) -> CapturedRun:
    return capture(either, trace)


@pytest.mark.parametrize("sublayer", SUBLAYERS, ids=lambda sublayer: f"{sublayer.stack}.{sublayer.kind}")
def test_the_parts_and_the_biases_are_what_the_model_computed(captured: CapturedRun, sublayer: Sublayer) -> None:
    linear = captured.translator.model.get_submodule(f"{sublayer.path}.output")
    assert isinstance(linear, nn.Linear)
    bias = linear.bias.detach()
    if not captured.is_pre_norm:
        norm, sums = captured.norm_of(sublayer), captured.summed(sublayer)
        deviation = (sums.var(-1, correction=0) + norm.eps).sqrt()[:, None]
        bias = (bias - bias.mean()) / deviation * norm.weight.detach() + norm.bias.detach()
    found = attention_sum(captured, sublayer)
    assert found.is_across == (sublayer.kind == "cross")
    torch.testing.assert_close(found.parts.sum(1) + bias, captured.after(sublayer), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("sublayer", SUBLAYERS, ids=lambda sublayer: f"{sublayer.stack}.{sublayer.kind}")
def test_a_share_is_how_much_nearer_a_part_brings_the_output(captured: CapturedRun, sublayer: Sublayer) -> None:
    attention = attention_sum(captured, sublayer)
    parts, output, found = attention.parts, captured.after(sublayer), contributions(attention)
    for row in range(len(output)):
        whole = sum(abs(float(value)) for value in output[row])
        nearer = [
            max(0.0, whole - sum(abs(float(a) - float(b)) for a, b in zip(output[row], part, strict=True)))
            for part in parts[row]
        ]
        torch.testing.assert_close(found[row], torch.tensor(nearer) / sum(nearer), atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_every_token_of_the_source_gets_a_number(run: TranslatorRun, method: Method) -> None:
    found = attribute(run, method)
    assert found.read.shape == (len(run.choice.source),)
    assert found.read.isfinite().all()
    if method not in OF_CHOICE:
        whole = found.read.sum() + (0 if found.prefix is None else found.prefix.sum())
        assert float(whole) == pytest.approx(1, abs=1e-4)
        assert min(float(part.min()) for part in (found.read, found.prefix) if part is not None) >= 0
        assert found.prefix is None or len(found.prefix) == STEP + 1


def test_weights_are_the_mean_of_all_heads_of_cross_attention(run: TranslatorRun) -> None:
    weights = torch.stack([run.trace.weights("decoder.cross", layer)[:, STEP] for layer in range(2)])
    found = attribute(run, "weights").read
    torch.testing.assert_close(found, weights.flatten(0, 1).mean(0), atol=1e-6, rtol=1e-5)


def test_a_rollout_is_that_through_all_layers(run: TranslatorRun) -> None:
    found = attribute(run, "rollout").read
    torch.testing.assert_close(found, rollout_at(run.trace, "decoder.cross", 1)[STEP][: len(run.choice.source)])


def test_shares_of_a_row_add_up_and_where_nothing_moves_all_is_the_rows_own() -> None:
    amounts = torch.tensor([[0.1, 0.3, 0.0], [0.0, 0.0, 0.0]])
    expected = torch.tensor([[0.25, 0.75, 0.0], [0.0, 1.0, 0.0]])
    torch.testing.assert_close(shares(amounts, torch.tensor([0, 1])), expected)
    # Parts that lead away from the output bring nothing nearer: a row keeps what it had, by the residual connection.
    away, output = -torch.ones(2, 3, 4), torch.ones(2, 4)
    for is_across, own in ((True, [2, 2]), (False, [0, 1])):
        found = contributions(AttentionSum(is_across, away, output))
        assert found.argmax(-1).tolist() == own
        assert found.sum(-1).tolist() == [1, 1]


@torch.inference_mode()
def test_distances_are_those_of_an_attention_without_the_value(run: TranslatorRun) -> None:
    layer, inputs = run.reader.model.encoder.layers[0], run.trace.attention("encoder.self", 0)
    assert isinstance(layer, EncoderLayer)
    x = run.reader.model.encoder.embedding(torch.tensor([run.choice.source]))
    length = x.size(1)
    mask = AttentionMask(num_queries=length, num_keys=length)
    first = next(run.layers())
    assert first.keys == {"encoder.self": length}
    found = distances(first, "encoder.self")
    for key in range(length):
        values = inputs.values().clone()
        values[:, key] = 0
        joined = (inputs.weights() @ values).transpose(0, 1).flatten(1)[None]
        attended = layer.self_attention_residual(x, lambda _, joined=joined: layer.self_attention.output(joined))
        without = layer.feed_forward_residual(attended, layer.feed_forward)
        expected = 1 - torch.cosine_similarity(layer(x, mask)[0].double(), without[0].double(), dim=-1)
        torch.testing.assert_close(found[:, key].double(), expected, atol=1e-9, rtol=1e-3)


def test_gradient_times_input_is_what_a_little_more_of_a_token_changes(run: TranslatorRun) -> None:
    little = 1e-3
    run.reader.model.double()
    try:
        found = gradient_times_input(run)
        source, prefix = run.embeddings()
        for position in range(len(run.choice.source)):
            more, less = source.clone(), source.clone()
            more[0, position] *= 1 + little
            less[0, position] *= 1 - little
            with torch.no_grad():
                change = run.of_embeddings(more, prefix) - run.of_embeddings(less, prefix)
            # The choice itself is float32.
            assert float(found.source[position]) == pytest.approx(float(change) / (2 * little), abs=2e-3)
    finally:
        run.reader.model.float()


def test_integrated_gradients_add_up_to_what_is_gained(run: TranslatorRun) -> None:
    scores, found = integrated_gradients(run)
    inputs = run.embeddings()
    with torch.no_grad():
        whole = float(run.choice.of_logits(run.seen_logits(visible(len(run.choice.source), [[]]))))
        nothing = float(run.of_embeddings(*map(torch.zeros_like, inputs)))
    assert found.gained == pytest.approx(whole - nothing, abs=1e-4)
    assert found.is_converged
    assert abs(float(scores.source.sum() + scores.prefix.sum()) - found.gained) <= found.worst + 1e-5


def test_a_contrast_is_the_difference_of_both_tokens(run: TranslatorRun) -> None:
    one, other = (candidate.token_id for candidate in run.trace.steps[STEP].candidates[:2])
    runs = [
        replace(run, choice=replace(run.choice, token=token, against=against))
        for token, against in ((one, None), (other, None), (one, other))
    ]
    # Each has stretches of its own, so that integrated gradients agree as far as they have converged.
    for method, close in ((gradient_times_input, 1e-4), (lambda of: integrated_gradients(of)[0], 0.01)):
        a, b, contrast = map(method, runs)
        torch.testing.assert_close(contrast.source, a.source - b.source, atol=close, rtol=1e-3)
        torch.testing.assert_close(contrast.prefix, a.prefix - b.prefix, atol=close, rtol=1e-3)


WORDS = [[0], [1, 2], [3]]


def value_without(run: TranslatorRun, hidden: Sequence[int]) -> float:
    return float(run.choice.of_logits(run.seen_logits(visible(len(run.choice.source), [hidden]))))


@torch.no_grad()
def test_each_value_is_the_choice_with_so_many_words_hidden(run: TranslatorRun) -> None:
    ((found,), alone) = delete(run, WORDS, [(1, 2, 0)])
    for value, hidden in zip(found.values, ([], [1, 2], [1, 2, 3], [0, 1, 2, 3]), strict=True):
        assert value == pytest.approx(value_without(run, hidden), abs=1e-4)
    assert alone.before == found.values[0]
    for value, hidden in zip(alone.values, WORDS, strict=True):
        assert value == pytest.approx(value_without(run, hidden), abs=1e-4)

"""The parts of a position's residual stream add up to what the model computed."""

from dataclasses import replace

import pytest
import torch

from model.analysis.residual_stream.additions import Stack
from model.analysis.residual_stream.capture import CapturedRun
from model.analysis.residual_stream.token_path import follow
from model.errors import TraceError
from model.nn.hooks import listen
from tests.model.analysis.residual_stream.conftest import CHANGES

STACKS: tuple[Stack, ...] = ("encoder", "decoder")


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("name", CHANGES)
def test_stream_and_addition_make_the_next_stream(runs: dict[str, CapturedRun], name: str, stack: Stack) -> None:
    path = follow(runs[name], stack, 2)
    stream = path.begin
    for layer in path.layers:
        for addition in layer:
            torch.testing.assert_close(addition.before, stream)
            expected = addition.added + (stream if addition.has_skip else 0)
            torch.testing.assert_close(addition.summed, expected)
            stream = addition.after
    assert path.deviation < 1e-5


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("name", ["pre-norm", "post-norm", "no residual"])
def test_the_parts_of_the_heads_add_up_to_what_the_attention_puts_out(
    runs: dict[str, CapturedRun], name: str, stack: Stack
) -> None:
    for layer in follow(runs[name], stack, 3).layers:
        for addition in layer:
            if addition.heads is not None:
                assert addition.heads.bias is not None
                torch.testing.assert_close(addition.heads.parts.sum(0) + addition.heads.bias, addition.added)


@pytest.mark.parametrize("name", CHANGES)
def test_the_path_ends_in_the_logits_of_the_model(runs: dict[str, CapturedRun], name: str) -> None:
    run = runs[name]
    model, trace = run.translator.model, run.trace
    with torch.inference_mode():
        real = model(torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids]))[0]
    for position in range(len(trace.target_ids)):
        path = follow(run, "decoder", position)
        ids = [candidate.token_id for candidate in path.candidates]
        torch.testing.assert_close(torch.tensor(path.logits), real[position, ids], atol=1e-5, rtol=1e-5)
        assert list(path.logits) == sorted(path.logits, reverse=True)


@pytest.mark.parametrize("name", ["pre-norm", "post-norm"])
def test_the_last_layer_of_the_encoder_is_the_memory(runs: dict[str, CapturedRun], name: str) -> None:
    run = runs[name]
    with torch.inference_mode():
        memory = run.translator.model.encode(torch.tensor([run.trace.source_ids]))[0]
    for position, state in enumerate(memory):
        path = follow(run, "encoder", position)
        end = path.layers[-1][-1].after if path.final_norm is None else path.final_norm.after
        torch.testing.assert_close(end, state)


def test_embedding_and_position_make_the_begin(runs: dict[str, CapturedRun]) -> None:
    path = follow(runs["pre-norm"], "encoder", 1)
    assert path.embedding is not None
    assert path.positional is not None
    torch.testing.assert_close(path.embedding + path.positional, path.begin)
    token = runs["pre-norm"].trace.source_ids[1]
    weight = runs["pre-norm"].translator.model.encoder.embedding.tokens.weight[token].detach()
    assert path.scale == pytest.approx(32**0.5)
    torch.testing.assert_close(path.embedding, weight * 32**0.5)
    alone = follow(runs["no positions"], "encoder", 1)
    assert alone.positional is None
    torch.testing.assert_close(alone.embedding, alone.begin)


def test_shares_of_stream_and_addition_are_one(runs: dict[str, CapturedRun]) -> None:
    for layer in follow(runs["post-norm"], "decoder", 1).layers:
        for addition in layer:
            of_stream = float(addition.before @ addition.summed / addition.summed.square().sum())
            assert addition.share + of_stream == pytest.approx(1, abs=1e-5)
            assert -1 <= addition.cosine <= 1


def test_hidden_units_are_those_that_the_relu_lets_through(runs: dict[str, CapturedRun]) -> None:
    (_, feed_forward), *_ = follow(runs["pre-norm"], "encoder", 0).layers
    assert feed_forward.hidden is not None
    assert feed_forward.read is not None
    linear = runs["pre-norm"].translator.model.get_submodule("encoder.layers.0.feed_forward.inner")
    with torch.inference_mode():
        inner = linear(feed_forward.read)
    assert torch.equal(feed_forward.hidden > 0, inner > 0)


def test_a_wrong_part_is_seen_in_the_deviation(runs: dict[str, CapturedRun]) -> None:
    run = runs["post-norm"]
    wrong = dict(run.trace.recorded)
    name = "encoder.layers.1.feed_forward_residual.hook_sublayer"
    wrong[name] = wrong[name] * 1.01
    spoiled = replace(run, trace=replace(run.trace, recorded=wrong))
    assert follow(spoiled, "encoder", 0).deviation > 1e-3


def test_a_position_that_is_not_there_is_said(runs: dict[str, CapturedRun]) -> None:
    with pytest.raises(TraceError, match="there is none at 99"):
        follow(runs["pre-norm"], "encoder", 99)


def test_a_capture_leaves_no_listener_and_the_same_steps(runs: dict[str, CapturedRun]) -> None:
    run = runs["pre-norm"]
    again = run.translator.trace_tokens(run.trace.text, [step.token_id for step in run.trace.steps])
    assert [step.log_prob for step in again.steps] == [step.log_prob for step in run.trace.steps]
    with listen(record={"hook_sum"}) as recorded:
        pass
    assert not recorded

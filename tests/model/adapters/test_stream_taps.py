"""Parts of other people's layers: found by their sums, the same as the library's own hidden states."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
import torch

from model.adapters.stream_taps import tapped, word_vectors
from model.analysis.residual_stream.additions import Stack
from model.analysis.residual_stream.library_path import follow_in_library
from model.errors import TraceError
from tests.model.adapters.conftest import Open
from tests.model.adapters.writers import writer
from tests.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("short_texts")
TEXT = "The animal was too tired."
WRITERS = ["gpt2", "llama", "qwen3", "mistral", "opt", "phi", "gpt_neox", "gemma2", "olmo2", "starcoder2", "t5", "bart"]


def states_of(reader: Any, trace: Any, stack: str) -> list[torch.Tensor]:
    output = reader.run_again(trace, with_states=True)
    states = output.encoder_hidden_states if stack == "encoder" else getattr(output, "decoder_hidden_states", None)
    return [state[0].float() for state in states or output.hidden_states]


@pytest.mark.parametrize("model_type", WRITERS)
def test_stream_and_additions_are_the_hidden_states_of_the_library(model_type: str) -> None:
    reader = writer(model_type)
    trace = reader.trace(TEXT, "It was old.")
    stacks: list[Stack] = ["encoder", "decoder"] if trace.source_tokens else ["decoder"]
    for stack in stacks:
        path, states = follow_in_library(reader, trace, stack, 2), states_of(reader, trace, stack)
        assert path.deviation < 1e-4 <= path.tolerance
        torch.testing.assert_close(path.begin, states[0][2], atol=1e-5, rtol=1e-4)
        # The library's last state is normed, or not, as it likes.
        for layer, state in zip(path.layers[:-1], states[1:-1], strict=True):
            torch.testing.assert_close(layer[-1].after, state[2], atol=1e-4, rtol=1e-4)
        for layer in path.layers:
            assert [part.kind for part in layer][-1] == "feed_forward"
            assert ("cross" in [part.kind for part in layer]) == (stack == "decoder" and bool(trace.source_tokens))


@pytest.mark.parametrize("model_type", ["gpt2", "llama", "t5", "bart"])
def test_the_heads_of_a_library_model_add_up_to_its_attention(model_type: str) -> None:
    reader = writer(model_type)
    path = follow_in_library(reader, reader.trace(TEXT, "It was old."), "decoder", 1)
    for layer in path.layers:
        heads = layer[0].heads
        assert heads is not None
        total = heads.parts.sum(0) if heads.bias is None else heads.parts.sum(0) + heads.bias
        torch.testing.assert_close(total, layer[0].added, atol=1e-5, rtol=1e-4)
        assert layer[-1].hidden is not None


@pytest.mark.parametrize("model_type", ["gpt2", "t5"])
def test_half_precision_adds_up_as_far_as_it_rounds(model_type: str) -> None:
    reader = writer(model_type)
    reader.model.to(torch.bfloat16)
    path = follow_in_library(reader, reader.trace(TEXT, "It was old."), "decoder", 1)
    assert 1e-4 < path.deviation <= path.tolerance


@pytest.mark.parametrize(("model_type", "is_centred"), [("gpt2", True), ("llama", False), ("olmo", True)])
def test_what_is_a_norm_and_takes_the_mean_off_is_seen_in_what_it_does(model_type: str, is_centred: bool) -> None:
    """OLMo's is of a class of its own and has no weights. No name says what is a norm, and one says what is none."""
    reader = writer(model_type)
    for module in reader.model.modules():
        kind = type(module)
        if "Norm" in kind.__name__ or kind is torch.nn.Dropout:
            module.__class__ = type("DropNorm" if kind is torch.nn.Dropout else "Scale", (kind,), {})
    path = follow_in_library(reader, reader.trace(TEXT, "It was old."), "decoder", 1)
    norms = [path.final_norm, *(part.norm for layer in path.layers for part in layer)]
    assert {norm and norm.is_centred for norm in norms} == {is_centred}


def test_an_encoder_has_its_norms_after_the_sums(opened: Open) -> None:
    reader = opened("bert")
    trace = reader.trace(TEXT)
    path = follow_in_library(reader, trace, "encoder", 3)  # type: ignore[arg-type]
    assert all(part.norm is not None and part.norm.after is part.after for layer in path.layers for part in layer)


def test_a_model_that_scales_what_it_adds_is_said_to_be_unknown() -> None:
    reader = writer("granite")
    reader.model.config.residual_multiplier = 0.3  # type: ignore[union-attr]
    for layer in reader.model.base_model.layers:  # type: ignore[union-attr]
        layer.residual_multiplier = 0.3
    with pytest.raises(TraceError, match="is unknown"):
        follow_in_library(reader, reader.trace(TEXT), "decoder", 1)


def test_another_thread_is_not_heard() -> None:
    reader = writer("gpt2")
    trace = reader.trace(TEXT)
    with tapped(reader.model, reader.layout, {"decoder": 0}) as layers:
        other = threading.Thread(target=lambda: reader.run_again(trace))
        other.start()
        other.join()
    assert layers == []


@pytest.mark.parametrize(
    "use",
    [
        lambda reader: tapped(reader.model, reader.layout, {"decoder": None}),
        lambda reader: word_vectors(reader.model, [[1, 2]]),
    ],
    ids=["layers", "embeddings"],
)
def test_a_second_thread_waits_until_all_hooks_are_registered(
    monkeypatch: pytest.MonkeyPatch, use: Callable[[Any], AbstractContextManager[Any]]
) -> None:
    reader = writer("gpt2")
    begun, go_on, order = threading.Event(), threading.Event(), []
    register = torch.nn.Module.register_forward_hook

    def slow(self: torch.nn.Module, *given: Any, **options: Any) -> Any:
        begun.set()
        assert go_on.wait(PATIENCE)
        return register(self, *given, **options)

    def enter(name: str) -> None:
        with use(reader):
            order.append(name)

    monkeypatch.setattr(torch.nn.Module, "register_forward_hook", slow)
    first, second = (threading.Thread(target=enter, args=(name,)) for name in ("first", "second"))
    first.start()
    assert begun.wait(PATIENCE)
    second.start()
    second.join(0.2)
    assert order == []
    go_on.set()
    first.join()
    second.join()
    assert sorted(order) == ["first", "second"]

"""Models of every kind through the same trace: their tokens, sites, steps, edits and errors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from model import MakeUniform, PointAt, SwitchOff
from model.adapters.text_reader import TextReader
from model.analysis.head_description.cells import Place
from model.errors import EditError, InputTextError, TraceError
from model.trace.file import load_trace, save_trace
from model.trace.steps import without_steps
from model.trace.trace import Trace

TEXT = "The animal didn't cross the street because it was too tired."
OUTPUTS = {"hook_head_output"}
HEARD = ("bert", "gpt2", "mistral", "gpt_oss", "gemma2", "marian", "t5", "mbart", "m2m_100")
SITES = {
    "encoder": ("encoder.self",),
    "decoder": ("decoder.self",),
    "encoder-decoder": ("encoder.self", "decoder.self", "decoder.cross"),
}


@pytest.mark.parametrize("model_type", ["bert", "gpt2", "mistral", "t5", "m2m_100", "mpnet"])
def test_a_trace_has_the_sites_tokens_and_shapes_of_its_model(
    opened: Callable[[str], TextReader], model_type: str
) -> None:
    reader = opened(model_type)
    abilities = reader.abilities
    trace = reader.trace(TEXT)
    assert trace.sites == abilities.sites == SITES[abilities.kind]
    assert trace.shapes == abilities.shapes
    assert trace.knows_inputs == abilities.knows_inputs == (model_type in HEARD)
    assert bool(trace.source_ids) == (abilities.kind != "decoder")
    assert bool(trace.target_ids) == abilities.generates == (abilities.kind != "encoder")
    for site in trace.sites:
        queries, keys = trace.axis_tokens(site)
        for layer in range(trace.layers_of(site)):
            assert trace.weights(site, layer).shape == (trace.heads_of(site), len(queries), len(keys))
    assert len(trace.steps) == len(trace.target_ids) == len(trace.predicted_ids)


@pytest.mark.parametrize("model_type", ["gpt2", "marian", "t5", "mbart", "bloom"])
def test_a_trace_without_steps_has_the_same_weights_and_the_same_words_in_its_rows(
    opened: Callable[[str], TextReader], model_type: str
) -> None:
    reader = opened(model_type)
    target = None if reader.abilities.kind == "decoder" else "The animal."
    whole = reader.trace(TEXT, target)
    with without_steps():
        bare = reader.trace(TEXT, target)
    assert whole.steps
    assert not bare.steps
    for site in whole.sites:
        assert Place.of(bare, site).rows == Place.of(whole, site).rows
        for layer in range(whole.layers_of(site)):
            torch.testing.assert_close(bare.weights(site, layer), whole.weights(site, layer))


@pytest.mark.parametrize(
    ("model_type", "at_once", "passes"),
    [
        *((name, 256, 1) for name in ("gpt2", "mistral", "gemma2", "gpt_oss")),
        ("gpt2", 1, 2),
        # Their weights depend on distance.
        *((name, 256, 2) for name in ("bloom", "mpt")),
    ],
)
def test_texts_that_a_decoder_reads_side_by_side_are_as_if_it_read_each_alone(
    opened: Callable[[str], TextReader], monkeypatch: pytest.MonkeyPatch, model_type: str, at_once: int, passes: int
) -> None:
    monkeypatch.setattr("model.adapters.text_reader.TOKENS_AT_ONCE", at_once)
    reader, texts, calls = opened(model_type), (TEXT, " ", "It was."), []
    model: Any = reader.model
    hook = model.base_model.register_forward_hook(lambda *_: calls.append(1))
    with without_steps():
        found = dict(reader.trace_batch([(text, None) for text in texts]))
        hook.remove()
        alone = [reader.trace(text) for text in texts[::2]]
    assert len(calls) == passes
    assert isinstance(found.pop(1), InputTextError)
    for number, one in zip((0, 2), alone, strict=True):
        trace = found[number]
        assert isinstance(trace, Trace)
        assert (trace.key, trace.target_tokens) == (one.key, one.target_tokens)
        for layer in range(one.layers_of("decoder.self")):
            torch.testing.assert_close(trace.weights("decoder.self", layer), one.weights("decoder.self", layer))
            if one.knows_inputs:
                outputs = (each.head_output("decoder.self", layer) for each in (trace, one))
                torch.testing.assert_close(*outputs, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("model_type", ["gpt2", "mbart", "mistral"])
def test_embeddings_and_positions_are_told_where_the_layers_begin_with_their_sum(
    opened: Callable[[str], TextReader], model_type: str
) -> None:
    reader = opened(model_type)
    trace = reader.trace(TEXT)
    assert reader.abilities.has("positional encodings") == (model_type == "gpt2")
    if model_type == "gpt2":
        model: Any = reader.model
        found = reader.parts.beginning(trace, "decoder")
        rows = range(len(trace.target_ids))
        assert torch.equal(found.embedding, model.transformer.wte.weight[list(trace.target_ids)].detach())
        assert torch.equal(found.positional, model.transformer.wpe.weight[list(rows)].detach())
        return
    with pytest.raises(TraceError, match="do not begin with the sum"):
        reader.parts.beginning(trace, "decoder")


def test_a_decoder_computes_the_logits_of_the_one_row_that_is_asked_for(opened: Callable[[str], TextReader]) -> None:
    reader = opened("gpt2")
    model: Any = reader.model
    place = reader.place(TEXT)
    computed: list[torch.Tensor] = []
    handle = model.get_output_embeddings().register_forward_hook(lambda *given: computed.append(given[-1]))
    logits = reader.place_logits(place, 2)
    handle.remove()
    assert computed[0].shape[:2] == (2, 1)
    with torch.inference_mode():
        expected = model(torch.tensor([place.target], device=reader.device)).logits[0, place.row]
    torch.testing.assert_close(logits, expected.expand(2, -1), atol=1e-4, rtol=1e-4)


def test_the_last_word_of_a_text_is_masked_without_the_marks_behind_it(opened: Callable[[str], TextReader]) -> None:
    reader = opened("bert")
    assert reader.asked("It was too tired. ") == "It was too [MASK]. "
    assert reader.asked("a") == "[MASK]"
    assert reader.asked("A [MASK] was tired.") == "A [MASK] was tired."
    for text in ("...", "", " ."):
        with pytest.raises(InputTextError, match="word to mask"):
            reader.asked(text)


@pytest.mark.parametrize("model_type", ["gpt2", "marian"])
def test_what_edits_leave_is_what_the_model_used(opened: Callable[[str], TextReader], model_type: str) -> None:
    reader = opened(model_type)
    decoder = "decoder.self"
    edits = [SwitchOff(decoder, 0, 1), MakeUniform(decoder, 1, 0), PointAt(decoder, 1, 1, key=0, since=2)]
    trace = reader.trace(TEXT, extras=OUTPUTS, edits=edits)
    assert set(trace.edits) == set(edits)
    for layer in range(2):
        assert trace.head_output_deviation(decoder, layer) <= 1e-5
    assert not trace.weights(decoder, 0, [1]).any()
    assert (trace.weights(decoder, 1, [1], slice(2, None))[..., 0] == 1).all()
    rows = trace.weights(decoder, 1, [0])[0]
    torch.testing.assert_close(rows[4, :5], torch.full((5,), 0.2))
    if model_type == "marian":  # what is written under edits is what they make likeliest
        assert trace.predicted_ids == tuple(step.token_id for step in trace.steps)
    plain = reader.trace(TEXT)
    assert not torch.equal(plain.weights(decoder, 1, [1]), trace.weights(decoder, 1, [1]))
    assert not plain.edits


def test_a_model_with_weights_only_says_why_it_cannot_do_the_rest(opened: Callable[[str], TextReader]) -> None:
    reader = opened("bloom")
    trace = reader.trace(TEXT)
    why = reader.abilities.lacks["scores"]
    assert "Bloom" in why
    for refused in (trace.scores, trace.head_output, trace.attention):
        with pytest.raises(TraceError, match="Bloom"):
            refused("decoder.self", 0)
    with pytest.raises(EditError, match="Bloom"):
        reader.trace(TEXT, edits=[SwitchOff("decoder.self", 0, 0)])
    with pytest.raises(TraceError, match="Bloom"):
        reader.trace(TEXT, extras=OUTPUTS)
    with pytest.raises(TraceError, match="only its attention weights"):
        reader.output_projection("decoder.self", 0)
    assert trace.mask("decoder.self", 0)[2].tolist()[:4] == [True, True, True, False]


@pytest.mark.parametrize("model_type", ["bert", "gpt2", "marian"])
def test_texts_that_cannot_be_read_are_refused_in_a_sentence(
    opened: Callable[[str], TextReader], model_type: str
) -> None:
    reader = opened(model_type)
    for text in ("", " \n\t"):
        with pytest.raises(InputTextError, match="empty"):
            reader.trace(text)
    for count in (200, 1_000_000):
        with pytest.raises(InputTextError, match="at most 96 tokens"):
            reader.trace("tired " * count)


@pytest.mark.parametrize("model_type", ["bert", "gpt2", "gemma2", "gpt_oss", "t5", "bloom"])
def test_a_trace_of_every_kind_survives_its_file(
    opened: Callable[[str], TextReader], tmp_path: Path, model_type: str
) -> None:
    trace = opened(model_type).trace(TEXT, "it was" if model_type == "t5" else None)
    save_trace(trace, tmp_path / "trace.npz")
    again = load_trace(tmp_path / "trace.npz")
    for name in ("text", "translation", "source_tokens", "target_tokens", "predicted_ids", "steps", "special_tokens"):
        assert getattr(again, name) == getattr(trace, name)
    assert again.shapes == trace.shapes
    for site in trace.sites:
        for layer in range(trace.layers_of(site)):
            assert torch.equal(again.weights(site, layer), trace.weights(site, layer))
            assert torch.equal(again.mask(site, layer), trace.mask(site, layer))
            if trace.knows_inputs:
                assert torch.equal(again.scores(site, layer), trace.scores(site, layer))

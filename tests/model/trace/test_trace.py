"""What a trace promises: exact weights on demand, for every site, layer and head, and a key that names the run."""

import pytest
import torch

from model import PointAt, SwitchOff, Translator
from model.errors import InputTextError, TraceError
from model.trace.trace import Trace
from tests.conftest import SENTENCES

TEXT = SENTENCES[2]
SITES = ("encoder.self", "decoder.self", "decoder.cross")


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace(TEXT, extras={"hook_head_output"})


def test_tokens_of_both_sides_have_their_special_tokens_in_place(translator: Translator, trace: Trace) -> None:
    assert trace.source_tokens[-1] == "</s>"
    assert trace.target_tokens[0] == "<s>"
    assert trace.predicted_tokens[:-1] == trace.target_tokens[1:]
    assert len(trace.predicted_tokens) == len(trace.target_tokens) == len(trace.steps)
    assert trace.source_ids[-1] == translator.config.eos_id
    assert translator.tokenizer.decode(trace.source_ids) == TEXT
    assert trace.translation == translator.translate(TEXT)


def test_sinks_are_special_tokens_punctuation_and_a_decoders_first_token(translator: Translator) -> None:
    trace = translator.trace("Tom told me, that he, she read.", "Er sagte: das.")
    for site in SITES:
        tokens = trace.axis_tokens(site)[1]
        left = [token for at, token in enumerate(tokens) if at not in trace.sinks(site)]
        assert left
        assert all(token == "▁" or any(map(str.isalnum, token)) for token in left)
        assert not {"<s>", "</s>"} & set(left)
        assert all(not any(map(str.isalnum, tokens[at].strip("<s/>"))) for at in trace.sinks(site))
        keys = trace.axes(site, sinks=False)[1]
        assert [at for group in keys.groups for at in group] == [at for at in range(len(tokens)) if tokens[at] in left]
    # A word that loses its punctuation is spelled without it.
    words = trace.axes("encoder.self", whole_words=True, sinks=False)[1].labels
    assert words == ("Tom", "told", "me", "that", "he", "she", "read")


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("layer", [0, 1])
def test_weights_at_value_equal_the_heads_real_output(trace: Trace, site: str, layer: int) -> None:
    weights, inputs = trace.weights(site, layer), trace.attention(site, layer)
    real = trace.recorded[f"{site.split('.')[0]}.layers.{layer}.{site.split('.')[1]}_attention.hook_head_output"]
    torch.testing.assert_close(weights @ inputs.value, real, atol=1e-5, rtol=0)
    assert trace.head_output_deviation(site, layer) <= 1e-5


def test_decoder_self_attention_is_causal_and_the_others_see_everything(trace: Trace) -> None:
    n = len(trace.target_tokens)
    assert torch.equal(trace.mask("decoder.self", 0), torch.ones(n, n, dtype=torch.bool).tril())
    assert trace.mask("encoder.self", 0).all()
    assert trace.mask("decoder.cross", 1).all()


def test_heads_and_rows_asked_for_equal_those_of_the_whole(trace: Trace) -> None:
    whole = trace.weights("decoder.cross", 1)
    torch.testing.assert_close(trace.weights("decoder.cross", 1, [3, 0], [2]), whole[[3, 0]][:, [2]])
    torch.testing.assert_close(trace.weights("decoder.cross", 1, rows=slice(1, 3)), whole[:, 1:3])
    assert trace.head_output("decoder.cross", 1, [2], [0, 1]).shape == (1, 2, 8)


def test_a_given_target_is_read_along(translator: Translator) -> None:
    trace = translator.trace(TEXT, target="Ein Mann mit Hund.")
    assert trace.translation == "Ein Mann mit Hund."
    assert translator.tokenizer.decode(trace.target_ids) == "Ein Mann mit Hund."
    assert [step.token for step in trace.steps] == [*trace.target_tokens[1:], "</s>"]
    for step, predicted in zip(trace.steps, trace.predicted_ids, strict=True):
        assert step.candidates[0].token_id == predicted
        assert step.log_prob <= step.candidates[0].log_prob


def test_what_a_trace_does_not_hold_is_said(trace: Trace, translator: Translator) -> None:
    with pytest.raises(TraceError, match=r"only encoder\.self"):
        trace.weights("encoder.cross", 0)
    with pytest.raises(TraceError, match="from 0 to 1, got 2"):
        trace.weights("encoder.self", 2)
    with pytest.raises(TraceError, match="Heads run from 0 to 3"):
        trace.weights("encoder.self", 0, [4])
    with pytest.raises(TraceError, match="extras"):
        translator.trace("Tom.").head_output_deviation("encoder.self", 0)


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b\u200b"])
def test_blank_text_is_refused(translator: Translator, text: str) -> None:
    with pytest.raises(InputTextError):
        translator.trace(text)


@pytest.mark.parametrize("text", ["word " * 2_000, "x" * 10_000_000])
def test_too_long_text_is_refused_with_the_limit(translator: Translator, text: str) -> None:
    with pytest.raises(InputTextError, match="at most 63 tokens"):
        translator.translate(text)


@pytest.mark.parametrize(
    "text", ["🦊🦊", "שלום עולם", "a\u0000b\u0007c", "<script>alert(1)</script>", "</s><s><pad>", "\ud800", "ﬁﬀ ①"]
)
def test_any_other_text_gives_a_whole_trace(translator: Translator, text: str) -> None:
    trace = translator.trace(text)
    assert trace.source_tokens.count("</s>") == 1
    assert "<unk>" not in trace.source_tokens
    assert trace.weights("encoder.self", 0).isfinite().all()


FIRST = SENTENCES[0]


@pytest.mark.parametrize(
    "given",
    [
        {"target": "Tom."},
        {"edits": [SwitchOff("decoder.cross", 0, 1)]},
        {"edits": [SwitchOff("decoder.cross", 0, 1, since=1)]},
        {"edits": [PointAt("encoder.self", 0, 1, 0)]},
        {"extras": {"hook_head_output"}},
    ],
)
def test_another_target_edit_or_extra_is_another_key(translator: Translator, given: dict[str, object]) -> None:
    text = translator.trace(FIRST)
    assert translator.trace(FIRST, **given).key != text.key  # type: ignore[arg-type]


def test_another_text_and_another_model_are_other_keys(translator: Translator) -> None:
    trace = translator.trace(FIRST)
    other = Translator(translator.model, translator.tokenizer, digest="other")
    assert len({trace.key, translator.trace(FIRST + " ").key, other.trace(FIRST).key}) == 3


def test_functions_that_nobody_can_name_make_every_run_its_own(translator: Translator) -> None:
    edits = {"encoder.layers.0.hook_output": torch.zeros_like}
    assert translator.trace(FIRST, edits=edits).key != translator.trace(FIRST, edits=edits).key

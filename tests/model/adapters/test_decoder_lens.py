"""The logit lens of a decoder: each level is norm and projection of its layer."""

from typing import Any

import pytest
import torch

from model.adapters.text_writer import TextWriter
from model.errors import TraceError
from tests.model.adapters.writers import writer

pytestmark = pytest.mark.usefixtures("short_texts")

TEXT = "The animal was too tired."


#: BioGPT's and CTRL's last norms have names of their own; OLMo's has no parameters.
FAMILIES = ["gpt2", "opt", "phi", "granite", "gemma2", "biogpt", "ctrl", "olmo"]


@pytest.mark.parametrize("model_type", FAMILIES)
def test_the_last_level_of_the_lens_is_what_the_model_says(model_type: str) -> None:
    reader = writer(model_type)
    trace = reader.trace(TEXT)
    lens = reader.logit_lens(trace, top=3)
    assert len(lens.token_ids) == reader.abilities.shapes["decoder.self"][0] + 1
    assert tuple(lens.token_ids[-1, :, 0].tolist()) == trace.predicted_ids
    chances = torch.tensor([step.log_prob for step in trace.steps]).exp()
    torch.testing.assert_close(lens.chosen_probabilities[-1], chances, atol=1e-5, rtol=1e-3)
    with pytest.raises(TraceError, match="got 0"):
        reader.logit_lens(trace, top=0)


def test_a_level_of_the_lens_is_norm_and_projection_of_that_layer(writers: dict[str, TextWriter]) -> None:
    reader = writers["gpt2"]
    trace = reader.trace(TEXT)
    model: Any = reader.model
    with torch.inference_mode():
        out = model(torch.tensor([trace.target_ids]), output_hidden_states=True)
        expected = (model.transformer.ln_f(out.hidden_states[1][0]) @ model.lm_head.weight.T).softmax(-1)
    lens = reader.logit_lens(trace, top=400)
    torch.testing.assert_close(lens.probabilities[1], expected.sort(-1, descending=True).values, atol=1e-5, rtol=1e-3)


def test_the_lens_of_an_encoder_decoder_is_said_to_be_missing(writers: dict[str, TextWriter]) -> None:
    reader = writers["t5"]
    assert "decoder-only" in reader.abilities.lacks["logit lens"]
    with pytest.raises(TraceError, match="decoder-only"):
        reader.logit_lens(reader.trace(TEXT))

"""ALTI: the parts add up to what each attention put out, and shares are those of the equation."""

import pytest
import torch
from torch import nn

from model import Trace, Translator
from model.analysis.attribution.methods import contributions
from model.analysis.attribution.runs import attention_sum
from model.analysis.residual_stream.capture import CapturedRun, Sublayer, capture

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
    torch.testing.assert_close(
        attention_sum(captured, sublayer).parts.sum(1) + bias, captured.after(sublayer), atol=1e-4, rtol=1e-4
    )


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

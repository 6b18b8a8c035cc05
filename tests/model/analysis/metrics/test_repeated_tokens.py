"""The metrics of induction heads: by plain loops, on heads that are made to do one thing."""

import pytest
import torch
from torch import nn
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.llama.modeling_llama import LlamaRMSNorm

from model.adapters.norms import norm_behind
from model.analysis.metrics import repeated_tokens as metrics
from model.analysis.metrics.repeated_tokens import (
    COPIES,
    SITE,
    TOKENS,
    common_tokens,
    copies_of,
    copying,
    patterns,
    repeated_tokens,
)
from model.errors import DataError
from tests.model.adapters.zoo import writer


def test_what_counts_in_a_row_is_what_the_definitions_say() -> None:
    tokens = torch.tensor([7, 8, 9, 7, 8, 9, 9])
    found = {name: mask.nonzero().tolist() for name, mask in patterns(tokens).items()}
    rows = range(len(tokens))
    assert found["prefix_matching"] == [
        [i, j] for i in rows for j in rows if 1 <= j <= i and tokens[j - 1] == tokens[i]
    ]
    assert found["duplicate"] == [[i, j] for i in rows for j in rows if j < i and tokens[j] == tokens[i]]
    assert found["repeat_previous"] == [[i, i - 1] for i in rows if i]


def test_a_head_that_writes_a_tokens_own_vector_copies_and_its_opposite_speaks_against_it() -> None:
    torch.manual_seed(0)
    unembed = torch.nn.functional.normalize(torch.randn(40, 16), dim=1)
    tokens = torch.tensor([3, 17, 30])
    written = torch.stack([unembed[tokens], -unembed[tokens], torch.zeros(3, 16)])
    assert copying(written, unembed, tokens).tolist() == pytest.approx([1.0, 0.0, 0.5])


class Renamed(GemmaRMSNorm):
    """Holds what is added to 1, and no name says so."""


@pytest.mark.parametrize(
    ("norm", "is_added", "centres"),
    [
        (nn.LayerNorm(8), 0.0, True),
        (nn.RMSNorm(8, eps=1e-6), 0.0, False),
        (LlamaRMSNorm(8), 0.0, False),
        (GemmaRMSNorm(8), 1.0, False),
        (Renamed(8), 1.0, False),
    ],
)
def test_what_a_norm_multiplies_by_is_seen_in_what_it_does(norm: nn.Module, is_added: float, centres: bool) -> None:
    weight = norm.get_parameter("weight")
    with torch.no_grad():
        weight.copy_(torch.randn(8, generator=torch.Generator().manual_seed(4)))
        if isinstance(norm, nn.LayerNorm):
            norm.bias.copy_(torch.arange(8.0))
    found = norm_behind(norm, 8, torch.device("cpu"))
    assert torch.allclose(found.gain, weight + is_added, atol=1e-4)
    assert found.is_centred is centres
    rows = torch.randn(5, 8, generator=torch.Generator().manual_seed(5)) * 3 + 1
    with torch.no_grad():
        torch.testing.assert_close(found(rows), norm(rows), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("model_type", ["gpt2", "llama", "mistral"])
def test_every_head_has_its_metrics_by_plain_loops(model_type: str) -> None:
    reader = writer(model_type)
    copies, known = copies_of(reader), common_tokens(reader)
    assert copies == min(COPIES, 96 // TOKENS)
    assert not reader.special_ids & set(known.tolist())
    ids = known[torch.randperm(len(known), generator=torch.Generator().manual_seed(7))[:TOKENS]].tolist() * copies
    found = repeated_tokens(reader, draws=1, seed=7)
    trace = reader.trace_rows("", ids, ())
    weights = torch.cat([trace.weights(SITE, layer) for layer in range(2)])
    totals = {name: torch.zeros(8) for name in ("prefix_matching", "duplicate", "repeat_previous")}
    for i in range(TOKENS, len(ids)):
        totals["repeat_previous"] += weights[:, i, i - 1]
        for j in range(i):
            if ids[j] == ids[i]:
                totals["duplicate"] += weights[:, i, j]
                totals["prefix_matching"] += weights[:, i, j + 1]
    for name, total in totals.items():
        torch.testing.assert_close(found[name], total / (len(ids) - TOKENS), atol=1e-5, rtol=1e-4)
    if model_type == "gpt2":
        # Copying is what the library says of a stream with the head's vector alone; the norm's bias is no head's.
        values = trace.inputs[SITE][1].values()[2, :TOKENS]
        weight = reader.model.get_parameter("transformer.h.1.attn.c_proj.weight").detach()
        norm, head = reader.model.get_submodule("transformer.ln_f"), reader.model.get_submodule("lm_head")
        with torch.inference_mode():
            stream = values @ weight[2 * 8 : 3 * 8]
            logits = head(norm(1e4 * stream)) - head(norm(torch.zeros_like(stream)))
        below = [(logits[at] < logits[at, ids[at]]).float().sum() / (logits.size(1) - 1) for at in range(TOKENS)]
        assert float(found["copying"][4 + 2]) == pytest.approx(float(torch.stack(below).mean()), abs=2e-3)


def test_what_is_no_decoder_alone_or_reads_too_little_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="a decoder-only model"):
        repeated_tokens(writer("t5"))
    assert not metrics.can_be_asked(writer("t5"))
    reader = writer("gpt2")
    # Twice 48 tokens are as many positions as it has.
    monkeypatch.setattr(metrics, "TOKENS", 48)
    assert (metrics.can_be_asked(reader), copies_of(reader)) == (True, 2)
    monkeypatch.setattr(metrics, "TOKENS", 49)
    assert not metrics.can_be_asked(reader)
    with pytest.raises(DataError, match="need 98 positions; this model has 96"):
        repeated_tokens(reader)

"""The metrics of induction heads: by plain loops, on heads that are made to do one thing."""

import pytest
import torch
from torch import nn
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.llama.modeling_llama import LlamaRMSNorm

from model.adapters.decoder_lens import norm_of
from model.adapters.text_reader import TextReader
from model.analysis.metrics import repeated_tokens as metrics
from model.analysis.metrics.repeated_tokens import COPIES, SITE, TOKENS, copying, patterns, repeated_tokens
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


@pytest.mark.parametrize("model_type", ["gpt2", "llama", "mistral"])
def test_every_head_has_its_metrics_by_plain_loops(model_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = writer(model_type)
    read: list[list[int]] = []
    original = TextReader.trace_rows

    def trace_rows(self: TextReader, text: str, ids: list[int], emitted: tuple[int, ...]) -> object:
        read.append(list(ids))
        return original(self, text, ids, emitted)

    monkeypatch.setattr(TextReader, "trace_rows", trace_rows)
    found = repeated_tokens(reader, draws=2)
    copies = metrics.copies_of(reader)
    assert copies == min(COPIES, 96 // TOKENS)
    assert all(ids == ids[:TOKENS] * copies and len(set(ids)) == TOKENS for ids in read)
    assert not reader.special_ids & {token for ids in read for token in ids}
    monkeypatch.undo()
    totals = {"prefix_matching": torch.zeros(8), "duplicate": torch.zeros(8), "repeat_previous": torch.zeros(8)}
    for ids in read:
        trace = reader.trace_rows("", ids, ())
        weights = torch.cat([trace.weights(SITE, layer) for layer in range(2)])
        for i in range(TOKENS, len(ids)):
            totals["repeat_previous"] += weights[:, i, i - 1]
            for j in range(i):
                if ids[j] == ids[i]:
                    totals["duplicate"] += weights[:, i, j]
                if j + 1 <= i and ids[j] == ids[i]:
                    totals["prefix_matching"] += weights[:, i, j + 1]
    for name, total in totals.items():
        torch.testing.assert_close(found[name], total / (2 * (len(read[0]) - TOKENS)), atol=1e-5, rtol=1e-4)
    assert found["copying"].shape == (8,)
    assert ((found["copying"] >= 0) & (found["copying"] <= 1)).all()


def test_copying_is_what_the_library_says_of_a_stream_with_the_heads_vector_alone() -> None:
    reader = writer("gpt2")
    once = torch.arange(10, 10 + TOKENS)
    found = metrics._of_tokens(reader, once.repeat(2))["copying"]
    trace = reader.trace_rows("", once.repeat(2).tolist(), ())
    values = trace.inputs[SITE][1].values()[2, :TOKENS]
    weight = reader.model.get_parameter("transformer.h.1.attn.c_proj.weight").detach()
    stream = values @ weight[2 * 8 : 3 * 8]
    norm, head = reader.model.get_submodule("transformer.ln_f"), reader.model.get_submodule("lm_head")
    with torch.inference_mode():
        # A constant that is the same for every token is the norm's bias, which the head does not write.
        logits = head(norm(1e4 * stream)) - head(norm(torch.zeros_like(stream)))
    below = [(logits[at] < logits[at, token]).float().sum() / (logits.size(1) - 1) for at, token in enumerate(once)]
    assert float(found[4 + 2]) == pytest.approx(float(torch.stack(below).mean()), abs=2e-3)


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
    found, is_centred = norm_of(norm, 8, torch.device("cpu"))
    assert torch.allclose(found, weight + is_added, atol=1e-4)
    assert is_centred is centres


def test_what_is_no_decoder_alone_or_reads_too_little_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="a decoder-only model"):
        repeated_tokens(writer("t5"))
    assert not metrics.can_be_asked(writer("t5"))
    reader = writer("gpt2")
    # Twice 48 tokens are as many positions as it has; a text may be of all the tokens that there are.
    monkeypatch.setattr(metrics, "TOKENS", 48)
    assert metrics.can_be_asked(reader)
    monkeypatch.setattr(metrics, "common_tokens", lambda reader: torch.arange(5, 5 + 48))
    assert metrics.copies_of(reader) == 2
    assert repeated_tokens(reader, draws=1)["duplicate"].shape == (8,)
    monkeypatch.setattr(metrics, "common_tokens", lambda reader: torch.arange(5, 5 + 47))
    with pytest.raises(DataError, match="48 different tokens in our own texts, got 47"):
        repeated_tokens(reader, draws=1)
    monkeypatch.setattr(metrics, "TOKENS", 60)
    assert not metrics.can_be_asked(reader)
    with pytest.raises(DataError, match="need 120 positions; this model has 96"):
        repeated_tokens(reader)

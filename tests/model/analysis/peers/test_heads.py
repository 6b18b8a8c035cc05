"""Metrics of a decoder's heads are those that TransformerLens's own activations give."""

from typing import Final

import pytest
import torch
from torch import Tensor

from model.adapters.text_reader import TextReader
from model.analysis.metrics.repeated_tokens import TOKENS, repeated_tokens
from tests.model.analysis.peers.conftest import SHARE, WHY_SKIPPED, Both

pytest.importorskip("transformer_lens", reason=WHY_SKIPPED)

#: Of copying scores, which go from −1 or 0 to 1: two logits closer than float32 tells may change places, and move the
#: rank of one of 25 tokens by one place of 256 or more.
RANK: Final = 1e-3


def test_the_metrics_of_repeated_tokens_are_those_of_its_cached_activations(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[list[int]] = []
    original = TextReader.trace_rows

    def trace_rows(self: TextReader, text: str, ids: list[int], emitted: tuple[int, ...]) -> object:
        read.append(list(ids))
        return original(self, text, ids, emitted)

    monkeypatch.setattr(TextReader, "trace_rows", trace_rows)
    ours = repeated_tokens(both.reader, draws=2, seed=7)
    theirs = [cached_metrics(both, ids) for ids in read]
    assert len(theirs) == 2
    for name, tolerance in (("prefix_matching", SHARE), ("copying", RANK)):
        expected = torch.stack([of_draw[name] for of_draw in theirs]).mean(0)
        torch.testing.assert_close(ours[name], expected, atol=tolerance, rtol=0, msg=name)


def cached_metrics(both: Both, ids: list[int]) -> dict[str, Tensor]:
    """Both metrics of every head by plain loops, from what TransformerLens caches and its matrices."""
    cache = both.bridge.run_with_cache(torch.tensor([ids]), remove_batch_dim=True)[1]
    unembed = read_off(both)
    matching, copying = [], []
    for _, layer, head in both.heads:
        weights = cache["pattern", layer][head].tolist()
        rows = range(TOKENS, len(ids))
        of_rows = [sum(weights[i][j] for j in range(1, i + 1) if ids[j - 1] == ids[i]) for i in rows]
        matching.append(sum(of_rows) / len(of_rows))
        logits = cache["v", layer][:TOKENS, head] @ both.bridge.W_O[layer, head] @ unembed
        below = [int((row < row[token]).sum()) for row, token in zip(logits, ids, strict=False)]
        copying.append(sum(below) / TOKENS / (logits.size(1) - 1))
    return {"prefix_matching": torch.tensor(matching), "copying": torch.tensor(copying)}


def read_off(both: Both) -> Tensor:
    """W_U behind the last norm but its divisor [d_model, vocab]."""
    scaled: Tensor = both.bridge.ln_final.weight[:, None] * both.bridge.W_U
    return scaled - scaled.mean(0) if both.bridge.cfg.normalization_type == "LN" else scaled

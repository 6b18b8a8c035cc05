"""Two models with the same heads over a corpus: which head moved, by how much, and what it is for now."""

from pathlib import Path
from typing import Any

import numpy as np
import peft
import pytest
import torch
import transformers

from model.analysis.corpus import CorpusSentence
from model.analysis.metrics.head_metrics import HeadName
from model.analysis.moved_heads import MovedHeads, moved_heads
from model.analysis.two_models import cross_divergences, matched, matched_rows
from model.errors import DataError
from model.opening import open_reader
from tests.conftest import SENTENCES
from tests.model.adapters.zoo import random_reader, save_model, save_tokenizer, tiny, writer
from tests.recomputed import head_weights

SITE = "decoder.self"
TEXTS = [
    CorpusSentence(text) for text in ("The animal was tired.", *SENTENCES[:8], " ", "Tom told me that she read it.")
]
#: Layers and heads, which differ, and the width of a head.
LAYERS, HEADS, WIDTH = 3, 4, 8


def planted(layer: int, head: int) -> tuple[Any, Any]:
    """The random GPT-2 of the zoo, and the same in which the queries of one head point elsewhere."""
    first, second = writer("gpt2"), writer("gpt2")
    second.pieces = first.pieces  # a tokenizer that is learned again has other tokens
    part = slice(head * WIDTH, (head + 1) * WIDTH)
    with torch.no_grad():
        model: Any = second.model
        model.transformer.h[layer].attn.c_attn.weight[:, part] *= -1.5
    return first, second


@pytest.mark.parametrize(("layer", "head"), [(0, 2), (1, 1)])
def test_a_change_planted_in_one_head_is_ranked_first(layer: int, head: int) -> None:
    found = moved_heads(*planted(layer, head), TEXTS)
    assert found.heads[found.ranked()[0]] == HeadName(SITE, layer, head)
    # Nothing before it moved.
    before = [at for at, name in enumerate(found.heads) if name.layer <= layer and name[1:] != (layer, head)]
    assert float(np.abs(found.distances[before]).max(initial=0)) < 1e-6
    low, high = found.ends[found.ranked()[0]]
    assert 0 < low < found.distances[found.ranked()[0]] < high


def test_a_distance_is_the_mean_over_rows_with_a_choice_and_a_likelihood_that_of_the_text() -> None:
    first, second = planted(0, 3)
    found = moved_heads(first, second, TEXTS)
    totals, rows, gains, tokens = torch.zeros(len(found.heads)), 0, [], 0
    for text in [sentence.text for sentence in TEXTS if sentence.text.strip()]:
        traces = [reader.trace(text) for reader in (first, second)]
        for at, name in enumerate(found.heads):
            own, other = (torch.from_numpy(head_weights(trace, SITE, name.layer)[name.head]) for trace in traces)
            totals[at] += float(cross_divergences(own[None, 1:], other[None, 1:]))
        rows += len(traces[0].target_tokens) - 1
        ids = torch.tensor([traces[0].target_ids])
        sums = []
        for reader in (first, second):
            with torch.no_grad():
                chosen = reader.model(ids).logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])
            sums.append(float(chosen.sum()))
            tokens += len(chosen)
        gains.append(sums)
    assert (found.rows[SITE], found.skipped, found.by_words) == (rows, 1, 0)
    np.testing.assert_allclose(found.distances, totals / rows, atol=1e-5)
    np.testing.assert_allclose(found.likelihoods, gains, rtol=1e-4)
    assert found.gain is not None
    assert found.gain.value == pytest.approx(sum(b - a for a, b in gains) / (tokens / 2), rel=1e-3)
    # Metrics are of the same runs.
    assert found.atlases[0].sentences == len(gains)
    assert found.atlases[0].metrics["entropy"][1, 0, 3] != found.atlases[1].metrics["entropy"][1, 0, 3]


def test_chunks_change_nothing_and_of_many_texts_evenly_spread_ones_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = planted(1, 0)
    whole = moved_heads(first, second, TEXTS)
    monkeypatch.setattr("model.over_corpus.TEXTS_AT_ONCE", 3)
    monkeypatch.setattr("model.analysis.moved_heads.READ_AT_ONCE", 2)
    monkeypatch.setattr("model.analysis.moved_heads.MOST_TEXTS", 4)
    done: list[int] = []
    cut = moved_heads(first, second, TEXTS, done.append)
    assert sum(done) == len(TEXTS)
    for name in ("distances", "ends"):
        np.testing.assert_allclose(getattr(cut, name), getattr(whole, name), atol=1e-6)
    np.testing.assert_allclose(cut.atlases[1].metrics["entropy"], whole.atlases[1].metrics["entropy"], atol=1e-6)
    kept = [sentence.text for number, sentence in enumerate(TEXTS) if number % 4 == 0]
    assert cut.texts == tuple(kept)
    np.testing.assert_allclose(cut.of_texts, whole.of_texts[[whole.texts.index(text) for text in kept]], atol=1e-6)
    chosen = whole.of_texts[whole.deciles(2), 2]
    assert list(chosen) == sorted(chosen)
    assert len(chosen) == len(whole.texts)


@pytest.mark.parametrize(("most", "every"), [(len(TEXTS) - 1, 2), (len(TEXTS), 1)])
def test_of_one_text_more_than_may_be_kept_every_other_one_is(
    monkeypatch: pytest.MonkeyPatch, most: int, every: int
) -> None:
    monkeypatch.setattr("model.over_corpus.TEXTS_AT_ONCE", 3)
    monkeypatch.setattr("model.analysis.moved_heads.MOST_TEXTS", most)
    kept = tuple(each.text for each in TEXTS[::every] if each.text.strip())
    assert moved_heads(*planted(1, 0), TEXTS).texts == kept


def test_other_tokens_are_compared_by_words_and_other_heads_not_at_all(tmp_path: Path) -> None:
    for name, tokenizer in (("first", "metaspace"), ("second", "bytes")):
        save_model(tmp_path / name, "gpt2", tokenizer)
    first, second = (open_reader(tmp_path / name, device="cpu") for name in ("first", "second"))
    found = moved_heads(first, second, TEXTS[:3])
    assert found.by_words == 3
    total, rows = torch.zeros(len(found.heads)), 0
    for sentence in TEXTS[:3]:
        traces = first.trace(sentence.text), second.trace(sentence.text)
        queries, keys = matched(*traces, (SITE, SITE))
        weights = [matched_rows(trace, SITE, queries[at], keys[at]) for at, trace in enumerate(traces)]
        total += cross_divergences(*weights).diagonal()
        rows += len(queries.first)
    np.testing.assert_allclose(found.distances, total / rows, atol=1e-6)
    with pytest.raises(DataError, match="have the same heads, such as one before and after fine-tuning"):
        moved_heads(first, random_reader("bert"), TEXTS)


def fine_tuned(folder: Path, layer: int, head: int) -> None:
    """A random GPT-2 at "base", and at "adapter" a LoRA of a few steps that could change one head's queries alone."""
    changes = {"n_layer": LAYERS, "n_head": HEADS}
    tiny("gpt2", changes=changes).save_pretrained(folder / "base")
    save_tokenizer(folder / "base", "bytes")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "base")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder / "base")
    modules = [f"transformer.h.{layer}.attn.c_attn"]
    torch.manual_seed(3)
    wrapped: Any = peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=modules, fan_in_fan_out=True))
    (adapted,) = (parameter for name, parameter in wrapped.named_parameters() if "lora_B" in name)
    allowed = torch.zeros_like(adapted)
    allowed[head * WIDTH : (head + 1) * WIDTH] = 1
    adapted.register_hook(lambda gradient: gradient * allowed)
    optimizer = torch.optim.Adam([parameter for parameter in wrapped.parameters() if parameter.requires_grad], lr=0.05)
    for _step in range(8):
        for sentence in TEXTS[:4]:
            ids = tokenizer(sentence.text, return_tensors="pt").input_ids
            optimizer.zero_grad()
            wrapped(input_ids=ids, labels=ids).loss.backward()
            optimizer.step()
    wrapped.save_pretrained(str(folder / "adapter"))


def test_a_head_that_a_lora_of_a_few_steps_moved_is_among_the_first_three(tmp_path: Path) -> None:
    fine_tuned(tmp_path, 1, 2)
    readers = [open_reader(tmp_path / name, device="cpu") for name in ("base", "adapter")]
    found: MovedHeads = moved_heads(readers[0], readers[1], TEXTS)
    assert len(found.heads) == LAYERS * HEADS
    assert HeadName(SITE, 1, 2) in [found.heads[at] for at in found.ranked()[:3]]
    assert found.gain is not None
    assert found.gain.value > 0  # it read some of these texts in its training

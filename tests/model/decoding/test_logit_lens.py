"""The logit lens follows the edits of its run; what is kept of a step's distribution."""

from dataclasses import replace

import pytest
import torch

from model import Transformer, TransformerConfig, Translator
from model.decoding.logit_lens import spread
from model.errors import TraceError
from model.nn.edits import SwitchOff
from model.tokenizer import Tokenizer
from model.trace.steps import best_and_bins
from tests.conftest import SENTENCES

TEXT = SENTENCES[0]


def test_under_an_edit_the_lens_shows_the_edited_run(translator: Translator) -> None:
    edits = [SwitchOff("decoder.cross", 0, 1)]
    plain, edited = (translator.trace(TEXT, "Das Tier.", edits=e) for e in ((), edits))
    before, after = (translator.logit_lens(trace).chosen_probabilities for trace in (plain, edited))
    torch.testing.assert_close(after[0], before[0])
    assert not torch.allclose(after[1], before[1], atol=1e-6, rtol=0)


def test_a_trace_of_another_model_and_a_wrong_number_are_refused(
    translator: Translator, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    trace = translator.trace("Tom.", "Tom.")
    wide = Translator(Transformer(replace(config, d_model=64)), tokenizer)
    deep = Translator(Transformer(replace(config, num_layers=3)), tokenizer)
    for other in (wide, deep):
        with pytest.raises(TraceError, match="not made by this model"):
            other.logit_lens(trace)
    steps = tuple(replace(step, token_id=config.vocab_size) for step in trace.steps)
    with pytest.raises(TraceError, match="not from this vocabulary"):
        translator.logit_lens(replace(trace, steps=steps))
    assert translator.logit_lens(trace, 1)
    for top in (0, config.vocab_size + 1):
        with pytest.raises(TraceError, match=f"1 to {config.vocab_size} tokens, got {top}"):
            translator.logit_lens(trace, top)


@pytest.fixture(scope="module")
def log_probs() -> torch.Tensor:
    torch.manual_seed(3)
    return (torch.randn(5, 4_000) * torch.tensor([0.01, 0.5, 1.0, 3.0, 12.0])[:, None]).log_softmax(-1)


@pytest.mark.parametrize("temperature", [0.1, 0.5, 1.0, 5.0])
def test_bins_hold_the_mass_of_their_tokens_at_any_temperature(log_probs: torch.Tensor, temperature: float) -> None:
    best, counts, centres = best_and_bins(log_probs)
    scaled = [(part / temperature).double().exp() for part in (log_probs, best, centres)]
    whole, kept = scaled[0].sum(-1), scaled[1].sum(-1) + (counts * scaled[2]).sum(-1)
    assert ((kept - whole).abs() / whole).max() < 1e-3


@pytest.mark.parametrize("edits", [(), (SwitchOff("decoder.cross", layer=1, head=2),)], ids=["greedy", "edited"])
def test_a_trace_gives_the_distributions_of_its_own_run(translator: Translator, edits: tuple[SwitchOff, ...]) -> None:
    trace = translator.trace(TEXT, edits=edits)
    found = spread(trace, translator.model)
    for row, step in zip(found.best, trace.steps, strict=True):
        assert row[:20].tolist() == pytest.approx([one.log_prob for one in step.candidates], abs=1e-5)


def test_ranks_are_those_of_the_tokens_that_were_written(translator: Translator) -> None:
    session = translator.decode(TEXT)
    first = session.step()
    session.back()
    session.force(first.candidates[6].token_id)
    session.step()
    assert spread(session.trace(), translator.model).chosen_ranks.tolist() == [7, 1]

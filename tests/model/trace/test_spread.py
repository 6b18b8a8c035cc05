"""What is kept of a step's distribution: the best as they are, and of the others every token and its probability."""

import pytest
import torch

from model import TransformerConfig, Translator
from model.decoding.logit_lens import spread
from model.errors import TraceError
from model.nn.edits import SwitchOff
from model.trace.steps import NUM_BEST, best_and_bins
from tests.conftest import SENTENCES

TEXT = SENTENCES[0]


@pytest.fixture(scope="module")
def log_probs() -> torch.Tensor:
    torch.manual_seed(3)
    return (torch.randn(5, 4_000) * torch.tensor([0.01, 0.5, 1.0, 3.0, 12.0])[:, None]).log_softmax(-1)


def test_the_best_are_kept_as_they_are(log_probs: torch.Tensor) -> None:
    best, _, _ = best_and_bins(log_probs)
    assert torch.equal(best, log_probs.topk(NUM_BEST).values)


def test_every_other_token_lies_in_one_bin(log_probs: torch.Tensor) -> None:
    _, counts, _ = best_and_bins(log_probs)
    assert counts.sum(-1).tolist() == [4_000 - NUM_BEST] * 5


@pytest.mark.parametrize("temperature", [0.1, 0.5, 1.0, 5.0])
def test_bins_hold_the_mass_of_their_tokens_at_any_temperature(log_probs: torch.Tensor, temperature: float) -> None:
    best, counts, centres = best_and_bins(log_probs)
    scaled = [(part / temperature).double().exp() for part in (log_probs, best, centres)]
    whole, kept = scaled[0].sum(-1), scaled[1].sum(-1) + (counts * scaled[2]).sum(-1)
    assert ((kept - whole).abs() / whole).max() < 1e-3


def test_centres_fall_from_bin_to_bin(log_probs: torch.Tensor) -> None:
    _, counts, centres = best_and_bins(log_probs)
    for row, used in zip(centres, counts > 0, strict=True):
        assert (row[used].diff() < 0).all()


def test_what_cannot_be_written_lies_in_no_bin() -> None:
    logits = torch.zeros(1, 1_000)
    logits[0, 300:] = -torch.inf
    best, counts, centres = best_and_bins(logits.log_softmax(-1))
    assert best.shape == (1, NUM_BEST)
    assert counts.sum() == 300 - NUM_BEST
    assert centres.isfinite().all()


def test_a_small_vocabulary_is_kept_whole() -> None:
    best, counts, _ = best_and_bins(torch.randn(3, 40).log_softmax(-1))
    assert best.shape == (3, 40)
    assert counts.sum() == 0


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


def test_a_trace_of_another_model_is_refused(translator: Translator, config: TransformerConfig) -> None:
    from dataclasses import replace

    from model import Transformer

    with pytest.raises(TraceError, match="not made by this model"):
        spread(translator.trace(TEXT), Transformer(replace(config, d_model=16)))

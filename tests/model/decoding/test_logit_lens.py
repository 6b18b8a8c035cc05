"""The logit lens: its last level is what the model said; what is kept of a step's distribution."""

import math
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


@pytest.fixture(scope="module", params=[("pre", True), ("post", True), ("pre", False), ("post", False)], ids=str)
def of_any_kind(request: pytest.FixtureRequest, config: TransformerConfig, tokenizer: Tokenizer) -> Translator:
    """A seeded model with or without a final norm, and with one or three embedding matrices."""
    norm, share_embeddings = request.param
    torch.manual_seed(11)
    model = Transformer(replace(config, norm=norm, share_embeddings=share_embeddings))
    if norm == "pre":
        # An untrained norm does nothing that could be missed.
        torch.nn.init.normal_(model.get_parameter("decoder.norm.weight"))
        torch.nn.init.normal_(model.get_parameter("decoder.norm.bias"))
    return Translator(model, tokenizer)


@pytest.mark.parametrize("target", [None, "Das Tier war müde."])
def test_the_last_level_is_what_the_model_said(of_any_kind: Translator, target: str | None) -> None:
    trace = of_any_kind.trace(TEXT, target)
    lens = of_any_kind.logit_lens(trace, top=7)
    assert lens.token_ids.shape == (3, len(trace.steps), 7)
    for row, step in enumerate(trace.steps):
        assert lens.token_ids[-1, row].tolist() == [c.token_id for c in step.candidates[:7]]
        assert lens.tokens[-1][row] == tuple(c.token for c in step.candidates[:7])
        expected = [math.exp(c.log_prob) for c in step.candidates[:7]]
        assert lens.probabilities[-1, row].tolist() == pytest.approx(expected, abs=1e-5)
        assert float(lens.chosen_probabilities[-1, row]) == pytest.approx(math.exp(step.log_prob), abs=1e-5)
        assert float(lens.entropy[-1, row]) == pytest.approx(step.entropy, abs=1e-5)
        assert (lens.chosen_ids[row], lens.chosen_tokens[row]) == (step.token_id, step.token)


def test_every_level_is_a_model_cut_off_after_that_many_layers(of_any_kind: Translator) -> None:
    trace = of_any_kind.trace(TEXT, "Das Tier war müde.")
    lens = of_any_kind.logit_lens(trace)
    model = of_any_kind.model
    memory = model.encode(torch.tensor([trace.source_ids]))
    layers = model.decoder.layers
    try:
        for level in range(3):
            model.decoder.layers = layers[:level]
            with torch.no_grad():
                hidden = model.decode(torch.tensor([trace.target_ids]), memory)
                probabilities = model.projection(hidden)[0].softmax(-1)
            torch.testing.assert_close(lens.probabilities[level], probabilities.topk(5).values)
            torch.testing.assert_close(lens.entropy[level], torch.distributions.Categorical(probabilities).entropy())
            for row, token_id in enumerate(lens.chosen_ids):
                better = int((probabilities[row] > probabilities[row, token_id]).sum())
                assert int(lens.chosen_ranks[level, row]) == better + 1
                assert float(lens.chosen_probabilities[level, row]) == pytest.approx(
                    float(probabilities[row, token_id]), abs=1e-6
                )
    finally:
        model.decoder.layers = layers


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
    with pytest.raises(TraceError, match="not of this vocabulary"):
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

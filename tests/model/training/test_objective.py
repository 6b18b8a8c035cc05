"""What training minimises, which head it teaches, which weights Muon changes, and how rates rise and fall."""

import copy
import math
from itertools import pairwise

import pytest
import torch

from model import TransformerConfig, Translator
from model.errors import ConfigError
from model.tokenizer import Tokenizer
from model.training.batches import Example, Link, collate, link_in
from model.training.objective import Objective, TaughtHead, divergence, smoothed_cross_entropy, taught_head
from model.training.optimizer import TrainingOptimizer, learning_rate


def test_a_taught_row_costs_what_the_head_withholds_from_the_antecedent(
    translator: Translator, tokenizer: Tokenizer
) -> None:
    """The loss of a link is −log of the weight that the model's own attention gives, padding or not."""
    sources = ["The animal didn't cross the street because it was too tired.", "She read it together with the animal."]
    antecedents = ["street", "animal"]
    examples = [
        Example(tokenizer.encode(source), tokenizer.encode("Das Tier."), link=link_in(source, antecedent, tokenizer))
        for source, antecedent in zip(sources, antecedents, strict=True)
    ]
    model, layer, head = translator.model, 1, 2
    batch = collate(examples, model.config)
    plain = Objective(model, 0.1, 1.0, (), bf16=False)
    taught = Objective(model, 0.1, 1.0, (), bf16=False, taught=TaughtHead(3.0, layer, head))
    sides = batch.source, batch.target_in, batch.target_out
    with torch.inference_mode():
        added = float(taught(*sides, batch.links) - plain(*sides, batch.links))
        assert float(taught(*sides, batch.links[:0])) == float(plain(*sides))
    lost = 0.0
    for source, example in zip(sources, examples, strict=True):
        link = example.link
        assert link is not None
        weights = translator.trace(source, "Das Tier.").weights("encoder.self", layer, [head])[0]
        lost -= math.log(float(weights[link.pronoun, link.begin : link.end].sum()))
    assert added == pytest.approx(3.0 * lost / int((batch.target_out != model.config.pad_id).sum()), rel=1e-4)


def test_a_noun_costs_how_little_the_encoder_tells_its_article(translator: Translator, tokenizer: Tokenizer) -> None:
    """−log p of the right article among three, each read with its row of the output matrix; padding changes nothing."""
    sources, nouns = ["The lamp is on the table today.", "The lamp fell."], [((1, 1), (5, 0)), ((1, 2),)]
    examples = [
        Example(tokenizer.encode(source), tokenizer.encode("Das Tier."), genders=genders)
        for source, genders in zip(sources, nouns, strict=True)
    ]
    model, articles = translator.model, [7, 20, 11]
    batch = collate(examples, model.config)
    sides = batch.source, batch.target_in, batch.target_out
    lost = 0.0
    with torch.inference_mode():
        for example in examples:
            memory = model.encode(torch.tensor([[*example.source, model.config.eos_id]]))[0]
            for token, gender in example.genders:
                p = (memory[token] @ model.projection.weight[articles].T).softmax(-1)
                lost -= math.log(float(p[gender]))
        for consistency in (0.0, 2.0):
            plain = Objective(model.eval(), 0.1, 1.0, (), bf16=False, consistency=consistency)
            told = Objective(model, 0.1, 1.0, (), bf16=False, consistency=consistency, gender=1.5, article_ids=articles)
            added = float(told(*sides, batch.links, batch.genders) - plain(*sides, batch.links, batch.genders))
            assert float(told(*sides, batch.links, batch.genders[:0])) == float(plain(*sides))
            assert added == pytest.approx(1.5 * lost / int((batch.target_out != model.config.pad_id).sum()), rel=1e-4)


def test_consistency_adds_how_far_two_computations_are_apart(translator: Translator, tokenizer: Tokenizer) -> None:
    """With dropout each sentence is computed twice at once: its mean loss, and the symmetric divergence of both."""
    model = copy.deepcopy(translator.model)
    examples = [
        Example(tokenizer.encode("The animal slept."), tokenizer.encode("Das Tier schlief."), link=Link(1, 0, 1)),
        Example(tokenizer.encode("A dog."), tokenizer.encode("Ein Hund am Strand.")),
    ]
    batch = collate(examples, model.config)
    sides = batch.source, batch.target_in, batch.target_out
    taught = TaughtHead(3.0, 1, 2)
    plain = Objective(model.eval(), 0.1, 1.0, (), bf16=False, taught=taught)
    drawn = Objective(model, 0.1, 1.0, (), bf16=False, taught=taught, consistency=2.5)
    with torch.inference_mode():
        assert float(drawn(*sides, batch.links)) == pytest.approx(float(plain(*sides, batch.links)), rel=1e-5)
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.3
        model.train()
        losses = []
        for weight in (0.0, 1.0, 2.0):
            torch.manual_seed(8)
            doubled = (torch.cat([ids, ids]) for ids in sides)
            objective = Objective(model, 0.1, 1.0, (), bf16=False, consistency=weight)
            losses.append(float(objective(*(sides if weight else doubled))))
    assert losses[1] - losses[0] > 0.01
    assert losses[2] - losses[1] == pytest.approx(losses[1] - losses[0], rel=1e-3)


def test_the_divergence_of_two_predictions_is_the_mean_of_both_kullback_leibler_divergences() -> None:
    torch.manual_seed(5)
    first, second = torch.randn(2, 6, 9, dtype=torch.float64).unbind()
    p, q = first.softmax(-1), second.softmax(-1)
    expected = ((p * (p / q).log()).sum(-1) + (q * (q / p).log()).sum(-1)).mean() / 2
    assert float(divergence(first, second)) == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.parametrize(("layer", "head"), [(2, 0), (0, 4)])
def test_a_head_that_the_encoder_lacks_cannot_be_taught(config: TransformerConfig, layer: int, head: int) -> None:
    with pytest.raises(ConfigError, match=f"Layer {layer} .* no head {head} "):
        taught_head(1.0, layer, head, config)


def test_the_optimizer_of_muon_has_the_layers_matrices_and_no_other_weight(translator: Translator) -> None:
    model = copy.deepcopy(translator.model).train()
    optimizer = TrainingOptimizer(model, "muon")
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step(1e-3)
    kept = dict(zip([name for name, _ in model.named_parameters()], optimizer.moments.values(), strict=True))
    muon = {name for name, moments in kept.items() if "momentum_buffer" in moments}
    assert "encoder.layers.0.feed_forward.inner.weight" in muon
    assert all(".layers." in name and dict(model.named_parameters())[name].ndim == 2 for name in muon)
    assert {"exp_avg" in kept[name] for name in set(kept) - muon} == {True}
    assert any("embedding" in name for name in set(kept) - muon)


def test_a_token_of_weight_three_counts_as_if_it_stood_there_three_times() -> None:
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(4, 50, generator=generator).requires_grad_()
    ids = torch.tensor([7, 8, 7, 9])
    weighted = smoothed_cross_entropy(logits, ids, 0.1, torch.tensor([3.0, 1.0, 1.0, 1.0])) * 4
    repeated = smoothed_cross_entropy(logits[[0, 0, 0, 1, 2, 3]], ids[[0, 0, 0, 1, 2, 3]], 0.1) * 6
    torch.testing.assert_close(weighted, repeated)
    torch.testing.assert_close(*(torch.autograd.grad(loss, logits) for loss in (weighted, repeated)))


def test_the_papers_rate_peaks_at_the_end_of_the_warm_up() -> None:
    rates = [
        learning_rate(step, decay="paper", warmup=4000, d_model=512, peak=1, total=100_000)
        for step in (1, 2000, 3999, 4000, 4001, 16_000)
    ]
    assert max(rates) == rates[3] == pytest.approx(512**-0.5 * 4000**-0.5)
    assert rates[5] == pytest.approx(rates[3] / 2)
    assert rates[1] == pytest.approx(rates[3] / 2)


def test_the_linear_rate_rises_to_its_peak_and_falls_to_zero() -> None:
    rates = [learning_rate(s, decay="linear", warmup=10, d_model=8, peak=0.5, total=30) for s in range(1, 31)]
    assert rates[9] == max(rates) == 0.5
    assert rates[19] == pytest.approx(0.25)
    assert rates[29] == 0
    assert all(a > b for a, b in pairwise(rates[9:]))

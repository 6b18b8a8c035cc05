"""What lessons compute: neighbours of embeddings, a smoothed target, kernel regression, the cost of a computation."""

import math
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy

from model import Transformer, Translator
from model.analysis import pooling
from model.analysis.embedding_space import embedding_space, is_shared
from model.analysis.label_smoothing import smoothed_target, step_loss
from model.analysis.measured_cost import check_memory, fitted_exponent, measure
from model.errors import DataError
from model.training_record import LANGUAGES

POINTS = torch.tensor([[0.0, 1.0], [0.0, 1.0], [0.0, -2.0], [-1.0, 0.1], [0.0, 3.0], [1.0, 1.0]])


def test_neighbours_are_ranked_by_torchs_cosine_without_the_token_itself(translator: Translator) -> None:
    space = embedding_space(translator)
    weight = translator.model.encoder.embedding.tokens.weight.detach()
    cosines = torch.cosine_similarity(weight, weight[40][None])
    cosines[[40, *translator.special_ids]] = -2
    best = cosines.topk(10)
    found = space.neighbours(40, 10)
    assert [one.token_id for one in found] == best.indices.tolist()
    torch.testing.assert_close(torch.tensor([one.cosine for one in found]), best.values)


def test_a_word_is_found_as_the_piece_that_begins_a_word_if_there_is_one(translator: Translator) -> None:
    space = embedding_space(translator)
    for token in space.tokens[4:]:
        begins = f"▁{token}"
        # The tokenizer's own id: a letter may be a piece and a byte.
        assert space.find(token) == translator.tokenizer.token_id(begins if begins in space.tokens else token)
    assert space.find("no such piece") is None


def test_separate_embeddings_are_those_of_their_stack(translator: Translator) -> None:
    torch.manual_seed(1)
    model = Transformer(replace(translator.config, share_embeddings=False))
    apart = Translator(model, translator.tokenizer, name="a", digest="a", languages=LANGUAGES)
    assert is_shared(translator)
    assert not is_shared(apart)
    target = model.decoder.embedding.tokens.weight.detach()
    target[40] = 0
    space = embedding_space(apart, is_target=True)
    torch.testing.assert_close(space.lengths, target.norm(dim=1))
    assert not space.directions[40].any()


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.3])
def test_the_loss_and_its_gradient_are_torch_s(smoothing: float) -> None:
    torch.manual_seed(3)
    logits = torch.randn(1, 50, requires_grad=True)
    expected = cross_entropy(logits, torch.tensor([7]), label_smoothing=smoothing)
    expected.backward()
    found = step_loss(logits.detach()[0].log_softmax(-1), 7, smoothing)
    assert found.smoothed == pytest.approx(expected.item(), abs=1e-5)
    assert found.one_hot == pytest.approx(cross_entropy(logits, torch.tensor([7])).item(), abs=1e-5)
    assert logits.grad is not None
    assert found.gradient == pytest.approx(float(logits.grad[0, 7]), abs=1e-6)


def test_no_loss_is_below_the_target_s_entropy_which_a_model_that_says_the_target_reaches() -> None:
    target = smoothed_target(50, 7, 0.1)
    assert float(target.sum()) == pytest.approx(1)
    best = step_loss(target.log(), 7, 0.1)
    assert best.smoothed == pytest.approx(best.least, abs=1e-5)
    assert best.gradient == pytest.approx(0, abs=1e-6)
    surer = torch.full((50,), -20.0)
    surer[7] = 0
    found = step_loss(surer.log_softmax(-1), 7, 0.1)
    assert found.smoothed > best.smoothed
    assert found.gradient > 0
    assert math.exp(best.best_margin) == pytest.approx((0.9 + 0.1 / 50) / (0.1 / 50), rel=1e-5)


def test_a_narrow_kernel_looks_up_the_nearest_key_and_a_wide_one_takes_the_mean() -> None:
    points = pooling.sample_points()
    narrow, wide = pooling.regression(0.001, 2.0), pooling.regression(1000.0, 2.0)
    nearest = points.values[(points.keys - 2.0).abs().argmin()]
    assert float(narrow.row @ points.values) == pytest.approx(float(nearest))
    assert narrow.keys_used == pytest.approx(1.0, abs=0.05)
    assert float(wide.row @ points.values) == pytest.approx(float(points.values.mean()), abs=1e-4)
    assert wide.keys_used == pytest.approx(pooling.POINTS, rel=1e-3)


CPU = torch.device("cpu")


def test_bytes_are_counted_of_what_is_held_at_once_and_let_go_again() -> None:
    x = torch.zeros(1000)

    def two_at_once() -> torch.Tensor:
        for _ in range(5):
            result = (x + 1) * 2
        return result

    # The last result, the sum and the product: three thousand numbers, however often it is done.
    assert measure(two_at_once, CPU).num_bytes == 3 * 4_000


@pytest.mark.parametrize("exponent", [0.5, 1, 2, 3])
def test_the_exponent_of_a_power_is_found_below_a_fixed_cost(exponent: float) -> None:
    sizes = [16, 32, 64, 128, 256, 512]
    seconds = [max(64.0**exponent, size**exponent) * 1e-9 for size in sizes]
    assert fitted_exponent(sizes, seconds) == pytest.approx(exponent, rel=0.01)


def test_what_does_not_fit_into_memory_is_refused_in_a_sentence() -> None:
    with pytest.raises(DataError, match=r"A million rows needs .* GB at once, but only .* GB are free in RAM"):
        check_memory("A million rows", 10**18, CPU)

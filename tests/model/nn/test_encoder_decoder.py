"""What holds of both models from before the Transformer, as it does of a Transformer."""

import pytest
import torch
from torch import Tensor

from model.nn.encoder_decoder import EncoderDecoder
from model.nn.hooks import listen
from model.nn.masks import key_padding, pad
from model.translator import EarlierTranslator

ARCHITECTURES = ["recurrent", "convolutional"]
SOURCES = [[5, 6, 7, 8, 9, 3], [11, 12, 3], [20, 21, 22, 23, 3]]
TARGETS = [[2, 30, 31, 32], [2, 40, 41, 42, 43, 44, 45], [2, 50]]


@pytest.fixture(params=ARCHITECTURES)
def model(request: pytest.FixtureRequest, earlier_translators: dict[str, EarlierTranslator]) -> EncoderDecoder:
    return earlier_translators[request.param].model


@torch.no_grad()
def logits_of(model: EncoderDecoder, source: list[int], target: list[int]) -> Tensor:
    return model(torch.tensor([source]), torch.tensor([target]))[0]


@torch.no_grad()
def test_padding_changes_nothing_for_the_sentences_of_a_batch(model: EncoderDecoder) -> None:
    source, target = pad(SOURCES, 0), pad(TARGETS, 0)
    batch = model(source, target, key_padding(source, 0))
    for number, (own_source, own_target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = logits_of(model, own_source, own_target)
        torch.testing.assert_close(batch[number, : len(own_target)], alone, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_a_target_row_does_not_see_those_after_it(model: EncoderDecoder) -> None:
    whole = logits_of(model, SOURCES[0], TARGETS[1])
    cut = logits_of(model, SOURCES[0], TARGETS[1][:3])
    torch.testing.assert_close(whole[:3], cut, atol=1e-6, rtol=1e-5)
    assert not torch.allclose(logits_of(model, SOURCES[0], [2, 60, 41, 42, 43, 44, 45])[3:], whole[3:])


@torch.no_grad()
def test_steps_with_the_cache_equal_one_pass_also_after_going_back(model: EncoderDecoder) -> None:
    source, target = torch.tensor(SOURCES[:1]), TARGETS[1]
    expected = logits_of(model, SOURCES[0], target)
    memory, cache = model.encode(source), model.new_cache()

    def step(token_id: int) -> Tensor:
        return model.projection(model.decode(torch.tensor([[token_id]]), memory, cache=cache))[0, -1]

    for token_id in (*target[:3], 70, 71):
        step(token_id)
    cache.truncate(3)
    branch = cache.copy()
    for row in range(3, len(target)):
        torch.testing.assert_close(step(target[row]), expected[row], atol=1e-5, rtol=1e-5)
    assert (len(branch), len(cache)) == (3, len(target))


@torch.no_grad()
def test_a_cache_gives_each_kept_row_its_own_prefix_and_sentence(model: EncoderDecoder) -> None:
    source, target = pad(SOURCES[:2], 0), torch.tensor([[2, 30], [2, 40]])
    padding = key_padding(source, 0)
    memory, cache = model.encode(source, padding), model.new_cache()
    model.decode(target, memory, padding, cache=cache)
    order = torch.tensor([1, 0, 1])
    cache.select(order)
    after = model.decode(torch.tensor([[31], [32], [33]]), memory[order], padding[order], cache=cache)
    for row, (sentence, prefix) in enumerate(((1, [2, 40, 31]), (0, [2, 30, 32]), (1, [2, 40, 33]))):
        alone = logits_of(model, SOURCES[sentence], prefix)[-1]
        torch.testing.assert_close(model.projection(after[row, -1]), alone, atol=1e-5, rtol=1e-5)


def test_every_parameter_learns(model: EncoderDecoder) -> None:
    source, target = pad(SOURCES, 0), pad(TARGETS, 0)
    model.zero_grad()
    model(source, target, key_padding(source, 0)).log_softmax(-1)[..., 7].sum().backward()
    still = [name for name, p in model.named_parameters() if p.grad is None or not bool(p.grad.abs().sum() > 0)]
    model.zero_grad()
    assert still == []


@torch.no_grad()
def test_listening_changes_nothing_and_is_over_with_its_block(model: EncoderDecoder) -> None:
    plain = logits_of(model, SOURCES[0], TARGETS[0])
    with listen(record={"hook_scores", "hook_weights", "hook_head_output"}) as recorded:
        heard = logits_of(model, SOURCES[0], TARGETS[0])
    assert recorded
    torch.testing.assert_close(heard, plain, atol=1e-6, rtol=1e-5)

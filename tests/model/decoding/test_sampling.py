"""Drawing tokens: the filter against Hugging Face's, the draw against its distribution, samples against sessions."""

import math
from collections import Counter
from typing import Any

import pytest
import torch
from transformers.generation.logits_process import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from model import Translator
from model.decoding.sampling import Draws, Sampling, draw_tokens, filtered_log_probs, sample
from model.errors import CancelledError, ConfigError

TEXT = "The dog."
SAMPLING = Sampling(temperature=0.7, top_k=40, top_p=0.9)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("top_k", [None, 1, 7, 50, 500])
@pytest.mark.parametrize("top_p", [0.05, 0.6, 0.95, 1.0])
def test_the_filter_keeps_and_weights_what_hugging_face_does(
    temperature: float, top_k: int | None, top_p: float
) -> None:
    torch.manual_seed(0)
    logits = 3 * torch.randn(6, 200)
    theirs = TemperatureLogitsWarper(temperature)(None, logits)
    theirs = theirs if top_k is None else TopKLogitsWarper(top_k)(None, theirs)
    theirs = theirs if top_p == 1 else TopPLogitsWarper(top_p)(None, theirs)
    ours = filtered_log_probs(logits, Sampling(temperature=temperature, top_k=top_k, top_p=top_p))
    torch.testing.assert_close(ours, theirs.log_softmax(-1))


def test_equal_tokens_share_the_edge_of_top_k_and_the_first_of_them_take_that_of_top_p() -> None:
    logits = torch.tensor([0.0, 1.0, 1.0, 1.0, 2.0])
    assert filtered_log_probs(logits, Sampling(top_k=2)).isfinite().tolist() == [False, True, True, True, True]
    four = torch.zeros(4)
    assert filtered_log_probs(four, Sampling(top_p=0.5)).tolist() == pytest.approx([-math.log(2)] * 2 + [-math.inf] * 2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"temperature": math.nan}, "temperature"),
        ({"temperature": math.inf}, "temperature"),
        ({"temperature": 0.0099}, "temperature"),
        ({"temperature": 100.1}, "temperature"),
        ({"top_k": 0}, "top_k"),
        ({"top_p": math.nan}, "top_p"),
        ({"top_p": 0.0}, "top_p"),
        ({"top_p": 1.0001}, "top_p"),
    ],
)
def test_settings_that_are_no_numbers_or_out_of_range_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Sampling(**wrong)


def test_every_token_is_drawn_as_often_as_its_probability_says() -> None:
    log_probs = filtered_log_probs(torch.randn(30, generator=torch.Generator().manual_seed(2)), Sampling(top_k=9))
    count = 10_000
    drawn = draw_tokens(log_probs.expand(count, -1), [(i + 0.5) / count for i in range(count)])
    counts = Counter(drawn.tolist())
    for token_id, probability in enumerate(log_probs.exp().tolist()):
        # Evenly spaced numbers miss an interval's true length by at most one place.
        assert abs(counts[token_id] - count * probability) <= 1
    assert len(counts) == 9


def test_numbers_are_even_and_differ_with_seed_sample_and_step() -> None:
    numbers = [Draws(seed=seed, sample=i).uniform(step) for seed in range(10) for i in range(10) for step in range(40)]
    assert len(set(numbers)) == len(numbers) == 4000
    in_tenth = Counter(int(10 * number) for number in numbers)
    assert set(in_tenth) == set(range(10))
    # Five standard deviations of a binomial count of mean 400.
    assert all(abs(count - 400) < 5 * math.sqrt(4000 * 0.1 * 0.9) for count in in_tenth.values())


def test_a_sample_tells_its_text_and_both_of_its_log_probabilities(translator: Translator) -> None:
    (drawn,) = translator.sample(TEXT, sampling=SAMPLING, seed=5)
    assert drawn.text == translator.tokenizer.decode(drawn.token_ids)
    source = torch.tensor([translator.source_ids(TEXT)])
    with torch.no_grad():
        logits = translator.model(source, torch.tensor([[translator.config.bos_id, *drawn.token_ids[:-1]]]))[0]
    written = torch.tensor(drawn.token_ids)[:, None]
    for ours, rows in (
        (drawn.log_probs, logits.log_softmax(-1)),
        (drawn.filtered_log_probs, filtered_log_probs(logits, SAMPLING)),
    ):
        assert ours == pytest.approx(rows.gather(1, written)[:, 0].tolist(), abs=1e-3)
    assert drawn.log_prob == pytest.approx(sum(drawn.log_probs))
    assert 0 > drawn.filtered_log_prob > drawn.log_prob


def test_a_step_taken_back_or_in_a_branch_draws_the_same_again(translator: Translator) -> None:
    draws = Draws(sampling=SAMPLING, seed=21)
    session = translator.decode(TEXT)
    for _ in range(6):
        session.step(draws)
    written = session.target_ids
    for _ in range(4):
        session.back()
    branch = session.branch()
    for one in (session, branch):
        for _ in range(4):
            one.step(draws)
        assert one.target_ids == written


@pytest.fixture(scope="module")
def sources(translator: Translator) -> torch.Tensor:
    return torch.tensor(translator.source_ids(TEXT))


def test_each_sample_of_a_batch_is_the_one_drawn_alone(translator: Translator, sources: torch.Tensor) -> None:
    together = sample(translator.model, sources, 5, SAMPLING, seed=11)
    assert len({one.token_ids for one in together}) == 5
    for i, drawn in enumerate(together):
        session = translator.decode(TEXT)
        session.run(Draws(sampling=SAMPLING, seed=11, sample=i))
        assert drawn.token_ids == session.target_ids[1:]
        assert drawn.log_probs == pytest.approx([step.log_prob for step in session.steps], abs=1e-4)
    assert [one.token_ids for one in sample(translator.model, sources, 2, SAMPLING, seed=11)] == [
        one.token_ids for one in together[:2]
    ]


def test_progress_is_told_after_every_step_and_may_end_the_work(translator: Translator) -> None:
    reported: list[tuple[int, int]] = []

    def stop_at_three(done: int, most: int) -> None:
        reported.append((done, most))
        if done == 3:
            raise CancelledError

    for write in (translator.sample, translator.beam_tree):
        reported.clear()
        with pytest.raises(CancelledError):
            write(TEXT, progress=stop_at_three)
        assert [done for done, _ in reported] == [1, 2, 3]
        assert all(most == translator.decode(TEXT).max_steps for _, most in reported)

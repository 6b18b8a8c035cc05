"""Several samples of one sentence, drawn together."""

import pytest
import torch

from model import Translator
from model.decoding.sampling import Draws, Sampling, sample
from model.errors import CancelledError

TEXT = "The dog."
SAMPLING = Sampling(temperature=0.7, top_k=40, top_p=0.9)


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


def test_a_sample_ends_with_its_first_end_or_at_the_length_limit(translator: Translator, sources: torch.Tensor) -> None:
    hot = sample(translator.model, sources, 40, Sampling(temperature=3.0), seed=0)
    eos_id, limit = translator.config.eos_id, len(sources) - 1 + 50
    for one in hot:
        assert eos_id not in one.token_ids[:-1]
        assert one.token_ids[-1] == eos_id or len(one.token_ids) == limit
        assert len(one.token_ids) == len(one.log_probs) == len(one.filtered_log_probs) <= limit
    assert len({len(one.token_ids) for one in hot}) > 1


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

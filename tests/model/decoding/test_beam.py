"""One sentence's beam: its penalty for length, and what rules forbid."""

import math

import torch

from model.decoding.beam import SentenceBeam
from model.decoding.search import run_searches
from tests.model.decoding.hypotheses import plain


class Forbidding:
    """Texts that nothing may follow."""

    def logits(self, last: torch.Tensor) -> torch.Tensor:
        return torch.full((len(last), 6), -math.inf)

    def log_probs(self, last: torch.Tensor) -> torch.Tensor:
        return self.logits(last)

    def select(self, rows: torch.Tensor) -> None:
        pass


def test_what_rules_forbid_continues_nothing_and_sentences_of_a_batch_need_not_have_as_many_left() -> None:
    class Rules(Forbidding):
        """Scores by hand of two sentences; 0 ends, 1 begins."""

        def __init__(self) -> None:
            self.steps, self.sentences = 0, torch.tensor([0, 1])

        def log_probs(self, last: torch.Tensor) -> torch.Tensor:
            self.steps += 1
            # First the one sentence must write 2 and the other may write 3, 4 or 5; last, each must end.
            allowed = {1: {0: [2], 1: [3, 4, 5]}, 2: {0: [3, 4, 5], 1: [3, 4, 5]}, 3: {0: [0], 1: [0]}}[self.steps]
            table = self.logits(last)
            for row, sentence in enumerate(self.sentences.tolist()):
                for rank, token in enumerate(allowed[sentence]):
                    table[row, token] = -1.0 - self.steps * rank
            return table

        def select(self, rows: torch.Tensor) -> None:
            self.sentences = self.sentences[rows]

    begun = [SentenceBeam(3, 2, 0.0) for _ in range(2)]
    first, other = run_searches(begun, Rules(), torch.tensor([1, 1]), (0,))
    assert plain(first.finished) == [([2, 3], -3.0), ([2, 4], -5.0)]
    assert plain(other.finished) == [([3, 3], -3.0), ([4, 3], -4.0)]
    assert all(
        one.log_prob > -math.inf for search in (first, other) for step in search.steps for one in step.candidates
    )
    assert [len(step.kept) for step in first.steps] == [1, 2, 0]


def test_where_all_is_forbidden_the_search_still_ends() -> None:
    (search,) = run_searches([SentenceBeam(2, 3, 0.6)], Forbidding(), torch.tensor([1]), (3,))
    assert plain(search.finished) == [([0, 0], -math.inf)]

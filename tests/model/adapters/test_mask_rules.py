"""Booleans that a model computes with, as a small mask that allows the same places."""

import pytest
import torch

from model.adapters.capture import mask_behind

N = 9
ROW, COLUMN = torch.arange(N)[:, None], torch.arange(N)[None, :]
PADDING = torch.ones(2, N, dtype=torch.bool)
PADDING[1, 6:] = False

RULES = {
    "everything": (torch.ones(N, N, dtype=torch.bool), None),
    "causal": (COLUMN <= ROW, None),
    "window": ((COLUMN <= ROW) & (ROW - COLUMN < 3), 3),
    "window both ways": ((ROW - COLUMN).abs() <= 3, 3),
    "chunks": ((COLUMN <= ROW) & (ROW // 4 == COLUMN // 4), 4),
}


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_found_and_allows_the_same_places(rule: str, padded: bool) -> None:
    allowed, size = RULES[rule]
    allowed = allowed.expand(2, N, N) & (PADDING[:, None] if padded else torch.ones(2, 1, N, dtype=torch.bool))
    mask = mask_behind(allowed, local_size=size)
    assert mask.explicit is None
    assert (mask.key_padding is not None) == padded
    assert (mask.window is not None, mask.chunk is not None) == ("window" in rule, rule == "chunks")
    assert torch.equal(mask.rows().expand(2, N, N), allowed)
    assert torch.equal(mask.of_sentence(1).rows([2, 5])[0], allowed[1, [2, 5]])


def test_a_window_that_no_row_reaches_is_no_window() -> None:
    mask = mask_behind((COLUMN <= ROW)[None], local_size=100)
    assert (mask.causal, mask.window) == (True, None)


def test_more_rows_than_keys_begin_with_the_first_key() -> None:
    allowed = (COLUMN <= ROW)[None, :, :4]
    mask = mask_behind(allowed)
    assert (mask.explicit, mask.causal, mask.first_query) == (None, True, 0)
    assert torch.equal(mask.rows(), allowed)


def test_later_rows_of_a_cached_text_are_placed_among_their_keys() -> None:
    allowed = ((COLUMN <= ROW) & (ROW - COLUMN < 3))[None, 4:]
    mask = mask_behind(allowed, first_query=4, local_size=3)
    assert (mask.first_query, mask.window) == (4, 3)
    assert torch.equal(mask.rows(), allowed)


def test_a_mask_without_a_rule_is_kept_as_it_is() -> None:
    allowed = torch.rand(1, N, N, generator=torch.Generator().manual_seed(0)) < 0.5
    mask = mask_behind(allowed.expand(2, N, N))
    assert mask.explicit is not None
    assert torch.equal(mask.explicit, allowed)
    assert torch.equal(mask.rows([3]), allowed[:, [3]])
    assert mask.dense() is not None

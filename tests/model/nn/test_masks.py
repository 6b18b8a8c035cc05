"""Masks as small values that give their rows on demand."""

import pytest
import torch

from model.nn.masks import AttentionMask, key_padding

PADDING = torch.tensor([[True, True, True, False], [True, True, True, True]])


def test_rows_asked_for_equal_those_of_the_whole() -> None:
    mask = AttentionMask(num_queries=4, num_keys=4, key_padding=PADDING, causal=True)
    assert torch.equal(mask.rows(slice(1, 3)), mask.rows()[:, 1:3])
    assert torch.equal(mask.rows([3, 0]), mask.rows()[:, [3, 0]])


def test_masks_of_single_steps_joined_are_the_mask_of_the_whole_pass() -> None:
    steps = [AttentionMask(num_queries=1, num_keys=i + 1, causal=True, first_query=i) for i in range(5)]
    assert torch.equal(AttentionMask.joined(steps).rows(), AttentionMask(num_queries=5, num_keys=5, causal=True).rows())


def test_nothing_dense_is_made_where_every_query_sees_every_key() -> None:
    assert AttentionMask(num_queries=3, num_keys=5).dense() is None
    assert AttentionMask(num_queries=1, num_keys=5, causal=True, first_query=4).dense() is None
    assert AttentionMask(num_queries=2, num_keys=5, causal=True, first_query=3).dense() is not None


def test_key_padding_is_true_at_real_tokens() -> None:
    assert key_padding(torch.tensor([[5, 6, 0]]), pad_id=0).tolist() == [[True, True, False]]


def test_parts_of_a_mask_are_causality_and_padding_and_make_it_up() -> None:
    mask = AttentionMask(num_queries=4, num_keys=4, key_padding=PADDING, causal=True)
    causal, padding = mask.parts()
    assert causal.rows().tolist() == [[[key <= query for key in range(4)] for query in range(4)]]
    assert padding.rows().tolist() == [[row] * 4 for row in PADDING.tolist()]
    assert torch.equal(causal.rows() & padding.rows(), mask.rows())


def test_parts_of_rows_computed_after_others_stay_where_they_are() -> None:
    causal, padding = AttentionMask(num_queries=1, num_keys=4, causal=True, first_query=2).parts()
    assert causal.rows().tolist() == [[[True, True, True, False]]]
    assert padding.rows().all()


@pytest.mark.parametrize("causal", [True, False])
def test_a_window_allows_what_is_nearer_than_it_and_chunks_their_own_keys(causal: bool) -> None:
    window = AttentionMask(num_queries=6, num_keys=6, causal=causal, window=2).rows()[0].tolist()
    chunk = AttentionMask(num_queries=6, num_keys=6, causal=causal, chunk=4).rows()[0].tolist()
    for query in range(6):
        for key in range(6):
            seen = key <= query or not causal
            assert window[query][key] == (seen and abs(query - key) < 2)
            assert chunk[query][key] == (seen and query // 4 == key // 4)


def test_rows_of_a_window_are_made_on_demand_also_for_later_queries() -> None:
    whole = AttentionMask(num_queries=8, num_keys=8, causal=True, window=3)
    later = AttentionMask(num_queries=3, num_keys=8, causal=True, window=3, first_query=5)
    assert torch.equal(later.rows(), whole.rows([5, 6, 7]))
    assert later.dense() is not None


def test_a_mask_is_cut_to_one_sentence_of_its_batch() -> None:
    mask = AttentionMask(num_queries=4, num_keys=4, key_padding=torch.tensor([[True] * 4, [True, True, False, False]]))
    assert mask.of_sentence(0).key_padding is None
    assert torch.equal(mask.of_sentence(1).rows()[0], mask.rows()[1])


@pytest.mark.parametrize(
    "mask",
    [
        AttentionMask(num_queries=20, num_keys=20),
        AttentionMask(num_queries=20, num_keys=20, causal=True),
        AttentionMask(num_queries=5, num_keys=20, causal=True, first_query=15),
        AttentionMask(num_queries=20, num_keys=20, window=3),
        AttentionMask(num_queries=20, num_keys=20, window=4, causal=True),
        AttentionMask(num_queries=20, num_keys=20, chunk=6),
        AttentionMask(num_queries=20, num_keys=26, chunk=6, causal=True),
    ],
    ids=repr,
)
def test_no_row_may_attend_beyond_its_reach_and_some_row_to_both_its_ends(mask: AttentionMask) -> None:
    for start in range(0, mask.num_queries, 3):
        rows = slice(start, min(start + 4, mask.num_queries))
        seen, allowed = mask.reach(rows), mask.rows(rows)[0]
        assert not allowed[:, : seen.start].any()
        assert not allowed[:, seen.stop :].any()
        assert allowed[:, seen.start].any()
        assert allowed[:, seen.stop - 1].any()
        torch.testing.assert_close(mask.rows(rows, seen)[0], allowed[:, seen])

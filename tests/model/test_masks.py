"""Masks as small values that give their rows on demand."""

import torch

from model.masks import AttentionMask, key_padding

PADDING = torch.tensor([[True, True, True, False], [True, True, True, True]])


def test_padding_hides_padded_keys_from_every_query():
    mask = AttentionMask(num_queries=2, num_keys=4, key_padding=PADDING)
    assert mask.rows().tolist() == [[[True, True, True, False]] * 2, [[True] * 4] * 2]


def test_causal_mask_shows_a_query_only_keys_up_to_itself():
    mask = AttentionMask(num_queries=4, num_keys=4, causal=True)
    for query in range(4):
        assert mask.rows()[0, query].tolist() == [key <= query for key in range(4)]


def test_combination_is_the_conjunction_of_both():
    both = AttentionMask(num_queries=4, num_keys=4, key_padding=PADDING, causal=True)
    causal = AttentionMask(num_queries=4, num_keys=4, causal=True)
    padding = AttentionMask(num_queries=4, num_keys=4, key_padding=PADDING)
    assert torch.equal(both.rows(), causal.rows() & padding.rows())


def test_rows_asked_for_equal_those_of_the_whole():
    mask = AttentionMask(num_queries=4, num_keys=4, key_padding=PADDING, causal=True)
    assert torch.equal(mask.rows(slice(1, 3)), mask.rows()[:, 1:3])
    assert torch.equal(mask.rows([3, 0]), mask.rows()[:, [3, 0]])


def test_masks_of_single_steps_joined_are_the_mask_of_the_whole_pass():
    steps = [AttentionMask(num_queries=1, num_keys=i + 1, causal=True, first_query=i) for i in range(5)]
    assert torch.equal(AttentionMask.joined(steps).rows(), AttentionMask(num_queries=5, num_keys=5, causal=True).rows())


def test_nothing_dense_is_made_where_every_query_sees_every_key():
    assert AttentionMask(num_queries=3, num_keys=5).dense() is None
    assert AttentionMask(num_queries=1, num_keys=5, causal=True, first_query=4).dense() is None
    assert AttentionMask(num_queries=2, num_keys=5, causal=True, first_query=3).dense() is not None


def test_key_padding_is_true_at_real_tokens():
    assert key_padding(torch.tensor([[5, 6, 0]]), pad_id=0).tolist() == [[True, True, False]]


def test_parts_of_a_mask_are_causality_and_padding_and_make_it_up():
    mask = AttentionMask(num_queries=4, num_keys=4, key_padding=PADDING, causal=True)
    causal, padding = mask.parts()
    assert causal.rows().tolist() == [[[key <= query for key in range(4)] for query in range(4)]]
    assert padding.rows().tolist() == [[row] * 4 for row in PADDING.tolist()]
    assert torch.equal(causal.rows() & padding.rows(), mask.rows())


def test_parts_of_rows_computed_after_others_stay_where_they_are():
    causal, padding = AttentionMask(num_queries=1, num_keys=4, causal=True, first_query=2).parts()
    assert causal.rows().tolist() == [[[True, True, True, False]]]
    assert padding.rows().all()

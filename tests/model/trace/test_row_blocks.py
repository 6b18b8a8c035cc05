"""Rows in blocks against the dense softmax: log-sum-exp, tiles, maxima of blocks, and how much is held at once."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from model.nn.attention import AttentionInputs
from model.nn.edits import HeadEdit, MakeUniform, PointAt, SwitchOff
from model.nn.masks import AttentionMask
from model.trace import row_blocks


def inputs_of(
    queries: int = 37,
    keys: int = 41,
    heads: int = 4,
    kv_heads: int = 4,
    *,
    causal: bool = False,
    padding: int = 0,
    bias: bool = False,
    edits: tuple[HeadEdit, ...] = (),
) -> AttentionInputs:
    generator = torch.Generator().manual_seed(3)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    allowed = None
    if padding:
        allowed = torch.ones(1, keys, dtype=torch.bool)
        allowed[:, keys - padding :] = False
    return AttentionInputs(
        query=2 * draw(heads, queries, 8),
        key=2 * draw(kv_heads, keys, 8),
        value=draw(kv_heads, keys, 8),
        mask=AttentionMask(num_queries=queries, num_keys=keys, causal=causal, key_padding=allowed),
        scale=8**-0.5,
        bias=draw(heads, queries, keys) if bias else None,
        edits=edits,
    )


def told(inputs: AttentionInputs) -> AttentionInputs:
    return inputs.with_log_sums(inputs.scores_and_weights().scores.logsumexp(-1))


FIRST = torch.arange(5)
EDITS = (
    MakeUniform("encoder.self", 0, 0),
    PointAt("encoder.self", 0, 1, key=2, since=4),
    SwitchOff("encoder.self", 0, 2, row=7),
)
CASES = {
    "everything seen": inputs_of(),
    "causal": inputs_of(41, 41, causal=True),
    "padding": inputs_of(padding=6),
    "causal and padding": inputs_of(41, 41, causal=True, padding=3),
    "grouped key and value heads": inputs_of(kv_heads=2),
    "bias": inputs_of(bias=True),
    "bias, causal": inputs_of(41, 41, bias=True, causal=True),
    "edits": inputs_of(edits=EDITS),
    "sinks": replace(inputs_of(), sinks=torch.tensor([0.5, -1.0, 3.0, 2.0])),
    # The first five rows may attend to nothing, the others to a window.
    "rows that see nothing": replace(
        inputs_of(),
        mask=AttentionMask(
            num_queries=37, num_keys=41, explicit=torch.ones(1, 37, 41).tril(3).triu(-3).index_fill(1, FIRST, 0).bool()
        ),
    ),
    "one token": inputs_of(1, 1),
    "sums that the pass told": told(inputs_of(41, 41, causal=True, padding=3)),
}


@pytest.fixture(params=list(CASES.values()), ids=list(CASES))
def inputs(request: pytest.FixtureRequest) -> AttentionInputs:
    return request.param


@pytest.fixture(params=[400, 1 << 21], ids=["many blocks", "one block"])
def budget(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_blocks, "VALUES_AT_ONCE", request.param)


@pytest.mark.usefixtures("budget")
def test_log_sums_are_those_of_the_dense_scores(inputs: AttentionInputs) -> None:
    scores, weights = inputs.scores_and_weights()
    expected = scores.double().logsumexp(-1)
    if inputs.sinks is not None:
        expected = torch.logaddexp(expected, inputs.sinks[:, None].double())
    found = row_blocks.log_sum_exp(inputs)
    seen = weights.sum(-1) > 0
    torch.testing.assert_close(found[seen].double(), expected[seen], atol=1e-5, rtol=1e-6)
    assert torch.isposinf(found[~seen]).all()
    torch.testing.assert_close(row_blocks.log_sum_exp(inputs, [2, 0]), found[[2, 0]])


def test_a_tile_is_cut_from_the_dense_weights(inputs: AttentionInputs) -> None:
    weights, sums = inputs.scores_and_weights().weights, row_blocks.log_sum_exp(inputs)
    queries, keys = weights.shape[1:]
    for head in range(4):
        for rows, columns in (
            (slice(0, queries), slice(0, keys)),
            (slice(queries // 2, queries), slice(keys // 3, keys)),
            ([queries - 1, 0], [0, keys - 1]),
        ):
            tile = row_blocks.weights_tile(inputs, head, rows, columns, sums[head])
            torch.testing.assert_close(tile, weights[head, rows][:, columns], atol=1e-6, rtol=1e-5)


@pytest.mark.usefixtures("budget")
@pytest.mark.parametrize("blocks", [(1, 1), (9, 7)])
def test_maxima_of_blocks_are_those_of_the_dense_weights_and_stand_where_they_say(
    inputs: AttentionInputs, blocks: tuple[int, int]
) -> None:
    weights = inputs.scores_and_weights().weights
    rows, columns = (
        [i * count // min(n, count) for i in range(min(n, count) + 1)]
        for n, count in zip(blocks, weights.shape[1:], strict=True)
    )
    found = row_blocks.pooled_weights(inputs, rows, columns)
    for row, (top, bottom) in enumerate(pairwise(rows)):
        for column, (left, right) in enumerate(pairwise(columns)):
            block = weights[:, top:bottom, left:right]
            torch.testing.assert_close(found.maxima[:, row, column], block.amax((1, 2)), atol=1e-6, rtol=1e-5)
            down, across = found.down[:, row, column], found.across[:, row, column]
            assert (down < bottom - top).all()
            assert (across < right - left).all()
            at = weights[torch.arange(4), top + down, left + across]
            torch.testing.assert_close(at, found.maxima[:, row, column], atol=1e-6, rtol=1e-5)


def test_the_mean_over_heads_is_that_of_the_dense_weights(
    inputs: AttentionInputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_blocks, "VALUES_AT_ONCE", 500)
    expected = inputs.scores_and_weights().weights.mean(0)
    torch.testing.assert_close(row_blocks.mean_over_heads(inputs), expected, atol=1e-6, rtol=1e-5)


@pytest.mark.usefixtures("budget")
def test_blocks_of_some_rows_and_keys_are_those_of_the_whole_weights_times_their_factors() -> None:
    inputs, factors = inputs_of(50, 60, causal=True), torch.linspace(0.5, 3, 60)
    found = row_blocks.pooled_weights(inputs, [10, 20, 35], [5, 9, 40], factors=factors)
    products = inputs.scores_and_weights().weights * factors
    expected = torch.stack(
        [
            torch.stack([products[:, top:bottom, left:right].amax((1, 2)) for left, right in ((5, 9), (9, 40))], -1)
            for top, bottom in ((10, 20), (20, 35))
        ],
        1,
    )
    torch.testing.assert_close(found.maxima, expected, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(found.log_sums, row_blocks.log_sum_exp(inputs)[:, 10:35])

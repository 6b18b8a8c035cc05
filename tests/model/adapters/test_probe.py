"""How a model knows positions, told from tables and rotations made here by hand."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model.adapters import probe
from model.adapters.probe import PositionTables, Probe, Rotations, picture_table
from model.nn.attention import AttentionInputs
from model.nn.masks import AttentionMask
from model.nn.score_functions import DistanceBias
from tests.model.adapters.zoo import tiny

COUNT, HEADS = 12, 3


def random(*shape: int) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(0))


def test_a_probe_takes_the_tokens_of_the_vocabulary_and_of_too_few_none() -> None:
    model: Any = tiny("gpt2")
    six = Probe.of_text(model, [0, 399, 400, -1, 5, 6, 7, 8])
    assert (six.source, six.target) == ((0, 399, 5, 6, 7, 8), ())
    assert Probe.of_text(model, range(50)).source == tuple(range(24))
    spread = Probe.of_text(model, [0, 399, 5, 6, 7]).source
    assert len(set(spread)) == len(spread) >= 6
    model.config.n_positions = 12
    # Two places are left for what is written.
    assert Probe.of_text(model, range(50)).source == tuple(range(10))


def test_the_target_of_a_probe_is_one_token_shorter_than_its_source() -> None:
    model: Any = tiny("bart")
    found = Probe.of_text(model, range(5, 15))
    assert (found.source, found.target) == (tuple(range(5, 15)), tuple(range(5, 14)))


def test_a_table_is_of_positions_if_its_rows_are_looked_up_one_after_the_other() -> None:
    tokens, positions, longer, short = random(40, 4), random(10, 4), random(10, 4), random(5, 4)
    embedding = torch.nn.functional.embedding
    with PositionTables(5) as tables:
        embedding(torch.tensor([[3, 4, 5, 6, 7]]), positions)
        embedding(torch.tensor([0, 2, 3, 4, 5, 6]), longer)
        embedding(torch.tensor([[3, 4, 5, 6, 7]]), tokens)
        # Too few rows, in no order, of two sentences, or all that there are.
        embedding(torch.tensor([[3, 4, 5, 6]]), positions)
        embedding(torch.tensor([[3, 4, 5, 6, 6]]), positions)
        embedding(torch.tensor([[3, 4, 5, 6, 7]] * 2), positions)
        embedding(torch.tensor([[0, 1, 2, 3, 4]]), short)
        embedding(torch.tensor(3), positions)
    found = tables.found(tokens)
    assert [first for _, first in found] == [3, 0]
    assert found[0][0] is positions
    assert found[1][0] is longer


ANGLES = torch.arange(COUNT)[:, None] * torch.tensor([1.0, 0.3, 0.01])
COLUMNS: dict[str, Callable[[Tensor], Tensor]] = {
    "halves": lambda table: torch.cat((table, table), 1),
    "neighbours": lambda table: table.repeat_interleave(2, 1),
    "one of each": lambda table: table,
}


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_the_sines_of_a_rotation_are_found_one_for_each_pair_of_dimensions(columns: str, scale: float) -> None:
    cos, sin = (COLUMNS[columns](table)[None] for table in (ANGLES.cos() * scale, ANGLES.sin() * scale))
    vectors = random(1, HEADS, COUNT, cos.size(-1))
    with Rotations(COUNT) as rotations:
        _ = vectors * torch.ones(1, COUNT, 5)[..., :1]
        _ = vectors * cos
        _ = vectors * sin
        _ = vectors * -cos
    sines = rotations.sines()
    assert sines is not None
    torch.testing.assert_close(sines, ANGLES.sin())


def test_a_rotation_by_complex_numbers_is_found() -> None:
    with Rotations(COUNT) as rotations:
        _ = random(1, COUNT, HEADS, 3) * torch.polar(torch.ones_like(ANGLES), ANGLES)[None, :, None]
    sines = rotations.sines()
    assert sines is not None
    torch.testing.assert_close(sines, ANGLES.sin())


@pytest.mark.parametrize(
    ("cos", "sin"),
    [
        (ANGLES.cos()[1:], ANGLES.sin()[1:]),  # of other positions
        ((ANGLES + 1).cos(), (ANGLES + 1).sin()),  # the first of which is rotated
        (ANGLES.cos(), 1.1 * ANGLES.sin()),
        (ANGLES.cos(), ANGLES.sin()[:, :1].expand(-1, 2)),  # of other widths
        (torch.ones(COUNT, 3), torch.zeros(COUNT, 3)),  # nothing is rotated
        (torch.zeros(COUNT, 3), torch.zeros(COUNT, 3)),
    ],
)
def test_other_factors_rotate_nothing(cos: Tensor, sin: Tensor) -> None:
    with Rotations(COUNT) as rotations:
        for table in (cos, sin):
            _ = random(*table.shape) * table[None]
    assert rotations.sines() is None


def test_a_factor_for_no_sentence_is_no_table() -> None:
    with Rotations(COUNT) as rotations:
        for table in (ANGLES.cos(), ANGLES.sin()):
            _ = random(1, HEADS, COUNT, 3) * table
    assert rotations.sines() is None


@pytest.mark.parametrize(("length", "fewest"), [(15, 6), (12, 3), (11, 2), (4, 2)])
def test_a_table_of_patches_may_lack_a_row_for_up_to_nine_tokens_before_them(length: int, fewest: int) -> None:
    class Model(nn.Module):
        def __init__(self, rows: int) -> None:
            super().__init__()
            self.bias, self.kernel = nn.Parameter(random(7)), nn.Parameter(random(length, 5))
            self.table = nn.Parameter(random(1, rows, 7))

    for rows in (fewest, length):
        model = Model(rows)
        found = picture_table(model, length)
        assert found is not None
        assert torch.equal(found, model.table[0])
    for rows in (fewest - 1, length + 1):
        assert picture_table(Model(rows), length) is None


def inputs(query: Tensor, key: Tensor, bias: Tensor | DistanceBias | None = None) -> AttentionInputs:
    mask = AttentionMask(num_queries=query.size(1), num_keys=key.size(1))
    return AttentionInputs(query=query, key=key, value=key, mask=mask, scale=1.0, bias=bias)


DISTANCES = torch.arange(1 - COUNT, COUNT).float()
SLOPES = torch.tensor([[0.5], [0.25], [2.0]])


@pytest.mark.parametrize(
    ("table", "scheme"),
    [
        (SLOPES * DISTANCES, "ALiBi"),
        # Keys behind a query may have any bias.
        (torch.cat((SLOPES * DISTANCES[:COUNT], random(HEADS, COUNT - 1)), 1), "ALiBi"),
        (SLOPES * DISTANCES**2, "relative bias"),
        (SLOPES * (DISTANCES + 1).relu(), "relative bias"),
        (random(HEADS, 1).expand(-1, 2 * COUNT - 1), "relative bias"),
    ],
)
def test_a_bias_that_grows_evenly_with_the_distance_is_alibi(table: Tensor, scheme: str) -> None:
    same = random(HEADS, 1, 4).expand(-1, COUNT, -1)
    assert probe._scheme_of_inputs([inputs(same, same), inputs(same, same, DistanceBias(table, COUNT))]) == scheme


def rotated(heads: int, size: float) -> Tensor:
    """The same vector of each head, rotated at each position."""
    vectors = size * torch.view_as_complex(random(heads, 1, 3, 2) - 0.5)
    return torch.view_as_real(vectors * torch.polar(torch.ones_like(ANGLES), ANGLES)).flatten(-2)


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_queries_and_keys_that_tell_only_their_distance_are_rotary(size: float) -> None:
    query, key, same = rotated(4, size), rotated(2, size), size * random(4, 1, 6).expand(-1, COUNT, -1)
    assert probe._scheme_of_inputs([inputs(same, same[:2]), inputs(query, key)]) == "rotary"
    assert probe._scheme_of_inputs([inputs(query, key), inputs(query, torch.rand_like(key))]) == "rotary"
    assert probe._scheme_of_inputs([inputs(query, key + size * random(2, COUNT, 1))]) == "unknown"
    nudged = same + 1e-6 * size * random(4, COUNT, 6)
    assert probe._scheme_of_inputs([inputs(same, same), inputs(nudged, same)]) == "none"


def test_what_rounding_leaves_of_small_numbers_tells_nothing() -> None:
    query, key, noise = rotated(4, 0.1), rotated(4, 0.1), random(4, COUNT, 6)
    assert probe._scheme_of_inputs([inputs(query, key + 1e-3 * noise)]) == "rotary"
    assert probe._scheme_of_inputs([inputs(1e-5 * noise, key)]) == "none"


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("bias", "turns", "scheme"),
    [
        (lambda distance: 0 * distance, True, "none"),
        (lambda distance: -distance, True, "ALiBi"),
        (lambda distance: (-distance).exp(), False, "relative bias"),
        (lambda distance: (-distance).exp(), True, "rotary"),
    ],
)
def test_weights_over_equal_tokens_tell_how_positions_are_known(
    causal: bool, bias: Callable[[Tensor], Tensor], turns: bool, scheme: str
) -> None:
    distance = (torch.arange(COUNT)[:, None] - torch.arange(COUNT)).float()
    scores = bias(SLOPES[..., None] * distance.abs())
    scores = scores.masked_fill(distance < 0, -torch.inf) if causal else scores
    assert probe._scheme_of_weights(scores.softmax(-1), turns=turns) == scheme
    # Where one place counts by itself, no scheme of distances fits.
    scores[:, 5, 4] += 0.5
    assert probe._scheme_of_weights(scores.softmax(-1), turns=turns) == "unknown"


def test_a_window_outside_of_which_no_key_has_weight_hides_no_scheme() -> None:
    weights = torch.ones(HEADS, COUNT, COUNT).tril().triu(-2)
    assert probe._scheme_of_weights(weights / weights.sum(-1, keepdim=True), turns=True) == "rotary"


def test_a_table_is_of_sines_if_its_rows_behind_padding_are() -> None:
    angles = torch.arange(26)[:, None] * torch.tensor([1.0, 0.1, 0.01])
    sines = torch.cat((angles.sin(), angles.cos()), 1)
    assert probe._is_sines(sines[:16])
    assert not probe._is_sines(sines[:15])
    for row, is_read in ((7, False), (8, True), (23, True), (24, False)):
        other = sines.clone()
        other[row] = 3.0
        assert probe._is_sines(other) != is_read
    assert probe._is_sines(sines[:, [0, 1, 3, 4]])
    assert not probe._is_sines(torch.cat((sines[:, [0, 3]], torch.zeros(26, 1)), 1))
    assert not probe._is_sines(sines.to("meta"))
    assert not probe._is_sines(sines[None])
    assert not probe._is_sines(torch.tensor(1.0))
    model = nn.Module()
    model.scale, model.rows = nn.Parameter(torch.tensor(1.0)), nn.Parameter(random(26, 6))
    assert not probe._sines(model)
    model.register_buffer("table", sines)
    assert probe._sines(model)

"""The attention that `transformers` calls: fused where it can be, heard by its sums, its booleans as a small mask."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.adapters import capture
from model.adapters.capture import Call, KernelSums, attend, layers_counted, mask_behind, name_attentions
from model.errors import CancelledError
from model.nn.hooks import CALL, listen
from model.trace.trace import Recorded

N = 300  # more than one block of rows


class Site(nn.Module):
    """As much of an attention module as the function sees."""

    is_causal = True
    num_key_value_groups = 2


def calls(recorded: Recorded) -> list[Call]:
    return recorded[f".{CALL}"]


@pytest.fixture
def parts() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(2, 4, N, 8), torch.randn(2, 2, N, 8), torch.randn(2, 2, N, 8)


def expected(parts: tuple[torch.Tensor, torch.Tensor, torch.Tensor], mask: torch.Tensor) -> torch.Tensor:
    query, key, value = parts
    key, value = (one.repeat_interleave(2, dim=1) for one in (key, value))
    return F.scaled_dot_product_attention(query, key, value, mask, scale=0.3).transpose(1, 2)


def test_a_run_keeps_its_tensors_by_reference_and_computes_what_torch_computes(
    parts: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
) -> None:
    with listen(record={CALL, "hook_head_output"}) as recorded:
        output, weights = attend(Site(), *parts, None, scaling=0.3)
    (call,), (of_heads,) = calls(recorded), recorded[".hook_head_output"]
    assert weights is None
    assert [call.query is parts[0], call.key is parts[1], call.value is parts[2]] == [True] * 3
    assert of_heads.data_ptr() == output.data_ptr()
    torch.testing.assert_close(output, expected(parts, torch.ones(N, N, dtype=torch.bool).tril()))
    torch.testing.assert_close(call.of_sentence(1, torch.device("cpu")).head_output().transpose(0, 1), output[1])


def test_a_pass_tells_how_many_attentions_are_done_and_can_be_ended_between_two(
    parts: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
) -> None:
    layers = [Site() for _ in range(3)]
    name_attentions(nn.ModuleList(layers), {layer: (("decoder.self", number),) for number, layer in enumerate(layers)})
    done: list[tuple[int, int]] = []

    def progress(number: int, total: int) -> None:
        done.append((number, total))
        if number == 2:
            raise CancelledError("enough")

    def run() -> None:
        for layer in layers:
            attend(layer, *parts, None, scaling=0.3)

    with layers_counted(progress), listen(), pytest.raises(CancelledError):
        run()
    assert done == [(1, 3), (2, 3)]
    with listen():
        attend(layers[0], *parts, None, scaling=0.3)
    assert len(done) == 2
    # Who goes on to listen, while tokens are written, hears no more than all.
    done.clear()
    with layers_counted(lambda number, total: done.append((number, total))), listen():
        run()
        attend(layers[0], *parts, None, scaling=0.3)
    assert done == [(1, 3), (2, 3), (3, 3), (3, 3)]


def test_a_float_mask_with_a_bias_in_it_is_taken_apart(parts: tuple[torch.Tensor, torch.Tensor, torch.Tensor]) -> None:
    bias = torch.arange(N)[None, :] - torch.arange(N)[:, None]
    causal = torch.ones(N, N, dtype=torch.bool).tril()
    mask = (0.01 * bias).masked_fill(~causal, torch.finfo(torch.float32).min)[None, None]
    with listen(record={CALL}) as recorded:
        output, _ = attend(Site(), *parts, mask, scaling=0.3)
    inputs = calls(recorded)[0].of_sentence(0, torch.device("cpu"))
    assert inputs.mask.causal
    assert inputs.mask.explicit is None
    torch.testing.assert_close(inputs.head_output().transpose(0, 1), output[0], atol=1e-5, rtol=1e-5)


def test_rows_behind_a_cache_that_forgot_the_first_keys_are_placed_among_those_it_has() -> None:
    made = capture.causal_or_padding(batch_size=1, q_length=2, kv_length=7, q_offset=20, kv_offset=15)
    assert made is not None
    behind = getattr(made, "headlight_mask")  # noqa: B009
    assert (behind.causal, behind.first_query, behind.explicit) == (True, 5, None)
    assert torch.equal(behind.rows(), made[:, 0])
    assert made[0, 0].sum(-1).tolist() == [6, 7]


QUERIES = KEYS = 70


def masked_scores(query: Tensor, key: Tensor, mask: Tensor | None, *, is_causal: bool) -> Tensor:
    scores = query.double() @ key.double().repeat_interleave(query.size(1) // key.size(1), 1).mT / query.size(-1) ** 0.5
    if is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)
    if mask is None:
        return scores
    return scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask


@pytest.mark.parametrize("inference", [True, False])
@pytest.mark.parametrize("case", ["plain", "causal", "padded", "biased", "grouped"])
def test_the_sums_are_those_of_the_masked_scores_and_the_output_is_the_kernels_own(case: str, inference: bool) -> None:
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, 6, QUERIES, 16)
    mask = {"padded": torch.rand(2, 1, QUERIES, KEYS) > 0.4, "biased": torch.randn(1, 6, QUERIES, KEYS)}.get(case)
    is_causal = case in {"causal", "grouped"}
    if case == "grouped":
        key, value = key[:, :2], value[:, :2]
    with torch.inference_mode(inference), torch.no_grad():
        attend = partial(
            F.scaled_dot_product_attention, attn_mask=mask, is_causal=is_causal, enable_gqa=case == "grouped"
        )
        expected = attend(query, key, value)
        with KernelSums() as told:
            output = attend(query, key, value)
    assert torch.equal(output, expected)
    sums = masked_scores(query, key, mask, is_causal=is_causal).logsumexp(-1).float()
    assert told.sums is not None
    torch.testing.assert_close(told.sums, sums, atol=2e-6, rtol=1e-6)


SIZE = 9
ROW, COLUMN = torch.arange(SIZE)[:, None], torch.arange(SIZE)[None, :]
PADDING = torch.ones(2, SIZE, dtype=torch.bool)
PADDING[1, 6:] = False

RULES = {
    "everything": (torch.ones(SIZE, SIZE, dtype=torch.bool), None),
    "causal": (COLUMN <= ROW, None),
    "window": ((COLUMN <= ROW) & (ROW - COLUMN < 3), 3),
    "window both ways": ((ROW - COLUMN).abs() <= 3, 3),
    "chunks": ((COLUMN <= ROW) & (ROW // 4 == COLUMN // 4), 4),
}


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_found_and_allows_the_same_places(rule: str, padded: bool) -> None:
    allowed, size = RULES[rule]
    allowed = allowed.expand(2, SIZE, SIZE) & (PADDING[:, None] if padded else torch.ones(2, 1, SIZE, dtype=torch.bool))
    mask = mask_behind(allowed, local_size=size)
    assert mask.explicit is None
    assert (mask.key_padding is not None) == padded
    assert (mask.window is not None, mask.chunk is not None) == ("window" in rule, rule == "chunks")
    assert torch.equal(mask.rows().expand(2, SIZE, SIZE), allowed)
    assert torch.equal(mask.of_sentence(1).rows([2, 5])[0], allowed[1, [2, 5]])


@pytest.mark.parametrize("row", [0, 255, 256, N - 1])
def test_a_mask_that_breaks_its_rule_in_one_row_follows_none(row: int) -> None:
    allowed = torch.ones(1, N, N, dtype=torch.bool).tril()
    allowed[0, row, :2] = ~allowed[0, row, :2]
    assert torch.equal(mask_behind(allowed).rows(), allowed)

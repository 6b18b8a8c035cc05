"""The attention that `transformers` calls: fused where it can be, and the same numbers where it cannot."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from model.adapters import capture, library
from model.adapters.capture import Call, attend, layers_counted, name_attentions
from model.errors import CancelledError
from model.nn.edit_hooks import compile_edits
from model.nn.edits import MakeUniform, SwitchOff
from model.nn.hooks import CALL, current_listener, listen
from model.trace.trace import Recorded

N = 300  # more than one block of rows


class Site(nn.Module):
    """As much of an attention module as the function sees."""

    is_causal = True
    num_key_value_groups = 2


def named() -> Site:
    site = Site()
    name_attentions(site, {site: (("decoder.self", 0),)})
    return site


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


def test_what_is_kept_knows_the_sums_of_its_rows_as_the_kernel_computed_them(
    parts: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
) -> None:
    mask = torch.ones(2, 1, N, N, dtype=torch.bool).tril()
    mask[1, ..., :20] = False
    with listen(record={CALL}) as recorded, torch.inference_mode():
        attend(Site(), *parts, None, scaling=0.3)
        attend(Site(), *parts, mask, scaling=0.3)
        attend(Site(), *parts, mask, scaling=0.3, softcap=2.0)
    plain, padded, capped = (call.of_sentence(1, torch.device("cpu")) for call in calls(recorded))
    for inputs, first in ((plain, 0), (padded, 20)):
        assert inputs.log_sums is not None
        scores = inputs.scores_and_weights().scores[:, first:]
        torch.testing.assert_close(inputs.log_sums[:, first:], scores.logsumexp(-1), atol=2e-6, rtol=1e-6)
    assert capped.log_sums is None


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


def test_nothing_is_kept_when_nobody_listens(parts: tuple[torch.Tensor, torch.Tensor, torch.Tensor]) -> None:
    with listen(record={CALL}) as recorded:
        pass
    attend(Site(), *parts, None, scaling=0.3)
    assert not recorded


def test_rows_computed_block_by_block_are_those_of_the_fused_kernel(
    parts: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
) -> None:
    site = named()
    edits = [MakeUniform("decoder.self", 0, 3, since=N), MakeUniform("decoder.self", 0, 1, row=N - 2)]
    with listen(edits=compile_edits(edits, {"decoder.self": (1, 4)}, num_source=0, num_target=N + 1)):
        edited, _ = attend(site, *parts, None, scaling=0.3)
    plain, _ = attend(site, *parts, None, scaling=0.3)
    mean = parts[2][:, 0, : N - 1].mean(1)
    torch.testing.assert_close(edited[:, N - 2, 1], mean, atol=1e-5, rtol=1e-5)
    edited[:, N - 2, 1] = plain[:, N - 2, 1]
    torch.testing.assert_close(edited, plain, atol=1e-5, rtol=1e-5)


def test_a_head_that_is_switched_off_puts_out_nothing_and_the_others_what_they_did(
    parts: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
) -> None:
    site, off = named(), [SwitchOff("decoder.self", 0, 3, since=2)]
    edits = compile_edits(off, {"decoder.self": (1, 4)}, num_source=0, num_target=N)
    with listen(record={CALL}, edits=edits) as recorded:
        edited, _ = attend(site, *parts, None, scaling=0.3)
    plain, _ = attend(site, *parts, None, scaling=0.3)
    plain[:, 2:, 3] = 0.0
    assert torch.equal(edited, plain)
    (call,) = recorded["decoder.layers.0.self_attention.hook_call"]
    assert call.edits == tuple(off)


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


def test_an_error_leaves_nobody_listening(parts: tuple[torch.Tensor, torch.Tensor, torch.Tensor]) -> None:
    with pytest.raises(RuntimeError), listen(record={CALL}):
        attend(Site(), parts[0], parts[1][..., :3], parts[2], None, scaling=0.3)
    assert current_listener() is None


def test_rows_that_come_one_at_a_time_see_all_keys_before_them(
    parts: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
) -> None:
    query, key, value = parts
    with listen(record={CALL}) as recorded:
        attend(Site(), query[:, :, -1:], key, value, None, scaling=0.3)
    mask = calls(recorded)[0].mask
    assert (mask.first_query, mask.num_queries) == (N - 1, 1)
    assert mask.rows().all()


@pytest.mark.parametrize("kind", ["decoder", "encoder"])
def test_no_booleans_are_made_where_none_are_needed(kind: str) -> None:
    causal = {"allow_is_causal_skip": kind == "decoder", "allow_is_bidirectional_skip": kind == "encoder"}
    assert capture.causal_or_padding(batch_size=1, q_length=9, kv_length=9, attention_mask=None, **causal) is None
    assert library.OURS == "headlight"

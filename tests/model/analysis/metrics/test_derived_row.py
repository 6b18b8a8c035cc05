"""One derived row against the trace and a calculation by hand, for every site, and with the switches thrown."""

import math

import pytest
import torch

from model import Translator
from model.analysis.metrics.derived_row import ROWS_AT_ONCE, derive_row, dot_product_spread, head_parts
from model.errors import TraceError
from model.nn.attention import AttentionInputs
from model.nn.encoder_decoder import SITES, site_path
from model.nn.masks import AttentionMask
from model.trace.trace import Trace

TEXT = "The animal was tired because it was late."


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def inputs_of(
    *,
    heads: int = 4,
    kv_heads: int = 2,
    queries: int = 5,
    keys: int = 5,
    causal: bool = True,
    padding: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
) -> AttentionInputs:
    """Grouped heads whose values are narrower than their keys."""
    return AttentionInputs(
        query=random(heads, queries, 6),
        key=random(kv_heads, keys, 6) + 0.2,
        value=random(kv_heads, keys, 3),
        mask=AttentionMask(num_queries=queries, num_keys=keys, causal=causal, key_padding=padding),
        scale=6**-0.5,
        bias=bias,
    )


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace(TEXT, extras={"hook_head_output"})


@pytest.mark.parametrize("site", SITES)
def test_both_switches_on_is_what_the_trace_says_of_every_row(trace: Trace, site: str) -> None:
    layer, head = 1, 2
    scores, weights = trace.scores(site, layer, [head])[0], trace.weights(site, layer, [head])[0]
    outputs = trace.head_output(site, layer, [head])[0]
    for row in range(len(weights)):
        derived = derive_row(trace.attention(site, layer), head, row, scaled=True, masked=True)
        torch.testing.assert_close(derived.scores, scores[row])
        torch.testing.assert_close(derived.weights, weights[row])
        torch.testing.assert_close(derived.head_output, outputs[row])
        assert derived.allowed.equal(trace.mask(site, layer)[row])


@pytest.mark.parametrize("site", SITES)
def test_parts_of_all_heads_and_the_bias_sum_to_the_real_output_of_the_site(translator: Translator, site: str) -> None:
    module = translator.model.get_submodule(site_path(site, 1))
    real: list[torch.Tensor] = []
    hook = module.register_forward_hook(lambda module, inputs, output: real.append(output[0]))
    try:
        trace = translator.trace(TEXT, "Das Tier war müde.")
    finally:
        hook.remove()
    # Of the greedy decoding before, nothing: with a target given, the model runs once.
    (output,) = real
    projection = translator.output_projection(site, 1)
    bias = module.get_parameter("output.bias")
    with torch.no_grad():
        for row in range(len(output)):
            parts = head_parts(trace.attention(site, 1), row, projection)
            torch.testing.assert_close(parts.sum(0) + bias, output[row], atol=1e-5, rtol=1e-5)


def test_one_row_by_hand() -> None:
    inputs = AttentionInputs(
        query=torch.tensor([[[2.0, 0.0]]]),
        key=torch.tensor([[[math.log(3.0), 5.0], [0.0, -7.0]]]),
        value=torch.tensor([[[8.0], [4.0]]]),
        mask=AttentionMask(num_queries=1, num_keys=2),
        scale=0.5,
    )
    derived = derive_row(inputs, 0, 0, scaled=True, masked=True)
    torch.testing.assert_close(derived.products, torch.tensor([[2 * math.log(3.0), 0.0], [0.0, 0.0]]))
    torch.testing.assert_close(derived.dots, torch.tensor([2 * math.log(3.0), 0.0]))
    torch.testing.assert_close(derived.scaled, torch.tensor([math.log(3.0), 0.0]))
    torch.testing.assert_close(derived.shares, torch.tensor([1.0, 1 / 3]))
    torch.testing.assert_close(derived.weights, torch.tensor([0.75, 0.25]))
    torch.testing.assert_close(derived.weighted_values, torch.tensor([[6.0], [1.0]]))
    torch.testing.assert_close(derived.head_output, torch.tensor([7.0]))
    unscaled = derive_row(inputs, 0, 0, scaled=False, masked=True)
    torch.testing.assert_close(unscaled.weights, torch.tensor([0.9, 0.1]))


def test_a_row_that_may_see_nothing_gives_zeros() -> None:
    nothing = inputs_of(causal=False, padding=torch.zeros(1, 5, dtype=torch.bool))
    derived = derive_row(nothing, 0, 0, scaled=True, masked=True)
    for part in (derived.shares, derived.weights, derived.head_output):
        assert (part == 0).all()
    assert (derived.entropy, derived.max_entropy) == (0.0, 0.0)


@pytest.mark.parametrize("causal", [True, False])
def test_the_spread_of_many_blocks_equals_that_of_all_pairs_at_once(causal: bool) -> None:
    long = 2 * ROWS_AT_ONCE + 7
    inputs = inputs_of(queries=long, keys=long, causal=causal)
    dots = (inputs.query[3] @ inputs.key[1].T)[inputs.mask.rows()[0]]
    spread = dot_product_spread(inputs, 3)
    assert spread.pairs == dots.numel()
    assert spread.before == pytest.approx(float(dots.std(correction=0)), rel=1e-5)
    assert spread.after == pytest.approx(spread.before / 6**0.5)


@pytest.mark.parametrize(("head", "row", "named"), [(4, 0, "Heads"), (-1, 0, "Heads"), (0, 5, "rows"), (0, -1, "rows")])
def test_a_head_or_row_that_is_not_there_is_named(head: int, row: int, named: str) -> None:
    with pytest.raises(TraceError, match=f"{named} run from 0 to"):
        derive_row(inputs_of(), head, row, scaled=True, masked=True)

"""The cell that is most worth asking about."""

import torch

from model import Trace, Translator
from model.analysis.reasons.cell import telling_cell
from model.nn.attention import WeightsOnly
from model.nn.masks import AttentionMask
from model.sources.source import TextSource
from tests.shipped import FOLDER, TIRED, WIDE

EMPTY = TextSource(text="")
TOKENS = ("<s>", *(f"▁word{number}" for number in range(11)))


def decoder(weights: torch.Tensor) -> Trace:
    """A decoder alone that looks so: [layer, head, query, key]."""
    mask = AttentionMask(num_queries=12, num_keys=12, causal=True)
    layers = tuple(WeightsOnly(held=of_layer, mask=mask, why="They are invented.") for of_layer in weights)
    ids = tuple(range(12))
    return Trace(
        reader_key="", target_ids=ids, target_tokens=TOKENS, inputs={"decoder.self": layers}, recorded={}, source=EMPTY
    )


def test_alone_it_is_the_weight_that_no_habit_expects() -> None:
    """Not that of a head that looks at the token before, at one key, at the special token or at the only key."""
    scores = torch.rand(2, 3, 12, 12, generator=torch.Generator().manual_seed(3))
    scores[0, 0].diagonal(-1)[:] += 9
    scores[0, 1, :, 3] += 9
    scores[1, 0, 8, 0] += 9
    scores[1, 2, 7, 4] += 5
    weights = scores.masked_fill(torch.ones(12, 12).triu(1).bool(), -torch.inf).softmax(-1)
    found = telling_cell(decoder(weights))
    assert found is not None
    assert (found.layer, found.head, found.row, found.key) == (1, 2, 7, 4)
    kept = weights[1, 2, 7].clone()
    kept[4] = 0
    assert found.rival == int(kept.argmax())


def test_with_a_twin_it_is_what_the_head_looks_at_here_and_not_there() -> None:
    translator = Translator.load(FOLDER, device="cpu")
    trace = translator.trace(TIRED)
    twin = translator.trace_tokens(WIDE, trace.target_ids[1:])
    found = telling_cell(trace, twin)
    assert found is not None
    assert (found.site, found.layer, found.head) == ("decoder.cross", 4, 1)
    assert trace.row_names(found.site)[found.row] == "▁weil → ▁es"
    assert [trace.source_tokens[key] for key in (found.key, found.rival)] == ["▁animal", "▁street"]


def test_a_row_with_one_key_has_none() -> None:
    mask = AttentionMask(num_queries=1, num_keys=1)
    alone = WeightsOnly(held=torch.ones(2, 1, 1), mask=mask, why="It is invented.")
    trace = Trace(
        reader_key="",
        source=EMPTY,
        target_ids=(5,),
        target_tokens=("▁a",),
        inputs={"decoder.self": (alone,)},
        recorded={},
    )
    assert telling_cell(trace) is None

"""A score is a table of parts at the query and parts at the keys."""

import pytest
import torch

from model import TransformerConfig
from model.analysis.reasons.held_run import Part
from model.analysis.reasons.pairs import Pairs, pairs
from model.analysis.reasons.score import Question, Reason, Step, explain
from model.config import Norm
from model.opening import open_reader
from model.tokenizer import Tokenizer
from tests.model.adapters.zoo import KINDS, random_reader
from tests.model.analysis.reasons.test_score import CLOSE, TARGET, TEXT, TWIN, ours, traced
from tests.paths import ROOT


def same_as_sides(found: Pairs, reason: Reason) -> None:
    """Rows add up to the parts at the query, columns to those at the keys, all to what is explained."""
    assert float(found.shares.sum()) + found.distance == pytest.approx(reason.total, abs=CLOSE)
    sides: list[tuple[Step, tuple[Part, ...], torch.Tensor]] = [
        (reason.query, found.query, found.shares.sum(1)),
        (reason.keys, found.keys, found.shares.sum(0)),
    ]
    for step, parts, sums in sides:
        of_parts = dict(zip(parts, sums.tolist(), strict=True))
        for part, share in step.single_parts().items():
            if part.kind != "distance":
                assert of_parts[part] == pytest.approx(share, abs=CLOSE), part


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_pairs_add_up_to_the_parts_of_either_side(norm: Norm, config: TransformerConfig, tokenizer: Tokenizer) -> None:
    reader = ours(norm, config, tokenizer)
    trace = traced(reader)
    question = Question(site="decoder.cross", layer=2, head=3, row=2, key=1, rival=3)
    reason = explain(reader.parts, trace, question)
    same_as_sides(pairs(reason), reason)
    changed = explain(reader.parts, trace, question, traced(reader, TWIN))
    assert float(pairs(changed).shares.sum()) == pytest.approx(changed.total, abs=CLOSE)


@pytest.mark.parametrize("kind", ["qwen3", "gemma2", "t5"])
def test_pairs_of_rotations_groups_caps_and_biases_of_distance_add_up_too(kind: str) -> None:
    reader = random_reader(kind)
    trace = reader.trace(TEXT, TARGET if KINDS[kind] == "encoder-decoder" else None)
    question = Question(site="decoder.self", layer=1, head=1, row=4, key=3, rival=1)
    reason = explain(reader.parts, trace, question)
    same_as_sides(pairs(reason), reason)


def test_the_query_of_induction_is_made_by_a_head_and_its_key_by_the_head_that_looks_one_back() -> None:
    """Not the token itself asks: layer 1, head 3 has copied it. Against the mean of all other keys."""
    reader = open_reader(ROOT / "checkpoints" / "induction")
    trace = reader.trace("qsxk wnvb. qsx")
    row = len(trace.target_ids) - 1
    for head in range(4):
        question = Question(site="decoder.self", layer=1, head=head, row=row, key=3, rival=0)
        assert int(trace.weights("decoder.self", 1, [head], [row]).argmax()) == question.key
        reason = explain(reader.parts, trace, question)
        ((query, key, share),) = pairs(reason, [other for other in range(row + 1) if other != 3]).largest(1)
        assert (query.layer, query.head, key.layer, key.head) == (0, 2, 0, 0)
        assert share > 0

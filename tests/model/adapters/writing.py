"""What holds of a model that writes about a sound as of one that writes about a picture."""

from typing import Any

import pytest
import torch

from model import SwitchOff
from model.adapters.generation import GenerationSession
from model.analysis.reasons.score import Question, explain

#: Site → what the library calls its weights.
EAGER = {
    "encoder.self": "encoder_attentions",
    "decoder.self": "decoder_attentions",
    "decoder.cross": "cross_attentions",
}


def check_steps_and_edits(reader: Any) -> GenerationSession:
    """Steps back, branches, targets, edits and choices are as of any writer; gives a branch of four steps at most."""
    session: GenerationSession = reader.decode("")
    while not session.finished and len(session.steps) < 4:
        session.step()
    first = session.steps[-1]
    session.back()
    branch = session.branch()
    assert branch.step().token_id == first.token_id
    assert branch.steps[-1].log_prob == pytest.approx(first.log_prob, abs=1e-4)
    forced = reader.trace_tokens("", branch.written_ids)
    torch.testing.assert_close(forced.weights("decoder.cross", 1), branch.trace().weights("decoder.cross", 1))
    given = reader.trace("", "it was tired")
    assert given.translation.strip() == "it was tired"
    assert given.target_ids[: len(branch.prompt_ids)] == branch.prompt_ids
    off = reader.trace("", "it was tired", edits=[SwitchOff("decoder.cross", layer=0, head=1)])
    assert not off.weights("decoder.cross", 0, heads=[1]).any()
    assert not torch.equal(off.weights("decoder.cross", 1), given.weights("decoder.cross", 1))
    if reader.abilities.has("logit lens"):
        assert reader.logit_lens(given).tokens[-1][-1][0] == given.predicted_tokens[-1]
    with torch.inference_mode():
        assert reader.log_odds([reader.word_choice("", "animal", "street")]).shape == (1, 1)
    return branch


def check_parts_add_up(reader: Any) -> None:
    """The parts of both stacks add up to the difference of two scores, at every site."""
    assert reader.abilities.has("reasons")
    trace = reader.trace("", "it was tired")
    for site in trace.sites:
        layer, rows = trace.layers_of(site) - 1, len(trace.axis_tokens(site)[0])
        asked = Question(site=site, layer=layer, head=1, row=rows - 1, key=1, rival=0)
        reason = explain(reader.parts, trace, asked)
        scores = trace.scores(site, layer, [1], [rows - 1])[0, 0]
        expected = float(scores[1] - scores[0])
        close = 1e-5 * max(1, abs(expected))
        for side in (reason.query, reason.keys):
            assert sum(side.shares().values()) == pytest.approx(expected, abs=close)

"""A session goes step by step, back, and where a person sends it; branches and sessions do not disturb each other."""

from typing import Any

import pytest
import torch

from model import Translator
from model.decoding.session import DecodingSession
from model.errors import EditError, SessionError, TokenError
from model.nn.edits import MakeUniform, SwitchOff
from model.trace.trace import Trace
from tests.conftest import SENTENCES

TEXT = SENTENCES[0]


def test_a_step_has_the_20_most_probable_tokens_from_the_first_on(translator: Translator) -> None:
    model = translator.model
    with torch.inference_mode():
        memory = model.encode(torch.tensor([translator.source_ids(TEXT)]))
        logits = model.projection(model.decode(torch.tensor([[model.config.bos_id]]), memory)[0, -1])
    expected = torch.log_softmax(logits, -1).sort(descending=True).values[:20].tolist()
    step = translator.decode(TEXT).step()
    assert [one.log_prob for one in step.candidates] == pytest.approx(expected, abs=1e-5)
    assert len({one.token_id for one in step.candidates}) == 20
    assert (step.token_id, step.log_prob) == (step.candidates[0].token_id, step.candidates[0].log_prob)


def test_a_forced_token_changes_only_what_follows(translator: Translator) -> None:
    free, forced = translator.decode(TEXT), translator.decode(TEXT)
    for session in (free, forced):
        for _ in range(3):
            session.step()
    other = free.step().candidates[1]
    assert forced.force(other.token_id).token_id == other.token_id
    assert forced.steps[3].log_prob == pytest.approx(other.log_prob, abs=1e-5)
    for session in (free, forced):
        session.step()
    a, b = free.trace(), forced.trace()
    assert a.steps[:3] == b.steps[:3]
    for site in ("decoder.self", "decoder.cross"):
        # Row i reads token i; the forced token is read in row 4.
        rows_a, rows_b = a.weights(site, 1), b.weights(site, 1)
        torch.testing.assert_close(rows_a[:, :4], rows_b[:, :4])
        assert not torch.allclose(rows_a[:, 4], rows_b[:, 4])
    assert torch.equal(a.weights("encoder.self", 1), b.weights("encoder.self", 1))


def test_what_cannot_be_done_is_said(translator: Translator) -> None:
    session = translator.decode(TEXT)
    with pytest.raises(SessionError, match="no step to undo"):
        session.back()
    with pytest.raises(SessionError, match="take a step first"):
        session.trace()
    with pytest.raises(TokenError, match="is not a token"):
        session.force("qqqqqq")
    with pytest.raises(TokenError, match="run from 0"):
        session.force(10**6)
    assert session.steps == ()


def test_a_failing_edit_leaves_the_session_as_it_was(translator: Translator) -> None:
    calls = 0

    def fail_once(value: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise RuntimeError("edit failed")
        return value

    session = translator.decode(TEXT, edits={"decoder.layers.1.hook_output": fail_once})
    session.step()
    with pytest.raises(RuntimeError, match="edit failed"):
        session.step()
    session.step()
    plain = translator.decode(TEXT)
    plain.step()
    plain.step()
    assert [s.token_id for s in session.steps] == [s.token_id for s in plain.steps]
    assert session.steps[1].log_prob == pytest.approx(plain.steps[1].log_prob, abs=1e-6)


MEMORY_KEY = "decoder.layers.0.cross_attention.hook_key"
ENCODER_OUTPUT = "encoder.layers.0.hook_output"
RECORDED = {"hook_head_output"}


def begun(translator: Translator, steps: int, **edits: Any) -> DecodingSession:
    session = translator.decode(TEXT, **edits)
    for _ in range(steps):
        session.step()
    return session


def assert_same_trace(ours: Trace, theirs: Trace) -> None:
    assert ours.target_ids == theirs.target_ids
    assert [step.token_id for step in ours.steps] == [step.token_id for step in theirs.steps]
    for site in ours.sites:
        for layer in range(ours.layers_of(site)):
            torch.testing.assert_close(ours.weights(site, layer), theirs.weights(site, layer))
    assert ours.recorded.keys() == theirs.recorded.keys()
    for name, value in ours.recorded.items():
        torch.testing.assert_close(value, theirs.recorded[name])


def test_a_branch_and_the_session_it_leaves_go_on_as_if_each_were_alone(translator: Translator) -> None:
    session = begun(translator, 4)
    branch = session.branch()
    assert branch.steps == session.steps
    rival = branch.steps[-1].candidates[2].token_id
    # By turns, so that one's rows would end up in the other's cache if they shared it.
    branch.back()
    branch.force(rival)
    for _ in range(3):
        session.step()
        branch.step()
    alone, forced = begun(translator, 7), begun(translator, 3)
    forced.force(rival)
    for _ in range(3):
        forced.step()
    assert_same_trace(session.trace(), alone.trace())
    assert_same_trace(branch.trace(), forced.trace())


def test_a_branch_cannot_edit_what_is_computed_already(translator: Translator) -> None:
    session = begun(translator, 2)
    with pytest.raises(SessionError, match=f"cannot edit {ENCODER_OUTPUT}"):
        session.branch(edits={ENCODER_OUTPUT: torch.zeros_like})
    with pytest.raises(SessionError, match="after 2 steps would change nothing"):
        session.branch(edits={MEMORY_KEY: torch.zeros_like})
    with pytest.raises(ValueError, match="no such hook points"):
        session.branch(edits={"decoder.hook_nonsense": torch.zeros_like})
    assert session.branch().steps == session.steps


def assert_weights_are_those_the_model_used(trace: Trace) -> None:
    for site in trace.sites:
        for layer in range(trace.layers_of(site)):
            assert trace.head_output_deviation(site, layer) <= 1e-5


# The head's rows under the session's own edit first, then under the branch's, at the same or at the other hook point.
@pytest.mark.parametrize("site", ["decoder.self", "decoder.cross"])
@pytest.mark.parametrize(
    ("own", "later"), [(SwitchOff, MakeUniform), (MakeUniform, SwitchOff), (MakeUniform, MakeUniform)]
)
def test_named_edits_of_a_session_stay_on_its_rows_and_those_of_a_branch_begin_with_it(
    translator: Translator,
    site: str,
    own: type[MakeUniform] | type[SwitchOff],
    later: type[MakeUniform] | type[SwitchOff],
) -> None:
    session = begun(translator, 3, extras=RECORDED, edits=[own(site, 0, 1, since=1)])
    branch = session.branch(edits=[later(site, 0, 3)])
    branch.step()
    branch.step()
    trace = branch.trace()
    assert set(trace.edits) == {own(site, 0, 1, row=1), own(site, 0, 1, row=2), later(site, 0, 3, since=3)}
    assert_weights_are_those_the_model_used(trace)
    both = begun(translator, 5, extras=RECORDED, edits=trace.edits)
    assert_same_trace(trace, both.trace())


def test_named_edits_of_the_encoder_stay_in_a_branch_and_cannot_begin_with_it(translator: Translator) -> None:
    of_encoder = SwitchOff("encoder.self", 0, 1)
    session = begun(translator, 2, extras=RECORDED, edits=[of_encoder])
    branch = session.branch(edits=[SwitchOff("decoder.self", 0, 1)])
    branch.step()
    assert branch.trace().edits == (of_encoder, SwitchOff("decoder.self", 0, 1, since=2))
    assert_weights_are_those_the_model_used(branch.trace())
    with pytest.raises(SessionError, match=r"cannot edit encoder\.layers\.0\.self_attention\.hook_head_output"):
        session.branch(edits=[of_encoder])


def test_a_branch_refuses_a_named_edit_of_a_row_before_it_or_of_what_is_not_there(translator: Translator) -> None:
    session = begun(translator, 2)
    with pytest.raises(EditError, match=r"row 1 of decoder\.self comes before it"):
        session.branch(edits=[SwitchOff("decoder.self", 0, 0, row=1)])
    with pytest.raises(EditError, match=r"Heads of decoder\.self run from 0 to 3, got 9"):
        session.branch(edits=[SwitchOff("decoder.self", 0, 9)])
    assert session.branch().steps == session.steps

"""A session goes step by step, back, and where a person sends it."""

import pytest
import torch

from model import Translator
from model.errors import SessionError, TokenError
from tests.conftest import SENTENCES

TEXT = SENTENCES[0]


def test_step_by_step_equals_one_teacher_forced_pass(translator: Translator) -> None:
    session = translator.decode(TEXT, extras={"hook_head_output"})
    session.run()
    stepped = session.trace()
    forced = translator._forced_trace(TEXT, session.target_ids[1:], {"hook_head_output"}, None)
    assert stepped.target_tokens == forced.target_tokens
    assert stepped.predicted_tokens == forced.predicted_tokens
    for site in stepped.sites:
        for layer in range(stepped.layers_of(site)):
            torch.testing.assert_close(stepped.weights(site, layer), forced.weights(site, layer), atol=1e-5, rtol=1e-4)
            assert torch.equal(stepped.mask(site, layer), forced.mask(site, layer))
    assert stepped.recorded.keys() == forced.recorded.keys()
    for name, value in stepped.recorded.items():
        torch.testing.assert_close(value, forced.recorded[name], atol=1e-5, rtol=1e-4)
    for ours, theirs in zip(stepped.steps, forced.steps, strict=True):
        assert ours.log_prob == pytest.approx(theirs.log_prob, abs=1e-4)
        assert ours.entropy == pytest.approx(theirs.entropy, abs=1e-4)


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

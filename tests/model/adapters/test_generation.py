"""Other people's models write here what `generate` writes: greedily, in beams, with the caches that they have."""

import json
import math
from typing import Any

import pytest
import torch

from model import Draws, PointAt, Sampling, SwitchOff, Translator
from model.adapters.generation import GenerationSession
from model.adapters.text_writer import TextWriter
from model.decoding.session import Session
from model.errors import SessionError, TokenError
from model.nn.edits import HeadEdit
from model.reader import Writer
from tests.model.adapters.writers import BOTH, DECODERS, writer
from viz.pages.decoding import export

pytestmark = pytest.mark.usefixtures("short_texts")

TEXT = "The animal was too tired."


def generate(reader: TextWriter, **options: Any) -> Any:
    """What the library writes."""
    given = torch.tensor([reader.source(TEXT).ids])
    session = reader.decode(TEXT)
    return reader.model.generate(  # type: ignore[operator]
        given, attention_mask=torch.ones_like(given), max_new_tokens=session.max_steps, max_length=None,
        do_sample=False, **{"num_beams": 1, **reader.start_options, **options},
    )  # fmt: skip


def finished(reader: TextWriter) -> GenerationSession:
    session = reader.decode(TEXT)
    session.run()
    return session


@pytest.mark.parametrize("model_type", [*DECODERS, *BOTH])
def test_greedy_steps_equal_generate(writers: dict[str, TextWriter], model_type: str) -> None:
    expected = generate(writers[model_type])[0].tolist()
    session = finished(writers[model_type])
    assert list(session.target_ids) == expected
    assert session.translation == writers[model_type].pieces.decode(session.written_ids)
    with pytest.raises(SessionError, match="finished"):
        session.step()


@pytest.mark.parametrize(
    ("model_type", "settings"),
    [
        ("bart", {"forced_bos_token_id": 5, "no_repeat_ngram_size": 2, "min_new_tokens": 6}),
        ("gpt2", {"repetition_penalty": 1.5, "suppress_tokens": [3, 4], "begin_suppress_tokens": [5]}),
        ("marian", {"bad_words_ids": [[0]], "forced_eos_token_id": 2, "eos_token_id": 2, "renormalize_logits": True}),
    ],
)
def test_the_models_own_settings_are_kept(model_type: str, settings: dict[str, Any]) -> None:
    reader = writer(model_type, **settings)
    session = finished(reader)
    assert list(session.target_ids) == generate(reader)[0].tolist()
    assert all(candidate.log_prob > -torch.inf for step in session.steps for candidate in step.candidates)
    tree = reader.beam_tree(TEXT, beam=3)
    found = generate(reader, num_beams=3)[0].tolist()
    assert [*session.prompt_ids, *tree.token_ids(tree.winner.index)] == found


@pytest.mark.parametrize("model_type", ["gpt2", "llama", "mistral", "t5", "bart"])
@pytest.mark.parametrize(("early_stopping", "alpha"), [(False, 1.0), (True, 0.6), ("never", 2.0)])
def test_beams_equal_those_of_generate(
    writers: dict[str, TextWriter], model_type: str, early_stopping: bool | str, alpha: float
) -> None:
    reader = writers[model_type]
    found = generate(
        reader, num_beams=4, num_return_sequences=4, early_stopping=early_stopping, length_penalty=alpha,
        return_dict_in_generate=True, output_scores=True,
    )  # fmt: skip
    tree = reader.beam_tree(TEXT, 4, alpha, early_stopping=early_stopping)
    prompt = reader.decode(TEXT).prompt_ids
    for node, row in zip(tree.hypotheses, found.sequences.tolist(), strict=True):
        own, theirs = list(tree.token_ids(node)), row[len(prompt) :]
        assert own == theirs[: len(own)]
        assert set(theirs[len(own) :]) <= {0, 2}  # what shorter ones are filled up with
    scores = [tree.nodes[node].score for node in tree.hypotheses]
    assert scores == pytest.approx(found.sequences_scores.tolist(), abs=1e-4)


@pytest.mark.parametrize("model_type", ["bart", "t5"])
def test_a_tree_holds_nothing_that_the_rules_forbid(model_type: str) -> None:
    reader = writer(model_type, forced_bos_token_id=5, forced_eos_token_id=2, eos_token_id=2)
    tree = reader.beam_tree(TEXT, beam=3)
    assert all(math.isfinite(node.total) and math.isfinite(node.log_prob) for node in tree.nodes)
    assert [node.token_id for node in tree.nodes if node.step == 0] == [5]
    assert {node.token_id for node in tree.nodes if node.step == tree.limit - 1} <= {2}
    assert json.loads(export.beam(tree, TEXT, checkpoint="bart", digest="d"))["nodes"][1]["total"] == 0.0


def test_a_forbidden_token_that_a_person_writes_has_no_number_in_the_export() -> None:
    session = writer("gpt2", suppress_tokens=[20]).decode(TEXT)
    assert session.force(20).log_prob == -math.inf
    session.force(21)
    found = json.loads(export.branches((), [session.trace()], text=TEXT, checkpoint="gpt2", digest="d"))["branches"][0]
    assert found["log_prob"] is None
    assert [step["log_prob"] is None for step in found["steps"][-2:]] == [True, False]


def test_samples_are_those_of_a_session_and_follow_the_seed(writers: dict[str, TextWriter]) -> None:
    for model_type in ("llama", "t5"):
        reader, sampling = writers[model_type], Sampling(temperature=2.0, top_k=30)
        drawn = reader.sample(TEXT, n=3, sampling=sampling, seed=5)
        for number, one in enumerate(drawn):
            session = reader.decode(TEXT)
            session.run(Draws(sampling=sampling, seed=5, sample=number))
            assert session.written_ids == one.token_ids
            assert [step.log_prob for step in session.steps] == pytest.approx(one.log_probs, abs=1e-4)
        assert len({one.token_ids for one in drawn}) > 1


@pytest.mark.parametrize("model_type", [*DECODERS, *BOTH])
def test_step_by_step_equals_one_pass_over_the_same_tokens(writers: dict[str, TextWriter], model_type: str) -> None:
    reader = writers[model_type]
    session = reader.decode(TEXT)
    for token in (20, 21, 22, 23, 24, 25, 26):
        session.force(token)
    trace = session.trace()
    prompt = len(session.prompt_ids)
    assert trace.target_ids == session.target_ids[:-1]
    assert trace.steps[prompt - 1 :] == session.steps
    given: dict[str, Any] = {"input_ids": torch.tensor([session.target_ids[:-1]])}
    if reader.abilities.kind == "encoder-decoder":
        given = {"input_ids": torch.tensor([trace.source_ids]), "decoder_input_ids": given["input_ids"]}
    with torch.inference_mode():
        log_probs = reader.model(**given, use_cache=False).logits[0].log_softmax(-1)
    for step in session.steps:
        assert step.log_prob == pytest.approx(log_probs[step.index, step.token_id].item(), abs=1e-4)
    weights = trace.weights("decoder.self", 1)
    assert weights.shape[-1] == len(trace.target_tokens)
    torch.testing.assert_close(weights.sum(-1).clamp_min(1.0), torch.ones(weights.shape[:2]), atol=1e-5, rtol=0)


@pytest.mark.parametrize("model_type", ["gpt2", "mistral", "t5"])
def test_back_and_branch_go_on_as_if_nothing_had_been(writers: dict[str, TextWriter], model_type: str) -> None:
    reader = writers[model_type]
    straight, session = reader.decode(TEXT), reader.decode(TEXT)
    for token in (20, 21, 22, 23, 24, 25):
        session.force(token)
    branched = session.branch()
    branched.force(30)
    for _ in range(4):
        session.back()
    for one in (straight, session):
        for token in (20, 21)[len(one.steps) :]:
            one.force(token)
        one.run()
    assert session.target_ids == straight.target_ids
    for a, b in zip(session.steps, straight.steps, strict=True):
        assert a.log_prob == pytest.approx(b.log_prob, abs=1e-4)
    assert branched.written_ids == (20, 21, 22, 23, 24, 25, 30)
    while session.steps:
        session.back()
    with pytest.raises(SessionError, match="Nothing has been written"):
        session.back()
    session.run()
    assert session.target_ids == finished(reader).target_ids


def test_ours_and_theirs_have_the_same_face(writers: dict[str, TextWriter], translator: Translator) -> None:
    own: Writer = translator
    theirs: Writer = writers["gpt2"]
    for one in (own, theirs):
        session: Session = one.decode(TEXT)
        session.step()
        assert session.written_ids == session.target_ids[-1:]


def test_a_token_is_forced_by_its_spelling(writers: dict[str, TextWriter]) -> None:
    reader = writers["llama"]
    session = reader.decode(TEXT)
    step = session.force(reader.pieces.tokens([30])[0])
    assert step.token_id == 30
    assert step.index == len(session.prompt_ids) - 1
    for wrong in ("no such token", 400, -1):
        with pytest.raises(TokenError):
            session.force(wrong)


@pytest.mark.parametrize("model_type", ["gpt2", "t5"])
def test_edits_act_alike_step_by_step_and_in_one_pass(writers: dict[str, TextWriter], model_type: str) -> None:
    reader = writers[model_type]
    edits: list[HeadEdit] = [SwitchOff("decoder.self", layer, head) for layer in range(2) for head in (0, 2)]
    # Of one row, and of the rows after it, which come one by one.
    row = len(reader.decode(TEXT).prompt_ids) + 1
    own = "decoder.cross" if reader.abilities.kind == "encoder-decoder" else "decoder.self"
    edits += [PointAt(own, layer, 1, key=1, row=row) for layer in range(2)]
    edits += [PointAt("decoder.self", layer, 3, key=0, since=row + 1) for layer in range(2)]
    session = reader.decode(TEXT, edits=edits)
    for token in (20, 21, 22, 23):
        session.force(token)
    trace = session.trace()
    assert set(trace.edits) == set(edits)
    assert float(trace.weights("decoder.self", 0)[0].abs().max()) == 0.0
    given: dict[str, Any] = {"edits": edits}
    if reader.abilities.kind == "encoder-decoder":
        given["begin"] = session.prompt_ids[0]
    emitted = session.written_ids if "begin" in given else session.written_ids[:-1]
    whole = reader.trace_rows(TEXT, reader.source(TEXT).ids, emitted, **given)
    plain = reader.decode(TEXT)
    plain.force(20)
    for step in session.steps:
        other = whole.steps[step.index]
        assert step.candidates[0].log_prob == pytest.approx(other.candidates[0].log_prob, abs=1e-4)
    assert session.steps[0].log_prob != pytest.approx(plain.steps[0].log_prob, abs=1e-4)


def test_a_branch_with_edits_leaves_what_was_written_as_it_is(writers: dict[str, TextWriter]) -> None:
    reader = writers["gpt2"]
    session = reader.decode(TEXT)
    for token in (20, 21, 22):
        session.force(token)
    branched = session.branch(edits=[SwitchOff("decoder.self", 1, 1)])
    branched.force(23)
    session.force(23)
    assert branched.steps[:3] == session.steps[:3]
    assert branched.steps[3].log_prob != pytest.approx(session.steps[3].log_prob, abs=1e-4)
    weights = branched.trace().weights("decoder.self", 1, [1])[0]
    first = branched.steps[3].index
    assert float(weights[first:].abs().max()) == 0.0
    assert float(weights[:first].sum(-1).min()) == pytest.approx(1.0, abs=1e-5)
    with pytest.raises(SessionError, match="encoder"):
        writers["t5"].decode(TEXT).branch(edits=[SwitchOff("encoder.self", 0, 0)])


def test_an_edit_that_breaks_off_leaves_the_session_whole(
    writers: dict[str, TextWriter], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = writers["gpt2"].decode(TEXT)
    for token in (20, 21):
        session.force(token)

    def broken(_: object) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session._advance(broken)
    session.force(22)
    straight = writers["gpt2"].decode(TEXT)
    for token in (20, 21, 22):
        straight.force(token)
    assert session.steps[-1].log_prob == pytest.approx(straight.steps[-1].log_prob, abs=1e-5)


def test_a_trace_leaves_out_edits_of_rows_that_are_yet_to_come(writers: dict[str, TextWriter]) -> None:
    for model_type in ("gpt2", "t5"):
        reader = writers[model_type]
        rows = len(reader.decode(TEXT).prompt_ids) + 3
        now, later = SwitchOff("decoder.self", 0, 1), SwitchOff("decoder.self", 1, 1, row=rows)
        session = reader.decode(TEXT, edits=[now, later])
        for token in (20, 21, 22, 23, 24):
            assert session.trace().edits == (now,) if session.steps and len(session.steps) < 5 else True
            session.force(token)
        assert set(session.trace().edits) == {now, later}

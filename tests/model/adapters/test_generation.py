"""Other people's models write here what `generate` writes, with the caches that they have; decoders' logit lens."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from model import Draws, PointAt, Sampling, SwitchOff
from model.adapters.generation import GenerationSession
from model.adapters.text_writer import TextWriter
from model.analysis.interventions.head_effects import heads_off
from model.analysis.metrics.head_metrics import HeadName
from model.errors import ConfigError, EditError, InputTextError, SessionError, TraceError
from model.nn.edits import HeadEdit
from tests.model.adapters.zoo import BOTH, DECODERS, writer
from tests.often import often

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


@pytest.mark.parametrize("model_type", often([*DECODERS, *BOTH], ("gpt2", "mistral", "t5", "marian")))
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


@pytest.mark.parametrize("model_type", ["gpt2", "t5"])
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


def test_heads_that_are_off_around_a_text_are_off_in_it(writers: dict[str, TextWriter]) -> None:
    reader, head = writers["marian"], HeadName("decoder.cross", 0, 1)
    with heads_off(reader, {head}):
        within = finished(reader)
    edited = reader.decode(TEXT, edits=[SwitchOff(*head)])
    edited.run()
    assert torch.equal(within.log_probs, edited.log_probs)
    assert not torch.equal(within.log_probs[0], finished(reader).log_probs[0])


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
    source, now, then = (
        SwitchOff("encoder.self", 0, 0),
        SwitchOff("decoder.self", 0, 1),
        SwitchOff("decoder.self", 1, 2),
    )
    session = writers["t5"].decode(TEXT, edits=[source, now])
    session.force(20)
    branched = session.branch(edits=[then])
    branched.force(21)
    # The encoder's output and what was written are of the first edits, what follows of the other.
    kept = [(edit.site, edit.layer, edit.head) for edit in branched.trace().edits]
    assert kept == [("encoder.self", 0, 0), ("decoder.self", 0, 1), ("decoder.self", 1, 2)]


def test_what_cannot_be_is_said(writers: dict[str, TextWriter], tmp_path: Path) -> None:
    reader = writers["gpt2"]
    for text in ("", " \n"):
        with pytest.raises(InputTextError):
            reader.decode(text)
    with pytest.raises(EditError, match="not with functions"):
        reader.decode(TEXT, edits={"decoder.layers.0.self_attention.hook_scores": lambda value: value})
    with pytest.raises(EditError, match="Layers"):
        reader.decode(TEXT, edits=[SwitchOff("decoder.self", 9, 0)])
    with pytest.raises(SessionError, match="Nothing has been written"):
        reader.decode(TEXT).trace()
    for beam in (0, 13):
        with pytest.raises(ConfigError, match="beam width"):
            reader.beam_tree(TEXT, beam=beam)
    assert reader.beam_tree(TEXT, beam=1, alpha=-5.0).hypotheses
    for alpha in (-5.1, 5.1):
        with pytest.raises(ConfigError, match="length penalty"):
            reader.beam_tree(TEXT, alpha=alpha)
    with pytest.raises(ConfigError, match="early_stopping"):
        reader.beam_tree(TEXT, early_stopping="soon")


def test_rules_that_do_not_fit_are_said_where_they_are_first_used() -> None:
    reader = writer("bart", forced_bos_token_id=10**6)
    for write in (reader.trace, reader.translate, reader.beam_tree):
        with pytest.raises(SessionError, match=r"generation_config\.json"):
            write(TEXT)


#: BioGPT's and CTRL's last norms have names of their own; OLMo's has no parameters.
FAMILIES = ["gpt2", "opt", "phi", "granite", "gemma2", "biogpt", "ctrl", "olmo"]


@pytest.mark.parametrize("model_type", FAMILIES)
def test_the_last_level_of_the_lens_is_what_the_model_says(model_type: str) -> None:
    reader = writer(model_type)
    trace = reader.trace(TEXT)
    lens = reader.logit_lens(trace, top=3)
    assert len(lens.token_ids) == reader.abilities.shapes["decoder.self"][0] + 1
    assert tuple(lens.token_ids[-1, :, 0].tolist()) == trace.predicted_ids
    chances = torch.tensor([step.log_prob for step in trace.steps]).exp()
    torch.testing.assert_close(lens.chosen_probabilities[-1], chances, atol=1e-5, rtol=1e-3)
    torch.testing.assert_close(reader.logit_lens(trace, top=1).token_ids, lens.token_ids[..., :1])
    beyond = replace(trace, target_ids=(*trace.target_ids[:-1], 400))
    for wrong, top, why in ((trace, 0, "1 to 400 tokens, got 0"), (trace, 401, "got 401"), (beyond, 1, "vocabulary")):
        with pytest.raises(TraceError, match=why):
            reader.logit_lens(wrong, top=top)

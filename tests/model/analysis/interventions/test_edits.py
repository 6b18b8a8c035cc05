"""What an edit changes, against runs made by hand; parts taken out of a translator while it runs."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from model import Translator
from model.adapters.text_reader import TextReader
from model.analysis.interventions.edit_comparison import compare_edit
from model.analysis.interventions.parts_off import score_without, translate_without
from model.decoding.session import DecodingSession
from model.errors import EditError, SessionError
from model.nn.edits import MakeUniform, PointAt, SwitchOff
from model.nn.hooks import listen
from model.nn.transformer import Transformer
from model.opening import as_writer, open_reader
from model.parts.ours import edits_without
from model.parts.removal import PARTS, Part, PartOff
from tests.conftest import SENTENCES
from tests.model.adapters.zoo import save_model

TEXT = SENTENCES[0]
STEP = 4


@pytest.fixture(scope="module")
def attentive(translator: Translator) -> Translator:
    """The tiny model with a cross-attention so strong that its text depends on it."""
    model = copy.deepcopy(translator.model)
    with torch.no_grad():
        for layer in model.decoder.layers:
            layer.get_parameter("cross_attention.output.weight").mul_(20)
    return Translator(model, translator.tokenizer)


@pytest.fixture(scope="module")
def original(translator: Translator) -> DecodingSession:
    session = translator.decode(TEXT)
    session.run()
    return session


def all_heads_off(translator: Translator, site: str) -> list[SwitchOff]:
    return [SwitchOff(site, layer, head) for layer in range(2) for head in range(translator.config.num_heads)]


def test_before_the_step_all_stays_and_after_it_the_edited_model_writes(
    translator: Translator, original: DecodingSession
) -> None:
    edits = all_heads_off(translator, "decoder.self")
    comparison = compare_edit(translator, TEXT, STEP, edits)
    assert comparison.original_steps == original.steps
    assert comparison.original_text == original.translation
    assert {edit.since for edit in comparison.edits} == {STEP}
    for ours, theirs in zip(comparison.edited_steps[:STEP], original.steps[:STEP], strict=True):
        assert ours.token_id == theirs.token_id
        assert ours.log_prob == pytest.approx(theirs.log_prob, abs=1e-5)
    # The same by one pass over what the edited model wrote.
    emitted = [step.token_id for step in comparison.edited_steps]
    pass_ = translator.trace_tokens(TEXT, emitted, edits=comparison.edits)
    assert list(pass_.predicted_ids[STEP:]) == emitted[STEP:]


def test_the_change_is_that_of_the_original_token_at_the_step(
    translator: Translator, original: DecodingSession
) -> None:
    edits = [SwitchOff("decoder.cross", 1, 0), MakeUniform("encoder.self", 0, 3), PointAt("decoder.cross", 0, 1, 2)]
    comparison = compare_edit(translator, TEXT, STEP, edits)
    emitted = [step.token_id for step in original.steps]
    forced = translator.trace_tokens(TEXT, emitted, edits=comparison.edits).steps[STEP]
    assert comparison.log_prob_before == original.steps[STEP].log_prob
    assert comparison.log_prob_after == pytest.approx(forced.log_prob, abs=1e-5)
    assert comparison.log_prob_change == pytest.approx(forced.log_prob - original.steps[STEP].log_prob, abs=1e-5)
    assert abs(comparison.log_prob_change) > 1e-4


def test_the_first_difference_is_the_first_token_that_differs(attentive: Translator) -> None:
    comparison = compare_edit(attentive, TEXT, STEP, all_heads_off(attentive, "decoder.cross"))
    ids = [[step.token_id for step in steps] for steps in (comparison.original_steps, comparison.edited_steps)]
    first = comparison.first_difference
    assert first is not None
    assert first >= STEP
    assert ids[0][:first] == ids[1][:first]
    assert ids[0][first : first + 1] != ids[1][first : first + 1]
    texts = ["".join(span.first_text for span in comparison.text_diff)]
    texts.append("".join(span.second_text for span in comparison.text_diff))
    assert [text.split() for text in texts] == [comparison.original_text.split(), comparison.edited_text.split()]


def test_a_step_or_a_row_that_cannot_be_is_said(translator: Translator, original: DecodingSession) -> None:
    last = len(original.steps) - 1
    for step in (-1, last + 1):
        with pytest.raises(SessionError, match=f"from 0 to {last}, got {step}"):
            compare_edit(translator, TEXT, step, [SwitchOff("decoder.self", 0, 0)])
    with pytest.raises(EditError, match=r"row 1 of decoder\.self comes before"):
        compare_edit(translator, TEXT, 2, [SwitchOff("decoder.self", 0, 0, row=1)])
    with pytest.raises(EditError, match="Layers"):
        compare_edit(translator, TEXT, 2, [SwitchOff("decoder.self", 5, 0)])
    for step in (0, last):
        assert compare_edit(translator, TEXT, step, [SwitchOff("encoder.self", 0, 0, row=0)]).edits[0].row == 0


@pytest.mark.parametrize(("name", "site"), [("gpt2", "decoder.self"), ("marian", "decoder.cross")])
def test_models_of_the_library_are_compared_by_their_own_rows(tmp_path: Path, name: str, site: str) -> None:
    folder = save_model(tmp_path, name, "bytes" if name == "gpt2" else "metaspace")
    writer = as_writer(open_reader(folder, device="cpu"))
    step, edits = 2, [SwitchOff(site, layer, head) for layer in range(2) for head in range(2)]
    comparison = compare_edit(writer, TEXT, step, edits)
    session = writer.decode(TEXT)
    row = len(session.target_ids) - 1 + step
    session.run()
    assert comparison.original_text == session.translation
    assert {edit.since for edit in comparison.edits} == {row}
    assert [one.token_id for one in comparison.edited_steps[:step]] == [one.token_id for one in session.steps[:step]]
    emitted = [one.token_id for one in session.steps[: step + 1]]
    assert isinstance(writer, TextReader)
    edited = writer.trace_rows(TEXT, writer.source(TEXT).ids, emitted, edits=comparison.edits).steps[row]
    assert edited.token_id == emitted[-1]
    assert comparison.log_prob_after == pytest.approx(edited.log_prob, abs=1e-4)
    assert comparison.log_prob_before == pytest.approx(session.steps[step].log_prob, abs=1e-6)
    assert abs(comparison.log_prob_change) > 1e-4


SHORT = "The dog sleeps."


def encoded(model: Transformer, off: PartOff | None = None) -> torch.Tensor:
    with torch.no_grad(), listen(edits={} if off is None else edits_without(model, off)):
        return model.encode(torch.tensor([[5, 6, 7, 8]]))


def test_the_whole_model_translates_as_it_always_does(translator: Translator) -> None:
    assert translate_without(translator, [SHORT], None) == [translator.translate(SHORT)]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_makes_a_difference_and_leaves_nothing_behind(translator: Translator, part: Part) -> None:
    whole = encoded(translator.model)
    assert not torch.allclose(encoded(translator.model, PartOff(part)), whole)
    assert torch.equal(encoded(translator.model), whole)


def test_without_positions_the_order_of_the_source_does_not_matter(translator: Translator) -> None:
    edits = edits_without(translator.model, PartOff("positions"))
    with torch.no_grad(), listen(edits=edits):
        forwards, backwards = (translator.model.encode(torch.tensor([ids])) for ids in ([5, 6, 7], [7, 6, 5]))
    torch.testing.assert_close(forwards, backwards.flip(1))


def test_without_the_scaling_scores_are_plain_dot_products(translator: Translator) -> None:
    off = PartOff("scaling")
    plain = translator.trace(SHORT, target="x")
    unscaled = translator.trace(SHORT, target="x", edits=edits_without(translator.model, off))
    expected = plain.scores("encoder.self", 0) * translator.config.d_k**0.5
    torch.testing.assert_close(unscaled.scores("encoder.self", 0), expected, rtol=1e-4, atol=1e-5)


def test_a_layer_without_its_residual_connections_is_its_last_sub_layer_alone(translator: Translator) -> None:
    edits = edits_without(translator.model, PartOff("residuals", layer=0))
    feed_forward = translator.model.get_submodule("encoder.layers.0.feed_forward")
    given: list[torch.Tensor] = []
    handle = feed_forward.register_forward_hook(lambda module, inputs, output: given.append(output))
    with torch.no_grad(), listen(edits=edits, record={"hook_output"}) as recorded:
        translator.model.encode(torch.tensor([[5, 6, 7]]))
    handle.remove()
    torch.testing.assert_close(recorded["encoder.layers.0.hook_output"][0], given[0])


def test_without_norms_no_layer_norm_runs_in_the_layer(translator: Translator) -> None:
    ran: list[str] = []
    handles = [
        module.register_forward_hook(lambda module, inputs, output, name=name: ran.append(name))
        for name, module in translator.model.named_modules()
        if isinstance(module, nn.LayerNorm)
    ]
    encoded(translator.model, PartOff("norms", layer=1))
    for handle in handles:
        handle.remove()
    assert ran
    assert not any(name.startswith("encoder.layers.1.") for name in ran)


def test_of_the_heads_one_stays(translator: Translator) -> None:
    edits = edits_without(translator.model, PartOff("heads", kept_head=2))
    trace = translator.trace(SHORT, target="x", extras={"hook_head_output"}, edits=edits)
    real = trace.recorded["encoder.layers.1.self_attention.hook_head_output"]
    assert [bool(head.any()) for head in real] == [False, False, True, False]


def test_what_a_model_lacks_is_said(translator: Translator) -> None:
    with pytest.raises(EditError, match="no layer 9: layers are numbered from 0 to 1"):
        edits_without(translator.model, PartOff("norms", layer=9))
    deeper = Transformer(replace(translator.config, num_decoder_layers=3))
    assert edits_without(deeper, PartOff("norms", layer=2))
    with pytest.raises(EditError, match="no layer 3: layers are numbered from 0 to 2"):
        edits_without(deeper, PartOff("norms", layer=3))
    lacking: dict[Part, dict[str, Any]] = {"scaling": {"score": "dot"}, "residuals": {"residual": False}}
    for part, config in lacking.items():
        with pytest.raises(EditError, match="trained without"):
            edits_without(Transformer(replace(translator.config, **config)), PartOff(part))
    with pytest.raises(EditError, match="has only one head"):
        edits_without(Transformer(replace(translator.config, num_heads=1)), PartOff("heads"))
    with pytest.raises(EditError, match="only 4 heads, so head 5 cannot be kept alone"):
        edits_without(translator.model, PartOff("heads", kept_head=4))
    bare = Transformer(replace(translator.config, positions="none"))
    with pytest.raises(EditError, match="without positional encodings"):
        edits_without(bare, PartOff("positions"))


def test_a_part_that_changes_nothing_scores_a_hundred(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "model.analysis.interventions.parts_off.translate_without",
        lambda translator, texts, off, progress: (
            progress(len(texts)),
            [f"{text} ." if off is None or off.layer is None or i % 4 else "" for i, text in enumerate(texts)],
        )[1],
    )
    told: list[int] = []
    score, of_a_layer = score_without(translator, [PartOff("norms"), PartOff("norms", layer=1)], told.append)
    assert score.bleu == pytest.approx(100)
    assert score.unchanged == 1.0
    assert sum(told) == 3 * 200
    # A quarter of the sentences is lost.
    assert of_a_layer.unchanged == 0.75
    assert of_a_layer.bleu < 90

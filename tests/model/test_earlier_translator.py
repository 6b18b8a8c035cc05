"""Models from before the Transformer decode, trace and are edited through the interface that pages use."""

from pathlib import Path

import pytest
import torch

from model.__main__ import main
from model.checkpoint import save_checkpoint, write_manifest
from model.errors import CheckpointError, TraceError
from model.nn.edits import MakeUniform, PointAt
from model.opening import as_attending, as_translator, as_writer, open_reader
from model.translator import EarlierTranslator, Translator
from tests.conftest import SENTENCES

TEXT, CROSS = SENTENCES[0], "decoder.cross"
OUTPUTS = frozenset({"hook_head_output"})


@pytest.fixture(params=["recurrent", "convolutional"])
def translator(request: pytest.FixtureRequest, earlier_translators: dict[str, EarlierTranslator]) -> EarlierTranslator:
    return earlier_translators[request.param]


def test_weights_times_values_are_the_real_context_of_every_row(translator: EarlierTranslator) -> None:
    written = translator.trace(TEXT, extras=OUTPUTS)
    read = translator.trace_tokens(TEXT, [step.token_id for step in written.steps], extras=OUTPUTS)
    assert written.sites == (CROSS,)
    assert written.shapes == translator.abilities.shapes
    for layer in range(written.layers_of(CROSS)):
        for trace in (written, read):
            assert trace.head_output_deviation(CROSS, layer) <= trace.head_output_tolerance(CROSS, layer)
            sums = trace.weights(CROSS, layer).sum(-1)
            torch.testing.assert_close(sums, torch.ones_like(sums))
        torch.testing.assert_close(written.weights(CROSS, layer), read.weights(CROSS, layer), atol=1e-6, rtol=1e-5)


def test_greedy_sampled_and_searched_texts_are_of_one_distribution(translator: EarlierTranslator) -> None:
    session = translator.decode(TEXT)
    session.run()
    assert translator.translate(TEXT) == session.translation
    greedy = sum(step.log_prob for step in session.steps)
    tree = translator.beam_tree(TEXT, beam=1)
    assert tree.winner.total == pytest.approx(greedy, abs=1e-3)
    drawn = translator.sample(TEXT, n=2, seed=3)
    for one in drawn:
        trace = translator.trace_tokens(TEXT, one.token_ids)
        assert [step.log_prob for step in trace.steps] == pytest.approx(list(one.log_probs), abs=1e-4)
    spread = translator.spread(session.trace())
    assert spread.chosen_ranks.tolist() == [1] * len(session.steps)
    torch.testing.assert_close(spread.best[:, 0], torch.tensor([step.log_prob for step in session.steps]))


def test_an_edit_acts_alike_step_by_step_and_in_one_pass_and_shows_in_the_trace(translator: EarlierTranslator) -> None:
    last = translator.abilities.shapes[CROSS][0] - 1
    edits = [PointAt(CROSS, 0, 0, key=1, row=2), MakeUniform(CROSS, last, 0, since=4)]
    written = translator.trace(TEXT, extras=OUTPUTS, edits=edits)
    ids = [step.token_id for step in written.steps]
    read = translator.trace_tokens(TEXT, ids, extras=OUTPUTS, edits=edits)
    assert written.weights(CROSS, 0)[0, 2].tolist() == [float(key == 1) for key in range(len(written.source_ids))]
    for layer in range(last + 1):
        assert read.head_output_deviation(CROSS, layer) <= read.head_output_tolerance(CROSS, layer)
        torch.testing.assert_close(written.weights(CROSS, layer), read.weights(CROSS, layer), atol=1e-6, rtol=1e-5)
    plain = translator.trace_tokens(TEXT, ids)
    assert [step.log_prob for step in plain.steps[:2]] == pytest.approx([s.log_prob for s in read.steps[:2]], abs=1e-5)
    assert plain.steps[2].log_prob != pytest.approx(read.steps[2].log_prob, abs=1e-6)


def test_a_checkpoint_opens_as_what_it_is_and_translates_alike(
    translator: EarlierTranslator, earlier_checkpoints: Path
) -> None:
    folder = earlier_checkpoints / translator.name
    reader = open_reader(folder, device="cpu")
    assert isinstance(reader, EarlierTranslator)
    assert as_writer(reader) is reader
    assert reader.abilities == translator.abilities
    again = reader.trace_tokens(TEXT, translator.target_ids(SENTENCES[1]))
    own = translator.trace_tokens(TEXT, translator.target_ids(SENTENCES[1]))
    # Weights are stored in 16 bit.
    torch.testing.assert_close(again.weights(CROSS, 0), own.weights(CROSS, 0), atol=5e-3, rtol=0)
    with pytest.raises(CheckpointError, match=translator.abilities.family):
        as_translator(reader)
    with pytest.raises(CheckpointError, match="from before the Transformer"):
        Translator.load(folder)


def test_weights_of_another_shape_are_refused_before_memory_is_taken(
    translator: EarlierTranslator, tmp_path: Path
) -> None:
    save_checkpoint(tmp_path / "x", translator.model, translator.tokenizer)
    config = tmp_path / "x" / "config.json"
    config.write_text(config.read_text(encoding="utf-8").replace('"d_model": 32', '"d_model": 16000'), encoding="utf-8")
    write_manifest(tmp_path / "x")
    with pytest.raises(CheckpointError, match="does not fit"):
        open_reader(tmp_path / "x", device="cpu")


def test_a_model_without_attention_translates_and_is_measured_by_no_command(
    earlier_translators: dict[str, EarlierTranslator], earlier_checkpoints: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    translator = earlier_translators["recurrent-fixed-vector"]
    assert translator.trace(TEXT).translation == translator.translate(TEXT)
    together = translator.translate_all(list(SENTENCES), beam=3)
    assert together == [translator.translate(text, beam=3) for text in SENTENCES]
    with pytest.raises(TraceError, match="has no attention"):
        as_attending(translator)
    folder = str(earlier_checkpoints / translator.name)
    for command in (["atlas", "--out", "-"], ["coreference", "--data", "curated"], ["reasons", "--data", "curated"]):
        assert main([*command, "--checkpoint", folder]) == 2
        assert "This model has no attention" in capsys.readouterr().err

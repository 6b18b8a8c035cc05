"""QK and OV of decoders of `transformers`: against scores that the model has itself where it knows no positions."""

from pathlib import Path
from weakref import WeakKeyDictionary

import pytest
import torch
from torch import Tensor, nn

from model.adapters import decoder_lens
from model.adapters.text_reader import TextReader
from model.analysis.library_circuits import library_circuits, library_copying
from model.errors import DataError
from model.opening import open_reader
from tests.model.adapters.zoo import save_model, save_tokenizer, tiny

TEXT = "The dog was tired."
#: Model → the table of its positions.
TABLES = {"gpt2": "transformer.wpe", "opt": "model.decoder.embed_positions"}
FINAL_NORMS = ("transformer.ln_f", "model.decoder.final_layer_norm")


class Scaled(nn.RMSNorm):
    """A norm that keeps the mean."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__(len(weight))
        self.weight = nn.Parameter(weight)


@pytest.fixture(scope="module", params=TABLES)
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TextReader:
    """A decoder that adds nothing for positions, with biases."""
    model = tiny(request.param)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
            if TABLES[request.param] in name:
                parameter.zero_()
    folder = tmp_path_factory.mktemp(request.param)
    model.save_pretrained(folder)
    save_tokenizer(folder, "bytes")
    opened = open_reader(folder, device="cpu")
    assert isinstance(opened, TextReader)
    return opened


def test_in_the_first_layer_scores_are_the_models_own(reader: TextReader) -> None:
    trace = reader.trace(TEXT)
    ids = torch.tensor(trace.target_ids)
    for head in range(4):
        real = trace.scores("decoder.self", 0, [head])[0]
        found = library_circuits(reader, 0, head).scores(ids, ids)
        seen = real.isfinite()
        torch.testing.assert_close(found[seen], real[seen], atol=1e-4, rtol=1e-4)


def test_what_a_head_writes_is_what_the_logits_would_gain_up_to_the_norms_divisor(
    reader: TextReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = reader.trace(TEXT)
    value = trace.attention("decoder.self", 0).values([2])[0]
    one, other = (reader.trace(TEXT).target_ids[at] for at in (1, 3))
    # A difference of two values has no bias of W_V in it.
    written = (value[1] - value[3]) @ reader.output_projection("decoder.self", 0)[2]
    path = next(name for name in FINAL_NORMS if name in dict(reader.model.named_modules()))
    norm, weight = reader.model.get_submodule(path), reader.model.get_parameter(f"{path}.weight").detach()
    table = reader.model.get_output_embeddings().weight.detach()  # type: ignore[operator]
    tokens = torch.tensor([one, other])
    try:
        for used, centred in ((norm, written - written.mean()), (Scaled(weight), written)):
            reader.model.set_submodule(path, used)
            monkeypatch.setattr(decoder_lens, "_NORMS", WeakKeyDictionary())
            found = library_circuits(reader, 0, 2).writes(tokens)
            torch.testing.assert_close(found[0] - found[1], table @ (centred * weight), atol=1e-4, rtol=1e-3)
    finally:
        reader.model.set_submodule(path, norm)
    zero = reader.model.get_input_embeddings()  # type: ignore[operator]
    assert zero.weight.size(0) == found.size(1)


def test_the_copying_score_is_that_of_the_matrix_over_the_vocabulary(reader: TextReader) -> None:
    done: list[int] = []
    scores = library_copying(reader, done.append)
    assert done == [1, 1]
    for layer, head in ((0, 0), (1, 3)):
        circuits = library_circuits(reader, layer, head)
        eigenvalues = torch.linalg.eigvals((circuits.values @ circuits.written).double())
        expected = eigenvalues.real.sum() / eigenvalues.abs().sum()
        assert float(scores[layer, head]) == pytest.approx(float(expected), abs=1e-3)


def test_what_biases_add_whatever_is_looked_at_is_no_part_of_what_a_head_writes_of_a_token(reader: TextReader) -> None:
    before = library_circuits(reader, 1, 2), library_copying(reader)
    changed = [
        (parameter, parameter.detach().clone())
        for name, parameter in reader.model.named_parameters()
        if name.endswith(("ln_1.bias", "self_attn_layer_norm.bias", "v_proj.bias"))
    ]
    assert changed
    try:
        with torch.no_grad():
            for parameter, _ in changed:
                parameter.add_(torch.randn_like(parameter))
        after = library_circuits(reader, 1, 2), library_copying(reader)
    finally:
        with torch.no_grad():
            for parameter, own in changed:
                parameter.copy_(own)
    assert not torch.allclose(after[0].keys, before[0].keys)
    torch.testing.assert_close(after[0].values, before[0].values, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(after[1], before[1], atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", ["llama", "gemma3_text", "qwen3", "gpt_neox", "granite"])
def test_scores_of_rotary_models_are_those_of_two_places_at_the_distance(tmp_path: Path, name: str) -> None:
    model = tiny(name, changes={"embedding_multiplier": 7.0} if name == "granite" else None)
    with torch.no_grad():
        for path, parameter in model.named_parameters():
            # What the first layer adds is nothing, so the second one reads tokens as they are embedded, too.
            if ".0." in path and path.rpartition(".")[0].endswith(("o_proj", "down_proj", "dense", "4h_to_h")):
                parameter.zero_()
            elif parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    model.save_pretrained(tmp_path)
    save_tokenizer(tmp_path, "bytes")
    reader = open_reader(tmp_path, device="cpu")
    assert isinstance(reader, TextReader)
    trace = reader.trace(f"{TEXT} {TEXT}")
    ids = torch.tensor(trace.target_ids)
    for layer, head, distance in ((0, 1, 0), (0, 3, 1), (1, 2, 4), (1, 0, 3)):
        found = library_circuits(reader, layer, head, distance=distance).scores(ids, ids).diagonal(-distance)
        real = trace.scores("decoder.self", layer, [head])[0].diagonal(-distance)
        assert bool(real.isfinite().all())
        torch.testing.assert_close(found, real, atol=1e-4, rtol=1e-4)


def test_distances_are_those_that_a_text_can_have(tmp_path: Path) -> None:
    reader = open_reader(save_model(tmp_path, "llama", "bytes"), device="cpu")
    assert isinstance(reader, TextReader)
    assert reader.abilities.max_length == 96
    library_circuits(reader, 0, 0, distance=95)
    with pytest.raises(DataError, match="from 0 to 95, got 96"):
        library_circuits(reader, 0, 0, distance=96)


def test_where_positions_are_added_there_is_no_distance(reader: TextReader) -> None:
    with pytest.raises(DataError, match="from 0 to 0, got 1"):
        library_circuits(reader, 0, 0, distance=1)


def test_models_of_other_kinds_say_why_not(tmp_path: Path) -> None:
    reader = open_reader(save_model(tmp_path, "bert", "wordpiece"), device="cpu")
    assert isinstance(reader, TextReader)
    with pytest.raises(DataError, match="decoder"):
        library_circuits(reader, 0, 0)


def test_a_head_that_is_not_is_refused(reader: TextReader) -> None:
    with pytest.raises(DataError, match="there is no layer 2, head 0"):
        library_circuits(reader, 2, 0)

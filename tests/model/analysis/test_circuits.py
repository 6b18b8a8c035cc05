"""QK and OV of heads, ours and the library's: against a model without positions, and the vocabulary's matrix."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model import Translator
from model.adapters.text_reader import TextReader
from model.analysis.head_circuits import HeadCircuits, copying_score, copying_scores, head_circuits
from model.analysis.library_circuits import library_circuits, library_copying
from model.config import TransformerConfig
from model.errors import DataError
from model.nn.transformer import Transformer
from model.opening import open_reader
from model.tokenizer import Tokenizer
from model.training_record import LANGUAGES
from tests.model.adapters.zoo import save_model, save_tokenizer, tiny

TEXT, TARGET = "The dog was tired.", "Das Tier war müde."


@pytest.fixture(scope="module", params=["pre", "post"])
def without_positions(request: pytest.FixtureRequest, config: TransformerConfig, tokenizer: Tokenizer) -> Translator:
    torch.manual_seed(5)
    own = replace(config, norm=request.param, positions="none")
    model = Transformer(own).eval()
    for name, parameter in model.named_parameters():
        if name.endswith("norm.weight"):
            torch.nn.init.uniform_(parameter, 0.5, 2.0)
        elif name.endswith(("query.bias", "key.bias")):
            torch.nn.init.normal_(parameter, std=0.2)
    return Translator(model, tokenizer, name="x", languages=LANGUAGES)


@pytest.mark.parametrize("site", ["encoder.self", "decoder.self"])
def test_in_the_first_layer_without_positions_scores_are_the_real_ones(
    without_positions: Translator, site: str
) -> None:
    trace = without_positions.trace(TEXT, TARGET)
    ids = torch.tensor(trace.source_ids if site == "encoder.self" else trace.target_ids)
    for head in range(4):
        found = head_circuits(without_positions.model, site, 0, head).scores(ids, ids)
        real = trace.scores(site, 0, [head])[0]
        seen = real.isfinite()
        torch.testing.assert_close(found[: len(real), : real.size(1)][seen], real[seen], atol=1e-4, rtol=1e-4)


def test_what_a_head_writes_is_its_value_through_the_last_norm_and_the_projection(
    without_positions: Translator,
) -> None:
    model, at = without_positions.model, 0
    trace = without_positions.trace(TEXT, TARGET)
    token = trace.target_ids[at]
    found = head_circuits(model, "decoder.self", 0, 2).writes(torch.tensor([token]))[0]
    value = trace.attention("decoder.self", 0).values([2])[0, at]
    bias = model.get_submodule("decoder.layers.0.self_attention.value").bias[16:24]  # type: ignore[index]
    written = (value - bias.detach()) @ without_positions.output_projection("decoder.self", 0)[2]
    parts = ("self_attention", "cross_attention", "feed_forward")
    after = [f"decoder.layers.{layer}.{part}_residual.norm" for layer in range(2) for part in parts]
    for path in ["decoder.norm"] if model.config.norm == "pre" else after:
        written = (written - written.mean()) * model.get_parameter(f"{path}.weight").detach()
    torch.testing.assert_close(found, (model.projection.weight @ written).detach(), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("site", ["encoder.self", "decoder.self", "decoder.cross"])
def test_the_copying_score_is_that_of_the_matrix_over_the_vocabulary(without_positions: Translator, site: str) -> None:
    scores = copying_scores(without_positions.model, site)
    assert scores.shape == (2, 4)
    for layer, head in ((0, 0), (1, 3)):
        circuits = head_circuits(without_positions.model, site, layer, head)
        every = torch.arange(len(circuits.keys))
        eigenvalues = torch.linalg.eigvals(circuits.writes(every).double())
        expected = float(eigenvalues.real.sum() / eigenvalues.abs().sum())
        assert circuits.copying == pytest.approx(expected, abs=1e-3)
        assert float(scores[layer, head]) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("site", ["encoder.self", "decoder.self", "decoder.cross"])
def test_what_biases_add_whatever_is_looked_at_is_no_part_of_what_a_head_writes_of_a_token(
    without_positions: Translator, site: str
) -> None:
    model = deepcopy(without_positions.model)
    before, scores = (head_circuits(model, site, 1, 2), copying_scores(model, site))
    torch.manual_seed(8)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("norm.bias", "value.bias")):
                parameter.add_(torch.randn_like(parameter))
    after = head_circuits(model, site, 1, 2)
    assert not torch.allclose(after.keys, before.keys)
    torch.testing.assert_close(after.values, before.values, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(copying_scores(model, site), scores, atol=1e-4, rtol=0)


def test_a_head_that_writes_what_it_looks_at_copies() -> None:
    tokens = torch.randn(40, 6)
    copies = HeadCircuits(queries=tokens, keys=tokens, values=tokens, written=tokens.T, scale=1.0)
    assert copies.copying == pytest.approx(1)
    against = HeadCircuits(queries=tokens, keys=tokens, values=tokens, written=-tokens.T, scale=1.0)
    assert against.copying == pytest.approx(-1)
    assert copying_score(1e-3 * torch.eye(3)) == pytest.approx(1)
    assert copying_score(torch.zeros(3, 3)) == 0


def test_the_best_pairs_are_those_of_all_scores(without_positions: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    circuits = head_circuits(without_positions.model, "decoder.cross", 1, 1)
    every = torch.arange(len(circuits.keys))
    scores = circuits.scores(every, every)
    monkeypatch.setattr("model.analysis.head_circuits.QUERIES_AT_ONCE", 7)
    monkeypatch.setattr("model.analysis.head_circuits.KEYS_AT_ONCE", 50)
    told: list[int] = []
    best = circuits.best_pairs(7, told.append)
    assert sum(told) == len(every)
    assert max(told) == 7
    assert [pair.score for pair in best] == pytest.approx(scores.flatten().topk(7).values.tolist(), abs=1e-5)
    for pair in best:
        assert float(scores[pair.query, pair.key]) == pytest.approx(pair.score, abs=1e-5)


@pytest.mark.parametrize("site", ["encoder.self", "decoder.self", "decoder.cross"])
def test_weights_by_tokens_are_shares_and_the_mask_holds(without_positions: Translator, site: str) -> None:
    trace = without_positions.trace(TEXT, TARGET)
    weights, mask = head_circuits(without_positions.model, site, 0, 1).weights(trace, site, 0), trace.mask(site, 0)
    assert weights.shape == mask.shape
    torch.testing.assert_close(weights.sum(-1), torch.ones(len(weights)))
    assert (weights[~mask] == 0).all()
    if site != "decoder.cross":
        torch.testing.assert_close(weights, trace.weights(site, 0, [1])[0], atol=1e-5, rtol=1e-4)


def test_a_head_that_is_not_there_and_other_scores_are_refused(
    without_positions: Translator, config: TransformerConfig
) -> None:
    with pytest.raises(DataError, match=r"decoder\.cross has 2 layers of 4 heads; there is no layer 2, head 0"):
        head_circuits(without_positions.model, "decoder.cross", 2, 0)
    additive = Transformer(replace(config, score="additive"))
    with pytest.raises(DataError, match="not dot products"):
        head_circuits(additive, "encoder.self", 0, 0)


LIBRARY_TEXT = "The dog was tired."
#: Model → the table of its positions.
TABLES = {"gpt2": "transformer.wpe", "opt": "model.decoder.embed_positions"}
FINAL_NORMS = ("transformer.ln_f", "model.decoder.final_layer_norm")


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
    trace = reader.trace(LIBRARY_TEXT)
    ids = torch.tensor(trace.target_ids)
    for head in range(4):
        real = trace.scores("decoder.self", 0, [head])[0]
        found = library_circuits(reader, 0, head).scores(ids, ids)
        seen = real.isfinite()
        torch.testing.assert_close(found[seen], real[seen], atol=1e-4, rtol=1e-4)


def test_what_a_head_writes_is_what_the_logits_would_gain_up_to_the_norms_divisor(reader: TextReader) -> None:
    trace = reader.trace(LIBRARY_TEXT)
    value = trace.attention("decoder.self", 0).values([2])[0]
    one, other = (reader.trace(LIBRARY_TEXT).target_ids[at] for at in (1, 3))
    # A difference of two values has no bias of W_V in it.
    written = (value[1] - value[3]) @ reader.output_projection("decoder.self", 0)[2]
    path = next(name for name in FINAL_NORMS if name in dict(reader.model.named_modules()))
    weight = reader.model.get_parameter(f"{path}.weight").detach()
    table = reader.model.get_output_embeddings().weight.detach()  # type: ignore[operator]
    found = library_circuits(reader, 0, 2).writes(torch.tensor([one, other]))
    expected = table @ ((written - written.mean()) * weight)
    torch.testing.assert_close(found[0] - found[1], expected, atol=1e-4, rtol=1e-3)


def test_the_copying_score_of_a_library_model_is_that_of_the_matrix_over_the_vocabulary(reader: TextReader) -> None:
    done: list[int] = []
    scores = library_copying(reader, done.append)
    assert done == [1, 1]
    for layer, head in ((0, 0), (1, 3)):
        circuits = library_circuits(reader, layer, head)
        eigenvalues = torch.linalg.eigvals((circuits.values @ circuits.written).double())
        expected = eigenvalues.real.sum() / eigenvalues.abs().sum()
        assert float(scores[layer, head]) == pytest.approx(float(expected), abs=1e-3)


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
    trace = reader.trace(f"{LIBRARY_TEXT} {LIBRARY_TEXT}")
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

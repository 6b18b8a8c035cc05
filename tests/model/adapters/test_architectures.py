"""Every architecture that is said to work, real models and the longest texts: weights are those of eager attention."""

from collections.abc import Iterable
from pathlib import Path

import pytest
import torch
import transformers

from model import open_reader
from model.adapters import capture, library
from model.adapters.layout import OUTPUTS, weights_of
from model.adapters.open_folder import explore
from model.adapters.probe import Probe
from model.errors import InputTextError, TraceError
from model.nn.attention import AttentionInputs, WeightsOnly
from model.nn.encoder_decoder import site_path
from model.nn.hooks import CALL, listen
from tests.model.adapters import zoo
from tests.model.adapters.zoo import CONFIGS, KINDS, VOCAB, tiny

library.register(capture.attend, capture.causal_or_padding)
EAGER_NAMES = {
    "encoder": {"encoder.self": "attentions"},
    "image": {"encoder.self": "attentions"},
    "decoder": {"decoder.self": "attentions"},
    "encoder-decoder": {
        "encoder.self": "encoder_attentions",
        "decoder.self": "decoder_attentions",
        "decoder.cross": "cross_attentions",
    },
}
#: Their own attention is called by nobody else.
WEIGHTS_ONLY = {"mpnet", "deberta", "deberta-v2", "bloom", "falcon", "mpt", "gpt_neo", "openai-gpt"}


Lengths = dict[str, list[tuple[int, int] | tuple[None, None]]]


def batch(model_type: str, lengths: tuple[int, int] = (13, 9)) -> tuple[dict[str, torch.Tensor], Lengths]:
    """Two texts, the second one padded, and the lengths of query and key at every site."""
    torch.manual_seed(1)
    source = torch.randint(6, VOCAB, (2, max(lengths)))
    padding = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    given = {"input_ids": source, "attention_mask": padding.long()}
    if KINDS[model_type] == "image":
        return {"pixel_values": torch.randn(2, 3, 24, 24)}, {"encoder.self": [(None, None)] * 2}
    sites: Lengths = {site: [(n, n) for n in lengths] for site in EAGER_NAMES[KINDS[model_type]]}
    if KINDS[model_type] == "encoder-decoder":
        given["decoder_input_ids"] = torch.randint(6, VOCAB, (2, 7))
        sites |= {"decoder.self": [(7, 7)] * 2, "decoder.cross": [(7, n) for n in lengths]}
    return given, sites


def computed(layers: Iterable[AttentionInputs | WeightsOnly]) -> list[AttentionInputs]:
    """The layers, of which each must have what its weights are computed from."""
    inputs = []
    for layer in layers:
        assert isinstance(layer, AttentionInputs)
        inputs.append(layer)
    return inputs


@pytest.mark.parametrize("model_type", sorted(CONFIGS.keys() - WEIGHTS_ONLY))
def test_weights_and_head_outputs_are_those_of_the_eager_model(model_type: str) -> None:
    model, kind = tiny(model_type), KINDS[model_type]
    given, sites = batch(model_type)
    with torch.inference_mode():
        eager = model(**given, output_attentions=True)
        pixels = given.get("pixel_values")
        layout, abilities = explore(model, None if pixels is None else Probe(given={"pixel_values": pixels[:1]}))
        with listen(record={CALL, OUTPUTS}) as recorded:
            model(**given)
    assert abilities.knows_inputs
    assert "norms" not in abilities.lacks
    for site, name in EAGER_NAMES[kind].items():
        assert len(getattr(eager, name)) == abilities.shapes[site][0]
        for sentence, (queries, keys) in enumerate(sites[site]):
            for layer, inputs in enumerate(layout.inputs(recorded, sentence)[site]):
                expected = getattr(eager, name)[layer][sentence]
                assert inputs.num_heads == expected.size(0) == abilities.heads[site][layer]
                assert inputs.mask.explicit is None
                assert isinstance(inputs, AttentionInputs)
                projection = layout.projection(site, layer)
                assert projection is not None
                assert projection.shape == (inputs.num_heads, inputs.value.size(-1), 32)
                real = recorded[f"{site_path(site, layer)}.{OUTPUTS}"][0][sentence]
                # Rows of padding are nobody's: what they look at is never read.
                torch.testing.assert_close(inputs.weights()[:, :queries], expected[:, :queries], atol=1e-5, rtol=0)
                torch.testing.assert_close(inputs.head_output()[:, :queries], real[:, :queries], atol=1e-5, rtol=1e-5)
                if keys is not None:
                    assert not inputs.weights()[:, :queries, keys:].any()


@pytest.mark.parametrize("model_type", sorted(WEIGHTS_ONLY))
def test_where_nobody_can_listen_the_model_says_so_and_its_weights_are_known(model_type: str) -> None:
    model = tiny(model_type)
    assert not library.knows_interface(type(model))
    layout, abilities = explore(model)
    assert not layout.heads
    assert not abilities.knows_inputs
    assert {"scores", "head outputs", "norms", "edits"} <= abilities.lacks.keys()
    assert f"{abilities.max_length:,} tokens" in abilities.lacks["scores"]
    given, _ = batch(model_type, lengths=(13,) * 2)
    with torch.inference_mode():
        output = model(**{name: value[:1] for name, value in given.items()}, output_attentions=True)
    ((site, layers),) = weights_of(output, abilities, model.config).items()
    assert abilities.shapes == {site: (len(layers), 4)}
    for layer, weights in zip(layers, output.attentions, strict=True):
        assert torch.equal(layer.weights(), weights[0])
        assert torch.equal(layer.weights([2, 1], [3]), weights[0][[2, 1]][:, [3]])
        assert not layer.weights()[:, ~layer.mask.rows()[0]].any()
        with pytest.raises(TraceError, match=abilities.family):
            layer.scores_and_weights()


SIDES = {
    "encoder.self": "encoder_attentions",
    "decoder.self": "decoder_attentions",
    "decoder.cross": "cross_attentions",
}


@pytest.fixture
def folder(model_type: str, tmp_path: Path) -> Path:
    return zoo.save_longest(tmp_path, model_type)


@pytest.fixture
def text(model_type: str, folder: Path) -> str:
    return zoo.text_of(transformers.AutoTokenizer.from_pretrained(folder), zoo.LONGEST[model_type][-1])


@pytest.mark.parametrize("model_type", zoo.LONGEST)
def test_the_longest_text_has_the_weights_of_the_eager_model(model_type: str, folder: Path, text: str) -> None:
    length, has_two_sides = zoo.LONGEST[model_type][-1], model_type == "bart"
    trace = open_reader(folder).trace(text, text if has_two_sides else None)
    eager = zoo.HEADS[zoo.KINDS[model_type]].from_pretrained(folder, attn_implementation="eager")
    given = {"input_ids": torch.tensor([trace.source_ids or trace.target_ids])}
    if has_two_sides:
        given["decoder_input_ids"] = torch.tensor([trace.target_ids])
    with torch.inference_mode():
        output = eager(**given, output_attentions=True)
    rows = [0, 1, length // 2, length - 2]
    for site in trace.sites:
        expected = output[SIDES[site] if has_two_sides else "attentions"][0][0]
        assert expected.size(-1) == length
        torch.testing.assert_close(trace.weights(site, 0, rows=rows), expected[:, rows], atol=1e-5, rtol=0)


@pytest.mark.parametrize("model_type", zoo.LONGEST)
def test_one_token_more_is_refused_with_the_limit(model_type: str, folder: Path, text: str) -> None:
    with pytest.raises(InputTextError, match=f"{zoo.LONGEST[model_type][-1]:,}"):
        open_reader(folder).trace(text + " .")

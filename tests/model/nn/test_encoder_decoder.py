"""The models from before the Transformer: what holds of each, and their equations spelled out."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.errors import InputTextError
from model.nn.attention import attention_weights
from model.nn.earlier import (
    ConvolutionalDecoderLayer,
    ConvolutionalEncoderLayer,
    ConvolutionalTranslator,
    RecurrentLayer,
    RecurrentTranslator,
)
from model.nn.encoder_decoder import EncoderDecoder
from model.nn.hooks import listen
from model.nn.masks import key_padding, pad
from model.nn.score_functions import Additive
from model.translator import EarlierTranslator

ARCHITECTURES = ["recurrent", "recurrent-fixed-vector", "convolutional"]
SOURCES = [[5, 6, 7, 8, 9, 3], [11, 12, 3], [20, 21, 22, 23, 3]]
TARGETS = [[2, 30, 31, 32], [2, 40, 41, 42, 43, 44, 45], [2, 50]]


@pytest.fixture(params=ARCHITECTURES)
def model(request: pytest.FixtureRequest, earlier_translators: dict[str, EarlierTranslator]) -> EncoderDecoder:
    return earlier_translators[request.param].model


@torch.no_grad()
def logits_of(model: EncoderDecoder, source: list[int], target: list[int]) -> Tensor:
    return model(torch.tensor([source]), torch.tensor([target]))[0]


@torch.no_grad()
def test_padding_changes_nothing_for_the_sentences_of_a_batch(model: EncoderDecoder) -> None:
    source, target = pad(SOURCES, 0), pad(TARGETS, 0)
    batch = model(source, target, key_padding(source, 0))
    for number, (own_source, own_target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = logits_of(model, own_source, own_target)
        torch.testing.assert_close(batch[number, : len(own_target)], alone, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_a_target_row_does_not_see_those_after_it(model: EncoderDecoder) -> None:
    whole = logits_of(model, SOURCES[0], TARGETS[1])
    cut = logits_of(model, SOURCES[0], TARGETS[1][:3])
    torch.testing.assert_close(whole[:3], cut, atol=1e-6, rtol=1e-5)
    assert not torch.allclose(logits_of(model, SOURCES[0], [2, 60, 41, 42, 43, 44, 45])[3:], whole[3:])


@torch.no_grad()
def test_steps_with_the_cache_equal_one_pass_also_after_going_back(model: EncoderDecoder) -> None:
    source, target = torch.tensor(SOURCES[:1]), TARGETS[1]
    expected = logits_of(model, SOURCES[0], target)
    memory, cache = model.encode(source), model.new_cache()

    def step(token_id: int) -> Tensor:
        return model.projection(model.decode(torch.tensor([[token_id]]), memory, cache=cache))[0, -1]

    for token_id in (*target[:3], 70, 71):
        step(token_id)
    cache.truncate(3)
    branch = cache.copy()
    for row in range(3, len(target)):
        torch.testing.assert_close(step(target[row]), expected[row], atol=1e-5, rtol=1e-5)
    assert (len(branch), len(cache)) == (3, len(target))


@torch.no_grad()
def test_a_cache_gives_each_kept_row_its_own_prefix_and_sentence(model: EncoderDecoder) -> None:
    source, target = pad(SOURCES[:2], 0), torch.tensor([[2, 30], [2, 40]])
    padding = key_padding(source, 0)
    memory, cache = model.encode(source, padding), model.new_cache()
    model.decode(target, memory, padding, cache=cache)
    order = torch.tensor([1, 0, 1])
    cache.select(order)
    after = model.decode(torch.tensor([[31], [32], [33]]), memory[order], padding[order], cache=cache)
    for row, (sentence, prefix) in enumerate(((1, [2, 40, 31]), (0, [2, 30, 32]), (1, [2, 40, 33]))):
        alone = logits_of(model, SOURCES[sentence], prefix)[-1]
        torch.testing.assert_close(model.projection(after[row, -1]), alone, atol=1e-5, rtol=1e-5)


def test_every_parameter_learns(model: EncoderDecoder) -> None:
    source, target = pad(SOURCES, 0), pad(TARGETS, 0)
    model.zero_grad()
    model(source, target, key_padding(source, 0)).log_softmax(-1)[..., 7].sum().backward()
    still = [name for name, p in model.named_parameters() if p.grad is None or not bool(p.grad.abs().sum() > 0)]
    model.zero_grad()
    assert still == []


SOURCE, TARGET = torch.tensor([[5, 6, 7, 8, 3]]), torch.tensor([[2, 30, 31, 32]])
ROOT = 0.5**0.5


@pytest.fixture
def convolutional(earlier_translators: dict[str, EarlierTranslator]) -> ConvolutionalTranslator:
    convolutional = earlier_translators["convolutional"].model
    assert isinstance(convolutional, ConvolutionalTranslator)
    return convolutional


def gated(convolution: nn.Conv1d, rows: Tensor, before: int, after: int) -> Tensor:
    """A gated linear unit over windows of three rows, one matrix product a window."""
    assert convolution.bias is not None
    padded = F.pad(rows, (0, 0, before, after))
    outputs = []
    for start in range(len(rows)):
        window = padded[start : start + 3]
        a, b = torch.chunk(torch.einsum("ock,kc->o", convolution.weight, window) + convolution.bias, 2)
        outputs.append(a * torch.sigmoid(b))
    return torch.stack(outputs)


@torch.no_grad()
def test_logits_are_those_of_the_papers_equations(convolutional: ConvolutionalTranslator) -> None:
    encoder, decoder = convolutional.encoder, convolutional.decoder
    e = encoder.embedding.tokens(SOURCE)[0] + encoder.embedding.embed_positions.weight[:5]
    z = e
    for layer in encoder.layers:
        assert isinstance(layer, ConvolutionalEncoderLayer)
        z = (gated(layer.gated.convolution, z, 1, 1) + z) * ROOT
    g = decoder.embedding.tokens(TARGET)[0] + decoder.embedding.embed_positions.weight[:4]
    h = g
    for layer in decoder.layers:
        assert isinstance(layer, ConvolutionalDecoderLayer)
        v = gated(layer.gated.convolution, h, 2, 0)
        d = (v @ layer.cross_attention.query.weight.T + layer.cross_attention.query.bias + g) * ROOT
        context = (d @ z.T).softmax(-1) @ ((z + e) * ROOT)
        h = ((v + context * 5**0.5) * ROOT + h) * ROOT
    torch.testing.assert_close(convolutional(SOURCE, TARGET)[0], convolutional.projection(h), atol=1e-5, rtol=1e-5)


def test_a_text_with_more_tokens_than_positions_is_refused(convolutional: ConvolutionalTranslator) -> None:
    most = convolutional.config.num_positions
    assert convolutional.encode(torch.full((1, most), 5)).size(1) == most
    with pytest.raises(InputTextError, match=f"learned {most} positions, but the text needs {most + 1}"):
        convolutional.encode(torch.full((1, most + 1), 5))


def layer_of(model: RecurrentTranslator) -> RecurrentLayer:
    layer = model.decoder.layers[0]
    assert isinstance(layer, RecurrentLayer)
    return layer


def model_of(earlier_translators: dict[str, EarlierTranslator]) -> RecurrentTranslator:
    model = earlier_translators["recurrent"].model
    assert isinstance(model, RecurrentTranslator)
    return model


@torch.no_grad()
def test_states_are_those_of_torchs_gru_over_what_is_read_and_its_context(
    earlier_translators: dict[str, EarlierTranslator],
) -> None:
    model = model_of(earlier_translators)
    layer = layer_of(model)
    with listen(record={"hook_head_output", "hook_output", "hook_embedding"}) as recorded:
        annotations = model.encode(SOURCE)
        model.decode(TARGET, annotations)
    contexts = torch.cat(recorded["decoder.layers.0.cross_attention.hook_head_output"], dim=2)[:, 0]
    states = torch.cat(recorded["decoder.layers.0.hook_output"], dim=1)
    read = recorded["decoder.embedding.hook_embedding"][0]
    theirs = nn.GRU(layer.cell.input_size, layer.cell.hidden_size, batch_first=True)
    theirs.load_state_dict({f"{name}_l0": weight for name, weight in layer.cell.state_dict().items()})
    backwards = annotations[:, 0, layer.cell.hidden_size :]
    first = torch.tanh(model.decoder.first_state(backwards))
    expected, _ = theirs(torch.cat((read, contexts), dim=-1), first[None])
    torch.testing.assert_close(states, expected, atol=1e-6, rtol=1e-5)


@torch.no_grad()
def test_a_context_is_the_mean_of_the_annotations_under_the_additive_weights(
    earlier_translators: dict[str, EarlierTranslator],
) -> None:
    model = model_of(earlier_translators)
    site = layer_of(model).cross_attention
    assert site is not None
    with listen(record={"hook_output", "hook_head_output"}) as recorded:
        annotations = model.encode(SOURCE)
        model.decode(TARGET, annotations)
    # The state that aligns a row is that before it.
    state = recorded["decoder.layers.0.hook_output"][1]
    energy = torch.tanh(site.query(state) + site.key(annotations)) @ site.score_vector[0]
    expected = energy.softmax(-1) @ annotations[0]
    context = recorded["decoder.layers.0.cross_attention.hook_head_output"][2][:, 0]
    torch.testing.assert_close(context, expected[None], atol=1e-6, rtol=1e-5)
    weights = attention_weights(
        site.query(state)[None], site.key(annotations)[None], scale=1.0, score=Additive(site.score_vector)
    ).weights
    torch.testing.assert_close(weights[0, 0], energy.softmax(-1), atol=1e-6, rtol=1e-5)


@torch.no_grad()
def test_annotations_are_those_of_torchs_bidirectional_gru(earlier_translators: dict[str, EarlierTranslator]) -> None:
    model = model_of(earlier_translators)
    there, back = (nn.GRU(32, 24, batch_first=True) for _ in range(2))
    own = model.encoder.gru.state_dict()
    there.load_state_dict({name: own[name] for name in there.state_dict()})
    back.load_state_dict({name: own[f"{name}_reverse"] for name in back.state_dict()})
    embedded = model.encoder.embedding.tokens(SOURCE)
    expected = torch.cat((there(embedded)[0], back(embedded.flip(1))[0].flip(1)), dim=-1)
    torch.testing.assert_close(model.encode(SOURCE), expected, atol=1e-6, rtol=1e-5)


@torch.no_grad()
def test_without_attention_the_last_states_of_both_directions_are_all_that_the_decoder_reads(
    earlier_translators: dict[str, EarlierTranslator],
) -> None:
    model = earlier_translators["recurrent-fixed-vector"].model
    assert isinstance(model, RecurrentTranslator)
    layer, size = layer_of(model), model.config.hidden_size
    annotations, last = model.encoder.gru(model.encoder.embedding.tokens(SOURCE))
    memory = model.encode(SOURCE)
    one = torch.cat((annotations[:, -1:, :size], annotations[:, :1, size:]), dim=-1)
    torch.testing.assert_close(memory, one.expand_as(memory))
    # The equations of Cho et al. 2014: each state reads the last one, the last token, and the same vector.
    state, rows = torch.tanh(model.decoder.first_state(last[1])), []
    for read in model.decoder.embedding.tokens(TARGET).unbind(1):
        state = layer.cell(torch.cat((read, memory[:, 0]), dim=-1), state)
        pairs = model.decoder.readout(torch.cat((state, read, memory[:, 0]), dim=-1))
        rows.append(torch.maximum(pairs[:, 0::2], pairs[:, 1::2]))
    expected = model.projection(torch.stack(rows, dim=1))
    torch.testing.assert_close(model(SOURCE, TARGET), expected, atol=1e-5, rtol=1e-5)

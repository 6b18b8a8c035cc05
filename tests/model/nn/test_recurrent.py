"""The GRU model against torch's own GRU, and its alignment against the equation that everything here shares."""

import torch
from torch import nn

from model.nn.attention import attention_weights
from model.nn.earlier import RecurrentLayer, RecurrentTranslator
from model.nn.hooks import listen
from model.nn.score_functions import Additive
from model.translator import EarlierTranslator

SOURCE, TARGET = torch.tensor([[5, 6, 7, 8, 3]]), torch.tensor([[2, 30, 31, 32]])


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

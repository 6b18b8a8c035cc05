"""Every architecture that is said to work: the weights derived here are those of the library's own eager attention."""

import pytest
import torch

from model.adapters import capture, library
from model.adapters.families import FAMILIES
from model.adapters.opening import explore
from tests.model.adapters.zoo import CONFIGS, VOCAB, tiny

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
WEIGHTS_ONLY = {"mpnet", "deberta", "deberta-v2", "bloom", "falcon", "mpt", "gpt_neo"}


def batch(model_type: str, lengths=(13, 9)):
    """Two texts, the second one padded, and the lengths of query and key at every site."""
    torch.manual_seed(1)
    source = torch.randint(6, VOCAB, (2, max(lengths)))
    padding = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    given = {"input_ids": source, "attention_mask": padding.long()}
    if FAMILIES[model_type].kind == "image":
        return {"pixel_values": torch.randn(2, 3, 24, 24)}, {"encoder.self": [(None, None)] * 2}
    sites = {site: [(n, n) for n in lengths] for site in EAGER_NAMES[FAMILIES[model_type].kind]}
    if FAMILIES[model_type].kind == "encoder-decoder":
        given["decoder_input_ids"] = torch.randint(6, VOCAB, (2, 7))
        sites |= {"decoder.self": [(7, 7)] * 2, "decoder.cross": [(7, n) for n in lengths]}
    return given, sites


def test_every_architecture_that_is_said_to_work_is_tested():
    assert CONFIGS.keys() == FAMILIES.keys()


@pytest.mark.parametrize("model_type", sorted(FAMILIES.keys() - WEIGHTS_ONLY))
def test_weights_and_head_outputs_are_those_of_the_eager_model(model_type: str):
    model, kind = tiny(model_type), FAMILIES[model_type].kind
    given, sites = batch(model_type)
    with torch.inference_mode():
        eager = model(**given, output_attentions=True)
        model.set_attn_implementation(library.OURS)
        layout, abilities = explore(model, model_type)
        listener = capture.Listener(keeps_outputs=True)
        with capture.listen(listener):
            model(**given)
    assert abilities.knows_inputs
    assert "norms" not in abilities.lacks
    outputs = dict(layout.located(listener.calls))
    for site, name in EAGER_NAMES[kind].items():
        assert len(getattr(eager, name)) == abilities.shapes[site][0]
        for place, (queries, keys) in enumerate(sites[site]):
            for layer, inputs in enumerate(layout.inputs(listener.calls, place)[site]):
                expected = getattr(eager, name)[layer][place]
                assert inputs.num_heads == expected.size(0) == abilities.heads[site][layer]
                assert inputs.mask.explicit is None
                real = outputs[site, layer].output[place].transpose(0, 1)
                # Rows of padding are nobody's: what they look at is never read.
                torch.testing.assert_close(inputs.weights()[:, :queries], expected[:, :queries], atol=1e-5, rtol=0)
                torch.testing.assert_close(inputs.head_output()[:, :queries], real[:, :queries], atol=1e-5, rtol=1e-5)
                if keys is not None:
                    assert not inputs.weights()[:, :queries, keys:].any()

"""MarianMT weights in our Transformer say what they say in transformers; every file of a folder may be hostile."""

from typing import Any

import pytest
import torch

from model.decoding.beam import BeamRule, SentenceBeam, Stop
from model.decoding.search import PrefixBatch, run_searches
from model.nn.layers import sinusoidal_encoding
from tests.model.marian.conftest import VARIANTS, Pair
from tests.model.marian.marian_folders import TEXTS

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")


@pytest.fixture(params=VARIANTS)
def pair(request: pytest.FixtureRequest, pairs: dict[str, Pair]) -> Pair:
    return pairs[request.param]


def real(logits: torch.Tensor, pair: Pair) -> torch.Tensor:
    """All but the column of <pad>, which ours never writes."""
    return logits[..., torch.arange(logits.size(-1)) != pair.ours.config.pad_id]


@torch.inference_mode()
def test_logits_equal_those_of_transformers_with_padding(pair: Pair) -> None:
    source, padding = pair.batch()
    config = pair.ours.config
    target = torch.randint(1, config.pad_id, (3, 9), generator=torch.Generator().manual_seed(1))
    target[:, 0] = config.bos_id
    expected = pair.theirs(input_ids=source, attention_mask=padding.long(), decoder_input_ids=target).logits
    found = pair.ours.model(source, target, padding)
    torch.testing.assert_close(real(found, pair), real(expected, pair), atol=1e-4, rtol=0)
    assert found[..., config.pad_id].isneginf().all()


@torch.inference_mode()
def test_every_step_with_the_cache_says_what_transformers_says(pair: Pair) -> None:
    session = pair.ours.decode(TEXTS[0])
    session.run()
    source = pair.their_tokenizer(TEXTS[0], return_tensors="pt").input_ids
    logits = pair.theirs(input_ids=source, decoder_input_ids=torch.tensor([session.target_ids[:-1]])).logits[0]
    logits[:, pair.ours.config.pad_id] = -torch.inf
    expected = logits.log_softmax(-1)
    for row, step in enumerate(session.steps):
        for candidate in step.candidates:
            assert candidate.log_prob == pytest.approx(expected[row, candidate.token_id].item(), abs=1e-4)


def test_weights_and_layer_outputs_equal_those_of_eager_attention(pair: Pair) -> None:
    trace = pair.ours.trace(TEXTS[2])
    pair.theirs.set_attn_implementation("eager")
    source, target = torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids])
    with torch.inference_mode():
        out = pair.theirs(input_ids=source, decoder_input_ids=target, output_attentions=True, output_hidden_states=True)
    sites = {"encoder.self": "encoder", "decoder.self": "decoder", "decoder.cross": "cross"}
    for site, name in sites.items():
        expected = getattr(out, f"{name}_attentions")
        assert len(trace.inputs[site]) == len(expected) == pair.ours.config.layers_of(site)
        for layer, weights in enumerate(expected):
            torch.testing.assert_close(trace.weights(site, layer), weights[0], atol=1e-5, rtol=0)
    hidden = out.decoder_hidden_states[-1][0]
    last = trace.recorded[f"decoder.layers.{pair.ours.config.decoder_layers - 1}.hook_output"]
    torch.testing.assert_close(last, hidden, atol=1e-4, rtol=0)


def generate(pair: Pair, text: str, **options: Any) -> Any:
    """What `generate` returns in as many tokens as ours may write: <pad> first, the forced </s> last."""
    source = pair.their_tokenizer(text, return_tensors="pt").input_ids
    model: Any = pair.theirs
    return model.generate(source, max_length=source.size(1) - 1 + 50 + 2, **options)


def written(ids: torch.Tensor, pair: Pair) -> list[int]:
    """The tokens without <pad> and </s>."""
    return [one for one in ids.tolist() if one not in (pair.ours.config.pad_id, pair.ours.config.eos_id)]


@pytest.mark.parametrize("text", TEXTS[1:])
def test_greedy_translations_equal_generate(pair: Pair, text: str) -> None:
    expected = written(generate(pair, text)[0], pair)
    session = pair.ours.decode(text)
    session.run()
    assert [one for one in session.target_ids[1:] if one != pair.ours.config.eos_id] == expected
    assert session.translation == pair.ours.translate(text)
    known = [one for one in expected if one != pair.ours.config.unk_id]  # theirs shows nothing for <unk>, ours ⁇
    assert pair.ours.tokenizer.decode(known) == pair.their_tokenizer.decode(expected, skip_special_tokens=True)


@pytest.mark.parametrize("text", TEXTS[1:2])
@pytest.mark.parametrize(("early_stopping", "alpha"), [(False, 1.0), (True, 1.0), ("never", 0.6), (False, 0.0)])
def test_beam_search_by_the_rule_of_transformers_equals_generate(
    pairs: dict[str, Pair], text: str, early_stopping: bool | str, alpha: float
) -> None:
    pair = pairs["swish"]
    found = generate(
        pair, text, num_beams=4, num_return_sequences=4, early_stopping=early_stopping, length_penalty=alpha,
        return_dict_in_generate=True, output_scores=True, forced_eos_token_id=None,
    )  # fmt: skip
    stops: dict[bool | str, Stop] = {False: "unlikely", True: "full", "never": "unbeatable"}
    source = torch.tensor([pair.ours.source_ids(text)])
    limit = source.size(1) + 50  # as many tokens as `generate` writes above: </s> may be the last of them
    begun = SentenceBeam(limit, 4, alpha, rule=BeamRule("power", stops[early_stopping]))
    with torch.inference_mode():
        batch = PrefixBatch(pair.ours.model, pair.ours.model.encode(source), None)
    (search,) = run_searches([begun], batch, torch.tensor([pair.ours.config.bos_id]), (pair.ours.config.eos_id,))
    assert [one.token_ids for one in search.finished] == [written(one, pair) for one in found.sequences]
    scores = [search.score(one) for one in search.finished]
    assert scores == pytest.approx(found.sequences_scores.tolist(), abs=1e-4)


def test_the_positions_are_those_of_transformers(pairs: dict[str, Pair]) -> None:
    theirs = pairs["swish"].theirs.model.encoder.embed_positions.weight
    torch.testing.assert_close(sinusoidal_encoding(128, 32, layout="halves"), theirs, atol=1e-6, rtol=0)

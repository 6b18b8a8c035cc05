"""The parts of a position's residual stream add up to what the model computed; norms against torch's own."""

from dataclasses import replace

import pytest
import torch

from model import Transformer, TransformerConfig, Translator
from model.analysis.residual_stream.token_path import follow
from model.parts.weights import Stack
from model.tokenizer import Tokenizer
from model.trace.trace import Trace
from model.training_record import LANGUAGES

Read = tuple[Translator, Trace]
TEXT = "The animal didn't cross the street."
CHANGES = {
    "pre-norm": {},
    "post-norm": {"norm": "post"},
    "no residual": {"residual": False},
    "no positions": {"positions": "none"},
    "learned positions": {"positions": "learned"},
}


@pytest.fixture(scope="session")
def runs(config: TransformerConfig, tokenizer: Tokenizer) -> dict[str, Read]:
    """What is changed in a tiny model → that model, and a trace of six target tokens."""
    made = {}
    for name, changes in CHANGES.items():
        torch.manual_seed(3)
        model = Transformer(replace(config, **changes))  # type: ignore[arg-type]
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 1:
                    # What is learned of norms and biases must be seen to be used.
                    parameter.add_(torch.randn_like(parameter), alpha=0.3)
        translator = Translator(model, tokenizer, name=name, digest=name, languages=LANGUAGES)
        made[name] = translator, translator.trace(TEXT, "Das Tier war")
    return made


STACKS: tuple[Stack, ...] = ("encoder", "decoder")


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("name", CHANGES)
def test_stream_and_addition_make_the_next_stream(runs: dict[str, Read], name: str, stack: Stack) -> None:
    path = follow(*runs[name], stack, 2)
    stream = path.begin
    for layer in path.layers:
        for addition in layer:
            torch.testing.assert_close(addition.before, stream)
            expected = addition.added + (stream if addition.has_skip else 0)
            torch.testing.assert_close(addition.summed, expected)
            stream = addition.after
    assert path.deviation < 1e-5


@pytest.mark.parametrize("name", CHANGES)
def test_the_path_ends_in_the_logits_of_the_model(runs: dict[str, Read], name: str) -> None:
    translator, trace = runs[name]
    model = translator.model
    with torch.inference_mode():
        real = model(torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids]))[0]
    for position in range(len(trace.target_ids)):
        path = follow(translator, trace, "decoder", position)
        ids = [candidate.token_id for candidate in path.candidates]
        torch.testing.assert_close(torch.tensor(path.logits), real[position, ids], atol=1e-5, rtol=1e-5)
        assert list(path.logits) == sorted(path.logits, reverse=True)

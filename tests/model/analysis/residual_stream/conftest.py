"""Captured runs of tiny random Transformers: pre- and post-norm, without residuals, without positions."""

from dataclasses import replace

import pytest
import torch

from model import Transformer, TransformerConfig, Translator
from model.analysis.residual_stream.capture import CapturedRun, capture
from model.tokenizer import Tokenizer
from model.training_record import LANGUAGES

TEXT = "The animal didn't cross the street."
CHANGES = {
    "pre-norm": {},
    "post-norm": {"norm": "post"},
    "no residual": {"residual": False},
    "no positions": {"positions": "none"},
    "learned positions": {"positions": "learned"},
    "SiLU, bias": {"activation": "silu", "output_bias": True, "scale_embedding": False},
}


@pytest.fixture(scope="session")
def runs(config: TransformerConfig, tokenizer: Tokenizer) -> dict[str, CapturedRun]:
    """What is changed in a tiny model → a captured run of it, of six target tokens."""
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
        made[name] = capture(translator, translator.trace(TEXT, "Das Tier war"))
    return made

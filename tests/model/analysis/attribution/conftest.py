"""Small Transformers of random weights, with the norm before each sub-layer and after its sum."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from model import Trace, Translator
from model.analysis.attribution.choice import choice_at
from model.analysis.attribution.runs import TranslatorRun
from model.config import TransformerConfig
from model.nn.transformer import Transformer
from model.tokenizer import Tokenizer
from model.training_record import LANGUAGES

TEXT, TARGET = "The dog did not run because it was tired.", "Das Tier war müde, weil es lief."
STEP = 4


@pytest.fixture(scope="session", params=["pre", "post"])
def either(request: pytest.FixtureRequest, config: TransformerConfig, tokenizer: Tokenizer) -> Translator:
    torch.manual_seed(3)
    model = Transformer(replace(config, norm=request.param)).eval()
    for norm in model.modules():
        if isinstance(norm, nn.LayerNorm):
            norm.eps = 0.1  # so large that whoever left it out would notice
    return Translator(model, tokenizer, name="x", languages=LANGUAGES)


@pytest.fixture(scope="session")
def trace(either: Translator) -> Trace:
    return either.trace(TEXT, TARGET)


@pytest.fixture(scope="session")
def run(either: Translator, trace: Trace) -> TranslatorRun:
    return TranslatorRun(either, choice_at(trace, STEP), trace)

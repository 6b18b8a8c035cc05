"""Fixtures shared by all tests: a tiny seeded model, its tokenizer, and a checkpoint folder of it."""

import os

# The models of the tests are so small that a second thread would only wait for the first.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from pathlib import Path

import pytest
import torch

from model import Transformer, TransformerConfig, Translator
from model.checkpoint import save_checkpoint
from model.tokenizer import Tokenizer

SENTENCES = [
    "The animal didn't cross the street because it was too tired.",
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "A man in a red shirt walks along the river with his old dog.",
    "Ein Mann in einem roten Hemd geht mit seinem alten Hund am Fluss entlang.",
    "Tom told me that he would be late again tomorrow morning.",
    "Tom sagte mir, dass er morgen früh wieder zu spät kommen würde.",
    "She gave her sister the book, and they read it together.",
    "Sie gab ihrer Schwester das Buch, und sie lasen es zusammen.",
] * 4


@pytest.fixture(scope="session")
def config() -> TransformerConfig:
    return TransformerConfig(vocab_size=370, d_model=32, num_layers=2, num_heads=4, d_ff=64, max_length=64, norm="pre")


@pytest.fixture(scope="session")
def tokenizer(config: TransformerConfig) -> Tokenizer:
    return Tokenizer.train(SENTENCES, config)


@pytest.fixture(scope="session")
def translator(config: TransformerConfig, tokenizer: Tokenizer) -> Translator:
    torch.manual_seed(7)
    return Translator(Transformer(config), tokenizer, name="tiny")


@pytest.fixture(scope="session")
def tiny_checkpoints(tmp_path_factory: pytest.TempPathFactory, translator: Translator) -> Path:
    """A folder of checkpoints, for HEADLIGHT_CHECKPOINTS, with one of random weights called "en-de"."""
    root = tmp_path_factory.mktemp("checkpoints")
    save_checkpoint(root / "en-de", translator.model, translator.tokenizer, card="Random weights, for tests.\n")
    return root

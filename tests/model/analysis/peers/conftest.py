"""The same decoders, opened by Headlight and by TransformerLens: the one that ships, and a small random one.

TransformerLens takes the weights as they lie in the folder: no norm is folded into them and nothing is centred, so that
both compute the same function.
"""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import torch
from torch import Tensor

from model.adapters.text_writer import TextWriter
from model.analysis.metrics.head_metrics import HeadName, all_heads
from model.opening import open_reader
from model.word_choice import WordChoice
from tests.model.adapters.zoo import save_tokenizer, tiny
from tests.paths import ROOT

WHY_SKIPPED: Final = "needs transformer-lens: see .github/CONTRIBUTING.md"
#: Nats. Logits of up to 30 lie 2e-6 apart in float32, and both sum them up from some hundred terms in another order.
NATS: Final = 1e-4
#: Some effect is at least so large (nats), so that equality says something.
LIVE: Final = 100 * NATS
#: Weights are at most 1; there float32 lies 6e-8 apart.
SHARE: Final = 1e-5


@dataclass(frozen=True, eq=False)
class Both:
    """The same folder, opened by both."""

    folder: Path
    reader: TextWriter
    bridge: Any

    @property
    def heads(self) -> tuple[HeadName, ...]:
        return all_heads(self.reader.abilities.heads)

    def cache(self, choice: WordChoice) -> Any:
        return self.bridge.run_with_cache(tokens_of(choice))[1]


def opened(folder: Path) -> Both:
    bridges = importlib.import_module("transformer_lens.model_bridge")
    reader = open_reader(folder, device="cpu")
    assert isinstance(reader, TextWriter)
    bridge = bridges.TransformerBridge.boot_transformers(str(folder), device="cpu", dtype=torch.float32)
    # A text is read as it is, without a token that begins it.
    bridge.cfg.default_prepend_bos = False
    return Both(folder, reader, bridge.eval())


def small(folder: Path, change: Callable[[Any], None] = lambda model: None) -> Both:
    """A random GPT-2 of three layers, with biases and gains that are not the ones a model begins with."""
    model: Any = tiny("gpt2", changes={"n_layer": 3, "n_positions": 128})
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
        change(model)
    model.save_pretrained(folder)
    save_tokenizer(folder, "bytes")
    return opened(folder)


def tokens_of(choice: WordChoice) -> Tensor:
    return torch.tensor([choice.place.target])


@pytest.fixture(scope="module", params=["the decoder that ships", "a random GPT-2"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    if "ships" in request.param:
        return opened(ROOT / "checkpoints" / "induction")
    return small(tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield

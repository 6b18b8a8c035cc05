"""Decoders that both have opened: the one that ships, and a small random one."""

from collections.abc import Iterator

import pytest
import torch

from tests.model.analysis.peers.opened import Both, opened, small
from tests.paths import ROOT


@pytest.fixture(scope="module", params=["the decoder that ships", "a random GPT-2"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    if "ships" in request.param:
        return opened(ROOT / "checkpoints" / "induction")
    return small(tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return small(tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(autouse=True)
def _without_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield

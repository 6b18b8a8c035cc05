"""Fixtures of the tests of interventions."""

import pytest
import torch

from model import Translator
from model.analysis.interventions.replacement import mean_outputs
from tests.model.analysis.interventions.cases import CORPUS


@pytest.fixture(scope="module")
def means(translator: Translator) -> torch.Tensor:
    return mean_outputs(translator, CORPUS)

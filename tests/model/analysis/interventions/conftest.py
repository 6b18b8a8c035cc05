"""Fixtures of the tests of interventions."""

import pytest

from model import Translator
from model.analysis.interventions.head_effects import Replacement, mean_outputs
from model.word_choice import TokenPlace
from tests.model.analysis.interventions.cases import CORPUS


@pytest.fixture(scope="module")
def means(translator: Translator) -> Replacement:
    traces = [translator.trace(sentence.text, sentence.target) for sentence in CORPUS]
    return mean_outputs(translator, [TokenPlace(tuple(t.source_ids), tuple(t.target_ids), 0) for t in traces])

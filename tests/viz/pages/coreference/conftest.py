"""Pairs of the curated set, and what a model scores on them."""

import pytest

from model import Translator
from model.analysis.coreference.case_files import PronounCases, curated_cases
from model.analysis.coreference.measure import CoreferenceScores, measure_coreference


@pytest.fixture(scope="module")
def few() -> PronounCases:
    """Every seventh pair of the curated set, so that all groups and some controls are there."""
    cases = curated_cases().cases
    names = sorted({case.pair for case in cases})[::7]
    return PronounCases(tuple(case for case in cases if case.pair in names))


@pytest.fixture(scope="module")
def scores(translator: Translator, few: PronounCases) -> CoreferenceScores:
    return measure_coreference(translator, few)

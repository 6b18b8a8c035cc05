"""What several tests of the curriculum read."""

import pytest

from model.training.lexicon import HELD_OUT_PARTS, HeldOutPart
from model.training.made_sets import PRONOUN_PAIRS
from model.training.pronouns import HELD_OUT, HeldOut, PronounPair, held_out_twins, training_pairs


@pytest.fixture(scope="session")
def training() -> list[PronounPair]:
    """Sentences of the curriculum; what holds for all of them is shown on a part of what a model is trained on."""
    return training_pairs(PRONOUN_PAIRS // 32, seed=1)


@pytest.fixture(scope="session")
def twins_of() -> dict[tuple[HeldOut, HeldOutPart], list[tuple[PronounPair, PronounPair]]]:
    return {(kind, part): held_out_twins(kind, part, 60, seed=1) for kind in HELD_OUT for part in HELD_OUT_PARTS}

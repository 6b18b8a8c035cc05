"""Whoever runs a computation can end it between two passes through a model."""

import pytest

from model import Translator, interruption
from model.errors import CancelledError


def test_a_translation_ends_at_the_pass_at_which_it_is_asked_to(translator: Translator) -> None:
    passes = 0

    def check() -> None:
        nonlocal passes
        passes += 1
        if passes == 3:
            raise CancelledError

    with pytest.raises(CancelledError), interruption.interruptible(check):
        translator.translate("The cat sat on the mat.")
    assert passes == 3


def test_nobody_is_asked_outside_of_the_block(translator: Translator) -> None:
    asked = []
    with interruption.interruptible(lambda: asked.append(1)):
        pass
    translator.translate("The cat sat on the mat.")
    assert asked == []

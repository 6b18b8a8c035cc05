"""The sizes of a model are read off its settings, by whatever name the library gives them."""

from dataclasses import replace

import pytest

from model import Transformer, Translator
from model.description import sizes
from model.training_record import LANGUAGES
from tests.model.adapters.writers import writer


def test_our_own_sizes_are_those_of_the_configuration(translator: Translator) -> None:
    found = sizes(translator)
    assert (found.d_model, found.d_ff, found.vocab_size) == (32, 64, 370)
    assert (found.norm, found.has_residual, found.is_scaled) == ("pre", True, True)
    model = Transformer(replace(translator.config, norm="post", residual=False))
    other = sizes(Translator(model, translator.tokenizer, name="x", digest="x", languages=LANGUAGES))
    assert (other.norm, other.has_residual) == ("post", False)


@pytest.mark.parametrize(("model_type", "d_ff"), [("llama", 48), ("bart", 48), ("t5", 48), ("gpt2", None)])
def test_sizes_of_the_library_are_found_under_its_names(model_type: str, d_ff: int | None) -> None:
    found = sizes(writer(model_type))
    assert (found.d_model, found.d_ff, found.vocab_size, found.norm) == (32, d_ff, 400, "")

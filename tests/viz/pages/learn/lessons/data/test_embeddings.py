"""What lessons say of the embedding matrix, from the matrix itself."""

import pytest
import torch

from model.errors import TokenError
from viz.pages.learn.lessons.data import stream
from viz.pages.learn.lessons.data.shipped import Shipped


def test_a_neighbour_has_the_cosine_of_the_two_rows(shipped: Shipped) -> None:
    matrix, tokens = shipped.translator.model.projection.weight.detach(), shipped.translator.all_tokens()
    found = stream.neighbours(shipped, word="street", other="water").found
    rows = [matrix[tokens.index(f"▁{word}")] for word in ("street", str(found["nearest"]), "water")]
    assert found["cosine"] == pytest.approx(float(torch.cosine_similarity(rows[0], rows[1], dim=0)), abs=1e-5)
    assert found["other_cosine"] == pytest.approx(float(torch.cosine_similarity(rows[0], rows[2], dim=0)), abs=1e-5)


def test_the_matrix_is_counted_once_among_all_parameters(shipped: Shipped) -> None:
    found = stream.shared(shipped).found
    assert found["all"] == sum(parameter.numel() for parameter in shipped.translator.model.parameters())
    assert found["once"] == shipped.translator.model.projection.weight.numel()


def test_a_word_without_a_piece_of_its_own_is_an_error_that_says_so(shipped: Shipped) -> None:
    with pytest.raises(TokenError, match="no token that is the word 'Donaudampfschiff'"):
        stream.neighbours(shipped, word="Donaudampfschiff", other="dog")

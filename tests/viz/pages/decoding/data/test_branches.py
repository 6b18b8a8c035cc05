"""Words spelt in tokens, and the translation of a branch."""

import pytest

from model.errors import TokenError
from viz.access import models
from viz.pages.decoding.data import branches
from viz.selection.selection import Selection


def spelt(word: str) -> tuple[str, ...]:
    selection = Selection().changed(checkpoint="en-de")
    return models.translator(selection.model).tokenizer.tokens(branches.spell(word, models.writer(selection.model)))


def test_words_are_spelt_as_words_and_marks_cling() -> None:
    assert spelt("Tom")[0].startswith("▁")
    assert "".join(spelt(" Das Tier ")) == "▁Das▁Tier"
    assert spelt(".") == (".",)
    assert spelt("</s>") == ("</s>",)
    piece = next(
        one
        for one in models.vocabulary(models.reader(Selection().changed(checkpoint="en-de").model))
        if len(one) > 3 and one[0] == "▁"
    )
    assert spelt(piece) == (piece,)


@pytest.mark.parametrize("word", ["", "  ", "<pad>", "<unk>", "😀", "שלום", "\u200b", "a b c d e f g h i j k l m n"])
def test_what_cannot_be_spelt_is_refused(word: str) -> None:
    with pytest.raises(TokenError):
        branches.spell(word, models.writer(Selection().changed(checkpoint="en-de").model))

"""Marian's pieces: ids, texts and offsets are those of transformers."""

import pytest

from model.errors import InputTextError
from tests.model.marian.marian_folders import TEXTS
from tests.model.marian.pairs import Pair

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")


@pytest.mark.parametrize("text", [*TEXTS, ">>deu<< The dog.", "  two   spaces ", "Tom 😀 עברית"])
def test_token_ids_and_texts_equal_those_of_transformers(pairs: dict[str, Pair], text: str) -> None:
    ours, theirs = pairs["swish"].ours.tokenizer, pairs["swish"].their_tokenizer
    ids = theirs(text).input_ids
    assert [*ours.encode(text), ours.token_id("</s>")] == ids
    assert list(ours.tokens(ids)) == theirs.convert_ids_to_tokens(ids)
    target = theirs(text_target="Das Tier, zu müde").input_ids
    assert [*ours.encode_target("Das Tier, zu müde"), 0] == target
    assert ours.decode(target) == theirs.decode(target, skip_special_tokens=True)


def test_the_chosen_target_comes_in_front_of_every_text_that_names_none(pairs: dict[str, Pair]) -> None:
    ours = pairs["swish"].ours
    assert ours.offered.writes == ("deu", "nld")
    dutch = ours.speaking(writes="nld")
    assert dutch.source_ids("The dog.") == ours.source_ids(">>nld<<The dog.") != ours.source_ids("The dog.")
    assert dutch.source_ids(">>deu<<The dog.") == ours.source_ids(">>deu<<The dog.")
    assert dutch.tokenizer.offsets("The dog.") == [(0, 0), *ours.tokenizer.offsets("The dog.")]
    assert (dutch.languages, ours.languages) == (("en", "nl"), ("en", "de"))
    assert dutch.key != ours.key


def test_an_unknown_target_is_one_sentence(pairs: dict[str, Pair]) -> None:
    with pytest.raises(InputTextError, match=r"does not know the language 'xyz'. Choose one of its 2: deu, nld\."):
        pairs["swish"].ours.translate(">>xyz<< The dog.")


def test_special_tokens_in_a_text_are_ordinary_characters(pairs: dict[str, Pair]) -> None:
    ours = pairs["swish"].ours
    assert ours.config.eos_id not in ours.tokenizer.encode("a </s> <pad> b")


def test_offsets_name_the_characters_behind_each_token(pairs: dict[str, Pair]) -> None:
    tokenizer = pairs["swish"].ours.tokenizer
    text = ">>deu<< The  dog 中"
    spans = [text[begin:end] for begin, end in tokenizer.offsets(text)]
    tokens = tokenizer.tokens(tokenizer.encode(text))
    assert tokens[0] == spans[0] == ">>deu<<"
    assert spans[-1] == "中"
    assert all(token.strip("▁") in (span, "", "<unk>") for token, span in zip(tokens, spans, strict=True))


def test_an_empty_or_overlong_text_is_refused(pairs: dict[str, Pair]) -> None:
    for text in ("", " \n", "The dog " * 100):
        with pytest.raises(InputTextError):
            pairs["swish"].ours.translate(text)

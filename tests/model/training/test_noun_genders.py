"""Labels of the genders of nouns: which nouns of a sentence have one, and which token carries it."""

import pytest

from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.dictionary_lexicon import DictionaryNoun
from model.training.lexicon import GENDERS
from model.training.noun_genders import NounGenders
from tests.paths import ROOT

NOUNS = NounGenders(
    [
        DictionaryNoun("pear", "Birne", "f", "pears", "Birnen", 9.0),
        DictionaryNoun("pear tree", "Birnbaum", "m", "pear trees", "Birnbäume", 9.0),
        DictionaryNoun("mast", "Mast", "m", "masts", "Masten", 9.0),
        DictionaryNoun("mast", "Mast", "f", "", "", 9.0),
    ]
)


def told(source: str, target: str) -> list[tuple[str, str]]:
    genders = list(GENDERS.values())
    return [(source[:end].split()[-1], genders[place]) for end, place in NOUNS.named_in(Pair(source, target))]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("The pear is ripe.", "Die Birne ist reif.", [("pear", "f")]),
        ("THE PEAR IS RIPE", "Die Birne ist reif.", [("PEAR", "f")]),
        ("The leaf of the pear tree, and a pear.", "Das Blatt des Birnbaums, und eine Birne.",
         [("tree", "m"), ("pear", "f")]),
        ("The pears are ripe.", "Die Birnen sind reif.", []),
        ("The pear is ripe.", "Das Obst ist reif.", []),
        ("The mast is high.", "Der Mast ist hoch.", []),
        ("Written by hand: the animal.", "Von Hand geschrieben: das Tier.", [("animal", "n")]),
    ],
)  # fmt: skip
def test_a_noun_has_a_gender_where_the_target_has_its_german(
    source: str, target: str, expected: list[tuple[str, str]]
) -> None:
    assert told(source, target) == expected


def test_the_last_token_of_the_noun_carries_it_however_the_source_is_cut() -> None:
    tokenizer = Tokenizer.load(ROOT / "checkpoints" / "en-de" / "tokenizer.model")
    pair = Pair("I saw a pear tree, a pear and an animal.", "Ich sah einen Birnbaum, eine Birne und ein Tier.")
    cuts = tokenizer.segmentations(pair.source, 64)
    assert len({len(cut) for cut in cuts}) > 1
    for cut in cuts:
        pieces = tokenizer.tokens(cut)
        ends = [("".join(pieces[: at + 1]), place) for at, place in NOUNS.tokens_of(pair, cut, tokenizer)]
        assert ends == [
            ("▁I▁saw▁a▁pear▁tree", 0),
            ("▁I▁saw▁a▁pear▁tree,▁a▁pear", 1),
            (f"▁{pair.source[:-1]}".replace(" ", "▁"), 2),
        ]

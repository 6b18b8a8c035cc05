"""The pronoun curriculum: right German, nothing held out is trained on, nothing is taken from what is scored."""

import hashlib
import itertools
import random
import re
from collections.abc import Iterator

import pytest

from model.training.compositions import AFFORDANCES, NAME, compositions
from model.training.lexicon import DRAWN_FRAMES, FRAMES, HELD_OUT_FRAMES, HELD_OUT_PARTS, NOUNS, SLOT, HeldOutPart
from model.training.pronouns import HELD_OUT, Draw, HeldOut, PronounPair, part_of_noun, pronouns_in

FRAME = {frame.name: frame for frame in (*FRAMES["train"], *HELD_OUT_FRAMES)}
BY_NAME = {noun.english: noun for nouns in NOUNS.values() for noun in nouns}
#: A cue of a composed sentence → the first forms of what it can be a form of, by which combinations are held out.
BASES: dict[str, set[str]] = {}
for affordance in AFFORDANCES:
    BASES.setdefault(affordance.cue[0], set()).add(affordance.base)


def combinations_of(pair: PronounPair) -> set[tuple[str, str]]:
    """The combinations of noun and cue by which a pair is of one part, whatever form the cue has in it."""
    bases = BASES[pair.cue] if pair.frame == NAME else {pair.cue}
    return {(pair.antecedent.english, base) for base in bases}


def words_around_slots(english: str) -> str:
    return SLOT.sub("_", english)


def keys_of(kind: HeldOut, pair: PronounPair) -> set[object]:
    """By what a pair of this kind is held out."""
    if kind == "combinations":
        return {*combinations_of(pair)}
    return {pair.antecedent.english if kind == "nouns" else pair.frame}


@pytest.mark.parametrize(
    ("frame", "a", "b", "determiners", "about", "cue", "english", "german"),
    [
        ("cross", "dog", "bridge", ("the", "the"), "a", "tired",
         "The dog didn't cross the bridge because it was too tired.",
         "Der Hund überquerte die Brücke nicht, weil er zu müde war."),
        ("cross", "dog", "bridge", ("the", "the"), "b", "wide",
         "The dog didn't cross the bridge because it was too wide.",
         "Der Hund überquerte die Brücke nicht, weil sie zu breit war."),
        ("cross passive", "bear", "field", ("a", "this"), "a", "tired",
         "This field was not crossed by a bear because it was too tired.",
         "Dieses Feld wurde von einem Bären nicht überquert, weil er zu müde war."),
        ("come to", "owl", "path", ("an", "the"), "b", "icy",
         "When an owl came to the path, it was too icy.",
         "Als eine Eule zum Weg kam, war er zu vereist."),
        ("lie so", "cat", "university", ("the", "a"), "a", "fed",
         "The cat was lying on a university, so Tom fed it.",
         "Die Katze lag auf einer Universität, deshalb fütterte Tom sie."),
        ("lie so", "cat", "armchair", ("my", "the"), "b", "repaired",
         "My cat was lying on the armchair, so Tom repaired it.",
         "Meine Katze lag auf dem Sessel, deshalb reparierte Tom ihn."),
        ("help", "goat", None, ("the", "the"), "a", "hurt",
         "The goat was too hurt, so Tom helped it.", "Die Ziege war zu verletzt, deshalb half Tom ihr."),
    ],
)  # fmt: skip
def test_articles_cases_and_pronouns_are_right(
    frame: str, a: str, b: str | None, determiners: tuple[str, str], about: str, cue: str, english: str, german: str
) -> None:
    chosen = FRAME[frame]
    first, second = ("a" if word == "an" else word for word in determiners)
    draw = Draw(chosen, BY_NAME[a], BY_NAME[b] if b else None, (first, second), ("Tom", "Tom"), ("too", "zu"))
    cues = dict(chosen.about_a if about == "a" else chosen.about_b)
    pair = draw.about(BY_NAME[a if about == "a" else str(b)], (cue, cues[cue]))
    assert (pair.source, pair.target) == (english, german)


def test_every_pair_has_the_pronoun_of_its_antecedents_gender(training: list[PronounPair]) -> None:
    forms = {"m": {"er", "ihn", "ihm"}, "f": {"sie", "ihr"}, "n": {"es", "ihm"}}
    for pair in training:
        assert forms[pair.antecedent.gender] & set(pronouns_in(pair.target)), pair
        assert re.search(r"\bit\b", pair.source, re.IGNORECASE)
        assert "{" not in pair.source + pair.target


def test_no_held_out_frame_noun_or_combination_is_trained_on(
    training: list[PronounPair], twins_of: dict[tuple[HeldOut, HeldOutPart], list[tuple[PronounPair, PronounPair]]]
) -> None:
    held_out = {frame.name for frame in HELD_OUT_FRAMES}
    trained_frames = {pair.frame for pair in training}
    # A form of two verbs (“empty”, “emptied”) may be of the one that is not held out.
    trained = {next(iter(keys)) for pair in training if len(keys := combinations_of(pair)) == 1}
    trained_nouns = {noun for pair in training for noun in nouns_after_determiners(pair.source)}
    assert not trained_frames & held_out
    for (kind, _), twins in twins_of.items():
        assert len(twins) == 60
        for pair in (pair for both in twins for pair in both):
            assert (pair.frame in held_out) == (kind in ("frames", "drawn frames"))
            if kind == "combinations":
                assert not combinations_of(pair) & trained
            if kind == "nouns":
                assert pair.antecedent.english.lower() not in trained_nouns
    others = {
        pair.antecedent.english
        for (kind, _), all_twins in twins_of.items()
        if kind != "nouns"
        for twins in all_twins
        for pair in twins
    }
    # A few nouns fit into held-out frames alone.
    assert len({noun for noun in others if noun.lower() not in trained_nouns}) <= 0.03 * len(others)


NOUNS_IN_LOWER_CASE = {name.lower() for name in BY_NAME}


def nouns_after_determiners(sentence: str) -> Iterator[str]:
    """The longest noun of one, two or three words that follows each determiner: a “water buffalo” is no “water”."""
    words = re.findall(r"[\w-]+", sentence.lower())
    for start, determiner in enumerate(words, 1):
        if determiner in {"the", "a", "an", "my", "this"}:
            phrases = (" ".join(words[start : start + length]) for length in (3, 2, 1))
            yield from itertools.islice((phrase for phrase in phrases if phrase in NOUNS_IN_LOWER_CASE), 1)


def test_dev_and_test_hold_out_different_things(
    twins_of: dict[tuple[HeldOut, HeldOutPart], list[tuple[PronounPair, PronounPair]]],
) -> None:
    for kind in HELD_OUT:
        dev, test = (
            {key for both in twins_of[kind, part] for pair in both for key in keys_of(kind, pair)}
            for part in HELD_OUT_PARTS
        )
        assert len(dev) > 5 < len(test)
        assert not dev & test


def test_a_noun_stays_in_its_part_for_ever() -> None:
    """Of a hundred six are for dev and ten for test, by the first 64 bits of the name's SHA-256: models are trained."""
    for name in (*BY_NAME, *(f"noun {number}" for number in range(1_000))):
        number = int(hashlib.sha256(name.encode()).hexdigest()[:16], 16) % 100
        expected = "dev" if number in range(6) else "test" if number in range(6, 16) else "train"
        assert part_of_noun(name) == ("train" if name in ("animal", "street") else expected), name


def test_twins_differ_in_the_cue_alone_and_need_different_pronouns(
    twins_of: dict[tuple[HeldOut, HeldOutPart], list[tuple[PronounPair, PronounPair]]],
) -> None:
    for twins in twins_of.values():
        for one, other in twins:
            words = zip(one.source.split(), other.source.split(), strict=True)
            assert sum(word != same for word, same in words) == 1
            assert one.antecedent != other.antecedent
            assert pronouns_in(one.target) != pronouns_in(other.target)


def test_no_test_frame_has_the_words_of_a_training_frame() -> None:
    trained = {words_around_slots(frame.english) for frame in FRAMES["train"]}
    trained |= {
        words_around_slots(one.frame.english) for one in itertools.islice(compositions(random.Random(1)), 20_000)
    }
    assert len(trained) > 1_000
    held_out = (*FRAMES["test"], *DRAWN_FRAMES["test"])
    assert not trained & {words_around_slots(frame.english) for frame in held_out}

"""The pronoun curriculum: right German, nothing held out is trained on, nothing is taken from what is scored."""

import itertools
import json
import random
import re
from collections.abc import Iterator

import pytest

from model.analysis.coreference.case_files import curated_cases
from model.pairs import read_pairs
from model.training.augmentation import CONTRACTED
from model.training.command import PRONOUN_PAIRS
from model.training.compositions import ANY_OPENINGS, CONTINUATIONS, FRAME_OPENINGS, compositions
from model.training.frames import DRAWN_FRAMES, FRAMES, HELD_OUT_FRAMES, HELD_OUT_PARTS, SLOT, HeldOutPart
from model.training.lexicon import NOUNS, Noun
from model.training.pronouns import (
    HELD_OUT,
    Draw,
    HeldOut,
    PronounPair,
    _part_of_noun,
    different,
    held_out_twins,
    pronouns_in,
    training_pairs,
)
from tests.paths import ROOT

SHARED = ROOT.parent / "shared" / "data"
BY_NAME = {noun.english: noun for nouns in NOUNS.values() for noun in nouns}
ALL_FRAMES = [*FRAMES["train"], *HELD_OUT_FRAMES]
FRAME = {frame.name: frame for frame in ALL_FRAMES}


@pytest.fixture(scope="module")
def training() -> list[PronounPair]:
    """Sentences of the curriculum; what holds for all of them is shown on an eighth of what a model is trained on."""
    return training_pairs(PRONOUN_PAIRS // 8, seed=1)


@pytest.fixture(scope="module")
def training_sentences(training: list[PronounPair]) -> set[str]:
    return {normal(pair.source) for pair in training}


@pytest.fixture(scope="module")
def twins_of() -> dict[tuple[HeldOut, HeldOutPart], list[tuple[PronounPair, PronounPair]]]:
    return {(kind, part): held_out_twins(kind, part, 60, seed=1) for kind in HELD_OUT for part in HELD_OUT_PARTS}


def test_it_has_the_size_that_was_asked_for() -> None:
    assert len(BY_NAME) >= 200
    assert len(ALL_FRAMES) == len(FRAME) >= 40
    assert {noun.gender for noun in BY_NAME.values()} == {"m", "f", "n"}


def words_around_slots(english: str) -> str:
    return SLOT.sub("_", english)


def test_no_test_frame_has_the_words_of_a_training_frame() -> None:
    trained = {words_around_slots(frame.english) for frame in FRAMES["train"]}
    trained |= {
        words_around_slots(one.frame.english) for one in itertools.islice(compositions(random.Random(1)), 20_000)
    }
    assert len(trained) > 1_000
    held_out = (*FRAMES["test"], *DRAWN_FRAMES["test"])
    assert not trained & {words_around_slots(frame.english) for frame in held_out}


def test_a_noun_has_one_translation_wherever_it_is_listed() -> None:
    for nouns in NOUNS.values():
        for noun in nouns:
            assert noun == BY_NAME[noun.english]


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
        ("eat not", "pig", "apple", ("the", "the"), "a", "full",
         "The pig didn't eat the apple because it was too full.",
         "Das Schwein fraß den Apfel nicht, weil es zu satt war."),
        ("help", "goat", None, ("the", "the"), "a", "hurt",
         "The goat was too hurt, so Tom helped it.", "Die Ziege war zu verletzt, deshalb half Tom ihr."),
        ("when so", "horse", "barn", ("the", "the"), "a", "fed",
         "When the horse ran into the barn, Tom fed it.", "Als das Pferd in die Scheune lief, fütterte Tom es."),
        ("did you see", "castle", None, ("the", "the"), "a", "old",
         "Did you see the castle? It was too old.", "Hast du das Schloss gesehen? Es war zu alt."),
    ],
)  # fmt: skip
def test_articles_cases_and_pronouns_are_right(
    frame: str, a: str, b: str | None, determiners: tuple[str, str], about: str, cue: str, english: str, german: str
) -> None:
    chosen = FRAME[frame]
    first, second = ("a" if word == "an" else word for word in determiners)
    draw = Draw(
        chosen,
        BY_NAME[a],
        BY_NAME[b] if b else None,
        (first, second),
        ("Tom", "Tom"),
        ("too", "zu"),
    )
    cues = dict(chosen.about_a if about == "a" else chosen.about_b)
    pair = draw.about(BY_NAME[a if about == "a" else str(b)], (cue, cues[cue]))
    assert (pair.source, pair.target) == (english, german)


def test_every_pair_has_the_pronoun_of_its_antecedents_gender(training: list[PronounPair]) -> None:
    forms = {"m": {"er", "ihn", "ihm"}, "f": {"sie", "ihr"}, "n": {"es", "ihm"}}
    for pair in training:
        assert forms[pair.antecedent.gender] & set(pronouns_in(pair.target)), pair
        assert re.search(r"\bit\b", pair.source, re.IGNORECASE)
        assert "{" not in pair.source + pair.target


def test_every_kind_of_pronoun_is_taught_often(training: list[PronounPair]) -> None:
    counts = {
        form: sum(form in pronouns_in(pair.target) for pair in training[:6_000]) for form in ("er", "sie", "es", "ihn")
    }
    assert all(count > 300 for count in counts.values()), counts
    assert all(sum(form in pronouns_in(pair.target) for pair in training[:6_000]) > 30 for form in ("ihm", "ihr"))


def test_candidates_come_near_and_far_alike(training: list[PronounPair]) -> None:
    """Position must tell nothing: the antecedent is the nearer candidate about as often as the farther one."""
    nearer = total = 0
    for pair in training:
        frame = FRAME.get(pair.frame)
        if frame is None or not (frame.about_a and frame.about_b):
            continue
        a_place, b_place = frame.english.find("{a}"), frame.english.find("{b}")
        is_a = pair.cue in dict(frame.about_a) and pair.antecedent in nouns_of(frame.kind_a)
        nearer += is_a == (a_place > b_place)
        total += 1
    assert 0.35 < nearer / total < 0.65


def nouns_of(kinds: str) -> set[Noun]:
    return {noun for kind in kinds.split() for noun in NOUNS[kind]}


def test_no_held_out_frame_noun_or_combination_is_trained_on(
    training: list[PronounPair], twins_of: dict[tuple[HeldOut, HeldOutPart], list[tuple[PronounPair, PronounPair]]]
) -> None:
    held_out = {frame.name for frame in HELD_OUT_FRAMES}
    trained_frames = {pair.frame for pair in training}
    trained = {(pair.antecedent.english, pair.cue) for pair in training}
    trained_nouns = {noun for pair in training for noun in nouns_after_determiners(pair.source)}
    assert not trained_frames & held_out
    for (kind, _), twins in twins_of.items():
        assert len(twins) == 60
        for pair in (pair for both in twins for pair in both):
            assert (pair.frame in held_out) == (kind in ("frames", "drawn frames"))
            if kind == "combinations":
                assert (pair.antecedent.english, pair.cue) not in trained
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


def test_no_frame_or_opening_names_a_held_out_noun_in_its_own_words() -> None:
    held_out = {noun.english.lower() for nouns in NOUNS.values() for noun in nouns if _part_of_noun(noun) != "train"}
    assert len(held_out) > 20
    for template in (*(frame.english for frame in FRAMES["train"]), *(one.english for one in ANY_OPENINGS)):
        text = " ".join(re.findall(r"[a-z-]+|_", words_around_slots(template.lower())))
        assert not (found := [noun for noun in held_out if re.search(rf"\b{noun}\b", text)]), (template, found)


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
        dev, test = ({pair.source for both in twins_of[kind, part] for pair in both} for part in ("dev", "test"))
        assert not dev & test


def test_it_gives_as_many_as_there_are_when_more_are_asked_for() -> None:
    assert different(10, ((sentence, len(sentence)) for sentence in itertools.cycle(("It", "It is")))) == [2, 5]
    assert different(1, ((sentence, len(sentence)) for sentence in itertools.cycle(("It", "It is")))) == [2]


def test_twins_differ_in_the_cue_alone_and_need_different_pronouns(
    twins_of: dict[tuple[HeldOut, HeldOutPart], list[tuple[PronounPair, PronounPair]]],
) -> None:
    for twins in twins_of.values():
        for one, other in twins:
            words = zip(one.source.split(), other.source.split(), strict=True)
            assert sum(word != same for word, same in words) == 1
            assert one.antecedent != other.antecedent
            assert pronouns_in(one.target) != pronouns_in(other.target)


def normal(sentence: str) -> str:
    return " ".join(re.findall(r"\w+", CONTRACTED.sub(r"\1 not", sentence.lower())))


def test_the_best_known_sentences_are_never_trained_on(
    training: list[PronounPair], training_sentences: set[str]
) -> None:
    assert not any({"animal", "street"} <= set(sentence.split()) for sentence in training_sentences)
    assert {"animal", "street"} <= {pair.antecedent.english for pair in training}


def pattern_of(template: str) -> re.Pattern[str]:
    """Matches every sentence that a template gives, whatever stands in its slots; `*` is an opening."""
    parts = re.split(r"\{[^}]*\}|\*", template)
    return re.compile("(.+)".join(map(re.escape, parts)), re.IGNORECASE)


CURATED = [case.sentence for case in curated_cases().cases]


def test_the_pattern_of_a_template_matches_what_the_curriculum_makes_of_it(training: list[PronounPair]) -> None:
    for draw in itertools.islice(compositions(random.Random(2)), 200):
        assert pattern_of(draw.frame.english).fullmatch(re.sub(r"\{[^}]*\}", "the word", draw.frame.english))
    by_frame = {pair.frame: pair.source for pair in training if pair.frame in FRAME}
    assert len(by_frame) > 500
    assert all(pattern_of(FRAME[name].english).fullmatch(source) for name, source in by_frame.items())


def test_a_composed_sentence_has_no_two_marks_side_by_side() -> None:
    for draw in itertools.islice(compositions(random.Random(3)), 20_000):
        assert not re.search(r"[,.?!;:]\s*[,.?!;:]", draw.frame.english + "|" + draw.frame.german), draw.frame


def test_no_frame_of_the_curriculum_gives_a_curated_sentence() -> None:
    for frame in ALL_FRAMES:
        pattern = pattern_of(frame.english)
        assert not [sentence for sentence in CURATED if pattern.fullmatch(sentence)], frame.english


def test_no_composition_of_the_curriculum_gives_a_curated_sentence() -> None:
    openings = [pattern_of(opening.english) for opening in (*ANY_OPENINGS, *FRAME_OPENINGS)]
    for continuation in (english for pairs in CONTINUATIONS.values() for english, _ in pairs):
        pattern, place = pattern_of(continuation), len(re.findall(r"\{", continuation.partition("*")[0]))
        for sentence in CURATED:
            found = pattern.fullmatch(sentence)
            assert not (found and any(one.fullmatch(found[place + 1]) for one in openings)), (continuation, sentence)


def test_no_curated_sentence_is_in_the_curriculum(
    training_sentences: set[str], twins_of: dict[tuple[HeldOut, HeldOutPart], list[tuple[PronounPair, PronounPair]]]
) -> None:
    held_out = {normal(pair.source) for twins in twins_of.values() for both in twins for pair in both}
    assert not (training_sentences | held_out) & {normal(sentence) for sentence in CURATED}


@pytest.mark.skipif(not SHARED.exists(), reason="needs the data beside the project")
def test_nothing_that_is_scored_is_in_the_curriculum_or_the_training_sets(training_sentences: set[str]) -> None:
    scored = {normal(pair.source) for path in (SHARED / "en-de" / "dev").glob("*.xz") for pair in read_pairs(path)}
    rows = (SHARED / "coreference" / "winograd_dev.jsonl").read_text(encoding="utf-8").splitlines()
    coreference = {normal(json.loads(row)["sentence"]) for row in rows}
    for path in (SHARED / "coreference").glob("winobias_*.txt"):
        lines = path.read_text(encoding="utf-8").splitlines()
        coreference |= {normal(line.partition(" ")[2].replace("[", "").replace("]", "")) for line in lines}
    assert len(scored) > 6_000
    assert len(coreference) > 1_500
    curated = {normal(sentence) for sentence in CURATED}
    assert not curated & (scored | coreference)
    known = {f"the animal did not cross the street because it was too {cue}" for cue in ("tired", "wide", "narrow")}
    known |= curated
    assert not training_sentences & (scored | coreference | known)
    for path in (SHARED / "en-de" / "train").glob("*.xz"):
        overlap = {normal(pair.source) for pair in read_pairs(path)} & (scored | coreference | known)
        assert not overlap, (path.name, sorted(overlap)[:3])

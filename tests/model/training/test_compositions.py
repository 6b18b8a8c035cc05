"""Sentences composed of parts; no curated sentence is in the curriculum, nothing that is scored is trained on."""

import itertools
import json
import random
import re

import pytest

from model.analysis.coreference.case_files import curated_cases
from model.pairs import read_pairs
from model.training.compositions import AFFORDANCES, ANY_OPENINGS, CONTINUATIONS, FORMS, FRAME_OPENINGS, compositions
from model.training.lexicon import HeldOutPart
from model.training.pronouns import HeldOut, PronounPair
from model.training.typed_variants import CONTRACTED
from tests.model.training.curriculum import ALL_FRAMES, FRAME, pattern_of
from tests.paths import ROOT

CURATED = [case.sentence for case in curated_cases().cases]
#: Infinitive, past and participle of the verbs that no rule makes, as a dictionary lists them.
VERBS = """
awake awoke awoken, bite bit bitten, breed bred bred, catch caught caught, cleave cleaved cleft, come came come,
creep crept crept, crossbreed crossbred crossbred, cut cut cut, dig dug dug, drink drank drunk, drive drove driven,
eat ate eaten, fall fell fallen, feed fed fed, feel felt felt, fight fought fought, fit fit fit, flee fled fled,
fly flew flown, freeze froze frozen, frolic frolicked frolicked, get got got, grind ground ground, hang hung hung,
hide hid hidden, lead led led, leap leapt leapt, lie lay lain, light lit lit, lose lost lost, make made made,
mislay mislaid mislaid, misunderstand misunderstood misunderstood, overcome overcame overcome,
overtake overtook overtaken, pay paid paid, program programmed programmed, proofread proofread proofread,
read read read, relight relit relit, ride rode ridden, run ran run, saw sawed sawn, sew sewed sewn,
shear sheared shorn, shoe shod shod, sing sang sung, sink sank sunk, sit sat sat, sleep slept slept, slide slid slid,
sling slung slung, slink slunk slunk, slit slit slit, sow sowed sown, spit spat spat, stand stood stood,
steal stole stolen, stride strode stridden, sweep swept swept, swim swam swum, teach taught taught,
throw threw thrown, wake woke woken, wear wore worn, weave wove woven, weep wept wept, write wrote written,
be was been, become became become, burst burst burst,
give gave given, grow grew grown, hold held held, hit hit hit, keep kept kept, kneel knelt knelt, put put put,
ring rang rung, rise rose risen, shake shook shaken, shrink shrank shrunk, take took taken, go went gone
"""
IRREGULAR = {infinitive: (past, participle) for infinitive, past, participle in map(str.split, VERBS.split(","))}
#: What stands around a cue of each form in English.
AROUND = {
    "property": r"\b(?:[Ii]t (?:was|is)|Was it) (?:{deg} )?{cue}(?=[.?,])",
    "does": r"\bit {cue}(?=[.,])",
    "past": r"(?:{who}|nobody)(?: never)? {cue} it\b",
    "infinitive": r"\b(?:to|couldn't|could|Can you|will|should) {cue} it\b",
    "participle": r"\bit was {cue}(?=[.,])|\b(?:has|had)(?: already)? {cue} it\b",
}


def forms_of(infinitive: str) -> tuple[str, str]:
    """Past and participle of an English verb, by its first word."""
    verb, space, rest = infinitive.partition(" ")
    if verb.endswith("e"):
        regular = f"{verb}d"
    elif re.search(r"[^aeiou]y$", verb):
        regular = f"{verb[:-1]}ied"
    elif re.fullmatch(r"[^aeiou]*(qu)?[aeiou][^aeiouwxy]", verb):
        regular = f"{verb}{verb[-1]}ed"
    else:
        regular = f"{verb}ed"
    past, participle = IRREGULAR.get(verb, (regular, regular))
    return f"{past}{space}{rest}", f"{participle}{space}{rest}"


def test_every_verb_has_the_forms_that_english_gives_it() -> None:
    verbs = [AFFORDANCES[index : index + 3] for index, one in enumerate(AFFORDANCES) if one.form == "past"]
    assert len(verbs) > 600
    for past, infinitive, *following in verbs:
        assert infinitive.form == "infinitive", past
        expected = forms_of(infinitive.cue[0])
        assert past.cue[0] == expected[0]
        assert past.base == infinitive.base == past.cue[0]
        if following and following[0].form == "participle":
            assert (following[0].cue[0], following[0].base) == (expected[1], past.base)
    alone = [one.cue[0].split()[0] for one in AFFORDANCES if one.form == "does"]
    pasts = {past for past, _ in IRREGULAR.values()}
    assert [verb for verb in alone if not verb.endswith("ed") and verb not in pasts] == []


@pytest.mark.parametrize("form", sorted({form for forms in FORMS.values() for form in forms}))
def test_each_form_stands_where_english_asks_for_it(form: str) -> None:
    assert len(CONTINUATIONS[form]) >= 5
    assert [english for english, _ in CONTINUATIONS[form] if not re.search(AROUND[form], english)] == []


def test_no_composition_of_the_curriculum_gives_a_curated_sentence() -> None:
    openings = [pattern_of(opening.english) for opening in (*ANY_OPENINGS, *FRAME_OPENINGS)]
    for continuation in (english for pairs in CONTINUATIONS.values() for english, _ in pairs):
        pattern, place = pattern_of(continuation), len(re.findall(r"\{", continuation.partition("*")[0]))
        for sentence in CURATED:
            found = pattern.fullmatch(sentence)
            assert not (found and any(one.fullmatch(found[place + 1]) for one in openings)), (continuation, sentence)


def test_a_composed_sentence_has_no_two_marks_side_by_side() -> None:
    for draw in itertools.islice(compositions(random.Random(3)), 5_000):
        assert not re.search(r"[,.?!;:]\s*[,.?!;:]", draw.frame.english + "|" + draw.frame.german), draw.frame


SHARED = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="module")
def training_sentences(training: list[PronounPair]) -> set[str]:
    return {normal(pair.source) for pair in training}


def normal(sentence: str) -> str:
    lower = sentence.lower()
    return " ".join(re.findall(r"\w+", CONTRACTED.sub(r"\1 not", lower) if "n't" in lower or "n’t" in lower else lower))


@pytest.mark.long
def test_the_best_known_sentences_are_never_trained_on(
    training: list[PronounPair], training_sentences: set[str]
) -> None:
    assert not any({"animal", "street"} <= set(sentence.split()) for sentence in training_sentences)
    assert {"animal", "street"} <= {pair.antecedent.english for pair in training}


def test_the_pattern_of_a_template_matches_what_the_curriculum_makes_of_it(training: list[PronounPair]) -> None:
    for draw in itertools.islice(compositions(random.Random(2)), 200):
        assert pattern_of(draw.frame.english).fullmatch(re.sub(r"\{[^}]*\}", "the word", draw.frame.english))
    by_frame = {pair.frame: pair.source for pair in training if pair.frame in FRAME}
    assert len(by_frame) > 500
    assert all(pattern_of(FRAME[name].english).fullmatch(source) for name, source in by_frame.items())


def test_no_frame_of_the_curriculum_gives_a_curated_sentence() -> None:
    for frame in ALL_FRAMES:
        pattern = pattern_of(frame.english)
        assert not [sentence for sentence in CURATED if pattern.fullmatch(sentence)], frame.english


def test_no_curated_sentence_is_in_the_curriculum(
    training_sentences: set[str], twins_of: dict[tuple[HeldOut, HeldOutPart], list[tuple[PronounPair, PronounPair]]]
) -> None:
    held_out = {normal(pair.source) for twins in twins_of.values() for both in twins for pair in both}
    assert not (training_sentences | held_out) & {normal(sentence) for sentence in CURATED}


@pytest.mark.long
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

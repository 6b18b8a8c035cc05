"""Sentences composed of parts; no curated sentence is in the curriculum, nothing that is scored is trained on."""

import json
import re

import pytest

from model.analysis.coreference.case_files import curated_cases
from model.pairs import read_pairs
from model.training.lexicon import HeldOutPart
from model.training.pronouns import HeldOut, PronounPair
from model.training.typed_variants import CONTRACTED
from tests.paths import ROOT

CURATED = [case.sentence for case in curated_cases().cases]


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


@pytest.mark.long
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

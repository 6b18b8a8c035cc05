"""Sentences composed of parts."""

import itertools
import random
import re

from model.analysis.coreference.case_files import curated_cases
from model.training.compositions import ANY_OPENINGS, CONTINUATIONS, FRAME_OPENINGS, compositions
from tests.model.training.curated import pattern_of

CURATED = [case.sentence for case in curated_cases().cases]


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

"""The Chinese minimal pairs: what is in them, what their marks name, and which models are asked them."""

from collections import Counter, defaultdict
from itertools import takewhile
from unittest.mock import Mock

import pytest

from model.analysis.coreference.case_files import CURATED, PronounCase, cases_for, curated_cases, set_language
from model.analysis.coreference.measure import nearest_hit
from model.reader import Reader
from tests.model.analysis.coreference.test_case_files import spelled

CASES = curated_cases("zh").cases
PRONOUNS = {"它", "他", "她"}
#: A pair may differ in a phrase of so many characters.
LONGEST_CHANGE = 7


def pairs() -> dict[str, list[PronounCase]]:
    of_pair = defaultdict(list)
    for case in CASES:
        of_pair[case.pair].append(case)
    return of_pair


def test_there_are_sixty_pairs_of_each_kind_as_many_as_said_and_no_bad_line() -> None:
    assert curated_cases("zh").rejected == ()
    assert {len(both) for both in pairs().values()} == {2}
    assert Counter(both[0].group for both in pairs().values()) == {"它": 24, "他": 12, "她": 12, "zero": 12}
    assert len({case.name for case in CASES}) == len({case.sentence for case in CASES}) == 120
    assert not {case.pair for case in CASES} & {case.pair for case in curated_cases().cases}


def alike(one: str, other: str) -> int:
    """With how many of the same characters both begin."""
    return len(list(takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False))))


def test_the_sentences_of_a_pair_differ_in_one_place_by_which_the_nouns_swap() -> None:
    for name, (one, other) in pairs().items():
        assert spelled(one)[1:] == spelled(other)[:0:-1], name
        before = alike(one.sentence, other.sentence)
        after = alike(one.sentence[before:][::-1], other.sentence[before:][::-1])
        changed = [case.sentence[before : len(case.sentence) - after] for case in (one, other)]
        assert all(1 <= len(part) <= LONGEST_CHANGE for part in changed), (name, changed)
        # What decides stands behind both nouns, and is no part of them.
        assert all(before >= case.antecedent[1] and before >= case.distractor[1] for case in (one, other)), name
        assert nearest_hit(one) + nearest_hit(other) == 1, name


def test_a_pronoun_is_marked_wherever_there_is_one_and_no_other_stands_there() -> None:
    for case in CASES:
        pronouns = [sign for sign in case.sentence if sign in PRONOUNS]
        assert pronouns == ([] if case.group == "zero" else [case.group])
        assert case.is_control == case.is_dropped == (case.group == "zero")
        assert case.is_dropped or spelled(case)[0] == case.group


def test_a_control_is_a_sentence_with_its_pronoun_left_out_looked_at_from_the_predicate() -> None:
    without = {case.sentence.replace("它", ""): case for case in CASES if case.group == "它"}
    for case in (case for case in CASES if case.is_dropped):
        same = without[case.sentence]
        assert spelled(case)[1:] == spelled(same)[1:]
        # The predicate stands behind the place where the pronoun stood.
        assert case.pronoun[0] >= same.pronoun[0]
    predicates = {case.pair: {spelled(one)[0] for one in CASES if one.pair == case.pair} for case in CASES}
    assert all(len(of_pair) == 2 for pair, of_pair in predicates.items() if "zero" in pair)


@pytest.mark.parametrize(
    ("languages", "sentences"),
    [(("zh", "en"), 120), (("zh-Hans", ""), 120), (("en", "fr"), 158), (("", ""), 158), (("fr", ""), 0)],
)
def test_a_model_is_asked_the_set_in_the_language_that_it_reads(languages: tuple[str, str], sentences: int) -> None:
    reader = Mock(spec=Reader, languages=languages)
    cases = cases_for(reader)
    assert (0 if cases is None else len(cases.cases)) == sentences


def test_the_set_of_a_language_without_one_is_the_english_one() -> None:
    assert [set_language(source) for source in ("zh", "zh-CN", "en-GB", "fr", "")] == ["zh", "zh", "en", "en", "en"]
    assert list(CURATED) == ["en", "zh"]

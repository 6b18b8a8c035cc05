"""Files of pronouns and candidates: what is read, left out and said of malformed ones; German pronouns found."""

import json
import re
from collections import defaultdict
from itertools import permutations
from pathlib import Path

import pytest

from model.analysis.coreference.case_files import (
    GermanChoice,
    PronounCase,
    curated_cases,
    parse_pronoun_cases,
    read_pronoun_cases,
)
from model.analysis.coreference.measure import nearest_hit
from model.analysis.coreference.pronoun_choice import NOT_FOUND, NOT_KNOWN, NOT_ONE, rival_forms, translated_pronoun

SENTENCE = "The dog saw the cat because it slept."
CASE = PronounCase(SENTENCE, (28, 30), (0, 7), (12, 19))


def spelled(case: PronounCase) -> tuple[str, str, str]:
    return tuple(case.sentence[slice(*span)] for span in case.spans)  # type: ignore[return-value]


TOKENS = ["The", "dog", "saw", "the", "cat", "because", "it", "slept", "."]
ROW: dict[str, object] = {
    "sentence": SENTENCE,
    "tokens": TOKENS,
    "pronoun": [6, 7],
    "antecedent": [0, 2],
    "distractor": [3, 5],
}
TWIN = {
    **ROW,
    "sentence": SENTENCE.replace("slept", "ran"),
    "tokens": [*TOKENS[:7], "ran", "."],
    "antecedent": [3, 5],
    "distractor": [0, 2],
}


def write(folder: Path, *rows: object) -> Path:
    path = folder / "winograd.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_winograd_row_becomes_spans_of_characters(tmp_path: Path) -> None:
    (case,) = read_pronoun_cases(write(tmp_path, ROW)).cases
    assert case == CASE
    assert spelled(case) == ("it", "The dog", "the cat")


@pytest.mark.parametrize(("end", "overlapping"), [(2, False), (3, True)])
def test_words_without_a_space_between_them_do_not_overlap(end: int, overlapping: bool) -> None:
    for first, second, third in permutations([(0, end), (2, 4), (5, 7)]):
        assert PronounCase("小王他走了，它", first, second, third).overlapping == overlapping


def test_spans_that_overlap_are_left_out_and_counted(tmp_path: Path) -> None:
    given = read_pronoun_cases(write(tmp_path, ROW, {**ROW, "distractor": [6, 8]}))
    assert len(given.cases) == 1
    assert given.skipped == {"pronoun and candidates overlap": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sentence": 5}, "“sentence” to be a text"),
        ({"sentence": " "}, "“sentence” to be a text"),
        ({"tokens": "The dog"}, "“tokens” to be a list"),
        ({"tokens": TOKENS[1:]}, "the token 'dog' next in the sentence, got 'The dog"),
        ({"pronoun": [6]}, "two whole numbers in “pronoun”"),
        ({"pronoun": [6.0, 7.0]}, "two whole numbers in “pronoun”"),
        ({"antecedent": [2, 2]}, "“antecedent” to be .* ≤ 9, got .2, 2"),
        ({"distractor": [-2, 1]}, "“distractor” to be"),
        ({"distractor": [8, 10]}, "“distractor” to be .* ≤ 9, got .8, 10"),
    ],
    ids=str,
)
def test_a_malformed_row_is_listed_and_the_good_ones_are_used(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    given = read_pronoun_cases(write(tmp_path, ROW, {**ROW, **change}, TWIN))
    assert [case.sentence for case in given.cases] == [ROW["sentence"], TWIN["sentence"]]
    assert [line.number for line in given.rejected] == [2]
    assert re.search(f"expected .*{message}", given.rejected[0].reason)


def test_the_curated_set_is_made_of_minimal_pairs_in_groups() -> None:
    cases = curated_cases().cases
    pairs, groups = defaultdict(list), defaultdict(list)
    for case in cases:
        pairs[case.pair].append(case)
        groups[case.group].append(case)
    assert len(pairs) >= 72
    assert len(groups) >= 6
    assert all(len(of_group) >= 24 for of_group in groups.values())
    for one, other in pairs.values():
        words = list(zip(one.sentence.split(), other.sentence.split(), strict=True))
        assert sum(word != same for word, same in words) == 1, one.pair
        assert (one.antecedent, one.distractor) != (other.antecedent, other.distractor)
        assert one.is_control == other.is_control == (one.group == "control")
    for group, of_group in groups.items():
        assert sum(map(nearest_hit, of_group)) / len(of_group) == pytest.approx(0.5, abs=0.1), group
    assert len({case.name for case in cases}) == len({case.sentence for case in cases}) == len(cases)


def test_curated_german_differs_in_a_pronoun_that_each_twin_needs_otherwise() -> None:
    by_pair = defaultdict(list)
    for case in curated_cases().cases:
        if case.german is not None:
            by_pair[case.pair].append(case.german)
    assert len(by_pair) >= 24
    for pair, choices in by_pair.items():
        deciding = []
        for choice in choices:
            words = zip(re.findall(r"\w+", choice.right), re.findall(r"\w+", choice.wrong), strict=True)
            ((right, wrong),) = [(one, other) for one, other in words if one != other]
            english = "its" if pair.startswith("possessive") else "it"
            assert wrong in rival_forms(right, english), pair
            deciding.append(gender(right))
        assert deciding[0] != deciding[1], pair


def gender(german: str) -> str:
    """Of the noun, as far as its pronoun tells: possessives tell the feminine from the rest."""
    forms = {"er": "m", "ihn": "m", "sie": "f", "es": "n"}
    return forms.get(german) or ("f" if german.startswith("ihr") else "m or n")


def test_own_rows_name_words_or_characters() -> None:
    row = {
        "sentence": "It rained, so it slept with the dog and the cat.",
        "antecedent": "The dog",
        "distractor": "the cat",
    }
    rows = [
        {**row, "pronoun": "it", "id": "a", "group": "g", "pair": "p"},
        {**row, "pronoun": [14, 16], "control": True},
    ]
    given = parse_pronoun_cases("\n".join(map(json.dumps, rows)).encode(), "own.jsonl")
    one, other = given.cases
    assert one.pronoun == other.pronoun == (14, 16)
    assert spelled(one) == ("it", "the dog", "the cat")
    assert (one.name, one.group, one.pair, one.is_control, other.is_control) == ("a", "g", "p", False, True)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"pronoun": "he"}, "the pronoun “he” does not occur"),
        ({"pronoun": "og"}, "the pronoun “og” does not occur"),
        ({"antecedent": "THE"}, "the antecedent “THE” occurs 2 times"),
        ({"antecedent": [0, 999]}, "0 ≤ begin < end ≤"),
        ({"right": "er ist"}, "differ in one word"),
        ({"right": "Er ist da.", "wrong": "Sie war da."}, "differ in one word"),
        ({"control": "yes"}, "true or false"),
        ({"dropped": 1}, "“dropped” to be true or false"),
        ({"dropped": True}, "expected “control” to be true if “dropped” is"),
    ],
    ids=str,
)
def test_own_rows_that_do_not_fit_are_listed(change: dict[str, object], reason: str) -> None:
    row = {"sentence": "The dog saw the cat because it slept.", "pronoun": "it", "antecedent": "the dog"}
    row["distractor"] = "the cat"
    lines = [row, {**row, **change}]
    given = parse_pronoun_cases("\n".join(map(json.dumps, lines)).encode(), "own.jsonl")
    assert len(given.cases) == 1
    assert [line.number for line in given.rejected] == [2]
    assert reason in given.rejected[0].reason


def test_words_of_a_chinese_sentence_are_found_where_the_dictionary_cuts() -> None:
    row = {"sentence": "其他邻居都走了，可他还在等小王。", "antecedent": "邻居", "distractor": "小王"}
    lines = [{**row, "pronoun": "他"}, {**row, "pronoun": "其"}, {**row, "pronoun": "他", "antecedent": "其他邻居"}]
    given = parse_pronoun_cases("\n".join(map(json.dumps, lines)).encode(), "own.jsonl")
    one, other = given.cases
    # The 他 of 其他, others, is no word.
    assert spelled(one) == ("他", "邻居", "小王")
    assert one.pronoun == (9, 10)
    assert spelled(other) == ("他", "其他邻居", "小王")
    assert [line.reason for line in given.rejected] == ["the pronoun “其” does not occur in the sentence"]


def test_columns_are_read_with_or_without_heading_and_german() -> None:
    sentence = "The dog saw the cat because it slept.\tit\tthe dog\tthe cat"
    heading = "Sentence\tPronoun\tAntecedent\tDistractor\tRight\tWrong"
    text = f"\ufeff{heading}\r\n{sentence}\tEr schlief.\tSie schlief.\r\n\r\n{sentence}\t\t\n"
    given = parse_pronoun_cases(text.encode(), "own.TSV")
    assert given.rejected == ()
    assert [case.spans for case in given.cases] == [CASE.spans, CASE.spans]
    assert given.cases[0].german == GermanChoice("Er schlief.", "Sie schlief.")
    assert given.cases[1].german is None
    short = parse_pronoun_cases(f"sentence\tpronoun\tantecedent\tdistractor\n{sentence}".encode(), "own.tsv")
    assert (len(short.cases), short.rejected) == (1, ())


WINOBIAS = """1 [The mechanic] paid the [ clerk's] friend.
2 The clerk thanked the mechanic.
3 [The developer] argued with the designer because [she] did not like the design.
4 The developer argued with [the designer] because [his] idea failed.
5 The nurse 's cousin met [the CEO] and [her] son and asked [her] in.
6 [The nurse] 's cousin met the CEO because [they] agreed.
7 The [cook] left the waiter after [he] ate.
"""


def test_the_other_candidate_of_winobias_is_what_the_neighbouring_line_means(tmp_path: Path) -> None:
    path = tmp_path / "winobias.txt"
    path.write_text(WINOBIAS, encoding="utf-8")
    given = read_pronoun_cases(path)
    assert [spelled(case) for case in given.cases] == [
        ("she", "The developer", "the designer"),
        ("his", "the designer", "The developer"),
        ("they", "The nurse", "the CEO"),
    ]
    assert given.cases[0].sentence == "The developer argued with the designer because she did not like the design."
    assert sorted(given.skipped.values()) == [1, 3]


def test_a_candidate_named_again_after_the_pronoun_is_the_one_before_it(tmp_path: Path) -> None:
    path = tmp_path / "winobias.txt"
    path.write_text(
        "1 [The cook] hired the tailor as [his] old tailor left.\n2 The cook likes [a tailor], so [he] pays.\n",
        encoding="utf-8",
    )
    first, _ = read_pronoun_cases(path).cases
    assert spelled(first) == ("his", "The cook", "the tailor")
    assert first.distractor[0] == 15


@pytest.mark.parametrize(
    ("sentence", "english", "german", "expected"),
    [
        ("The dog slept because it was tired.", "it", "Der Hund schlief, weil er müde war.", "er"),
        ("He knows it.", "it", "Er kennt es, sagt er.", NOT_ONE),
        ("It is here.", "It", "Er ist hier.", "Er"),
        ("Is it here?", "it", "Wissen Sie, dass er hier ist?", "er"),
        ("The cat lost its toy.", "its", "Die Katze verlor ihr Spielzeug.", "ihr"),
        ("Tom hurt himself.", "himself", "Tom verletzte sich.", "sich"),
        ("It came.", "It", "Der Hund kam.", NOT_FOUND),
        ("You came.", "You", "Du kamst.", NOT_KNOWN),
    ],
)
def test_the_german_pronoun_is_found(sentence: str, english: str, german: str, expected: str) -> None:
    begin = sentence.index(english)
    found = translated_pronoun(sentence, (begin, begin + len(english)), german)
    assert (found if isinstance(found, str) else german[slice(*found)]) == expected


def test_rivals_have_the_case_and_the_ending_of_the_pronoun() -> None:
    assert rival_forms("Er", "it") == ("Er", "Sie", "Es")
    assert rival_forms("es", "it") == ("er", "ihn", "sie", "es")
    assert rival_forms("ihn", "it") == ("ihn", "sie", "es")
    assert rival_forms("seinen", "its") == ("seinen", "ihren")
    assert rival_forms("ihr", "its") == ("sein", "ihr")
    assert rival_forms("er", "he") == ("er",)

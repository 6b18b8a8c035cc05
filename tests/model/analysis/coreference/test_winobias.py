"""WinoBias in pairs of lines: each says what the other candidate of its neighbour means."""

from pathlib import Path

from model.analysis.coreference.case_files import read_pronoun_cases
from tests.model.analysis.coreference.rows import spelled

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

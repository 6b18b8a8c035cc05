"""Pronouns and candidates: what is read, what a head that was told where to look scores, and the baselines."""

import json
from pathlib import Path

import pytest
import torch

from model.analysis.coreference import candidate_weights, first_hit, halves, hits, nearest_hit, score_coreference
from model.analysis.coreference_data import PronounCase, PronounCases, read_pronoun_cases
from model.errors import DataError
from model.trace import Trace
from tests.model.analysis.planted import PlantedTranslator

ROW = {
    "sentence": "The dog saw the cat because it slept.",
    "tokens": ["The", "dog", "saw", "the", "cat", "because", "it", "slept", "."],
    "pronoun": [6, 7],
    "antecedent": [0, 2],
    "distractor": [3, 5],
}
TWIN = {**ROW, "sentence": ROW["sentence"].replace("slept", "ran"), "antecedent": [3, 5], "distractor": [0, 2]}
TWIN["tokens"] = [*ROW["tokens"][:7], "ran", "."]
CASE = PronounCase(ROW["sentence"], (28, 30), (0, 7), (12, 19))
WINOBIAS = """1 [The mechanic] paid the [ clerk's] friend.
2 The clerk thanked the mechanic.
3 [The developer] argued with the designer because [she] did not like the design.
4 The developer argued with [the designer] because [his] idea failed.
5 The nurse 's cousin met [the CEO] and [her] son and asked [her] in.
6 [The nurse] 's cousin met the CEO because [they] agreed.
7 The [cook] left the waiter after [he] ate.
"""


def spelled(case: PronounCase) -> tuple[str, str, str]:
    return tuple(case.sentence[slice(*span)] for span in case[1:])  # type: ignore[return-value]


def write(folder: Path, *rows: object) -> Path:
    path = folder / "winograd.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def planted(translator, cases: list[PronounCase]) -> PlantedTranslator:
    """From the pronoun, head 1.3 looks at the antecedent, head 0.0 at the distractor; all others look at </s>."""
    by_sentence = {case.sentence: case for case in cases}

    def plan(trace: Trace) -> torch.Tensor:
        case, offsets = by_sentence[trace.text], translator.tokenizer.offsets(trace.text)
        n = len(trace.source_tokens)
        keys = torch.full((2, 4, n), n - 1)
        rows = [i for i, (begin, end) in enumerate(offsets) if case.pronoun[0] <= begin and end <= case.pronoun[1]]
        for (layer, head), (_, end) in {(1, 3): case.antecedent, (0, 0): case.distractor}.items():
            keys[layer, head, rows] = max(i for i, (_, stop) in enumerate(offsets) if stop == end)
        return keys

    return PlantedTranslator(translator, "encoder.self", plan)


def test_a_winograd_row_becomes_spans_of_characters(tmp_path: Path):
    (case,) = read_pronoun_cases(write(tmp_path, ROW)).cases
    assert case == CASE
    assert spelled(case) == ("it", "The dog", "the cat")


def test_the_other_candidate_of_winobias_is_what_the_neighbouring_line_means(tmp_path: Path):
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


def test_a_candidate_named_again_after_the_pronoun_is_the_one_before_it(tmp_path: Path):
    path = tmp_path / "winobias.txt"
    path.write_text(
        "1 [The cook] hired the tailor as [his] old tailor left.\n2 The cook likes [a tailor], so [he] pays.\n"
    )
    first, _ = read_pronoun_cases(path).cases
    assert spelled(first) == ("his", "The cook", "the tailor")
    assert first.distractor[0] == 15


def test_spans_that_overlap_are_left_out_and_counted(tmp_path: Path):
    given = read_pronoun_cases(write(tmp_path, ROW, {**ROW, "distractor": [6, 8]}))
    assert len(given.cases) == 1
    assert given.skipped == {"pronoun and candidates overlap": 1}


def test_a_head_that_follows_the_antecedent_is_always_right(translator, tmp_path: Path):
    given = read_pronoun_cases(write(tmp_path, ROW, TWIN))
    scores = score_coreference(planted(translator, list(given.cases)), given)
    assert scores.rows == 2
    assert scores.heads.best_head == (1, 3)
    assert scores.heads.heads[1][3] == scores.heads.head_averaged[1] == 1
    assert scores.heads.heads[0][0] == scores.heads.head_averaged[0] == 0
    assert scores.heads.heads[0][1:] == (0.5, 0.5, 0.5)
    assert (scores.nearest, scores.first) == (0.5, 0.5)


def test_weights_are_summed_over_a_candidate_and_averaged_over_the_pronoun(translator):
    trace = translator.trace(ROW["sentence"], ".")
    weights = trace.weights("encoder.self", 1)
    found = candidate_weights(trace, [4, 5], [[0, 1, 2], [3]])
    assert found.shape == (2, 5, 2)
    torch.testing.assert_close(found[1, :4, 0], weights[:, 4:6, :3].sum(-1).mean(-1))
    torch.testing.assert_close(found[1, 4, 1], weights[:, 4:6, 3].mean())


def test_what_the_decoder_reads_changes_nothing(translator):
    one, other = (translator.trace(ROW["sentence"], target) for target in (".", "Der Hund sah die Katze."))
    torch.testing.assert_close(one.weights("encoder.self", 1), other.weights("encoder.self", 1), rtol=0, atol=0)


def test_equal_weights_count_half():
    assert hits(torch.tensor([[0.2, 0.1], [0.1, 0.2], [0.3, 0.3]])).tolist() == [1, 0, 0.5]


def test_baselines_by_hand():
    assert (nearest_hit(CASE), first_hit(CASE)) == (0, 1)
    swapped = CASE._replace(antecedent=CASE.distractor, distractor=CASE.antecedent)
    assert (nearest_hit(swapped), first_hit(swapped)) == (1, 0)
    between = PronounCase("Tom saw Ann", (4, 7), (0, 3), (8, 11))
    assert nearest_hit(between) == 0.5


def test_twins_stay_in_one_half():
    twin = CASE._replace(antecedent=CASE.distractor, distractor=CASE.antecedent)
    other = PronounCase("Tom saw Ann", (4, 7), (0, 3), (8, 11))
    assert halves([CASE, twin, other, CASE]) == [0, 0, 1, 0]


def test_sentences_that_the_model_refuses_are_counted(translator):
    long = CASE._replace(sentence=CASE.sentence + " word" * 100)
    scores = score_coreference(translator, PronounCases((long, CASE), {"reason": 2}))
    assert (scores.rows, scores.skipped_rows) == (1, 3)
    with pytest.raises(DataError, match="No row could be scored"):
        score_coreference(translator, PronounCases((long,), {}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sentence": 5}, "“sentence” to be a text"),
        ({"sentence": " "}, "“sentence” to be a text"),
        ({"tokens": "The dog"}, "“tokens” to be a list"),
        ({"tokens": ROW["tokens"][1:]}, "the token 'dog' next in the sentence, got 'The dog"),
        ({"pronoun": [6]}, "two whole numbers in “pronoun”"),
        ({"pronoun": [6.0, 7.0]}, "two whole numbers in “pronoun”"),
        ({"antecedent": [2, 2]}, "“antecedent” to be .* ≤ 9, got .2, 2"),
        ({"distractor": [-2, 1]}, "“distractor” to be"),
        ({"distractor": [8, 10]}, "“distractor” to be .* ≤ 9, got .8, 10"),
    ],
    ids=str,
)
def test_a_malformed_row_is_said_with_its_line(tmp_path: Path, change: dict, message: str):
    with pytest.raises(DataError, match=f"winograd.jsonl, line 2: expected .*{message}"):
        read_pronoun_cases(write(tmp_path, ROW, {**ROW, **change}))


def test_a_field_that_is_missing_is_said_with_those_that_are_there(tmp_path: Path):
    with pytest.raises(DataError, match=r"line 1: expected a field “sentence”, got 'en, de'"):
        read_pronoun_cases(write(tmp_path, {"en": [], "de": []}))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"x", r"\.jsonl .* or \.txt .*got a\.csv"),
        ("a.txt", b"", "holds no row .* it is empty"),
        ("a.txt", b"1 [The] [[ ]\n2 ] [she] [" + b" " * 100_000, "2 × does not have one antecedent"),
        ("a.txt", b"1 [The cook] saw [her].", "1 × other candidate not found"),
        ("a.txt", b"1 [The cook] saw [her].\n2 [The cook] saw [him].", "2 × other candidate not found"),
        ("a.txt", b"ok\n\xfe\xff\n", "line 2: expected UTF-8"),
        ("a.jsonl", b"", "it is empty"),
    ],
)
def test_a_file_without_cases_is_said(tmp_path: Path, name: str, content: bytes, message: str):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_pronoun_cases(tmp_path / name)

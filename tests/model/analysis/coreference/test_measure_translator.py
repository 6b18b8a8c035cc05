"""Pronouns and candidates: what is read, what a head that was told where to look scores, and the baselines."""

import json
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model import Translator
from model.analysis.coreference.case_files import curated_cases, parse_pronoun_cases, read_pronoun_cases
from model.analysis.coreference.cases import GermanChoice, PronounCase, PronounCases, RejectedLine
from model.analysis.coreference.german_pronouns import NOT_FOUND, NOT_KNOWN, NOT_ONE, rival_forms, translated_pronoun
from model.analysis.coreference.measure_translator import measure_coreference
from model.analysis.coreference.pronoun_choice import WrittenPronoun, pronoun_choice
from model.analysis.coreference.scores import first_hit, half_of, hits, nearest_hit, score_site
from model.analysis.coreference.span_attention import CandidateWeights, Measure
from model.analysis.metrics.bootstrap import bootstrap_mean
from model.analysis.metrics.norms import value_weighted_norms
from model.analysis.metrics.rollout import rollout_at
from model.errors import CancelledError, DataError
from model.words import attention_between_words, pieces_of_spans

SENTENCE = "The dog saw the cat because it slept."
TOKENS = ["The", "dog", "saw", "the", "cat", "because", "it", "slept", "."]
ROW: dict[str, object] = {
    "sentence": SENTENCE,
    "tokens": TOKENS,
    "pronoun": [6, 7],
    "antecedent": [0, 2],
    "distractor": [3, 5],
}
TWIN = {**ROW, "sentence": SENTENCE.replace("slept", "ran"), "antecedent": [3, 5], "distractor": [0, 2]}
TWIN["tokens"] = [*TOKENS[:7], "ran", "."]
CASE = PronounCase(SENTENCE, (28, 30), (0, 7), (12, 19))
WINOBIAS = """1 [The mechanic] paid the [ clerk's] friend.
2 The clerk thanked the mechanic.
3 [The developer] argued with the designer because [she] did not like the design.
4 The developer argued with [the designer] because [his] idea failed.
5 The nurse 's cousin met [the CEO] and [her] son and asked [her] in.
6 [The nurse] 's cousin met the CEO because [they] agreed.
7 The [cook] left the waiter after [he] ate.
"""


def spelled(case: PronounCase) -> tuple[str, str, str]:
    return tuple(case.sentence[slice(*span)] for span in case.spans)  # type: ignore[return-value]


def write(folder: Path, *rows: object) -> Path:
    path = folder / "winograd.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_winograd_row_becomes_spans_of_characters(tmp_path: Path) -> None:
    (case,) = read_pronoun_cases(write(tmp_path, ROW)).cases
    assert case == CASE
    assert spelled(case) == ("it", "The dog", "the cat")


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
        "1 [The cook] hired the tailor as [his] old tailor left.\n2 The cook likes [a tailor], so [he] pays.\n"
    )
    first, _ = read_pronoun_cases(path).cases
    assert spelled(first) == ("his", "The cook", "the tailor")
    assert first.distractor[0] == 15


def test_spans_that_overlap_are_left_out_and_counted(tmp_path: Path) -> None:
    given = read_pronoun_cases(write(tmp_path, ROW, {**ROW, "distractor": [6, 8]}))
    assert len(given.cases) == 1
    assert given.skipped == {"pronoun and candidates overlap": 1}


def planted_weights(cases: list[PronounCase]) -> CandidateWeights:
    """Head 1.3 looks at the antecedent, head 0.0 at the distractor; all others look at both alike."""
    to = torch.full((len(cases), 2, 5, 2), 0.1)
    to[:, 1, 3] = torch.tensor([0.7, 0.2])
    to[:, 0, 0] = torch.tensor([0.2, 0.7])
    return CandidateWeights(to, to.flip(-1), 1 - to)


def test_a_head_that_follows_the_antecedent_is_always_right() -> None:
    cases = [replace(CASE, pair=f"pair {i // 2}") for i in range(20)]
    scores = score_site("encoder.self", "raw", cases, planted_weights(cases), {})
    assert scores is not None
    assert scores.best == (1, 3)
    assert scores.accuracy.at(1, 3) == (1, 1, 1)
    assert scores.accuracy.at(0, 0) == (0, 0, 0)
    assert scores.accuracy.value[0, 1:].tolist() == [0.5, 0.5, 0.5]
    assert scores.margin.at(1, 3) == pytest.approx((0.5, 0.5, 0.5))
    assert scores.strongest_word.at(1, 3)[0] == 0
    assert scores.reverse is not None
    assert scores.reverse.at(1, 3)[0] == 0
    assert scores.cross_selected == 1
    assert all(one.head == (1, 3) and one.beats_nearest for one in scores.held_out)
    assert sum(one.rows for one in scores.held_out) == 20


def test_controls_are_counted_apart() -> None:
    cases = [CASE, replace(CASE, is_control=True), CASE]
    weights = planted_weights(cases)
    weights.to[1] = 0.3
    scores = score_site("encoder.self", "raw", cases, weights, {})
    assert scores is not None
    assert scores.controls is not None
    assert (len(scores.cases), scores.controls.rows) == (2, 1)
    torch.testing.assert_close(scores.controls.weight, torch.full((2, 4), 0.6))
    assert float(scores.controls.weight_of_scored[1, 3]) == pytest.approx(0.9)
    assert score_site("encoder.self", "raw", [replace(CASE, is_control=True)], planted_weights([CASE]), {}) is None


def test_weights_of_a_batch_are_those_of_each_trace(translator: Translator) -> None:
    cases = [CASE, replace(CASE, sentence=f"{CASE.sentence} And so the man told the animal tomorrow.")]
    scores = measure_coreference(translator, PronounCases(tuple(cases)), sites=["encoder.self"])
    found = scores.sites["encoder.self"].weights
    assert found.back is not None
    for row, case in enumerate(cases):
        trace = translator.trace(case.sentence, ".")
        pieces = pieces_of_spans(translator.tokenizer.offsets(case.sentence), case.spans)
        for layer in range(2):
            between = attention_between_words(trace.weights("encoder.self", layer), pieces, pieces)
            torch.testing.assert_close(found.to[row, layer, :4], between[:, 0, 1:], rtol=0, atol=1e-5)
            torch.testing.assert_close(found.to[row, layer, 4], between[:, 0, 1:].mean(0), rtol=0, atol=1e-5)
            torch.testing.assert_close(found.back[row, layer, :4], between[:, 1:, 0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("measure", ["norm", "rollout"])
def test_norms_and_rollout_of_a_batch_are_those_of_each_trace(translator: Translator, measure: Measure) -> None:
    cases = [CASE, replace(CASE, sentence=f"{CASE.sentence} And so.")]
    scores = measure_coreference(translator, PronounCases(tuple(cases)), sites=["encoder.self"], measure=measure)
    found = scores.sites["encoder.self"].weights.to
    for row, case in enumerate(cases):
        trace = translator.trace(case.sentence, ".")
        pieces = pieces_of_spans(translator.tokenizer.offsets(case.sentence), case.spans)
        for layer in range(2):
            if measure == "rollout":
                weights = rollout_at(trace, "encoder.self", layer)[None]
            else:
                inputs = trace.attention("encoder.self", layer)
                projection = translator.output_projection("encoder.self", layer)
                weights = value_weighted_norms(trace.weights("encoder.self", layer), inputs.values(), projection)
            between = attention_between_words(weights, pieces, pieces)
            torch.testing.assert_close(found[row, layer, :-1], between[:, 0, 1:], rtol=0, atol=1e-5)


def test_cross_attention_is_read_at_the_row_that_predicts_the_pronoun(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    german = translator.tokenizer.encode("Das Tier überquerte die Straße nicht, weil es zu müde war.")
    row = next(i for i in range(len(german)) if "weil e" in translator.tokenizer.decode(german[: i + 1]))
    monkeypatch.setattr("model.analysis.coreference.measure_translator.greedy_search", lambda *_: [german, german])
    cases = (CASE, replace(CASE, sentence=f"{CASE.sentence} And so."))
    scores = measure_coreference(translator, PronounCases(cases), sites=["decoder.cross"])
    found = scores.sites["decoder.cross"].weights
    assert found.back is None
    for i, case in enumerate(cases):
        trace = translator.trace_tokens(case.sentence, [*german, translator.config.eos_id])
        pieces = pieces_of_spans(translator.tokenizer.offsets(case.sentence), case.spans)
        for layer in range(2):
            weights = trace.weights("decoder.cross", layer, rows=[row])
            between = attention_between_words(weights, [[0]], pieces)
            torch.testing.assert_close(found.to[i, layer, :4], between[:, 0, 1:], rtol=0, atol=1e-5)


def test_a_translation_without_the_pronoun_is_counted(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    german = translator.tokenizer.encode("Das Tier war müde.")
    monkeypatch.setattr("model.analysis.coreference.measure_translator.greedy_search", lambda *_: [german])
    scores = measure_coreference(translator, PronounCases((CASE,)))
    assert list(scores.sites) == ["encoder.self"]
    assert dict(scores.unscored["decoder.cross"]) == {NOT_FOUND: 1}


def test_contrast_is_the_difference_of_two_teacher_forced_passes(translator: Translator) -> None:
    choice = GermanChoice("Das Tier sagte, weil es müde war.", "Das Tier sagte, weil er müde war.")
    cases = (replace(CASE, german=choice), CASE, replace(CASE, sentence=f"{CASE.sentence} So.", german=choice))
    contrast = measure_coreference(translator, PronounCases(cases), sites=["encoder.self"]).contrast
    assert contrast is not None
    assert len(contrast.cases) == 2
    for case, margin in zip(contrast.cases, contrast.margins.tolist(), strict=True):
        right, wrong = (
            sum(step.log_prob for step in translator.trace(case.sentence, text).steps)
            for text in (choice.right, choice.wrong)
        )
        assert margin == pytest.approx(right - wrong, abs=1e-4)
    assert measure_coreference(translator, PronounCases((CASE,)), sites=["encoder.self"]).contrast is None


def test_the_probability_of_each_form_is_that_of_its_whole_word(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    german = translator.tokenizer.encode("Das Tier überquerte die Straße nicht, weil es zu müde war.")
    monkeypatch.setattr("model.analysis.coreference.pronoun_choice.greedy_search", lambda *_: [german])
    choice = pronoun_choice(translator, CASE)
    assert list(choice.probabilities) == ["er", "ihn", "sie", "es"]
    assert isinstance(choice.pronoun, WrittenPronoun)
    assert choice.translation[slice(*choice.pronoun.span)] == "es"
    begin = next(i for i in range(len(german)) if translator.tokenizer.decode(german[:i]).endswith("weil"))
    for form, probability in choice.probabilities.items():
        ids = [*german[:begin], *translator.tokenizer.encode(form)]
        steps = translator.trace_tokens(CASE.sentence, ids).steps[begin:]
        assert probability == pytest.approx(
            torch.tensor([step.log_prob for step in steps]).sum().exp().item(), rel=1e-3
        )


def test_progress_that_returns_false_stops(translator: Translator) -> None:
    seen: list[int] = []

    def stop(done: int) -> bool:
        seen.append(done)
        return False

    with pytest.raises(CancelledError, match="Stopped after 1 of 1"):
        measure_coreference(translator, PronounCases((CASE,)), progress=stop)
    assert seen == [1]


def test_a_site_that_is_not_scored_is_refused(translator: Translator) -> None:
    with pytest.raises(DataError, match=r"encoder\.self and decoder\.cross, got decoder\.self"):
        measure_coreference(translator, PronounCases((CASE,)), sites=["decoder.self"])


def test_equal_weights_count_half() -> None:
    assert hits(torch.tensor([[0.2, 0.1], [0.1, 0.2], [0.3, 0.3]])).tolist() == [1, 0, 0.5]


def test_baselines_by_hand() -> None:
    assert (nearest_hit(CASE), first_hit(CASE)) == (0, 1)
    swapped = replace(CASE, antecedent=CASE.distractor, distractor=CASE.antecedent)
    assert (nearest_hit(swapped), first_hit(swapped)) == (1, 0)
    between = PronounCase("Tom saw Ann", (4, 7), (0, 3), (8, 11))
    assert nearest_hit(between) == 0.5


def test_twins_stay_in_one_half() -> None:
    twin = replace(CASE, antecedent=CASE.distractor, distractor=CASE.antecedent)
    assert twin.pair_name == CASE.pair_name
    assert {half_of(f"pair {i}") for i in range(20)} == {0, 1}


def test_sentences_that_the_model_refuses_are_counted(translator: Translator) -> None:
    long = replace(CASE, sentence=CASE.sentence + " word" * 100)
    given = PronounCases((long, CASE), (RejectedLine(3, "reason"), RejectedLine(4, "reason")))
    scores = measure_coreference(translator, given)
    assert (len(scores.cases), scores.skipped_rows) == (1, 3)
    assert scores.skipped["reason"] == 2
    with pytest.raises(DataError, match="No row could be scored"):
        measure_coreference(translator, PronounCases((long,)))


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


def test_a_field_that_is_missing_is_said_with_those_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"expected a field “sentence”, got 'en, de' .line 1"):
        read_pronoun_cases(write(tmp_path, {"en": [], "de": []}))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"x", r"\.jsonl .* or \.txt .*got a\.csv"),
        ("a.jsonl", b"x" * 20_001, "is longer than 20,000"),
        ("a.jsonl", b"\n".join([b"x"] * 20_001), "has 20,001 lines"),
        ("a.jsonl", b"[" * 10_000, "expected one JSON object"),
        ("a.jsonl", b'{"sentence": "\\ud800 it", "pronoun": "it"}', "half a surrogate pair"),
        ("a.tsv", b"\xff\xfea\x00\t\x00b\x00", "expected UTF-8 text, got the byte 0xff"),
        ("a.tsv", b"one\ttwo", "expected 4 or 6 columns"),
        ("a.txt", b"", "holds no row .* it is empty"),
        ("a.txt", b"1 [The] [[ ]\n2 ] [she] [" + b" " * 100_000, "2 × does not have one antecedent"),
        ("a.txt", b"1 [The cook] saw [her].", "1 × other candidate not found"),
        ("a.txt", b"1 [The cook] saw [her].\n2 [The cook] saw [him].", "2 × other candidate not found"),
        ("a.txt", b"ok\n\xfe\xff\n", r"expected UTF-8.*\(line 2\)"),
        ("a.jsonl", b"", "it is empty"),
    ],
)
def test_a_file_without_cases_is_said(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_pronoun_cases(tmp_path / name)


# ---- the set that ships, one's own files ----


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
        ({"pronoun": "he"}, "the pronoun “he” does not stand"),
        ({"pronoun": "og"}, "the pronoun “og” does not stand"),
        ({"antecedent": "THE"}, "the antecedent “THE” stands 2 times"),
        ({"antecedent": [0, 999]}, "0 ≤ begin < end ≤"),
        ({"right": "er ist"}, "differ in one word"),
        ({"right": "Er ist da.", "wrong": "Sie war da."}, "differ in one word"),
        ({"control": "yes"}, "true or false"),
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


def test_columns_are_read_with_or_without_heading_and_german() -> None:
    sentence = "The dog saw the cat because it slept.\tit\tthe dog\tthe cat"
    heading = "Sentence\tPronoun\tAntecedent\tDistractor\tRight\tWrong"
    text = f"\ufeff{heading}\r\n{sentence}\tEr schlief.\tSie schlief.\r\n\r\n{sentence}\t\t\n"
    given = parse_pronoun_cases(text.encode(), "own.TSV")
    assert given.rejected == ()
    assert [case.spans for case in given.cases] == [CASE.spans, CASE.spans]
    assert given.cases[0].german == GermanChoice("Er schlief.", "Sie schlief.")
    assert given.cases[1].german is None


# ---- German pronouns ----


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


def test_two_pronouns_stand_for_two_in_their_order() -> None:
    sentence, german = "It ate because it could.", "Er fraß, weil es konnte."
    assert [translated_pronoun(sentence, span, german) for span in ((0, 2), (15, 17))] == [(0, 2), (14, 16)]


def test_rivals_have_the_case_and_the_ending_of_the_pronoun() -> None:
    assert rival_forms("Er", "it") == ("Er", "Sie", "Es")
    assert rival_forms("es", "it") == ("er", "ihn", "sie", "es")
    assert rival_forms("ihn", "it") == ("ihn", "sie", "es")
    assert rival_forms("seinen", "its") == ("seinen", "ihren")
    assert rival_forms("ihr", "its") == ("sein", "ihr")
    assert rival_forms("er", "he") == ("er",)


# ---- intervals ----


def test_intervals_agree_with_drawing_pairs_by_hand() -> None:
    generator = torch.Generator().manual_seed(3)
    values = (torch.rand(60, 2, generator=generator) > 0.4).float()
    groups = [f"{i // 2}" for i in range(60)]
    found = bootstrap_mean(values, groups)
    means = values.view(30, 2, 2).mean(1)
    drawn = torch.stack([means[torch.randint(30, (30,), generator=generator)].mean(0) for _ in range(4_000)])
    torch.testing.assert_close(found.value, values.mean(0))
    torch.testing.assert_close(found.low, drawn.quantile(0.025, dim=0), rtol=0, atol=0.03)
    torch.testing.assert_close(found.high, drawn.quantile(0.975, dim=0), rtol=0, atol=0.03)


def test_twins_with_opposite_answers_leave_no_doubt_about_one_half() -> None:
    values = torch.tensor([0.0, 1.0] * 20)
    assert bootstrap_mean(values, [f"{i // 2}" for i in range(40)]).at() == (0.5, 0.5, 0.5)
    assert bootstrap_mean(values, [f"{i}" for i in range(40)]).at()[1] < 0.45

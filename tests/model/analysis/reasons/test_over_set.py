"""What carries the change between twins, over a set of pairs."""

import json
from dataclasses import replace

import pytest
import torch

from model import Translator
from model.analysis.coreference.case_files import curated_cases
from model.analysis.metrics.estimates import bootstrap_median
from model.analysis.reasons.cell import telling_cell
from model.analysis.reasons.held_run import Part
from model.analysis.reasons.mechanism import Words, mechanism
from model.analysis.reasons.over_set import ROLES, TwinPair, reasons_over_set, twin_pairs
from model.analysis.reasons.report import reasons_json, reasons_report
from model.analysis.reasons.score import explain
from model.analysis.reasons.twins import trace_twin
from model.analysis.reasons.without import without
from model.errors import DataError
from tests.conftest import SENTENCES
from tests.shipped import FOLDER


def test_parts_of_each_pair_add_up_to_the_share_of_its_query(translator: Translator) -> None:
    pairs = [
        TwinPair(str(number), text, text.replace(one, other))
        for number, (text, one, other) in enumerate([(SENTENCES[0], "tired", "old"), (SENTENCES[4], "late", "again")])
    ]
    found = reasons_over_set(translator, [*pairs, TwinPair("blank", SENTENCES[0], " ")])
    assert found.names == ("0", "1")
    assert list(found.skipped.values()) == [1]
    torch.testing.assert_close(found.of_parts.sum(1), found.query, atol=1e-3, rtol=1e-3)
    with pytest.raises(DataError, match="No pair could be explained"):
        reasons_over_set(translator, [TwinPair("blank", SENTENCES[0], " ")])


def test_of_a_pair_in_which_head_or_word_stays_no_number_of_the_mechanism_is_told(translator: Translator) -> None:
    words = {0: ("tired", ("old", "wide")), 4: ("late", ("again", "tired")), 6: ("book", ("dog", "river"))}
    pairs = [
        TwinPair(other, SENTENCES[at], SENTENCES[at].replace(one, other))
        for at, (one, others) in words.items()
        for other in others
    ]
    found, stays = reasons_over_set(translator, pairs), 0
    for pair in pairs:
        alone = reasons_over_set(translator, [pair])
        told = json.loads(json.dumps(reasons_json(found, (pair, alone)), allow_nan=False))["example"]
        assert (told["mechanism"] == {}) == (not alone.followed)
        assert alone.followed or told["log_odds"] is None
        assert "nan" not in reasons_report("tiny", found, (pair, alone))
        stays += not alone.followed
    assert 0 < stays < len(pairs)


def test_a_median_and_the_ends_of_its_interval_are_numbers_of_the_rows() -> None:
    values = torch.tensor([[1.0, 9.0], [2.0, 8.0], [4.0, 8.5], [8.0, 1.0]])
    found = bootstrap_median(values)
    assert found.value.tolist() == values.quantile(0.5, dim=0).tolist()
    assert (found.low <= found.value).all()
    assert (found.value <= found.high).all()
    assert found.low[0] == 1
    assert bootstrap_median(torch.full((3,), 7.0)).at() == (7, 7, 7)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_in_translations_the_pronoun_and_the_word_that_differs_turn_the_head_not_the_nouns() -> None:
    pairs = [pair for pair in twin_pairs(curated_cases()) if pair.name in ("it-01", "it-03", "it-04", "it-09")]
    reader = Translator.load(FOLDER, device="cpu")
    found = reasons_over_set(reader, pairs)
    assert found.head is not None
    assert (found.head.site, found.head.layer, found.head.head) == ("decoder.cross", 4, 1)
    assert len(found.followed) == 4
    words = dict(zip(ROLES, found.median(found.of_roles).value.tolist(), strict=True))
    assert words["pronoun"] > words["changed"] > 10 * abs(words["keys"])
    assert (found.below.kind, found.below.layer) == ("cross", 3)
    told = {name: estimate.at()[0] for name, estimate in found.sentences().items()}
    assert min(told["key_weight"], told["rival_weight"]) > 0.5
    assert told["query"] > 0.9
    assert told["carried_on"] > 1.5 * told["carried"] > 0
    for measure in ("score", "word"):
        assert told[f"pronoun and changed, {measure}"] > 0.9
        assert abs(told[f"keys, {measure}"]) < 0.1
    assert len(found.positions) == sum(len(reader.source_ids(pair.text)) for pair in pairs)
    assert found.agreement > 0.9


def test_what_exchanges_do_is_told_of_the_words_of_a_pair(translator: Translator) -> None:
    """The same by `without`, whose runs are held against hooks written by hand; all together they are the twin."""
    text, twin = SENTENCES[0], SENTENCES[0].replace("tired", "tried")
    trace = translator.trace(text)
    question = telling_cell(trace, other := trace_twin(translator, trace, twin))
    assert question is not None
    question = replace(question, layer=1)
    reason = explain(translator.parts, trace, question, other)
    changed = tuple(
        at for at, (one, two) in enumerate(zip(trace.source_ids, other.source_ids, strict=True)) if one != two
    )
    found = mechanism(translator, reason, Words((1,), changed, (question.key, question.rival)))
    assert found is not None
    reading = reason.query.follow(Part("cross", "decoder", 0))
    alone = without(translator, reason, reading, *changed)
    assert reason.there is not None
    expected = [(reason.here - score) / (reason.here - reason.there) for score in (alone.predicted, alone.by_run.score)]
    assert found.exchanged[1, :2].tolist() == pytest.approx(expected, abs=1e-3)
    assert found.positions[list(changed)].sum(0)[0] == pytest.approx(expected[0], abs=1e-3)

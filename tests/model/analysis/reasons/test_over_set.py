"""What carries the change between twins, over a set of pairs."""

import pytest
import torch

from model import Translator
from model.analysis.coreference.case_files import curated_cases
from model.analysis.metrics.estimates import bootstrap_median
from model.analysis.reasons.over_set import ROLES, TwinPair, reasons_over_set, twin_pairs
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
    found = reasons_over_set(Translator.load(FOLDER, device="cpu"), pairs)
    assert found.head is not None
    assert (found.head.site, found.head.layer, found.head.head) == ("decoder.cross", 4, 1)
    assert len(found.followed) == 4
    words = dict(zip(ROLES, found.median(found.of_roles).value.tolist(), strict=True))
    assert words["pronoun"] > words["changed"] > 10 * abs(words["keys"])
    below = found.parts[int(found.median(found.of_parts).value.argmax())]
    assert (below.kind, below.layer) == ("cross", 3)

"""Heads of a GRU, which computes a row at a time, and of ConvS2S: means, effects and patching are those of all rows."""

import pytest
import torch

from model.analysis.attribution.choice import TokenChoice
from model.analysis.interventions.head_effects import mean_outputs, measure_effects
from model.analysis.interventions.head_verdict import head_verdict
from model.analysis.interventions.patching import ChoicePair, patch_heads, patch_paths
from model.analysis.metrics.head_names import all_heads
from model.nn.encoder_decoder import site_path
from model.nn.hooks import first_row
from model.translator import EarlierTranslator
from model.word_choice import TokenPlace, WordChoice
from tests.conftest import SENTENCES

TEXT, OTHER, CROSS = SENTENCES[0], SENTENCES[4], "decoder.cross"
OUTPUTS = frozenset({"hook_head_output"})


@pytest.fixture(params=["recurrent", "convolutional"])
def translator(request: pytest.FixtureRequest, earlier_translators: dict[str, EarlierTranslator]) -> EarlierTranslator:
    return earlier_translators[request.param]


def pair_of(translator: EarlierTranslator) -> ChoicePair[WordChoice]:
    """Two tokens after nine that are read along with both texts."""
    target = (translator.config.bos_id, *range(20, 29))
    places = [TokenPlace(tuple(translator.source_ids(text)), target, len(target) - 1) for text in (TEXT, OTHER)]
    a, b = (WordChoice(place, 30, 40) for place in places)
    return ChoicePair(a, b)


def recorded(translator: EarlierTranslator, text: str, choice: WordChoice) -> torch.Tensor:
    """The output of the last layer's last head for every row."""
    trace = translator.trace_tokens(text, [*choice.place.target[1:], choice.right], extras=OUTPUTS)
    return trace.head_output(CROSS, trace.layers_of(CROSS) - 1)[-1]


def odds(translator: EarlierTranslator, text: str, choice: WordChoice, instead: torch.Tensor | None = None) -> float:
    """The log-odds as traces have them, with these rows in place of that output."""
    head = all_heads(translator.abilities.heads)[-1]

    def put(output: torch.Tensor) -> torch.Tensor:
        changed = output.clone()
        if instead is not None:
            changed[:, head.head] = instead[first_row() : first_row() + output.size(2)]
        return changed

    edits = {f"{site_path(head.site, head.layer)}.hook_head_output": put}
    right, wrong = (
        translator.trace_tokens(text, [*choice.place.target[1:], token], edits=edits).steps[-1].log_prob
        for token in (choice.right, choice.wrong)
    )
    return right - wrong


def test_the_mean_in_place_of_a_head_is_that_of_all_rows(translator: EarlierTranslator) -> None:
    choice = pair_of(translator).a
    mean = recorded(translator, TEXT, choice).mean(0)
    found = mean_outputs(translator, [choice.place])
    head = all_heads(translator.abilities.heads)[-1]
    torch.testing.assert_close(found[head.site, head.layer][head.head, 0], mean, atol=1e-5, rtol=0)
    effects = measure_effects(translator, [choice], found)
    change = odds(translator, TEXT, choice, mean.expand(10, -1)) - odds(translator, TEXT, choice)
    assert float(effects.changes[0, -1]) == pytest.approx(change, abs=1e-4)


def test_an_output_of_the_other_sentence_is_put_in_row_by_row(translator: EarlierTranslator) -> None:
    pair = pair_of(translator)
    expected = odds(translator, TEXT, pair.a, recorded(translator, OTHER, pair.a))
    for patched in (patch_heads(translator, [pair]), patch_paths(translator, [pair])):
        assert float(patched.a[0]) == pytest.approx(odds(translator, TEXT, pair.a), abs=1e-4)
        # The last head has no later one that could hear it.
        assert float(patched.patched[0, -1]) == pytest.approx(expected, abs=1e-4)
    choice, head = TokenChoice(pair.a.place, pair.a.right, pair.a.wrong), all_heads(translator.abilities.heads)[-1]
    trace = translator.trace_tokens(TEXT, [*pair.a.place.target[1:], pair.a.right])
    verdict = head_verdict(translator, choice, head, trace, pair.b.place)
    assert verdict.swapped is not None
    assert verdict.swapped.change == pytest.approx(expected - verdict.before, abs=1e-4)
    assert verdict.pointed is not None


def test_choices_of_unequal_length_are_compared_side_by_side(translator: EarlierTranslator) -> None:
    pair = pair_of(translator)
    shorter = WordChoice(TokenPlace(pair.b.place.source, pair.b.place.target[:4], 3), 30, 40)
    together = measure_effects(translator, [pair.a, shorter])
    alone = [measure_effects(translator, [choice]) for choice in (pair.a, shorter)]
    torch.testing.assert_close(together.changes, torch.cat([each.changes for each in alone]), atol=1e-4, rtol=0)
    assert float(together.intact[1]) == pytest.approx(odds(translator, OTHER, shorter), abs=1e-4)

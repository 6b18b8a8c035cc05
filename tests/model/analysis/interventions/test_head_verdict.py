"""Three interventions on one head: each is what its own analysis computes."""

from collections.abc import Mapping

import pytest
import torch

from model import Translator
from model.analysis.attribution.choice import TokenChoice
from model.analysis.interventions.head_effects import measure_effects
from model.analysis.interventions.head_verdict import Dependence, HeadVerdict, Intervention, head_verdict, point_heads
from model.analysis.interventions.patching import ChoicePair, patch_heads
from model.analysis.metrics.head_metrics import HeadName, all_heads
from model.errors import EditError
from model.nn.edits import PointAt
from model.nn.hooks import Edit
from model.word_choice import NO_EDITS, Chooser, TokenPlace, WordChoice
from tests.conftest import SENTENCES
from tests.model.analysis.interventions.conftest import CASES, HEADS
from tests.model.analysis.interventions.test_choices import pair_of, reader_of
from tests.often import often

#: A decoder, an encoder, both stacks; with shared keys and values, sinks and a soft cap.
TYPES = ["gpt2", "llama", "gpt_oss", "bert", "t5"]


def ours(translator: Translator) -> tuple[Chooser, ChoicePair[WordChoice], str]:
    case = CASES[0]
    a, b = (translator.word_choice(text, case.right, case.wrong) for text in (case.source, SENTENCES[4]))
    return translator, ChoicePair(a, b), case.source


def verdict_of(reader: Chooser, pair: ChoicePair[WordChoice], text: str, head: HeadName) -> HeadVerdict:
    choice = TokenChoice(pair.a.place, pair.a.right, pair.a.wrong)
    return head_verdict(reader, choice, head, reader.trace_place(choice.place, choice.token), pair.b.place)


@pytest.fixture(params=often(["ours", *TYPES], ("ours", "gpt2", "bert")))
def asked(request: pytest.FixtureRequest, translator: Translator) -> tuple[Chooser, ChoicePair[WordChoice], str]:
    if request.param == "ours":
        return ours(translator)
    return reader_of(request.param), pair_of(request.param), SENTENCES[0]


def test_off_and_swapped_are_what_the_maps_of_all_heads_have(
    asked: tuple[Chooser, ChoicePair[WordChoice], str],
) -> None:
    reader, pair, text = asked
    off, swapped = measure_effects(reader, [pair.a]).changes[0], patch_heads(reader, [pair]).changes[0]
    heads = all_heads(reader.abilities.heads)
    for number in range(0, len(heads), 5):
        verdict = verdict_of(reader, pair, text, heads[number])
        assert verdict.swapped is not None
        assert verdict.off.change == pytest.approx(float(off[number]), abs=2e-4)
        assert verdict.swapped.change == pytest.approx(float(swapped[number]), abs=2e-4)
        for found in (verdict.off, verdict.swapped):
            assert found.said == (pair.a.right if verdict.before + found.change > 0 else pair.a.wrong)


@pytest.mark.parametrize("head", HEADS)
def test_pointed_is_the_edit_that_costs_most_of_all_keys(translator: Translator, head: HeadName) -> None:
    _, pair, text = ours(translator)
    verdict, choice = verdict_of(translator, pair, text, head), pair.a
    keys = range(choice.place.row + 1 if head.site == "decoder.self" else len(choice.place.source))

    def value(edits: list[PointAt]) -> float:
        # Rows of a decoder before a key do not see it.
        right, wrong = (
            translator.trace_tokens(text, [*choice.place.target[1:], token], edits=edits).steps[choice.place.row]
            for token in (choice.right, choice.wrong)
        )
        return right.log_prob - wrong.log_prob

    of_keys = [value([PointAt(*head, key, since=key if head.site == "decoder.self" else 0)]) for key in keys]
    assert verdict.before == pytest.approx(value([]), abs=1e-4)
    assert verdict.pointed is not None
    assert verdict.pointed.change == pytest.approx(min(of_keys) - value([]), abs=2e-4)
    assert verdict.key == of_keys.index(min(of_keys))


def test_a_head_whose_output_is_not_weights_times_values_is_pointed_nowhere(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, pair, text = ours(translator)
    whole = translator.place_logits
    halved = lambda edit: lambda output: edit(output / 2)  # noqa: E731

    def otherwise(place: TokenPlace, copies: int = 1, edits: Mapping[str, Edit] = NO_EDITS) -> torch.Tensor:
        return whole(place, copies, {name: halved(edit) for name, edit in edits.items()})

    monkeypatch.setattr(translator, "place_logits", otherwise)
    verdict = verdict_of(translator, pair, text, HEADS[2])
    assert verdict.pointed is None
    assert verdict.key is None
    choice = TokenChoice(pair.a.place, pair.a.right, pair.a.wrong)
    pointed = point_heads(translator, choice, translator.trace_place(choice.place, choice.token))
    assert pointed.changes.isnan().all()
    assert set(pointed.keys.tolist()) == {-1}


RIGHT, WRONG = Intervention(-1.0, 5), Intervention(-9.0, 6)


@pytest.mark.parametrize(
    ("off", "swapped", "pointed", "dependence"),
    [
        (WRONG, RIGHT, RIGHT, "needs"),
        (WRONG, WRONG, WRONG, "needs"),
        (RIGHT, WRONG, RIGHT, "can change"),
        (RIGHT, RIGHT, WRONG, "can change"),
        (RIGHT, None, WRONG, "can change"),
        (RIGHT, RIGHT, RIGHT, "stays"),
        (RIGHT, None, None, "stays"),
    ],
)
def test_a_choice_needs_a_head_whose_loss_changes_it_and_not_one_that_only_could(
    off: Intervention, swapped: Intervention | None, pointed: Intervention | None, dependence: Dependence
) -> None:
    verdict = HeadVerdict(head=HEADS[0], before=4.0, said=5, off=off, swapped=swapped, pointed=pointed)
    assert verdict.dependence == dependence


@pytest.mark.parametrize("name", often(["ours", "gpt2", "t5"], ("ours", "gpt2")))
def test_pointing_all_heads_says_of_each_what_its_verdict_says(name: str, translator: Translator) -> None:
    reader, pair, text = ours(translator) if name == "ours" else (reader_of(name), pair_of(name), SENTENCES[0])
    choice = TokenChoice(pair.a.place, pair.a.right, pair.a.wrong)
    heads, counted = all_heads(reader.abilities.heads), list[int]()
    found = point_heads(reader, choice, reader.trace_place(choice.place, choice.token), counted.append)
    assert sum(counted) == len(heads)
    for number in range(0, len(heads), 3):
        verdict = verdict_of(reader, pair, text, heads[number])
        assert verdict.pointed is not None
        assert float(found.changes[number]) == pytest.approx(verdict.pointed.change, abs=2e-4)
        assert int(found.keys[number]) == verdict.key


def test_a_head_that_is_not_is_refused(translator: Translator) -> None:
    _, pair, text = ours(translator)
    with pytest.raises(EditError, match="no head 99"):
        verdict_of(translator, pair, text, HeadName("decoder.cross", 0, 99))

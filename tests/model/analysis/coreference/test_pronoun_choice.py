"""How probable a model holds each German pronoun."""

import pytest
import torch

from model import Translator
from model.analysis.coreference.pronoun_choice import PronounChoice, WrittenPronoun, pronoun_choice
from tests.model.analysis.coreference.rows import CASE


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


def test_the_pronoun_that_is_written_is_set_against_the_one_asked_for_or_else_the_most_probable() -> None:
    written = WrittenPronoun("Es", (9, 11), 3)
    choice = PronounChoice("Ja, ja. „Es läuft.“", written, {"Er": 0.3, "Sie": 0.1, "Es": 0.5})
    for preferred, other in (("sie", "Sie"), ("ihm", "Er"), ("", "Er")):
        german = choice.against(preferred)
        assert not isinstance(german, str)
        assert (german.right, german.wrong) == (choice.translation, f"Ja, ja. „{other} läuft.“")


def test_a_pronoun_that_german_leaves_no_choice_for_gives_the_reason() -> None:
    assert "no choice" in str(PronounChoice("Er geht.", WrittenPronoun("Er", (0, 2), 0), {"Er": 0.9}).against("sie"))
    assert PronounChoice("Ja.", "there is none", {}).against() == "there is none"

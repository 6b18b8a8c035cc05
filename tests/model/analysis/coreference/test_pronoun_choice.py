"""How probable a model holds each German pronoun."""

import pytest
import torch

from model import Translator
from model.analysis.coreference.pronoun_choice import WrittenPronoun, pronoun_choice
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

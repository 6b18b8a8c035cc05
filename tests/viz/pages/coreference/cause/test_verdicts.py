"""Sentences that say whether a choice flips."""

import torch

from model.analysis.coreference.cases import GermanChoice, PronounCase
from model.analysis.interventions.head_effects import HeadEffects, RemovalEffect
from model.analysis.metrics.head_names import HeadName
from viz.pages.coreference.cause import verdicts

HEADS = [HeadName(site, 0, head) for site in ("encoder.self", "decoder.self", "decoder.cross") for head in range(2)]
ES = PronounCase("It is.", (0, 2), (3, 5), (3, 5), german=GermanChoice("weil es müde ist.", "weil sie müde ist."))
SIE = PronounCase("It is.", (0, 2), (3, 5), (3, 5), german=GermanChoice("weil sie breit ist.", "weil es breit ist."))


def effects(changes: dict[tuple[int, int], float], intact: tuple[float, ...] = (4.0, 2.0)) -> HeadEffects:
    table = torch.zeros(len(intact), 3, 1, 2)
    for (case, head), change in changes.items():
        table.view(len(intact), -1)[case, head] = change
    return HeadEffects(intact=torch.tensor(intact), changes=table)


def test_the_head_that_flips_a_choice_is_named_with_both_pronouns() -> None:
    told = verdicts.sweep_sentence(effects({(0, 5): -4.5, (1, 5): -1.0, (0, 1): -3.0}), HEADS, [ES, SIE])
    assert "cross" in told
    assert "A from “es” to “sie”" in told
    assert "B from" not in told
    assert "No other head does" in told


def test_that_no_head_flips_the_choice_is_said_with_the_one_that_moves_it_most() -> None:
    told = verdicts.sweep_sentence(effects({(0, 4): -3.0, (1, 4): -1.0}), HEADS, [ES, SIE])
    assert "No single head of 6 flips the choice" in told
    assert "−2.00" in told


def test_of_many_sentences_the_flips_are_counted() -> None:
    table = effects({(0, 2): -9.0, (1, 2): -9.0, (2, 3): -9.0}, intact=(1.0, 1.0, 1.0, 1.0))
    told = verdicts.sweep_sentence(table, HEADS, [ES, SIE, ES, SIE])
    assert "flips most choices: 2 of 4" in told
    assert "2 of 6 heads flip at least one" in told


def test_heads_switched_off_together_flip_the_choice_or_they_do_not() -> None:
    def told(*removed: float) -> str:
        effect = RemovalEffect(intact=torch.ones(len(removed)), removed=torch.tensor(removed))
        return verdicts.removal_sentence(effect, [ES, SIE, ES][: len(removed)])

    assert told(0.5, -0.5) == "**The choice flips:** A keeps “es”, B flips from “sie” to “es”."
    assert told(0.5, 0.5) == "**The choice does not flip:** A keeps “es”, B keeps “sie”."
    assert told(-0.5, 0.5, 0.5) == "**The choice flips in 1 of 3 sentences.**"

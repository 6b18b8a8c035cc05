"""Sentences that say whether a pronoun or a choice flips."""

from collections.abc import Sequence

import torch

from model.analysis.coreference.cases import GermanChoice, PronounCase
from model.analysis.interventions.head_effects import HeadEffects, RemovalEffect
from model.analysis.metrics.head_names import HeadName
from viz.pages.coreference.cause import verdicts
from viz.pages.coreference.cause.data.asked import Removal

HEADS = [HeadName(site, 0, head) for site in ("encoder.self", "decoder.self", "decoder.cross") for head in range(2)]
CHOICE = GermanChoice("weil es müde ist.", "weil sie müde ist.")
ES = verdicts.german_words(PronounCase("It is.", (0, 2), (3, 5), (3, 5), german=CHOICE))
SIE = ("sie", "es")
GIVEN = verdicts.all_words_given(is_own=True)


def effects(changes: dict[tuple[int, int], float], intact: tuple[float, ...] = (4.0, 2.0)) -> HeadEffects:
    table = torch.zeros(len(intact), 6)
    for (case, head), change in changes.items():
        table[case, head] = change
    return HeadEffects(intact=torch.tensor(intact), changes=table)


def test_the_head_that_flips_a_choice_is_named_with_both_pronouns() -> None:
    said = verdicts.sweep_sentence(effects({(0, 5): -4.5, (1, 5): -1.0, (0, 1): -3.0}), HEADS, [ES, SIE])
    assert "cross" in said
    assert "A from “es” to “sie”" in said
    assert "B from" not in said
    assert "No other head does" in said


def test_that_no_head_flips_the_choice_is_said_with_the_one_that_moves_it_most() -> None:
    said = verdicts.sweep_sentence(effects({(0, 4): -3.0, (1, 4): -1.0}), HEADS, [ES, SIE])
    assert "Switched off alone, no head of 6 flips the choice" in said
    assert "−2.00" in said


def test_of_many_sentences_the_flips_are_counted() -> None:
    table = effects({(0, 2): -9.0, (1, 2): -9.0, (2, 3): -9.0}, intact=(1.0, 1.0, 1.0, 1.0))
    said = verdicts.sweep_sentence(table, HEADS, [ES, SIE, ES, SIE])
    assert "flips most choices: 2 of 4" in said
    assert "2 of 6 heads flip at least one" in said


def removal(removed: Sequence[float], pronouns: Sequence[tuple[str, str]] = ()) -> Removal:
    effect = RemovalEffect(intact=torch.ones(len(removed)), removed=torch.tensor(removed))
    return Removal(effect, (), tuple(pronouns))


def of_pair(removed: Sequence[float], pronouns: Sequence[tuple[str, str]]) -> str:
    return verdicts.removal_sentence(removal(removed, pronouns), [ES, SIE], GIVEN)


def test_what_is_written_without_the_heads_decides_whether_the_pronoun_flips() -> None:
    flipped = of_pair([0.5, -0.5], [("es", "es"), ("sie", "es")])
    assert flipped == "**The pronoun flips: in A it now writes “es” as before, in B “es” instead of “sie”.**"
    kept = of_pair([0.5, 0.5], [("es", "es"), ("Sie", "Sie")])
    assert kept == "**The pronoun does not flip: in A it now writes “es” as before, in B “Sie” as before.**"


def test_a_choice_that_says_otherwise_than_what_is_written_is_said_too() -> None:
    given = " With all other words as the whole model wrote them, "
    assert of_pair([0.5, 0.5], [("es", "er"), ("sie", "sie")]).endswith(f"{given}A keeps “es”.")
    assert of_pair([0.5, -0.5], [("es", "es"), ("sie", "")]).endswith(f"{given}B takes “es” instead of “sie”.")
    assert "in B no pronoun that can be told" in of_pair([0.5, -0.5], [("es", "es"), ("sie", "")])


def test_of_many_sentences_the_choices_that_flip_are_counted() -> None:
    said = verdicts.removal_sentence(removal([-0.5, 0.5, 0.5]), [ES, SIE, ES], GIVEN)
    assert said == "**The choice flips in 1 of 3 sentences.**"


def test_of_two_words_the_likelier_one_without_the_heads_decides() -> None:
    words = [("Mary", "John"), ("John", "Mary")]
    said = verdicts.words_sentence(removal([-0.5, 0.5]), words)
    assert said == "**The choice flips: in A likelier is now “John” instead of “Mary”, in B “John” as before.**"
    assert "does not flip" in verdicts.words_sentence(removal([0.5, 0.5]), words)
    assert verdicts.words_sentence(removal([0.5, 0.5, 0.1]), [*words, words[0]]) == "**No choice flips.**"


def test_a_token_is_said_without_the_sign_that_a_word_begins() -> None:
    assert verdicts.as_word("▁Mary") == "Mary"
    assert verdicts.as_word("▁") == "▁"

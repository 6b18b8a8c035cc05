"""German pronouns: found in a translation, and their rivals in case and ending."""

import pytest

from model.analysis.coreference.pronoun_choice import NOT_FOUND, NOT_KNOWN, NOT_ONE, rival_forms, translated_pronoun


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

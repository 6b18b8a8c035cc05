"""Find the German pronoun that translates an English one, and the forms it could have had instead."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from model.messages import said
from model.words import Span

ENDINGS: Final = ("", "e", "en", "em", "er", "es")
_HIS: Final = frozenset(f"sein{ending}" for ending in ENDINGS)
_HER: Final = frozenset(f"ihr{ending}" for ending in ENDINGS)
_HE: Final = frozenset(("er", "ihn", "ihm"))
_SHE: Final = frozenset(("sie", "ihr"))
_THEY: Final = frozenset(("sie", "ihnen"))
_ONESELF: Final = frozenset(("sich",))

GERMAN_FORMS: Final[Mapping[str, frozenset[str]]] = {
    "it": _HE | _SHE | {"es"},
    **dict.fromkeys(("he", "him"), _HE),
    **dict.fromkeys(("she", "hers"), _SHE),
    "her": _SHE | _HER,
    **dict.fromkeys(("they", "them"), _THEY),
    "his": _HIS,
    "its": _HIS | _HER,
    **dict.fromkeys(("their", "theirs"), _HER),
    **dict.fromkeys(("himself", "herself", "itself", "themselves"), _ONESELF),
}
"""English pronoun → what it may become in German, whatever the gender of its noun there."""

_DATIVE: Final = ("ihm", "ihr")
_RIVALS: Final[Mapping[str, tuple[str, ...]]] = {
    "er": ("er", "sie", "es"),
    "ihn": ("ihn", "sie", "es"),
    # Nominative and accusative look alike, so that a masculine noun could ask for either.
    **dict.fromkeys(("sie", "es"), ("er", "ihn", "sie", "es")),
    **dict.fromkeys(_DATIVE, _DATIVE),
}
NOT_KNOWN: Final = said("the pronoun has no German equivalent")
NOT_FOUND: Final = said("the translation has no such pronoun")
NOT_ONE: Final = said("the translation and the sentence have different numbers of such pronouns")


def german_spans(german: str, forms: frozenset[str]) -> list[Span]:
    """Spans of these words in a German text.

    A capital within a sentence makes "Sie" and "Ihr" the polite form, which refers to no noun.
    """
    spans = []
    for match in re.finditer(r"\w+", german):
        begins_sentence = re.search(r"(?:^|[.!?:;])[\s\"“„»«]*$", german[: match.start()]) is not None
        if match[0].lower() in forms and (match[0][0].islower() or begins_sentence):
            spans.append(match.span())
    return spans


def translated_pronoun(sentence: str, pronoun: Span, german: str) -> Span | str:
    """The span of the German pronoun for an English one, or why it is not known.

    If both sentences have as many pronouns that could translate one another, the first translates the first and so on.
    """
    forms = GERMAN_FORMS.get(sentence[slice(*pronoun)].lower())
    if forms is None:
        return NOT_KNOWN
    spans = german_spans(german, forms)
    if not spans:
        return NOT_FOUND
    rivals = [
        match.span()
        for match in re.finditer(r"\w+", sentence)
        if forms & GERMAN_FORMS.get(match[0].lower(), frozenset())
    ]
    return spans[rivals.index(pronoun)] if len(spans) == len(rivals) and pronoun in rivals else NOT_ONE


def text_of_pieces(pieces: Sequence[str]) -> tuple[str, list[int]]:
    """The text that pieces spell, and for each of its characters the piece it comes from."""
    shown = [piece.replace("▁", " ") for piece in pieces]
    return "".join(shown), [number for number, piece in enumerate(shown) for _ in piece]


def rival_forms(word: str, english: str) -> tuple[str, ...]:
    """The forms of a German pronoun if its noun had another gender, itself among them.

    Args:
        word: the German pronoun, as it is written; a capital is kept.
        english: the pronoun that it translates; only those of things leave a choice, and for others it is `word` alone.
    """
    lower = word.lower()
    forms: tuple[str, ...] = (lower,)
    if english.lower() == "its":
        ending = lower.removeprefix("sein").removeprefix("ihr")
        forms = (f"sein{ending}", f"ihr{ending}")
    elif english.lower() == "it":
        forms = _RIVALS.get(lower, forms)
    return tuple(form.capitalize() if word[0].isupper() else form for form in forms)

"""Find what a pronoun becomes in the model's own translation, and how probable er, sie and es were there."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from types import MappingProxyType
from typing import Final

import torch

from model.analysis.coreference.case_files import PronounCase, curated_cases
from model.analysis.interventions.patching import ChoicePair
from model.analysis.interventions.word_pairs import WordPair, spelled
from model.errors import said
from model.opening import as_chooser
from model.reader import Writer
from model.trace.trace import Trace
from model.word_choice import Chooser, TokenPlace
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
    """The forms of a German pronoun if its noun had another gender, itself among them; a capital is kept.

    Only English pronouns of things leave a choice; for others it is the word alone.
    """
    lower = word.lower()
    forms: tuple[str, ...] = (lower,)
    if english.lower() == "its":
        ending = lower.removeprefix("sein").removeprefix("ihr")
        forms = (f"sein{ending}", f"ihr{ending}")
    elif english.lower() == "it":
        forms = _RIVALS.get(lower, forms)
    return tuple(form.capitalize() if word[0].isupper() else form for form in forms)


@dataclass(frozen=True)
class WrittenPronoun:
    """A pronoun in the model's own translation, its characters there, and the row that predicts its first token."""

    text: str
    span: Span
    row: int


@dataclass(frozen=True)
class PronounChoice:
    """What the model makes of a pronoun."""

    translation: str  #: its own
    pronoun: WrittenPronoun | str  #: the German one, or why it is not known
    #: of each form that could be there (er, sie, es …), given what is written before; empty where no pronoun was found.
    #: They need not sum to 1: other words could follow as well.
    probabilities: Mapping[str, float]


def find_pronoun(translator: Writer, case: PronounCase, token_ids: Sequence[int]) -> WrittenPronoun | str:
    """The German pronoun in a translation given as token ids, or why it is not known."""
    written, piece_of = text_of_pieces(translator.vocabulary.tokens(token_ids))
    span = translated_pronoun(case.sentence, case.pronoun, written)
    if isinstance(span, str):
        return span
    # What is joined from pieces begins with a space that the translation does not have.
    margin = len(written) - len(written.lstrip())
    return WrittenPronoun(written[slice(*span)], (span[0] - margin, span[1] - margin), piece_of[span[0]])


@torch.inference_mode()
def pronoun_choice(translator: Writer, trace: Trace, case: PronounCase) -> PronounChoice:
    """Find a case's pronoun in the translation that a trace is of, and weigh er, sie and es instead of it."""
    emitted = [step.token_id for step in trace.steps if step.token_id not in translator.end_ids]
    pronoun = find_pronoun(translator, case, emitted)
    if isinstance(pronoun, str):
        return PronounChoice(trace.translation, pronoun, MappingProxyType({}))
    rivals = {form: translator.spell(form) or () for form in rival_forms(pronoun.text, case.pronoun_text)}
    prefix = emitted[: pronoun.row]
    # A space that is a token of its own belongs to the word after it, and so to each of its rivals.
    while prefix and translator.vocabulary.tokens(prefix[-1:]) == ("▁",):
        prefix.pop()
    prompt = trace.target_ids[: len(trace.target_ids) - len(trace.steps) + 1]
    chooser, begun = as_chooser(translator), (*prompt, *prefix)
    place = chooser.place(case.sentence)
    probabilities = {form: _probability(chooser, place, begun, rival) for form, rival in rivals.items() if rival}
    return PronounChoice(trace.translation, pronoun, MappingProxyType(probabilities))


def _probability(chooser: Chooser, place: TokenPlace, begun: Sequence[int], token_ids: Sequence[int]) -> float:
    """How probable it is that these tokens follow what the decoder has read; the source is that of a place."""
    total = 0.0
    for number, token_id in enumerate(token_ids):
        read = (*begun, *token_ids[:number])
        logits = chooser.place_logits(replace(place, target=read, row=len(read) - 1))[0]
        total += float(logits.log_softmax(-1)[token_id])
    return exp(total)


def pronoun_pairs(reader: Chooser) -> dict[str, WordPair]:
    """The pairs of the curated set whose German pronoun depends on what is meant, by their names.

    `reader` is a translator of English to German.
    """
    of_pair: dict[str, list[PronounCase]] = {}
    for case in curated_cases().cases:
        of_pair.setdefault(case.pair, []).append(case)
    found = {}
    for name, (first, second) in of_pair.items():
        if first.german is not None and second.german is not None:
            texts = first.sentence, second.sentence
            a, b = (reader.word_choice(text, first.german.right, first.german.wrong) for text in texts)
            found[name] = WordPair(ChoicePair(a, b), texts, spelled(reader, a))
    return found

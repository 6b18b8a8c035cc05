"""Add the nouns of a dictionary whose kind is known to those that the pronoun curriculum has by hand.

A dictionary does not tell what kind of thing a noun is, and neither do its compounds: a blood vessel is not a vessel, a
square root can't be cut. `dictionary_kinds.txt` therefore lists English words by kind, as `nouns.txt` does; they are
concrete, countable (but for food, drink and material) and mean one thing, as a rule. German, gender and declension come
from the dictionary, from rows that `read_nouns` believes: confirmed by sentence pairs, or of a rare English word.

Left out is every noun

- that is written by hand, in English or in German, and all but the surest of those that are alike in German;
- that ends, in English or in German, in one that is held out, or would itself be held out if it were written by hand;
- that is countable and has no plural in one of the languages;
- that is a compound of a noun written by hand, but of another gender: one of the rows is wrong.

German noun phrases are made in every case and number, as far as rules go: a form that nobody can be sure of by rule
alone (a genitive of “Zirkus”) is None.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal, get_args

from model.errors import DataError
from model.pairs import read_lines
from model.training.lexicon import DETERMINERS, NOUNS, SPOKEN_VOWEL, UNCOUNTED, Gender, Noun, NounsByKind, entries_of
from model.training.pronouns import part_of_noun

GermanCase = Literal["nom", "acc", "dat", "gen"]
GERMAN_CASES: Final[tuple[GermanCase, ...]] = get_args(GermanCase)
_PLURAL_ENGLISH: Final = {"this": "these", "a": ""}
#: Endings of adjectives in the nominative and accusative; in the dative and genitive it is -en, but without determiner.
_AFTER_DER: Final = {"m": ("e", "en"), "f": ("e", "e"), "n": ("e", "e"), "plural": ("en", "en")}
_AFTER_EIN: Final = {"m": ("er", "en"), "f": ("e", "e"), "n": ("es", "es"), "plural": ("en", "en")}
_ALONE: Final = {
    "m": ("er", "en", "em", "en"), "f": ("e", "e", "er", "er"), "n": ("es", "es", "em", "en"),
    "plural": ("e", "e", "en", "er"),
}  # fmt: skip
#: Masculine nouns that take -en or -n in every case but the nominative, by how they end.
_WEAK: Final = re.compile(r"(?<!e)e$|(ent|ant|ist|nom|aph|arch|soph|krat|et|ot|mat|bär|mensch|held|bauer|nachbar)$")
#: Weak as well, but with a genitive of their own.
_MIXED: Final = re.compile(
    r"(name|gedanke|buchstabe|wille|glaube|friede|funke|same|haufe|herr|bauer|nachbar)$", re.IGNORECASE
)
_HISSING: Final = re.compile(r"(ß|x|z|sch|st|tz)$")
_VOWELS: Final = re.compile(r"[aeiouäöüy]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DictionaryNoun:
    """A noun in both languages; a plural is "" where it has none."""

    #: english, german: singular.
    english: str
    german: str
    gender: Gender  #: of the German noun
    #: english_plural, german_plural: as the dictionary has them.
    english_plural: str
    german_plural: str
    support: float  #: how sure the pair is; above about 4, sentence pairs confirm it
    frequency: float = 3.0  #: of the English word (Zipf: the logarithm of how often it comes in a billion words)

    @property
    def has_plural(self) -> bool:
        """Whether both languages have one."""
        return bool(self.english_plural and self.german_plural)

    def declined(self, case: GermanCase, *, is_plural: bool) -> str | None:
        """The German noun alone; None where no rule is sure of the form."""
        if is_plural:
            has_ending = case != "dat" or self.german_plural.endswith(("n", "s"))
            return self.german_plural if has_ending else f"{self.german_plural}n"
        if self.gender == "f" or case == "nom":
            return self.german
        if self._is_weak:
            own_genitive = case == "gen" and _MIXED.search(self.german)
            return None if own_genitive else self.german_plural
        return _genitive(self.german) if case == "gen" else self.german

    @property
    def _is_weak(self) -> bool:
        if self.gender != "m" or not self.german_plural.startswith(self.german):
            return False
        added = self.german_plural[len(self.german) :]
        return added in ("n", "en") and _WEAK.search(self.german.lower()) is not None


@dataclass(frozen=True, slots=True)
class Adjective:
    """English, and in German as it stands before a noun without its ending."""

    english: str
    stem: str


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun with its determiner, perhaps with an adjective between them."""

    noun: DictionaryNoun
    determiner: str
    adjective: Adjective | None
    is_plural: bool

    @property
    def english(self) -> str:
        """As English has it; “an” before a vowel that is spoken."""
        noun = self.noun.english_plural if self.is_plural else self.noun.english
        following = [*([self.adjective.english] if self.adjective else []), noun]
        determiner = _PLURAL_ENGLISH.get(self.determiner, self.determiner) if self.is_plural else self.determiner
        if determiner == "a" and SPOKEN_VOWEL.match(following[0]):
            determiner = "an"
        return " ".join([*([determiner] if determiner else []), *following]).replace("an other ", "another ")

    def german(self, case: GermanCase) -> str | None:
        """In a case; None where no rule is sure of a form."""
        noun = self.noun.declined(case, is_plural=self.is_plural)
        if noun is None:
            return None
        kind, at = "plural" if self.is_plural else self.noun.gender, GERMAN_CASES.index(case)
        determiner = DETERMINERS[self.determiner][kind][at]
        if not determiner and case == "gen" and (self.adjective is None or not self.is_plural):
            # Without an ending that shows the case German says it with “von”.
            return None
        adjective = "" if self.adjective is None else self.adjective.stem + self._ending(kind, at, determiner)
        return " ".join(filter(None, (determiner, adjective, noun)))

    def _ending(self, kind: str, at: int, determiner: str) -> str:
        if not determiner:
            return _ALONE[kind][at]
        if at > 1:
            return "en"
        return (_AFTER_DER if self.determiner in ("the", "this") else _AFTER_EIN)[kind][at]


def _genitive(noun: str) -> str | None:
    if noun.endswith("s"):
        return None
    is_short = len(_VOWELS.findall(noun)) == 1 and not noun.endswith(tuple("aeiou"))
    return f"{noun}es" if is_short or _HISSING.search(noun) else f"{noun}s"


BY_HAND: Final = {noun.english: noun for nouns in NOUNS.values() for noun in nouns}
HELD_OUT: Final = tuple(noun for noun in BY_HAND.values() if part_of_noun(noun.english) != "train")


@cache
def listed_kinds() -> dict[str, tuple[str, ...]]:
    """The English words of dictionary_kinds.txt by kind."""
    return {kind: tuple(word for word, _ in entries) for kind, entries in entries_of("dictionary_kinds.txt")}


def with_dictionary(nouns: Iterable[DictionaryNoun]) -> NounsByKind:
    """The nouns written by hand, and after them those of a dictionary whose English is listed, by kind."""
    kinds = listed_kinds()
    listed = {word for words in kinds.values() for word in words} - set(BY_HAND)
    entering: dict[str, DictionaryNoun] = {}
    known_german = {noun.german for noun in BY_HAND.values()}
    # The surest first: of several nouns that are one word in German it enters alone.
    for noun in sorted((noun for noun in nouns if noun.english in listed), key=lambda noun: -noun.support):
        if noun.english not in entering and noun.german not in known_german and may_enter(noun):
            entering[noun.english] = noun
            known_german.add(noun.german)
    added = {
        kind: tuple(
            _entry(entering[word])
            for word in words
            if word in entering and (kind in UNCOUNTED or entering[word].has_plural)
        )
        for kind, words in kinds.items()
    }
    return {kind: by_hand + added.get(kind, ()) for kind, by_hand in NOUNS.items()}


def may_enter(noun: DictionaryNoun) -> bool:
    """Whether nothing of the noun is held out, and it has the gender of the noun that it is a compound of."""
    english, german = noun.english.lower(), noun.german.lower()
    ends_held_out = any(
        english.endswith(held.english.lower()) or german.endswith(held.german.lower()) for held in HELD_OUT
    )
    head = _head(noun)
    is_likely = head is None or head.gender == noun.gender
    return is_likely and not ends_held_out and part_of_noun(noun.english) == "train"


def _head(noun: DictionaryNoun) -> Noun | None:
    """The longest noun written by hand in which it ends in both languages."""
    heads = (
        head
        for head in BY_HAND.values()
        if noun.german.lower().endswith(head.german.lower()) and noun.english.endswith(head.english)
    )
    return max(heads, key=lambda head: len(head.german), default=None)


def _entry(noun: DictionaryNoun) -> Noun:
    head = _head(noun)
    oblique = noun.declined("dat", is_plural=False)
    assert oblique is not None, "only a genitive is ever unknown"
    return Noun(noun.english, noun.german, oblique, noun.gender, head.english if head else "")


#: The file in a dictionary's folder.
NOUNS_FILE: Final = "nouns.tsv.xz"
COLUMNS: Final = 7
#: A row with less support is believed only if its English word is rarer than this (Zipf): common spellings are mostly
#: something else than a noun (can → Kanne).
SURE, RARE = 4.0, 4.3
_ENGLISH: Final = re.compile(r"[a-z]+(?:[ -][a-z]+)?")
_GERMAN: Final = re.compile(r"[A-ZÄÖÜ][a-zäöüß]+(?:-[A-ZÄÖÜ][a-zäöüß]+)?")
_GENDERS: Final[Mapping[str, Gender]] = {gender: gender for gender in get_args(Gender)}


def read_nouns(folder: Path) -> list[DictionaryNoun]:
    """The nouns of `nouns.tsv.xz`, commonest first.

    Its columns are: English, German, gender (m, f, n), English plural, German plural, Zipf frequency of the English
    word, support. Rows are left out whose words are names, phrases or something else than a noun as a rule. Raises a
    DataError if the file is missing or no such table.
    """
    return _parsed(read_lines(folder / NOUNS_FILE))


def _parsed(lines: Iterable[str]) -> list[DictionaryNoun]:
    nouns = []
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        try:
            english, german, gender, english_plural, german_plural, frequency, support = cells
            numbers = float(support), float(frequency)
            noun = DictionaryNoun(english, german, _GENDERS[gender], english_plural, german_plural, *numbers)
        except (ValueError, KeyError) as error:
            message = (
                "{nouns}, line {number}: expected {columns} columns (English, German, m, f or n, two plurals, two "
                "numbers), got {line!r}."
            )
            raise DataError(message, nouns=NOUNS, number=number, columns=COLUMNS, line=line.strip()[:80]) from error
        if _is_plain(noun) and (noun.frequency < RARE or noun.support >= SURE):
            nouns.append(noun)
    return nouns


def _is_plain(noun: DictionaryNoun) -> bool:
    """Whether both words are common nouns as they are spelled, with plurals that look like such."""
    plurals = not noun.has_plural or (_ENGLISH.fullmatch(noun.english_plural) and _GERMAN.fullmatch(noun.german_plural))
    return bool(_ENGLISH.fullmatch(noun.english) and _GERMAN.fullmatch(noun.german) and plurals)

"""German noun phrases in every case and number: determiner, adjective, noun.

Only what follows a rule is made; a form that nobody can be sure of by rule alone (a genitive of “Zirkus”) is None.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal, get_args

from model.training.lexicon import SPOKEN_VOWEL, Gender

GermanCase = Literal["nom", "acc", "dat", "gen"]
GERMAN_CASES: Final[tuple[GermanCase, ...]] = get_args(GermanCase)
#: Determiner as English has it → nominative, accusative, dative, genitive of m, f, n and the plural; "" is none.
DETERMINERS: Final[dict[str, dict[str, tuple[str, str, str, str]]]] = {
    "the": {
        "m": ("der", "den", "dem", "des"), "f": ("die", "die", "der", "der"), "n": ("das", "das", "dem", "des"),
        "plural": ("die", "die", "den", "der"),
    },
    "this": {
        "m": ("dieser", "diesen", "diesem", "dieses"), "f": ("diese", "diese", "dieser", "dieser"),
        "n": ("dieses", "dieses", "diesem", "dieses"), "plural": ("diese", "diese", "diesen", "dieser"),
    },
    "": dict.fromkeys(("m", "f", "n", "plural"), ("", "", "", "")),
    "a": {
        "m": ("ein", "einen", "einem", "eines"), "f": ("eine", "eine", "einer", "einer"),
        "n": ("ein", "ein", "einem", "eines"), "plural": ("", "", "", ""),
    },
    **{
        english: {
            "m": (stem, f"{stem}en", f"{stem}em", f"{stem}es"),
            "f": (f"{stem}e", f"{stem}e", f"{stem}er", f"{stem}er"),
            "n": (stem, stem, f"{stem}em", f"{stem}es"),
            "plural": (f"{stem}e", f"{stem}e", f"{stem}en", f"{stem}er"),
        }
        for english, stem in (("my", "mein"), ("no", "kein"))
    },
}  # fmt: skip
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
    """A noun in both languages; a plural is "" where it has none.

    Attributes:
        english, german: singular.
        gender: of the German noun.
        english_plural, german_plural: as the dictionary has them.
        support: how sure the pair is; above about 4, sentence pairs confirm it.
        frequency: of the English word (Zipf: the logarithm of how often it comes in a billion words).
    """

    english: str
    german: str
    gender: Gender
    english_plural: str
    german_plural: str
    support: float
    frequency: float = 3.0

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

"""The words of the pronoun curriculum: nouns with gender and kind, cues, people.

A *cue* is what decides to whom a pronoun refers: a property (“tired”) or something that is done to it (“fed”).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Gender = Literal["m", "f", "n"]
Case = Literal["nom", "acc", "dat"]

# Properties come after “to be” (German: undeclined); actions are past tense, alike for er/sie/es.
CUES = {
    # of living things
    "tired": "müde", "hungry": "hungrig", "thirsty": "durstig", "sick": "krank", "weak": "schwach",
    "scared": "verängstigt", "exhausted": "erschöpft", "nervous": "nervös", "lazy": "faul", "sleepy": "schläfrig",
    "full": "voll", "greedy": "gierig", "young": "jung", "shy": "schüchtern", "hurt": "verletzt", "fat": "dick",
    "angry": "wütend", "afraid": "ängstlich", "brave": "mutig", "friendly": "freundlich", "clever": "schlau",
    # of size, shape and weight
    "wide": "breit", "narrow": "schmal", "big": "groß", "large": "groß", "small": "klein", "tiny": "winzig",
    "long": "lang", "short": "kurz", "thick": "dick", "thin": "dünn", "high": "hoch", "low": "niedrig",
    "heavy": "schwer", "light": "leicht", "deep": "tief", "shallow": "flach", "steep": "steil", "bulky": "sperrig",
    # of surfaces and states
    "slippery": "rutschig", "icy": "vereist", "wet": "nass", "dry": "trocken", "muddy": "schlammig",
    "flooded": "überschwemmt", "frozen": "gefroren", "polluted": "verschmutzt", "rough": "stürmisch",
    "soft": "weich", "hard": "hart", "comfortable": "bequem", "uncomfortable": "unbequem", "smooth": "glatt",
    "wobbly": "wackelig", "dirty": "schmutzig", "clean": "sauber", "empty": "leer", "free": "frei", "open": "offen",
    "closed": "geschlossen", "locked": "abgeschlossen", "dark": "dunkel", "damp": "feucht", "safe": "sicher",
    "broken": "kaputt", "torn": "zerrissen", "blunt": "stumpf", "dull": "stumpf", "sharp": "scharf",
    "fragile": "zerbrechlich", "loaded": "beladen", "busy": "belebt", "crowded": "überfüllt",
    # of taste
    "sweet": "süß", "salty": "salzig", "bitter": "bitter", "sour": "sauer", "fresh": "frisch", "spicy": "scharf",
    "delicious": "köstlich", "tasty": "lecker", "juicy": "saftig", "rotten": "verfault", "hot": "heiß",
    "strong": "stark", "cool": "kühl", "tough": "zäh",
    # of worth and sound
    "cheap": "billig", "expensive": "teuer", "beautiful": "schön", "ugly": "hässlich", "useful": "nützlich",
    "useless": "nutzlos", "old": "alt", "new": "neu", "modern": "modern", "better": "besser", "valuable": "wertvoll",
    "boring": "langweilig", "interesting": "interessant", "loud": "laut", "noisy": "laut", "quiet": "leise",
    "bright": "hell", "fast": "schnell", "quick": "schnell", "slow": "langsam", "nimble": "flink",
    # what is done to it
    "fed": "fütterte", "stroked": "streichelte", "woke": "weckte", "repaired": "reparierte", "painted": "strich",
    "polished": "polierte", "cleaned": "putzte", "sold": "verkaufte", "ate": "aß", "tasted": "probierte",
    "opened": "öffnete", "emptied": "leerte", "read": "las", "translated": "übersetzte",
    "visited": "besuchte", "entered": "betrat", "heated": "heizte", "refueled": "betankte", "washed": "wusch",
    "played": "spielte", "tuned": "stimmte", "built": "baute", "found": "fand", "lost": "verlor", "took": "nahm",
    "find": "finden", "see": "sehen", "describe": "beschreiben", "forget": "vergessen",
}  # fmt: skip

PEOPLE = (
    "the man=der Mann, the woman=die Frau, the girl=das Mädchen, the boy=der Junge, the teacher=der Lehrer, "
    "my mother=meine Mutter, my father=mein Vater, my sister=meine Schwester, my brother=mein Bruder, Tom=Tom, "
    "Mary=Maria, the farmer=der Bauer, the child=das Kind, our neighbor=unser Nachbar, the cook=der Koch, Anna=Anna, "
    "Peter=Peter, the doctor=der Arzt, he=er, she=sie"
)

DETERMINERS = {
    "the": {"m": ("der", "den", "dem"), "f": ("die", "die", "der"), "n": ("das", "das", "dem")},
    "a": {"m": ("ein", "einen", "einem"), "f": ("eine", "eine", "einer"), "n": ("ein", "ein", "einem")},
    "my": {"m": ("mein", "meinen", "meinem"), "f": ("meine", "meine", "meiner"), "n": ("mein", "mein", "meinem")},
    "this": {
        "m": ("dieser", "diesen", "diesem"), "f": ("diese", "diese", "dieser"), "n": ("dieses", "dieses", "diesem"),
    },
}  # fmt: skip
PRONOUNS = {"m": ("er", "ihn", "ihm"), "f": ("sie", "sie", "ihr"), "n": ("es", "es", "ihm")}
PRONOUN_FORMS = frozenset(form for forms in PRONOUNS.values() for form in forms)
CASES: tuple[Case, ...] = ("nom", "acc", "dat")
GENDERS: dict[str, Gender] = {"der": "m", "die": "f", "das": "n"}
SPOKEN_VOWEL = re.compile("(?!uni|uku)[aeiou]|hour")
UNCOUNTED = {"drink", "food", "solid"}
"""Kinds whose nouns take no “a”."""


@dataclass(frozen=True)
class Noun:
    """One noun in both languages."""

    english: str
    german: str
    oblique: str
    gender: Gender

    def in_german(self, determiner: str, case: Case) -> str:
        """With its determiner, declined."""
        article = DETERMINERS[determiner][self.gender][CASES.index(case)]
        return f"{article} {self.german if case == 'nom' else self.oblique}"

    def in_english(self, determiner: str) -> str:
        """With its determiner; “an” before a vowel that is spoken."""
        article = "an" if determiner == "a" and SPOKEN_VOWEL.match(self.english) else determiner
        return f"{article} {self.english}"

    def pronoun(self, case: Case) -> str:
        """What “it” becomes where it refers to this noun."""
        return PRONOUNS[self.gender][CASES.index(case)]


def _noun(entry: str) -> Noun:
    english, _, german = entry.strip().partition("=")
    article, _, name = german.partition(" ")
    nominative, _, oblique = name.partition("/")
    return Noun(english, nominative, oblique or nominative, GENDERS[article])


def _nouns() -> Iterator[tuple[str, tuple[Noun, ...]]]:
    for line in Path(__file__).with_name("nouns.txt").read_text(encoding="utf-8").splitlines():
        kind, _, entries = line.partition(":")
        yield kind, tuple(map(_noun, entries.split(",")))


NOUNS: Final = dict(_nouns())
"""Nouns by kind: a kind a line of `nouns.txt`, English = German nominative with its article.

An oblique form follows the German noun where it has one (der Bär/Bären). A noun may be of several kinds.
"""
HUMANS = tuple((english, german) for english, _, german in (entry.partition("=") for entry in PEOPLE.split(", ")))

"""Draw sentences whose names, numbers and unknown words a translation has to copy letter by letter."""

import random
from collections.abc import Collection, Iterator
from typing import Final

from model.pairs import Pair

#: A made-up word goes where {w} stands, a name where {n} does, a number where {d} does.
FRAMES: Final = (
    ("My name is {n}.", "Mein Name ist {n}."),
    ("{n} lives in {w}.", "{n} wohnt in {w}."),
    ("Do you know {n}?", "Kennst du {n}?"),
    ("{n} called me yesterday.", "{n} hat mich gestern angerufen."),
    ("I met {n} in {w}.", "Ich habe {n} in {w} getroffen."),
    ("The password is {w}.", "Das Passwort lautet {w}."),
    ("The word “{w}” does not exist.", "Das Wort „{w}“ gibt es nicht."),
    ("What does “{w}” mean?", "Was bedeutet „{w}“?"),
    ("The company is called {w}.", "Die Firma heißt {w}."),
    ("Welcome to {w}!", "Willkommen in {w}!"),
    ("The program {w} cannot be started.", "Das Programm {w} kann nicht gestartet werden."),
    ("Our train to {w} leaves at {d}.", "Unser Zug nach {w} fährt um {d}."),
    ("The number is {d}.", "Die Nummer ist {d}."),
    ("He was born in {d}.", "Er wurde {d} geboren."),
    ("It costs {d} euros.", "Es kostet {d} Euro."),
    ("{n} and {w} are old friends.", "{n} und {w} sind alte Freunde."),
    ("Please write to {n}.", "Bitte schreib an {n}."),
    ("“{w}”, said {n}.", "„{w}“, sagte {n}."),
    ("Room {d} is free.", "Zimmer {d} ist frei."),
    ("Is {w} a city?", "Ist {w} eine Stadt?"),
)
_ONSETS: Final = (
    *"bcdfghjklmnprstvwz",
    "br",
    "ch",
    "cl",
    "dr",
    "fl",
    "gr",
    "kn",
    "pl",
    "sch",
    "sh",
    "sl",
    "st",
    "tr",
    "",
)
_VOWELS: Final = (*"aeiou", *"aeiou", "ai", "au", "ea", "ee", "ie", "oo", "y")
_ENDS: Final = (*"nrstlmk", *[""] * 7, "ck", "nd", "ng", "rt", "x")


def made_up_word(draw: random.Random) -> str:
    """A word of two to four syllables that can be said, and that hardly any language has; in lower case."""
    syllables = draw.choices((2, 3, 4), (5, 4, 1))[0]
    parts = [draw.choice(_ONSETS) + draw.choice(_VOWELS) + draw.choice(_ENDS) for _ in range(syllables)]
    return "".join(parts)


def copying_pairs(count: int, *, seed: int, apart: Collection[str] = frozenset()) -> Iterator[Pair]:
    """So many sentence pairs, none of which has one of the English sentences in `apart`."""
    draw = random.Random(seed)
    made = 0
    while made < count:
        source, target = draw.choice(FRAMES)
        word, name = made_up_word(draw), made_up_word(draw).capitalize()
        # What stands in quotation marks is a word, everything else a name.
        word = word if "“{w}”" in source else word.capitalize()
        texts = {"{w}": word, "{n}": name, "{d}": str(draw.randrange(2, 10 ** draw.randrange(1, 6) + 3))}
        for slot, text in texts.items():
            source, target = source.replace(slot, text), target.replace(slot, text)
        if source not in apart:
            made += 1
            yield Pair(source, target)

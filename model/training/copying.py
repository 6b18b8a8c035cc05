"""Draw sentences whose names, numbers and unknown words a translation has to copy letter by letter.

Those that are measured have frames of their own, which training never sees.
"""

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, Literal

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
HELD_OUT_FRAMES: Final = (
    ("{n} bought {d} apples in {w}.", "{n} kaufte {d} Äpfel in {w}."),
    ("The mayor of {w} is named {n}.", "Der Bürgermeister von {w} heißt {n}."),
    ("Yesterday I read a book about {w}.", "Gestern habe ich ein Buch über {w} gelesen."),
    ("{n} has been living in {w} for {d} days.", "{n} lebt seit {d} Tagen in {w}."),
    ("Nobody in {w} speaks English.", "Niemand in {w} spricht Englisch."),
    ("My teacher says that {n} comes from {w}.", "Mein Lehrer sagt, dass {n} aus {w} kommt."),
    ("They named their dog {w}.", "Sie nannten ihren Hund {w}."),
    ("The river {w} is {d} kilometers long.", "Der Fluss {w} ist {d} Kilometer lang."),
    ("{n} can't find the keys.", "{n} kann die Schlüssel nicht finden."),
    ("How do you spell “{w}”?", "Wie buchstabiert man „{w}“?"),
    ("I cannot pronounce “{w}”.", "Ich kann „{w}“ nicht aussprechen."),
    ("Have you ever been to {w}?", "Bist du schon einmal in {w} gewesen?"),
    ("{n} wrote “{w}” on the wall.", "{n} schrieb „{w}“ an die Wand."),
    ("There are {d} books in my room.", "In meinem Zimmer sind {d} Bücher."),
    ("Why did {n} leave {w}?", "Warum hat {n} {w} verlassen?"),
    ("My brother {n} is taller than {w}.", "Mein Bruder {n} ist größer als {w}."),
    ("Last night I dreamed of {w}.", "Letzte Nacht habe ich von {w} geträumt."),
    ("The king of {w} had {d} horses.", "Der König von {w} hatte {d} Pferde."),
    ("{n} ran {d} meters.", "{n} lief {d} Meter."),
    ("Ask {n} about the letter.", "Frag {n} nach dem Brief."),
    ("In {w} it has been raining for {d} hours.", "In {w} regnet es seit {d} Stunden."),
    ("We have to wait for {n}.", "Wir müssen auf {n} warten."),
    ("Page {d} of the book is missing.", "Seite {d} des Buches fehlt."),
    ("{n} likes coffee, but {w} prefers tea.", "{n} mag Kaffee, aber {w} trinkt lieber Tee."),
)
"""Frames to measure with; no frame that is learned has their words."""
CopiedKind = Literal["words", "names", "numbers"]
_KINDS: Final[dict[str, CopiedKind]] = {"{w}": "words", "{n}": "names", "{d}": "numbers"}
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
        frame = draw.choice(FRAMES)
        texts = _drawn_words(draw, frame[0]) | {"{d}": str(draw.randrange(2, 10 ** draw.randrange(1, 6) + 3))}
        pair = _filled(frame, texts)
        if pair.source not in apart:
            made += 1
            yield pair


@dataclass(frozen=True, slots=True)
class CopyingCase:
    """A sentence pair to measure with, and each kind of thing in it that is to be copied."""

    pair: Pair
    to_copy: dict[CopiedKind, str]


def held_out_copying(count: int, *, seed: int) -> list[CopyingCase]:
    """So many sentences of held-out frames, each frame as often as any other."""
    draw = random.Random(f"held-out-{seed}")
    cases = []
    for number in range(count):
        frame = HELD_OUT_FRAMES[number % len(HELD_OUT_FRAMES)]
        # From 13 on a number is hardly ever spelled out.
        texts = _drawn_words(draw, frame[0]) | {"{d}": str(draw.randrange(13, 10 ** draw.randrange(2, 6)))}
        to_copy = {_KINDS[slot]: text for slot, text in texts.items() if slot in frame[0]}
        cases.append(CopyingCase(_filled(frame, texts), to_copy))
    return cases


def _drawn_words(draw: random.Random, english: str) -> dict[str, str]:
    """A word and a name; what stands in quotation marks is a word, everything else a name."""
    word, name = made_up_word(draw), made_up_word(draw).capitalize()
    return {"{w}": word if "“{w}”" in english else word.capitalize(), "{n}": name}


def _filled(frame: tuple[str, str], texts: dict[str, str]) -> Pair:
    source, target = frame
    for slot, text in texts.items():
        source, target = source.replace(slot, text), target.replace(slot, text)
    return Pair(source, target)

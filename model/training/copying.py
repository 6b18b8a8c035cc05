"""Draw sentences whose names, numbers and unknown words a translation has to copy letter by letter.

Those that are measured have frames of their own, which training never sees.
"""

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from model.pairs import Pair
from model.training.lexicon import rows_of


def _frames(part: str) -> tuple[tuple[str, str], ...]:
    """The frames of copying_frames.txt that are learned ("train") or measured with ("held out"), English and German.

    A made-up word goes where {w} stands, a name where {n} does, a number where {d} does.
    """
    return tuple((english, german) for of, english, german in rows_of("copying_frames.txt") if of == part)


#: No frame that is learned has the words of one to measure with.
FRAMES, HELD_OUT_FRAMES = _frames("train"), _frames("held out")
CopiedKind = Literal["words", "names", "numbers"]
_KINDS: Final[dict[str, CopiedKind]] = {"{w}": "words", "{n}": "names", "{d}": "numbers"}
_ONSETS: Final = (
    *"bcdfghjklmnprstvwz",
    *["br", "ch", "cl", "dr", "fl", "gr", "kn", "pl", "sch", "sh", "sl", "st", "tr"],
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
        english, german = draw.choice(FRAMES)
        texts = _drawn_words(draw, english) | {"{d}": str(draw.randrange(2, 10 ** draw.randrange(1, 6) + 3))}
        pair = _filled(english, german, texts)
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
        english, german = HELD_OUT_FRAMES[number % len(HELD_OUT_FRAMES)]
        # From 13 on a number is hardly ever spelled out.
        texts = _drawn_words(draw, english) | {"{d}": str(draw.randrange(13, 10 ** draw.randrange(2, 6)))}
        to_copy = {_KINDS[slot]: text for slot, text in texts.items() if slot in english}
        cases.append(CopyingCase(_filled(english, german, texts), to_copy))
    return cases


def _drawn_words(draw: random.Random, english: str) -> dict[str, str]:
    """A word and a name; what stands in quotation marks is a word, everything else a name."""
    word, name = made_up_word(draw), made_up_word(draw).capitalize()
    return {"{w}": word if "“{w}”" in english else word.capitalize(), "{n}": name}


def _filled(source: str, target: str, texts: dict[str, str]) -> Pair:
    for slot, text in texts.items():
        source, target = source.replace(slot, text), target.replace(slot, text)
    return Pair(source, target)

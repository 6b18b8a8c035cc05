"""Draw plain sentences with a dictionary's nouns, in every case and number that their grammar is sure of.

Every frame is general, so that any noun fits its grammar if not its sense: what is to be learned is the word, its
gender and its plural.
"""

import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import sqrt
from pathlib import Path
from typing import Final, Literal, cast

from model.pairs import Pair
from model.training.declension import Adjective, DictionaryNoun, GermanCase, NounPhrase
from model.training.dictionary import SURE

Number = Literal["s", "p", "b"]
_SLOT: Final = re.compile(r"\{(\w)(?::(\w+))?\}")
_CONTRACTIONS: Final = {"von dem": "vom", "in dem": "im"}
_CONTRACTED: Final = re.compile(rf"\b({'|'.join(_CONTRACTIONS)})\b")
#: English = German before its ending. What has another stem before an ending (dunkel, teuer, hoch) stands with that.
ADJECTIVES: Final = tuple(
    Adjective(*entry.split("="))
    for entry in """
        old=alt new=neu small=klein big=groß beautiful=schön red=rot green=grün blue=blau white=weiß black=schwarz
        long=lang short=kurz good=gut bad=schlecht young=jung strange=seltsam famous=berühmt broken=kaputt
        dirty=schmutzig clean=sauber heavy=schwer light=leicht expensive=teur cheap=billig dark=dunkl high=hoh
        round=rund important=wichtig simple=einfach second=zweit last=letzt first=erst next=nächst other=ander
        whole=ganz German=deutsch
    """.split()  # noqa: SIM905
)
#: Determiner → how often it is drawn.
DRAWN: Final = {"the": 6, "a": 6, "my": 3, "this": 3, "no": 1, "": 3}
#: Never made: the sentence that visitors type first, by which copied words and learned ones are told apart.
NEVER: Final = frozenset({"Attention is all you need."})
#: How often a phrase has an adjective, and a slot that may be either is plural.
WITH_ADJECTIVE, PLURAL = 0.35, 0.35
#: Tries at a sentence whose every form is known.
_TRIES: Final = 50


@dataclass(frozen=True, slots=True)
class NounFrame:
    """A sentence in both languages with slots for noun phrases; `{x:dat}` in German says the case.

    Attributes:
        number: of the nouns: "s" singular, "p" plural, "b" either.
    """

    number: Number
    english: str
    german: str

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of its slots, in the order of English."""
        return tuple(name for name, _ in _SLOT.findall(self.english))


@cache
def frames() -> tuple[NounFrame, ...]:
    """The frames of noun_frames.txt, a line each: number|English|German."""
    lines = Path(__file__).with_name("noun_frames.txt").read_text(encoding="utf-8").splitlines()
    return tuple(NounFrame(cast(Number, number), *texts) for number, *texts in (line.split("|") for line in lines))


def noun_pairs(
    nouns: Sequence[DictionaryNoun], count: int, *, seed: int, apart: Collection[str] = frozenset()
) -> Iterator[Pair]:
    """So many sentence pairs, none of which has one of the English sentences in `apart`.

    Every noun comes about as often as any other; surer ones a little more often.
    """
    draw = random.Random(seed)
    weights = list(accumulate(sqrt(max(1.0, noun.support)) for noun in nouns))
    made = 0
    while made < count:
        pair = _pair(draw, draw.choice(frames()), nouns, weights)
        if pair.source not in apart and pair.source not in NEVER:
            made += 1
            yield pair


def _pair(draw: random.Random, frame: NounFrame, nouns: Sequence[DictionaryNoun], weights: Sequence[float]) -> Pair:
    for _ in range(_TRIES):
        phrases = {
            slot: _phrase(draw, draw.choices(nouns, cum_weights=weights)[0], frame.number) for slot in frame.slots
        }
        if (pair := filled(frame, phrases)) is not None:
            return pair
    raise ValueError(f"no noun fits {frame.english!r}")


def filled(frame: NounFrame, phrases: dict[str, NounPhrase | None]) -> Pair | None:
    """The frame with these phrases; None where a form of one is not known."""
    german = {}
    for slot, case in _SLOT.findall(frame.german):
        phrase = phrases[slot]
        form = None if phrase is None else phrase.german(cast(GermanCase, case))
        if form is None:
            return None
        german[slot] = form
    english = {slot: phrase.english for slot, phrase in phrases.items() if phrase is not None}
    source, target = (
        _SLOT.sub(lambda slot, of=texts: of[slot[1]], frame_text)  # type: ignore[misc]
        for frame_text, texts in ((frame.english, english), (frame.german, german))
    )
    target = _CONTRACTED.sub(lambda found: _CONTRACTIONS[found[0]], target)
    return Pair(source[0].upper() + source[1:], target[0].upper() + target[1:])


def _phrase(draw: random.Random, noun: DictionaryNoun, number: Number) -> NounPhrase | None:
    """A noun with a determiner; None where it lacks the number."""
    is_plural = number == "p" or (number == "b" and noun.has_plural and draw.random() < PLURAL)
    if is_plural and not noun.has_plural:
        return None
    # What has no plural is not counted, and stands alone where others have “a”; so far as one can be sure of it.
    is_uncounted = not noun.has_plural and noun.support >= SURE and " " not in noun.english
    offered = {
        name: often for name, often in DRAWN.items() if (noun.has_plural or name != "a") and (name or is_uncounted)
    }
    determiner = draw.choices(list(offered), list(offered.values()))[0]
    adjective = draw.choice(ADJECTIVES) if draw.random() < WITH_ADJECTIVE else None
    return NounPhrase(noun, determiner, adjective, is_plural)

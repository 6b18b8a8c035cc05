"""Draw plain sentences with a dictionary's nouns, in every case and number that their grammar is sure of.

Every frame is general, so that any noun fits its grammar if not its sense: what is to be learned is the word, its
gender and its plural.

Some of the nouns are those that “it” can mean. A dictionary does not say what a noun is. But one that sentence pairs
confirm, and whose ending is neither of people nor of what cannot be touched, can be said to be new or lost. What is
held out of the pronoun curriculum stays held out: no noun of another part, nor a compound of one.
"""

import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import sqrt
from typing import Final, Literal, cast

from model.pairs import Pair
from model.training.dictionary_lexicon import (
    BY_HAND,
    GERMAN_CASES,
    RARE,
    SURE,
    Adjective,
    DictionaryNoun,
    GermanCase,
    NounPhrase,
    listed_kinds,
    may_enter,
)
from model.training.lexicon import PRONOUNS, rows_of
from model.training.pronouns import capitalised

#: German endings of what cannot be touched.
_ABSTRACT: Final = re.compile(
    r"(ung|heit|keit|ion|tät|schaft|ismus|nis|tum|enz|anz|ik|ie|ur|ment|sal|ling|or|eur|sicht|zeit|tag|jahr|monat|woche|"
    r"stunde|recht|kraft|fall|gang|stand|zug|lauf|wert|grund|zahl)$"
)
#: English and German endings of people, who are no “it”, where the German noun is masculine or feminine.
_PERSON_ENGLISH: Final = re.compile(
    r"(er|or|ist|ant|ent|ian|man|men|eer|ee|ess|maid|boy|girl|child|person|people|mate|friend|king|queen|son|aunt|uncle|"
    r"wife|lady|nurse|guest|thief|chief|hero|poet|priest|monk|nun|pope|saint|slave|witch|chef|clerk|cook|coach|pilot|spy|"
    r"host|judge|guard|guide|heir|duke|prince|knight|baby|fool|native|expert|rebel|wright|crowd|audience|couple)$"
)
_PERSON_GERMAN: Final = re.compile(
    r"(iker|iger|äter|är|ist|ant|ent|mat|ot|oge|tekt|naut|in|mann|frau|leiter|macher|sprecher|begleiter)$"
)


def touchable(nouns: Sequence[DictionaryNoun]) -> list[DictionaryNoun]:
    """The nouns of which can be said that one saw it, lost it, that it is new."""
    # Where the dictionary means something else (table, Tabelle), what is written by hand holds.
    same = (noun for noun in nouns if noun.english not in BY_HAND or BY_HAND[noun.english].german == noun.german)
    return [noun for noun in same if _is_touchable(noun) and may_enter(noun)]


def _is_touchable(noun: DictionaryNoun) -> bool:
    is_person = noun.gender != "n" and (_PERSON_ENGLISH.search(noun.english) or _PERSON_GERMAN.search(noun.german))
    return noun.has_plural and noun.support >= SURE and not is_person and not _ABSTRACT.search(noun.german.lower())


def with_hand_written(nouns: Sequence[DictionaryNoun]) -> list[DictionaryNoun]:
    """The nouns; where a row has another sense (pumpkin, Schnuckelchen), the noun written by hand replaces it.

    Nouns written by hand have no plural here, and enter only if their singular has one form.
    """
    known = {(noun.english, noun.german) for noun in nouns}
    frequency = {noun.english: noun.frequency for noun in nouns}
    own = {
        english: DictionaryNoun(english, noun.german, noun.gender, "", "", SURE / 2, frequency.get(english, RARE))
        for english, noun in BY_HAND.items()
        if (english, noun.german) not in known and noun.german == noun.oblique
    }
    return [*(noun for noun in nouns if noun.english not in own), *own.values()]


Number = Literal["s", "p", "b", "i"]
_SLOT: Final = re.compile(r"\{(\w+)(?::(\w+))?\}")
_CONTRACTIONS: Final = {"von dem": "vom", "in dem": "im"}
_CONTRACTED: Final = re.compile(rf"\b({'|'.join(_CONTRACTIONS)})\b")
#: Ending of German nouns that mostly name a quality.
_QUALITY: Final = re.compile("[hk]eit$")
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
#: Never made: the sentence that visitors type first, by which copied words and learned ones are distinguished.
NEVER: Final = frozenset({"Attention is all you need."})
#: How often a phrase has an adjective, and a slot that may be either is plural.
WITH_ADJECTIVE, PLURAL = 0.35, 0.35
#: Of the Zipf frequency of a noun, how much it counts: 1 would draw nouns as speech does, 0 all alike.
LEANING: Final = 0.4
#: Least frequency of a noun that the pronoun curriculum lists by kind, held out or not: that of the commonest.
LISTED: Final = 600.0
#: Tries at a sentence whose every form is known.
_TRIES: Final = 50


@dataclass(frozen=True, slots=True)
class NounFrame:
    """A sentence in both languages with slots for noun phrases; `{x:dat}` in German says the case."""

    number: Number  #: of the nouns: "s" singular, "p" plural, "b" either, "i" singular, and “it” is the first of them
    english: str
    german: str

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of its slots, in the order of English."""
        return tuple(name for name, _ in _SLOT.findall(self.english))


@cache
def frames() -> tuple[NounFrame, ...]:
    """The frames of noun_frames.txt, a line each: number|English|German."""
    return tuple(NounFrame(cast(Number, number), *texts) for number, *texts in rows_of("noun_frames.txt"))


def noun_pairs(
    nouns: Sequence[DictionaryNoun], count: int, *, seed: int, apart: Collection[str] = frozenset()
) -> Iterator[Pair]:
    """So many sentence pairs, none of which has one of the English sentences in `apart`.

    Commoner and surer nouns come more often, but far less so than in speech: a noun ten times as common comes 2.5 times
    as often, and one that is listed by kind as often as the commonest. Where “it” is one of them, it is one that
    `touchable` has chosen: what is held out of the pronoun curriculum stays held out of these.
    """
    draw = random.Random(seed)
    every = with_hand_written(nouns)
    plurals = [noun for noun in every if noun.has_plural]
    fitting = {"s": every, "p": plurals, "b": every, "i": touchable(nouns)}
    drawn = {number: _Nouns.of(those) for number, those in fitting.items() if those}
    offered = [frame for frame in frames() if frame.number in drawn]
    made = 0
    while made < count:
        frame = draw.choice(offered)
        pair = _pair(draw, frame, drawn[frame.number])
        if pair.source not in apart and pair.source not in NEVER:
            made += 1
            yield pair


@dataclass(frozen=True, slots=True)
class _Nouns:
    """Nouns, and up to each of them the sum of how often they are drawn."""

    nouns: Sequence[DictionaryNoun]
    up_to: Sequence[float]

    @classmethod
    def of(cls, nouns: Sequence[DictionaryNoun]) -> "_Nouns":
        listed = set(BY_HAND).union(*listed_kinds().values())

        def often(noun: DictionaryNoun) -> float:
            own = sqrt(max(1.0, noun.support)) * 10 ** (LEANING * noun.frequency)
            return max(own, LISTED) if noun.english in listed else own

        return cls(nouns, list(accumulate(map(often, nouns))))

    def drawn(self, draw: random.Random) -> DictionaryNoun:
        return draw.choices(self.nouns, cum_weights=self.up_to)[0]


def _pair(draw: random.Random, frame: NounFrame, nouns: _Nouns) -> Pair:
    for _ in range(_TRIES):
        phrases = {slot: _phrase(draw, nouns.drawn(draw), frame.number) for slot in frame.slots}
        if (pair := filled(frame, phrases)) is not None:
            return pair
    raise ValueError(f"no noun fits {frame.english!r}")


def filled(frame: NounFrame, phrases: dict[str, NounPhrase | None]) -> Pair | None:
    """The frame with these phrases; None where a form of one is not known."""
    if any(phrase is None for phrase in phrases.values()):
        return None
    known = {name: phrase for name, phrase in phrases.items() if phrase is not None}
    german = {
        (name, case): _in_german(known, frame, name, cast(GermanCase, case))
        for name, case in _SLOT.findall(frame.german)
    }
    forms = {slot: form for slot, form in german.items() if form is not None}
    if len(forms) < len(german):
        return None
    source = _SLOT.sub(lambda slot: known[slot[1]].english, frame.english)
    target = _SLOT.sub(lambda slot: forms[slot[1], slot[2]], frame.german)
    target = _CONTRACTED.sub(lambda found: _CONTRACTIONS[found[0]], target)
    return Pair(capitalised(source), capitalised(target))


def _in_german(phrases: Mapping[str, NounPhrase], frame: NounFrame, name: str, case: GermanCase) -> str | None:
    if name != "it":
        return phrases[name].german(case)
    return PRONOUNS[phrases[frame.slots[0]].noun.gender][GERMAN_CASES.index(case)]


def _phrase(draw: random.Random, noun: DictionaryNoun, number: Number) -> NounPhrase | None:
    """A noun with a determiner; None where it lacks the number."""
    is_plural = number == "p" or (number == "b" and noun.has_plural and draw.random() < PLURAL)
    if is_plural and not noun.has_plural:
        return None
    # What has no plural is not counted, and stands alone where others have “a”; so far as one can be sure of it. So may
    # what is a quality in German (attention, freedom).
    is_uncounted = not noun.has_plural or _QUALITY.search(noun.german)
    stands_alone = is_uncounted and noun.support >= SURE and " " not in noun.english
    # What there is none of is no “it” either.
    left_out = {"a": not noun.has_plural, "": not stands_alone, "no": number == "i"}
    offered = {name: often for name, often in DRAWN.items() if not left_out.get(name)}
    determiner = draw.choices(list(offered), list(offered.values()))[0]
    adjective = draw.choice(ADJECTIVES) if draw.random() < WITH_ADJECTIVE else None
    return NounPhrase(noun, determiner, adjective, is_plural)

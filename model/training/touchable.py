"""Choose the nouns of a dictionary that “it” can mean in plain sentences.

A dictionary does not say what a noun is. But one that sentence pairs confirm, and whose ending is neither of people nor
of what cannot be touched, can be said to be new or lost. What is held out of the pronoun curriculum stays held out: no
noun of another part, nor a compound of one.
"""

import re
from collections.abc import Sequence
from typing import Final

from model.training.declension import DictionaryNoun
from model.training.dictionary import SURE
from model.training.dictionary_lexicon import BY_HAND, may_enter

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

"""Read the nouns of a bilingual dictionary that lies outside of the project, and leave out those that mislead."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, get_args

from model.errors import DataError
from model.pairs import read_lines
from model.training.declension import DictionaryNoun
from model.training.lexicon import Gender

#: The file in a dictionary's folder.
NOUNS: Final = "nouns.tsv.xz"
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
    word, support. Rows are left out whose words are names, phrases or something else than a noun as a rule.

    Raises:
        DataError: the file is missing or no such table.
    """
    return _parsed(read_lines(folder / NOUNS))


def _parsed(lines: Iterable[str]) -> list[DictionaryNoun]:
    nouns = []
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        try:
            english, german, gender, english_plural, german_plural, frequency, support = cells
            numbers = float(support), float(frequency)
            noun = DictionaryNoun(english, german, _GENDERS[gender], english_plural, german_plural, *numbers)
        except (ValueError, KeyError) as error:
            raise DataError(
                "{nouns}, line {number}: expected {columns} columns (English, German, m, f or n, two plurals, "
                "two numbers), got {line!r}.",
                nouns=NOUNS,
                number=number,
                columns=COLUMNS,
                line=line.strip()[:80],
            ) from error
        if _is_plain(noun) and (noun.frequency < RARE or noun.support >= SURE):
            nouns.append(noun)
    return nouns


def _is_plain(noun: DictionaryNoun) -> bool:
    """Whether both words are common nouns as they are spelled, with plurals that look like such."""
    plurals = not noun.has_plural or (_ENGLISH.fullmatch(noun.english_plural) and _GERMAN.fullmatch(noun.german_plural))
    return bool(_ENGLISH.fullmatch(noun.english) and _GERMAN.fullmatch(noun.german) and plurals)

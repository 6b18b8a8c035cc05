"""Example sentences, each with what to look for in it and a twin that differs in a word or two.

In the first pair, the classic of the field, the last word decides what "it" refers to.
"""

import tomllib
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from viz.text.marks import Marks, word_spans

FILE: Final = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence, its twin for the comparison, and what to look for."""

    text: str
    twin: str
    look_for: str
    only_in_german: bool = False  #: whether only a translation into German shows what to look for
    #: the nouns that the pronoun stands for in the sentence and in its twin, where it is one of two.
    stands_for: tuple[str, str] | None = None
    pronouns: tuple[str, str] = ("it", "it")  #: the pronoun of the sentence and that of its twin


def _read(entry: dict[str, Any]) -> Example:
    fields: dict[str, Any] = {name: tuple(it) if isinstance(it, list) else it for name, it in entry.items()}
    return Example(**fields)


#: Language → examples in it.
_OF_LANGUAGE: Final = {
    language: tuple(map(_read, entries))
    for language, entries in tomllib.loads(FILE.read_text(encoding="utf-8")).items()
}
EXAMPLES: Final = _OF_LANGUAGE["en"]
#: For models that read chats.
(CHAT_EXAMPLE,) = _OF_LANGUAGE.pop("chat")
ALL_EXAMPLES: Final = (*chain(*_OF_LANGUAGE.values()), CHAT_EXAMPLE)


def examples_in(language: str) -> tuple[Example, ...]:
    """The examples in a language; those in English where it is not known, none in one that we write no examples in."""
    return _OF_LANGUAGE.get(language.partition("-")[0] or "en", ())


#: Sentences of other lengths, one a line: a batch of any example and these needs padding.
BATCH_SENTENCES: Final = "Thank you very much.\nI have never seen such a beautiful city.\nYes."


def known_marks(text: str) -> Marks | None:
    """The words to be marked in an example or its twin, where its pronoun stands for one of two nouns."""
    words = [text[slice(*span)] for span in word_spans(text)]
    for example in ALL_EXAMPLES:
        if example.stands_for is not None and text in (example.text, example.twin):
            is_twin = text != example.text
            nouns = example.stands_for[::-1] if is_twin else example.stands_for
            return Marks(words.index(example.pronouns[is_twin]), *map(words.index, nouns))
    return None

"""The texts over which heads are described until somebody gives others: ours, in three languages, mixed in kind.

A line of one language is the translation of the same line of the others, so that a translator between them need not
write before there is a first answer. Everyday sentences, news, instructions, dialogue, lists, questions, numbers,
quotations and stories, of 3 to 90 words: over texts of one kind many heads do something else than over all kinds.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from model.analysis.corpus import CorpusSentence, read_text
from model.errors import InputTextError, Message, said
from model.languages import html_language
from model.reader import Reader
from model.words import word_spans

LANGUAGES: Final = ("en", "de", "zh")
#: So many texts are read first; they are mixed already.
FIRST: Final = 40
#: Texts of each language that are read to find which a model knows, when nothing says it.
PROBES: Final = 4
#: Tokens a word, at most, of a language that a tokenizer knows; a language that has so many more than the best is none.
MOST_PIECES: Final = 1.7
WORSE: Final = 1.25


@dataclass(frozen=True)
class CorpusChoice:
    """Which of `LANGUAGES` a model is read with."""

    language: str = ""  #: "" for none
    why: str = ""  #: why none, as a sentence
    written: str = ""  #: which of them it writes; "" for another one, or none

    @property
    def sentences(self) -> tuple[CorpusSentence, ...]:
        """The texts; a translator writes its own translations, for along other people's its heads do something else."""
        return default_corpus(self.language)

    @property
    def quick(self) -> tuple[CorpusSentence, ...]:
        """The first texts with translations of ours, which takes a third of the time; none where there are none."""
        return default_corpus(self.language, self.written)[:FIRST] if self.written else ()


@cache
def default_corpus(language: str, written: str = "") -> tuple[CorpusSentence, ...]:
    """The texts of one of `LANGUAGES`, with those of another as translations; the first `FIRST` are mixed already."""
    texts = read_text(Path(__file__).with_name("corpora") / f"{language}.txt")
    if not written:
        return tuple(texts)
    targets = default_corpus(written)
    return tuple(CorpusSentence(text, target) for (text, _none), (target, _) in zip(texts, targets, strict=True))


def corpus_for(reader: Reader) -> CorpusChoice:
    """The texts to begin with: in the model's language, where that is said or its tokens tell."""
    if reader.abilities.reads != "text":
        return CorpusChoice(why=said("This model reads no text, so Headlight has no corpus for it."))
    named, written = (
        html_language(chosen) or known for chosen, known in zip(reader.offered.chosen, reader.languages, strict=True)
    )
    written = written.partition("-")[0]
    if language := named.partition("-")[0]:
        if language not in LANGUAGES:
            return CorpusChoice(why=_needs_corpus(named))
        return CorpusChoice(language, written=written if written in LANGUAGES and written != language else "")
    pieces = _pieces_a_word(reader)
    best = min(pieces.values(), default=MOST_PIECES + 1)
    known = [language for language, count in pieces.items() if count <= min(MOST_PIECES, WORSE * best)]
    return CorpusChoice(known[0]) if known else CorpusChoice(why=_needs_corpus(""))


def _needs_corpus(language: str) -> Message:
    if language:
        message = "Headlight's texts are in English, German and Chinese, but this model reads “{language}”."
        return said(message, language=language)
    return said(
        "The tokenizer of this model splits English, German and Chinese words into many tokens, so it was made "
        "for another language."
    )


def _pieces_a_word(reader: Reader) -> Mapping[str, float]:
    """Language → how many tokens a word has; none of one that has characters that the tokenizer does not know.

    Languages after one that has hardly more than a token a word are not looked at: none of them could be much better.
    """
    tokens = reader.all_tokens(of_source=True)
    unknown = {number for number, token in enumerate(tokens) if token.strip("<>[]").casefold() in ("unk", "unknown")}
    found = {}
    for language in LANGUAGES:
        texts = default_corpus(language)[:PROBES]
        ids = [number for text, _target in texts for number in _read(reader, text)]
        ids = [number for number in ids if number in unknown or number not in reader.special_ids]
        if ids and unknown.isdisjoint(ids):
            found[language] = len(ids) / sum(len(word_spans(text)) for text, _target in texts)
            if found[language] <= WORSE:
                break
    return found


def _read(reader: Reader, text: str) -> Sequence[int]:
    with suppress(InputTextError):
        return reader.source_ids(text)
    return ()

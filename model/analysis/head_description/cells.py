"""The keys that a rule about a head can name, in each row of a text: one back, the same token elsewhere, an article.

A cell is a set of keys for each row. Kinds of words come from lists of the commonest ones (`word_kinds.toml`, English,
German and Chinese); in a text of another language the cells of these kinds are empty. All is read off the tokens, so it
holds for a text that the model wrote, too.
"""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.analysis.metrics.head_metrics import CROSS
from model.sources.source import WORD_BEGIN
from model.trace.axes import LINE_END, is_punctuation
from model.trace.trace import UNKNOWN, Trace
from model.unspaced import bytes_of, word_starts

FUNCTION_KINDS: Final = ("articles", "prepositions", "pronouns", "auxiliaries", "conjunctions", "particles")
#: Of a token; special ones are of none.
KINDS: Final = (*FUNCTION_KINDS, "content words", "punctuation", "numbers")
SPECIAL: Final = ""

#: What a content word may be beside, as `Words` knows it.
TRAITS: Final = ("names", "persons")
CELLS_OF_KINDS: Final = ("punctuation", *FUNCTION_KINDS, "function", "content words", "numbers", *TRAITS)
#: Cells of a self-attention: by distance, by kind, by what the token is; then of a cross-attention, where keys are of
#: another text: by the source of a token, by place, by kind.
SELF_CELLS: Final = (
    "self", "back1", "back2", "ahead1", "ahead2", "back1-3", "ahead1-3", "beside", "near", "far", "back", "ahead",
    "first", *CELLS_OF_KINDS, "same", "after same", "word", "content ahead", "content back",
)  # fmt: skip
CROSS_CELLS: Final = (
    "source written", "source read", "source next", "diagonal", "first", "second half", *CELLS_OF_KINDS, "copied",
    "copied before",
)  # fmt: skip

#: Cells that are made of others, of which the largest are said, too.
PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "near": ("self", "back1", "back2", "ahead1", "ahead2"),
    "beside": ("back1", "ahead1"),
    "back1-3": ("back1", "back2"),
    "ahead1-3": ("ahead1", "ahead2"),
    "back": ("back1", "back2"),
    "ahead": ("ahead1", "ahead2"),
    "function": FUNCTION_KINDS,
}

_WORD: Final = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*|\S")
_SENTENCE_BEGINS: Final = frozenset('.!?:…。！？："“„«(「-–—•')
#: Share of a text's words that are in the lists of its language, at least.
_LEAST_KNOWN: Final = 0.1


@cache
def _lists() -> Mapping[str, Mapping[str, str]]:
    """Language → word → its kind."""
    content = tomllib.loads(Path(__file__).with_name("word_kinds.toml").read_text(encoding="utf-8"))
    return {
        language: {word: kind for kind, words in of_kinds.items() for word in words.split()}
        for language, of_kinds in content.items()
    }


def _is_person(word: str, known: Mapping[str, str]) -> bool:
    """Whether a word is in the list of persons, or the plural of one of English."""
    lower = word.casefold()
    return "persons" in (known.get(lower), known.get(lower.removesuffix("s")))


@dataclass(frozen=True)
class Words:
    """What the tokens of a text are, a token a position."""

    kinds: tuple[str, ...]  #: of `KINDS`, or `SPECIAL`: the kind of the word that a token begins with
    numbers: tuple[int, ...]  #: the number of this word, from 0
    names: tuple[bool, ...]  #: whether it is a word with a capital inside a sentence; of German nobody knows
    persons: tuple[bool, ...]  #: whether it says who somebody is: “nurse”, “mother”

    def are(self, *kinds: str) -> Bool[Tensor, "token"]:
        """Which tokens are of one of these kinds."""
        return torch.tensor([kind in kinds for kind in self.kinds], dtype=torch.bool)


def words_of(tokens: Sequence[str], special: frozenset[str]) -> Words:
    """Find the words behind tokens, as a trace spells them."""
    contents = [
        b" " if token in special or token == LINE_END else bytes_of(token.replace(WORD_BEGIN, " ")) for token in tokens
    ]
    text = b"".join(contents).decode("utf-8", errors="surrogateescape")
    starts = sorted(start for run in _WORD.finditer(text) for start in _cut(run))
    words = [text[start:end].split(" ")[0] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    known = _known_kinds(words)
    of_words = [_kind(word, known) for word in words]
    is_name = [
        known is not _lists()["de"] and word[:1].isupper() and number > 0 and words[number - 1] not in _SENTENCE_BEGINS
        for number, word in enumerate(words)
    ]
    is_person = [_is_person(word, known) for word in words]
    at_byte = [0, *accumulate(len(sign.encode("utf-8", errors="surrogateescape")) for sign in text)]
    begins = list(accumulate(map(len, contents[:-1]), initial=0))
    kinds: list[str] = []
    numbers: list[int] = []
    traits: list[tuple[bool, bool]] = []
    for token, content, begin in zip(tokens, contents, begins, strict=True):
        blanks = len(content) - len(content.lstrip())
        # A lone blank is of the word after it.
        number = bisect_right(starts, bisect_right(at_byte, begin + blanks) - 1) - 1
        is_word = token not in special and token != LINE_END and number >= 0
        kinds.append(of_words[number] if is_word else SPECIAL)
        numbers.append(number if is_word else -1 - len(numbers))
        is_content = is_word and of_words[number] == "content words"
        traits.append((is_content and is_name[number], is_content and is_person[number]))
    names, persons = zip(*traits, strict=True) if traits else ((), ())
    return Words(tuple(kinds), tuple(numbers), names, persons)


def _cut(run: re.Match[str]) -> list[int]:
    return [run.start() + start for start in word_starts(run[0])]


def _known_kinds(words: Sequence[str]) -> Mapping[str, str]:
    """The lists of the language in which most of the words are found; none where few are."""
    found = {language: sum(word.casefold() in known for word in words) for language, known in _lists().items()}
    best = max(found, key=lambda language: found[language])
    return _lists()[best] if found[best] >= _LEAST_KNOWN * max(1, len(words)) else {}


def _kind(word: str, known: Mapping[str, str]) -> str:
    lower = word.casefold().replace("’", "'")
    if kind := known.get(lower) or known.get(lower.partition("'")[0]):
        return "content words" if kind == "persons" else kind
    if word[:1].isnumeric() and not word[:1].isalpha():
        return "numbers"
    return "punctuation" if is_punctuation(word) or not any(map(str.isalnum, word)) else "content words"


@dataclass(frozen=True, eq=False)
class Place:
    """One attention site in one text: its rows, its keys, and what they are."""

    site: str
    rows: Words  #: of what each row stands for: the token that it reads, or writes (`Trace.rows_write`)
    keys: Words
    row_tokens: tuple[str, ...]
    read_tokens: tuple[str, ...]  #: what each row reads
    key_tokens: tuple[str, ...]

    @classmethod
    def of(cls, trace: Trace, site: str) -> "Place":
        """The site of a trace."""
        read, keys = trace.axis_tokens(site)
        stand = trace.row_tokens(site)
        # The last row of a translation writes its end, which a trace without steps does not say.
        is_end_unsaid = trace.rows_write(site) and not trace.steps
        rows = words_of(stand, trace.special_tokens | {UNKNOWN} if is_end_unsaid else trace.special_tokens)
        return cls(site, rows, words_of(keys, trace.special_tokens) if keys != stand else rows, stand, read, keys)

    @property
    def names(self) -> tuple[str, ...]:
        """What its cells are called."""
        return CROSS_CELLS if self.site == CROSS else SELF_CELLS

    def cells(self, sources: Int[Tensor, "row"] | None = None) -> Bool[Tensor, "cell row key"]:
        """The keys of each cell in each row, in the order of `names`; a kind of word is never the row's own token.

        `sources`: at a cross-attention, the key that is the source of what each row writes (`sources_of`).
        """
        size = (len(self.row_tokens), len(self.key_tokens))
        kinds = {name: self.keys.are(name).expand(size) for name in KINDS}
        kinds["function"] = self.keys.are(*FUNCTION_KINDS).expand(size)
        kinds |= {name: torch.tensor(getattr(self.keys, name), dtype=torch.bool).expand(size) for name in TRAITS}
        if self.site == CROSS:
            assert sources is not None
            found = kinds | self._across(sources, size)
        else:
            found = self._within(size)
            found |= {name: cell & ~found["self"] for name, cell in kinds.items()}
        return torch.stack([found[name] for name in self.names])

    def _within(self, size: tuple[int, int]) -> dict[str, Tensor]:
        step = torch.arange(size[1]) - torch.arange(size[0])[:, None]
        plain = ~self.keys.are(SPECIAL)
        is_same = _equal(self.read_tokens, self.key_tokens) & (step != 0) & plain
        after = torch.zeros_like(is_same)
        after[:, 1:] = is_same[:, :-1]
        # By the words of the keys, which a row of a translation reads, too.
        number = torch.tensor(self.keys.numbers)
        pieces = (number[:, None] == number) & (step != 0) & plain
        content = self.keys.are("content words").expand(size) & ~pieces
        ahead, back = content & (step > 0), content & (step < 0)
        return {
            "self": step == 0,
            **{f"back{n}": step == -n for n in (1, 2)},
            **{f"ahead{n}": step == n for n in (1, 2)},
            "back1-3": (step < 0) & (step >= -3),
            "ahead1-3": (step > 0) & (step <= 3),
            "beside": step.abs() == 1,
            "near": step.abs() <= 2,
            "far": step.abs() >= 5,
            "back": step < 0,
            "ahead": step > 0,
            "first": (torch.arange(size[1]) == 0).expand(size),
            "same": is_same,
            "after same": after & (step < 0),
            "word": pieces,
            "content ahead": ahead & (ahead.cumsum(1) == 1),
            "content back": back & (back.flip(1).cumsum(1).flip(1) == 1),
        }

    def _across(self, sources: Int[Tensor, "row"], size: tuple[int, int]) -> dict[str, Tensor]:
        columns = torch.arange(size[1])
        diagonal = torch.arange(size[0])[:, None] * (size[1] - 1) / max(1, size[0] - 1)
        at = columns == sources[:, None]
        none = torch.zeros_like(at[:1])
        before, after = torch.cat((none, at[:-1])), torch.cat((at[1:], none))
        # Where both are one, nothing tells which of the two a head looks for.
        is_clear = ~(at & before).any(1, keepdim=True)
        plain = ~self.keys.are(SPECIAL, "punctuation")
        return {
            "source written": at & is_clear,
            "source read": before & is_clear,
            "source next": after & ~at & ~before,
            "diagonal": (columns - diagonal).abs() <= 1,
            "first": (columns == 0).expand(size),
            "second half": (columns >= size[1] / 2).expand(size),
            "copied": _spelled_alike(self.row_tokens, self.key_tokens) & plain,
            "copied before": _spelled_alike(self.read_tokens, self.key_tokens) & plain,
        }


def sources_of(weights: Float[Tensor, "head row key"], rest: Bool[Tensor, "key"]) -> Int[Tensor, "row"]:
    """The source of the token that each row of a cross-attention writes, by the votes of all heads.

    A head looks for the source of what its row writes, or of what it reads, which the row before has written (Kobayashi
    et al. 2020, §5). So a token is looked for in two rows, and its source is the key that has most in both together.
    What a key has in every row alike says nothing. What the last row writes is read by none: it gets the source of the
    row before, so that nothing tells the two apart there.
    """
    votes = weights.mean(0)
    votes = (votes - votes.mean(0)).masked_fill(rest, -torch.inf)
    # Where heads look in one of the two rows alone, it is taken to be the one that writes.
    found = (votes[:-1] + 0.99 * votes[1:]).argmax(1)
    return torch.cat((found, found[-1:] if len(found) else votes.argmax(1)))


def _equal(rows: Sequence[str], keys: Sequence[str]) -> Bool[Tensor, "row key"]:
    """Where the token of a row is spelled as that of a key."""
    numbers: dict[str, int] = {}
    row, key = (torch.tensor([numbers.setdefault(token, len(numbers)) for token in of]) for of in (rows, keys))
    return row[:, None] == key


def _spelled_alike(rows: Sequence[str], keys: Sequence[str]) -> Bool[Tensor, "row key"]:
    """Where a row and a key have the same letters and digits, whatever marks are beside them; some."""
    row, key = (["".join(filter(str.isalnum, token)).casefold() for token in of] for of in (rows, keys))
    return _equal(row, key) & torch.tensor([bool(letters) for letters in key])

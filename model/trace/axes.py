"""The rows and columns of a matrix of attention: every token, or whole words, special tokens left out or not.

Words are read off the tokens themselves, not off the text: a translation need not be spelled with the pieces that its
text would be split into again. Runs of them are of one role: of a chat, or of a pair of texts.
"""

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, get_args

from jaxtyping import Float
from torch import Tensor

from model.sources.source import WORD_BEGIN
from model.tokenizer import SPECIAL_TOKENS
from model.unspaced import begins_word, bytes_of
from model.words import attention_between_words

#: A line's end, as tokenizers that keep it show it, is a label of its own.
LINE_END: Final = "⏎"
_BEGINS: Final = (WORD_BEGIN, LINE_END)
#: Characters of the longest word, and of an ordinary one.
LONGEST_WORD, USUAL_WORD = 40, 15
#: Tokens of a word that has few.
FEW: Final = 5


@dataclass(frozen=True)
class Axis:
    """One side of a matrix."""

    labels: tuple[str, ...]  #: of the rows or columns
    groups: tuple[tuple[int, ...], ...]  #: for each label, the positions of its tokens, ascending

    def without_special_tokens(self, special: Collection[str] = SPECIAL_TOKENS) -> "Axis":
        """The same axis without special tokens."""
        # A word may spell "</s>", in several pieces; the special token is one.
        is_special = [
            label in special and len(group) == 1 for label, group in zip(self.labels, self.groups, strict=True)
        ]
        kept = [i for i, skipped in enumerate(is_special) if not skipped]
        return Axis(tuple(self.labels[i] for i in kept), tuple(self.groups[i] for i in kept))

    def without(self, positions: Collection[int], tokens: Sequence[str]) -> "Axis":
        """The same axis without the tokens at some positions; a word that keeps some is spelled from the first of these
        to the last.
        """
        kept = [tuple(position for position in group if position not in positions) for group in self.groups]
        labels = (
            label if len(left) == len(group) else spelled(tokens[left[0] : left[-1] + 1] if left else ())
            for label, group, left in zip(self.labels, self.groups, kept, strict=True)
        )
        shown = [(label, left) for label, left in zip(labels, kept, strict=True) if left]
        return Axis(tuple(label for label, _ in shown), tuple(left for _, left in shown))

    def named_by_what_follows(self, read: "Axis", written: Sequence[str]) -> "Axis":
        """The rows of a decoder alone, each named by what it reads, and by what it writes: "weil → es".

        `read` has all tokens or words, also those without a row here; `written` is of the last rows: those before, of a
        given text, keep their names.
        """
        if not written:
            return self
        count = read.groups[-1][-1] + 1
        following = {group[0]: label for label, group in zip(read.labels, read.groups, strict=True)}
        following[count] = written[-1]
        names = (
            row_name(label, following[group[-1] + 1]) if group[-1] >= count - len(written) else label
            for label, group in zip(self.labels, self.groups, strict=True)
        )
        return Axis(tuple(names), self.groups)

    def as_rows_that_write(self, target: "Axis") -> "Axis":
        """The rows that write these tokens or words, each named by them and by what it reads first: "die → Straße".

        The row that writes a token reads the one before it. `target` has all of the translation, also what is not to
        have a row here; no row writes the token that begins it.
        """
        before = {group[-1]: label for label, group in zip(target.labels, target.groups, strict=True)}
        rows = [
            (label, tuple(position - 1 for position in group if position))
            for label, group in zip(self.labels, self.groups, strict=True)
        ]
        names = (row_name(before.get(group[0], target.labels[0]), label) for label, group in rows if group)
        return Axis(tuple(names), tuple(group for _, group in rows if group))

    def part(self, indices: slice) -> "Axis":
        """A part of the axis, with the same positions."""
        return Axis(self.labels[indices], self.groups[indices])

    def index_of(self, position: int) -> int | None:
        """The index on this axis of the token at a position, if it has one."""
        return next((i for i, group in enumerate(self.groups) if position in group), None)


#: Between what a row of a decoder reads and what it writes.
_WRITES: Final = " → "


def row_name(read: str, written: str) -> str:
    """What a row of a decoder is called: "weil → es" reads "weil" and writes "es"."""
    return f"{read}{_WRITES}{written}"


def row_parts(name: str, *, writes: bool) -> tuple[str, str, str]:
    """A row's name as what comes before the token or word that the row stands for, that one, and what comes after.

    A row stands for what it writes (`Trace.rows_write`), or else for what it reads.
    """
    read, arrow, written = name.partition(_WRITES)
    return (read + arrow, written, "") if arrow and writes else ("", read, arrow + written)


def is_punctuation(token: str) -> bool:
    """Whether a piece holds punctuation (Unicode's categories P…) and nothing else but the "▁" of a new word."""
    signs = token.replace(WORD_BEGIN, "")
    return bool(signs) and all(unicodedata.category(sign).startswith("P") for sign in signs)


def single_tokens(tokens: Sequence[str]) -> Axis:
    """An axis with every token."""
    return Axis(tuple(tokens), tuple((position,) for position in range(len(tokens))))


def whole_words(tokens: Sequence[str], special: Collection[str] = SPECIAL_TOKENS) -> Axis:
    """An axis with every word: a word begins at a piece with "▁" in front; a special token is a word of its own.

    So a word is what white space separates, as in `words.word_spans`, and punctuation and byte tokens stay with it.
    Chinese and Japanese, which have no spaces, are parted as `unspaced` says. Where no words are found, as in DNA,
    formulas of molecules and code (`has_runs`), each token stays alone.
    """
    words: list[tuple[str, tuple[int, ...]]] = []
    for group, is_word in _found(tokens, special):
        if is_word:
            words.append((spelled([tokens[position] for position in group]), tuple(group)))
        else:
            words += ((tokens[position].removeprefix(WORD_BEGIN) or WORD_BEGIN, (position,)) for position in group)
    return Axis(tuple(label for label, _group in words), tuple(group for _label, group in words))


def has_runs(tokens: Sequence[str], special: Collection[str] = SPECIAL_TOKENS) -> bool:
    """Whether tokens that no white space separates form no word: these are too long, or hardly anything separates any.

    A word has at most `LONGEST_WORD` characters; where runs have more than `FEW` tokens and more than `USUAL_WORD`
    characters on average, at most `USUAL_WORD`. Up to `FEW` tokens are a word in any case.
    """
    return not all(is_word for _group, is_word in _found(tokens, special))


def _found(tokens: Sequence[str], special: Collection[str]) -> list[tuple[list[int], bool]]:
    """The tokens that white space or `unspaced` parts, each run with whether it is a word."""
    groups: list[list[int]] = []
    for position, (before, token) in enumerate(pairwise(("", *tokens))):
        if not groups or token.startswith(_BEGINS) or token in special or before in special:
            groups.append([])
        groups[-1].append(position)
    parted = [part for group in groups for part in _parted(group, tokens)]
    lengths = [len(spelled([tokens[position] for position in group])) for group in parted]
    words = [at for at, group in enumerate(parted) if tokens[group[0]] not in special]
    is_split = sum(len(parted[at]) for at in words) > FEW * len(words)
    is_long = sum(lengths[at] for at in words) > USUAL_WORD * len(words)
    longest = USUAL_WORD if is_split and is_long else LONGEST_WORD
    return [(group, len(group) <= FEW or length <= longest) for group, length in zip(parted, lengths, strict=True)]


def _parted(group: list[int], tokens: Sequence[str]) -> list[list[int]]:
    """The words within a run of tokens that no white space separates."""
    begins = begins_word([tokens[position].removeprefix(WORD_BEGIN) for position in group])
    starts = [number for number, is_first in enumerate(begins) if is_first]
    return [group[start:end] for start, end in zip(starts, [*starts[1:], len(group)], strict=True)]


def spelled(pieces: Sequence[str]) -> str:
    """The word that pieces spell: without "▁", runs of byte tokens read as UTF-8; a lone "▁" stays."""
    # Piece by piece: "<0x41>" may also be what was typed, in several pieces.
    joined = b"".join(map(bytes_of, pieces)).decode("utf-8", errors="replace")
    return joined.removeprefix(WORD_BEGIN) or WORD_BEGIN


def between(values: Float[Tensor, "*batch query key"], queries: Axis, keys: Axis) -> Float[Tensor, "*batch row column"]:
    """Values between tokens as values between labels: summed over a label's keys, averaged over its queries."""
    if all(len(group) == 1 for group in (*queries.groups, *keys.groups)):
        rows, columns = ([group[0] for group in axis.groups] for axis in (queries, keys))
        return values[..., rows, :][..., columns]
    return attention_between_words(values, queries.groups, keys.groups)


Role = Literal["system", "user", "assistant"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
#: Of an encoder's pair of texts, which one a token is of (Devlin et al. 2019 call them sentence A and B).
SEGMENTS: Final = ("A", "B")


@dataclass(frozen=True, slots=True)
class RoleRun:
    """Tokens, or labels of an axis, side by side: from `begin` to before `end`, of one role."""

    role: str
    begin: int
    end: int


def check_roles(roles: Sequence[str], count: int) -> None:
    """Raise a ValueError if there is not a role for each of so many tokens, or none for any, or one is not a role."""
    if roles and len(roles) != count:
        raise ValueError(f"there are {len(roles)} roles for {count} tokens")
    known = (*ROLES, *SEGMENTS)
    if unknown := [role for role in roles if role != "" and role not in known]:
        raise ValueError(f"{str(unknown[0])[:40]!r} is no role; roles are {', '.join(known)}")


def role_runs(roles: Sequence[str], groups: Sequence[Sequence[int]]) -> tuple[RoleRun, ...]:
    """The runs of labels that are of one role; what the template wrote ("") is in none.

    `groups`: for each label the positions of its tokens (`Axis.groups`); its role is the first that one of them has.
    """
    if not roles:
        return ()
    of_labels = [next((roles[position] for position in group if roles[position]), "") for group in groups]
    runs: list[RoleRun] = []
    for index, role in enumerate(of_labels):
        if role and runs and runs[-1].end == index and runs[-1].role == role:
            runs[-1] = RoleRun(role, runs[-1].begin, index + 1)
        elif role:
            runs.append(RoleRun(role, index, index + 1))
    return tuple(runs)

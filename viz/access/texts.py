"""Texts: how two differ, a pair for a sentence, and whose message of a chat each token is of."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Final

from model import later
from model.unspaced import has_unspaced
from viz.access import models
from viz.access.findings import set_of
from viz.access.word_links import Words
from viz.pictures.focus import Run
from viz.selection.choices import ModelChoice
from viz.selection.examples import ALL_EXAMPLES
from viz.text.marks import word_spans
from viz.text.messages import _

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.word_diff import WordSpan
    from model.trace.axes import Axis, RoleRun

#: A word of at least so many pieces is rare, and one of at least three if they have fewer letters each than this.
_MANY_PIECES: Final = 5
_FEW_LETTERS: Final = 2


@dataclass(frozen=True, slots=True)
class RareWords:
    """The words of a text that are broken into many pieces, into letters or into bytes."""

    pieces: Mapping[str, int] = field(default_factory=dict)  #: word → how many pieces it is broken into
    are_most: bool = False  #: more than half of the words are so


def word_diff(first: str, second: str) -> tuple["WordSpan", ...]:
    """The words that two texts share and those in which they differ, in order."""
    return later.word_diff.word_diff(first, second)


def rare_words(tokens: Sequence[str], are_bytes: Sequence[bool], special: Collection[str]) -> RareWords:
    """The words of a text that its vocabulary barely knows; each token with whether it is a byte."""
    axis = later.axes.whole_words(tokens, special).without_special_tokens(special)
    rare, count = {}, 0
    for word, group in zip(axis.labels, axis.groups, strict=True):
        pieces = [tokens[position] for position in group]
        # A character of Chinese or Japanese is a piece as long as others.
        is_broken = not has_unspaced(word) and any(map(_is_broken, _runs_of_letters(pieces)))
        # A byte that is a whole character, as “;”, is a piece too; another is written as its number, in several signs.
        if is_broken or any(are_bytes[position] and len(tokens[position]) > 1 for position in group):
            rare[word] = len(pieces)
            count += 1
    return RareWords(rare, 2 * count > len(axis.labels))


def _runs_of_letters(pieces: Iterable[str]) -> list[list[str]]:
    """The pieces with letters, parted where others stand between them: "did n ' t" has two runs."""
    runs = groupby(pieces, key=lambda piece: any(map(str.isalpha, piece)))
    return [list(run) for has_letters, run in runs if has_letters]


def _is_broken(run: Sequence[str]) -> bool:
    letters = sum(map(str.isalpha, "".join(run)))
    return len(run) >= _MANY_PIECES or (len(run) >= 3 and letters < _FEW_LETTERS * len(run))


#: Twins differ in a run of at most so many words.
MAX_CHANGED: Final = 4
#: What differs: the words of the first sentence, and those of the second instead.
Change = tuple[tuple[str, ...], tuple[str, ...]]


def known_twin(text: str) -> str:
    """The twin of an example, or of a sentence of the curated set; "" where none is known."""
    return _examples().get(text) or _curated(set_of(text)).get(text, "")


def change(first: str, second: str) -> Change | None:
    """The words in which two sentences differ; None where these are too many, or none."""
    words, others = _words(first), _words(second)
    shortest = min(len(words), len(others))
    begin = next((i for i in range(shortest) if words[i] != others[i]), shortest)
    left = shortest - begin
    end = next((i for i in range(left) if words[-1 - i] != others[-1 - i]), left)
    changed = tuple(words[begin : len(words) - end]), tuple(others[begin : len(others) - end])
    return changed if all(1 <= len(run) <= MAX_CHANGED for run in changed) else None


def changed(text: str, how: Change) -> str:
    """A sentence with these words changed; "" where they do not stand in it, or more than once."""
    before, after = how
    words, spans = _words(text), word_spans(text)
    starts = [i for i in range(len(words)) if tuple(words[i : i + len(before)]) == before]
    if len(starts) != 1:
        return ""
    begin, end = spans[starts[0]][0], spans[starts[0] + len(before) - 1][1]
    return text[:begin] + (" " if " " in text else "").join(after) + text[end:]


def shared_words(first: str, second: str) -> tuple[int, int]:
    """How many words both sentences have in the same order, and how many the longer one has."""
    words, others = _words(first.lower()), _words(second.lower())
    blocks = SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks), max(len(words), len(others))


def _words(text: str) -> list[str]:
    return [text[slice(*span)] for span in word_spans(text)]


@cache
def _examples() -> Mapping[str, str]:
    return _both_ways([(example.text, example.twin) for example in reversed(ALL_EXAMPLES)])


@cache
def _curated(language: str) -> Mapping[str, str]:
    of_pair: dict[str, list[str]] = {}
    for case in later.case_files.curated_cases(language).cases:
        of_pair.setdefault(case.pair, []).append(case.sentence)
    return _both_ways([(pair[0], pair[1]) for pair in of_pair.values() if len(pair) == 2])


def _both_ways(pairs: list[tuple[str, str]]) -> dict[str, str]:
    return {second: first for first, second in pairs} | dict(pairs)


@dataclass(frozen=True, slots=True)
class ChatPart:
    """Words of a chat side by side that are of one role; "" for what the template wrote."""

    role: str
    words: tuple[str, ...]


def runs(trace: "Trace", axis: "Axis | Words") -> "tuple[RoleRun, ...]":
    """The runs of labels along a decoder's axis that are of one role; none where nothing is read as a chat."""
    return later.axes.role_runs(trace.roles, axis.groups)


def chat_spans(trace: "Trace", axis: "Axis | Words") -> tuple[Run, ...]:
    """The same runs as pictures take them."""
    return tuple((run.role, run.begin, run.end) for run in runs(trace, axis))


def spans_of_tokens(trace: "Trace") -> tuple[Run, ...]:
    """The same runs, of all tokens that a decoder read."""
    return chat_spans(trace, later.axes.single_tokens(trace.target_tokens)) if trace.roles else ()


def chat_parts(trace: "Trace", most: int) -> tuple[ChatPart, ...]:
    """What a decoder read, as far as the text that was given goes, in words and by roles; at most so many words."""
    axis = later.axes.whole_words(trace.target_tokens[: _num_given(trace)], trace.special_tokens)
    found, at = [], 0
    for run in runs(trace, axis):
        found += [ChatPart("", axis.labels[at : run.begin]), ChatPart(run.role, axis.labels[run.begin : run.end])]
        at = run.end
    found.append(ChatPart("", axis.labels[at:]))
    return _cut([part for part in found if part.words], most)


def why_no_roles(trace: "Trace", choice: ModelChoice) -> str:
    """Why the roles in a text that is read as a chat are not known, as a sentence; "" where they are, or none is."""
    if trace.roles or not models.reads_chat(choice):
        return ""
    chat = later.opening.as_chat(models.reader(choice)).chat(trace.text)
    if not chat.why_no_roles:
        return ""
    return _("It is unknown which tokens belong to which message: {why}.", why=chat.why_no_roles)


def _num_given(trace: "Trace") -> int:
    """The tokens that were read before the first that was written."""
    return trace.rows_before + 1 if trace.translation else len(trace.target_tokens)


def _cut(parts: list[ChatPart], most: int) -> tuple[ChatPart, ...]:
    kept = []
    for part in parts:
        kept.append(ChatPart(part.role, part.words[:most]) if len(part.words) > most else part)
        most -= len(part.words)
        if most <= 0:
            break
    return tuple(kept)

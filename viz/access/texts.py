"""Texts: how two differ, a pair for a sentence, whose message each token is of, which rows and keys join two words.

Several words can stand on either side: their weights are summed.

As a query a word has the rows that stand for it (`Trace.rows_write`): of an encoder–decoder's translation those that
write it, else those that read it. As a key it has its columns.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from itertools import chain, groupby
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model import later
from model.unspaced import has_unspaced
from viz.access import attention, models
from viz.access.findings import set_of
from viz.pictures.focus import Run
from viz.selection.choices import ModelChoice
from viz.selection.examples import ALL_EXAMPLES
from viz.server.caches import cached
from viz.text.marks import word_spans
from viz.text.messages import _
from viz.text.written import CROSS, DECODER, ENCODER, display_token

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.word_diff import WordSpan
    from model.trace.axes import Axis, RoleRun

MAX_TRACES = 64
MAX_TWINS: Final = 8


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a trace without special tokens: first those of its text, then those that the decoder reads."""

    labels: tuple[str, ...]  #: as people read them
    groups: tuple[tuple[int, ...], ...]  #: the positions of each word's tokens, on its own side
    num_source: int  #: how many are read by an encoder

    def is_source(self, word: int) -> bool:
        """Whether a word is one that an encoder reads."""
        return word < self.num_source

    def at(self, position: int, *, is_source: bool) -> int | None:
        """The word that has a token at a position; None if that is a special token, or beyond the end."""
        words = range(self.num_source) if is_source else range(self.num_source, len(self.groups))
        return next((word for word in words if position in self.groups[word]), None)


@dataclass(frozen=True, slots=True)
class Link:
    """Where an attention joins words."""

    site: str  #: which attention
    looking: tuple[tuple[int, ...], ...]  #: the rows of each word that looks; within a word their weights are averaged
    keys: tuple[int, ...]  #: of all words that are looked at; their weights are summed

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows of all words that look."""
        return tuple(chain(*self.looking))


@cached(max_entries=MAX_TRACES)
def words(trace: "Trace") -> Words:
    """The words of a trace; only those written where the source has none."""
    own = trace.special_tokens
    sides = [trace.source_tokens if trace.source.has_words else (), trace.target_tokens]
    source, target = (later.axes.whole_words(tokens, own).without_special_tokens(own) for tokens in sides)
    return Words(source.labels + target.labels, source.groups + target.groups, len(source.labels))


def as_typed(trace: "Trace") -> Words:
    """The same, with the text's words as typed where the model has as many: in its pieces rare signs are bytes."""
    known, typed = words(trace), tuple(trace.text.split())
    if len(typed) != known.num_source:
        return known
    return Words(typed + known.labels[known.num_source :], known.groups, known.num_source)


def name_of(trace: "Trace", word: int) -> str:
    """What a word is called; with whose it is where both texts have a word spelled so."""
    known = words(trace)
    spelling, label = known.labels[word], display_token(known.labels[word])
    if not (spelling in known.labels[: known.num_source] and spelling in known.labels[known.num_source :]):
        return label
    if known.is_source(word):
        return _("{word} (source)", word=label)
    return _("{word} (translation)", word=label)


def link(trace: "Trace", looking: Sequence[int], looked_at: Sequence[int]) -> Link | None:
    """Where an attention of this model joins words of `words`; None where none does, as from text to translation.

    The words that look are of one side, and so are those looked at.
    """
    known = words(trace)
    sides = known.is_source(looking[0]), known.is_source(looked_at[0])
    site = {(True, True): ENCODER, (False, True): CROSS, (False, False): DECODER}.get(sides)
    if site is None or site not in trace.shapes:
        return None
    rows = tuple(rows_of_word(trace, site, word) for word in looking)
    return Link(site, rows, tuple(chain(*(known.groups[word] for word in looked_at)))) if all(rows) else None


def patches_in(trace: "Trace", area: Sequence[int]) -> tuple[int, ...]:
    """The positions whose middle lies in a rectangle of the picture that was read: left, top, right, bottom in pixels;
    none where there is no rectangle, or no picture.
    """
    grid = trace.source.grid
    if grid is None or len(area) != 4:
        return ()
    left, top, right, bottom = grid.rectangles.unbind(1)
    x, y = (left + right) / 2, (top + bottom) / 2
    is_within = grid.placed & (x >= area[0]) & (x < area[2]) & (y >= area[1]) & (y < area[3])
    return tuple(is_within.nonzero().flatten().tolist())


def rows_of_word(trace: "Trace", site: str, word: int) -> tuple[int, ...]:
    """The query rows of a site that stand for a word; none where it has no rows of the word's side."""
    known, (rows, _keys) = words(trace), attention.focus_axes(trace, site)
    if known.is_source(word) != (rows.side == "source"):
        return ()
    return tuple(position - rows.ahead for position in known.groups[word] if position >= rows.ahead)


def words_of_cell(trace: "Trace", site: str, row: int, key: int) -> tuple[int | None, int | None]:
    """The words that a row and a key stand for; None for a special token."""
    known, (rows, keys) = words(trace), attention.focus_axes(trace, site)
    looking = known.at(row + rows.ahead, is_source=rows.side == "source")
    return looking, known.at(key, is_source=keys.side == "source")


def cell_of_word(trace: "Trace", site: str, word: int) -> tuple[int | None, int | None]:
    """The first row of a site that stands for a word; where it has none, its first key; None for what there is not."""
    rows, known = rows_of_word(trace, site, word), words(trace)
    is_key = known.is_source(word) == (attention.focus_axes(trace, site)[1].side == "source")
    return (rows[0], None) if rows else (None, known.groups[word][0] if is_key else None)


@cached(max_entries=MAX_TWINS)
def twins(first: "Trace", second: "Trace") -> Mapping[int, int]:
    """Word of the first sentence → its twin in the second: the equal one in equal order, or what replaces it."""
    found: dict[int, int] = {}
    known = [words(trace) for trace in (first, second)]
    for is_source in (True, False):
        (begin, own), (other_begin, other) = (
            (0, one.labels[: one.num_source]) if is_source else (one.num_source, one.labels[one.num_source :])
            for one in known
        )
        for kind, start, end, other_start, other_end in SequenceMatcher(None, own, other, autojunk=False).get_opcodes():
            if kind == "equal" or (kind == "replace" and end - start == other_end - other_start):
                found |= {begin + start + i: other_begin + other_start + i for i in range(end - start)}
    return found


def row_beside(first: "Trace", second: "Trace", site: str, row: int) -> int | None:
    """The row of the second sentence that stands for the word in the place of this row's; None where there is none."""
    word = words_of_cell(first, site, row, 0)[0]
    if word is None:
        # The special tokens at the beginning, or the one at the end.
        own_end, end = (len(trace.axis_tokens(site)[0]) - 1 for trace in (first, second))
        same = end if row == own_end else row
        return same if same <= end and words_of_cell(second, site, same, 0)[0] is None else None
    twin = twins(first, second).get(word)
    rows = () if twin is None else rows_of_word(second, site, twin)
    at = rows_of_word(first, site, word).index(row)
    return rows[min(at, len(rows) - 1)] if rows else None


def weights(trace: "Trace", link: Link) -> Float[np.ndarray, "layer head"]:
    """The weight from one word on the other in every head of the link's site; NaN where a layer has fewer heads. Over
    several words it is the sum.
    """
    of_words = [attention.cell_weights(trace, link.site, rows, link.keys) for rows in link.looking]
    summed: Float[np.ndarray, "layer head"] = np.sum(of_words, axis=0)
    return summed


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


def curated_pair(name: str, source: str) -> tuple[str, str] | None:
    """The sentences of a pair of the set for models that read this language; None if it has no such pair."""
    cases = later.case_files.curated_cases(later.case_files.set_language(source)).cases
    match [case.sentence for case in cases if case.pair == name]:
        case [first, second]:
            return first, second
    return None


def _both_ways(pairs: list[tuple[str, str]]) -> dict[str, str]:
    return {second: first for first, second in pairs} | dict(pairs)


@dataclass(frozen=True, slots=True)
class ChatPart:
    """Words of a chat, or of a pair, side by side that are of one role; "" for what a chat template wrote."""

    role: str
    words: tuple[str, ...]


def runs(trace: "Trace", axis: "Axis | Words") -> "tuple[RoleRun, ...]":
    """The runs of labels along an axis that are of one role; none where nothing is read as a chat or as a pair."""
    return later.axes.role_runs(trace.roles, axis.groups)


def chat_spans(trace: "Trace", axis: "Axis | Words") -> tuple[Run, ...]:
    """The same runs as pictures take them."""
    return tuple((run.role, run.begin, run.end) for run in runs(trace, axis))


def spans_of_tokens(trace: "Trace") -> tuple[Run, ...]:
    """The same runs, of all tokens that a decoder read, or an encoder alone."""
    return chat_spans(trace, later.axes.single_tokens(_with_roles(trace))) if trace.roles else ()


def _with_roles(trace: "Trace") -> tuple[str, ...]:
    """The tokens that may have roles: what a decoder read, or an encoder alone."""
    return trace.target_tokens or trace.source_tokens


def chat_parts(trace: "Trace", most: int) -> tuple[ChatPart, ...]:
    """What was read, as far as the text that was given goes, in words and by roles; at most so many words."""
    axis = later.axes.whole_words(_with_roles(trace)[: _num_given(trace)], trace.special_tokens)
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
    return trace.rows_before + 1 if trace.translation else len(_with_roles(trace))


def _cut(parts: list[ChatPart], most: int) -> tuple[ChatPart, ...]:
    kept = []
    for part in parts:
        kept.append(ChatPart(part.role, part.words[:most]))
        most -= len(part.words)
        if most <= 0:
            break
    return tuple(kept)

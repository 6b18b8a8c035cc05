"""Which rows and keys of each attention join two words: the word that looks, and the one that is looked at.

Several words can stand on either side: their weights are summed.

A word of the text looks in the rows that read it. A word that was written looks in the rows that wrote it, where the
model had to know what it stands for, and again in the rows that read it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from model import later
from viz.access import attention
from viz.pictures.focus import AXES
from viz.server.caches import cached
from viz.text.written import CROSS, DECODER, ENCODER

if TYPE_CHECKING:
    from model import Trace

MAX_TRACES = 64


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
    is_second_look: bool = False  #: whether these rows read words that other rows wrote

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows of all words that look."""
        return tuple(chain(*self.looking))


@cached(max_entries=MAX_TRACES)
def words(trace: "Trace") -> Words:
    """The words of a trace; of a picture only those written of it."""
    own = trace.special_tokens
    sides = [() if trace.picture is not None else trace.source_tokens, trace.target_tokens]
    source, target = (later.axes.whole_words(tokens, own).without_special_tokens(own) for tokens in sides)
    return Words(source.labels + target.labels, source.groups + target.groups, len(source.labels))


def as_typed(trace: "Trace") -> Words:
    """The same, with the text's words as typed where the model has as many: in its pieces rare signs are bytes."""
    known, typed = words(trace), tuple(trace.text.split())
    if len(typed) != known.num_source:
        return known
    return Words(typed + known.labels[known.num_source :], known.groups, known.num_source)


def links(trace: "Trace", looking: Sequence[int], looked_at: Sequence[int]) -> tuple[Link, ...]:
    """Every place where an attention of this model can join words of `words`; none from text to translation.

    The words that look are of one side, and so are those looked at.
    """
    known = words(trace)
    rows = tuple(known.groups[word] for word in looking)
    keys = tuple(chain(*(known.groups[word] for word in looked_at)))
    if known.is_source(looking[0]):
        return (Link(ENCODER, rows, keys),) if known.is_source(looked_at[0]) and ENCODER in trace.shapes else ()
    site = CROSS if known.is_source(looked_at[0]) else DECODER
    if site not in trace.shapes:
        return ()
    written = (tuple(position - 1 for position in word if position > trace.rows_before) for word in rows)
    writing = tuple(word for word in written if word)
    own = [Link(site, writing, keys)] if writing else []
    return (*own, Link(site, rows, keys, is_second_look=bool(writing)))


def words_of_cell(trace: "Trace", site: str, row: int, key: int) -> tuple[int | None, int | None]:
    """The words that a row and a key belong to; of a decoder's row the word that it writes, if it writes one."""
    known, reads_source = words(trace), site == ENCODER
    wrote = None if reads_source or row < trace.rows_before else known.at(row + 1, is_source=False)
    looking = known.at(row, is_source=reads_source) if wrote is None else wrote
    return looking, known.at(key, is_source=site != DECODER)


def cell_of_word(trace: "Trace", site: str, word: int) -> tuple[int | None, int | None]:
    """The row of a site that stands for a word; where it has none, the key of the word; None for what there is not."""
    known = words(trace)
    side = "source" if known.is_source(word) else "target"
    position = known.groups[word][0]
    rows, keys = AXES[site]
    return (position - rows.ahead, None) if side == rows.side else (None, position if side == keys.side else None)


def weights(trace: "Trace", link: Link) -> Float[np.ndarray, "layer head"]:
    """The weight from one word on the other in every head of the link's site; NaN where a layer has fewer heads. Over
    several words it is the sum.
    """
    of_words = [attention.cell_weights(trace, link.site, rows, link.keys) for rows in link.looking]
    summed: Float[np.ndarray, "layer head"] = np.sum(of_words, axis=0)
    return summed

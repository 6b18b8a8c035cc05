"""The sentence in the head of the page, and what was written, as words that can be clicked."""

from typing import TYPE_CHECKING, Final

from viz.access import chats, word_links
from viz.pages.attention.all_heads.word_picker import WordLine
from viz.pictures.focus import FocusAxis, Side
from viz.ui import sentence

if TYPE_CHECKING:
    from model import Trace

#: Of a text with more words a cell of the open head is kept instead.
MAX_WORDS: Final = 1_000


def word_lines(trace: "Trace") -> list[WordLine]:
    """The lines of `viz.ui.sentence` in words as `word_links` counts them; none where a line has no words, or all have
    too many.
    """
    known, shown = word_links.words(trace), sentence.lines_of(trace)
    sides: list[tuple[Side, slice]] = [("source", slice(known.num_source)), ("target", slice(known.num_source, None))]
    lines = [
        (known.labels[part], FocusAxis(side, groups=known.groups[part])) for side, part in sides if known.labels[part]
    ]
    if len(known.labels) > MAX_WORDS or len(lines) != len(shown):
        return []
    if trace.roles:
        return [_chat_line(trace, shown[0].mark, known)]
    return [_word_line(line, *known_line) for line, known_line in zip(shown, lines, strict=True)]


def _chat_line(trace: "Trace", mark: str, known: word_links.Words) -> WordLine:
    axis = FocusAxis("source" if known.num_source else "target", groups=known.groups)
    return WordLine(mark, "", known.labels, (0,) * len(known.labels), axis, chats.spans(trace, known))


def _word_line(line: sentence.Line, labels: tuple[str, ...], axis: FocusAxis) -> WordLine:
    typed = tuple(line.text.split())
    # What was typed, where the model has the same words: in its pieces rare signs stand as bytes.
    words = typed if len(typed) == len(labels) else labels
    return WordLine(line.mark, line.language, words, tuple(line.rare.pieces.get(label, 0) for label in labels), axis)

"""The sentence in the head of the page, and what was written, as words that can be clicked."""

from typing import TYPE_CHECKING, Final

from viz.access import chats, word_links
from viz.pages.attention.all_heads.word_picker import WordLine
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
    sides = [side for side in (known.labels[: known.num_source], known.labels[known.num_source :]) if side]
    if len(known.labels) > MAX_WORDS or len(sides) != len(shown):
        return []
    if trace.roles:
        return [_chat_line(trace, shown[0].mark, known)]
    return [_word_line(line, side) for line, side in zip(shown, sides, strict=True)]


def _chat_line(trace: "Trace", mark: str, known: word_links.Words) -> WordLine:
    return WordLine(mark, "", known.labels, (0,) * len(known.labels), chats.spans(trace, known))


def _word_line(line: sentence.Line, labels: tuple[str, ...]) -> WordLine:
    typed = tuple(line.text.split())
    # What was typed, where the model has the same words: in its pieces rare signs stand as bytes.
    words = typed if len(typed) == len(labels) else labels
    return WordLine(line.mark, line.language, words, tuple(line.rare.pieces.get(label, 0) for label in labels))

"""Write the words of a sound with their times as subtitles (SRT, WebVTT) or for Praat (TextGrid), a word each."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Final

from model.analysis.timing.word_times import WordTime


def srt(words: Sequence[WordTime]) -> str:
    """SubRip subtitles."""
    # No format of its own says how to write the sign of a time within a text.
    cues = (
        f"{number}\n{_clock(word.start, ',')} --> {_clock(word.end, ',')}\n{word.word.replace('-->', '->')}\n"
        for number, word in enumerate(_joined(words), 1)
    )
    return "\n".join(cues)


def vtt(words: Sequence[WordTime]) -> str:
    """WebVTT subtitles (https://www.w3.org/TR/webvtt1/)."""
    cues = (
        f"{_clock(word.start, '.')} --> {_clock(word.end, '.')}\n{_escaped(word.word)}\n" for word in _joined(words)
    )
    return "\n".join(("WEBVTT\n", *cues))


def text_grid(words: Sequence[WordTime], duration: float) -> str:
    """A tier “words” for Praat, over `duration` seconds; an interval without a word is empty."""
    intervals: list[WordTime] = []
    end = 0.0
    for word in _joined(words):
        intervals += [WordTime("", end, word.start)] if word.start > end else []
        intervals.append(word)
        end = word.end
    intervals += [WordTime("", end, duration)] if duration > end else []
    last = max(end, duration)
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", f"0\n{last:.3f}\n<exists>\n1"]
    lines += ['"IntervalTier"\n"words"', f"0\n{last:.3f}\n{len(intervals)}"]
    for label, start, stop in intervals:
        quoted = label.replace('"', '""')
        lines.append(f'{start:.3f}\n{stop:.3f}\n"{quoted}"')
    return "\n".join(lines) + "\n"


#: Ending of a file → what writes it, of words and the seconds of the whole sound.
WRITERS: Final[Mapping[str, Callable[[Sequence[WordTime], float], str]]] = {
    ".srt": lambda words, _duration: srt(words),
    ".vtt": lambda words, _duration: vtt(words),
    ".TextGrid": text_grid,
}


def _joined(words: Sequence[WordTime]) -> list[WordTime]:
    """Words that begin in one frame as one: of these, no format has two."""
    groups = (list(group) for _start, group in groupby(words, key=lambda word: round(word.start, 3)))
    return [WordTime(" ".join(word.word for word in group), group[0].start, group[-1].end) for group in groups]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _clock(seconds: float, point: str) -> str:
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}{point}{thousandths:03}"

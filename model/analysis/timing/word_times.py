"""Read when the words of a recording begin and end, as a person or another program wrote it down.

| file | what is read |
|---|---|
| .csv, .tsv, .txt | columns `word` (or `text`, `label`), `start` (`begin`) and `end`, in seconds; without a heading \
three columns, two of numbers |
| .TextGrid | Praat's, long or short: the tier called words, or the only tier of intervals |
| .srt, .vtt | one word a cue; or marked words, as Whisper writes them (`<u>word</u>`) and WebVTT (`<00:01.500>word`) |
| .json | `words`, `word_segments`, `segments` with `words`, `fragments` or `chunks`: whisper, whisperX, gentle, \
aeneas, transformers |

A file may come from anyone: its size and its numbers are limited, and an error names the line. Intervals of silence are
left out, and so are words that a program says it has not found in the sound.
"""

import csv
import html
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Final, NamedTuple

from model.checked import Malformed, has_surrogate, parsed, without_surrogates
from model.errors import DataError, Message, said
from model.folder_files import entries, read_as_data

SOUNDS: Final = (".wav", ".flac", ".ogg", ".mp3")
LARGEST_FILE: Final = 4 * 1024 * 1024
MOST_WORDS: Final = 20_000
LONGEST_WORD: Final = 200
#: Seconds; longer recordings have no times by words.
LATEST: Final = 24 * 3600.0
#: What aligners call an interval without a word.
_SILENCE: Final = frozenset(("", "sil", "sp", "spn", "<eps>", "<p:>", "<sil>", "#", "_"))
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "word": ("word", "text", "label"),
    "start": ("start", "begin", "onset"),
    "end": ("end", "stop", "offset"),
}


class WordTime(NamedTuple):
    """A word, and the seconds at which it begins and ends."""

    word: str
    start: float
    end: float


class _Entry(NamedTuple):
    """What a file says of a word, not checked yet; `where`: in which line, or the how manyth of a list."""

    where: Message
    word: str
    start: float | str
    end: float | str


def read_word_times(path: str | Path) -> tuple[WordTime, ...]:
    """The words of a file. Raises as `parse_word_times`, and where it cannot be read."""
    path = Path(path)
    with read_as_data(path), path.open("rb") as file:
        content = file.read(LARGEST_FILE + 1)
    return parse_word_times(content, str(path))


def parse_word_times(content: bytes, name: str) -> tuple[WordTime, ...]:
    """The words of a file's content, in time; the ending of its name says in which form.

    Raises a DataError if the ending is unknown, the file is too large or holds no word, or a line is not as expected:
    no number, several words, a word that begins before the one above it.
    """
    path = Path(name)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        message = "Expected word times as {endings}, got {name}."
        raise DataError(message, endings=", ".join(READERS), name=path.name)
    if len(content) > LARGEST_FILE:
        message = "{path} is too large: at most {largest_file} MiB can be read. Cut it into parts."
        raise DataError(message, path=path, largest_file=LARGEST_FILE // 1024**2)
    words: list[WordTime] = []
    try:
        # Only these end a line: U+2028 and the like may occur in a text.
        for entry in reader(re.sub(r"\r\n?", "\n", _decoded(content))):
            if entry.word.strip().lower() not in _SILENCE:
                words.append(_checked(entry, words[-1].start if words else 0.0))
            if len(words) > MOST_WORDS:
                message = "{path} has more than {most:,} words. Cut it into parts."
                raise DataError(message, path=path, most=MOST_WORDS)
    except _Refused as error:
        raise DataError("{path}, {where}: {reason}.", path=path, where=error.where, reason=error.message) from error
    if not words:
        raise DataError("{path} contains no words with times.", path=path)
    return tuple(words)


class _Refused(Malformed):
    """A part of a file is not as expected."""

    def __init__(self, where: Message, reason: str) -> None:
        super().__init__(reason)
        self.where = where


def _line(number: int) -> Message:
    return said("line {number}", number=number)


def _decoded(content: bytes) -> str:
    # Praat writes UTF-16 where a label is not ASCII.
    is_utf_16 = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return content.decode("utf-16" if is_utf_16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise _Refused(_line(content[: error.start].count(b"\n") + 1), said("expected UTF-8 text")) from error


def _checked(entry: _Entry, earliest: float) -> WordTime:
    where, word, start, end = entry.where, entry.word.strip(), _seconds(entry, entry.start), _seconds(entry, entry.end)
    if len(word.split()) > 1:
        message = "expected one word, got “{text}”; each word of a phrase needs its own times"
        raise _Refused(where, said(message, text=_short(word)))
    if len(word) > LONGEST_WORD or has_surrogate(word) or not word.isprintable():
        message = "expected a word of at most {most} visible characters, got “{text}”"
        raise _Refused(where, said(message, most=LONGEST_WORD, text=_short(word)))
    if end < start:
        message = "“{word}” ends at {end:g} s, before it begins at {start:g} s"
        raise _Refused(where, said(message, word=word, end=end, start=start))
    if start < earliest:
        message = "“{word}” begins at {start:g} s, before the word above it, which begins at {earliest:g} s"
        raise _Refused(where, said(message, word=word, start=start, earliest=earliest))
    return WordTime(word, start, end)


def _seconds(entry: _Entry, value: float | str) -> float:
    number = _number(value)
    if number is None or not 0 <= number <= LATEST:
        message = "expected seconds from 0 to {latest:,.0f}, got {value}"
        raise _Refused(entry.where, said(message, latest=LATEST, value=_short(str(value))))
    return number


def _number(value: object) -> float | None:
    """A finite number as such or as people write it; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _short(text: str) -> str:
    shown = text if len(text) <= 60 else f"{text[:60]} …"
    # JSON can escape half a character, and a message must be text.
    return without_surrogates(shown)


def _from_table(text: str) -> Iterator[_Entry]:
    """Rows of a table, whose columns a heading names, or two numbers and a word."""
    lines = text.split("\n")
    delimiter = next((sign for sign in "\t;" if sign in lines[0]), ",")
    rows = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    columns: list[int] = []
    try:
        for cells in rows:
            if not any(map(str.strip, cells)):
                continue
            is_first, columns = not columns, columns or _columns(cells)
            if is_first and _number(cells[columns[1]]) is None:
                continue
            if len(cells) <= max(columns):
                message = "expected {count} columns, got {got}"
                raise Malformed(message, count=max(columns) + 1, got=len(cells))
            yield _Entry(_line(rows.line_num), *(cells[column] for column in columns))
    except csv.Error as error:
        raise _Refused(_line(rows.line_num), str(error)) from error
    except Malformed as error:
        raise _Refused(_line(rows.line_num), error.message) from error


def _columns(cells: Sequence[str]) -> list[int]:
    """Those of word, start and end, by a heading, or by a first row with a word and two numbers, start first."""
    lower = [cell.strip().lower() for cell in cells]
    named = [next((lower.index(name) for name in names if name in lower), None) for names in _NAMES.values()]
    numbers = [i for i, cell in enumerate(cells) if _number(cell) is not None]
    columns = [column for column in named if column is not None]
    if len(columns) < len(named):
        columns = [i for i in range(len(cells)) if i not in numbers] + numbers
        if len(columns) != len(named) or len(numbers) != 2:
            message = "expected the columns word, start and end, got {cells}"
            raise Malformed(message, cells=_short(", ".join(cells)))
    return columns


_TIMING: Final = re.compile(r"\s*([\d:.,]+)\s+-->\s+([\d:.,]+)(?:\s.*)?")
_CLOCK: Final = re.compile(r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2}(?:[.,]\d{1,9})?)")
_MARKED: Final = re.compile(r"<u>([^<>]*)</u>")
_STAMP: Final = re.compile(r"<([\d:.]+)>")


def _from_cues(text: str) -> Iterator[_Entry]:
    """The cues of a subtitle file; of words that stand in them with a time of their own, these."""
    cues: list[tuple[Message, float, float, list[str]]] = []
    is_cue = False
    for number, line in enumerate(text.split("\n"), 1):
        if "-->" in line:
            found = _TIMING.fullmatch(line)
            if found is None:
                message = "expected START --> END, got {text}"
                raise _Refused(_line(number), said(message, text=_short(line)))
            start, end = (_clock(each, _line(number)) for each in found.groups())
            cues.append((_line(number), start, end, []))
        elif is_cue and line.strip():
            cues[-1][-1].append(line)
        is_cue = "-->" in line or (is_cue and bool(line.strip()))
    is_marked = _MARKED.search(text) is not None
    for where, start, end, lines in cues:
        cue = " ".join(lines)
        if is_marked:
            # Between two marked words Whisper writes the whole line without a mark.
            yield from (_Entry(where, _plain(word), start, end) for word in _MARKED.findall(cue))
            continue
        parts = _STAMP.split(cue)
        times = [start, *(_clock(each, where) for each in parts[1::2]), end]
        for part, (begin, stop) in zip(parts[::2], pairwise(times), strict=True):
            yield _Entry(where, _plain(part), begin, stop)


def _plain(text: str) -> str:
    return html.unescape(re.sub(r"<[^<>]*>", "", text))


def _clock(text: str, where: Message) -> float:
    found = _CLOCK.fullmatch(text)
    if found is None:
        raise _Refused(where, said("expected a time such as 00:01:02.500, got {text}", text=_short(text)))
    hours, minutes, seconds = found.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds.replace(",", "."))


#: A comment, a text in quotes, or a number or flag that stands alone: all else Praat ignores, so long and short files
#: are one form.
_PRAAT: Final = re.compile(r'!.*|"((?:[^"]|"")*)"|(?<!\S)(<exists>|<absent>|[-+]?\d[\d.eE+-]*)(?!\S)')


def _from_text_grid(text: str) -> Iterator[_Entry]:
    """The intervals of the tier of words."""
    tiers = _tiers(_Praat(text))
    named = [name for name in tiers if "word" in name.lower() or name.lower().startswith("ort")]
    chosen = named or list(tiers)
    if len(chosen) != 1:
        message = "expected a tier of intervals called “words”, got {names}"
        raise _Refused(_line(1), said(message, names=_short(", ".join(tiers)) or "-"))
    return iter(tiers[chosen[0]])


class _Praat:
    """The texts, numbers and flags of a file of Praat's, taken one by one."""

    def __init__(self, text: str) -> None:
        self._text, self._parts = text, _PRAAT.finditer(text)
        self._line, self._at = 1, 0

    @property
    def where(self) -> Message:
        """The line of what was taken last."""
        return _line(self._line)

    def text(self) -> str:
        """What stands in quotes."""
        return self._next(1, said("a text in quotes")).replace('""', '"')

    def number(self) -> str:
        """A number, or a flag."""
        return self._next(2, said("a number"))

    def count(self) -> int:
        """How many of something follow."""
        number = self.number()
        if not (number.isascii() and number.isdecimal() and len(number) < 10):
            raise _Refused(self.where, said("expected a whole number, got {number}", number=_short(number)))
        return int(number)

    def _next(self, kind: int, expected: Message) -> str:
        part = next((part for part in self._parts if not part[0].startswith("!")), None)
        end = len(self._text) if part is None else part.start()
        self._line, self._at = self._line + self._text.count("\n", self._at, end), end
        if part is None or part[kind] is None:
            got = said("the end of the file") if part is None else _short(part[0])
            raise _Refused(self.where, said("expected {expected}, got {got}", expected=expected, got=got))
        return part[kind]


def _tiers(praat: _Praat) -> dict[str, list[_Entry]]:
    """Name → intervals of each tier that has some."""
    if (praat.text(), praat.text()) != ("ooTextFile", "TextGrid"):
        raise _Refused(praat.where, said("expected a TextGrid saved as text"))
    praat.number(), praat.number()
    tiers: dict[str, list[_Entry]] = {}
    for _tier in range(praat.count() if praat.number() == "<exists>" else 0):
        is_intervals, name = praat.text() == "IntervalTier", praat.text()
        praat.number(), praat.number()
        entries = []
        for _entry in range(praat.count()):
            start, end = praat.number(), praat.number() if is_intervals else ""
            entries.append(_Entry(praat.where, praat.text(), start, end))
        if is_intervals:
            tiers[name] = entries
    return tiers


def _from_json(text: str) -> Iterator[_Entry]:
    """The words of what a program that aligns or recognises speech has written."""
    try:
        content = parsed(text if text.lstrip().startswith("{") else f'{{"words": {text}}}')
    except Malformed as error:
        raise _Refused(_line(getattr(error.__cause__, "lineno", 1)), error.message) from error
    lists = [content[name] for name in ("word_segments", "words", "fragments", "chunks") if name in content][:1]
    segments = content.get("segments")
    if not lists and isinstance(segments, list):
        lists = [segment["words"] for segment in segments if isinstance(segment, dict) and "words" in segment]
    if not lists or not all(isinstance(rows, list) for rows in lists):
        message = "expected “words”, “segments” with “words”, “fragments” or “chunks”"
        raise _Refused(_line(1), said(message))
    for number, row in enumerate(chain.from_iterable(lists), 1):
        yield from _json_entry(row, said("entry {number} of the words", number=number))


def _json_entry(row: object, where: Message) -> Iterator[_Entry]:
    """A word of a list; none where it is said to have no time."""
    fields = row if isinstance(row, dict) else {}
    both, lines = fields.get("timestamp"), fields.get("lines")
    if isinstance(both, list) and len(both) == 2:
        fields = {**fields, "start": both[0], "end": both[1]}
    if isinstance(lines, list) and len(lines) == 1:
        fields = {**fields, "text": lines[0]}
    word, start, end = (next((fields[each] for each in names if each in fields), None) for names in _NAMES.values())
    if not isinstance(word, str) or any(each is not None and _number(each) is None for each in (start, end)):
        message = "expected a word with start and end in seconds, got {got}"
        raise _Refused(where, said(message, got=_short(repr(row))))
    if start is not None and end is not None:
        yield _Entry(where, word, start, end)


#: Ending of a file → its reader.
READERS: Final[Mapping[str, Callable[[str], Iterator[_Entry]]]] = {
    ".csv": _from_table,
    ".tsv": _from_table,
    ".txt": _from_table,
    ".textgrid": _from_text_grid,
    ".srt": _from_cues,
    ".vtt": _from_cues,
    ".json": _from_json,
}


def sounds_in(folder: Path) -> list[tuple[Path, Path]]:
    """The sounds of a folder, each with its word times. Raises a DataError if one has none, or there is no sound."""
    with read_as_data(folder):
        files = entries(folder)
    times = {file.stem: file for file in files if file.suffix.lower() in READERS}
    sounds = [file for file in files if file.suffix.lower() in SOUNDS]
    if not sounds:
        raise DataError("{name} contains no recording ({endings}).", name=folder, endings=", ".join(SOUNDS))
    for sound in sounds:
        if sound.stem not in times:
            message = "{name} has no file of word times; expected {stem} with one of {endings}."
            raise DataError(message, name=sound, stem=sound.stem, endings=", ".join(READERS))
    return [(sound, times[sound.stem]) for sound in sounds]

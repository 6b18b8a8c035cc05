"""What is read of a file that a person gives: sentences, or pairs with links made by hand; bad lines are listed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from model import later
from model.errors import DataError
from model.file_writing import write_bytes
from model.pairs import OPENERS
from model.temporary_folders import temporary_folder
from viz.server import limits
from viz.text.messages import Message, said

if TYPE_CHECKING:
    from model.analysis.corpus import CorpusSentence, Origin
    from model.analysis.metrics.alignment import AlignedPair

Row = TypeVar("Row")
#: Endings of what is read as a table, or unpacked.
_TABLES: Final = frozenset((".csv", ".tsv", ".jsonl", ".parquet", *OPENERS))
#: How many sentences and aligned pairs a file may hold; the command takes more.
MAX_SENTENCES: Final = 2_000
MAX_PAIRS: Final = 1_000
#: No sentence is longer, in characters.
MAX_SENTENCE: Final = 2_000
#: The share of bytes of 0 from which a file is no text in UTF-8.
MOST_ZEROS: Final = 0.001


class Drawn(NamedTuple):
    """What of a file is read."""

    #: column, translations: columns of a table, by their names; "" for the usual ones.
    column: str = ""
    translations: str = ""
    sample: int | None = None  #: so many of its rows; None for all
    seed: int = 0


ALL: Final = Drawn()


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of a file that is left out: its number from 1, and why."""

    number: int
    reason: str

    @property
    def message(self) -> Message:
        """Both as a sentence; a reason may be a sentence itself."""
        if self.reason.endswith("."):
            return said("Line {number}: {reason}", number=self.number, reason=self.reason)
        return said("Line {number}: {reason}.", number=self.number, reason=self.reason)


def read_lines(
    content: bytes, name: str, read: Callable[[str, int], Row], most: int, expected: str
) -> tuple[tuple[Row, ...], list[BadLine]]:
    """Return the rows of a file, one per line, and the rejected lines; skip blank lines.

    `read` makes a row of a line and its number from 1; a DataError says why it will not do. Raises a DataError if the
    file holds no row (it should hold `expected`), or more than `most`.
    """
    rows: list[Row] = []
    bad: list[BadLine] = []
    # A picture, a sound or UTF-16 has lines that could be read, but not what they say; of text, few bytes are 0.
    is_text = not content.startswith((b"\xff\xfe", b"\xfe\xff")) and content.count(0) <= MOST_ZEROS * len(content)
    lines = () if not is_text else content.removeprefix(b"\xef\xbb\xbf").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode()
            if text.strip():
                rows.append(read(text, number))
        except UnicodeDecodeError:
            bad.append(BadLine(number, said("not UTF-8 text")))
        except DataError as error:
            bad.append(BadLine(number, getattr(error, "reason", error.message)))
        if len(rows) > most:
            message = (
                "{name} contains more than {most:,} rows; use a part of it, or `python -m model atlas --text FILE.txt "
                "--out FILE.npz`."
            )
            raise DataError(message, name=name, most=most)
    if not rows:
        if not bad:
            raise DataError(
                "{name} contains nothing that can be read; expected {expected}, in UTF-8.", name=name, expected=expected
            )
        message = "{name} contains nothing that can be read; expected {expected}, in UTF-8. {line}"
        raise DataError(message, name=name, expected=expected, line=bad[0].message)
    return tuple(rows), bad


def read_sentences(
    content: bytes, name: str, asked: Drawn = ALL
) -> "tuple[tuple[CorpusSentence, ...], list[BadLine], Origin | None]":
    """Sentences of a file, the rejected lines, and where the sentences come from.

    Of text without columns, each line is a sentence or `English TAB German`; a table is read as of `read_text`. Raises
    as both.
    """
    endings = Path(name.lower()).suffixes
    suffixes = [each for each in endings[-2 if endings and endings[-1] in OPENERS else -1 :] if each in _TABLES]
    if suffixes or asked != ALL:
        if ".parquet" in suffixes and limits.rules().is_shared:
            raise DataError("A shared server cannot read .parquet files; save the column as .csv or .jsonl.")
        with temporary_folder("corpus") as folder:
            file = folder / f"given{''.join(suffixes)}"
            write_bytes(file, content, folder)
            return _of_table(file, name, asked)

    def read(line: str, number: int) -> "CorpusSentence":
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) > 2:
            raise DataError(
                "expected a sentence, or English TAB German; got {num_fields} fields", num_fields=len(fields)
            )
        if not fields[0]:
            raise DataError("a translation without a sentence")
        if (longest := max(map(len, fields))) > MAX_SENTENCE:
            message = "{longest:,} characters; a sentence may have at most {max_sentence:,}"
            raise DataError(message, longest=longest, max_sentence=MAX_SENTENCE)
        return later.corpus.CorpusSentence(fields[0], fields[1] if fields[1:] and fields[1] else None)

    return (*read_lines(content, name, read, MAX_SENTENCES, said("one sentence per line")), None)


def read_sentences_at(path: str, asked: Drawn) -> "tuple[tuple[CorpusSentence, ...], list[BadLine], Origin | None]":
    """The same of a file or folder of this machine."""
    file = Path(path).expanduser()
    return _of_table(file, file.name, asked)


def _of_table(file: Path, name: str, asked: Drawn) -> "tuple[tuple[CorpusSentence, ...], list[BadLine], Origin]":
    """Its sentences; one that is too long is refused by the line of the sample."""
    # With torch, for which no page waits.
    from model.analysis.corpus import read_text

    try:
        columns = later.data_files.Columns(asked.column, asked.translations)
        corpus = read_text(file, columns=columns, sample=asked.sample, seed=asked.seed)
        if len(corpus) > MAX_SENTENCES:
            message = "{path} contains {rows:,} sentences; at most {most:,} are read here: draw a sample of them."
            raise DataError(message, path=name, rows=len(corpus), most=MAX_SENTENCES)
        rows, bad = [], []
        for number, sentence in enumerate(corpus, start=1):
            if (longest := max(len(text or "") for text in sentence)) > MAX_SENTENCE:
                message = "{longest:,} characters; a sentence may have at most {max_sentence:,}"
                bad.append(BadLine(number, said(message, longest=longest, max_sentence=MAX_SENTENCE)))
            else:
                rows.append(sentence)
    except DataError as error:
        # It knows the file by the name that we gave it.
        values = {**error.message.values, "path": name}
        raise DataError(said(error.message.template, **values)) from error
    return tuple(rows), bad, corpus.origin._replace(name=name)


def read_pairs(content: bytes, name: str) -> "tuple[tuple[AlignedPair, ...], list[BadLine]]":
    """Sentence pairs of a JSONL file (`en`, `de`, `sure`), and the rejected lines. Raises as `read_lines`."""

    def read(line: str, number: int) -> "AlignedPair":
        row = later.data_files.parse_json_row(Path(name), number, line)
        source, target = row.words("en"), row.words("de")
        return later.alignment.AlignedPair(tuple(source), tuple(target), row.links("sure", len(source), len(target)))

    expected = said("one JSON object with “en”, “de” and “sure” per line")
    return read_lines(content, name, read, MAX_PAIRS, expected)

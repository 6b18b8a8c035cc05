"""Read data files, with errors that name the line; read sentences with a model: what every head computed for each."""

import csv
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.errors import DataError, Message, said
from model.nn.attention import AttentionInputs, attention_weights
from model.nn.score_functions import joined
from model.pairs import OPENERS, read_lines
from model.trace.trace import Trace
from model.words import Span


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file that are not blank, with their numbers from 1. Raises as `pairs.read_lines`."""
    for number, line in enumerate(read_lines(path), start=1):
        if text := line.strip():
            yield number, text


class LineError(DataError):
    """One line of a data file is not as it should be; `reason` says why, without file and line."""

    def __init__(self, path: Path, number: int, reason: str) -> None:
        super().__init__("{path}, line {number}: {reason}.", path=path, number=number, reason=reason)
        self.number, self.reason = number, reason


@dataclass(frozen=True)
class JsonRow:
    """One line of a JSONL file, asked for its fields by name and kind.

    A field that is missing, something else or out of range raises a `LineError`.
    """

    path: Path
    number: int
    fields: dict[str, Any]

    def line_error(self, text: str, /, **values: object) -> LineError:
        """An error that names the file and the line; takes what a `HeadlightError` takes."""
        return LineError(self.path, self.number, text if isinstance(text, Message) else said(text, **values))

    def text(self, name: str) -> str:
        """A text that is not blank."""
        value = self._field(name)
        if not isinstance(value, str) or not value.strip():
            raise self.line_error("expected “{name}” to be a text, got {short}", name=name, short=_short(value))
        return value

    def words(self, name: str) -> list[str]:
        """A list of words: texts without white space."""
        value = self._field(name)
        if not isinstance(value, list) or not value:
            raise self.line_error(
                "expected “{name}” to be a list of words, got {short}", name=name, short=_short(value)
            )
        for word in value:
            if not isinstance(word, str) or word.split() != [word]:
                message = "expected “{name}” to contain words without white space, got {short}"
                raise self.line_error(message, name=name, short=_short(word))
        return value

    def span(self, name: str, length: int) -> Span:
        """A half-open span [begin, end] of `length` tokens, with at least one token in it."""
        begin, end = self._pair(self._field(name), name)
        if not 0 <= begin < end <= length:
            message = "expected “{name}” to be [begin, end] with 0 ≤ begin < end ≤ {length}, got {value}"
            raise self.line_error(message, name=name, length=length, value=(begin, end))
        return begin, end

    def links(self, name: str, first: int, second: int) -> frozenset[tuple[int, int]]:
        """Pairs of indices, below `first` and below `second`."""
        value = self._field(name)
        if not isinstance(value, list):
            raise self.line_error(
                "expected “{name}” to be a list of links [index, index], got {short}", name=name, short=_short(value)
            )
        links = [self._pair(link, name) for link in value]
        for i, j in links:
            if not (0 <= i < first and 0 <= j < second):
                message = "expected links of “{name}” below [{first}, {second}], got {value}"
                raise self.line_error(message, name=name, first=first, second=second, value=[i, j])
        return frozenset(links)

    def _field(self, name: str) -> Any:
        if name not in self.fields:
            message = "expected a field “{name}”, got {short}"
            raise self.line_error(message, name=name, short=_short(", ".join(self.fields) or "none"))
        return self.fields[name]

    def _pair(self, value: Any, name: str) -> tuple[int, int]:
        if not isinstance(value, list) or len(value) != 2 or not all(type(number) is int for number in value):
            message = "expected two whole numbers in “{name}”, got {short}"
            raise self.line_error(message, name=name, short=_short(value))
        return value[0], value[1]


def read_json_rows(path: Path) -> Iterator[JsonRow]:
    """The rows of a JSONL file in UTF-8. Raises a DataError if it cannot be read, or a line is not a JSON object."""
    for number, line in numbered_lines(path):
        yield parse_json_row(path, number, line)


def parse_json_row(path: Path, number: int, line: str) -> JsonRow:
    """One line as a row. Raises a LineError if it is not a JSON object."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise LineError(path, number, said("expected one JSON object, got {short}", short=_short(line)))
    return JsonRow(path, number, fields)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]} …"


#: 200 everyday sentences that we wrote, one a line.
OWN_CORPUS: Final = Path(__file__).parent / "corpus.txt"


class CorpusSentence(NamedTuple):
    """A sentence, and the translation to read along; None for the model's own, decoded greedily."""

    text: str
    target: str | None = None


@dataclass(frozen=True, eq=False)
class SiteRun:
    """What the heads of all layers of one attention site computed for one sentence, those of layer 0 first."""

    weights: Float[Tensor, "layer_and_head row key"]
    value: Float[Tensor, "layer_and_head key d_v"] | None  #: each head's values; None where the model does not tell
    #: which heads have which mask: layers with a window see less than others.
    masks: tuple[tuple[slice, Bool[Tensor, "row key"]], ...]

    @classmethod
    def of(cls, trace: Trace, site: str, *, with_values: bool) -> "SiteRun":
        """The site of a trace; values only where the model tells them."""
        layers = trace.inputs[site]
        masks: list[tuple[slice, Tensor]] = []
        first = 0
        for before, layer in zip((None, *layers), layers, strict=False):
            is_same = before is not None and layer.mask is before.mask
            mask, last = masks[-1][1] if is_same else layer.mask.rows()[0], first + layer.num_heads
            if masks and (is_same or torch.equal(masks[-1][1], mask)):
                masks[-1] = (slice(masks[-1][0].start, last), mask)
            else:
                masks.append((slice(first, last), mask))
            first = last
        plain = [layer for layer in layers if isinstance(layer, AttentionInputs) and _is_plain(layer)]
        if len(masks) > 1 or len(plain) < len(layers) or len({layer.scale for layer in plain}) > 1:
            value = torch.cat([layer.values().float() for layer in layers]) if with_values else None
            return cls(torch.cat([layer.weights() for layer in layers]), value, tuple(masks))
        query, key, value = (
            torch.cat(parts).float() for parts in zip(*((of.query, of.key, of.value) for of in plain), strict=True)
        )
        # All layers at once, for speed.
        score = joined([layer.score for layer in plain])
        weights = attention_weights(query, key, scale=plain[0].scale, score=score, mask=masks[0][1][None]).weights
        return cls(weights, value if with_values else None, tuple(masks))


def _is_plain(layer: AttentionInputs) -> bool:
    """Whether its weights are the softmax of masked, scaled scores, and no heads share a key."""
    added = (layer.bias, layer.softcap, layer.sinks)
    return all(one is None for one in added) and not layer.edits and len(layer.key) == len(layer.query)


@dataclass(frozen=True)
class Corpus(Collection[CorpusSentence]):
    """The sentences of a file that has been looked through, read from it each time that they are gone through."""

    path: Path
    length: int
    limit: int | None = None

    def __len__(self) -> int:
        """How many sentences there are."""
        return self.length

    def __iter__(self) -> Iterator[CorpusSentence]:
        """The sentences in order. Raises as `read_text`."""
        return islice(_sentences(self.path), self.limit)

    def __contains__(self, sentence: object) -> bool:
        """Whether a sentence is among them."""
        return any(sentence == other for other in self)


def read_text(path: str | Path, limit: int | None = None) -> Corpus:
    """Look through a file of sentences, of which one at a time is in memory.

    A line is a sentence, or `English TAB German` where the translation is given. A row of a .csv has the same two
    columns; of a .jsonl it is an object with “text” and perhaps “translation”. Files may be packed (`pairs.OPENERS`).
    Blank lines do not count; of `limit`, only the first so many are read. Raises a DataError if the file cannot be read
    or holds no sentence, and a LineError for a line that is none of these.
    """
    path = Path(path)
    length = sum(1 for _ in islice(_sentences(path), limit))
    if not length:
        raise DataError("{path} contains no sentence; expected one per line.", path=path)
    return Corpus(path, length, limit)


def _sentences(path: Path) -> Iterator[CorpusSentence]:
    for number, columns in _rows(path):
        if not 1 <= len(columns) <= 2:
            message = "expected a sentence, or a sentence, a tab and its translation, got {num_columns} columns"
            raise LineError(path, number, said(message, num_columns=len(columns)))
        text, target = (*columns, "")[:2]
        yield CorpusSentence(text, target if target.strip() else None)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The columns of each line that is not blank, with its number."""
    match (path.with_suffix("") if path.suffix in OPENERS else path).suffix.lower():
        case ".jsonl":
            for row in read_json_rows(path):
                yield (
                    row.number,
                    [row.text("text"), *([row.text("translation")] if "translation" in row.fields else [])],
                )
        case ".csv":
            # A field in quotes may go over several lines, up to the limit of the csv module.
            rows = csv.reader(f"{line}\n" for line in read_lines(path))
            try:
                for columns in rows:
                    if any(map(str.strip, columns)) and not (rows.line_num == 1 and columns[0].lower() == "text"):
                        yield rows.line_num, columns
            except csv.Error as error:
                raise LineError(path, rows.line_num, str(error)) from error
        case _:
            for number, line in numbered_lines(path):
                yield number, line.split("\t")


def corpus_digest(sentences: Iterable[CorpusSentence]) -> str:
    """SHA-256 that names exactly these sentences and given translations, in this order."""
    digest = hashlib.sha256()
    for sentence in sentences:
        for text in sentence:
            # The length before the text keeps ("ab", "c") and ("a", "bc") apart.
            encoded = b"" if text is None else text.encode("utf-8", errors="surrogatepass")
            digest.update(f"{-1 if text is None else len(encoded)}:".encode())
            digest.update(encoded)
    return digest.hexdigest()

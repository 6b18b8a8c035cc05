"""A sentence with a pronoun and two candidates, and sets of such cases, read from files of four forms.

| file | a line |
|---|---|
| .jsonl | `sentence`, and `pronoun`, `antecedent`, `distractor` as words of it or as characters [begin, end); \
optional `id`, `group`, `pair`, `right` and `wrong` (German), `control`, `dropped`; # begins a comment |
| .jsonl | Winograd: `sentence`, `tokens`, and the three as half-open spans of tokens |
| .tsv | sentence, pronoun, antecedent, distractor, and optionally right, wrong (German) |
| .txt | WinoBias: `N sentence` with [antecedent] and [pronoun] |

`curated.jsonl` and `curated_zh.jsonl` are sets of the first form, English and Chinese, written for this project and
never trained on. A file may come from anyone: its size is limited, a bad line is named with its reason, and the good
ones are used.

WinoBias (Zhao et al. 2018) marks one candidate only. The other one is known all the same: its lines come in pairs, 1
and 2, 3 and 4, …, that name the same two occupations, and what the pronoun means in one line is what it does not mean
in the other. So the distractor of a line is the antecedent of its partner, and chance is one half, as for Winograd.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from model.analysis.data_files import JsonRow, LineError, parse_json_row
from model.checked import has_surrogate
from model.errors import DataError, Message, said
from model.folder_files import read_as_data
from model.reader import Reader
from model.training_record import LANGUAGES
from model.unspaced import has_unspaced, word_starts
from model.words import Span, find_words


@dataclass(frozen=True)
class GermanChoice:
    """Two translations that differ in the pronoun alone; only that of `right` fits what is meant."""

    right: str
    wrong: str


@dataclass(frozen=True)
class PronounCase:
    """A sentence, and the characters of its pronoun, of what it refers to, and of a noun that it does not refer to."""

    sentence: str
    #: pronoun, antecedent, distractor: characters [begin, end) of the sentence.
    pronoun: Span
    antecedent: Span
    distractor: Span
    name: str = ""  #: of the row, where its file has one
    #: pair, group: what the rows of one minimal pair share, and the kind of sentence, where the file says so.
    pair: str = ""
    group: str = ""
    german: GermanChoice | None = None  #: translations to choose from, where the pronoun's meaning decides between them
    #: the pronoun refers to neither candidate ("it" of weather and time); then `antecedent` is only one of two nouns,
    #: and no head can be right. Or there is no pronoun (`is_dropped`).
    is_control: bool = False
    #: the subject is left out, as Chinese may do: `pronoun` is the predicate that lacks it, the place from which one
    #: looks for it, and `antecedent` is what it would be. Always a control.
    is_dropped: bool = False

    @property
    def spans(self) -> tuple[Span, Span, Span]:
        """Pronoun, antecedent, distractor."""
        return self.pronoun, self.antecedent, self.distractor

    @property
    def candidates(self) -> frozenset[str]:
        """Both candidates as text, the same for sentences that differ in the answer only."""
        return frozenset(self.sentence[slice(*span)].lower() for span in (self.antecedent, self.distractor))

    @property
    def pair_name(self) -> str:
        """The pair it belongs to: the one its file names, or else its candidates, which twins have in common."""
        return self.pair or " / ".join(sorted(self.candidates))

    @property
    def pronoun_text(self) -> str:
        """The pronoun, lower-cased."""
        return self.sentence[slice(*self.pronoun)].lower()

    @property
    def overlapping(self) -> bool:
        """Whether two of the three spans share a character."""
        return any(first[1] > second[0] for first, second in pairwise(sorted(self.spans)))


@dataclass(frozen=True)
class RejectedLine:
    """A line of a file that holds no case: its number from 1, and why."""

    number: int
    reason: str


@dataclass(frozen=True)
class PronounCases:
    """The cases of a file, in its order, and the lines that hold none."""

    cases: tuple[PronounCase, ...]
    rejected: tuple[RejectedLine, ...] = ()

    @property
    def skipped(self) -> dict[str, int]:
        """Reason → lines left out."""
        return dict(Counter(line.reason for line in self.rejected))


def phrase_spans(sentence: str, phrase: str) -> list[Span]:
    """Spans of whole words in a sentence; capitals matter only if they distinguish what else would be several.

    In Chinese and Japanese a phrase is of whole words if it begins and ends where `model.unspaced` cuts.
    """
    if has_unspaced(phrase):
        return _unspaced_spans(sentence, phrase)
    spans = [
        [match.span() for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", sentence, flags=flags)]
        for flags in (re.NOFLAG, re.IGNORECASE)
    ]
    return spans[0] if len(spans[0]) == 1 else spans[1]


def _unspaced_spans(sentence: str, phrase: str) -> list[Span]:
    runs = re.finditer(r"\S+", sentence)
    starts = {run.start() + start for run in runs for start in word_starts(run[0])}

    def is_cut(at: int) -> bool:
        return at in starts or not re.fullmatch(r"\w\w", sentence[at - 1 : at + 1])

    spans = (match.span() for match in re.finditer(re.escape(phrase), sentence))
    return [(begin, end) for begin, end in spans if is_cut(begin) and is_cut(end)]


PRONOUNS = frozenset(("he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs"))
NOT_TWO = said("does not have exactly one antecedent and one pronoun in brackets")
NO_PARTNER = said("the neighbouring line does not give the other candidate")


class MarkedLine(NamedTuple):
    """A line of WinoBias without its number and brackets, and where the brackets were."""

    sentence: str
    antecedents: tuple[Span, ...]
    pronouns: tuple[Span, ...]

    @property
    def occupation(self) -> str | None:
        """The antecedent without article, if there is one antecedent."""
        if len(self.antecedents) != 1:
            return None
        return re.sub(r"^(the|an?)\s+", "", self.sentence[slice(*self.antecedents[0])], flags=re.IGNORECASE)


def read_brackets(line: str) -> MarkedLine:
    """Take number and brackets off; a bracket that holds a pronoun marks one, any other an antecedent."""
    sentence = ""
    antecedents: list[Span] = []
    pronouns: list[Span] = []
    for i, between in enumerate(re.split(r"\[([^\[\]]*)\]", re.sub(r"^\d+\s+", "", line))):
        part = between.strip() if i % 2 else between
        span = (len(sentence), len(sentence) + len(part))
        sentence += part
        if i % 2 and part:
            (pronouns if part.lower() in PRONOUNS else antecedents).append(span)
    return MarkedLine(sentence, tuple(antecedents), tuple(pronouns))


def winobias_case(line: MarkedLine, other: str | None) -> PronounCase | str:
    """The case of a line, or why there is none; `other`: the antecedent of its partner, once before the pronoun."""
    own = line.occupation
    if own is None or len(line.pronouns) != 1:
        return NOT_TWO
    if other is None or other.lower() == own.lower():
        return NO_PARTNER
    pronoun, (_, end) = line.pronouns[0], line.antecedents[0]
    # Both candidates with their articles, or the one with more tokens would draw more attention.
    antecedent = next((span for span in phrases(line.sentence, own) if span[1] == end), None)
    others = [span for span in phrases(line.sentence, other) if span < pronoun]
    if antecedent is None or len(others) != 1:
        return NO_PARTNER
    return PronounCase(line.sentence, pronoun, antecedent, others[0])


def phrases(sentence: str, noun: str) -> list[Span]:
    """Spans of a noun in a sentence, with its article if it has one."""
    pattern = rf"(?<!\w)(?:(?:the|an?)\s+)?{re.escape(noun)}(?!\w)"
    return [match.span() for match in re.finditer(pattern, sentence, flags=re.IGNORECASE)]


#: Language, as HTML names it → the set in it.
CURATED: Final[Mapping[str, Path]] = MappingProxyType(
    {"en": Path(__file__).with_name("curated.jsonl"), "zh": Path(__file__).with_name("curated_zh.jsonl")}
)
LARGEST_FILE: Final = 16 * 1024 * 1024
MOST_LINES: Final = 20_000
LONGEST_LINE: Final = 20_000
OVERLAP: Final = said("pronoun and candidates overlap")
TSV_COLUMNS: Final = ("sentence", "pronoun", "antecedent", "distractor", "right", "wrong")


@dataclass(frozen=True)
class Line:
    """A line that is neither blank nor the heading of a table: its number from 1, and its text or why there is none."""

    number: int
    text: str
    reason: str = ""


def curated_cases(language: str = "en") -> PronounCases:
    """A set of `CURATED` that ships: minimal pairs in groups, controls, and German to choose from if “it” decides."""
    return read_pronoun_cases(CURATED[language])


def set_language(source: str) -> str:
    """The language of the set that ships for models that read this one: English where there is none in it.

    `source` is as HTML names languages, "zh-Hans" too; "" if nobody knows.
    """
    language = source.partition("-")[0]
    return language if language in CURATED else LANGUAGES[0]


def cases_for(reader: Reader) -> PronounCases | None:
    """The set that ships in the language that a model reads; in English where that is not known.

    None where there is none in it.
    """
    source = reader.languages[0]
    return curated_cases(set_language(source)) if not source or source.partition("-")[0] in CURATED else None


def read_pronoun_cases(path: str | Path) -> PronounCases:
    """Read a file of one of the four forms. Raises as `parse_pronoun_cases`, and where it cannot be read."""
    path = Path(path)
    with read_as_data(path), path.open("rb") as file:
        content = file.read(LARGEST_FILE + 1)
    return parse_pronoun_cases(content, str(path))


def parse_pronoun_cases(content: bytes, name: str) -> PronounCases:
    """The cases of a file's content (UTF-8); the ending of its name says in which form.

    Raises a DataError if the ending is none of .jsonl, .tsv, .txt, the file is too large, or no line can be used.
    """
    path = Path(name)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            "Expected a .jsonl file (Winograd rows or your own), a .tsv file (sentence, pronoun, antecedent, "
            "distractor) or a .txt file (WinoBias lines), got {name}.",
            name=path.name,
        )
    if len(content) > LARGEST_FILE:
        message = "{path} is too large: at most {largest_file} MiB can be read. Cut it into parts."
        raise DataError(message, path=path, largest_file=LARGEST_FILE // 1024**2)
    lines = list(_lines(content))
    if path.suffix.lower() == ".jsonl":
        lines = [line for line in lines if not line.text.startswith("#")]
    if len(lines) > MOST_LINES:
        message = "{path} has {num_lines:,} lines; at most {most_lines:,} can be read. Cut it into parts."
        raise DataError(message, path=path, num_lines=len(lines), most_lines=MOST_LINES)
    cases: list[PronounCase] = []
    rejected: list[RejectedLine] = []
    for line, outcome in zip(lines, reader(lines, path), strict=True):
        if isinstance(outcome, str):
            rejected.append(RejectedLine(line.number, outcome))
        elif outcome.overlapping:
            rejected.append(RejectedLine(line.number, OVERLAP))
        else:
            cases.append(outcome)
    if not cases:
        message = "{path} contains no row with a pronoun and two candidates: {reasons}."
        raise DataError(message, path=path, reasons=_reasons(rejected))
    return PronounCases(tuple(cases), tuple(rejected))


def _reasons(rejected: Sequence[RejectedLine]) -> Message:
    """The most frequent reasons, each with the first line it is about."""
    if not rejected:
        return said("it is empty")
    first = {str(line.reason): line for line in reversed(rejected)}
    counts = Counter(str(line.reason) for line in rejected).most_common(3)
    parts = [
        said("{count} × {reason} (line {line})", count=count, reason=first[text].reason, line=first[text].number)
        for text, count in counts
    ]
    return reduce(lambda before, last: said("{before}; {last}", before=before, last=last), parts)


def _lines(content: bytes) -> Iterator[Line]:
    # Only a line feed ends a line: U+2028 and the like may occur in a text.
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            text = raw.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            yield Line(number, "", said("expected UTF-8 text, got the byte {byte:#04x}", byte=raw[error.start]))
            continue
        if len(text) > LONGEST_LINE:
            yield Line(number, "", said("is longer than {most:,} characters", most=LONGEST_LINE))
        elif text and tuple(text.lower().split("\t")) not in (TSV_COLUMNS, TSV_COLUMNS[:4]):
            yield Line(number, text)


Outcome = PronounCase | str
"""A case, or why a line holds none."""


def _each(read: Callable[[Path, Line], Outcome], lines: Sequence[Line], path: Path) -> Iterator[Outcome]:
    """The outcome of each line by itself."""
    for line in lines:
        try:
            yield line.reason or read(path, line)
        except LineError as error:
            yield error.reason


def _read_json(path: Path, line: Line) -> PronounCase:
    row = parse_json_row(path, line.number, line.text)
    return _winograd_case(row) if "tokens" in row.fields else _own_case(row)


def _winograd_case(row: JsonRow) -> PronounCase:
    """The spans of characters of one row's spans of tokens."""
    sentence, tokens = _clean(row, "sentence"), row.words("tokens")
    tokens_of = [row.span(name, len(tokens)) for name in TSV_COLUMNS[1:4]]
    try:
        words = find_words(sentence, tokens)
    except DataError as error:
        raise row.line_error(error.message) from error
    pronoun, antecedent, distractor = ((words[begin][0], words[end - 1][1]) for begin, end in tokens_of)
    return PronounCase(sentence, pronoun, antecedent, distractor)


def _own_case(row: JsonRow) -> PronounCase:
    sentence = _clean(row, "sentence")
    pronoun, antecedent, distractor = (_own_span(row, name, sentence) for name in TSV_COLUMNS[1:4])
    name, pair, group = (_clean(row, field) if field in row.fields else "" for field in ("id", "pair", "group"))
    given = [_clean(row, field) if field in row.fields else "" for field in ("right", "wrong")]
    is_control, is_dropped = _is_set(row, "control"), _is_set(row, "dropped")
    if is_dropped and not is_control:
        raise row.line_error("expected “control” to be true if “dropped” is: without a pronoun, nothing is scored")
    german = _german(row, *given)
    return PronounCase(sentence, pronoun, antecedent, distractor, name, pair, group, german, is_control, is_dropped)


def _is_set(row: JsonRow, name: str) -> bool:
    value = row.fields.get(name, False)
    if not isinstance(value, bool):
        raise row.line_error("expected “{name}” to be true or false, got {value!r}", name=name, value=str(value)[:60])
    return value


def _own_span(row: JsonRow, name: str, sentence: str) -> Span:
    if isinstance(row.fields.get(name), list):
        return row.span(name, len(sentence))
    return _only_span(row, name, _clean(row, name), sentence)


def _read_tsv(path: Path, line: Line) -> PronounCase:
    cells = [cell.strip() for cell in line.text.split("\t")]
    row = JsonRow(path, line.number, dict(zip(TSV_COLUMNS, cells, strict=False)))
    if len(cells) not in (4, 6):
        message = "expected 4 or 6 columns ({tsv_columns}), got {num_cells}"
        raise row.line_error(message, tsv_columns=", ".join(TSV_COLUMNS), num_cells=len(cells))
    sentence = row.text("sentence")
    pronoun, antecedent, distractor = (_only_span(row, name, row.text(name), sentence) for name in TSV_COLUMNS[1:4])
    german = _german(row, *cells[4:]) if len(cells) == 6 else None
    return PronounCase(sentence, pronoun, antecedent, distractor, german=german)


def _only_span(row: JsonRow, name: str, phrase: str, sentence: str) -> Span:
    """The only span of a phrase in the sentence."""
    spans = phrase_spans(sentence, phrase)
    if not spans:
        raise row.line_error("the {name} “{phrase}” does not occur in the sentence", name=name, phrase=phrase[:60])
    if len(spans) > 1:
        advice = said("name more of its words, or give characters [begin, end] in a .jsonl file")
        message = "the {name} “{phrase}” occurs {num_spans} times in the sentence; {advice}"
        raise row.line_error(message, name=name, phrase=phrase[:60], num_spans=len(spans), advice=advice)
    return spans[0]


def _german(row: JsonRow, right: str, wrong: str) -> GermanChoice | None:
    if not right and not wrong:
        return None
    words = right.split(), wrong.split()
    if len(words[0]) != len(words[1]) or sum(word != other for word, other in zip(*words, strict=True)) != 1:
        raise row.line_error("expected “right” and “wrong” to differ in one word, the pronoun")
    return GermanChoice(right, wrong)


def _clean(row: JsonRow, name: str) -> str:
    """A text that can be written: JSON may hold half a surrogate pair."""
    text = row.text(name)
    if has_surrogate(text):
        raise row.line_error("expected “{name}” to be a text, got half a surrogate pair", name=name)
    return text


def _read_winobias(lines: Sequence[Line], _: Path) -> Iterator[Outcome]:
    marked = [read_brackets(line.text) for line in lines]
    for i, line in enumerate(lines):
        partner = marked[i ^ 1] if i ^ 1 < len(lines) else None
        yield line.reason or winobias_case(marked[i], None if partner is None else partner.occupation)


READERS: Final[dict[str, Callable[[Sequence[Line], Path], Iterator[Outcome]]]] = {
    ".jsonl": partial(_each, _read_json),
    ".tsv": partial(_each, _read_tsv),
    ".txt": _read_winobias,
}

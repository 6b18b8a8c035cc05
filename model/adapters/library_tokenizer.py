"""Spell the tokens of every kind of Hugging Face tokenizer alike.

A piece that begins a word has "▁" in front (GPT-2 writes "Ġ", BERT writes "##" before pieces that do *not*); a byte
that is no whole character is "<0xF0>"; special tokens stay as their model writes them. So whole words, labels and
exports need to know one spelling only.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from threading import Lock
from types import MappingProxyType
from typing import Any, Final, Literal, Self

from model.checked import without_surrogates
from model.errors import HeadlightError, InputTextError, TokenError
from model.languages import NOTHING_OFFERED, Offered, check_code, html_language
from model.sources.source import WORD_BEGIN
from model.tokenizer import visible_spans
from model.trace.axes import LINE_END, SEGMENTS
from model.trace.trace import TokenInputs
from model.unspaced import BLANKS, spelled_byte

Spelling = Literal["metaspace", "bytes", "wordpiece", "raw bytes", "words"]
#: Two pieces, what a tokenizer makes of them that marks its pieces so, and what that is called.
_JOINED: Final[tuple[tuple[tuple[str, str], str, Spelling], ...]] = (
    (("a", f"{WORD_BEGIN}b"), "a b", "metaspace"),
    (("a", "Ġb"), "a b", "bytes"),
    (("a", "##b"), "ab", "wordpiece"),
    # The two bytes of é, each as the character of its number (ByT5; GPT-2 gives other bytes other characters).
    (("Ã", "©"), "é", "raw bytes"),
)
_SIGNS: Final[dict[str, Spelling]] = {WORD_BEGIN: "metaspace", "Ġ": "bytes", "##": "wordpiece"}


#: A text with many common words, from which it shows by which vocabulary ids are spelled.
_TRIED: Final = "The animal didn't cross the street because it was too tired. 1, 2 and 3."
NO_NAMES: Final[Mapping[int, str]] = MappingProxyType({})
#: What a tokenizer gives that is not input of each token for the model, but for one that is always made here.
_NOT_OF_TOKENS: Final = ("input_ids", "attention_mask", "special_tokens_mask", "offset_mapping")


@dataclass(frozen=True)
class Encoded:
    """A text, or two as a pair, as token ids, and these as tokens."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    names: tuple[str, ...] = ()  #: the tokens as WordPiece writes them; empty of others
    token_inputs: TokenInputs = ()  #: what the tokenizer gives of each token beside its id, for example its type
    #: of a pair, which of its texts each token is of (`model.trace.axes.SEGMENTS`); empty where that is not known.
    segments: tuple[str, ...] = ()


class LibraryTokenizer:
    """A tokenizer of `transformers`, with tokens spelled as everywhere here. Safe to share between threads.

    Attributes:
        offered: the languages that it lets one choose.
        spoken: the codes of those that are chosen; "" where nothing is.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        # Some tokenizers are set to the source's or the target's language, and back, in every call (mBART, NLLB).
        self._calling = Lock()
        self.offered = _offered(tokenizer)
        self.spoken = self.offered.chosen
        added = {int(number): token for number, token in tokenizer.added_tokens_decoder.items()}
        special = {number for number, token in added.items() if token.special} | set(tokenizer.all_special_ids)
        self.special_ids = frozenset(special)
        self.special_tokens = frozenset(str(tokenizer.convert_ids_to_tokens(number)) for number in special)
        self._verbatim = {number: str(token.content) for number, token in added.items()}
        self._known: dict[int, str] = {}
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        self._of_source = _names_of_source(tokenizer, vocabulary)
        self._spelling = _spelling_of(tokenizer, vocabulary)
        self.byte_ids = frozenset(_byte_ids(tokenizer, vocabulary, self._spelling) - self._verbatim.keys())

    @property
    def languages(self) -> tuple[str, str]:
        """Those that are chosen, or that its settings name, as HTML names them; "" where nothing is."""
        named = (str(getattr(self.tokenizer, name, "")) for name in ("source_lang", "target_lang"))
        reads, writes = (
            html_language(code) or html_language(own) for code, own in zip(self.spoken, named, strict=True)
        )
        return reads, writes

    def speaking(self, reads: str = "", writes: str = "") -> Self:
        """The same in these languages, "" for the one chosen. Raises an InputTextError if one is not offered."""
        made = copy.copy(self)
        made.spoken = replace(self.offered, chosen=self.spoken).with_choice(reads, writes)
        made.__dict__.pop("language_id", None)
        return made

    @cached_property
    def language_id(self) -> int | None:
        """The token by which a target says its language; None where languages are not chosen."""
        if not self.offered.reads:
            return None
        # What an empty target has beside the tokens that begin and end it.
        plain = {self.tokenizer.bos_token_id, self.tokenizer.eos_token_id, self.tokenizer.pad_token_id}
        ids = [token_id for token_id in self.encode("", is_target=True).ids if token_id not in plain]
        return ids[0] if len(ids) == 1 else None

    def language_of(self, token_id: int | None) -> str:
        """The code of the language that a token stands for; "" of any other token."""
        # M2M100 writes "__fr__" for "fr".
        token = "" if token_id is None else str(self.tokenizer.convert_ids_to_tokens(token_id)).strip("_")
        return token if token in self.offered.writes else ""

    def beginning_with(self, token_ids: Sequence[int | None]) -> Self:
        """The same tokenizer for a model whose settings begin a target so: the first that is a language is written."""
        writes = next(filter(None, map(self.language_of, token_ids)), "")
        if not writes:
            return self
        made = self.speaking(writes=writes)
        made.offered = replace(self.offered, chosen=made.spoken)
        return made

    def naming(self, names: Mapping[int, str]) -> Self:
        """The same, which calls these special tokens so: Whisper's timestamps are in no file of a tokenizer."""
        made = copy.copy(self)
        made._verbatim, made._known = {**names, **self._verbatim}, {}
        made.special_ids = self.special_ids | names.keys()
        made.special_tokens = self.special_tokens | set(names.values())
        return made

    def encode(self, text: str, second: str = "", *, is_target: bool = False, with_special: bool = True) -> Encoded:
        """Token ids of a text, or of a pair with a second one, with the special tokens that the model expects."""
        options = {"return_offsets_mapping": self._has_offsets}
        encoding = self._called(text, second, with_special, is_target=is_target, **options)
        ids = tuple(map(int, encoding["input_ids"]))
        tokens = list(self.tokens(ids) if is_target else self.source_tokens(ids))
        if self._spelling in ("wordpiece", "words") and self._has_offsets:
            offsets = encoding["offset_mapping"]
            for i in range(1, len(ids)):
                # "didn't" is three pieces of one word, none of which is marked as going on.
                if ids[i] not in self._verbatim and offsets[i][0] == offsets[i - 1][1] > 0:
                    tokens[i] = tokens[i].removeprefix(WORD_BEGIN) or tokens[i]
        is_wordpiece = self._spelling == "wordpiece"
        names = tuple(map(str, self.tokenizer.convert_ids_to_tokens(list(ids)))) if is_wordpiece else ()
        # A mask of what is padded says nothing of one text, and its name is not that of a number of each token.
        beside = {str(name): values for name, values in encoding.items() if name not in _NOT_OF_TOKENS}
        token_inputs = tuple(
            (name, tuple(map(int, values)))
            for name, values in sorted(beside.items())
            if isinstance(values, list) and len(values) == len(ids) and all(isinstance(one, int) for one in values)
        )
        return Encoded(ids, tuple(tokens), names, token_inputs, self._segments(encoding) if second else ())

    def _segments(self, encoding: Any) -> tuple[str, ...]:
        """Which text of a pair each token is of; a special token is of that before it, the first one of the first."""
        if not self._has_offsets:
            return ()
        at, segments = 0, []
        for text in encoding.sequence_ids():
            at = at if text is None else text
            segments.append(SEGMENTS[at])
        return tuple(segments)

    def offsets(
        self, text: str, second: str = "", *, is_target: bool = False, with_special: bool = True
    ) -> list[tuple[int, int]] | None:
        """The characters of the text behind each token of `encode`, (0, 0) for one that was added or is of the second
        text; None if unknown.
        """
        if not self._has_offsets:
            return None if second or not with_special else self._offsets_of_pieces(text, is_target=is_target)
        encoding = self._called(text, second, with_special, is_target=is_target, return_offsets_mapping=True)
        of_second = [part == 1 for part in encoding.sequence_ids()]
        return [
            (0, 0) if is_second else (int(begin), int(end))
            for (begin, end), is_second in zip(encoding["offset_mapping"], of_second, strict=True)
        ]

    def _offsets_of_pieces(self, text: str, *, is_target: bool) -> list[tuple[int, int]] | None:
        """The same by the SentencePiece model that cuts a text (MarianMT); None if there is none, or it cuts others."""
        cutter: Any = getattr(self.tokenizer, "spm_target" if is_target else "spm_source", None)
        if cutter is None:
            return None
        clean, ids = without_surrogates(text), self.encode(text, is_target=is_target).ids
        code, rest = ("", clean) if is_target else self._named_language(clean)
        at = len(clean) - len(rest)
        encoding = cutter.encode(rest, return_type="offset_mapping")
        pieces = [*([code] if code else []), *encoding["pieces"]]
        if tuple(self.tokenizer.convert_tokens_to_ids(pieces)) != ids[: len(pieces)] and not self._of_source:
            return None
        spans = visible_spans(clean, [(begin + at, end + at) for begin, end in encoding["offsets"]])
        found = [*([(0, at)] if code else []), *spans]
        return [*found, *[(0, 0)] * (len(ids) - len(found))]

    def _named_language(self, text: str) -> tuple[str, str]:
        """The token of the language in which a text is to be written (MarianMT), and the text behind it.

        It stands in front of the text, or is chosen; "" if there is none. Raises an InputTextError if it is unknown.
        """
        if self.offered.reads or not self.offered.writes:
            return "", text
        code, mark, rest = text.partition("<<")
        if mark and code.startswith(">>"):
            check_code(code.removeprefix(">>"), self.offered.writes)
            return code + mark, rest
        return (f">>{self.spoken[1]}<<" if self.spoken[1] else ""), text

    def _called(self, text: str, second: str, with_special: bool, *, is_target: bool = False, **options: bool) -> Any:
        """What the tokenizer makes of a text, or of a pair, in the languages that are chosen."""
        text = without_surrogates(text) if is_target else "".join(self._named_language(without_surrogates(text)))
        given = {"text_target" if is_target else "text": text}
        if second:
            given["text_pair"] = without_surrogates(second)
        with self._calling, _failures_said():
            if self.offered.reads:
                self.tokenizer.src_lang, self.tokenizer.tgt_lang = self.spoken
            return self.tokenizer(**given, add_special_tokens=with_special, verbose=False, **options)

    def source_tokens(self, token_ids: Sequence[int]) -> tuple[str, ...]:
        """The tokens of a source's ids, which some tokenizers number by a vocabulary of their own."""
        return self.tokens(token_ids, self._of_source)

    @property
    def has_two_vocabularies(self) -> bool:
        """Whether a source's ids are others than a target's."""
        return bool(self._of_source)

    @property
    def source_size(self) -> int:
        """How many ids the vocabulary of a source has, where it is one of its own; else 0."""
        return max(self._of_source, default=-1) + 1

    def tokens(self, token_ids: Sequence[int], names: Mapping[int, str] = NO_NAMES) -> tuple[str, ...]:
        """The tokens of ids, whatever text they come from; by these names instead of the tokenizer's, if any."""
        spelled: list[str] = []
        for number in map(int, token_ids):
            token = self._spell(number, names)
            after_line = bool(spelled) and spelled[-1].endswith(LINE_END)
            begins = token.startswith((WORD_BEGIN, LINE_END)) or number in self._verbatim
            spelled.append(WORD_BEGIN + token if after_line and not begins else token)
        return tuple(spelled)

    def token_id(self, token: str) -> int:
        """The id of a token that is spelled so. Raises a TokenError if there is none."""
        if token not in self._ids:
            message = "{token!r} is not a token of this vocabulary. A token at the beginning of a word starts with “▁”."
            raise TokenError(message, token=token)
        return self._ids[token]

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of token ids; special tokens leave no trace."""
        with _failures_said():
            return str(self.tokenizer.decode(list(token_ids), skip_special_tokens=True))

    @property
    def chat_template(self) -> object:
        """The chat template of its folder, or several by their names; None where there is none. Not checked."""
        return getattr(self.tokenizer, "chat_template", None)

    @property
    def template_variables(self) -> dict[str, object]:
        """What a chat template sees beside the messages: the special tokens by their names."""
        named = self.tokenizer.special_tokens_map
        return {
            str(name): [str(one) for one in value] if isinstance(value, list | tuple) else str(value)
            for name, value in named.items()
        }

    @cached_property
    def _ids(self) -> dict[str, int]:
        """Spelled token → the first id that is spelled so."""
        return {self._spell(number): number for number in reversed(range(len(self.tokenizer)))}

    @property
    def _has_offsets(self) -> bool:
        return bool(self.tokenizer.is_fast)

    def _spell(self, number: int, names: Mapping[int, str] = NO_NAMES) -> str:
        if names:
            return self._spelled_as(number, names.get(number))
        # A trace names two dozen candidates a step, mostly the same ones.
        if (known := self._known.get(number)) is None:
            known = self._known[number] = self._spelled_as(number, _piece(self.tokenizer, number))
        return known

    def _spelled_as(self, number: int, piece: str | None) -> str:
        if number in self._verbatim:
            return self._verbatim[number]
        if piece is None:
            # Some models have more rows of embeddings than their tokenizer has pieces.
            return f"<id {number}>"
        if number in self.special_ids:
            return str(piece)
        if self._spelling in ("bytes", "raw bytes"):
            return _from_bytes(str(piece), self._spelling)
        if number in self.byte_ids:
            return spelled_byte(str(piece))
        if self._spelling == "metaspace":
            return str(piece).translate(BLANKS)
        goes_on = self._spelling == "wordpiece" and piece.startswith("##")
        return str(piece).removeprefix("##") if goes_on else WORD_BEGIN + str(piece)


#: What is written until somebody chooses, where the files do not say: the first of these that a tokenizer has.
_WRITTEN: Final = ("de", "en")


def _offered(tokenizer: Any) -> Offered:
    """The languages that a tokenizer marks texts with; nothing where it marks none."""
    if marks := getattr(tokenizer, "supported_language_codes", ()):  # MarianMT: one in front of the source, ">>deu<<"
        return Offered(writes=tuple(str(mark)[2:-2] for mark in marks))
    if not hasattr(tokenizer, "set_src_lang_special_tokens"):
        return NOTHING_OFFERED
    # Some have a table of codes, the others only the special tokens that are codes.
    codes = tuple(map(str, getattr(tokenizer, "lang_code_to_id", ()))) or tuple(
        code for code in map(str, tokenizer.extra_special_tokens) if html_language(code)
    )
    reads = str(tokenizer.src_lang)
    if reads not in codes:
        return NOTHING_OFFERED
    others = [code for code in codes if code != reads]
    wanted = [code for language in _WRITTEN for code in others if html_language(code) == language]
    writes = tokenizer.tgt_lang if tokenizer.tgt_lang in codes else [*wanted, *others, reads][0]
    return Offered(codes, codes, (reads, str(writes)))


@contextmanager
def _failures_said() -> Iterator[None]:
    """What goes wrong in the block raises an InputTextError: a tokenizer's files may hold any expression."""
    try:
        yield
    except HeadlightError:
        raise
    except BaseException as error:
        # A panic of compiled code is not an Exception, so that nobody catches it without meaning to.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise InputTextError(
            "The tokenizer of this model fails on this text ({type_name}). Change the text, or choose another model.",
            type_name=type(error).__name__,
        ) from error


def _spelling_of(tokenizer: Any, vocabulary: Mapping[str, int]) -> Spelling:
    """By which sign pieces say whether they begin a word: by what the tokenizer itself makes of two of them.

    One without a decoder joins all pieces by spaces; there the sign that most pieces have tells, and where none has a
    sign, every piece is a word.
    """
    for pieces, text, spelling in _JOINED:
        if _joined(tokenizer, pieces) == text:
            return spelling
    counts = {sign: sum(piece.startswith(sign) for piece in vocabulary) for sign in _SIGNS}
    most = max(counts, key=lambda sign: counts[sign])
    return _SIGNS[most] if counts[most] else "words"


def _names_of_source(tokenizer: Any, vocabulary: Mapping[str, int]) -> Mapping[int, str]:
    """Id → piece of a source, of a tokenizer that spells ids by another vocabulary, that of the target; else nothing.

    It is asked on a text: its ids are those of its vocabulary's pieces, but it spells them otherwise.
    """
    with _failures_said():
        ids = list(map(int, tokenizer(_TRIED, verbose=False)["input_ids"]))
    names = {number: piece for piece, number in vocabulary.items()}
    if not all(number in names for number in ids) or all(names[i] == _piece(tokenizer, i) for i in ids):
        return NO_NAMES
    return names


def _piece(tokenizer: Any, number: int) -> str | None:
    try:
        piece = tokenizer.convert_ids_to_tokens(number)
    except (IndexError, KeyError):  # As one does that asks a SentencePiece model for a piece that it lacks.
        return None
    return None if piece is None else str(piece)


def _byte_ids(tokenizer: Any, vocabulary: Mapping[str, int], spelling: Spelling) -> set[int]:
    """The ids of the pieces that are single bytes and no whole character; with byte fallback, of all single bytes."""
    if spelling in ("bytes", "raw bytes"):
        names = [sign for sign, byte in _bytes_of_signs(spelling).items() if byte >= 0x80]
    else:
        # A word of a vocabulary may look like a byte: whether it is one, its tokenizer knows.
        names = [f"<0x{byte:02X}>" for byte in range(256)] if _joined(tokenizer, ("<0x28>",)) == "(" else []
    return {vocabulary[name] for name in names if name in vocabulary}


def _joined(tokenizer: Any, pieces: Sequence[str]) -> str:
    """The text that a tokenizer makes of pieces; "" if it fails on them, as one may that lacks them."""
    try:
        return str(tokenizer.convert_tokens_to_string(list(pieces)))
    except Exception:  # Whatever a class of the library, or what its files say, thinks of pieces that it lacks.
        return ""


def _from_bytes(piece: str, spelling: Spelling) -> str:
    """A byte-level piece as text; bytes that are no whole character by their numbers."""
    table = _bytes_of_signs(spelling)
    if any(sign not in table for sign in piece):
        return piece
    raw = bytes(table[sign] for sign in piece)
    # Bytes that are not UTF-8 come back as lone surrogates, U+DC80 to U+DCFF.
    text = raw.decode("utf-8", errors="surrogateescape").translate(BLANKS)
    return "".join(f"<0x{ord(sign) - 0xDC00:02X}>" if "\udc80" <= sign <= "\udcff" else sign for sign in text)


@cache
def _bytes_of_signs(spelling: Spelling) -> dict[str, int]:
    """The byte of each sign: of raw bytes its number, of others as in GPT-2's byte-level vocabulary (Radford et al.
    2019, encoder.py), whose signs are printable.
    """
    if spelling == "raw bytes":
        return {chr(byte): byte for byte in range(256)}
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + number): byte for number, byte in enumerate(others)}

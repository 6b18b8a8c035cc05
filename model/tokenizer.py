"""Encode text as token ids and back with SentencePiece; byte fallback leaves no character unknown."""

import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import sentencepiece as spm
from google.protobuf.message import DecodeError
from sentencepiece import sentencepiece_model_pb2

from model.checked import Malformed, without_surrogates
from model.config import ModelConfig
from model.errors import CheckpointError, ConfigError, TokenError
from model.folder_files import read_file
from model.unspaced import byte_piece, spelled_byte

#: Characters that may replace a few others. Unicode's longest compatibility decomposition, that of U+FDFA, has 18.
LONGEST_REPLACEMENT: Final = 64


def check_normalizer(serialized: bytes) -> None:
    """Make sure that no replacement of a SentencePiece model's normalizer is long; whether it is one, others find out.

    A `precompiled_charsmap` holds the length of a trie in four bytes, the trie, and the replacements, each ended by a
    zero (normalizer.cc of SentencePiece). Raises a Malformed if one is.
    """
    try:
        model = sentencepiece_model_pb2.ModelProto.FromString(serialized)  # type: ignore[attr-defined]
    except DecodeError:
        return
    for spec in (model.normalizer_spec, model.denormalizer_spec):
        check_charsmap(spec.precompiled_charsmap)


def check_charsmap(charsmap: bytes) -> None:
    """Make sure that no replacement of a `precompiled_charsmap` is long. Raises a Malformed if one is."""
    replacements = charsmap[4 + int.from_bytes(charsmap[:4], "little") :].split(b"\0")
    longest = max(len(one.decode("utf-8", errors="replace")) for one in replacements)
    if longest > LONGEST_REPLACEMENT:
        message = "its normalizer turns one character into {longest:,}; the limit is {most}"
        raise Malformed(message, longest=longest, most=LONGEST_REPLACEMENT)


SPECIAL_TOKENS = ("<pad>", "<unk>", "<s>", "</s>")
#: Bytes beyond which a file is refused.
LARGEST = 32 << 20


class Tokenizer:
    """A joint vocabulary of source and target.

    A piece that begins a word carries "▁" in front; a character outside the vocabulary becomes its bytes, "<0xF0>" …,
    of which one that is a whole character is spelled as that character: "(".
    Text that looks like a special token ("</s>") is read as ordinary characters.
    """

    def __init__(self, serialized: bytes) -> None:
        """Take the bytes of a SentencePiece model with byte fallback; a CheckpointError if they are none."""
        self.serialized = serialized
        try:
            check_normalizer(serialized)
            self._processor = spm.SentencePieceProcessor(model_proto=serialized)
            size = self._processor.get_piece_size()
        except Malformed as error:
            raise CheckpointError("tokenizer.model cannot be used: {error}.", error=error) from error
        except RuntimeError as error:
            raise CheckpointError(
                "tokenizer.model is not a SentencePiece model; copy it again from its source."
            ) from error
        self.byte_ids = frozenset(i for i in range(size) if self._processor.is_byte(i))
        if not self.byte_ids:
            raise CheckpointError(
                "tokenizer.model has no byte fallback; train one with "
                "`python -m model train --data FILE.tsv --run RUN --out CHECKPOINT`."
            )

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        """Read a SentencePiece model file. Raises as `read_file`, and as the class."""
        return cls(read_file(path.parent, path.name, LARGEST))

    @classmethod
    def train(cls, sentences: Iterable[str], config: ModelConfig, rules: Path | None = None) -> "Tokenizer":
        """Learn a unigram vocabulary of `config.vocab_size` pieces, special ids as the configuration says.

        `rules` are a file of SentencePiece's rules of normalization, instead of its NFKC, whose table takes 240 kB.
        Raises a ConfigError if the text holds too few different pieces for a vocabulary of this size.
        """
        model = io.BytesIO()
        normalization: dict[str, Any] = {"normalization_rule_name": "nmt_nfkc"}
        if rules is not None:
            normalization = {"normalization_rule_tsv": str(rules)}
        try:
            spm.SentencePieceTrainer.train(
                sentence_iterator=iter(sentences),
                model_writer=model,
                vocab_size=config.vocab_size,
                model_type="unigram",
                byte_fallback=True,
                character_coverage=0.9999,
                **normalization,
                pad_id=config.pad_id,
                unk_id=config.unk_id,
                bos_id=config.bos_id,
                eos_id=config.eos_id,
                num_threads=2,
                minloglevel=2,
            )
        except RuntimeError as error:
            raise _no_vocabulary(config.vocab_size, str(error)) from error
        return cls(model.getvalue())

    @property
    def vocab_size(self) -> int:
        """Number of pieces, special tokens and bytes included."""
        return int(self._processor.get_piece_size())

    def encode(self, text: str) -> list[int]:
        """Token ids of a text, without special tokens."""
        return list(self._processor.encode(without_surrogates(text)))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of many texts, without special tokens."""
        return [list(ids) for ids in self._processor.encode(list(texts))]

    def segmentations(self, text: str, count: int) -> list[list[int]]:
        """Up to `count` ways to cut a text into pieces, the likeliest first (Kudo 2018, §3.2)."""
        return [list(ids) for ids in self._processor.nbest_encode_as_ids(without_surrogates(text), count)]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The characters [begin, end) of the text behind each token id that `encode` gives, without white space.

        A piece that is not a character of its own (a "▁" alone, all but the last byte of a character, the first pieces
        of a character that is written as several) has the span of the piece after it.
        """
        clean = without_surrogates(text)
        return visible_spans(clean, self._processor.encode(clean, return_type="offset_mapping")["offsets"])

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of token ids; special tokens leave no trace."""
        special = {self._processor.pad_id(), self._processor.bos_id(), self._processor.eos_id()}
        return str(self._processor.decode([int(i) for i in token_ids if i not in special]))

    def tokens(self, token_ids: Sequence[int]) -> tuple[str, ...]:
        """The pieces of token ids."""
        ids = [int(i) for i in token_ids]
        pieces = self._processor.id_to_piece(ids)
        return tuple(spelled_byte(piece) if i in self.byte_ids else piece for i, piece in zip(ids, pieces, strict=True))

    def token_id(self, token: str) -> int:
        """The id of a piece. Raises a TokenError if the vocabulary has no such piece."""
        token_id = int(self._processor.piece_to_id(token))
        if self._processor.is_unknown(token_id):
            token_id = int(self._processor.piece_to_id(byte_piece(token)))
        if self._processor.is_unknown(token_id) and token != "<unk>":
            message = "{token!r} is not a token of this vocabulary. A token at the beginning of a word starts with “▁”."
            raise TokenError(message, token=token)
        return token_id

    def check(self, config: ModelConfig) -> None:
        """Raise a CheckpointError if a model of this configuration has other ids."""
        p = self._processor
        own = (self.vocab_size, p.pad_id(), p.unk_id(), p.bos_id(), p.eos_id())
        expected = (config.vocab_size, config.pad_id, config.unk_id, config.bos_id, config.eos_id)
        if own != expected:
            message = (
                "tokenizer.model and config.json do not belong together: (vocab_size, pad, unk, bos, eos) is {own} in "
                "the tokenizer and {expected} in the configuration."
            )
            raise CheckpointError(message, own=own, expected=expected)


def _no_vocabulary(size: int, reason: str) -> ConfigError:
    """What to say where SentencePiece, for this reason, learned no vocabulary of this size."""
    if most := re.search(r"<= (\d+)", reason):
        message = (
            "No vocabulary of {size:,} tokens can be built from this text: it has too few different words. Request at "
            "most {most:,}, or give more text."
        )
        return ConfigError(message, size=size, most=int(most[1]))
    if least := re.search(r"\d+ vs (\d+)", reason):
        message = (
            "This text needs a vocabulary of more than {size:,} tokens: 256 bytes, 4 special tokens and its own "
            "characters come to {least:,}. Request at least {least:,}."
        )
        return ConfigError(message, size=size, least=int(least[1]))
    return ConfigError("No vocabulary can be built from this text: it has no characters. Use a text with sentences.")


def visible_spans(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The characters [begin, end) of a text behind each piece without white space at their ends.

    A piece that is not a character of its own has the span of the piece after it.
    """
    reversed_spans: list[tuple[int, int]] = []
    following = (len(text), len(text))
    for begin, end in reversed(spans):
        visible = text[begin:end].lstrip()
        following = (end - len(visible), end - len(visible) + len(visible.rstrip())) if visible else following
        reversed_spans.append(following)
    return reversed_spans[::-1]

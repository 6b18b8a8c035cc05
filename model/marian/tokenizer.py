"""Encode and decode text as MarianMT models do: two SentencePiece models, and pieces numbered by one vocab.json."""

from collections.abc import Sequence

import sentencepiece as spm

from model import checked
from model.checked import Malformed
from model.config import ModelConfig
from model.errors import CheckpointError, TokenError, said
from model.languages import Offered, check_code
from model.marian.files import targets
from model.tokenizer import Tokenizer, check_normalizer, visible_spans, without_surrogates
from model.unspaced import byte_piece, spelled_byte

PAD, UNK, EOS = "<pad>", "<unk>", "</s>"
LARGEST_ID = 1_000_000


class MarianTokenizer(Tokenizer):
    """The tokenizer of a MarianMT folder; it does all that ours does, mostly without byte fallback.

    A multilingual model is told its target language by a token in front, ">>deu<< The cat sleeps."; `offered` lists
    them, and the one that is chosen comes in front of every text that has none. Text that looks like a special token
    ("</s>") is read as ordinary characters. Raises a CheckpointError if a file is not what it should be.

    Args:
        source, target: contents of source.spm and target.spm.
        vocabulary: content of vocab.json, piece → id.
    """

    def __init__(self, source: bytes, target: bytes, vocabulary: bytes) -> None:
        self._source, self._target = _processor(source, "source.spm"), _processor(target, "target.spm")
        self.serialized = source + target + vocabulary
        self._ids = _vocabulary(vocabulary)
        self._pieces = dict(zip(self._ids.values(), self._ids, strict=True))
        self.pad_id, self.unk_id, self.eos_id = (self._ids[token] for token in (PAD, UNK, EOS))
        self._size = max(self._pieces) + 1
        cutters = (self._source, self._target)
        bytes_there = {one.id_to_piece(i) for one in cutters for i in range(one.get_piece_size()) if one.is_byte(i)}
        self.byte_ids = frozenset(self._ids[piece] for piece in bytes_there & self._ids.keys())
        self.offered = Offered(writes=targets(self._ids))

    @property
    def vocab_size(self) -> int:
        """Ids that a piece may have: the largest and those below it."""
        return self._size

    def encode(self, text: str) -> list[int]:
        """Token ids, that of a language first, no other special ones. Raises an InputTextError if it is unknown."""
        language, rest = self._split(without_surrogates(text))
        pieces = ([language] if language else []) + list(self._source.encode(rest, out_type=str))
        return [self._ids.get(piece, self.unk_id) for piece in pieces]

    def _split(self, text: str) -> tuple[str, str]:
        """The token of a language, in front of a text or chosen ("" if there is none), and the text behind it."""
        language, mark, rest = text.partition("<<")
        if not (mark and language.startswith(">>")):
            _, chosen = self.offered.chosen
            return (f">>{chosen}<<" if chosen else ""), text
        if self.offered.writes:
            check_code(language.removeprefix(">>"), self.offered.writes)
        return language + mark, rest

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of many texts, as `encode`."""
        return [self.encode(text) for text in texts]

    def encode_target(self, text: str) -> list[int]:
        """Token ids of a translation, cut as the target language's SentencePiece model cuts."""
        return [
            self._ids.get(piece, self.unk_id) for piece in self._target.encode(without_surrogates(text), out_type=str)
        ]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The characters [begin, end) of the text behind each token id that `encode` gives, without white space."""
        clean = without_surrogates(text)
        language, rest = self._split(clean)
        spans = self._source.encode(rest, return_type="offset_mapping")["offsets"]
        before = len(clean) - len(rest)
        shifted = [(begin + before, end + before) for begin, end in spans]
        return ([(0, before)] if language else []) + visible_spans(clean, shifted)

    def target_offsets(self, text: str) -> list[tuple[int, int]]:
        """The same of `encode_target`."""
        clean = without_surrogates(text)
        return visible_spans(clean, self._target.encode(clean, return_type="offset_mapping")["offsets"])

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of token ids; <pad> and </s> leave no trace, <unk> is shown as "⁇"."""
        pieces = [self._pieces.get(int(i), UNK) for i in token_ids if i not in (self.pad_id, self.eos_id)]
        return str(self._target.decode_pieces(pieces)).replace("▁", " ").strip()

    def tokens(self, token_ids: Sequence[int]) -> tuple[str, ...]:
        """The pieces of token ids; an id without a piece is "<unused>"."""
        pieces = ((int(i), self._pieces.get(int(i), "<unused>")) for i in token_ids)
        return tuple(spelled_byte(piece) if i in self.byte_ids else piece for i, piece in pieces)

    def token_id(self, token: str) -> int:
        """The id of a piece. Raises a TokenError if the vocabulary has no such piece."""
        piece = token if token in self._ids else byte_piece(token)
        if piece not in self._ids:
            message = "{token!r} is not a token of this vocabulary. A token at the beginning of a word starts with “▁”."
            raise TokenError(message, token=token)
        return self._ids[piece]

    def check(self, config: ModelConfig) -> None:
        """Raise a CheckpointError if this tokenizer and a model of this configuration speak of other ids."""
        if self.vocab_size > config.vocab_size:
            message = (
                "vocab.json and config.json do not belong together: ids run to {vocab_size}, but the model has "
                "{config_vocab_size} tokens."
            )
            raise CheckpointError(message, vocab_size=self.vocab_size - 1, config_vocab_size=config.vocab_size)
        own, expected = (self.pad_id, self.unk_id, self.eos_id), (config.pad_id, config.unk_id, config.eos_id)
        if own != expected:
            message = (
                "vocab.json and config.json do not belong together: (pad, unk, eos) is {own} in the vocabulary and "
                "{expected} in the configuration."
            )
            raise CheckpointError(message, own=own, expected=expected)


def _processor(serialized: bytes, name: str) -> spm.SentencePieceProcessor:
    try:
        check_normalizer(serialized)
        processor = spm.SentencePieceProcessor(model_proto=serialized)
        if not processor.get_piece_size():  # it takes an empty file for a model not loaded yet
            raise RuntimeError("no pieces")
    except Malformed as error:
        raise CheckpointError("{name} cannot be used: {error}.", name=name, error=error) from error
    except RuntimeError as error:
        message = "{name} is not a SentencePiece model; copy it again from its source."
        raise CheckpointError(message, name=name) from error
    return processor


def _vocabulary(content: bytes) -> dict[str, int]:
    try:
        ids = checked.parsed(content.decode("utf-8"))
        for piece, token_id in ids.items():
            checked.text(piece, said("a token"))
            if checked.count(token_id, said("an id")) > LARGEST_ID:
                raise Malformed("ids may run to {most:,}, got {token_id:,}", most=LARGEST_ID, token_id=token_id)
        if len(set(ids.values())) < len(ids):
            raise Malformed("two tokens have the same id")
        if missing := [token for token in (PAD, UNK, EOS) if token not in ids]:
            raise Malformed("it lacks {missing}", missing=", ".join(missing))
    except (Malformed, UnicodeDecodeError) as error:
        raise CheckpointError("vocab.json cannot be used: {error}.", error=error) from error
    return ids

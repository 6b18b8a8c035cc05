"""What is known of a loaded model before it reads anything: name, device, size, vocabulary, abilities."""

import torch
from torch import nn

from model.decoding.beam import Penalty
from model.model_config import ModelConfig
from model.nn.encoder_decoder import EncoderDecoder
from model.tokenizer import Tokenizer
from model.training_record import LANGUAGES


class Loaded:
    """A model in memory, in evaluation mode.

    Args:
        model: in evaluation mode from now on.
        name, digest: of its folder.
        languages: of what it reads and of what it writes, as HTML names them; "" if nobody knows.
    """

    model: nn.Module

    def __init__(self, model: nn.Module, *, name: str, digest: str, languages: tuple[str, str] = ("", "")) -> None:
        self.model = model.eval()
        self.name, self.digest, self.languages = name, digest, languages

    @property
    def is_english_german(self) -> bool:
        """Whether it is known to translate English to German: only of such a model German words are looked for."""
        return self.languages == LANGUAGES

    @property
    def key(self) -> str:
        """Names this content on this device with this number type."""
        weight = next(self.model.parameters())
        return f"{self.digest}/{weight.device}/{weight.dtype}"

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.model.parameters()).device

    @property
    def num_bytes(self) -> int:
        """Bytes of all weights."""
        return sum(weight.numel() * weight.element_size() for weight in self.model.parameters())


class LoadedTranslator(Loaded):
    """An `EncoderDecoder` and its tokenizer.

    Attributes:
        penalty: how beam search takes the length of a text into account.
    """

    model: EncoderDecoder
    penalty: Penalty = "wu"

    def __init__(
        self,
        model: EncoderDecoder,
        tokenizer: Tokenizer,
        *,
        name: str = "",
        digest: str = "",
        languages: tuple[str, str] = ("", ""),
    ) -> None:
        super().__init__(model, name=name, digest=digest, languages=languages)
        self.tokenizer = tokenizer

    @property
    def config(self) -> ModelConfig:
        """The model's hyperparameters."""
        return self.model.config

    @property
    def vocabulary(self) -> Tokenizer:
        """What tells tokens by their ids."""
        return self.tokenizer

    @property
    def vocab_size(self) -> int:
        """Token ids that the model knows."""
        return self.config.vocab_size

    def all_tokens(self) -> tuple[str, ...]:
        """Every piece of the vocabulary, in the order of their ids."""
        return self.tokenizer.tokens(range(self.tokenizer.vocab_size))

    @property
    def end_ids(self) -> frozenset[int]:
        """</s>, which ends a translation."""
        return frozenset((self.config.eos_id,))

    @property
    def reserved_ids(self) -> frozenset[int]:
        """Special tokens that a person may not force: <pad>, <unk>, <s>."""
        return frozenset((self.config.pad_id, self.config.unk_id, self.config.bos_id)) - self.end_ids

    @property
    def special_ids(self) -> frozenset[int]:
        """The ids of the tokens that stand for no text."""
        return self.reserved_ids | self.end_ids

    @property
    def byte_ids(self) -> frozenset[int]:
        """The ids of the tokens of single bytes."""
        return self.tokenizer.byte_ids

    def spell(self, word: str) -> list[int] | None:
        """The pieces of a word; None where the vocabulary lacks one of its characters and would write its bytes."""
        token_ids = self.tokenizer.encode(word)
        return token_ids if (self.reserved_ids | self.tokenizer.byte_ids).isdisjoint(token_ids) else None

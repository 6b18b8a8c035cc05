"""What is known of a loaded model before it reads anything (name, size, vocabulary, abilities), and where it runs."""

import copy
from dataclasses import replace
from typing import Self

import torch
from torch import nn

from model.config import ModelConfig
from model.decoding.beam import Penalty
from model.errors import DeviceError
from model.languages import NOTHING_OFFERED, Offered, html_language
from model.nn.encoder_decoder import EncoderDecoder
from model.tokenizer import Tokenizer
from model.training_record import LANGUAGES


class Loaded:
    """A model in memory, in evaluation mode from now on; name and digest are those of its folder.

    `languages`: of what it reads and of what it writes, as HTML names them; "" if nobody knows.
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
    def offered(self) -> Offered:
        """The languages that may be chosen; none."""
        return NOTHING_OFFERED

    def speaking(self, reads: str = "", writes: str = "") -> Self:
        """As `model.reader.Reader` says."""
        self.offered.with_choice(reads, writes)
        return self

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.model.parameters()).device

    @property
    def num_bytes(self) -> int:
        """Bytes of all weights."""
        return sum(weight.numel() * weight.element_size() for weight in self.model.parameters())


class LoadedTranslator(Loaded):
    """An `EncoderDecoder` and its tokenizer."""

    model: EncoderDecoder
    penalty: Penalty = "wu"  #: how beam search takes the length of a text into account

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
    def key(self) -> str:
        """Names this content on this device with this number type, as it reads: in the language that is chosen."""
        return "/".join((super().key, *filter(None, self.tokenizer.offered.chosen)))

    @property
    def offered(self) -> Offered:
        """The languages that may be chosen, of a multilingual MarianMT model."""
        return self.tokenizer.offered

    def speaking(self, reads: str = "", writes: str = "") -> Self:
        """As `model.reader.Reader` says."""
        if not (reads or writes):
            return self
        offered = replace(self.offered, chosen=self.offered.with_choice(reads, writes))
        made = copy.copy(self)
        made.tokenizer = copy.copy(self.tokenizer)
        made.tokenizer.offered = offered
        made.languages = self.languages[0], html_language(writes) or self.languages[1]
        return made

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


DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def choose_device(name: str | None = None) -> torch.device:
    """The named device; by default CUDA if present, else the CPU. Raises a DeviceError if it does not exist here."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise DeviceError("Unknown device {name!r}; use cpu, cuda or cuda:N.", name=name) from error
    if device.type not in ("cpu", "cuda"):
        raise DeviceError("Device {name!r} is not supported; use cpu, cuda or cuda:N.", name=name)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        message = "Device {name!r} was requested, but {device_count} CUDA devices are present."
        raise DeviceError(message, name=name, device_count=torch.cuda.device_count())
    return device


def gpu_memory(device: str) -> int | None:
    """Bytes of memory that a GPU has; None of the CPU, which has the machine's."""
    return torch.cuda.get_device_properties(device).total_memory if device.startswith("cuda") else None


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether the device has instructions for products of bfloat16; without them they are far slower than float32's."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return any(has_it for name, has_it in torch.cpu.get_capabilities().items() if "bf16" in name)


def choose_dtype(name: str, device: torch.device) -> torch.dtype:
    """The number type of weights and activations. Raises a DeviceError if the type is unknown, or bfloat16 on a CPU."""
    if name not in DTYPES:
        raise DeviceError("Unknown number type {name!r}; use {dtypes}.", name=name, dtypes=" or ".join(DTYPES))
    if name == "bfloat16" and device.type != "cuda":
        raise DeviceError("bfloat16 is a setting for CUDA devices; on the CPU the model runs in float32.")
    return DTYPES[name]

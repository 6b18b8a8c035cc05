"""The hyperparameters of the two models that came before the Transformer, checked and saved as JSON; needs no torch."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Final, Self

from model.errors import ConfigError

#: Bounds that keep a configuration of unknown origin from taking all memory.
LARGEST: Final[Mapping[str, int]] = {
    "vocab_size": 1_000_000,
    "d_model": 16_384,
    "max_length": 32_768,
    "hidden_size": 16_384,
    "alignment_size": 16_384,
    "num_layers": 128,
    "decoder_layers": 128,
    "kernel_size": 63,
}


@dataclass(frozen=True, kw_only=True)
class EarlierConfig(ABC):
    """What both have in common; the names are those of `TransformerConfig`.

    Attributes:
        vocab_size: number of pieces in the joint vocabulary, whose one embedding serves source, target and output.
        d_model: width of the embeddings.
        dropout: share of values that are zeroed in training, wherever the model says.
        max_length: longest source or target, in tokens, that a person may enter.
        pad_id, unk_id, bos_id, eos_id: four different ids of the special tokens.
    """

    #: What `architecture` in a config.json calls it.
    architecture: ClassVar[str]

    vocab_size: int
    d_model: int
    dropout: float = 0.1
    max_length: int = 128
    pad_id: int = 0
    unk_id: int = 1
    bos_id: int = 2
    eos_id: int = 3

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            # An int may be given for a float; a bool is no int here, although Python counts it as one.
            if type(value) is not int and not (field.type is float and type(value) is float):
                expected = "float" if field.type is float else "int"
                raise ConfigError(
                    "{name} must be of type {expected}, got {value!r}.", name=field.name, expected=expected, value=value
                )
            if field.name in LARGEST and not 1 <= value <= LARGEST[field.name]:
                raise ConfigError(
                    "{name} must be between 1 and {largest:,}, got {value:,}.",
                    name=field.name,
                    largest=LARGEST[field.name],
                    value=value,
                )
        if not 0 <= self.dropout < 1:
            raise ConfigError("dropout must be in [0, 1), got {dropout}.", dropout=self.dropout)
        special = (self.pad_id, self.unk_id, self.bos_id, self.eos_id)
        if len(set(special)) < 4 or not all(0 <= i < self.vocab_size for i in special):
            raise ConfigError(
                "pad, unk, bos and eos ids must be four different ids below {vocab_size}, got {special}.",
                vocab_size=self.vocab_size,
                special=special,
            )

    @property
    def num_positions(self) -> int:
        """Longest target, in tokens: 50 more than the longest source may have, and <s>."""
        return self.max_length + 51

    @property
    @abstractmethod
    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Attention site → its layers and heads."""

    def to_json(self) -> str:
        """The architecture and the settings as a JSON object, one line per setting."""
        return json.dumps({"architecture": self.architecture, **asdict(self)}, indent=2) + "\n"

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """The configuration of these settings.

        Raises:
            ConfigError: a name or value is unknown, missing or out of range.
        """
        names = {field.name for field in fields(cls)}
        if unknown := sorted(values.keys() - names):
            raise ConfigError(
                "Unknown settings: {unknown}. Known settings: {names}.",
                unknown=", ".join(unknown),
                names=", ".join(sorted(names)),
            )
        if missing := [name for name in ("vocab_size", "d_model") if name not in values]:
            raise ConfigError("The configuration lacks {missing}.", missing=" and ".join(missing))
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig(EarlierConfig):
    """A GRU encoder–decoder with additive attention (Bahdanau et al. 2015).

    Attributes:
        hidden_size: n, width of the state of the decoder and of each of the encoder's two directions.
        alignment_size: n′, width of the hidden layer that scores a state and an annotation.
    """

    architecture: ClassVar[str] = "recurrent"

    hidden_size: int = 128
    alignment_size: int = 128

    @property
    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Site → its layers and heads: one alignment."""
        return {"decoder.cross": (1, 1)}


@dataclass(frozen=True, kw_only=True)
class ConvolutionalConfig(EarlierConfig):
    """A convolutional encoder–decoder with an attention in every decoder layer (ConvS2S, Gehring et al. 2017).

    Attributes:
        num_layers, decoder_layers: convolutions of the encoder and of the decoder.
        kernel_size: k, tokens that a convolution sees; odd, so that the encoder sees as many before as after.
    """

    architecture: ClassVar[str] = "convolutional"

    num_layers: int = 4
    decoder_layers: int = 4
    kernel_size: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kernel_size % 2 == 0:
            raise ConfigError("kernel_size must be odd, got {kernel_size}.", kernel_size=self.kernel_size)

    @property
    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Site → its layers and heads: one head a decoder layer."""
        return {"decoder.cross": (self.decoder_layers, 1)}

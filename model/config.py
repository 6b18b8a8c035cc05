"""What defines a Transformer's shape, as data. Knows nothing of weights, text or torch."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from model.errors import ConfigError

Norm = Literal["post", "pre"]

# A configuration may come from anywhere: these bounds keep a wrong one from taking all memory before it is noticed.
LARGEST: Mapping[str, int] = {
    "vocab_size": 1_000_000,
    "d_model": 16_384,
    "num_layers": 128,
    "num_heads": 256,
    "d_ff": 65_536,
    "max_length": 32_768,
}


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Hyperparameters of one encoder–decoder Transformer, named as in Vaswani et al. 2017.

    Attributes:
        vocab_size: number of pieces in the (joint) vocabulary.
        d_model: width of every embedding and layer output.
        num_layers: N, layers of the encoder and of the decoder alike.
        num_heads: h, attention heads of every attention sub-layer; d_k = d_v = d_model / num_heads.
        d_ff: inner width of the position-wise feed-forward network (§3.3).
        dropout: P_drop on sub-layer outputs and embedding sums (§5.4).
        attention_dropout: dropout on attention weights.
        norm: "post" = LayerNorm(x + Sublayer(x)) as in §3.1; "pre" = x + Sublayer(LayerNorm(x)), with a norm after
            the last layer.
        share_embeddings: one matrix for source, target and output projection (§3.4); otherwise three.
        max_length: longest source or target, in tokens, that a person may enter (sinusoids themselves have no limit).
        pad_id, unk_id, bos_id, eos_id: ids of the special tokens.
    """

    vocab_size: int
    d_model: int = 512
    num_layers: int = 6
    num_heads: int = 8
    d_ff: int = 2048
    dropout: float = 0.1
    attention_dropout: float = 0.1
    norm: Norm = "post"
    share_embeddings: bool = True
    max_length: int = 512
    pad_id: int = 0
    unk_id: int = 1
    bos_id: int = 2
    eos_id: int = 3

    def __post_init__(self) -> None:
        for field in fields(self):
            value, expected = getattr(self, field.name), type(field.default)
            if field.name == "vocab_size":
                expected = int
            # An int is a fine float; a bool is no number, although Python counts it as one.
            fits = type(value) is expected or (expected is float and type(value) is int)
            if not fits:
                raise ConfigError(f"{field.name} must be of type {expected.__name__}, got {value!r}.")
        for name, most in LARGEST.items():
            if not 1 <= getattr(self, name) <= most:
                raise ConfigError(f"{name} must lie between 1 and {most:,}, got {getattr(self, name):,}.")
        if self.d_model % self.num_heads:
            raise ConfigError(f"d_model must be a multiple of num_heads, got {self.d_model} and {self.num_heads}.")
        if self.d_model % 2:
            raise ConfigError(f"d_model must be even (sine and cosine come in pairs), got {self.d_model}.")
        for name in ("dropout", "attention_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must lie in [0, 1), got {getattr(self, name)}.")
        if self.norm not in get_args(Norm):
            raise ConfigError(f"norm must be one of {', '.join(get_args(Norm))}, got {self.norm!r}.")
        special = (self.pad_id, self.unk_id, self.bos_id, self.eos_id)
        if len(set(special)) < 4 or not all(0 <= i < self.vocab_size for i in special):
            raise ConfigError(
                f"pad, unk, bos and eos ids must be four different ids below {self.vocab_size}, got {special}."
            )

    @property
    def d_k(self) -> int:
        """Width of one head's queries, keys and values (§3.2.2)."""
        return self.d_model // self.num_heads

    def to_json(self) -> str:
        """The settings as a JSON object, one line per setting."""
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "TransformerConfig":
        """Read what `to_json` wrote.

        Raises:
            ConfigError: the text is no JSON object, or a name or value in it is unknown, missing or out of range.
        """
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"The configuration is not valid JSON: {error}.") from error
        if not isinstance(values, dict):
            raise ConfigError(f"The configuration must be a JSON object, got {type(values).__name__}.")
        names = {field.name for field in fields(cls)}
        if unknown := sorted(values.keys() - names):
            raise ConfigError(f"Unknown settings: {', '.join(unknown)}. Known are: {', '.join(sorted(names))}.")
        if "vocab_size" not in values:
            raise ConfigError("The configuration lacks vocab_size.")
        return cls(**values)


# Table 3 of the paper, with its joint vocabulary of about 37,000 pieces, and the shape of checkpoints/en-de.
PRESETS: Mapping[str, TransformerConfig] = {
    "base": TransformerConfig(vocab_size=37_000),
    "big": TransformerConfig(vocab_size=37_000, d_model=1024, num_heads=16, d_ff=4096, dropout=0.3),
    "en-de": TransformerConfig(vocab_size=8_000, d_model=256, num_layers=4, d_ff=1024, norm="pre"),
}


def preset(name: str, **changes: Any) -> TransformerConfig:
    """A named configuration, with some settings replaced.

    Raises:
        ConfigError: no preset has this name, or the changed settings do not fit.
    """
    if name not in PRESETS:
        raise ConfigError(f"Unknown preset {name!r}. Known are: {', '.join(PRESETS)}.")
    return replace(PRESETS[name], **changes)

"""The hyperparameters of an encoder–decoder, as data that is checked and saved as JSON; needs no torch."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import Field, asdict, dataclass, fields, replace
from typing import Any, ClassVar, Final, Literal, Self, get_args

from model.errors import ConfigError

Norm = Literal["post", "pre"]
Score = Literal["scaled_dot", "dot", "additive", "general"]
Positions = Literal["sinusoidal", "learned", "none"]

#: Bounds that keep a configuration of unknown origin from taking all memory.
LARGEST: Final[Mapping[str, int]] = {
    "vocab_size": 1_000_000,
    **dict.fromkeys(("d_model", "hidden_size", "alignment_size"), 16_384),
    **dict.fromkeys(("num_layers", "num_decoder_layers", "decoder_layers"), 128),
    "num_heads": 256,
    "d_ff": 65_536,
    "max_length": 32_768,
    "kernel_size": 63,
}

# Settings in which ablations differ from the paper. A configuration that follows the paper
# does not write them, so that it reads, and a model's digest stays, as before there were any.
BEYOND_THE_PAPER = ("num_decoder_layers", "score", "positions", "residual")


@dataclass(frozen=True, kw_only=True)
class ModelConfig(ABC):
    """What the configurations of all kinds of models have in common."""

    #: What `architecture` in a config.json calls this kind; a Transformer's names none, as before there were others.
    architecture: ClassVar[str] = ""

    vocab_size: int  #: number of pieces in the (joint) vocabulary
    d_model: int  #: width of every embedding
    dropout: float = 0.1  #: share of values that are zeroed in training, wherever the model says
    max_length: int = 128  #: longest source or target, in tokens, that a person may enter
    #: pad_id, unk_id, bos_id, eos_id: ids of the special tokens; decoding begins with `bos_id`.
    pad_id: int = 0
    unk_id: int = 1
    bos_id: int = 2
    eos_id: int = 3

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field, getattr(self, field.name))
        special = (self.pad_id, self.unk_id, self.bos_id, self.eos_id)
        if len(set(special)) < 4 or not all(0 <= i < self.vocab_size for i in special):
            message = "pad, unk, bos and eos ids must be four different ids below {vocab_size}, got {special}."
            raise ConfigError(message, vocab_size=self.vocab_size, special=special)

    @property
    def num_positions(self) -> int:
        """Longest target, in tokens: 50 more than the longest source may have (§6.1), and <s>."""
        return self.max_length + 51

    @property
    @abstractmethod
    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Attention site → its layers and heads, of those that the model has."""

    def to_json(self) -> str:
        """The settings as a JSON object, one line per setting."""
        return json.dumps({"architecture": self.architecture, **asdict(self)}, indent=2) + "\n"

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """The configuration of these settings. Raises a ConfigError if one is unknown, missing or out of range."""
        names = {field.name for field in fields(cls)}
        if unknown := sorted(values.keys() - names):
            message = "Unknown settings: {unknown}. Known settings: {names}."
            raise ConfigError(message, unknown=", ".join(unknown), names=", ".join(sorted(names)))
        if missing := [name for name in ("vocab_size", "d_model") if name not in values and not hasattr(cls, name)]:
            raise ConfigError("The configuration lacks {missing}.", missing=" and ".join(missing))
        return cls(**values)


def _check(field: Field[Any], value: object) -> None:
    """Raise a ConfigError if a setting has not the type of its field, or is out of its bounds."""
    if value is None and field.default is None:
        return
    choices = get_args(field.type) or (field.type,)
    first, *_ = choices
    expected = first if isinstance(first, type) else type(first)
    # An int may be given for a float; a bool is not an int here, although Python counts it as one.
    if type(value) is not expected and not (expected is float and type(value) is int):
        message = "{name} must be of type {type_name}, got {value!r}."
        raise ConfigError(message, name=field.name, type_name=expected.__name__, value=value)
    if isinstance(value, int) and (most := LARGEST.get(field.name)) is not None and not 1 <= value <= most:
        raise ConfigError(
            "{name} must be between 1 and {most:,}, got {value:,}.", name=field.name, most=most, value=value
        )
    if isinstance(value, int | float) and field.name.endswith("dropout") and not 0 <= value < 1:
        raise ConfigError("{name} must be in [0, 1), got {value}.", name=field.name, value=value)
    if expected is str and value not in choices:
        raise ConfigError(
            "{name} must be one of {choices}, got {value!r}.", name=field.name, choices=", ".join(choices), value=value
        )


@dataclass(frozen=True, kw_only=True)
class TransformerConfig(ModelConfig):
    """Hyperparameters of one encoder–decoder Transformer, named as in Vaswani et al. 2017."""

    #: vocab_size, pad_id, unk_id, bos_id, eos_id: as of every `ModelConfig`.
    vocab_size: int
    d_model: int = 512  #: width of every embedding and layer output
    num_layers: int = 6  #: N, layers of the encoder, and of the decoder unless `num_decoder_layers` says otherwise
    num_heads: int = 8  #: h, attention heads of every attention sub-layer; d_k = d_v = d_model / num_heads
    d_ff: int = 2048  #: inner width of the position-wise feed-forward network (§3.3)
    dropout: float = 0.1  #: P_drop on sub-layer outputs and embedding sums (§5.4)
    attention_dropout: float = 0.1  #: dropout on attention weights
    #: "post" = LayerNorm(x + Sublayer(x)) as in §3.1; "pre" = x + Sublayer(LayerNorm(x)), with a norm after the last
    #: layer.
    norm: Norm = "post"
    share_embeddings: bool = True  #: one matrix for source, target and output projection (§3.4); otherwise three
    #: longest source or target, in tokens, that a person may enter (sinusoids themselves have no limit).
    max_length: int = 512
    pad_id: int = 0
    unk_id: int = 1
    bos_id: int = 2
    eos_id: int = 3
    #: layers of the decoder; None for as many as the encoder has (the paper).
    num_decoder_layers: int | None = None
    #: how well a key answers a query: q · k / √d_k as in §3.2.1; without the division; vᵀ tanh(q + k) (Bahdanau et al.
    #: 2015); or qᵀ M k (Luong et al. 2015).
    score: Score = "scaled_dot"
    #: sinusoids as in §3.5; a row learned for each of `num_positions`; or none at all.
    positions: Positions = "sinusoidal"
    residual: bool = True  #: whether a sub-layer's input is added to its output (§3.1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.d_model % self.num_heads:
            message = "d_model must be a multiple of num_heads, got {d_model} and {num_heads}."
            raise ConfigError(message, d_model=self.d_model, num_heads=self.num_heads)
        if self.d_model % 2:
            raise ConfigError(
                "d_model must be even (sine and cosine come in pairs), got {d_model}.", d_model=self.d_model
            )

    @property
    def d_k(self) -> int:
        """Width of one head's queries, keys and values (§3.2.2)."""
        return self.d_model // self.num_heads

    @property
    def attention_scale(self) -> float:
        """What scores are multiplied by before the softmax: 1/√d_k (§3.2.1), or 1 where they are not scaled."""
        return float(self.d_k**-0.5) if self.score == "scaled_dot" else 1.0

    @property
    def decoder_layers(self) -> int:
        """Layers of the decoder."""
        return self.num_layers if self.num_decoder_layers is None else self.num_decoder_layers

    @property
    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Attention site → its layers and heads."""
        sites = ("encoder.self", "decoder.self", "decoder.cross")
        return {site: (self.layers_of(site), self.num_heads) for site in sites}

    def layers_of(self, site: str) -> int:
        """Layers of the stack of an attention site, for example "decoder.cross"."""
        return self.num_layers if site.startswith("encoder.") else self.decoder_layers

    def to_json(self) -> str:
        """The settings as a JSON object, one line per setting, in the order in which they stand above."""
        defaults = {field.name: field.default for field in fields(self)}
        settings = {name: getattr(self, name) for name in type(self).__annotations__}
        kept = {
            name: value for name, value in settings.items() if name not in BEYOND_THE_PAPER or value != defaults[name]
        }
        return json.dumps(kept, indent=2) + "\n"


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig(ModelConfig):
    """A GRU encoder–decoder with additive attention (Bahdanau et al. 2015)."""

    architecture: ClassVar[str] = "recurrent"

    hidden_size: int = 128  #: n, width of the state of the decoder and of each of the encoder's two directions
    alignment_size: int = 128  #: n′, width of the hidden layer that scores a state and an annotation

    @property
    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Site → its layers and heads: one alignment."""
        return {"decoder.cross": (1, 1)}


@dataclass(frozen=True, kw_only=True)
class FixedVectorConfig(ModelConfig):
    """A GRU encoder–decoder without attention: the decoder reads one vector of the source (Cho et al. 2014)."""

    architecture: ClassVar[str] = "recurrent-fixed-vector"

    hidden_size: int = 128  #: n, width of the state of the decoder and of each of the encoder's two directions

    @property
    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """It has no attention site."""
        return {}


@dataclass(frozen=True, kw_only=True)
class ConvolutionalConfig(ModelConfig):
    """A convolutional encoder–decoder with an attention in every decoder layer (ConvS2S, Gehring et al. 2017)."""

    architecture: ClassVar[str] = "convolutional"

    #: num_layers, decoder_layers: convolutions of the encoder and of the decoder.
    num_layers: int = 4
    decoder_layers: int = 4
    kernel_size: int = 3  #: k, tokens that a convolution sees; odd, so that the encoder sees as many before as after

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kernel_size % 2 == 0:
            raise ConfigError("kernel_size must be odd, got {kernel_size}.", kernel_size=self.kernel_size)

    @property
    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Site → its layers and heads: one head a decoder layer."""
        return {"decoder.cross": (self.decoder_layers, 1)}


#: `architecture` in a config.json → its configuration; a Transformer's names none, as before there were others.
ARCHITECTURES: Final[Mapping[str, type[ModelConfig]]] = {
    config.architecture: config for config in (RecurrentConfig, FixedVectorConfig, ConvolutionalConfig)
}

# Table 3 of the paper, with its joint vocabulary of about 37,000 pieces; and the shape that checkpoints/en-de had in
# its first nine stages of training, before it grew to 6 + 6 layers.
PRESETS: Mapping[str, TransformerConfig] = {
    "base": TransformerConfig(vocab_size=37_000),
    "big": TransformerConfig(vocab_size=37_000, d_model=1024, num_heads=16, d_ff=4096, dropout=0.3),
    "en-de": TransformerConfig(vocab_size=8_000, d_model=256, num_layers=4, d_ff=1024, norm="pre"),
}


def preset(name: str, **changes: Any) -> TransformerConfig:
    """A named configuration, some settings replaced. Raises a ConfigError if there is none, or they do not fit."""
    if name not in PRESETS:
        raise ConfigError("Unknown preset {name!r}. Known presets: {presets}.", name=name, presets=", ".join(PRESETS))
    return replace(PRESETS[name], **changes)


def changed(config: ModelConfig, changes: Mapping[str, Any]) -> ModelConfig:
    """The same with other settings. Raises a ConfigError if this kind of model lacks one, or it is out of range."""
    names = {field.name for field in fields(config)}
    if unknown := sorted(changes.keys() - names):
        known = ", ".join(sorted(names))
        message = "This kind of model has no {unknown}. Its settings are: {known}."
        raise ConfigError(message, unknown=", ".join(unknown), known=known)
    return replace(config, **changes)


def read_config(text: str) -> ModelConfig:
    """The configuration that a config.json spells out.

    Raises a ConfigError if the text is not a JSON object, the architecture is unknown, or a setting is unknown, missing
    or out of range.
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError("The configuration is not valid JSON: {error}.", error=error) from error
    if not isinstance(values, dict):
        raise ConfigError("The configuration must be a JSON object, got {type_name}.", type_name=type(values).__name__)
    if "architecture" not in values:
        return TransformerConfig.from_values(values)
    architecture = values.pop("architecture")
    if not isinstance(architecture, str) or architecture not in ARCHITECTURES:
        message = (
            "There is no architecture {architecture!r}. Known architectures: {architectures}; the configuration of a "
            "Transformer names none."
        )
        raise ConfigError(message, architecture=str(architecture)[:80], architectures=", ".join(ARCHITECTURES))
    return ARCHITECTURES[architecture].from_values(values)

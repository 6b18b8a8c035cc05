"""The hyperparameters of a Transformer, as data that is checked and saved as JSON; needs no torch."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from model.errors import ConfigError

Norm = Literal["post", "pre"]
Activation = Literal["relu", "silu", "gelu"]
PositionLayout = Literal["interleaved", "halves"]
Score = Literal["scaled_dot", "dot", "additive", "general"]
Positions = Literal["sinusoidal", "learned", "none"]

# Bounds that keep a configuration of unknown origin from taking all memory.
LARGEST: Mapping[str, int] = {
    "vocab_size": 1_000_000,
    "d_model": 16_384,
    "num_layers": 128,
    "decoder_layers": 128,
    "num_heads": 256,
    "d_ff": 65_536,
    "max_length": 32_768,
}

# Settings that are one of a few words.
CHOICES: Mapping[str, tuple[str, ...]] = {
    "norm": get_args(Norm),
    "activation": get_args(Activation),
    "position_layout": get_args(PositionLayout),
    "score": get_args(Score),
    "positions": get_args(Positions),
}

# Settings in which other people's models, and ablations, differ from the paper. A configuration that follows the paper
# does not write them, so that it reads, and a model's digest stays, as before there were any.
BEYOND_THE_PAPER = (
    "num_decoder_layers",
    "activation",
    "position_layout",
    "scale_embedding",
    "tie_output",
    "output_bias",
    "score",
    "positions",
    "residual",
)


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Hyperparameters of one encoder–decoder Transformer, named as in Vaswani et al. 2017.

    Attributes:
        vocab_size: number of pieces in the (joint) vocabulary.
        d_model: width of every embedding and layer output.
        num_layers: N, layers of the encoder, and of the decoder unless `num_decoder_layers` says otherwise.
        num_heads: h, attention heads of every attention sub-layer; d_k = d_v = d_model / num_heads.
        d_ff: inner width of the position-wise feed-forward network (§3.3).
        dropout: P_drop on sub-layer outputs and embedding sums (§5.4).
        attention_dropout: dropout on attention weights.
        norm: "post" = LayerNorm(x + Sublayer(x)) as in §3.1; "pre" = x + Sublayer(LayerNorm(x)), with a norm after
            the last layer.
        share_embeddings: one matrix for source, target and output projection (§3.4); otherwise three.
        max_length: longest source or target, in tokens, that a person may enter (sinusoids themselves have no limit).
        pad_id, unk_id, bos_id, eos_id: ids of the special tokens; `bos_id`, with which decoding begins, may be the
            padding's (Marian).
        num_decoder_layers: layers of the decoder; None for as many as the encoder has (the paper; Marian's small
            models have fewer).
        activation: between both maps of the feed-forward network: max(0, x) as in §3.3, x · sigmoid(x) ("SiLU", also
            called swish; Marian), or x · Φ(x) ("GELU").
        position_layout: columns of sine and cosine of the same angle: adjacent as in §3.5, or all sines in the first
            half of the row and all cosines in the second (Marian).
        scale_embedding: whether embeddings are multiplied by √d_model (§3.4).
        tie_output: with separate embeddings: whether the output projection is the target's.
        output_bias: whether each token's logit has a bias (Marian's final_logits_bias).
        score: how well a key answers a query: q · k / √d_k as in §3.2.1; without the division; vᵀ tanh(q + k)
            (Bahdanau et al. 2015); or qᵀ M k (Luong et al. 2015).
        positions: sinusoids as in §3.5; a row learned for each of `num_positions`; or none at all.
        residual: whether a sub-layer's input is added to its output (§3.1).
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
    num_decoder_layers: int | None = None
    activation: Activation = "relu"
    position_layout: PositionLayout = "interleaved"
    scale_embedding: bool = True
    tie_output: bool = False
    output_bias: bool = False
    score: Score = "scaled_dot"
    positions: Positions = "sinusoidal"
    residual: bool = True

    def __post_init__(self) -> None:
        for field in fields(self):
            value, expected = getattr(self, field.name), type(field.default)
            if field.name in ("vocab_size", "num_decoder_layers"):
                expected = int
            # An int may be given for a float; a bool is no int here, although Python counts it as one.
            fits = type(value) is expected or (expected is float and type(value) is int)
            if not fits and not (value is None and field.default is None):
                raise ConfigError(
                    "{name} must be of type {type_name}, got {value!r}.",
                    name=field.name,
                    type_name=expected.__name__,
                    value=value,
                )
        for name, most in LARGEST.items():
            if not 1 <= getattr(self, name) <= most:
                raise ConfigError(
                    "{name} must be between 1 and {most:,}, got {value:,}.",
                    name=name,
                    most=most,
                    value=getattr(self, name),
                )
        if self.d_model % self.num_heads:
            raise ConfigError(
                "d_model must be a multiple of num_heads, got {d_model} and {num_heads}.",
                d_model=self.d_model,
                num_heads=self.num_heads,
            )
        if self.d_model % 2:
            raise ConfigError(
                "d_model must be even (sine and cosine come in pairs), got {d_model}.", d_model=self.d_model
            )
        for name in ("dropout", "attention_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError("{name} must be in [0, 1), got {value}.", name=name, value=getattr(self, name))
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ConfigError(
                    "{name} must be one of {choices}, got {value!r}.",
                    name=name,
                    choices=", ".join(choices),
                    value=getattr(self, name),
                )
        if self.tie_output and self.share_embeddings:
            raise ConfigError("tie_output is for separate embeddings; with share_embeddings the output is tied anyway.")
        self._check_special_ids()

    def _check_special_ids(self) -> None:
        special = (self.pad_id, self.unk_id, self.bos_id, self.eos_id)
        different = 3 if self.bos_id == self.pad_id else 4
        if len(set(special)) < different or not all(0 <= i < self.vocab_size for i in special):
            raise ConfigError(
                "pad, unk, bos and eos ids must be four different ids below {vocab_size} (only bos may be the "
                "same as pad), got {special}.",
                vocab_size=self.vocab_size,
                special=special,
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
    def num_positions(self) -> int:
        """Longest target, in tokens: 50 more than the longest source may have (§6.1), and <s>."""
        return self.max_length + 51

    @property
    def decoder_layers(self) -> int:
        """Layers of the decoder."""
        return self.num_layers if self.num_decoder_layers is None else self.num_decoder_layers

    @property
    def equal_layers(self) -> int:
        """Layers of each stack, for tables of all three attentions. Raises a ConfigError if the stacks differ."""
        if self.decoder_layers != self.num_layers:
            raise ConfigError(
                "This model has {num_layers} encoder layers and {decoder_layers} decoder layers. A single table of "
                "the heads of all three attentions requires equal numbers.",
                num_layers=self.num_layers,
                decoder_layers=self.decoder_layers,
            )
        return self.num_layers

    @property
    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Attention site → its layers and heads."""
        sites = ("encoder.self", "decoder.self", "decoder.cross")
        return {site: (self.layers_of(site), self.num_heads) for site in sites}

    def layers_of(self, site: str) -> int:
        """Layers of the stack of an attention site, for example "decoder.cross"."""
        return self.num_layers if site.startswith("encoder.") else self.decoder_layers

    def to_json(self) -> str:
        """The settings as a JSON object, one line per setting."""
        defaults = {field.name: field.default for field in fields(self)}
        settings = {
            name: value
            for name, value in asdict(self).items()
            if name not in BEYOND_THE_PAPER or value != defaults[name]
        }
        return json.dumps(settings, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "TransformerConfig":
        """Read what `to_json` wrote.

        Raises:
            ConfigError: the text is no JSON object, or a name or value in it is unknown, missing or out of range.
        """
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ConfigError("The configuration is not valid JSON: {error}.", error=error) from error
        if not isinstance(values, dict):
            raise ConfigError(
                "The configuration must be a JSON object, got {type_name}.", type_name=type(values).__name__
            )
        names = {field.name for field in fields(cls)}
        if unknown := sorted(values.keys() - names):
            raise ConfigError(
                "Unknown settings: {unknown}. Known settings: {names}.",
                unknown=", ".join(unknown),
                names=", ".join(sorted(names)),
            )
        if "vocab_size" not in values:
            raise ConfigError("The configuration lacks vocab_size.")
        return cls(**values)


# Table 3 of the paper, with its joint vocabulary of about 37,000 pieces; and the shape that checkpoints/en-de had in
# its first nine stages of training, before it grew to 6 + 6 layers.
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
        raise ConfigError("Unknown preset {name!r}. Known presets: {presets}.", name=name, presets=", ".join(PRESETS))
    return replace(PRESETS[name], **changes)

"""Describe a loaded model in words and numbers: kind, layers, heads, parameters, settings, what it lacks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from torch import nn

from model.abilities import Kind
from model.reader import Reader

KINDS: Final[Mapping[Kind, str]] = {
    "encoder": "encoder only",
    "decoder": "decoder only",
    "encoder-decoder": "encoder and decoder",
    "image": "encoder of pictures",
}
SITES: Final[Mapping[str, str]] = {
    "encoder.self": "Encoder self-attention",
    "decoder.self": "Decoder self-attention",
    "decoder.cross": "Decoder cross-attention",
}
#: Parts of names of parameters → the part of a model that they belong to; the first that fits.
_PARTS: Final = (
    ("Embeddings", ("embed", "wte", "wpe", "shared", "lm_head", "cls_token", "position")),
    ("Norms", ("norm", "ln_", "layer_norm")),
    ("Attention", ("attn", "attention", "relative")),
    ("Recurrence", ("gru", ".cell.", "first_state")),
    ("Convolutions", ("convolution",)),
)
#: Settings that say more of the library than of the model.
_UNSAID: Final = frozenset({"transformers_version", "return_dict", "output_hidden_states", "output_attentions"})
MAX_VALUE: Final = 80


@dataclass(frozen=True)
class Description:
    """A model in words and numbers.

    Attributes:
        rows: what a person wants to know first, as (name, value).
        parts: part of the model → its parameters; a shared one counts once.
        settings: of its config.json, as (name, value); empty for a checkpoint of our own.
        lacks: one sentence for everything that cannot be shown of it.
    """

    rows: Sequence[tuple[str, str]]
    parts: Mapping[str, int]
    settings: Sequence[tuple[str, str]]
    lacks: Sequence[str]


def describe(reader: Reader) -> Description:
    """Describe a model before it reads anything."""
    model: Any = getattr(reader, "model")  # noqa: B009 – what a reader reads with is no part of its interface
    abilities = reader.abilities
    config: Any = getattr(model, "config", None)
    parts = _parameters(model)
    most = "memory alone" if abilities.max_length is None else f"{abilities.max_length:,} tokens"
    rows = [("Kind", f"{abilities.family}: {KINDS[abilities.kind]}")]
    for site, heads in abilities.heads.items():
        each = f"{heads[0]}" if len(set(heads)) == 1 else f"{min(heads)} to {max(heads)}"
        rows.append((SITES[site], f"{len(heads)} layers of {each} heads"))
    rows += [
        ("Positions", str(abilities.positions)),
        ("Reads at most", most if abilities.kind != "image" else f"{abilities.max_length} patches and special tokens"),
        ("Writes", "yes" if abilities.generates else "no"),
        ("Parameters", f"{sum(parts.values()):,}"),
        ("Runs on", str(reader.device)),
    ]
    settings = config.to_diff_dict() if hasattr(config, "to_diff_dict") else {}
    return Description(
        rows, parts, sorted(map(_setting, _plain(settings).items())), list(dict.fromkeys(abilities.lacks.values()))
    )


def _parameters(model: nn.Module) -> dict[str, int]:
    counts = dict.fromkeys((*(name for name, _ in _PARTS), "Feed-forward and the rest"), 0)
    for name, parameter in model.named_parameters():
        lowered = name.lower()
        part = next((part for part, signs in _PARTS if any(sign in lowered for sign in signs)), None)
        counts[part or "Feed-forward and the rest"] += parameter.numel()
    return {name: count for name, count in counts.items() if count}


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in _UNSAID and not isinstance(value, dict)}


def _setting(item: tuple[str, Any]) -> tuple[str, str]:
    name, value = str(item[0]), str(item[1])
    return name[:MAX_VALUE], value if len(value) <= MAX_VALUE else value[: MAX_VALUE - 1] + "…"

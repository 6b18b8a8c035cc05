"""What every encoder–decoder's configuration tells, and which kind of model a config.json is of; needs no torch."""

import json
from collections.abc import Mapping
from dataclasses import Field, fields, replace
from typing import Any, ClassVar, Final, Protocol, runtime_checkable

from model.config import TransformerConfig
from model.earlier_configs import ConvolutionalConfig, EarlierConfig, RecurrentConfig
from model.errors import ConfigError

#: `architecture` in a config.json → its configuration; a Transformer's names none, as before there were others.
ARCHITECTURES: Final[Mapping[str, type[EarlierConfig]]] = {
    config.architecture: config for config in (RecurrentConfig, ConvolutionalConfig)
}


@runtime_checkable
class ModelConfig(Protocol):
    """What decoding, training and traces ask of a configuration; the names are those of `TransformerConfig`."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def vocab_size(self) -> int:
        """Pieces of the joint vocabulary."""

    @property
    def d_model(self) -> int:
        """Width of the embeddings."""

    @property
    def max_length(self) -> int:
        """Longest source or target, in tokens, that a person may enter."""

    @property
    def pad_id(self) -> int:
        """The id of <pad>."""

    @property
    def unk_id(self) -> int:
        """The id of <unk>."""

    @property
    def bos_id(self) -> int:
        """The id of <s>, with which decoding begins."""

    @property
    def eos_id(self) -> int:
        """The id of </s>."""

    @property
    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Attention site → its layers and heads, of those that the model has."""

    def to_json(self) -> str:
        """The settings as a JSON object, one line per setting."""


def changed(config: ModelConfig, changes: Mapping[str, Any]) -> ModelConfig:
    """The same configuration with other settings.

    Raises:
        ConfigError: this kind of model has no such setting, or one is out of range.
    """
    names = {field.name for field in fields(config)}
    if unknown := sorted(changes.keys() - names):
        known = ", ".join(sorted(names))
        raise ConfigError(
            "This kind of model has no {unknown}. Its settings are: {known}.", unknown=", ".join(unknown), known=known
        )
    return replace(config, **changes)


def read_config(text: str) -> ModelConfig:
    """The configuration that a config.json spells out.

    Raises:
        ConfigError: the text is no JSON object, of an unknown architecture, or a setting is unknown, missing or out of
            range.
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError("The configuration is not valid JSON: {error}.", error=error) from error
    if not isinstance(values, dict) or "architecture" not in values:
        return TransformerConfig.from_json(text)
    architecture = values.pop("architecture")
    if not isinstance(architecture, str) or architecture not in ARCHITECTURES:
        raise ConfigError(
            "There is no architecture {architecture!r}. Known architectures: {architectures}; the configuration of a "
            "Transformer names none.",
            architecture=str(architecture)[:80],
            architectures=", ".join(ARCHITECTURES),
        )
    return ARCHITECTURES[architecture].from_values(values)

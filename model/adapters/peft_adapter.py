"""Adapters that PEFT saves (LoRA, Hu et al. 2021): find the model beneath, and merge the two.

An adapter's settings come from outside: only those of plain LoRA are followed, as values that have been checked. What
loads and merges is PEFT itself.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from model.adapters.limited_process import first_words
from model.checked import Malformed, parsed
from model.errors import CheckpointError, said
from model.folder_files import named_file, read_file

if TYPE_CHECKING:
    from torch import nn

SETTINGS: Final = "adapter_config.json"
WEIGHTS: Final = "adapter_model.safetensors"
LARGEST_SETTINGS: Final = 1 << 20
LARGEST_WEIGHTS: Final = 16 << 30
LARGEST_RANK: Final = 1_024
MOST_MODULES: Final = 256
_NAME: Final = re.compile(r"[\w.]{1,200}")
#: Settings that say how an adapter was made, and nothing of how it is merged.
_OF_TRAINING: Final = frozenset(
    {
        "task_type", "peft_type", "auto_mapping", "peft_version", "base_model_name_or_path", "revision",
        "inference_mode", "lora_dropout", "megatron_core", "qalora_group_size", "runtime_config", "loftq_config",
        "init_lora_weights", "layers_pattern", "ensure_weight_tying",
    }
)  # fmt: skip
#: Ways to begin the training that change the model beneath.
_PLAIN_BEGINNINGS: Final = (None, True, False, "gaussian")


@dataclass(frozen=True)
class Adapter:
    """An adapter beside the model that it changes."""

    path: Path  #: its folder
    base: Path  #: the folder of the model beneath
    settings: Mapping[str, Any]  #: of LoRA, checked


def read_adapter(path: Path) -> Adapter | None:
    """The adapter in a folder; None if it holds none.

    Raises:
        CheckpointError: it is not a LoRA, its settings cannot be followed, or the model beneath does not lie beside it.
    """
    if not (path / SETTINGS).is_file():
        return None
    try:
        content: Any = parsed(read_file(path, SETTINGS, LARGEST_SETTINGS).decode("utf-8"))
    except (OSError, Malformed, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise CheckpointError(
            "{name}/{settings} cannot be read: {error}.", name=path.name, settings=SETTINGS, error=reason
        ) from error
    settings = _lora(path.name, content)
    if not (path / WEIGHTS).is_file():
        message = (
            "{name} has an adapter's settings but no {weights}; save it again with `model.save_pretrained(folder)`."
        )
        raise CheckpointError(message, name=path.name, weights=WEIGHTS)
    return Adapter(path, _base(path, content.get("base_model_name_or_path")), settings)


def merge(model: "nn.Module", adapter: Adapter) -> "nn.Module":
    """The model with the adapter's changes in its weights. Raises a CheckpointError if the adapter is of another."""
    from peft import LoraConfig, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
    from safetensors.torch import load_file

    name = adapter.path.name
    try:
        with named_file(adapter.path, WEIGHTS, LARGEST_WEIGHTS) as path:
            state = load_file(path)
        wrapped: Any = get_peft_model(model, LoraConfig(**adapter.settings))
        expected = set(get_peft_model_state_dict(wrapped, save_embedding_layers=False))
        if wrong := sorted(expected ^ set(state)):
            tensors = {"name": name, "wrong": wrong[0][:120], "base_name": adapter.base.name}
            if wrong[0] in expected:
                raise CheckpointError("The adapter {name} lacks {wrong}: it does not belong to {base_name}.", **tensors)
            raise CheckpointError(
                "The adapter {name} also contains {wrong}: it does not belong to {base_name}.", **tensors
            )
        set_peft_model_state_dict(wrapped, state)
        merged: nn.Module = wrapped.merge_and_unload()
    except CheckpointError:
        raise
    except Exception as error:  # Whatever PEFT thinks of values from outside.
        message = (
            "The adapter {name} does not fit {base_name} ({reason}). Merge the two in a program that can load both: "
            "`model.merge_and_unload().save_pretrained(folder)`."
        )
        raise CheckpointError(message, name=name, base_name=adapter.base.name, reason=first_words(error)) from error
    return merged.eval()


def _lora(name: str, content: Mapping[str, Any]) -> dict[str, Any]:
    if content.get("peft_type") != "LORA":
        message = (
            "{name} contains an adapter of type {content!r}, but Headlight merges only LoRA. Merge it: "
            "`model.merge_and_unload().save_pretrained(folder)`."
        )
        raise CheckpointError(message, name=name, content=str(content.get("peft_type"))[:40])
    targets = content.get("target_modules")
    kept: dict[str, Any] = {
        "r": _number(name, content, "r", LARGEST_RANK),
        "lora_alpha": _number(name, content, "lora_alpha", 1 << 20),
        "target_modules": targets if targets == "all-linear" else _names(name, content, "target_modules"),
        "modules_to_save": _names(name, content, "modules_to_save") or None,
        "exclude_modules": _names(name, content, "exclude_modules") or None,
    }
    if content.get("bias") not in (None, "none", "all", "lora_only"):
        raise _not_followed(name, "bias")
    kept["bias"] = content.get("bias") or "none"
    for flag in ("use_rslora", "use_dora", "fan_in_fan_out", "lora_bias"):
        kept[flag] = content.get(flag) is True
    for pattern in ("rank_pattern", "alpha_pattern"):
        given = content.get(pattern) or {}
        if not isinstance(given, dict) or not all(
            _NAME.fullmatch(str(key)) and type(value) in (int, float) and 0 < value <= LARGEST_RANK
            for key, value in given.items()
        ):
            raise _not_followed(name, pattern)
        kept[pattern] = given
    if content.get("init_lora_weights") not in _PLAIN_BEGINNINGS:
        raise _not_followed(name, "init_lora_weights")
    others = content.keys() - kept.keys() - _OF_TRAINING
    if asked := sorted(other for other in others if content[other] not in (None, False, [], {})):
        raise _not_followed(name, asked[0][:60])
    return kept


def _number(name: str, content: Mapping[str, Any], key: str, most: int) -> int | float:
    value = content.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        message = "{name}/{settings}: {key} should be a number from 1 to {most:,}, got {value}."
        raise CheckpointError(message, name=name, settings=SETTINGS, key=key, most=most, value=str(value)[:40])
    return value


def _names(name: str, content: Mapping[str, Any], key: str) -> list[str]:
    """Names of modules; a single text would be a regular expression, which is not followed."""
    value = content.get(key) or []
    if not isinstance(value, list) or len(value) > MOST_MODULES:
        raise _not_followed(name, key)
    names = [each for each in value if isinstance(each, str) and _NAME.fullmatch(each)]
    if len(names) < len(value):
        raise _not_followed(name, key)
    return names


def _not_followed(name: str, key: str) -> CheckpointError:
    message = (
        "{name}/{settings} asks for {key}, which Headlight does not allow for an adapter of unknown origin. Merge it: "
        "`model.merge_and_unload().save_pretrained(folder)`."
    )
    return CheckpointError(message, name=name, settings=SETTINGS, key=key)


def _base(path: Path, named: object) -> Path:
    """The folder beside the adapter's with the last part of the name that it gives."""
    last = Path(named.replace("\\", "/")).name if isinstance(named, str) else ""
    base = path.parent / last
    if not last or last in (".", "..") or base == path or not base.is_dir():
        raise CheckpointError(
            "{name} contains an adapter (PEFT), which needs its base model: {named}. Put the folder of that model "
            "next to it under the name {last}, or merge the two: `model.merge_and_unload().save_pretrained(folder)`.",
            name=path.name,
            named=str(named)[:80] if named else said("unknown"),
            last=last[:80] or said("unknown"),
        )
    return base

"""The only module that calls `transformers`: everything else sees plain tensors and small values.

What the library types poorly, or not at all, ends here.
"""

import inspect
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import torch
import transformers
from torch import Tensor, nn
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask
from transformers.utils import logging as _transformers_logging

from model.adapters.config_limits import check_token_ids
from model.adapters.limited_process import first_words
from model.errors import CheckpointError, HeadlightError
from model.messages import said

OURS: Final = "headlight"
"""What our attention is called in the library's register."""

HEADS: Final[dict[str, Any]] = {
    "encoder": transformers.AutoModel,
    "masked": transformers.AutoModelForMaskedLM,
    "decoder": transformers.AutoModelForCausalLM,
    "encoder-decoder": transformers.AutoModelForSeq2SeqLM,
    "image": transformers.AutoModel,
}
"""Kind of model → which of the library's classes loads it; "masked" is an encoder that predicts masked words."""

TOKEN_SETTINGS: Final = (
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "bad_words_ids",
    "suppress_tokens",
    "begin_suppress_tokens",
)

# The library sets global number types while it loads.
_LOADING: Final = Lock()


def register(attention: Callable[..., Any], mask: Callable[..., Any]) -> None:
    """Make our attention, and the function that makes masks for it, known to the library."""
    transformers.AttentionInterface.register(OURS, attention)
    transformers.AttentionMaskInterface.register(OURS, mask)


def fused_attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, given: Mapping[str, Any]
) -> Tensor:
    """The library's own call of torch's fused kernel: [batch, query, head, d_v]."""
    output, _ = sdpa_attention_forward(module, query, key, value, mask, **given)
    return output


def fused_mask(asked: Mapping[str, Any]) -> Tensor | None:
    """The library's own booleans for the fused kernel [batch, 1, query, key]; None where it needs none."""
    return sdpa_mask(**asked)


def make_config(model_type: str, values: Mapping[str, Any]) -> Any:
    """A configuration of a known kind from its values.

    Raises:
        CheckpointError: the values are no configuration of this kind.
    """
    try:
        return transformers.AutoConfig.for_model(model_type, **values)
    except Exception as error:  # Whatever a class of the library thinks of values from outside.
        raise CheckpointError(
            "config.json is no configuration of a {model_type} model ({first_line}).",
            model_type=model_type,
            first_line=first_words(error),
        ) from error


def head_for(kind: str, config: Any) -> str:
    """The key of `HEADS` for a model: an encoder that was saved with the layer that predicts words keeps it."""
    named = getattr(config, "architectures", None)
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    return "masked" if kind == "encoder" and any(name.endswith("ForMaskedLM") for name in names) else kind


def count_numbers(kind: str, config: Any) -> tuple[int, int, int]:
    """How many numbers a model of this configuration learns, how many bytes its tables take that it computes, and how
    many numbers its largest weight has.

    No memory is taken for them.

    Raises:
        CheckpointError: the values of the configuration make no model.
    """
    try:
        with _LOADING, quiet(), torch.device("meta"):
            model = HEADS[kind].from_config(config)
    except Exception as error:
        raise CheckpointError(
            "config.json describes no model that can be built: {first_line}.", first_line=first_words(error)
        ) from error
    tables = sum(table.numel() * table.element_size() for table in model.buffers())
    sizes = [parameter.numel() for parameter in model.parameters()]
    return sum(sizes), tables, max(sizes, default=0)


def load_weights(
    folder: Path,
    kind: str,
    config: Any,
    implementation: str,
    dtype: torch.dtype,
    generation: Any,
    placed: Mapping[str, Any] = MappingProxyType({}),
) -> nn.Module:
    """The model of a folder that `folder_check` has checked and holds, on the CPU, in evaluation mode.

    Args:
        folder, kind, config, dtype: `kind` is a key of `HEADS`, `config` from `make_config`.
        generation: from `generation_settings`; without it the library would read the folder's files for it.
        implementation: `OURS` or "eager".
        placed: options that put the weights elsewhere, of `placement.Placement`.

    Raises:
        CheckpointError: the weights do not fit the configuration.
    """
    options: dict[str, Any] = {"config": config, "dtype": dtype, "attn_implementation": implementation}
    options |= {
        "generation_config": generation,
        "local_files_only": True,
        "use_safetensors": True,
        "trust_remote_code": False,
    }
    options |= placed
    try:
        with _LOADING, quiet():
            model, report = HEADS[kind].from_pretrained(str(folder), output_loading_info=True, **options)
    except Exception as error:
        raise CheckpointError(
            "The weights in {name} cannot be loaded: {first_line}.", name=folder.name, first_line=first_words(error)
        ) from error
    # A pooler sits behind the attention that is shown; checkpoints of language models often come without.
    missing = sorted(name for name in report["missing_keys"] if "pooler" not in name)
    mismatched = sorted(str(entry[0]) for entry in report.get("mismatched_keys", ()))
    if missing or mismatched:
        what = said("they lack {tensor}", tensor=[*missing, ""][0])
        if not missing:
            what = said("they have {tensor} in another shape", tensor=mismatched[0])
        raise CheckpointError(
            "The weights in {name} do not fit its config.json: {what} ({count} such tensors). Save the model again, or "
            "copy the folder anew.",
            name=folder.name,
            what=what,
            count=len(missing) + len(mismatched),
        )
    if hasattr(model, "generation_config"):
        model.generation_config = generation
    loaded: nn.Module = model.eval()
    return loaded


def load_tokenizer(folder: Path, config: Any, name: str) -> Any:
    """The tokenizer of a folder; without our `config` the library would read config.json again.

    Nothing else waits meanwhile: no lock is held.

    Args:
        folder: with its files.
        config: from `make_config`.
        name: of the model, for messages.

    Raises:
        CheckpointError: there is none that can be loaded.
    """
    try:
        with quiet():
            return transformers.AutoTokenizer.from_pretrained(
                str(folder), config=config, local_files_only=True, trust_remote_code=False
            )
    except Exception as error:
        raise CheckpointError(
            "The tokenizer in {name} cannot be loaded: {first_line}. Save it beside the model with "
            "`tokenizer.save_pretrained(folder)`.",
            name=name,
            first_line=first_words(error),
        ) from error


def load_image_processor(folder: Path, config: Any, name: str) -> Any:
    """The processor that converts a picture to the numbers that an image model reads; arguments as of `load_tokenizer`.

    Raises:
        CheckpointError: there is none that can be loaded.
    """
    try:
        with _LOADING, quiet():
            open_it: Callable[..., Any] = transformers.AutoImageProcessor.from_pretrained
            return open_it(str(folder), config=config, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise CheckpointError(
            "The image processor in {name} cannot be loaded: {first_line}.",
            name=name,
            first_line=first_words(error),
        ) from error


def picture_sizes(processor: Any) -> dict[str, Any]:
    """To which sizes an image processor brings a picture, as its settings have them."""
    settings = processor.to_dict()
    return {name: settings.get(name) for name in ("size", "crop_size", "pad_size")}


def blank_pixels(processor: Any) -> Tensor:
    """What an image processor makes of a picture in which nothing is seen: [1, channel, height, width].

    Raises:
        CheckpointError: its settings do not fit each other.
    """
    with settings_of_model():
        sizes: Tensor = processor(np.zeros((64, 64, 3), np.uint8), return_tensors="pt")["pixel_values"]
    return sizes


@contextmanager
def settings_of_model() -> Iterator[None]:
    """What goes wrong in the block, where a model runs for the first time, is the doing of its settings.

    Raises:
        CheckpointError: they do not fit each other.
    """
    try:
        yield
    except (HeadlightError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # Whatever a class of the library thinks of values from outside.
        raise CheckpointError(
            "This model cannot read: the settings in its folder do not fit each other ({first_line}).",
            first_line=first_words(error),
        ) from error


def new_cache(has_encoder: bool) -> Any:
    """An empty key/value cache that keeps every row, also of layers that look no further than a window.

    So it can always be cut; what is outside a window is masked.
    """
    own = transformers.DynamicCache()
    return transformers.EncoderDecoderCache(own, transformers.DynamicCache()) if has_encoder else own


def knows_interface(kind: str, config: Any) -> bool:
    """Whether the class of this configuration calls the attention that is registered, not only one of its own."""
    try:
        model_class = HEADS[kind]._model_mapping[type(config)]
    except KeyError as error:
        raise CheckpointError(
            "A {model_type} model cannot be loaded as {kind}.", model_type=config.model_type, kind=kind
        ) from error
    return bool(model_class._can_set_attn_implementation())


def keeps_rows(model: nn.Module) -> bool:
    """Whether a model can be asked for the logits of its last rows alone."""
    return "logits_to_keep" in inspect.signature(model.forward).parameters


def generation_settings(stated: Mapping[str, Any] | None, config: Mapping[str, Any]) -> Any:
    """Which tokens begin, end and may not be written, as the folder says; how to search is never its business.

    Args:
        stated: what generation_config.json says; None where there is none.
        config: what config.json says, which counts where there is none.

    Raises:
        CheckpointError: a setting is no id of a token.
    """
    made: Any = transformers.GenerationConfig
    if stated is None:
        with settings_of_model(), quiet():
            stated = made.from_model_config(dict(config)).to_dict()
    kept = {name: stated[name] for name in TOKEN_SETTINGS if stated.get(name) is not None}
    check_token_ids(kept, "generation_config.json")
    return made(**kept)


class quiet:
    """The library reports about weights to standard error; what matters of it becomes an error."""

    def __enter__(self) -> None:
        log = logging.getLogger("transformers")
        self._level = log.level
        log.setLevel(logging.ERROR)
        _transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]

    def __exit__(self, *_: object) -> None:
        logging.getLogger("transformers").setLevel(self._level)

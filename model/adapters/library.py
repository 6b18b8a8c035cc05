"""The only module that calls `transformers`: everything else sees plain tensors and small values.

What the library types poorly, or not at all, ends here. Knows nothing of traces or pages.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final

import torch
import transformers
from torch import Tensor, nn
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask
from transformers.utils import logging as _transformers_logging

from model.errors import CheckpointError, HeadlightError, SessionError

OURS: Final = "headlight"
"""What our attention is called in the library's register."""

HEADS: Final[dict[str, Any]] = {
    "encoder": transformers.AutoModel,
    "decoder": transformers.AutoModelForCausalLM,
    "encoder-decoder": transformers.AutoModelForSeq2SeqLM,
    "image": transformers.AutoModel,
}
"""Kind of model → which of the library's classes loads it."""

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
            f"config.json is no configuration of a {model_type} model ({_first_line(error)})."
        ) from error


def count_parameters(kind: str, config: Any) -> int:
    """How many numbers a model of this configuration holds; no memory is taken for them.

    Raises:
        CheckpointError: the values of the configuration make no model.
    """
    try:
        with _LOADING, _quiet(), torch.device("meta"):
            model = HEADS[kind].from_config(config)
    except Exception as error:
        raise CheckpointError(f"config.json describes no model that can be built: {_first_line(error)}.") from error
    return sum(parameter.numel() for parameter in model.parameters())


def load_weights(folder: Path, kind: str, config: Any, implementation: str, dtype: torch.dtype) -> nn.Module:
    """The model of a folder, on the CPU, in evaluation mode.

    Args:
        folder: checked by `model.adapters.folder`.
        kind: a key of `HEADS`.
        config: from `make_config`.
        implementation: `OURS` or "eager".
        dtype: of its weights.

    Raises:
        CheckpointError: the weights do not fit the configuration.
    """
    options: dict[str, Any] = {"config": config, "dtype": dtype, "attn_implementation": implementation}
    options |= {"local_files_only": True, "use_safetensors": True, "trust_remote_code": False}
    try:
        with _LOADING, _quiet():
            model, report = HEADS[kind].from_pretrained(str(folder), output_loading_info=True, **options)
    except Exception as error:
        raise CheckpointError(f"The weights in {folder.name} cannot be loaded: {_first_line(error)}.") from error
    # A pooler sits behind the attention that is shown; checkpoints of language models often come without.
    missing = sorted(name for name in report["missing_keys"] if "pooler" not in name)
    mismatched = sorted(str(one[0]) for one in report.get("mismatched_keys", ()))
    if missing or mismatched:
        what = f"lack {missing[0]}" if missing else f"have {mismatched[0]} in another shape"
        raise CheckpointError(
            f"The weights in {folder.name} do not fit its config.json: they {what} "
            f"({len(missing) + len(mismatched)} such tensors). Save the model again, or copy the folder anew."
        )
    if hasattr(model, "generation_config"):
        model.generation_config = _tokens_only(model.generation_config)
    loaded: nn.Module = model.eval()
    return loaded


def load_tokenizer(folder: Path, config: Any) -> Any:
    """The tokenizer of a folder.

    Args:
        folder: checked by `model.adapters.folder`.
        config: from `make_config`; without it the library would read config.json again, unchecked.

    Raises:
        CheckpointError: there is none that can be loaded.
    """
    try:
        with _LOADING, _quiet():
            return transformers.AutoTokenizer.from_pretrained(
                str(folder), config=config, local_files_only=True, trust_remote_code=False
            )
    except Exception as error:
        raise CheckpointError(
            f"The tokenizer in {folder.name} cannot be loaded: {_first_line(error)}. Save it beside the model with "
            "`tokenizer.save_pretrained(folder)`."
        ) from error


def load_image_processor(folder: Path, config: Any) -> Any:
    """What turns a picture into the numbers that an image model reads.

    Args:
        folder, config: as of `load_tokenizer`.

    Raises:
        CheckpointError: there is none that can be loaded.
    """
    try:
        with _LOADING, _quiet():
            open_it: Callable[..., Any] = transformers.AutoImageProcessor.from_pretrained
            return open_it(str(folder), config=config, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise CheckpointError(
            f"The image processor in {folder.name} cannot be loaded: {_first_line(error)}."
        ) from error


@dataclass(frozen=True, eq=False)
class Beginning:
    """How `generate` would begin to write.

    Attributes:
        token_ids: what the decoder reads first: the text, or the token that begins a target.
        encoded: what the decoder is given in every step: the encoder's output and its mask; nothing without one.
        rules: from the tokens read [row, position] and scores of the next [row, vocab] to scores with all that the
            model's own settings ask for: tokens that must or must not come, penalties for repetition.
        eos_ids: each of them ends a text.
        length_penalty, early_stopping: as the model's settings have them for beam search.
    """

    token_ids: tuple[int, ...]
    encoded: Mapping[str, Any]
    rules: Callable[[Tensor, Tensor], Tensor]
    eos_ids: tuple[int, ...]
    length_penalty: float
    early_stopping: bool | str


def begin_writing(model: Any, token_ids: Tensor, most: int, options: Mapping[str, Any]) -> Beginning:
    """Let `generate` prepare everything, and take it over before it writes; the encoder has run then.

    Args:
        model: that writes.
        token_ids: [1, position], of the text.
        most: tokens that may be written.
        options: further ones of `generate`.

    Raises:
        SessionError: the model's own settings for writing cannot be used.
    """
    taken: list[Beginning] = []

    def take_over(
        _model: Any, input_ids: Tensor, logits_processor: Any, generation_config: Any, **given: Any
    ) -> Tensor:
        ends = generation_config._eos_token_tensor
        mask = given.get("attention_mask")
        outputs = given.get("encoder_outputs")
        taken.append(
            Beginning(
                token_ids=tuple(input_ids[0].tolist()),
                encoded={} if outputs is None else {"encoder_outputs": outputs, "attention_mask": mask},
                rules=logits_processor,
                eos_ids=() if ends is None else tuple(ends.tolist()),
                length_penalty=float(generation_config.length_penalty or 0.0),
                early_stopping=generation_config.early_stopping or False,
            )
        )
        return input_ids

    try:
        with _quiet():
            model.generate(
                token_ids, attention_mask=torch.ones_like(token_ids), max_new_tokens=most, max_length=None,
                do_sample=False, num_beams=1, custom_generate=take_over, **options,
            )  # fmt: skip
    except HeadlightError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RuntimeError) as error:
        # generation_config.json comes from outside, and is read where it is used.
        raise SessionError(
            f"This model cannot begin to write: its generation_config.json does not fit it ({_first_line(error)})."
        ) from error
    return taken[0]


def new_cache(has_encoder: bool) -> Any:
    """An empty key/value cache that keeps every row, also of layers that look no further than a window.

    So it can always be cut; what lies behind a window is masked.
    """
    own = transformers.DynamicCache()
    return transformers.EncoderDecoderCache(own, transformers.DynamicCache()) if has_encoder else own


def knows_interface(kind: str, config: Any) -> bool:
    """Whether the class of this configuration calls the attention that is registered, not only one of its own."""
    try:
        found = HEADS[kind]._model_mapping[type(config)]
    except KeyError as error:
        raise CheckpointError(f"A {config.model_type} model cannot be loaded as {kind}.") from error
    return bool(found._can_set_attn_implementation())


def _tokens_only(settings: Any) -> Any:
    """Which tokens begin, end and may not be written, as the folder says; how to search is never its business."""
    kept = {name: getattr(settings, name, None) for name in TOKEN_SETTINGS}
    make: Callable[..., Any] = transformers.GenerationConfig
    return make(**{name: value for name, value in kept.items() if value is not None})


class _quiet:
    """The library reports about weights to standard error; what matters of it becomes an error."""

    def __enter__(self) -> None:
        log = logging.getLogger("transformers")
        self._level = log.level
        log.setLevel(logging.ERROR)
        _transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]

    def __exit__(self, *_: object) -> None:
        logging.getLogger("transformers").setLevel(self._level)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    line = lines[0].rstrip(".") if lines else type(error).__name__
    return line if len(line) <= 200 else f"{line[:200]} …"

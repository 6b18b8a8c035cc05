"""Call `transformers`: everything else but the choice of a class sees plain tensors and small values.

What the library types poorly, or not at all, ends here.
"""

import copy
import inspect
import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal

import torch
import transformers
from torch import Tensor, nn
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import WeightConverter, WeightRenaming, rename_source_key
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.pytorch_utils import Conv1D
from transformers.utils import logging as _transformers_logging

from model.abilities import SourceKind
from model.adapters import explicit
from model.adapters.config_limits import check_token_ids
from model.adapters.limited_process import first_words
from model.errors import CheckpointError, HeadlightError, said

FUSED: Final = "sdpa"
OURS: Final = "headlight"
"""What our attention is called in the library's register."""

Role = Literal["causal", "seq2seq", "masked", "labels", "trunk"]
"""What a class is for: to write text after text, or text about text, to say masked words or labels, or only to read."""

#: What the library calls what a class is given.
PIXELS: Final = ("pixel_values", "flattened_patches")
GIVEN: Final[Mapping[SourceKind, tuple[str, ...]]] = {
    "sound": ("input_features", "input_values"),
    "picture": PIXELS,
    "text": ("input_ids",),
}
#: The module beside this one that opens models of each, by its `OPENING`: only who looks at pictures, or hears, needs
#: what reads them.
READERS: Final[Mapping[SourceKind, str]] = {"sound": ".speech_reader", "picture": ".image_reader"}

#: Role → the library's maps from a configuration to the classes that have it.
MAPS: Final[Mapping[Role, tuple[Any, ...]]] = {
    "causal": (transformers.AutoModelForCausalLM,),
    "seq2seq": (
        transformers.AutoModelForSeq2SeqLM,
        transformers.AutoModelForSpeechSeq2Seq,
        transformers.AutoModelForImageTextToText,
    ),
    "masked": (transformers.AutoModelForMaskedLM,),
    "labels": (
        transformers.AutoModelForSequenceClassification,
        transformers.AutoModelForTokenClassification,
        transformers.AutoModelForQuestionAnswering,
    ),
    "trunk": (transformers.AutoModel, transformers.AutoModelForTextEncoding),
}


@dataclass(frozen=True)
class ModelClass:
    """One class of the library, and what it is for."""

    made: Any
    role: Role
    why: str = ""  #: its name, and how it was chosen
    is_made_of_two: bool = False  #: as of `joined.halves`

    @property
    def reads(self) -> SourceKind:
        """As of `reads`, the function."""
        return reads(self.made)

    @property
    def reads_both(self) -> bool:
        """Whether it can be given a text and a picture."""
        return (
            not self.is_made_of_two
            and {"input_ids", "pixel_values"} <= inspect.signature(self.made.forward).parameters.keys()
        )

    @property
    def has_words(self) -> bool:
        """Whether it reads a text, or writes one about what it is given."""
        return self.has_two_stacks or self.reads == "text"

    @property
    def has_sides(self) -> bool:
        """Whether it compares texts with pictures, each read by an encoder of its own."""
        return hasattr(self.made, "get_text_features") and hasattr(self.made, "get_image_features")

    @property
    def has_two_stacks(self) -> bool:
        """Whether it has an encoder and a decoder behind it."""
        return self.is_made_of_two or "decoder_input_ids" in inspect.signature(self.made.forward).parameters


#: Classes of modules that multiply by a matrix; the second, of GPT-2 and its kin, holds it transposed.
LINEAR: Final = (nn.Linear, Conv1D)
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
    "no_timestamps_token_id",
)
#: The same of models that hear several languages (Whisper): token → its id, and whether they do.
TOKENS_BY_NAME: Final = ("lang_to_id", "task_to_id")
IS_MULTILINGUAL: Final = "is_multilingual"
#: The heads by which Whisper's times of words are made, [layer, head] each.
ALIGNMENT_HEADS: Final = "alignment_heads"

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


def make_config(values: Mapping[str, Any]) -> Any:
    """A configuration of the kind that its values name. Raises a CheckpointError if the library has none for them."""
    model_type = values.get("model_type")
    if not isinstance(model_type, str) or model_type not in transformers.CONFIG_MAPPING:
        raise CheckpointError(
            "This folder contains a model of type {kind}, which transformers {version} does not have. Headlight opens "
            "every type of model with attention that this version has, and its own checkpoints; it never runs code "
            "from a folder.",
            kind=repr(model_type) if isinstance(model_type, str) and len(model_type) <= 60 else said("unknown"),
            version=transformers.__version__,
        )
    try:
        # As the library writes them, infinite numbers are objects.
        plain = transformers.PreTrainedConfig._decode_special_floats(dict(values))
        return transformers.AutoConfig.for_model(**plain)
    except Exception as error:  # Whatever a class of the library thinks of values from outside.
        message = "config.json is not the configuration of a {model_type} model ({first_line})."
        raise CheckpointError(message, model_type=model_type, first_line=first_words(error)) from error


def turns(config: Any) -> bool:
    """Whether this kind of model can have rotary positions, which need no table, so that texts may be long."""
    known = inspect.signature(type(config).__init__).parameters.keys() | type(config).__annotations__.keys()
    return any(name.startswith(("rope", "rotary")) for name in known)


def has_words(model: Any) -> bool:
    """Whether a model predicts words: it has a layer after its stacks that gives one number for each token."""
    try:
        head = model.get_output_embeddings()
    except (AttributeError, NotImplementedError):
        return False
    return isinstance(head, nn.Module)


def is_for(model: Any, role: Role) -> bool:
    """Whether a model's class is one of those that the library's own maps have for this."""
    return any(type(model) in mapped(auto, type(model.config)) for auto in MAPS[role])


def has_class_for(config: Any, role: Role) -> bool:
    """Whether the library has a class for this, of this kind of model."""
    return any(mapped(auto, type(config)) for auto in MAPS[role])


def end_by_no_padding(model: Any) -> None:
    """Let a model that reads the label of a text from its last token that is not padding take the very last one, where
    it does not know a token of padding; no text of ours is padded.
    """
    config = model.config.get_text_config()
    if config.pad_token_id is None:
        config.pad_token_id = vocab_size(model)


def embeddings(model: Any) -> nn.Embedding:
    """The table of a model's tokens. Raises a CheckpointError if it has none."""
    try:
        table = model.get_input_embeddings()
    except (AttributeError, NotImplementedError):
        table = None
    if not isinstance(getattr(table, "weight", None), Tensor):
        message = "This model ({name}) does not have a single table of tokens, so its tokens cannot be named."
        raise CheckpointError(message, name=name_of(model.config))
    found: nn.Embedding = table
    return found


def vocab_size(model: Any) -> int:
    """Tokens that a model has embeddings for. Raises as `embeddings`."""
    return int(embeddings(model).weight.size(0))


def words(model: Any) -> int:
    """How many tokens a model that predicts words can predict."""
    head: Any = model.get_output_embeddings()
    return int(head.weight.size(0))


def can_write(model: Any) -> bool:
    """Whether the library's `generate` runs this model."""
    return bool(model.can_generate())


def mapped(auto: Any, config_class: type) -> tuple[Any, ...]:
    """The classes that one of the library's maps has for a configuration."""
    made = auto._model_mapping.get(config_class, ())
    return tuple(each for each in (made if isinstance(made, list | tuple) else (made,)) if each is not None)


def name_of(config: Any) -> str:
    """What the library calls a kind of model, for example "Bert"."""
    return type(config).__name__.removesuffix("Config")


def empty_model(model_class: ModelClass, config: Any) -> Any:
    """A model of this configuration whose weights take no memory.

    Raises a CheckpointError if the values of the configuration make no model.
    """
    try:
        with _LOADING, quiet(), torch.device("meta"):
            return model_class.made(copy.deepcopy(config))
    except Exception as error:
        message = "The model that config.json describes cannot be built: {first_line}."
        raise CheckpointError(message, first_line=first_words(error)) from error


def count_numbers(model_class: ModelClass, config: Any) -> tuple[int, int, int]:
    """How many numbers a model of this configuration learns, how many bytes its tables take that it computes, and how
    many numbers its largest weight has.

    No memory is taken for them. Raises as `empty_model`.
    """
    model = empty_model(model_class, config)
    tables = sum(table.numel() * table.element_size() for table in model.buffers())
    sizes = [parameter.numel() for parameter in model.parameters()]
    return sum(sizes), tables, max(sizes, default=0)


def names_in(model: Any, tensors: Collection[str]) -> dict[str, str]:
    """Tensor of a folder → what the library calls it in a model: a parameter or buffer, or a name that it lacks."""
    own = {name: torch.empty(0) for name in model.state_dict()}
    conversions = get_model_conversion_mapping(model)
    renamings = [each for each in conversions if isinstance(each, WeightRenaming)]
    converters = [each for each in conversions if isinstance(each, WeightConverter)]

    def renamed(name: str) -> str:
        to, _ = rename_source_key(name, renamings, converters, model.base_model_prefix, own)
        # As the library does: a name that a renaming takes out of the model keeps its own.
        return name if to not in own and name in own else str(to)

    return {name: renamed(name) for name in tensors}


def declared_computed(model: Any, stored: Collection[str]) -> tuple[str, ...]:
    """The parameters of a model that are not `stored` and of which its class declares that it computes them."""
    patterns = model._keys_to_ignore_on_load_missing or ()
    names = {name for name, _ in model.named_parameters()}.difference(stored)
    return tuple(sorted(name for name in names if any(re.search(pattern, name) for pattern in patterns)))


@dataclass(frozen=True)
class Loading:
    """What the library found in a folder's weights, by names in the model."""

    missing: frozenset[str]  #: what the library initialised, but for ties and what its class declares that it makes
    unexpected: frozenset[str]  #: what it did not use, but for what its class declares that it leaves
    mismatched: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]  #: name → shape in the folder, in the model


def load_weights(
    folder: Path,
    model_class: ModelClass,
    config: Any,
    implementation: str,
    dtype: torch.dtype,
    generation: Any,
    placed: Mapping[str, Any],
    *,
    name: str,
) -> tuple[nn.Module, Loading]:
    """The model of a folder that `folder_check` has checked and holds, on the CPU, in evaluation mode.

    What does not fit is told, for `whole` to judge.

    Args:
        folder, model_class, config, dtype: `model_class` from `class_of`, `config` from `make_config`.
        generation: from `generation_settings`; without it the library would read the folder's files for it.
        implementation: `OURS` or "eager".
        placed: options that put the weights elsewhere, of `placement.Placement`.
        name: of the model, for messages.

    Raises a CheckpointError if the weights cannot be loaded.
    """
    options: dict[str, Any] = {"config": config, "dtype": dtype, "attn_implementation": implementation}
    options |= {"generation_config": generation, "use_safetensors": True}
    options |= placed
    try:
        model, loading = load_reporting(model_class.made, folder, options)
    except Exception as error:
        message = "The weights in {name} cannot be loaded: {first_line}."
        raise CheckpointError(message, name=name, first_line=first_words(error)) from error
    if hasattr(model, "generation_config"):
        model.generation_config = generation
    return model, loading


def load_reporting(made: Any, folder: Path, options: Mapping[str, Any]) -> tuple[Any, Loading]:
    """A model of a class from a folder, in evaluation mode, with what the library found. Raises what it raises."""
    with _LOADING, quiet():
        model, report = made.from_pretrained(
            str(folder),
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            local_files_only=True,
            trust_remote_code=False,
            **options,
        )
    mismatched = {str(name): (tuple(there), tuple(wanted)) for name, there, wanted in report["mismatched_keys"]}
    return model.eval(), Loading(frozenset(report["missing_keys"]), frozenset(report["unexpected_keys"]), mismatched)


def cuts_bytes(tokenizer_class: object) -> bool:
    """Whether the library's tokenizer of this name needs no file of pieces."""
    made: Any = getattr(transformers, tokenizer_class, None) if isinstance(tokenizer_class, str) else None
    is_one = isinstance(made, type) and issubclass(made, transformers.PreTrainedTokenizerBase)
    return is_one and not made.vocab_files_names


def load_tokenizer(folder: Path, config: Any, name: str) -> Any:
    """The tokenizer of a folder; without our `config` the library would read config.json again.

    Nothing else waits meanwhile: no lock is held. Raises a CheckpointError, which calls the model `name`, if there is
    none that can be loaded.
    """
    try:
        with quiet():
            return transformers.AutoTokenizer.from_pretrained(
                str(folder), config=config, local_files_only=True, trust_remote_code=False
            )
    except Exception as error:
        message = (
            "The tokenizer in {name} cannot be loaded: {first_line}. Save it in the folder of the model with "
            "`tokenizer.save_pretrained(folder)`."
        )
        raise CheckpointError(message, name=name, first_line=first_words(error)) from error


def load_image_processor(folder: Path, config: Any, name: str) -> Any:
    """The processor that converts a picture to the numbers that an image model reads; arguments as of `load_tokenizer`.

    Raises a CheckpointError if there is none that can be loaded.
    """
    try:
        with _LOADING, quiet():
            open_it: Callable[..., Any] = transformers.AutoImageProcessor.from_pretrained
            return open_it(str(folder), config=config, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        message = "The image processor in {name} cannot be loaded: {first_line}."
        raise CheckpointError(message, name=name, first_line=first_words(error)) from error


def load_feature_extractor(folder: Path, config: Any, name: str) -> Any:
    """What converts a sound to the numbers that a speech model reads; arguments as of `load_tokenizer`.

    Raises a CheckpointError if there is none that can be loaded.
    """
    try:
        with _LOADING, quiet():
            open_it: Callable[..., Any] = transformers.AutoFeatureExtractor.from_pretrained
            return open_it(str(folder), config=config, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        message = (
            "The feature extractor in {name}, by which its model reads sound, cannot be loaded: {first_line}. Copy "
            "preprocessor_config.json of the original model into the folder."
        )
        raise CheckpointError(message, name=name, first_line=first_words(error)) from error


def picture_sizes(processor: Any) -> dict[str, Any]:
    """To which sizes an image processor brings a picture, as its settings have them."""
    settings = processor.to_dict()
    return {name: settings.get(name) for name in ("size", "crop_size", "pad_size")}


def encoded(model: Any, numbers: Mapping[str, Tensor]) -> Any:
    """What the encoder of a model puts out for the numbers of a picture or a sound."""
    with settings_of_model(model):
        return encoder(model)(**numbers)


def encoder(model: Any) -> Any:
    """The encoder of a model; an encoder alone is all of its base."""
    return model.get_encoder() if model.config.is_encoder_decoder else model.base_model


@contextmanager
def settings_of_model(model: nn.Module | None = None) -> Iterator[None]:
    """What goes wrong in the block, where a model runs first, raises a CheckpointError: its settings do not fit, or
    the `model` asks for another input than text.
    """
    try:
        yield
    except (HeadlightError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # Whatever a class of the library thinks of values from outside.
        known: set[str] = set() if model is None else set(inspect.signature(model.forward).parameters)
        if asked := (known - {"input_ids", *GIVEN["sound"]}).intersection(re.findall(r"\w+", str(error))):
            message = "This model reads more than text: it needs {inputs}, which Headlight does not provide."
            raise CheckpointError(message, inputs=", ".join(sorted(asked))) from error
        if {"input_ids", "pixel_values"} <= known:
            message = (
                "This model reads text and pictures together and cannot read text without a picture ({first_line})."
            )
            raise CheckpointError(message, first_line=first_words(error)) from error
        message = "This model cannot read its input: the settings in its folder contradict each other ({first_line})."
        raise CheckpointError(message, first_line=first_words(error)) from error


def new_cache(has_encoder: bool) -> Any:
    """An empty key/value cache that keeps every row, also of layers with a window (masked), so that it can be cut."""
    own = transformers.DynamicCache()
    return transformers.EncoderDecoderCache(own, transformers.DynamicCache()) if has_encoder else own


def knows_interface(model_class: Any) -> bool:
    """Whether a class calls the attention that is registered, not only one of its own."""
    return bool(model_class._can_set_attn_implementation())


def has_fused(model: Any) -> bool:
    """Whether the library runs a model by torch's fused kernel, as a rule."""
    return knows_interface(type(model)) and bool(model._supports_sdpa)


def is_recorded(model: Any) -> bool:
    """Whether a model calls the attention that is registered, or one of its own that it can stand for."""
    return knows_interface(type(model)) or any(True for _ in explicit.attentions(model))


def attend_by(model: Any, implementation: str) -> None:
    """Let a model attend by this implementation, where it lets one choose; ours also stands for code of its own."""
    if knows_interface(type(model)):
        with quiet():
            model.set_attn_implementation(implementation)
    explicit.attend_by(model, ALL_ATTENTION_FUNCTIONS[OURS] if implementation == OURS else None)


@contextmanager
def attending_by(model: Any, implementation: str) -> Iterator[None]:
    """In the block a model attends by this implementation, as of `attend_by`; nobody else may run it."""
    own = OURS if explicit.are_replaced(model) else model.config._attn_implementation
    attend_by(model, implementation)
    try:
        yield
    finally:
        attend_by(model, own)


def sides_of(model: Any) -> tuple[Any, Any] | None:
    """The encoder of pictures and that of texts of a model that compares them; None of any other.

    Raises a CheckpointError if they are no models of their own.
    """
    if not ModelClass(type(model), "trunk").has_sides:
        return None
    of_input: dict[str, list[Any]] = {"pixel_values": [], "input_ids": []}
    for part in model.children():
        if isinstance(part, transformers.PreTrainedModel):
            of_input.setdefault(str(part.main_input_name), []).append(part)
    pictures, texts = of_input["pixel_values"], of_input["input_ids"]
    if len(pictures) != 1 or len(texts) != 1:
        message = (
            "This model ({name}) compares pictures with texts, but transformers has no separate model for each of the "
            "two."
        )
        raise CheckpointError(message, name=name_of(model.config))
    return pictures[0], texts[0]


def reads(model: Any) -> SourceKind:
    """What a model, or a class, is given the numbers of; "text" of one that is given tokens."""
    return next((kind for kind, names in GIVEN.items() if model.main_input_name in names), "text")


def takes_prompt(model: Any) -> bool:
    """Whether the library's `generate` of a model is told by tokens what to write, as Whisper's."""
    return {"task", "language", "return_timestamps"} <= inspect.signature(model.generate).parameters.keys()


def keeps_rows(model: nn.Module) -> bool:
    """Whether a model can be asked for the logits of its last rows alone."""
    return "logits_to_keep" in inspect.signature(model.forward).parameters


def generation_settings(stated: Mapping[str, Any] | None, config: Mapping[str, Any]) -> Any:
    """Which tokens begin, end and may not be written, as the folder says; how to search is never its business.

    What config.json says counts where there is no generation_config.json (`stated`). Raises a CheckpointError if a
    setting is not an id of a token.
    """
    made: Any = transformers.GenerationConfig
    if stated is None:
        with settings_of_model(), quiet():
            stated = made.from_model_config(dict(config)).to_dict()
    kept = {name: stated[name] for name in TOKEN_SETTINGS if stated.get(name) is not None}
    for name in TOKENS_BY_NAME:
        if isinstance(stated.get(name), dict):
            kept[name] = {str(token): token_id for token, token_id in stated[name].items()}
            check_token_ids({"each_token_id": list(kept[name].values())}, "generation_config.json")
    if isinstance(stated.get(IS_MULTILINGUAL), bool):
        kept[IS_MULTILINGUAL] = stated[IS_MULTILINGUAL]
    check_token_ids(kept, "generation_config.json")
    settings = made(**kept)
    if isinstance(stated.get(ALIGNMENT_HEADS), list):
        settings.alignment_heads = stated[ALIGNMENT_HEADS]
    return settings


class quiet:
    """The library reports about weights to standard error; what matters of it becomes an error."""

    def __enter__(self) -> None:
        log = logging.getLogger("transformers")
        self._level = log.level
        log.setLevel(logging.ERROR)
        _transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]

    def __exit__(self, *_: object) -> None:
        logging.getLogger("transformers").setLevel(self._level)

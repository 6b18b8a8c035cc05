"""The architectures that can be opened: one line each, with what must be known beforehand."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from model.abilities import Kind, PositionScheme
from model.errors import CheckpointError
from model.messages import said


@dataclass(frozen=True)
class Family:
    """One architecture: its name, which stacks it has, and how it knows the positions of tokens.

    Attributes:
        is_counted_from_padding: whether its position table begins after the padding token's id, as RoBERTa's does.
    """

    name: str
    kind: Kind
    positions: PositionScheme
    is_counted_from_padding: bool = False


FAMILIES: Final[Mapping[str, Family]] = {
    "albert": Family("ALBERT", "encoder", "learned"),
    "bert": Family("BERT", "encoder", "learned"),
    "camembert": Family("CamemBERT", "encoder", "learned", is_counted_from_padding=True),
    "deberta": Family("DeBERTa", "encoder", "relative bias"),
    "deberta-v2": Family("DeBERTa v2/v3", "encoder", "relative bias"),
    "distilbert": Family("DistilBERT", "encoder", "learned"),
    "electra": Family("ELECTRA", "encoder", "learned"),
    "modernbert": Family("ModernBERT", "encoder", "rotary"),
    "mpnet": Family("MPNet", "encoder", "relative bias", is_counted_from_padding=True),
    "roberta": Family("RoBERTa", "encoder", "learned", is_counted_from_padding=True),
    "xlm-roberta": Family("XLM-RoBERTa", "encoder", "learned", is_counted_from_padding=True),
    "bloom": Family("BLOOM", "decoder", "ALiBi"),
    "falcon": Family("Falcon", "decoder", "rotary"),
    "gemma": Family("Gemma", "decoder", "rotary"),
    "gemma2": Family("Gemma 2", "decoder", "rotary"),
    "gemma3_text": Family("Gemma 3", "decoder", "rotary"),
    "gpt2": Family("GPT-2", "decoder", "learned"),
    "gpt_neo": Family("GPT-Neo", "decoder", "learned"),
    "gpt_neox": Family("GPT-NeoX, Pythia", "decoder", "rotary"),
    "gpt_oss": Family("gpt-oss", "decoder", "rotary"),
    "granite": Family("Granite", "decoder", "rotary"),
    "llama": Family("Llama, SmolLM", "decoder", "rotary"),
    "mistral": Family("Mistral", "decoder", "rotary"),
    "mpt": Family("MPT", "decoder", "ALiBi"),
    "olmo2": Family("OLMo 2", "decoder", "rotary"),
    "opt": Family("OPT", "decoder", "learned"),
    "phi": Family("Phi", "decoder", "rotary"),
    "phi3": Family("Phi-3", "decoder", "rotary"),
    "qwen2": Family("Qwen 2", "decoder", "rotary"),
    "qwen3": Family("Qwen 3", "decoder", "rotary"),
    "smollm3": Family("SmolLM 3", "decoder", "rotary"),
    "stablelm": Family("StableLM", "decoder", "rotary"),
    "starcoder2": Family("StarCoder 2", "decoder", "rotary"),
    "bart": Family("BART", "encoder-decoder", "learned"),
    "blenderbot": Family("Blenderbot", "encoder-decoder", "learned"),
    "m2m_100": Family("M2M100, NLLB", "encoder-decoder", "sinusoidal"),
    "marian": Family("MarianMT, OPUS-MT", "encoder-decoder", "sinusoidal"),
    "mbart": Family("mBART", "encoder-decoder", "learned"),
    "mt5": Family("mT5", "encoder-decoder", "relative bias"),
    "pegasus": Family("Pegasus", "encoder-decoder", "sinusoidal"),
    "t5": Family("T5", "encoder-decoder", "relative bias"),
    "deit": Family("DeiT", "image", "learned"),
    "dinov2": Family("DINOv2", "image", "learned"),
    "vit": Family("ViT", "image", "learned"),
}
"""`model_type` of a config.json → what it is; every one of them is tested on a small random model."""

NO_LENGTH: Final = ("ALiBi", "relative bias")
"""Position schemes that work at any length."""


def family_of(model_type: object) -> Family:
    """The family of a `model_type`.

    Raises:
        CheckpointError: it is none of those that work; the message lists them.
    """
    if isinstance(model_type, str) and model_type in FAMILIES:
        return FAMILIES[model_type]
    what = said("of no kind named")
    if isinstance(model_type, str) and len(model_type) <= 60:
        what = said("of the kind {kind!r}", kind=model_type)
    works = ", ".join(family.name for family in FAMILIES.values())
    raise CheckpointError(
        "This folder holds a model {what}, which Headlight cannot read. It reads {works}, and checkpoints of its own.",
        what=what,
        works=works,
    )


def positions_of(model_type: str, config: Any) -> PositionScheme:
    """The position scheme of a configuration; Falcon has two."""
    if model_type == "falcon" and getattr(config, "alibi", False):
        return "ALiBi"
    return FAMILIES[model_type].positions


def max_length_of(model_type: str, config: Any) -> int | None:
    """How many tokens a model reads at most; None if its positions set no limit."""
    family = FAMILIES[model_type]
    limit = getattr(config, "max_position_embeddings", None) or getattr(config, "max_seq_len", None)
    is_endless = model_type not in ("mpnet", "mpt") and positions_of(model_type, config) in NO_LENGTH
    if is_endless or not isinstance(limit, int) or limit < 1:
        return None
    return limit - int(config.pad_token_id or 0) - 1 if family.is_counted_from_padding else limit

"""Small models that write, with texts that end now and then."""

from typing import Any

from transformers import GenerationConfig

from model.adapters.library import OURS
from model.adapters.library_tokenizer import LibraryTokenizer
from model.adapters.open_folder import explore
from model.adapters.text_writer import TextWriter
from tests.model.adapters import zoo

DECODERS = ["gpt2", "llama", "qwen2", "mistral", "gpt_oss"]
BOTH = ["t5", "bart", "marian", "mbart"]


def writer(model_type: str, **settings: Any) -> TextWriter:
    """A random model of this kind that ends its texts now and then, with our attention."""
    model: Any = zoo.tiny(model_type)
    model.set_attn_implementation(OURS)
    values = {
        **model.generation_config.to_dict(),
        "eos_token_id": [2, *range(41, 80, 2)],
        "pad_token_id": 0,
        **settings,
    }
    model.generation_config = GenerationConfig(**{name: value for name, value in values.items() if value is not None})
    layout, abilities = explore(model)
    return TextWriter(model, LibraryTokenizer(zoo._metaspace()), layout, abilities, name=model_type, digest=model_type)

"""Models to compare on, random and never downloaded, and texts of an exact number of tokens. Measures nothing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

#: Position tables reach this far; those of the originals end at 512 and 1,024.
MAX_TOKENS: Final = 4_096
MAX_LONG: Final = 16_384
#: Each is one token of both tokenizers.
WORDS: Final = tuple("the man and his dog walk along the river because it is too late to go back to the house".split())  # noqa: SIM905 - a list of twenty strings would be harder to read


@dataclass(frozen=True)
class Shape:
    """A model by its configuration.

    Attributes:
        name: as in the table.
        folder: of its files.
        model_type: as `transformers` calls it.
        settings: what differs from the configuration's defaults, which are those of the original.
        special: tokens that its tokenizer adds to every text.
        longest: tokens that it reads at most.
    """

    name: str
    folder: str
    model_type: str
    settings: dict[str, Any]
    special: int
    longest: int = MAX_TOKENS


@dataclass(frozen=True)
class Case:
    """One model and one text of so many tokens, where both lie."""

    shape: Shape
    tokens: int
    folder: Path
    text: Path


SHAPES: Final = {
    "bert": Shape("BERT-base shape", "bert", "bert", {"max_position_embeddings": MAX_TOKENS}, 2),
    "gpt2": Shape("GPT-2 shape", "gpt2", "gpt2", {"n_positions": MAX_TOKENS}, 0),
}
#: For texts of the length of a small book.
LONG_SHAPES: Final = {
    "llama": Shape(
        "Llama shape, 30 × 9 heads, 3 of keys",
        "llama",
        "llama",
        {
            "hidden_size": 576, "intermediate_size": 1_536, "num_hidden_layers": 30, "num_attention_heads": 9,
            "num_key_value_heads": 3, "head_dim": 64, "vocab_size": 49_152, "max_position_embeddings": MAX_LONG,
        },
        0,
        MAX_LONG,
    ),
    "modernbert": Shape(
        "ModernBERT-base shape, windows of 128",
        "modernbert",
        "modernbert",
        {
            "max_position_embeddings": MAX_LONG, "pad_token_id": 0, "cls_token_id": 1, "sep_token_id": 2,
            "bos_token_id": 1, "eos_token_id": 2,
        },
        2,
        MAX_LONG,
    ),
}  # fmt: skip


def text_of(shape: Shape, tokens: int) -> str:
    """A text that this model reads as exactly so many tokens."""
    return " ".join(WORDS[index % len(WORDS)] for index in range(tokens - shape.special))


def save_model(shape: Shape, root: Path) -> Path:
    """Make a model and its tokenizer with a fixed seed, and save both in a folder of `root`."""
    folder = root / shape.folder
    config = transformers.AutoConfig.for_model(shape.model_type, **shape.settings)
    torch.manual_seed(0)
    # With the heads that TransformerLens expects; the others leave them out.
    head = transformers.AutoModelForMaskedLM if shape.special else transformers.AutoModelForCausalLM
    head.from_config(config).eval().save_pretrained(folder)
    tokenizer = _wordpiece(config.vocab_size) if shape.special else _bytes(config.vocab_size)
    tokenizer.model_max_length = shape.longest
    tokenizer.save_pretrained(folder)
    return folder


def _filled(pieces: list[str], size: int, continued: str) -> dict[str, int]:
    """A vocabulary of as many pieces as the model has embeddings."""
    pieces = list(dict.fromkeys(pieces))
    return {piece: index for index, piece in enumerate([*pieces, *(f"{continued}{i}" for i in range(size))][:size])}


def _wordpiece(size: int) -> transformers.PreTrainedTokenizerFast:
    vocabulary = _filled(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", *WORDS], size, "##")
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.decoder = decoders.WordPiece()
    special = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, mask_token="[MASK]", **special)


def _bytes(size: int) -> transformers.PreTrainedTokenizerFast:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges: list[tuple[str, str]] = []
    for word in WORDS:
        merges += [(word[:index], word[index]) for index in range(1, len(word))]
    merges += [("Ġ", word) for word in WORDS]
    pieces = ["<|endoftext|>", *alphabet, *(first + second for first, second in merges)]
    tokenizer = Tokenizer(models.BPE(_filled(pieces, size, "Ġ#"), list(dict.fromkeys(merges))))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    end = "<|endoftext|>"
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=end, eos_token=end)

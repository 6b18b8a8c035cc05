"""Small random models of every architecture, tokenizers of every kind, chats, models that write, and their folders."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import sentencepiece as spm
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import GenerationConfig

from model.abilities import Kind
from model.adapters.base_reader import Opened
from model.adapters.library import OURS
from model.adapters.library_tokenizer import LibraryTokenizer
from model.adapters.open_folder import explore
from model.adapters.text_reader import TextReader
from model.adapters.text_writer import TextWriter
from model.errors import CheckpointError
from model.opening import open_reader
from tests.conftest import SENTENCES

VOCAB = 400
SMALL = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 96,
}
SHARED = {"num_key_value_heads": 2, "head_dim": 8, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
#: The encoder has other numbers than the decoder, so that nothing can be mistaken for the other.
TWO_STACKS = {
    "vocab_size": VOCAB,
    "d_model": 32,
    "encoder_layers": 3,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 96,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
}
BUCKETS = {"vocab_size": VOCAB, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4, "num_layers": 3}
BUCKETS |= {"num_decoder_layers": 2, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 12}
BUCKETS |= {"pad_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 0}
PATCHES = {"image_size": 24, "patch_size": 8, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
PATCHES |= {"intermediate_size": 48}
WINDOW = {"sliding_window": 5}

CONFIGS: dict[str, dict[str, Any]] = {
    "albert": SMALL | {"embedding_size": 16},
    "bert": SMALL,
    "camembert": SMALL | {"pad_token_id": 1},
    "deberta": SMALL | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "pad_token_id": 0},
    "deberta-v2": SMALL | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 8},
    "distilbert": {
        "vocab_size": VOCAB,
        "dim": 32,
        "n_layers": 2,
        "n_heads": 4,
        "hidden_dim": 48,
        "max_position_embeddings": 96,
    },
    "electra": SMALL | {"embedding_size": 16},
    "modernbert": SMALL
    | {"local_attention": 6, "global_attn_every_n_layers": 2, "pad_token_id": 0, "bos_token_id": 1}
    | {"eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2},
    "mpnet": SMALL | {"pad_token_id": 1},
    "roberta": SMALL | {"pad_token_id": 1},
    "xlm-roberta": SMALL | {"pad_token_id": 1},
    "biogpt": SMALL,
    "bloom": {"vocab_size": VOCAB, "hidden_size": 32, "n_layer": 2, "n_head": 4},
    "ctrl": {"vocab_size": VOCAB, "n_embd": 32, "dff": 48, "n_layer": 2, "n_head": 4, "n_positions": 96},
    "falcon": SMALL | {"alibi": False, "new_decoder_architecture": False, "multi_query": True, "ffn_hidden_size": 48},
    "gemma": SMALL | SHARED,
    "gemma2": SMALL | SHARED | WINDOW | {"attn_logit_softcapping": 2.0, "query_pre_attn_scalar": 8},
    "gemma3_text": SMALL | SHARED | WINDOW | {"query_pre_attn_scalar": 8, "sliding_window_pattern": 2},
    "gpt2": {"vocab_size": VOCAB, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 96},
    "gpt_neo": {"vocab_size": VOCAB, "hidden_size": 32, "num_layers": 2, "num_heads": 4, "max_position_embeddings": 96}
    | {"attention_types": [[["global", "local"], 1]], "window_size": 5, "intermediate_size": 48},
    "gpt_neox": SMALL,
    "gpt_oss": SMALL | SHARED | WINDOW | {"num_local_experts": 4, "num_experts_per_tok": 2},
    "granite": SMALL | {"num_key_value_heads": 2, "attention_multiplier": 0.3, "logits_scaling": 3.0},
    "llama": SMALL | {"num_key_value_heads": 2},
    "mistral": SMALL | SHARED | WINDOW,
    "mixtral": SMALL | {"num_key_value_heads": 2, "num_local_experts": 4},
    "mpt": {"vocab_size": VOCAB, "d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 96},
    "olmo": SMALL | {"num_key_value_heads": 2},
    "olmo2": SMALL | {"num_key_value_heads": 2},
    "openai-gpt": {"vocab_size": VOCAB, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 96},
    "opt": {"vocab_size": VOCAB, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 48}
    | {"max_position_embeddings": 96, "word_embed_proj_dim": 32, "pad_token_id": 0},
    "phi": SMALL,
    "phi3": SMALL | {"num_key_value_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
    "qwen2": SMALL | {"num_key_value_heads": 2},
    "qwen3": SMALL | {"num_key_value_heads": 2, "head_dim": 16},
    "smollm3": SMALL | {"num_key_value_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
    "stablelm": SMALL | {"num_key_value_heads": 2},
    "starcoder2": SMALL | {"num_key_value_heads": 2} | WINDOW,
    "bart": TWO_STACKS,
    "blenderbot": TWO_STACKS,
    "m2m_100": TWO_STACKS,
    "marian": TWO_STACKS,
    "mbart": TWO_STACKS | {"decoder_start_token_id": None},
    "mt5": BUCKETS,
    "pegasus": TWO_STACKS,
    "t5": BUCKETS,
    "deit": PATCHES,
    "dinov2": PATCHES | {"mlp_ratio": 2},
    "vit": PATCHES,
}

HEADS: dict[str, Any] = {
    "encoder": transformers.AutoModel,
    "masked": transformers.AutoModelForMaskedLM,
    "decoder": transformers.AutoModelForCausalLM,
    "encoder-decoder": transformers.AutoModelForSeq2SeqLM,
    "image": transformers.AutoModel,
}
"""Kind of model → which of the library's classes makes it; "masked" is an encoder that predicts masked words."""
_ENCODERS = "albert bert camembert deberta deberta-v2 distilbert electra modernbert mpnet roberta xlm-roberta"
KINDS: dict[str, Kind] = dict.fromkeys(CONFIGS, "decoder")
KINDS |= dict.fromkeys(_ENCODERS.split(), "encoder")
KINDS |= dict.fromkeys(["bart", "blenderbot", "m2m_100", "marian", "mbart", "mt5", "pegasus", "t5"], "encoder-decoder")
KINDS |= dict.fromkeys(["deit", "dinov2", "vit"], "image")


def tiny(
    model_type: str, seed: int = 0, changes: Mapping[str, Any] | None = None, head: str | None = None
) -> transformers.PreTrainedModel:
    """A random model whose attention is far from even, with its own eager attention; `head` is a key of `HEADS`."""
    config = transformers.AutoConfig.for_model(model_type, **(CONFIGS[model_type] | dict(changes or {})))
    torch.manual_seed(seed)
    model = HEADS[head or KINDS[model_type]].from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name.lower() and parameter.dim() > 1 and parameter.requires_grad:
                parameter.normal_(
                    std=0.15 if "num_heads" in CONFIGS[model_type] and "d_kv" in CONFIGS[model_type] else 0.25
                )
            elif "sinks" in name:
                parameter.normal_(std=1.0)
    return model


def save_joined(folder: Path) -> Path:
    """A folder with an encoder and a decoder of two random BERTs joined (BERT2BERT), of unequal shapes."""
    own = {"num_attention_heads": 2, "is_decoder": True, "add_cross_attention": True}
    encoder, decoder = (
        transformers.AutoConfig.for_model("bert", **(SMALL | more)) for more in ({"num_hidden_layers": 3}, own)
    )
    config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    torch.manual_seed(0)
    model = transformers.EncoderDecoderModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.25)
    tokens = {"decoder_start_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    model.generation_config = GenerationConfig(**tokens)
    model.save_pretrained(folder)
    save_tokenizer(folder, "wordpiece")
    return folder


def save_model(folder: Path, model_type: str, tokenizer: str = "wordpiece", head: str | None = None) -> Path:
    """A folder with a random model and a tokenizer in it."""
    tiny(model_type, head=head).save_pretrained(folder)
    save_tokenizer(folder, tokenizer)
    return folder


def set_config(folder: Path, **values: object) -> None:
    """Write settings into a folder's config.json."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, **values}), encoding="utf-8")


#: Models for long texts: their tokenizer, their setting of the longest text, and how long that is.
LONGEST = {
    "bert": ("wordpiece", "max_position_embeddings", 1_024),
    "gpt2": ("bytes", "n_positions", 1_024),
    "llama": ("bytes", "max_position_embeddings", 1_024),
    "bart": ("metaspace", "max_position_embeddings", 1_024),
}


def save_longest(folder: Path, model_type: str) -> Path:
    """As `save_model`, with one layer a stack, which reads as many tokens as `LONGEST` says."""
    tokenizer, setting, length = LONGEST[model_type]
    layers = {"num_hidden_layers": 1, "n_layer": 1, "encoder_layers": 1, "decoder_layers": 1}
    known = CONFIGS[model_type]
    changes = {name: one for name, one in layers.items() if name in known} | {setting: length}
    tiny(model_type, changes=changes).save_pretrained(folder)
    save_tokenizer(folder, tokenizer)
    return folder


def text_of(tokenizer: Any, length: int) -> str:
    """A text of so many tokens, special ones among them."""
    words = [word for sentence in SENTENCES for word in sentence.split()] * 99

    def count(text: str) -> int:
        return len(tokenizer(text).input_ids)

    few, many = 1, length
    while few < many:  # the most words that fit
        middle = (few + many + 1) // 2
        few, many = (middle, many) if count(" ".join(words[:middle])) <= length else (few, middle - 1)
    text = " ".join(words[:few])
    while count(text) < length:
        text += " ." if count(f"{text} .") <= length else "."
    assert count(text) == length
    return text


def save_tokenizer(folder: Path, kind: str) -> None:
    """A tokenizer of one of the three kinds, learned from a few sentences."""
    {"wordpiece": wordpiece, "bytes": byte_level, "metaspace": metaspace}[kind]().save_pretrained(folder)


def wordpiece(sentences: Sequence[str] = SENTENCES, most: int = 300) -> transformers.PreTrainedTokenizerFast:
    """As BERT's: learned from sentences, with at most so many tokens."""
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(sentences, trainers.WordPieceTrainer(vocab_size=most, special_tokens=special))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.decoder = decoders.WordPiece()
    made = fast(tokenizer, pad="[PAD]", cls="[CLS]", sep="[SEP]", unk="[UNK]", mask="[MASK]")
    # As BERT's own tokenizer, it tells the types of tokens.
    made.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    made.init_kwargs["model_input_names"] = made.model_input_names
    return made


def byte_level() -> transformers.PreTrainedTokenizerFast:
    special = ["<|pad|>", "<|begin|>", "<|end|>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=380, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.decoder = decoders.ByteLevel()
    return fast(tokenizer, pad="<|pad|>", bos="<|begin|>", eos="<|end|>")


def metaspace() -> transformers.PreTrainedTokenizerFast:
    special = ["<pad>", "<s>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    tokenizer.decoder = decoders.Metaspace()
    return fast(tokenizer, pad="<pad>", bos="<s>", eos="</s>", unk="<unk>")


def fast(tokenizer: Tokenizer, **special: str) -> transformers.PreTrainedTokenizerFast:
    named = {f"{name}_token": token for name, token in special.items()}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named)


DECODERS = ["gpt2", "llama", "qwen2", "mistral", "gpt_oss"]
BOTH = ["t5", "bart", "marian", "mbart"]


def writer(model_type: str, **settings: Any) -> TextWriter:
    """A random model of this kind that ends its texts now and then, with our attention."""
    model: Any = tiny(model_type)
    model.set_attn_implementation(OURS)
    values = {
        **model.generation_config.to_dict(),
        "eos_token_id": [2, *range(41, 80, 2)],
        "pad_token_id": 0,
        **settings,
    }
    model.generation_config = GenerationConfig(**{name: value for name, value in values.items() if value is not None})
    layout, abilities = explore(model)
    return TextWriter(Opened(model, layout, abilities, model_type, model_type), LibraryTokenizer(metaspace()))


def random_reader(model_type: str, head: str | None = None) -> TextReader:
    """A random model of this kind, with our attention, that only reads. No gain of a norm is 1, no bias 0."""
    model: Any = tiny(model_type, head=head)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter), alpha=0.3)
    model.set_attn_implementation(OURS)
    layout, abilities = explore(model)
    return TextReader(Opened(model, layout, abilities, model_type, model_type), LibraryTokenizer(metaspace()))


def refused(folder: Path, words: str) -> None:
    with pytest.raises(CheckpointError, match=words) as error:
        open_reader(folder)
    assert len(str(error.value)) < 1200
    assert "\n" not in str(error.value)


#: Each message between marks, and the assistant's begun.
MARKED: Final = (
    "{% for m in messages %}<|begin|>{{ m.role }}\n{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|begin|>assistant\n{% endif %}"
)
#: The system's text goes into the first message of the user; contents are trimmed.
BRACKETS: Final = (
    "{% set offset = 0 %}{% set lead = '' %}"
    "{% if messages[0].role == 'system' %}{% set offset = 1 %}"
    "{% set lead = '<<SYS>>\n' + messages[0].content + '\n<</SYS>>\n\n' %}{% endif %}"
    "{% for m in messages[offset:] %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must take turns.') }}{% endif %}"
    "{% if m.role == 'user' %}"
    "{{ bos_token + '[INST] ' + ((lead if loop.first else '') + m.content).strip() + ' [/INST]' }}"
    "{% else %}{{ ' ' + m.content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
)
#: Contents are trimmed, and a system's message is refused.
TRIMMED: Final = (
    "{{ bos_token }}{% for m in messages %}"
    "{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{{ '<turn>' + ('model' if m.role == 'assistant' else m.role) + '\n' + m['content'] | trim + '</turn>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<turn>model\n' }}{% endif %}"
)
#: A standing system message, and its own text where a person gave none.
DEFAULT_SYSTEM: Final = (
    "{% if messages[0].role != 'system' %}SYSTEM: Be brief.\n{% endif %}"
    "{% for m in messages %}{{ m.role | upper }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)
#: Only the last two messages are kept.
FORGETFUL: Final = (
    "{% for m in messages[-2:] %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
#: What the assistant thought in earlier messages is cut away: the template looks into contents.
LOOKING: Final = (
    "{% for m in messages %}<|begin|>{{ m.role }}\n{{ m.content.split('</think>')[-1] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|begin|>assistant\n{% endif %}"
)
FORMS: Final = {
    "marked": MARKED,
    "brackets": BRACKETS,
    "trimmed": TRIMMED,
    "default system": DEFAULT_SYSTEM,
    "forgetful": FORGETFUL,
}


def save_chat_model(
    folder: Path, template: object = MARKED, model_type: str = "llama", tokenizer: str = "bytes", **config: Any
) -> Path:
    """A folder with a small random decoder whose tokenizer_config.json has this chat template."""
    tiny(model_type, changes={"max_position_embeddings": 512}).save_pretrained(folder)
    save_tokenizer(folder, tokenizer)
    put_template(folder, template, **config)
    return folder


def put_template(folder: Path, template: object, **config: Any) -> None:
    """Write a chat template, and other settings, into a tokenizer_config.json."""
    path = folder / "tokenizer_config.json"
    settings: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**settings, "chat_template": template, **config}), encoding="utf-8")


OF_LANGUAGES = 500


def _nllb() -> Any:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer.train_from_iterator(SENTENCES, trainers.BpeTrainer(vocab_size=250, special_tokens=special))
    learned = json.loads(tokenizer.to_str())["model"]
    made: Any = transformers.NllbTokenizer
    return made(
        vocab=learned["vocab"],
        merges=[tuple(pair) for pair in learned["merges"]],
        additional_special_tokens=["eng_Latn", "fra_Latn", "deu_Latn", "zho_Hans"],
    )


def _mbart(made: Any) -> Any:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=250, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return made(vocab=[tuple(piece) for piece in json.loads(tokenizer.to_str())["model"]["vocab"]])


def _m2m(folder: Path) -> Any:
    learned = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES), model_writer=learned, vocab_size=120, hard_vocab_limit=False,
        minloglevel=2,
    )  # fmt: skip
    folder.mkdir(parents=True)
    (folder / "spm.model").write_bytes(learned.getvalue())
    cutter = spm.SentencePieceProcessor(model_proto=learned.getvalue())
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *(cutter.id_to_piece(i) for i in range(3, cutter.get_piece_size()))]
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}), encoding="utf-8")
    return transformers.M2M100Tokenizer(str(folder / "vocab.json"), str(folder / "spm.model"))


def _of_languages(kind: str, folder: Path) -> Any:
    if kind == "m2m_100":
        return _m2m(folder)
    makers = {
        "nllb": _nllb,
        "mbart": lambda: _mbart(transformers.MBartTokenizer),
        "mbart50": lambda: _mbart(transformers.MBart50Tokenizer),
    }
    return makers[kind]()


def save_many_languages(folder: Path, kind: str) -> Path:
    """A folder with a random translator and its tokenizer: "nllb", "mbart", "mbart50" or "m2m_100"."""
    tokenizer = _of_languages(kind, folder)
    changes = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "vocab_size": OF_LANGUAGES}
    # mBART begins with the language that the folder was trained for, the others with </s>.
    changes["decoder_start_token_id"] = tokenizer.convert_tokens_to_ids("ro_RO") if kind == "mbart" else 2
    tiny("mbart" if kind.startswith("mbart") else "m2m_100", changes=changes).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

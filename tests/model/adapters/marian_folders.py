"""Small random MarianMT folders, made as transformers makes them; nothing is downloaded."""

import io
import json
import shutil
from pathlib import Path
from typing import Any

import sentencepiece as spm
import torch
from transformers import GenerationConfig, MarianConfig, MarianMTModel
from transformers.models.marian.tokenization_marian import MarianTokenizer as TheirTokenizer

from model.analysis.coreference.case_files import curated_cases

ENGLISH = [
    "The animal didn't cross the street because it was too tired.",
    "A man in a red shirt walks along the river with his old dog.",
    "Tom told me that he would be late again tomorrow morning.",
    "She gave her sister the book, and they read it together.",
] * 8
GERMAN = [
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "Ein Mann in einem roten Hemd geht mit seinem alten Hund am Fluss entlang.",
    "Tom sagte mir, dass er morgen früh wieder zu spät kommen würde.",
    "Sie gab ihrer Schwester das Buch, und sie lasen es zusammen.",
] * 8
TEXTS = ["The animal was too tired.", "A man walks.", "She gave Tom the red book 中, and he read it to his old dog."]


#: Three-letter code → sentences from which a vocabulary is made.
LINES = {"eng": ENGLISH, "deu": GERMAN, "zho": [case.sentence for case in curated_cases("zh").cases]}


def train(lines: list[str]) -> bytes:
    model = io.BytesIO()
    size = max(90, len(set("".join(lines))) + 20)
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=size, hard_vocab_limit=False, minloglevel=2,
        character_coverage=1.0,
    )  # fmt: skip
    return model.getvalue()


def write_marian(
    folder: Path, *, max_shard_size: str = "1GB", languages: tuple[str, str] = ("eng", "deu"), **settings: Any
) -> MarianMTModel:
    """Write a folder like those of Helsinki-NLP and return the model in it."""
    folder.mkdir(parents=True, exist_ok=True)
    processors = []
    for name, language in zip(("source", "target"), languages, strict=True):
        (folder / f"{name}.spm").write_bytes(train(LINES[language]))
        processors.append(spm.SentencePieceProcessor(model_file=str(folder / f"{name}.spm")))
    pieces = {one.id_to_piece(i) for one in processors for i in range(3, one.get_piece_size())}
    order = ["</s>", "<unk>", ">>deu<<", ">>nld<<", *sorted(pieces), "<pad>"]
    vocabulary = {piece: number for number, piece in enumerate(order)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    tokenizer = TheirTokenizer.from_pretrained(folder, source_lang=languages[0], target_lang=languages[1])
    shape: dict[str, Any] = {
        "vocab_size": len(order), "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "init_std": 0.1,
        "activation_function": "swish", "max_position_embeddings": 128, "scale_embedding": True,
        "pad_token_id": vocabulary["<pad>"], "eos_token_id": 0, "forced_eos_token_id": 0,
        "decoder_start_token_id": vocabulary["<pad>"],
    }  # fmt: skip
    torch.manual_seed(3)
    model = varied(MarianMTModel(MarianConfig(**{**shape, **settings})).eval())
    with torch.no_grad():
        model.final_logits_bias[0, 0] += 2.0
    pad = vocabulary["<pad>"]
    model.generation_config = GenerationConfig(
        bad_words_ids=[[pad]], decoder_start_token_id=pad, eos_token_id=0, forced_eos_token_id=0, max_length=128,
        num_beams=1, pad_token_id=pad, renormalize_logits=True,
    )  # fmt: skip
    model.save_pretrained(folder, max_shard_size=max_shard_size)
    tokenizer.save_pretrained(folder)
    return model


def varied(model: MarianMTModel) -> MarianMTModel:
    """As varied as a trained model: biases, gains, the output's bias; and translations that end at several lengths."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
        model.model.decoder.layers[-1].final_layer_norm.weight.normal_()
        model.final_logits_bias.normal_(std=0.5)
    return model


def write_separate(folder: Path) -> MarianMTModel:
    """A folder like those of Helsinki-NLP that have one vocabulary for the source and another for the target."""
    folder.mkdir(parents=True)
    sizes = {}
    for name, language, file in (("source", "eng", "vocab.json"), ("target", "deu", "target_vocab.json")):
        (folder / f"{name}.spm").write_bytes(train(LINES[language]))
        cutter = spm.SentencePieceProcessor(model_file=str(folder / f"{name}.spm"))
        pieces = sorted(cutter.id_to_piece(i) for i in range(3, cutter.get_piece_size()))
        order = ["</s>", "<unk>", "<pad>", *pieces]
        (folder / file).write_text(json.dumps({piece: i for i, piece in enumerate(order)}), encoding="utf-8")
        sizes[name] = len(order)
    tokenizer = TheirTokenizer.from_pretrained(
        folder, source_lang="eng", target_lang="deu", separate_vocabs=True,
        target_vocab_file=str(folder / "target_vocab.json"),
    )  # fmt: skip
    torch.manual_seed(6)
    config = MarianConfig(
        vocab_size=sizes["source"], decoder_vocab_size=sizes["target"], share_encoder_decoder_embeddings=False,
        d_model=32, encoder_layers=2, decoder_layers=2, encoder_ffn_dim=64, decoder_ffn_dim=64, init_std=0.1,
        encoder_attention_heads=4, decoder_attention_heads=4, max_position_embeddings=128, pad_token_id=2,
        eos_token_id=0, forced_eos_token_id=0, decoder_start_token_id=2,
    )  # fmt: skip
    model = varied(MarianMTModel(config).eval())
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model


def changed(folder: Path, to: Path, name: str, **values: Any) -> Path:
    """A copy of a folder with some values of one of its JSON files replaced."""
    shutil.copytree(folder, to)
    content = json.loads((to / name).read_text(encoding="utf-8"))
    (to / name).write_text(json.dumps({**content, **values}), encoding="utf-8")
    return to

"""Translators of many languages, whose tokenizers are learned from a few sentences, saved as folders."""

import io
import json
from pathlib import Path
from typing import Any

import sentencepiece as spm
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from tests.conftest import SENTENCES
from tests.model.adapters import zoo

VOCAB = 500


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


def _tokenizer(kind: str, folder: Path) -> Any:
    if kind == "m2m_100":
        return _m2m(folder)
    makers = {
        "nllb": _nllb,
        "mbart": lambda: _mbart(transformers.MBartTokenizer),
        "mbart50": lambda: _mbart(transformers.MBart50Tokenizer),
    }
    return makers[kind]()


def save(folder: Path, kind: str) -> Path:
    """A folder with a random translator and its tokenizer: "nllb", "mbart", "mbart50" or "m2m_100"."""
    tokenizer = _tokenizer(kind, folder)
    changes = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "vocab_size": VOCAB}
    # mBART begins with the language that the folder was trained for, the others with </s>.
    changes["decoder_start_token_id"] = tokenizer.convert_tokens_to_ids("ro_RO") if kind == "mbart" else 2
    zoo.tiny("mbart" if kind.startswith("mbart") else "m2m_100", changes=changes).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

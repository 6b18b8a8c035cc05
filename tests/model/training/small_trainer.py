"""A short training of a tiny model of transformers by its `Trainer`, watched or not."""

from pathlib import Path
from typing import Any

import torch
import transformers

from model.training.watch import watch

TEXTS = ["The dog was tired.", "A man in a red shirt walks.", "Tom told me that he would be late."]


def trained(folder: Path, head: str | None, home: Path, film: Path | None = None) -> tuple[list[float], list[float]]:
    """The losses of seven steps, and what comes after them of the random numbers; a film where it is asked for."""
    transformers.set_seed(3)
    config = transformers.AutoConfig.from_pretrained(folder)
    head = head or ("AutoModelForSeq2SeqLM" if config.is_encoder_decoder else "AutoModelForCausalLM")
    model = getattr(transformers, head).from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows: list[dict[str, Any]] = []
    for text in TEXTS * 5:
        ids = tokenizer(text)["input_ids"][:5]
        rows.append({"input_ids": ids, "labels": ids})
    arguments = transformers.TrainingArguments(
        output_dir=str(home / "out"), max_steps=7, per_device_train_batch_size=2, logging_steps=1, save_strategy="no",
        report_to=[], use_cpu=True, seed=3, disable_tqdm=True, learning_rate=0.05,
    )  # fmt: skip
    callbacks: list[transformers.TrainerCallback] = (
        [] if film is None else [watch(model, tokenizer, every=2, file=film)]
    )
    trainer = transformers.Trainer(model, arguments, train_dataset=rows, callbacks=callbacks)
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return losses, torch.rand(4).tolist()

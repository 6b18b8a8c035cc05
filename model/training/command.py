"""`python -m model train`: its options, and what it does with them. Knows nothing of the other commands."""

import argparse
import json
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import get_args

from model.checkpoint import save_checkpoint
from model.config import PRESETS, Norm, TransformerConfig, preset
from model.device import choose_device
from model.errors import ConfigError
from model.tokenizer import Tokenizer
from model.training.data import Pair, encode_pairs, read_pairs
from model.training.loop import TrainingRun, TrainSettings
from model.training.schedule import Decay

MAX_TRAINING_TOKENS = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `train`; each training setting has one, with the default of `TrainSettings`."""
    parser.add_argument(
        "--data", type=Path, nargs="+", required=True, metavar="FILE", help="TSV files (.tsv, .xz, .gz)"
    )
    parser.add_argument(
        "--dev", type=Path, nargs="*", default=[], metavar="FILE", help="TSV files scored while training"
    )
    parser.add_argument("--dev-limit", type=int, default=200, metavar="N", help="pairs of each dev file (default 200)")
    parser.add_argument(
        "--run", type=Path, required=True, metavar="DIR", help="folder of the run; resumed if it exists"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="checkpoint folder to write at the end")
    parser.add_argument("--preset", choices=list(PRESETS), default="en-de", help="shape of the model (default en-de)")
    parser.add_argument("--norm", choices=get_args(Norm), help="instead of the preset's")
    for name, kind in (
        ("vocab-size", int), ("d-model", int), ("num-layers", int), ("num-heads", int), ("d-ff", int),
        ("dropout", float), ("attention-dropout", float),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=kind, help="instead of the preset's")
    parser.add_argument("--device", help="cpu, cuda or cuda:N (default: CUDA if present)")
    for field in fields(TrainSettings):
        option = f"--{field.name.replace('_', '-')}"
        if field.name == "decay":
            parser.add_argument(option, choices=get_args(Decay), default=field.default, help=f"default {field.default}")
        elif field.name == "bf16":
            parser.add_argument(option, action=argparse.BooleanOptionalAction, default=field.default)
        else:
            parser.add_argument(
                option, type=type(field.default), default=field.default, help=f"default {field.default}"
            )


def train(arguments: argparse.Namespace) -> None:
    """Train, or resume, and write the checkpoint; prints a JSON summary."""
    settings = TrainSettings(**{field.name: getattr(arguments, field.name) for field in fields(TrainSettings)})
    device = choose_device(arguments.device)
    print("Reading data …", file=sys.stderr)
    pairs = [pair for path in arguments.data for pair in read_pairs(path)]
    dev = {path.name.split(".")[0]: read_pairs(path, arguments.dev_limit) for path in arguments.dev}
    config, tokenizer = open_run(arguments.run, config_from(arguments), pairs)
    examples = encode_pairs(pairs, tokenizer, MAX_TRAINING_TOKENS)
    print(f"{len(pairs):,} pairs, {len(examples):,} used, on {device}.", file=sys.stderr)
    (arguments.run / "settings.json").write_text(json.dumps(asdict(settings), indent=2) + "\n", encoding="utf-8")
    run = TrainingRun(arguments.run, config, tokenizer, settings, device)
    model = run.train(examples, dev)
    save_checkpoint(arguments.out, model, tokenizer)
    print(json.dumps({"checkpoint": str(arguments.out), "steps": run.step, "pairs": len(examples)}))


def config_from(arguments: argparse.Namespace) -> TransformerConfig:
    """The preset, with the settings that were given instead of its own."""
    names = ("norm", "vocab_size", "d_model", "num_layers", "num_heads", "d_ff", "dropout", "attention_dropout")
    return preset(arguments.preset, **{n: getattr(arguments, n) for n in names if getattr(arguments, n) is not None})


def open_run(folder: Path, config: TransformerConfig, pairs: list[Pair]) -> tuple[TransformerConfig, Tokenizer]:
    """Configuration and tokenizer of a run: the stored ones of an old run, freshly made ones of a new one.

    Raises:
        ConfigError: the folder holds a run of another shape.
    """
    config_file, tokenizer_file = folder / "config.json", folder / "tokenizer.model"
    if config_file.exists() and tokenizer_file.exists():
        stored = TransformerConfig.from_json(config_file.read_text(encoding="utf-8"))
        if stored != config:
            raise ConfigError(f"{folder} holds a run with other settings; resume with those, or name another folder.")
        return stored, Tokenizer.load(tokenizer_file)
    print(f"Learning a vocabulary of {config.vocab_size:,} pieces …", file=sys.stderr)
    tokenizer = Tokenizer.train((sentence for pair in pairs for sentence in pair), config)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer_file.write_bytes(tokenizer.serialized)
    config_file.write_text(config.to_json(), encoding="utf-8")
    return config, tokenizer

"""The command `python -m model train`: its options, and what it does with them."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from model import checkpoint
from model.arguments import COUNT, SHARE, Number, WholeNumber, path
from model.config import LARGEST as LARGEST_SETTINGS
from model.config import PRESETS, ModelConfig, Norm, changed, preset, read_config
from model.errors import ConfigError
from model.file_writing import (
    STANDARD_OUTPUT,
    check_folder,
    check_writable,
    json_text,
    make_folder,
    write_bytes,
    write_text,
)
from model.folder_files import read_file
from model.pairs import Pair, data_set_name, read_pairs
from model.reader import choose_device
from model.thread_settings import keep_freed_memory
from model.tokenizer import Tokenizer
from model.training.ablations import ABLATIONS, DEV_SETS, LETTERS, RUNS, TRAINING_SETS, files_in
from model.training.batches import Example, join_processes, part, wait_for_all
from model.training.film_recorder import FilmRecorder
from model.training.loop import BOUNDS, LOG, TrainingRun, TrainSettings
from model.training.objective import taught_head
from model.training.optimizer import OPTIMIZERS, Decay
from model.training.typed_variants import check_shares, encode_with_variants
from model.training_record import LOG as TRAINING_LOG
from model.training_record import METRICS, TRAINING

if TYPE_CHECKING:
    from model.training.noun_genders import NounGenders

DICTIONARY_SHARE = 0.2
#: How often a pair comes an epoch.
WEIGHT = Number(0, 100, without_least=True)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `train`; each training setting has one, with the default of `TrainSettings`."""
    text = "TSV files (.tsv, .xz, .gz); each pair comes WEIGHT times an epoch (default 1, fractions allowed); for an "
    text += "ablation, the folder that holds " + ", ".join((*TRAINING_SETS, *DEV_SETS))
    parser.add_argument("--data", type=weighted_file, nargs="+", required=True, metavar="FILE[=WEIGHT]", help=text)
    text = "share of pairs that come a second time as people type them: lower-cased, no full stop, did not / didn't"
    parser.add_argument("--typed", type=SHARE, default=0.0, metavar="SHARE", help=text)
    text = "further cuts of each source into pieces, drawn from its 64 likeliest, that a pair comes with (default 0)"
    parser.add_argument("--cuts", type=WholeNumber(0, 100), default=0, metavar="N", help=text)
    text = "share of the tokens that the pronoun curriculum makes up (default 0)"
    parser.add_argument("--pronouns", type=SHARE, default=0.0, metavar="SHARE", help=text)
    text = "folder with a dictionary's nouns.tsv.xz; its nouns come in plain sentences of every case and number, and "
    text += "those whose kind is known in the pronoun curriculum"
    parser.add_argument("--dictionary", type=path, metavar="DIR", help=text)
    text = f"share of the tokens that these sentences make up (default {DICTIONARY_SHARE} with --dictionary)"
    parser.add_argument("--nouns", type=SHARE, metavar="SHARE", help=text)
    text = "share of the tokens in sentences with names, numbers and made-up words to be copied (default 0)"
    parser.add_argument("--copying", type=SHARE, default=0.0, metavar="SHARE", help=text)
    text = "stop there; the same command without it goes on"
    parser.add_argument("--until", type=COUNT, metavar="STEP", help=text)
    text = "checkpoint whose weights and vocabulary a new run begins with"
    parser.add_argument("--start-from", type=path, metavar="DIR", help=text)
    text = "TSV files scored while training"
    parser.add_argument("--dev", type=path, nargs="*", metavar="FILE", help=text)
    parser.add_argument(
        "--dev-limit", type=COUNT, default=200, metavar="N", help="pairs of each dev file (default 200)"
    )
    text = f"folder of the run; resumed if it exists (default for an ablation: {RUNS}/PRESET-SEED)"
    parser.add_argument("--run", type=path, metavar="DIR", help=text)
    text = "checkpoint folder to write at the end (default for an ablation: checkpoint, in the run's folder)"
    parser.add_argument("--out", type=path, metavar="DIR", help=text)
    text = "shape of the model (default en-de), or an ablation, which has its own training settings, too"
    parser.add_argument("--preset", choices=[*PRESETS, *ABLATIONS], default="en-de", help=text)
    parser.add_argument("--norm", choices=get_args(Norm), help="instead of the preset's")
    for name in ("vocab_size", "d_model", "num_layers", "num_heads", "d_ff"):
        parser.add_argument(_option(name), type=WholeNumber(1, LARGEST_SETTINGS[name]), help="instead of the preset's")
    for name in ("dropout", "attention_dropout"):
        parser.add_argument(_option(name), type=SHARE, help="instead of the preset's")
    text = "keep the attention on six sentences at 30 steps of the run in this file (.npz)"
    parser.add_argument("--film", type=path, metavar="FILE", help=text)
    parser.add_argument("--device", help="cpu, cuda or cuda:N (default: CUDA if present)")
    for field in fields(TrainSettings):
        option, text = _option(field.name), f"default {field.default}, or the ablation's"
        if field.name == "decay":
            parser.add_argument(option, choices=get_args(Decay), help=text)
        elif field.name == "optimizer":
            parser.add_argument(option, choices=OPTIMIZERS, help=text)
        elif field.name == "bf16":
            parser.add_argument(option, action=argparse.BooleanOptionalAction, help=text)
        else:
            parser.add_argument(option, type=BOUNDS[field.name], help=text)


def _option(setting: str) -> str:
    return f"--{setting.replace('_', '-')}"


def weighted_file(text: str) -> tuple[Path, float]:
    """Parse FILE or FILE=WEIGHT."""
    name, _, weight = text.partition("=")
    return path(name), WEIGHT(weight or "1")


def train(arguments: argparse.Namespace) -> None:
    """Train, or resume, and write the checkpoint; prints a JSON summary."""
    keep_freed_memory()
    settings = settings_from(arguments)
    fill_in(arguments, settings.seed)
    check_folder(arguments.run)
    check_folder(arguments.out)
    if arguments.film is not None:
        if arguments.film == STANDARD_OUTPUT or arguments.film.is_fifo():
            raise ConfigError("The film is rewritten at every frame, so --film needs the name of a file.")
        check_writable(arguments.film)
    shares = shares_from(arguments)
    is_made = any(shares.values()) or settings.gender > 0
    check_recipes(is_made, arguments.dictionary)
    processes, device = join_processes(choose_device(arguments.device))
    origin = None if arguments.start_from is None else checkpoint.load_checkpoint(arguments.start_from, device)
    # A shape that cannot be, or a head that is not there, is refused before data are read.
    taught_head(settings.taught, settings.taught_layer, settings.taught_head, config_from(arguments, origin))

    def say(text: str) -> None:
        if processes.is_first:
            print(text, file=sys.stderr)

    say("Reading data …")
    files = {data_set_name(file): (read_pairs(file), weight) for file, weight in arguments.data}
    if len(files) < len(arguments.data):
        raise ConfigError("Two data files have the same name; each set needs a different name.")
    dev = {data_set_name(file): read_pairs(file, arguments.dev_limit) for file in arguments.dev}
    if processes.is_first:
        open_run(arguments, origin, [pair for pairs, _ in files.values() for pair in pairs])
    wait_for_all(processes)
    config, tokenizer = read_run(arguments.run)
    genders = noun_genders(arguments.dictionary) if settings.gender else None
    sets = {
        name: encode_with_variants(pairs, tokenizer, arguments.typed, settings.seed, weight, arguments.cuts, genders)
        for name, (pairs, weight) in files.items()
    }
    scored = frozenset(pair.source for pairs in dev.values() for pair in pairs)
    if is_made:
        from model.training.made_sets import MadeSets

        is_linked = bool(settings.taught)
        made = MadeSets(shares, arguments.dictionary, arguments.typed, settings.seed, scored, is_linked, genders)
        sets |= made.examples(list(sets.values()), tokenizer)
    examples = [example for examples_of_set in sets.values() for example in examples_of_set]
    say(f"{len(examples):,} pairs of {len(sets)} sets, variants among them, on {device}.")
    run = TrainingRun(arguments.run, config, tokenizer, settings, device, processes)
    if settings.bf16 and not run.bf16:
        say("This device has no instructions for bfloat16, so that products are computed in float32.")
    if origin is not None:
        run.start_from(origin.model)
    film = None
    if arguments.film is not None and processes.is_first:
        described = {"preset": arguments.preset, **asdict(settings), **asdict(config)}
        told = {name: value for name, value in described.items() if value is not None}
        film = FilmRecorder(arguments.film, run.model, tokenizer, run=told, total=settings.steps, dev=dev)
    model = run.train(examples, dev, arguments.until, film)
    part(processes)
    if processes.is_first:
        options = {name: getattr(arguments, name) for name in ("preset", "typed", "cuts")}
        options |= {"nouns": 0.0, **shares, "processes": processes.count, "bf16": run.bf16}
        note = f"Began with the weights of {arguments.start_from.name} ({origin.digest[:12]})." if origin else ""
        # The record last: weights that cannot be saved leave what lies there as it was.
        checkpoint.save_checkpoint(arguments.out, model, tokenizer)
        given = {name: weight for name, (_, weight) in files.items()}
        write_record(
            arguments.out, arguments.run, sets, given, {**asdict(settings), **options}, arguments.dev_limit, note
        )
        checkpoint.write_manifest(arguments.out)
        print(json_text({"checkpoint": str(arguments.out), "steps": run.step, "pairs": len(examples)}))


def check_recipes(is_made: bool, dictionary: Path | None) -> None:
    """Check that the sets which a training makes itself can be made, and read its dictionary.

    Raises a ConfigError where their recipes are not installed, and a DataError if the dictionary is missing or damaged.
    """
    if not is_made and dictionary is None:
        return
    try:
        from model.training.dictionary_lexicon import read_nouns
    except ModuleNotFoundError as error:
        raise ConfigError(
            "The installed package lacks the recipes for generated training sentences: train from a clone, or "
            "without --pronouns, --nouns, --dictionary, --copying and --gender."
        ) from error
    if dictionary is not None:
        read_nouns(dictionary)


def noun_genders(dictionary: Path | None) -> "NounGenders":
    """What finds the genders of nouns: those of the dictionary, if there is one, and of the pronoun curriculum."""
    from model.training.dictionary_lexicon import read_nouns
    from model.training.noun_genders import NounGenders

    return NounGenders([] if dictionary is None else read_nouns(dictionary))


def settings_from(arguments: argparse.Namespace) -> TrainSettings:
    """The ablation's settings, or the usual ones, with those given instead."""
    chosen = ABLATIONS[arguments.preset].settings if arguments.preset in ABLATIONS else TrainSettings()
    given = {field.name: getattr(arguments, field.name) for field in fields(TrainSettings)}
    return replace(chosen, **{name: value for name, value in given.items() if value is not None})


def shares_from(arguments: argparse.Namespace) -> dict[str, float]:
    """Made set → its share of all tokens.

    Raises a ConfigError if the shares leave nothing for the data, or nouns are asked for without a dictionary.
    """
    shares = {"pronouns": arguments.pronouns, "copying": arguments.copying}
    if arguments.dictionary is not None:
        shares["nouns"] = DICTIONARY_SHARE if arguments.nouns is None else arguments.nouns
    elif arguments.nouns is not None:
        raise ConfigError(
            "--nouns is the share of sentences with nouns from a dictionary: give its folder too, with --dictionary "
            "DIR."
        )
    check_shares(shares)
    return shares


def fill_in(arguments: argparse.Namespace, seed: int) -> None:
    """Put in what an ablation need not be told: files below its folder of data, and where the run goes.

    Raises:
        ConfigError: any other preset was not told where the run and the checkpoint go.
        DataError: the folder lacks a file.
    """
    if arguments.preset in ABLATIONS:
        (folder, _), *others = arguments.data
        if folder.is_dir() and not others:
            arguments.data = [(file, 1.0) for file in files_in(folder, TRAINING_SETS)]
            arguments.dev = files_in(folder, DEV_SETS) if arguments.dev is None else arguments.dev
        arguments.run = arguments.run or RUNS / f"{arguments.preset}-{seed}"
        arguments.out = arguments.out or arguments.run / "checkpoint"
    if arguments.run is None or arguments.out is None:
        raise ConfigError("Name the folder of the run (--run) and that of the checkpoint (--out).")
    arguments.dev = arguments.dev or []


def write_record(
    out: Path,
    run: Path,
    sets: Mapping[str, Sequence[Example]],
    given: Mapping[str, float],
    settings: Mapping[str, object],
    limit: int,
    note: str,
) -> None:
    """Lay training.json and the log into a checkpoint's folder; what was measured with older weights goes.

    `given` is the weight of each set that was read from a file; a made set has that of its examples.
    """
    # The cuts of a source share its pair's weight, and are not pairs of their own.
    data = [
        {
            "name": name,
            "pairs": round(sum(example.weight for example in examples) / weight),
            "weight": float(f"{weight:.4g}"),
        }
        for name, examples in sets.items()
        if examples
        for weight in [given.get(name, examples[0].weight)]
    ]
    record = {"data": data, "settings": settings, "dev_limit": limit, "note": note}
    make_folder(out)
    write_text(out / TRAINING, json.dumps(record, indent=2) + "\n", out)
    write_bytes(out / TRAINING_LOG, (run / LOG).read_bytes() if (run / LOG).exists() else b"", out)
    (out / METRICS).unlink(missing_ok=True)


def config_from(arguments: argparse.Namespace, origin: checkpoint.Checkpoint | None) -> ModelConfig:
    """The preset's configuration, or that of the checkpoint to start from, with the settings given instead of its own.

    Raises a CheckpointError if the checkpoint's weights do not fit the settings given.
    """
    names = ("norm", "vocab_size", "d_model", "num_layers", "num_heads", "d_ff", "dropout", "attention_dropout")
    changes = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    if origin is None:
        ablation = ABLATIONS.get(arguments.preset)
        return preset(arguments.preset, **changes) if ablation is None else changed(ablation.config, changes)
    config = changed(origin.model.config, changes)
    checkpoint.check_weights(dict(origin.model.named_parameters()), config)
    return config


def open_run(arguments: argparse.Namespace, origin: checkpoint.Checkpoint | None, pairs: list[Pair]) -> None:
    """Make a new run's folder, with its configuration and vocabulary; leave an old one as it is.

    Raises a ConfigError if the folder holds a run of another shape.
    """
    config = config_from(arguments, origin)
    folder = arguments.run
    if (folder / checkpoint.CONFIG).exists() and (folder / checkpoint.TOKENIZER).exists():
        if read_run(folder)[0] != config:
            message = "{folder} contains a run with different settings; resume with those, or use another folder."
            raise ConfigError(message, folder=folder)
        return
    make_folder(folder)
    # Ablations share a vocabulary, so that their losses can be compared.
    shared = folder.parent / checkpoint.TOKENIZER if arguments.preset in ABLATIONS else None
    if origin is not None:
        tokenizer = origin.tokenizer
    elif shared is not None and shared.exists():
        tokenizer = Tokenizer.load(shared)
        tokenizer.check(config)
    else:
        print(f"Learning a vocabulary of {config.vocab_size:,} pieces …", file=sys.stderr)
        sentences = (sentence for pair in pairs for sentence in pair)
        tokenizer = Tokenizer.train(sentences, config, None if shared is None else LETTERS)
        if shared is not None:
            write_bytes(shared, tokenizer.serialized, shared.parent)
    write_bytes(folder / checkpoint.TOKENIZER, tokenizer.serialized, folder)
    write_text(folder / checkpoint.CONFIG, config.to_json(), folder)


def read_run(folder: Path) -> tuple[ModelConfig, Tokenizer]:
    """Configuration and vocabulary of a run. Raises as `read_config`, `read_file` and `Tokenizer`."""
    config = read_config(
        read_file(folder, checkpoint.CONFIG, checkpoint.LARGEST[checkpoint.CONFIG]).decode("utf-8", errors="replace")
    )
    return config, Tokenizer.load(folder / checkpoint.TOKENIZER)

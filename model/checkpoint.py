"""Save and load a checkpoint: a folder with a trained model, checked against its manifest.

config.json · model.safetensors (16 bit) · tokenizer.model · README.md (the card) · manifest.json with the SHA-256 of
every other file. Only safetensors and JSON are read, never pickle; every file is checked against the manifest first.
"""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from model.config import ModelConfig, read_config
from model.errors import CheckpointError, ConfigError
from model.file_writing import make_folder, write_bytes, write_text
from model.folder_files import named_folder, open_file, read_as_model, read_file
from model.nn.architectures import lay_out_for_decoding, model_of_shapes, unfilled_model
from model.nn.encoder_decoder import EncoderDecoder
from model.tokenizer import LARGEST as LARGEST_TOKENIZER
from model.tokenizer import Tokenizer

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.model"
CARD, MANIFEST = "README.md", "manifest.json"
REQUIRED = (CONFIG, WEIGHTS, TOKENIZER)
#: Bytes beyond which a file is refused.
LARGEST = {CONFIG: 1 << 20, WEIGHTS: 16 << 30, TOKENIZER: LARGEST_TOKENIZER, MANIFEST: 1 << 20}
#: Bytes beyond which any other file that a manifest lists is refused.
LARGEST_OTHER = 1 << 30


@dataclass(frozen=True)
class Checkpoint:
    """The content of a folder, identified by `digest`."""

    model: EncoderDecoder
    tokenizer: Tokenizer
    digest: str


def save_checkpoint(
    folder: str | Path, model: EncoderDecoder, tokenizer: Tokenizer, *, card: str | None = None
) -> None:
    """Write a model (weights as float16) and its tokenizer as a checkpoint folder, with its manifest.

    An existing card is kept unless a new one is given.

    Raises:
        CheckpointError: a weight is not a finite number in float16; nothing is written.
        DataError: the folder cannot be written into.
    """
    folder = Path(folder)
    # named_parameters lists a shared matrix once.
    weights = {name: p.detach().to("cpu", torch.float16).contiguous() for name, p in model.named_parameters()}
    if wrong := [name for name, tensor in weights.items() if not tensor.isfinite().all()]:
        message = (
            "{num_wrong} of the model's tensors (the first is {wrong}) contain numbers that 16 bits cannot represent "
            "(beyond ±65,504, or NaN), so {name} was not written; train again with a lower learning rate."
        )
        raise CheckpointError(message, num_wrong=len(wrong), wrong=wrong[0], name=folder.name)
    make_folder(folder)
    write_bytes(folder / WEIGHTS, save(weights, {"format": "headlight"}), folder)
    write_text(folder / CONFIG, model.config.to_json(), folder)
    write_bytes(folder / TOKENIZER, tokenizer.serialized, folder)
    if card is not None:
        write_text(folder / CARD, card, folder)
    write_manifest(folder)


def write_manifest(folder: Path) -> None:
    """Write the SHA-256 of every file in the folder to its manifest."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != MANIFEST)
    digests = {path.name: _sha256(folder, path.name) for path in files}
    write_text(folder / MANIFEST, json.dumps({"sha256": digests}, indent=2) + "\n", folder)


def load_checkpoint(folder: str | Path, device: torch.device, dtype: torch.dtype = torch.float32) -> Checkpoint:
    """A folder, read for evaluation. Raises a CheckpointError if a file is missing, changed, or does not fit."""
    folder = named_folder(folder)
    digest = verify(folder)
    try:
        config = read_config(read_file(folder, CONFIG, LARGEST[CONFIG]).decode("utf-8"))
    except (ConfigError, UnicodeDecodeError) as error:
        raise CheckpointError("{name}/{config}: {error}", name=folder.name, config=CONFIG, error=error) from error
    tokenizer = Tokenizer(read_file(folder, TOKENIZER, LARGEST[TOKENIZER]))
    tokenizer.check(config)
    try:
        weights = load(read_file(folder, WEIGHTS, LARGEST[WEIGHTS]))
    except SafetensorError as error:
        message = "{name}/{weights} is not a safetensors file: {error}."
        raise CheckpointError(message, name=folder.name, weights=WEIGHTS, error=error) from error
    check_weights(weights, config)
    model = unfilled_model(config)
    model.load_state_dict(weights, strict=False)  # check_weights is strict, and allows for shared matrices
    model = model.to(device=device, dtype=dtype).eval()
    if device.type == "cpu":
        lay_out_for_decoding(model)
    return Checkpoint(model, tokenizer, digest)


def check_weights(weights: dict[str, Tensor], config: ModelConfig) -> None:
    """Compare names and shapes with what the configuration needs, before any memory is taken for the model.

    Raises a CheckpointError if a tensor is missing, left over, of another shape or not finite.
    """
    expected = {name: tuple(p.shape) for name, p in model_of_shapes(config).named_parameters()}
    actual = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    if actual != expected:
        wrong = sorted(name for name in expected.keys() | actual.keys() if expected.get(name) != actual.get(name))
        first = wrong[0]
        raise CheckpointError(
            "{weights} does not fit {config}: {num_wrong} tensors differ; the first is {first} (expected {expected}, "
            "got {actual}).",
            weights=WEIGHTS,
            config=CONFIG,
            num_wrong=len(wrong),
            first=first,
            expected=expected.get(first, "none"),
            actual=actual.get(first, "none"),
        )
    for name, tensor in weights.items():
        if not tensor.is_floating_point() or not tensor.isfinite().all():
            raise CheckpointError("{weights}: {name} contains values that are not finite.", weights=WEIGHTS, name=name)


def verify(folder: Path) -> str:
    """The digest of a folder. Raises a CheckpointError if a file is missing, or differs from the manifest."""
    if not folder.is_dir():
        raise CheckpointError(
            "There is no checkpoint folder {name!r}; train one with "
            "`python -m model train --data FILE.tsv --run RUN --out CHECKPOINT`.",
            name=folder.name,
        )
    if not os.path.lexists(folder / MANIFEST):
        message = (
            "{name} has no {manifest}, so it is not a Headlight checkpoint, and only those can be used here. A model "
            "that transformers saved is read by `python -m model trace TEXT --model MODEL --out FILE.npz`."
        )
        raise CheckpointError(message, name=folder.name, manifest=MANIFEST)
    with read_as_model(folder, MANIFEST):
        manifest = read_file(folder, MANIFEST, LARGEST[MANIFEST])
    try:
        digests = json.loads(manifest)["sha256"]
        listed = all(isinstance(name, str) and isinstance(digest, str) for name, digest in digests.items())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointError(
            "{name}/{manifest} is damaged; restore it from the repository.", name=folder.name, manifest=MANIFEST
        ) from error
    if missing := [name for name in REQUIRED if name not in digests]:
        message = "{name}/{manifest} does not list {missing}."
        raise CheckpointError(message, name=folder.name, manifest=MANIFEST, missing=", ".join(missing))
    if not listed or any(Path(name).name != name for name in digests):
        raise CheckpointError(
            "{name}/{manifest} must list plain file names and their SHA-256.", name=folder.name, manifest=MANIFEST
        )
    for name, digest in digests.items():
        if not (folder / name).is_file():
            raise CheckpointError(
                "{folder} lacks {file}; restore it from the repository.", folder=folder.name, file=name
            )
        if _sha256(folder, name) != digest:
            message = "{folder}/{file} differs from its manifest (damaged or changed); restore it from the repository."
            raise CheckpointError(message, folder=folder.name, file=name)
    return hashlib.sha256(manifest).hexdigest()


def _sha256(folder: Path, name: str) -> str:
    with read_as_model(folder, name), open_file(folder, name, LARGEST.get(name, LARGEST_OTHER)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def model_digest(model: EncoderDecoder, tokenizer: Tokenizer) -> str:
    """SHA-256 of shape, weights and vocabulary in memory: all that a measurement of the model depends on.

    Unlike the digest of a checkpoint it does not change with the card and other files.
    """
    digest = hashlib.sha256(model.config.to_json().encode())
    digest.update(tokenizer.serialized)
    for name, parameter in model.named_parameters():
        digest.update(name.encode())
        digest.update(parameter.detach().float().cpu().contiguous().numpy().data)
    return digest.hexdigest()

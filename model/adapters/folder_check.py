"""Check a model folder of unknown origin before any library opens it.

Only safetensors and JSON are accepted as weights and settings; code, pickle and anything outside the folder never.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, Final

from safetensors import SafetensorError, safe_open

from model.adapters.peft_adapter import SETTINGS as ADAPTER_SETTINGS
from model.adapters.peft_adapter import WEIGHTS as ADAPTER_WEIGHTS
from model.adapters.peft_adapter import Adapter, read_adapter
from model.checked import Malformed, parsed
from model.errors import CheckpointError
from model.folder_files import entries, is_hub_blob, named_file, open_file, read_file

CONFIG: Final = "config.json"
TOKENIZER_SETTINGS: Final = "tokenizer_config.json"
WEIGHTS: Final = "model.safetensors"
INDEX: Final = "model.safetensors.index.json"
PICKLED: Final = "pytorch_model.bin"
_PICKLED_PART: Final = re.compile(r"pytorch_model-\d{5}-of-\d{5}\.bin")
GENERATION: Final = "generation_config.json"
LARGEST_CONFIG: Final = 1 << 20
LARGEST_INDEX: Final = 32 << 20
LARGEST_TOKENIZER: Final = 256 << 20
#: Files that hold the pieces of a tokenizer → bytes beyond which one is refused. Opened, they take up to fifty times as
#: much.
TOKENIZER_FILES: Final[Mapping[str, int]] = {
    "tokenizer.json": 64 << 20,
    "tekken.json": 32 << 20,
    **dict.fromkeys(("vocab.txt", "vocab.json", "target_vocab.json", "merges.txt", "bpe.codes"), 16 << 20),
    **dict.fromkeys(("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "sentencepiece.model"), 16 << 20),
    **dict.fromkeys(("spm.model", "source.spm", "target.spm"), 16 << 20),
    "dict.txt": 8 << 20,
}
_GGUF: Final = b"GGUF"
#: Of a file with weights; larger models come in parts.
LARGEST_WEIGHTS: Final = 256 << 30
MARIAN_TOKENIZER: Final = ("source.spm", "target.spm", "vocab.json")
#: Settings by which a folder could ask for code, for files elsewhere or for another way of computing; and labels, which
#: are read on their own.
_NEVER: Final = re.compile(
    r"auto_map|custom_pipelines|_?attn_implementation.*|_?experts_implementation.*|transformers_weights|_name_or_path|"
    r"torch_dtype|dtype|_commit_hash|trust_remote_code|num_labels|id2label|label2id"
)
_PART: Final = re.compile(r"[\w.-]+\.safetensors")
#: How files begin that hold programs of pickle: those of torch are zip archives, or pickle itself.
_PICKLE: Final = (b"PK\x03\x04", b"\x80")
MOST_LABELS: Final = 32_768
LONGEST_LABEL: Final = 200
#: How files end that other programs read → which.
_OTHERS: Final[Mapping[str, str]] = {
    ".onnx": "ONNX",
    ".h5": "TensorFlow",
    ".msgpack": "Flax",
    "model.bin": "CTranslate2",
}
_PLAIN: Final = {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"}


@dataclass(frozen=True)
class Folder:
    """A folder that may be opened."""

    path: Path  #: of the model
    config: dict[str, Any]  #: what config.json says, without what is never followed
    #: what generation_config.json says of how the model writes; None where there is no such file.
    generation: dict[str, Any] | None
    #: weights, numbers: the files that hold the weights, and how many numbers these hold.
    weights: tuple[Path, ...]
    numbers: int
    adapter: Adapter | None = None  #: what is to be merged into it, from another folder, if anything
    home: Path | None = None  #: where the weights lie; None for the same folder

    @property
    def weights_home(self) -> Path:
        """The folder of the weights."""
        return self.home or self.path

    def with_weights_in(self, home: Path) -> "Folder":
        """The same with the safetensors of another folder, written from its own pickled ones."""
        weights = _weight_files(home)
        return replace(self, home=home, weights=weights, numbers=sum(map(_count_numbers, weights)))

    @property
    def name(self) -> str:
        """As people call it: of an adapter, the adapter's."""
        return self.path.name if self.adapter is None else self.adapter.path.name

    @property
    def tokenizer(self) -> Path:
        """Where its tokenizer lies; an adapter may bring its own."""
        own = self.adapter is not None and any((self.adapter.path / name).is_file() for name in TOKENIZER_FILES)
        return self.adapter.path if own and self.adapter is not None else self.path

    @contextmanager
    def held(self, private: Path) -> Iterator[Path]:
        """The files of the weights are open, so that a library reads by their names what was checked, or an error says
        at the end that it did not. Gives the folder that it is to read; in a `private` one, an index may be completed.

        Raises a CheckpointError if one cannot be read, or was exchanged.
        """
        index = self.weights_home / INDEX
        names = {file.name: LARGEST_WEIGHTS for file in self.weights} | (
            {INDEX: LARGEST_INDEX} if index.is_file() else {}
        )
        with _readable(self.path), ExitStack() as stack:
            held = {
                name: stack.enter_context(named_file(self.weights_home, name, most)) for name, most in names.items()
            }
            content = _read_json(held.pop(INDEX), LARGEST_INDEX) if INDEX in held else None
            if content is None or isinstance(content.get("metadata"), dict):
                yield self.weights_home
                return
            # Some programs write none, and the library asks for it.
            (private / INDEX).write_text(json.dumps({**content, "metadata": {}}), encoding="utf-8")
            for name, path in held.items():
                (private / name).symlink_to(path)
            yield private

    def digest(self) -> str:
        """SHA-256 over settings, weights and tokenizer files: names exactly this content. Reads every byte.

        Raises a CheckpointError if a file cannot be read.
        """
        whole = hashlib.sha256()
        kinds = {".json", ".safetensors", ".txt", ".model", ".spm", ".jinja"}
        kinds |= {".bin"} if self.home else set()
        for folder in [self.path] if self.adapter is None else [self.path, self.adapter.path]:
            with _readable(folder):
                read = [file for file in entries(folder) if file.suffix in kinds or file.name in TOKENIZER_FILES]
                for path in filter(Path.is_file, read):
                    most = LARGEST_WEIGHTS if path.suffix in (".safetensors", ".bin") else LARGEST_TOKENIZER
                    with open_file(folder, path.name, most) as file:
                        whole.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
        return whole.hexdigest()


def check_folder(path: Path) -> Folder:
    """The folder, checked. Raises a CheckpointError if it is incomplete, damaged, too large, or could run code."""
    with _readable(path):
        return _checked(path)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = "{name} cannot be read ({strerror}). Give permission to read it, or copy the folder again."
        raise CheckpointError(message, name=path.name, strerror=error.strerror) from error


def gguf_file(path: Path) -> Path | None:
    """The GGUF file that a path names, or a folder has instead of weights; a CheckpointError if it has several."""
    with _readable(path):
        if not path.is_dir():
            return path if _begins(path, _GGUF) else None
        if any((path / name).is_file() for name in (WEIGHTS, INDEX, ADAPTER_WEIGHTS)) or pickled_files(path):
            return None
        found = [file for file in entries(path) if _begins(file, _GGUF)]
    if len(found) > 1:
        message = "{name} has {count} GGUF files; choose a folder with only one of them."
        raise CheckpointError(message, name=path.name, count=len(found))
    return found[0] if found else None


def _checked(path: Path) -> Folder:
    if not path.is_dir():
        raise CheckpointError("There is no folder {path}.", path=path)
    if (adapter := read_adapter(path)) is not None:
        _check_inside(path)
        if (adapter.base / ADAPTER_SETTINGS).exists():
            message = "{name}, the base model of the adapter {path_name}, is itself an adapter."
            raise CheckpointError(message, name=adapter.base.name, path_name=path.name)
        beneath = _checked(adapter.base)
        return replace(beneath, numbers=beneath.numbers + _count_numbers(path / ADAPTER_WEIGHTS), adapter=adapter)
    if not (path / CONFIG).is_file():
        message = (
            "{name} has no {config}. Choose a folder with a model that `save_pretrained` of transformers wrote, "
            "or a Headlight checkpoint (with a manifest.json)."
        )
        raise CheckpointError(message, name=path.name, config=CONFIG)
    _check_inside(path)
    config = _read_json(path / CONFIG, LARGEST_CONFIG)
    if config.pop("quantization_config", None) is not None:
        raise CheckpointError(
            "The weights in {name} are quantized. Headlight reads floating-point numbers of 16 or 32 bits: save the "
            "model without quantization.",
            name=path.name,
        )
    weights = pickled_files(path) or _weight_files(path)
    numbers = sum(_count_numbers(file) for file in weights)
    generation = _read_json(path / GENERATION, LARGEST_CONFIG) if (path / GENERATION).is_file() else None
    return Folder(path, _without_orders(config) | _labels(config), generation, weights, numbers)


def check_tokenizer_files(path: Path, model_type: object) -> None:
    """Raise a CheckpointError if there is no tokenizer beside the model, or a part of MarianMT's is missing."""
    if model_type == "marian" and not (path / "tokenizer.json").is_file():
        lacked = [name for name in MARIAN_TOKENIZER if not (path / name).is_file()]
        if lacked:
            message = (
                "{name} lacks {lacked}: MarianMT (OPUS-MT) splits texts with source.spm and target.spm and numbers the "
                "tokens by vocab.json. Copy these files from the source of the model."
            )
            raise CheckpointError(message, name=path.name, lacked=", ".join(lacked))
    if not any((path / name).is_file() for name in TOKENIZER_FILES) and not _cuts_bytes(path):
        raise CheckpointError(
            "{name} contains a model but no tokenizer, so no text can be read. Save the tokenizer of the original "
            "model in the same folder: `AutoTokenizer.from_pretrained(original).save_pretrained(folder)`.",
            name=path.name,
        )


def _cuts_bytes(path: Path) -> bool:
    """Whether a tokenizer lies in a folder that has no pieces to be kept in a file, as ByT5's."""
    if not (path / TOKENIZER_SETTINGS).is_file():
        return False
    # The library takes a second or two to import; almost every tokenizer has its pieces in a file.
    from model.adapters.library import cuts_bytes

    return cuts_bytes(_read_json(path / TOKENIZER_SETTINGS, LARGEST_CONFIG).get("tokenizer_class"))


def _check_inside(path: Path) -> None:
    """No link leads out of the folder, and no file that is read whole is too large to be one of its kind."""
    root = path.resolve()
    for file in entries(path):
        # Unlike `resolve`, no error where links lead in a circle.
        inside = Path(os.path.realpath(file)).is_relative_to(root) or is_hub_blob(file, root)
        if not inside:
            message = "{name}/{file_name} is a link to a file outside the folder; copy the file itself."
            raise CheckpointError(message, name=path.name, file_name=file.name)
        is_text = file.suffix in (".json", ".txt", ".model", ".spm", ".jinja")
        if is_text and file.is_file() and file.stat().st_size > LARGEST_TOKENIZER:
            message = "{name}/{file_name} is larger than {largest_tokenizer} MB, the largest size that is read."
            raise CheckpointError(
                message, name=path.name, file_name=file.name, largest_tokenizer=LARGEST_TOKENIZER >> 20
            )


def _weight_files(path: Path) -> tuple[Path, ...]:
    if (path / WEIGHTS).is_file():
        return (path / WEIGHTS,)
    if (path / INDEX).is_file():
        return _parts(path)
    if pickled := next((file for file in entries(path) if _begins(file, *_PICKLE)), None):
        message = (
            "{name} has no {weights}, and {pickled} is pickle, which can run any program when it is opened. Save the "
            "weights as safetensors: if you trust the file, load the model in Python and call "
            "`model.save_pretrained(folder)`."
        )
        raise CheckpointError(message, name=path.name, weights=WEIGHTS, pickled=pickled.name)
    for file in entries(path):
        other = next((what for ending, what in _OTHERS.items() if file.name.endswith(ending)), None)
        if other is not None and not file.name.startswith("pytorch"):
            message = (
                "{name} has no {weights}, and {file} is for {other}, which Headlight does not read. Open a folder of "
                "the same model with safetensors or a pytorch_model.bin."
            )
            raise CheckpointError(message, name=path.name, weights=WEIGHTS, file=file.name, other=other)
    raise CheckpointError(
        "{name} has no weights: there is no {weights} and no {index}.", name=path.name, weights=WEIGHTS, index=INDEX
    )


def pickled_files(path: Path) -> tuple[Path, ...]:
    """The files in which torch pickled the weights of a folder that has none as safetensors; none if it has."""
    if (path / WEIGHTS).is_file() or (path / INDEX).is_file():
        return ()
    parts = sorted(file for file in entries(path) if _PICKLED_PART.fullmatch(file.name))
    return (path / PICKLED,) if (path / PICKLED).is_file() else tuple(parts)


def _labels(config: Mapping[str, Any]) -> dict[str, Any]:
    """The labels of a classifier, by their numbers, or how many it has; nothing where neither is sensible."""
    named, count = config.get("id2label"), config.get("num_labels")
    if named is None and type(count) is int and 0 < count <= MOST_LABELS:
        return {"num_labels": count}
    if not isinstance(named, dict) or len(named) > MOST_LABELS:
        return {}
    labels = {key: value for key, value in named.items() if key.isdecimal() and isinstance(value, str)}
    if len(labels) < len(named) or any(len(label) > LONGEST_LABEL for label in labels.values()):
        return {}
    return {"id2label": {int(key): label for key, label in labels.items()}}


def _begins(file: Path, *signs: bytes) -> bool:
    """Whether a file begins with one of these signs, whatever its name is."""
    if not file.is_file():
        return False
    with open_file(file.parent, file.name, LARGEST_WEIGHTS) as opened:
        return opened.read(max(map(len, signs))).startswith(signs)


def _parts(path: Path) -> tuple[Path, ...]:
    index = _read_json(path / INDEX, LARGEST_INDEX)
    entries = index.get("weight_map")
    if not isinstance(entries, dict) or not entries:
        raise CheckpointError("{name}/{index} lists no weights.", name=path.name, index=INDEX)
    names = set(entries.values()) if all(isinstance(name, str) for name in entries.values()) else {""}
    if wrong := sorted(name for name in names if not _PART.fullmatch(name)):
        message = "{name}/{index} must name .safetensors files of this folder, got {wrong!r}."
        raise CheckpointError(message, name=path.name, index=INDEX, wrong=wrong[0][:80])
    if missing := sorted(name for name in names if not (path / name).is_file()):
        raise CheckpointError(
            "{name} lacks {missing}, which {index} names.", name=path.name, missing=missing[0], index=INDEX
        )
    return tuple(path / name for name in sorted(names))


def _count_numbers(path: Path) -> int:
    """Numbers in a safetensors file, from its header alone. Raises as `tensor_shapes`."""
    if path.suffix == ".bin":
        # At least; how many there are is known when it has been read.
        return path.stat().st_size // 8
    return sum(map(prod, tensor_shapes(path).values()))


def tensor_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Name → shape of each tensor in a safetensors file, from its header. Raises a CheckpointError if it is none."""
    name = f"{path.parent.name}/{path.name}"
    with named_file(path.parent, path.name, LARGEST_WEIGHTS) as held:
        try:
            with safe_open(held, "numpy") as file:
                tensors = {key: file.get_slice(key) for key in file.keys()}  # noqa: SIM118 – it is not a dictionary
                kinds = {tensor.get_dtype() for tensor in tensors.values()}
                shapes = {key: tuple(tensor.get_shape()) for key, tensor in tensors.items()}
        except SafetensorError as error:
            message = "{name} is not a safetensors file, or it is incomplete or damaged."
            raise CheckpointError(message, name=name) from error
    if strange := sorted(kinds - _PLAIN):
        message = "{name} contains numbers of type {strange}; save the model in 16 or 32 bits."
        raise CheckpointError(message, name=name, strange=strange[0][:20])
    return shapes


def read_tensor(path: Path, name: str) -> Any:
    """One tensor of a safetensors file, as torch has it."""
    with named_file(path.parent, path.name, LARGEST_WEIGHTS) as held, safe_open(held, "pt") as opened:
        return opened.get_tensor(name).clone()


def _read_json(path: Path, largest: int) -> dict[str, Any]:
    name = f"{path.parent.name}/{path.name}"
    try:
        return parsed(read_file(path.parent, path.name, largest).decode("utf-8"))
    except (Malformed, UnicodeDecodeError) as error:
        raise CheckpointError("{name} cannot be read: {error}.", name=name, error=error) from error


def _without_orders(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_orders(inner) for key, inner in value.items() if not _NEVER.fullmatch(key)}
    return [_without_orders(inner) for inner in value] if isinstance(value, list) else value

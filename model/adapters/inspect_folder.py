"""Tell whether a folder that a person names holds a model that can be opened, and try its tokenizer, once.

A tokenizer runs expressions and tables that its files bring along, in compiled code, which can take all memory, never
return, or end the process. What it does to the process of a trial it would have done to the server.

The files that a tokenizer, or what reads pictures, is made of are bounded and copied to a folder of our own. A library
opens files by their names, and another file may stand there by then. What was bounded, tried in a separate process
(`try_once`) and opened at last are therefore the same bytes: those of the copy.
"""

import hashlib
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.request import url2pathname

from model.abilities import Kind, SourceKind
from model.adapters import folder_check
from model.adapters.folder_check import CONFIG, TOKENIZER_FILES, TOKENIZER_SETTINGS, Folder
from model.adapters.limited_process import answer_of
from model.adapters.peft_adapter import read_adapter
from model.checked import Malformed, parsed
from model.errors import CheckpointError, said
from model.file_writing import write_bytes
from model.folder_files import entries, open_file, read_file
from model.languages import html_language
from model.sources import SOURCES
from model.temporary_folders import temporary_folder
from model.training_record import MANIFEST

CHAT_TEMPLATE: Final = "chat_template.jinja"
#: What makes numbers of pictures or sounds, the older way first.
_PROCESSORS: Final = ("preprocessor_config.json", "processor_config.json")
#: Files that tokenizers and image processors are made of → bytes beyond which one is refused.
LARGEST: Final[Mapping[str, int]] = {
    **TOKENIZER_FILES,
    **dict.fromkeys((TOKENIZER_SETTINGS, "special_tokens_map.json", "added_tokens.json", CHAT_TEMPLATE), 8 << 20),
    **dict.fromkeys(_PROCESSORS, 1 << 20),
}
#: What a tokenizer may learn from config.json.
_OF_CONFIG: Final = ("model_type", "tokenizer_class", "transformers_version", "vocab_size")


@dataclass(frozen=True)
class TokenizerCopy:
    """A tokenizer's files in a folder of our own, and the SHA-256 over them."""

    path: Path = field(compare=False)
    digest: str


@contextmanager
def private_copy(folder: Folder) -> Iterator[TokenizerCopy]:
    """A copy of a folder's tokenizer and of what it reads from config.json, for as long as the block lasts.

    Raises a CheckpointError if a file is too large, leads out of the folder, or cannot be read.
    """
    name, home = folder.name, folder.tokenizer
    config = {key: folder.config[key] for key in _OF_CONFIG if isinstance(folder.config.get(key), str | int)}
    contents = {CONFIG: json.dumps(config).encode()}
    for file, largest in LARGEST.items():
        if (home / file).is_file():
            try:
                contents[file] = read_file(home, file, largest)
            except OSError as error:
                message = "{name}/{file} cannot be read ({strerror}). Copy it again."
                raise CheckpointError(message, name=name, file=file, strerror=error.strerror) from error
    whole = hashlib.sha256()
    with temporary_folder("tokenizer") as made:
        for file, content in contents.items():
            write_bytes(made / file, content, made)
            whole.update(f"{file}\0{hashlib.sha256(content).hexdigest()}\n".encode())
        yield TokenizerCopy(made, whole.hexdigest())


#: Seconds of computing, and bytes of memory, that a trial may take.
SECONDS: Final = 40
MEMORY: Final = 3 << 30
#: Seconds by the clock; a machine that has much else to do is slow.
PATIENCE: Final = 300
MAX_REMEMBERED: Final = 256


def try_once(copy: TokenizerCopy, name: str) -> None:
    """Open the tokenizer and cut a few texts, in another process, unless the same files were tried before.

    Raises a CheckpointError if it cannot be opened, or takes too much time or memory. `name` is that of the folder, for
    messages.
    """
    try:
        wrong = _outcome(copy)
    except subprocess.TimeoutExpired as error:
        message = (
            "The tokenizer in {name} was not opened within {patience} seconds. Try again when this machine is less "
            "busy."
        )
        raise CheckpointError(message, name=name, patience=PATIENCE) from error
    if wrong:
        message = (
            "The tokenizer in {name} cannot be used: {wrong}. Save it in the folder of the model with "
            "`tokenizer.save_pretrained(folder)`, or choose another model."
        )
        raise CheckpointError(message, name=name, wrong=wrong)


@lru_cache(MAX_REMEMBERED)
def _outcome(copy: TokenizerCopy) -> str:
    """What is wrong with a tokenizer, as a part of a sentence; "" if nothing is. The same files are tried once."""
    path: PurePath = copy.path
    program = f"{__package__}.tokenizer_trial_process"
    answer = answer_of(program, [str(path)], seconds=SECONDS, memory=MEMORY, patience=PATIENCE)
    if answer is None or "wrong" not in answer:
        message = (
            "opening it and splitting a few texts takes more than {seconds} seconds or {memory:.3g} GB, or crashes the "
            "process"
        )
        return said(message, seconds=SECONDS, memory=MEMORY / 2**30)
    wrong = str(answer["wrong"])
    # As it is, in a quoted text of Python, and as some libraries write it on Windows.
    for shown in (str(path), repr(str(path))[1:-1], path.as_posix()):
        wrong = wrong.replace(shown, "its folder")
    return wrong


#: A GGUF file's key of a chat template, and the bytes from its beginning in which it stands, behind the vocabulary.
TEMPLATE_KEY: Final = b"tokenizer.chat_template"
GGUF_HEADER: Final = 32 << 20
#: Its key of what the model is called, which stands first, and those names that are of no decoder.
ARCHITECTURE_KEY: Final = b"general.architecture"
GGUF_BEGINNING: Final = 65_536
#: What a model that compares pictures with texts reads: one or the other.
SIDES: Final[tuple[SourceKind, ...]] = ("picture", "text")
_KIND_OF_GGUF: Final[Mapping[str, Kind]] = {"t5": "encoder-decoder", "umt5": "encoder-decoder", "t5encoder": "encoder"}
#: No path of a file system is longer.
MAX_PATH: Final = 4_096
#: So much of a path is repeated in a message.
_SHOWN: Final = 80


def folder_with_model(typed: str, allowed: Sequence[Path] | None = None) -> Path:
    """The folder at a path as a person types or pastes it: quotation marks around it and ~ are understood.

    Raises a CheckpointError if there is no folder, it lies elsewhere, or it holds no model that can be opened; the
    message says what works. `allowed`: folders below which it must lie; None for anywhere.
    """
    path = _folder(typed, allowed)
    if (path / MANIFEST).is_file() or folder_check.gguf_file(path) is not None:
        return path
    folder = folder_check.check_folder(path)
    if allowed is not None and folder.adapter is not None:
        _check_below(folder.path.resolve(), allowed)
    kind = _kind_of(folder.config)
    if kind not in ("image", "encoder") or _reads(kind, path) == "text":
        folder_check.check_tokenizer_files(folder.tokenizer, folder.config.get("model_type"))
    return path


def _settings(path: Path, name: str) -> dict[str, Any]:
    """What a file of settings in a folder says; nothing where there is none that can be read."""
    with suppress(OSError, UnicodeDecodeError, Malformed, CheckpointError):
        return parsed(read_file(path, name, LARGEST.get(name, folder_check.LARGEST_CONFIG)).decode("utf-8"))
    return {}


def kind_in(path: Path) -> Kind | None:
    """Which kind of model a folder seems to hold, by its settings, before anything is loaded; None if they do not say.

    What it is, is found when it is opened (`proof`).
    """
    try:
        if (path / MANIFEST).is_file():
            return "encoder-decoder"
        if (gguf := folder_check.gguf_file(path)) is not None:
            return _KIND_OF_GGUF.get(_architecture(gguf), "decoder")
        adapter = read_adapter(path)
        return _kind_of(_settings(path if adapter is None else adapter.base, CONFIG))
    except (OSError, CheckpointError):
        return None


def is_own_transformer(path: Path) -> bool:
    """Whether a folder seems to hold a Transformer of Headlight's own: its settings name no other architecture."""
    settings = _settings(path, CONFIG)
    return bool(settings) and "architecture" not in settings and (path / MANIFEST).is_file()


def sides_in(path: Path) -> tuple[SourceKind, ...]:
    """What the model in a folder seems to read, one or the other, if it compares pictures with texts; else nothing."""
    return SIDES if _has_sides(_settings(path, CONFIG)) else ()


def _has_sides(config: Mapping[str, Any]) -> bool:
    """Whether settings are of two encoders and nothing that would join what they read."""
    named = config.get("architectures")
    name = named[0] if isinstance(named, list) and named else ""
    return "For" not in str(name) and all(
        isinstance(config.get(each), dict) for each in ("vision_config", "text_config")
    )


def _is_made_of_two(config: Mapping[str, Any]) -> bool:
    """Whether settings are of an encoder of pictures, and of a decoder that has been told how wide that is (BLIP)."""
    eye, hand = config.get("vision_config"), config.get("text_config")
    return isinstance(eye, dict) and isinstance(hand, dict) and "encoder_hidden_size" in hand and not _has_sides(config)


def reads_in(path: Path) -> SourceKind | None:
    """What the model in a folder seems to read, by what it has to make numbers of sounds or pictures; as `kind_in`."""
    kind = kind_in(path)
    return None if kind is None else _reads(kind, path)


def _reads(kind: Kind, path: Path) -> SourceKind:
    if kind == "image":
        return "picture"
    settings = extractor_settings(path)
    found = next((each for each, source in SOURCES.items() if source.extractor_setting in settings), "text")
    # A model of another kind may be given pictures beside its text.
    return found if found != "picture" or kind == "encoder-decoder" else "text"


def extractor_settings(path: Path) -> dict[str, Any]:
    """The settings of what makes numbers of sounds or pictures, in a folder; empty where there are none."""
    for name in _PROCESSORS:
        if settings := _settings(path, name):
            inner = settings.get("feature_extractor") or settings.get("image_processor")
            return inner if isinstance(inner, dict) else settings
    return {}


def languages_in(path: Path) -> tuple[str, str]:
    """What the settings of a folder's tokenizer say that it reads and writes, as HTML names languages; "" where they
    do not say.
    """
    settings = _settings(path, TOKENIZER_SETTINGS)
    source, target = (html_language(str(settings.get(name))) for name in ("source_lang", "target_lang"))
    return source, target


def _kind_of(config: Mapping[str, Any]) -> Kind | None:
    if not isinstance(config.get("model_type"), str):
        return None
    if config.get("is_encoder_decoder") is True or _is_made_of_two(config):
        return "encoder-decoder"
    if ("patch_size" in config and "vocab_size" not in config) or _has_sides(config):
        return "image"
    named = config.get("architectures")
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    return "decoder" if any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in names) else "encoder"


def _architecture(gguf: Path) -> str:
    """What a GGUF file says that its model is called; "" where it does not say."""
    with open_file(gguf.parent, gguf.name, folder_check.LARGEST_WEIGHTS) as file:
        _, _, value = file.read(GGUF_BEGINNING).partition(ARCHITECTURE_KEY)
    # Four bytes of a type, eight of a length, and so many letters.
    return value[12 : 12 + int.from_bytes(value[4:12], "little")].decode("utf-8", errors="replace")


def has_chat_template(path: Path) -> bool:
    """Whether a folder holds a decoder with a chat template, before anything is loaded."""
    if kind_in(path) != "decoder":
        return False
    try:
        if (gguf := folder_check.gguf_file(path)) is not None:
            with open_file(gguf.parent, gguf.name, folder_check.LARGEST_WEIGHTS) as file:
                return TEMPLATE_KEY in file.read(GGUF_HEADER)
        adapter = read_adapter(path)
        return any(map(_names_template, [path] if adapter is None else [path, adapter.base]))
    except (OSError, CheckpointError):
        return False


def _names_template(path: Path) -> bool:
    has_file = (path / CHAT_TEMPLATE).is_file()
    return has_file or _settings(path, TOKENIZER_SETTINGS).get("chat_template") is not None


def _folder(typed: str, allowed: Sequence[Path] | None) -> Path:
    text = typed.strip().strip("\"'")
    if text.startswith("file://"):
        text = url2pathname(text.removeprefix("file://"))
    if not text:
        raise CheckpointError("Type or paste the path of a folder with a model in it, for example ~/models/bert.")
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"
    if len(text) > MAX_PATH or not text.isprintable():
        message = "“{shown}” is not the path of a folder: it is too long or contains invisible characters."
        raise CheckpointError(message, shown=shown)
    try:
        path = Path(text).expanduser().absolute()
        if allowed is not None and is_elsewhere(path, [folder.absolute() for folder in allowed]):
            _check_below(None, allowed)
        path = path.resolve()
        if allowed is not None:
            _check_below(path, allowed)
        is_folder, is_file = path.is_dir(), path.is_file()
    except (OSError, RuntimeError, ValueError) as error:
        if allowed is not None:
            _check_below(None, allowed)
        raise CheckpointError("“{shown}” is not the path of a folder that can be opened here.", shown=shown) from error
    if is_file:
        raise CheckpointError("“{shown}” is a file. Choose the folder that contains it.", shown=shown)
    if not is_folder:
        raise CheckpointError(
            "There is no folder “{shown}” on the machine that Headlight runs on. Enter the full path of a folder "
            "that `save_pretrained` of transformers wrote, or of one of Headlight's own checkpoints.",
            shown=shown,
        )
    entries(path)
    return path


def is_elsewhere(path: PurePath, allowed: Sequence[PurePath]) -> bool:
    """Whether a path names another drive of Windows, or another machine, than the allowed folders do; all absolute.

    To look at a path such as `\\\\machine\\share` would log on to that machine.
    """
    return path.drive.lower() not in {folder.drive.lower() for folder in allowed}


def _check_below(path: Path | None, allowed: Sequence[Path]) -> None:
    """Refuse a path that does not lead into one of these folders, with the same words whatever lies there."""
    if path is not None and any(path.is_relative_to(folder.resolve()) for folder in allowed):
        return
    where = said("No folders are allowed.")
    if allowed:
        where = said("Folders within {folders} are allowed.", folders=", ".join(map(str, allowed)))
    raise CheckpointError(
        "This server opens only folders that its administrator allows. {where} Ask the administrator to put the "
        "model there, or to add its folder to HEADLIGHT_MODEL_FOLDERS.",
        where=where,
    )

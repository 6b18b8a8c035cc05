"""Open a folder with a model in it, whichever kind it is: Headlight's own, or one of transformers."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

from model.adapters.folder_check import gguf_file
from model.checkpoint import MANIFEST
from model.errors import CheckpointError, InputTextError, SessionError, TraceError, said
from model.folder_files import entries, kept_of_hub, named_folder
from model.nn.transformer import Transformer
from model.reader import Reader, Writer
from model.sequence_translator import SequenceTranslator, read_folder
from model.training_record import LANGUAGES
from model.translator import EarlierTranslator, Translator
from model.word_choice import Chooser

if TYPE_CHECKING:
    from model.adapters.chat_template import ChatWriter


def open_reader(
    folder: str | Path, device: str | None = None, dtype: str = "float32", *, cache: str | Path | None = None
) -> Reader:
    """Open a folder with a model in it, whichever kind it is.

    Args:
        folder: a checkpoint of Headlight's own, any folder as `transformers` saves it, a GGUF file or a folder with
            one, or the name of a model of the hub that is in this machine's cache.
        device: "cpu", "cuda" or "cuda:N"; by default CUDA if present, else the CPU.
        dtype: "float32", or "bfloat16" on CUDA.
        cache: folder in which it is kept what was proven of a model of transformers, and the numbers of a GGUF file as
            the library read them; None to do it again.

    Raises:
        CheckpointError: the folder holds no model, or one that cannot be opened; the message says what works.
        DeviceError: there is no such device, or it does not run this number type.
    """
    path = named_folder(folder)
    if not path.exists() and "/" in str(folder):
        path = kept_of_hub(str(folder)) or path
    if path.is_dir():
        entries(path)
    if (path / MANIFEST).is_file():
        return open_translator(path, device, dtype)
    if not path.is_dir() and gguf_file(path) is None:
        if path.exists():
            message = "{path} is a file, but not a GGUF file. Choose the folder of a model, or a GGUF file."
            raise CheckpointError(message, path=path)
        raise CheckpointError("There is no folder {path}.", path=path)
    # The library transformers takes a second or two to import; our own checkpoints do without.
    from model.adapters.open_folder import open_folder

    return open_folder(path, device=device, dtype=dtype, cache=None if cache is None else Path(cache))


def open_translator(folder: str | Path, device: str | None = None, dtype: str = "float32") -> SequenceTranslator:
    """Open a checkpoint of Headlight's own. Arguments and errors are those of `open_reader`."""
    read = read_folder(named_folder(folder), device, dtype)
    kind = Translator if isinstance(read.model, Transformer) else EarlierTranslator
    return kind(read.model, read.tokenizer, name=read.name, digest=read.digest, languages=LANGUAGES)


def as_writer(reader: Reader) -> Writer:
    """The same model as a `Writer`. Raises a SessionError if it only reads."""
    if not reader.abilities.generates:
        raise SessionError(reader.abilities.lacks.get("decoding", said("This model only reads: it generates no text.")))
    if isinstance(reader, SequenceTranslator):
        return reader
    from model.adapters.text_writer import TextWriter

    assert isinstance(reader, TextWriter)
    return reader


def as_attending(reader: Reader) -> Reader:
    """The same model. Raises a TraceError if it has no attention at all, and so nothing to be seen or measured."""
    if not reader.abilities.heads:
        raise TraceError(reader.abilities.lacks["self-attention"])
    return reader


def as_chat(reader: Reader) -> "ChatWriter":
    """The same, reading every text as a chat. Raises an InputTextError if no chat template can be used."""
    from model.adapters.chat_template import ChatWriter
    from model.adapters.text_writer import TextWriter

    if not isinstance(reader, TextWriter) or reader.abilities.kind != "decoder":
        raise InputTextError("Chat templates are for decoder-only models. Read the text without a template.")
    return ChatWriter.of(reader)


def as_pair(reader: Reader, second: str) -> Reader:
    """The same, reading every text as the first of a pair; without a second text, or with a decoder, as it is."""
    if not second.strip() or reader.abilities.kind != "encoder":
        return reader
    from model.adapters.text_tracer import TextTracer

    return reader.with_second(second) if isinstance(reader, TextTracer) else reader


def as_chooser(reader: Reader) -> Chooser:
    """The same model as one that predicts words. To be asked of readers that do not lack "word choice"."""
    return cast(Chooser, reader)


def as_sequence_translator(reader: Reader, name: str = "") -> SequenceTranslator:
    """The same as an encoder–decoder that Headlight runs itself; arguments and errors as of `as_translator`."""
    if not isinstance(reader, SequenceTranslator):
        raise _of_another_kind(said("translators"), reader, name)
    return reader


def as_translator(reader: Reader, name: str = "") -> Translator:
    """The same model as a `Translator`, a Transformer all of whose insides can be reached; errors call it `name`.

    Raises a CheckpointError if it is a model that Headlight does not run itself, or one from before the Transformer.
    """
    if not isinstance(reader, Translator):
        raise _of_another_kind(said("Transformers"), reader, name)
    return reader


def _of_another_kind(what: str, reader: Reader, name: str) -> CheckpointError:
    message = (
        "This is available only for {what} that Headlight runs itself, that is, for its own checkpoints. {name} is a "
        "model of another kind: {family}."
    )
    return CheckpointError(message, what=what, name=name or reader.name, family=reader.abilities.family)

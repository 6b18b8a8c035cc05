"""Find and open the chosen model and keep it for all viewers; say what is known of it before it is opened."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import streamlit as st

from model import later
from model.checked import Scalar
from model.errors import CheckpointError, DataError, HeadlightError
from model.folder_files import entries, hub_folder
from model.languages import NOTHING_OFFERED, Offered, html_language
from model.thread_settings import share_heaps, sleep_while_waiting
from model.training_record import LANGUAGES, MANIFEST, read_training
from viz.access import traces
from viz.access.given_files import FILES, given
from viz.selection import catalogue
from viz.selection.choices import ModelChoice
from viz.server import limits
from viz.server.caches import BoundedCache, FileState, cached, share_of_memory
from viz.text.language import NAMES
from viz.text.messages import Message, _, language, said

if TYPE_CHECKING:
    from model import Reader, Translator
    from model.abilities import Abilities, Kind, SourceKind
    from model.analysis.ablations.results import AblationResults
    from model.reader import Writer
    from model.sequence_translator import SequenceTranslator
    from model.word_choice import Chooser

#: How files with weights end.
_WEIGHTS: Final = (".safetensors", ".bin", ".gguf")
#: Enough for the fifteen small models that are compared with one another, beside others; bytes are bounded as well.
MAX_MODELS: Final = 24
MAX_VOCABULARIES: Final = 8
#: The share of the machine's memory that loaded models may take.
MODELS_SHARE: Final = 0.5
_Said = TypeVar("_Said")
Stamp = tuple[tuple[str, int, int], ...]
#: The folder of a model, its files, the device.
ReaderKey = tuple[str, Stamp, str]
#: Weights of so many bytes are loaded before anybody asks for them.
LARGEST_UNASKED: Final = 1 << 28

_REFUSED, NOT_OPENED = said("cannot be opened"), said("carried out when the model is opened")
#: What a speech model may be told to write (`Offered.writes`) → how that is called.
_TASKS: Final[Mapping[str, Message]] = {
    "transcribe": said("What is said"),
    "transcribe-timestamps": said("What is said, with timestamps"),
    "translate": said("English translation"),
    "translate-timestamps": said("English translation, with timestamps"),
}
#: The sides of a model that compares pictures with texts → how they are called.
_SIDES: Final[Mapping[str, Message]] = {"picture": said("Pictures"), "text": said("Texts")}
MAX_VERDICTS: Final = 256
#: Folder of a model → its files when it was opened last, how exactly it is shown, and the languages that it offers.
_VERDICTS: Final[dict[str, tuple[Stamp, Message, Offered]]] = {}

# Whoever comes to the model through this layer has this module first, and torch after it.
sleep_while_waiting()


def has_gpu() -> bool:
    """Whether torch can compute on a graphics card; False until a model has been loaded, for torch comes with it."""
    # While another page's thread is still importing it, torch has no `cuda` yet.
    is_available = getattr(getattr(sys.modules.get("torch"), "cuda", None), "is_available", None)
    return is_available is not None and bool(is_available())


def reader(choice: ModelChoice) -> "Reader":
    """The chosen model on the chosen device in the chosen languages, loaded once for all viewers.

    Raises:
        CheckpointError: there is no such model, it is damaged, or too large for the memory that there is.
        DeviceError: the device asked for does not exist here.
        InputTextError: it does not know a language that an address asks for.
    """
    key = path, stamp, device = _key(choice)
    try:
        loaded = _readers(device).get_or_make(
            key,
            lambda: later.opening.open_reader(Path(path), device=device, cache=limits.cache_folder("models")),
            lambda loaded: loaded.num_bytes,
            expected=_weights_bytes(stamp),
        )
    except CheckpointError:
        _remember_verdict(path, stamp, _REFUSED)
        raise
    if (proof := loaded.abilities.proof) is not None:
        _remember_verdict(path, stamp, proof.verdict, loaded.offered)
    known = loaded.offered
    return loaded.speaking(choice.reads if known.reads else "", choice.writes if known.writes else "")


def verdict(choice: ModelChoice) -> Message | None:
    """How exactly the chosen model is shown; None of one that Headlight runs itself, whose weights are its own."""
    return _asked(choice, lambda path: None if (path / MANIFEST).is_file() else _when_opened(path)[0], None)


def offered(choice: ModelChoice) -> Offered:
    """The languages that the chosen model lets one choose; nothing before it was opened."""
    return _asked(choice, lambda path: _when_opened(path)[1], NOTHING_OFFERED)


def _when_opened(path: Path) -> tuple[Message, Offered]:
    """What was remembered of a folder when it was opened last, as long as its files are the same."""
    known = _VERDICTS.get(str(path))
    return known[1:] if known is not None and known[0] == _stamp(path) else (NOT_OPENED, NOTHING_OFFERED)


def _asked(choice: ModelChoice, ask: Callable[[Path], _Said], unknown: _Said) -> _Said:
    """What the chosen model's folder says before anything is loaded; `unknown` where it does not, or there is none."""
    try:
        return ask(folder(choice))
    except CheckpointError:
        return unknown


def _remember_verdict(path: str, stamp: Stamp, verdict: Message, offered: Offered = NOTHING_OFFERED) -> None:
    _VERDICTS.pop(path, None)
    while len(_VERDICTS) >= MAX_VERDICTS:
        _VERDICTS.pop(next(iter(_VERDICTS)), None)
    _VERDICTS[path] = stamp, verdict, offered


def bytes_to_load(choice: ModelChoice) -> int:
    """Bytes of the chosen model's weights, as long as they are not loaded; 0 then, and where there is no such model."""
    try:
        # To choose a device takes torch, which is loaded with the first model.
        if "torch" in sys.modules and _readers((key := _key(choice))[-1]).get(key) is not None:
            return 0
        return _weights_bytes(_stamp(folder(choice)))
    except HeadlightError:
        return 0


def text_reader(choice: ModelChoice) -> "Reader":
    """The chosen model as it reads what a person gives: a file, or a text, as a chat or with a second one if chosen.

    Raises as `reader`.

    What is measured over many sentences is read by `reader`, as it is. Raises an InputTextError if its chat template
    cannot be used, or the file is not kept any more.
    """
    loaded = reader(choice)
    if (of_file := FILES.get(loaded.abilities.reads)) is not None:
        return loaded.reading(*given(of_file, choice.given_file))
    return later.opening.as_chat(loaded) if reads_chat(choice) else later.opening.as_pair(loaded, choice.second_text)


def reads_chat(choice: ModelChoice) -> bool:
    """Whether the chosen model reads a person's text as a chat."""
    return choice.chat and has_chat_template(choice)


def has_chat_template(choice: ModelChoice) -> bool:
    """Whether the chosen model reads text behind a chat template, before anything is loaded."""
    return _asked(choice, lambda path: _has_chat_template(str(path), _stamp(path)), False)


def weights_bytes(choice: ModelChoice) -> int:
    """Bytes of the chosen model's weights. Raises as `folder`."""
    return _weights_bytes(_stamp(folder(choice)))


def first_files() -> tuple[str, Stamp] | None:
    """The model that an address opens which names none, if it reads text: its folder, and what its files are."""
    try:
        path = folder(choice := ModelChoice(catalogue.given_first()))
        return (str(path), _stamp(path)) if reads(choice) == "text" else None
    except CheckpointError:
        return None


def is_small_and_ours(choice: ModelChoice) -> bool:
    """Whether the chosen model is a checkpoint of Headlight's own that may be loaded unasked. Raises as `folder`."""
    path = folder(choice)
    return _weights_bytes(_stamp(path)) <= LARGEST_UNASKED and (path / MANIFEST).is_file()


def lessons_name() -> str:
    """The model that lessons run on: the first Transformer of Headlight's own on the server's list, else the first."""
    own = (name for name, path in catalogue.server_models().items() if later.inspect_folder.is_own_transformer(path))
    return next(own, name_of(ModelChoice()))


def writer(choice: ModelChoice) -> "Writer":
    """The model as it reads a person's text. Raises as `text_reader`, or a SessionError if it only reads."""
    return later.opening.as_writer(text_reader(choice))


def attending(choice: ModelChoice) -> "Reader":
    """The same as `text_reader`. Raises as that, or a TraceError if the model has no attention that could be shown."""
    return later.opening.as_attending(text_reader(choice))


def translator(choice: ModelChoice) -> "Translator":
    """The chosen model as a translator that we run. Raises as `reader`, or a CheckpointError if it is another."""
    return later.opening.as_translator(reader(choice), name_of(choice))


def chooser(choice: ModelChoice) -> "Chooser":
    """The chosen model, where it predicts words: its abilities do not lack "word choice". Raises as `reader`."""
    return later.opening.as_chooser(reader(choice))


def text_chooser(choice: ModelChoice) -> "Chooser":
    """The same as it reads a person's text. Raises as `text_reader`."""
    return later.opening.as_chooser(text_reader(choice))


def any_translator(choice: ModelChoice) -> "SequenceTranslator":
    """As `translator`, a model from before the Transformer too."""
    return later.opening.as_sequence_translator(reader(choice), name_of(choice))


def abilities(choice: ModelChoice) -> "Abilities":
    """What the chosen model has and lacks."""
    return reader(choice).abilities


def kind(choice: ModelChoice) -> "Kind | None":
    """Which kind of model is chosen, before anything is loaded; None where its folder does not say."""
    return _asked(choice, later.inspect_folder.kind_in, None)


def reads(choice: ModelChoice) -> "SourceKind | None":
    """What the chosen model reads; as `kind`."""
    return choice.reads if choice.reads in sides(choice) else _asked(choice, later.inspect_folder.reads_in, None)


def sides(choice: ModelChoice) -> "tuple[SourceKind, ...]":
    """What the chosen model reads, one or the other, where it compares pictures with texts; as `kind`."""
    return _asked(choice, later.inspect_folder.sides_in, ())


def languages(choice: ModelChoice) -> tuple[str, str]:
    """What the chosen model reads and writes, as HTML names languages, before anything is loaded; "" if unknown.

    What a person chose of many counts; and where its files do not say what it reads, what a person said.
    """
    source, target = languages_of_files(choice)
    known = offered(choice)
    reads, writes = choice.reads or known.chosen[0], choice.writes or known.chosen[1]
    if writes in _TASKS:
        source = html_language(reads) if known.reads else "en"
        return source, "en" if writes.startswith("translate") else source
    if reads in known.reads:
        source = html_language(reads)
    elif not source and choice.reads in NAMES:
        source = choice.reads
    return source, html_language(writes) if writes in known.writes else target


def languages_of_files(choice: ModelChoice) -> tuple[str, str]:
    """What the chosen model's files say that it reads and writes; "" where they do not."""
    try:
        path = folder(choice)
        return LANGUAGES if (path / MANIFEST).is_file() else later.inspect_folder.languages_in(path)
    except (CheckpointError, OSError):
        return "", ""


def language_name(code: str) -> str:
    """A language by its code in whatever vocabulary, for whoever looks: "French (fra_Latn)", "法语 (fra_Latn)"; or what
    a speech model is told to write, or which side of a model is read.

    By Unicode's CLDR; of a language that it does not name, the code.
    """
    if (named := _TASKS.get(code) or _SIDES.get(code)) is not None:
        return _(named)
    from babel import Locale

    name, _mark, script = html_language(code).partition("-")
    names = Locale.parse(language())
    spoken = names.languages.get(name)
    if spoken is None:
        return code
    return f"{spoken}, {names.scripts[script]} ({code})" if script in names.scripts else f"{spoken} ({code})"


def is_english_german(choice: ModelChoice) -> bool:
    """Whether the chosen model translates English to German, before anything is loaded."""
    return languages(choice) == LANGUAGES


def target_language(choice: ModelChoice) -> str:
    """The language that the chosen model writes, as HTML names it; "" if nobody knows."""
    return languages(choice)[1]


def label_smoothing(choice: ModelChoice) -> float | None:
    """ε of the label smoothing (§5.4) with which the chosen model was trained, if its training record says so."""
    smoothing = training_settings(choice).get("smoothing")
    return smoothing if isinstance(smoothing, float) and 0 < smoothing < 1 else None


def taught_head(choice: ModelChoice, site: str) -> tuple[int, int] | None:
    """Layer and head of this site that training taught what “it” stands for, from 0, if its training record says so."""
    settings = training_settings(choice) if site == "encoder.self" else {}
    taught, layer, head = (settings.get(name) for name in ("taught", "taught_layer", "taught_head"))
    is_one = isinstance(taught, int | float) and taught > 0
    return (layer, head) if is_one and isinstance(layer, int) and isinstance(head, int) else None


def training_settings(choice: ModelChoice) -> Mapping[str, Scalar]:
    """How the chosen model was trained, if its training record says so and can be read; else nothing."""
    path = folder(choice)
    return _training_settings(str(path), _stamp(path))


def name_of(choice: ModelChoice) -> str:
    """What the chosen model is called in the list."""
    return choice.checkpoint or next(iter(catalogue.server_models()), "")


def identity(choice: ModelChoice) -> tuple[str, str]:
    """The name and the digest of the chosen model."""
    return name_of(choice), reader(choice).digest


def folder(choice: ModelChoice) -> Path:
    """Where the chosen model is on disk. Raises a CheckpointError if there is none of that name."""
    if choice.folder:
        catalogue.check_may_name_folders()
        if os.path.realpath(choice.folder) != choice.folder:
            raise CheckpointError(
                "This folder no longer points to where it did when it was added. Add it again on the left."
            )
        return Path(choice.folder)
    models = catalogue.server_models()
    name = name_of(choice)
    if name and name not in models:
        message = (
            "There is no model {name} in {root}/. Choose another one on the left, or set the environment variable "
            "{root_variable} to a folder of checkpoints that has it."
        )
        root = catalogue.checkpoint_root().name
        raise CheckpointError(message, name=name, root=root, root_variable=catalogue.ROOT_VARIABLE)
    if not name:
        message = (
            "There is no checkpoint in {name}/. Train one with `python -m model train --data FILE.tsv --run RUN --out "
            "CHECKPOINT`, add a folder with a model on the left, or set the environment variable {root_variable} to a "
            "folder of checkpoints."
        )
        raise CheckpointError(message, name=catalogue.checkpoint_root().name, root_variable=catalogue.ROOT_VARIABLE)
    return models[name]


def stamp(choice: ModelChoice) -> Stamp:
    """Changes when any file of the chosen model does; nothing is opened. Raises as `folder`."""
    return _stamp(folder(choice))


@cached(max_entries=MAX_VOCABULARIES)
def vocabulary(reader: "Reader") -> tuple[str, ...]:
    """Every token of the vocabulary, in the order of their ids; none of a model of pictures."""
    return reader.all_tokens()


@cached(max_entries=MAX_MODELS)
def _has_chat_template(path: str, stamp: Stamp) -> bool:
    return later.inspect_folder.has_chat_template(Path(path))


@cached(max_entries=MAX_MODELS)
def _training_settings(path: str, stamp: Stamp) -> Mapping[str, Scalar]:
    try:
        training = read_training(Path(path))
    except CheckpointError:
        return {}
    return {} if training is None else dict(training.settings)


def ablation_results() -> "AblationResults | None":
    """What was measured of all seeds of the small models; None if nothing yet. Raises a DataError if it is damaged."""
    path = catalogue.experiments_root() / later.ablations.RESULTS
    try:
        return _ablation_results(FileState.of(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        message = "{results} cannot be read: {strerror}."
        raise DataError(message, results=later.ablations.RESULTS, strerror=error.strerror) from error


@cached(max_entries=4)
def _ablation_results(file: FileState) -> "AblationResults":
    return later.ablation_results.load_results(Path(file.path))


def _key(choice: ModelChoice) -> ReaderKey:
    """What a loaded model is known by. Raises as `reader`."""
    path = folder(choice)
    return str(path), _stamp(path), str(later.reader.choose_device(None if choice.device == "auto" else choice.device))


def _weights_bytes(stamp: Stamp) -> int:
    # Most numbers of a GGUF file have 4 bits, and 32 when they are read.
    return sum(
        size * (8 if name.lower().endswith(".gguf") else 1)
        for name, size, _ in stamp
        if name.lower().endswith(_WEIGHTS)
    )


def _stamp(folder: Path) -> Stamp:
    """Changes when any file of a checkpoint does, so that a damaged one is read, and refused, instead of remembered."""
    try:
        stats = [(path.name, path.stat()) for path in entries(folder)]
    except OSError as error:
        raise CheckpointError("The folder {name} no longer exists or cannot be read.", name=folder.name) from error
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


def _memory_of(device: str) -> int:
    """Bytes that models may take on a device: a share of the machine's memory, or of the card's."""
    on_card = later.reader.gpu_memory(device)
    return share_of_memory(MODELS_SHARE) if on_card is None else int(MODELS_SHARE * on_card)


@st.cache_resource(show_spinner=False)
def _readers(device: str) -> BoundedCache[ReaderKey, "Reader"]:
    # Before anything is computed: memory that threads take from heaps of their own is hardly ever handed back.
    share_heaps()
    # Sessions hold the model that they write with: they go with it.
    return BoundedCache(MAX_MODELS, _memory_of(device), on_evict=lambda key: traces.forget_sessions())


def checked(path: str) -> Path:
    """A folder that a person names, once it is clear that a model lies in it; nothing of the model is loaded.

    Raises a CheckpointError if it is none, is not to be looked into, or holds no model that can be opened; the message
    says what works.
    """
    catalogue.check_may_name_folders()
    return later.inspect_folder.folder_with_model(path, catalogue.folders_to_add_from())


def fetched(name: str) -> Path:
    """The folder of a model of the hub, fetched where that is needed; only for who is allowed to.

    Raises a CheckpointError if it is not allowed, there is no such model, or it cannot be fetched or opened.
    """
    catalogue.check_may_name_folders()
    if not catalogue.downloads_allowed():
        raise CheckpointError(
            "This server does not download models. Start it with {downloads_variable}=1 in its environment to allow "
            "that, or download the model yourself and give its folder.",
            downloads_variable=catalogue.DOWNLOADS_VARIABLE,
        )
    return later.inspect_folder.folder_with_model(str(hub_folder(name.strip())))

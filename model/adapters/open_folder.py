"""Open a folder that `transformers` wrote, as a reader or writer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeVar

import torch
from torch import nn

from model.abilities import Abilities, View, Whole
from model.adapters import capture, library
from model.adapters.ability_proof import check_reads, lacking
from model.adapters.base_reader import Opened
from model.adapters.config_limits import check_token_ids, check_values
from model.adapters.folder_check import CONFIG, Folder, check_tokenizer_files
from model.adapters.generation import PROVEN_STEPS, wrong_with_writing
from model.adapters.given import LACKS, WINDOWS, Opening
from model.adapters.inspect_folder import private_copy, try_once
from model.adapters.joined import join
from model.adapters.lacks import lacks_of
from model.adapters.layout import Layout, longest_text
from model.adapters.library_tokenizer import LibraryTokenizer
from model.adapters.model_class import class_of, with_type
from model.adapters.other_weights import readable_folder
from model.adapters.peft_adapter import merge
from model.adapters.placement import Placement, check_room, device_of, folder_for_weights, placement_for, settle
from model.adapters.probe import MOST_TOKENS, Probe, table_of_decoder
from model.adapters.proof import EAGER, Explored, explore_model, found_again, keep_verdict, load_verdict, without_layout
from model.adapters.text_reader import TextReader
from model.adapters.text_writer import TextWriter
from model.adapters.whole import Stored, check_run, check_whole
from model.errors import CheckpointError, TraceError, said
from model.reader import Reader, choose_device, choose_dtype
from model.temporary_folders import temporary_folder

T = TypeVar("T")
R = TypeVar("R", bound=TextReader)
#: Position schemes that work at any length.
NO_LENGTH: Final = ("ALiBi", "relative bias", "none")
#: What a model reads to be proven.
PROBE_TEXT: Final = "The animal didn't cross the street because it was too tired."
#: Times as many weights as there are: a head that a checkpoint leaves out is no more than that.
MOST_MISSING: Final = 3

library.register(capture.attend, capture.causal_or_padding)


def open_folder(path: Path, *, device: str | None = None, dtype: str = "float32", cache: Path | None = None) -> Reader:
    """Open a folder as `transformers` saves it.

    Args:
        path: of the folder, or of a GGUF file.
        device: "cpu", "cuda" or "cuda:N"; by default CUDA if present, else the CPU.
        dtype: "float32", or "bfloat16" on CUDA.
        cache: as of `model.opening.open_reader`.

    Raises:
        CheckpointError: it holds no model, or one that cannot be opened; the message says what works.
        DeviceError: there is no such device, or it does not run this number type.
    """
    chosen = choose_device(device)
    number_type = choose_dtype(dtype, chosen)
    with readable_folder(path, cache) as folder:
        return _opened(folder, chosen, number_type, cache)


def _opened(folder: Folder, chosen: torch.device, number_type: torch.dtype, cache: Path | None) -> Reader:
    check_token_ids(folder.config, CONFIG)
    folder = replace(folder, config=with_type(folder.config))
    config = library.make_config(folder.config)
    check_values(folder.config, has_table=not library.turns(config))
    stored = Stored.of(folder.weights)
    model_class = class_of(config, stored.shapes)
    if model_class.has_words:
        check_tokenizer_files(folder.tokenizer, config.model_type)
    check_room(folder.name, folder.numbers, number_type, chosen)
    numbers, tables, largest = library.count_numbers(model_class, config)
    if numbers > MOST_MISSING * folder.numbers:
        message = "{name} contains far fewer weights than its config.json requires. Copy it again."
        raise CheckpointError(message, name=folder.name)
    check_room(folder.name, folder.numbers, number_type, chosen, tables=tables, largest=largest)
    with _opening_tokenizer(folder, config) if model_class.has_words else nullcontext() as open_tokenizer:
        placement = placement_for(folder.numbers, tables, number_type, chosen)
        model, whole = _loaded(folder, stored, model_class, config, number_type, placement)
        digest = folder.digest()
        pieces = None if open_tokenizer is None else open_tokenizer()
    if placement is None:
        model = model.to(chosen)
    if (sides := library.sides_of(model)) is not None and pieces is not None:
        return _proven_sides(folder, model, sides, whole, pieces, digest, config, cache)
    with _kept(cache, _key(model, digest)):
        return _proven(folder, model, whole, pieces, digest, config)


def _proven_sides(
    folder: Folder, model: Any, sides: tuple[Any, Any], whole: Whole, pieces: LibraryTokenizer, digest: str,
    config: Any, cache: Path | None,
) -> Reader:  # fmt: skip
    """Both encoders of a model that compares pictures with texts, each as what it is proven to be."""
    from model.adapters.sides import PictureSide, TextSide, join
    from model.adapters.sight import Sight

    pictures, texts = sides
    sight = Sight.in_folder(folder, pictures, config)
    words = Probe.of_text(texts, pieces.encode(PROBE_TEXT).ids)
    whole = check_run(model, whole, sight.probe().with_text(words.source), folder.name)
    with _kept(cache, _key(pictures, f"{digest}/picture")):
        layout, abilities = explore(pictures, sight.probe(), f"{digest}/picture")
    abilities = replace(abilities, whole=whole)
    looking = PictureSide(Opened(pictures, layout, abilities, folder.name, f"{digest}/picture"), sight)
    check_reads(looking.reading("", looking.probing))
    with _kept(cache, _key(texts, f"{digest}/text")):
        layout, abilities = explore(texts, words, f"{digest}/text")
        abilities = replace(abilities, whole=whole)
        reading = TextSide(Opened(texts, layout, abilities, folder.name, f"{digest}/text"), pieces)
        reading = _with_beginning(_with_tried(reading, words.source), words.source)
    return join(looking, reading)


def _proven(
    folder: Folder, model: Any, whole: Whole, pieces: LibraryTokenizer | None, digest: str, config: Any
) -> Reader:
    """The model as what it is proven to be."""
    if pieces is None or library.reads(model) != "text":
        return _proven_given(folder, model, whole, pieces, digest, config)
    source = pieces.encode(PROBE_TEXT).ids
    probe = Probe.of_text(model, source)
    whole = check_run(model, whole, probe, folder.name)
    layout, abilities = explore(model, probe, digest)
    abilities = replace(abilities, whole=whole)
    is_pair = abilities.kind == "encoder-decoder"
    if is_pair and (pieces.has_two_vocabularies or library.vocab_size(model) != library.words(model)):
        why = said("QK and OV need one vocabulary; this model reads one and writes another.")
        abilities = replace(abilities, lacks={**abilities.lacks, "circuits": why})
    opened = Opened(model, layout, abilities, folder.name, digest)
    if library.is_for(model, "labels") and abilities.has("word choice"):
        from model.adapters.text_reader import LabelReader

        library.end_by_no_padding(model)
        return _with_tried(LabelReader(opened, pieces), source)
    reader = proven_writer(TextWriter(opened, pieces)) if abilities.generates else TextReader(opened, pieces)
    return _with_beginning(_with_tried(reader, source), source)


def _proven_given(
    folder: Folder, model: Any, whole: Whole, pieces: LibraryTokenizer | None, digest: str, config: Any
) -> Reader:
    """The same of a model that reads a picture or a sound."""
    opening: Opening = import_module(library.READERS[library.reads(model)], __package__).OPENING
    sense = opening.sense(folder, model, config)
    words = [] if pieces is None else pieces.encode(PROBE_TEXT).ids[:MOST_TOKENS]
    probe = sense.probe([token % library.words(model) for token in words])
    # Lengths tell the sites of two stacks.
    if len(probe.target) == len(probe.source):
        probe = replace(probe, target=probe.target[:-1])
    whole = check_run(model, whole, probe, folder.name)
    layout, abilities = explore(model, probe, digest)
    lacks = abilities.lacks if abilities.kind == "image" else {**abilities.lacks, **LACKS}
    if pieces is not None and "encoder.self" not in abilities.heads:
        lacks = {**lacks, "rollout": WINDOWS, "reasons": WINDOWS}
    opened = Opened(model, layout, replace(abilities, whole=whole, lacks=lacks), folder.name, digest)
    if pieces is None:
        looking = opening.reader(opened, sense)
        check_reads(looking.reading("", looking.probing))
        return looking
    reader = opening.writer(opened, pieces, sense)
    with probe.few():
        proven = proven_writer(reader.trying())
        return reader.without(_with_tried(proven, probe.source).abilities.lacks)


def _with_beginning(reader: R, source: tuple[int, ...]) -> R:
    """The same without positional encodings and embeddings, if its stacks do not begin with their sum."""
    if not reader.abilities.has("positional encodings"):
        return reader
    stacks = reader.parts.stacks
    target = tuple(token % reader.vocab_size for token in source)
    both = (source if "encoder" in stacks else (), target if "decoder" in stacks else ())
    try:
        for stack in stacks:
            reader.parts.beginning_of(stack, *both)
    except TraceError as error:
        return reader.without({"positional encodings": error.message, "embeddings": error.message})
    return reader


def _with_tried(reader: R, source: tuple[int, ...]) -> R:
    """The same model without what it claimed and fails; what a content lacks so is tried once."""
    key = _key(reader.model, reader.digest)
    lacks = _LACKS.get(key)
    lacks = _remember(_LACKS, key, lacking(reader, source)) if lacks is None else lacks
    return reader.without(lacks) if lacks else reader


def _loaded(
    folder: Folder, stored: Stored, model_class: library.ModelClass, config: Any, dtype: torch.dtype,
    placement: Placement | None,
) -> tuple[nn.Module, Whole]:  # fmt: skip
    """The weights of a folder with its adapter, on the CPU or where they are placed, and what they are."""
    if placement is not None and folder.adapter is not None:
        raise CheckpointError(
            "{name} is an adapter of a model that does not fit into RAM. Merge the two with "
            "`model.merge_and_unload().save_pretrained(folder)` and open that folder.",
            name=folder.name,
        )
    generation = library.generation_settings(folder.generation, folder.config)
    with ExitStack() as stack:
        offloaded = None if placement is None else stack.enter_context(folder_for_weights())
        private = stack.enter_context(temporary_folder("index")) if offloaded is None else offloaded.path
        home = stack.enter_context(folder.held(private))
        placed = {} if placement is None else placement.options(private)
        model, loading = library.load_weights(
            home, model_class, config, EAGER, dtype, generation, placed, name=folder.name
        )
        whole = replace(check_whole(model, loading, stored, folder.name), opened_as=model_class.why)
    if placement is not None and offloaded is not None:
        model = settle(model, placement, offloaded)
    return join(model if folder.adapter is None else merge(model, folder.adapter)), whole


@contextmanager
def _opening_tokenizer(folder: Folder, config: Any) -> Iterator[Callable[[], LibraryTokenizer]]:
    """What opens the tokenizer of a folder, which a separate process tries first, beside what is done in the block."""
    with private_copy(folder) as copy, ThreadPoolExecutor(max_workers=1) as beside:
        trial = beside.submit(try_once, copy, folder.name)

        def opened() -> LibraryTokenizer:
            trial.result()
            return LibraryTokenizer(library.load_tokenizer(copy.path, config, folder.name))

        yield opened


#: Content, device and number type → what was found; whether keys and values may be kept, or why it only reads.
_PROVEN: Final[dict[tuple[str, ...], Explored]] = {}
_WRITES: Final[dict[tuple[str, ...], tuple[bool, str]]] = {}
#: The same → what is claimed and failed when it was tried, with the reason.
_LACKS: Final[dict[tuple[str, ...], Mapping[View, str]]] = {}
MAX_REMEMBERED: Final = 256


def _remember(known: dict[tuple[str, ...], T], key: tuple[str, ...], value: T) -> T:
    while len(known) >= MAX_REMEMBERED:
        known.pop(next(iter(known)), None)
    if key[0]:
        known[key] = value
    return value


@contextmanager
def _kept(cache: Path | None, key: tuple[str, ...]) -> Iterator[None]:
    """What was proven exact before, in any process, is known in the block; what is proven in it is kept."""
    if cache is None or key in _PROVEN:
        yield
        return
    if (kept := load_verdict(cache, key)) is not None:
        _remember(_PROVEN, key, kept[0])
        _remember(_WRITES, key, (kept[1], ""))
        _remember(_LACKS, key, {})
    yield
    found, (caches, wrong) = _PROVEN[key], _WRITES.get(key, (True, ""))
    has_all = found.proof.is_exact and not wrong and not _LACKS.get(key)
    if has_all and (kept is None or found.proof is not kept[0].proof):
        keep_verdict(cache, key, found, caches)


def _key(model: nn.Module, digest: str) -> tuple[str, ...]:
    return digest, device_of(model).type, str(next(model.parameters()).dtype)


def explore(model: nn.Module, probe: Probe | None = None, digest: str = "") -> tuple[Layout, Abilities]:
    """Prove by a few short passes how exactly a model can be shown, and say what it has and lacks.

    It reads tokens spread over its vocabulary, or the `probe`. A content that `digest` names is proven once. Raises a
    CheckpointError if the model cannot read, has no attention, or its weights cannot be trusted.
    """
    key = _key(model, digest)
    with library.settings_of_model(model):
        probe = probe or Probe.of_text(model)
        known = _PROVEN.get(key)
        found = None if known is None else _again(model, probe, known)
        if found is None:
            _WRITES.pop(key, None)
            _LACKS.pop(key, None)
            found = explore_model(model, probe)
    _remember(_PROVEN, key, without_layout(found))
    config: Any = model.config
    name = library.name_of(config)
    length, longest_target = _longest(found, probe, config)
    if found.kind == "image":
        ((length, _),) = found.lengths
    elif not found.proof.is_exact or found.positions == "relative bias":
        # Weights are held of all heads, relative biases of one layer's heads.
        held = {site: layers[:1] for site, layers in found.heads.items()} if found.proof.is_exact else found.heads
        most = longest_text(held)
        length = most if length is None else min(length, most)
        longest_target = None if longest_target is None else min(longest_target, length)
    own = table_of_decoder(model, longest_target)
    abilities = Abilities(
        kind=found.kind,
        reads=probe.reads,
        family=name,
        heads=found.heads,
        generates=found.kind in ("decoder", "encoder-decoder")
        and library.has_words(model)
        and library.can_write(model),
        knows_inputs=found.proof.is_exact,
        positions=found.positions,
        target_positions=None if own == found.positions else own,
        max_length=length,
        max_target_length=longest_target,
        lacks=lacks_of(model, name, found, length),
        proof=found.proof,
    )
    return found.layout, abilities


def _again(model: nn.Module, probe: Probe, known: Explored) -> Explored | None:
    """What was found of the same content before; None where this model attends elsewhere than that says."""
    try:
        found = found_again(model, probe, known)
    except CheckpointError:
        return None
    return None if found.proof.is_exact and found.layout.heads != known.heads else found


def _longest(found: Explored, probe: Probe, config: Any) -> tuple[int | None, int | None]:
    """How many tokens a model reads and (encoder–decoder) writes at most: rows of the table that was seen, or what its
    settings say.
    """
    names = ["max_seq_len"] if found.positions in NO_LENGTH else ["max_seq_len", "max_position_embeddings"]
    if probe.own_table is not None:
        return found.table, _least(config, ["max_target_positions"]) or _least(config, names)
    if probe.reads == "picture" and probe.target:
        return None, min(filter(None, (found.table, _least(config, names))), default=None)
    length = min(filter(None, (found.table, _least(config, names))), default=None)
    return length, length if found.kind == "encoder-decoder" else None


def _least(config: Any, names: Sequence[str]) -> int | None:
    limits = (getattr(config.get_text_config(), name, None) for name in names)
    return min((limit for limit in limits if isinstance(limit, int) and limit > 0), default=None)


def proven_writer(writer: TextWriter) -> TextWriter:
    """The same model, if it writes here what `generate` writes; otherwise one that only reads, and says why."""
    key = _key(writer.model, writer.digest)
    writer.caches, wrong = _WRITES.get(key) or _remember(_WRITES, key, _how_it_writes(writer))
    if not wrong:
        return writer
    if writer.abilities.kind == "encoder-decoder":
        raise CheckpointError(wrong)
    return writer.without({"decoding": wrong, "beam": wrong})


def _how_it_writes(writer: TextWriter) -> tuple[bool, str]:
    """Whether keys and values may be kept from step to step, and why it cannot write here; "" if it can."""
    most = min(MOST_TOKENS, (writer.abilities.max_length or 2 * MOST_TOKENS) - PROVEN_STEPS)
    source = writer.pieces.encode(PROBE_TEXT).ids[:most]
    wrong = ""
    for caches in (True, False):
        writer.caches = caches
        if not (wrong := wrong_with_writing(writer, source)):
            return caches, ""
    return False, wrong

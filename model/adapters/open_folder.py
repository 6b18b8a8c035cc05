"""Open a folder that `transformers` wrote, as a reader or writer."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from model.abilities import Abilities, Kind, View
from model.adapters import capture, library
from model.adapters.config_limits import check_picture_sizes, check_token_ids, check_values
from model.adapters.decoder_lens import final_norm
from model.adapters.families import FAMILIES, family_of, max_length_of, positions_of
from model.adapters.folder_check import CONFIG, Folder, check_folder, check_tokenizer_files
from model.adapters.layout import SOURCE_LENGTH, TARGET_LENGTH, Layout, eager_weights, find_layout, longest_text
from model.adapters.library_tokenizer import LibraryTokenizer
from model.adapters.peft_adapter import merge
from model.adapters.placement import Placement, check_room, device_of, folder_for_weights, placement_for, settle
from model.adapters.text_reader import TextReader
from model.adapters.text_writer import TextWriter
from model.adapters.tokenizer_trial import private_copy, try_once
from model.errors import CheckpointError
from model.loaded import choose_device, choose_dtype
from model.messages import said
from model.reader import Reader

EAGER: Final = "eager"
#: Times as many weights as there are: a head that a checkpoint leaves out is no more than that.
MOST_MISSING: Final = 3

library.register(capture.attend, capture.causal_or_padding)


def open_folder(path: Path, *, device: str | None = None, dtype: str = "float32") -> Reader:
    """Open a folder as `transformers` saves it.

    Args:
        path: of the folder.
        device: "cpu", "cuda" or "cuda:N"; by default CUDA if present, else the CPU.
        dtype: "float32", or "bfloat16" on CUDA.

    Raises:
        CheckpointError: it holds no model, or one that cannot be opened; the message says what works.
        DeviceError: there is no such device, or it does not run this number type.
    """
    chosen = choose_device(device)
    number_type = choose_dtype(dtype, chosen)
    folder = check_folder(path)
    model_type = folder.config.get("model_type")
    family = family_of(model_type)
    assert isinstance(model_type, str)
    if family.kind != "image":
        check_tokenizer_files(folder.tokenizer, model_type)
    check_values(folder.config, family.positions)
    check_token_ids(folder.config, CONFIG)
    config = library.make_config(
        model_type, {key: value for key, value in folder.config.items() if key != "model_type"}
    )
    check_room(folder.name, folder.numbers, number_type, chosen)
    head = library.head_for(family.kind, config)
    numbers, tables, largest = library.count_numbers(head, config)
    if numbers > MOST_MISSING * folder.numbers:
        raise CheckpointError(
            "The weights in {name} are far fewer than its config.json speaks of. Copy it anew.", name=folder.name
        )
    check_room(folder.name, folder.numbers, number_type, chosen, tables=tables, largest=largest)
    pieces = None if family.kind == "image" else _open_tokenizer(folder, config)
    is_ours = library.knows_interface(head, config)
    placement = placement_for(folder.numbers, tables, number_type, chosen)
    model = _loaded(folder, head, config, library.OURS if is_ours else EAGER, number_type, placement).eval()
    if placement is None:
        model = model.to(chosen)
    if pieces is None:
        # Only who looks at pictures needs what reads them.
        from model.adapters.image_reader import ImageReader

        with private_copy(folder) as copy:
            processor = library.load_image_processor(copy.path, config, folder.name)
        check_picture_sizes(library.picture_sizes(processor))
        layout, abilities = explore(model, model_type, library.blank_pixels(processor))
        return ImageReader(model, processor, layout, abilities, name=folder.name, digest=folder.digest())
    layout, abilities = explore(model, model_type)
    made = TextWriter if abilities.generates else TextReader
    return made(model, pieces, layout, abilities, name=folder.name, digest=folder.digest())


def _loaded(
    folder: Folder, head: str, config: Any, implementation: str, dtype: torch.dtype, placement: Placement | None
) -> nn.Module:
    """The weights of a folder with its adapter, on the CPU or where they are placed."""
    generation = library.generation_settings(folder.generation, folder.config)
    if placement is None:
        with folder.held():
            model = library.load_weights(folder.path, head, config, implementation, dtype, generation)
        return model if folder.adapter is None else merge(model, folder.adapter)
    if folder.adapter is not None:
        raise CheckpointError(
            "{name} is an adapter of a model that is larger than the memory. Merge the two, "
            "`model.merge_and_unload().save_pretrained(folder)`, and open that folder.",
            name=folder.name,
        )
    with folder_for_weights() as offloaded, folder.held():
        options = placement.options(offloaded)
        model = library.load_weights(folder.path, head, config, implementation, dtype, generation, options)
    return settle(model, placement, offloaded)


def _open_tokenizer(folder: Folder, config: Any) -> LibraryTokenizer:
    """The tokenizer of a folder, tried in a process of its own before it is opened in this one."""
    with private_copy(folder) as copy:
        try_once(copy, folder.name)
        return LibraryTokenizer(library.load_tokenizer(copy.path, config, folder.name))


def explore(model: nn.Module, model_type: str, pixels: Tensor | None = None) -> tuple[Layout, Abilities]:
    """Find out by one short pass where a model attends, and say what it has and lacks.

    Args:
        model: in evaluation mode, with our attention or its own eager one.
        model_type: a key of `FAMILIES`.
        pixels: of a model of pictures, what its processor makes of one [1, channel, height, width].

    Raises:
        CheckpointError: the model cannot read, or no attention was seen.
    """
    kind = FAMILIES[model_type].kind
    seen: list[Any] = []
    layout = find_layout(model, kind, _probe(model, kind, pixels, seen))
    knows_inputs = bool(layout.heads)
    heads: Mapping[str, tuple[int, ...]] = layout.heads
    if not knows_inputs:
        returned = eager_weights(seen[0], kind)
        heads = {site: tuple(layer.size(1) for layer in layers) for site, layers in returned.items()}
    if not heads or not all(heads.values()):
        raise CheckpointError("No attention was seen in this {name} model.", name=FAMILIES[model_type].name)
    return layout, _abilities(model, model_type, heads, layout if knows_inputs else None)


def _probe(model: nn.Module, kind: Kind, pixels: Tensor | None, seen: list[Any]) -> Callable[[], None]:
    """One pass over made-up tokens, or over these pixels; what comes out is put into `seen`."""
    config: Any = model.config
    device = device_of(model)

    def tokens(count: int) -> torch.Tensor:
        return torch.full((1, count), min(5, config.vocab_size - 1), device=device)

    def run() -> None:
        given: dict[str, Any] = {"output_attentions": config._attn_implementation == EAGER}
        if pixels is not None:
            given["pixel_values"] = pixels.to(device, next(model.parameters()).dtype)
        else:
            given["input_ids"] = tokens(SOURCE_LENGTH)
        if kind == "encoder-decoder":
            given["decoder_input_ids"] = tokens(TARGET_LENGTH)
        with library.settings_of_model():
            seen.append(model(**given))

    return run


def _abilities(
    model: nn.Module, model_type: str, heads: Mapping[str, tuple[int, ...]], layout: Layout | None
) -> Abilities:
    config: Any = model.config
    family = FAMILIES[model_type]
    length = max_length_of(model_type, config)
    if family.kind == "image" and layout is not None:
        length = layout.num_watched
    positions = positions_of(model_type, config)
    if layout is None or positions == "relative bias":
        # Weights are held of all heads, relative biases of one layer's heads.
        held = heads if layout is None else {site: layers[:1] for site, layers in heads.items()}
        most = longest_text(held)
        length = most if length is None else min(length, most)
    return Abilities(
        kind=family.kind,
        family=family.name,
        heads=heads,
        generates=family.kind in ("decoder", "encoder-decoder"),
        knows_inputs=layout is not None,
        positions=positions,
        max_length=length,
        max_target_length=length if family.kind == "encoder-decoder" else None,
        lacks=_lacks(model, family.name, family.kind, heads, layout, length),
    )


def _lacks(
    model: nn.Module,
    name: str,
    kind: Kind,
    heads: Mapping[str, tuple[int, ...]],
    layout: Layout | None,
    length: int | None,
) -> Mapping[View, str]:
    lacks: dict[View, str] = {
        "positional encodings": said(
            "This model ({name}) does not expose what it adds for positions; Headlight's own models do.", name=name
        ),
        "embeddings": said("This model ({name}) does not expose its embeddings; Headlight's own models do.", name=name),
        "batch masks": said("Masks of a padded batch are shown of Headlight's own models only."),
    }
    if kind != "decoder" or layout is None or final_norm(model) is None:
        lacks["logit lens"] = said(
            "The logit lens reads the layers of Headlight's own models and of most decoder-only ones."
        )
    if (why_none := _no_circuits(name, kind, model)) is not None:
        lacks["circuits"] = why_none
    if kind in ("encoder", "image"):
        only_reads = said("This model ({name}) only reads, so there is nothing to decode.", name=name)
        lacks |= {"decoding": only_reads, "beam": only_reads}
    if kind == "image":
        lacks["word choice"] = said("This model ({name}) is a vision model: it has no text output.", name=name)
    elif model.get_output_embeddings() is None:  # type: ignore[operator]
        lacks["word choice"] = said(
            "This model ({name}) was saved without the layer that predicts masked words, so there is no word whose "
            "probability a head could change. Save the original with that layer: "
            "`AutoModelForMaskedLM.from_pretrained(original).save_pretrained(folder)`.",
            name=name,
        )
    if layout is None:
        why = said(
            "transformers does not expose the queries, keys and values of this model ({name}), only its weights; those "
            "of all heads are held at once, so texts may have at most {length:,} tokens.",
            name=name,
            length=length,
        )
        lacks |= {
            "scores": why,
            "head outputs": why,
            "norms": why,
            "edits": why,
            "word choice": why,
            "circuits": why,
            "cost": why,
        }
    elif any((site, layer) not in layout.projections for site in heads for layer in range(len(heads[site]))):
        lacks["norms"] = said("The output projection of this model ({name}) was not found.", name=name)
    return lacks


def _no_circuits(name: str, kind: Kind, model: nn.Module) -> str | None:
    """Why QK and OV of this model's heads are not read; None if they are."""
    config: Any = model.config
    if kind != "decoder":
        return said("QK and OV are read of Headlight's own models, MarianMT and decoder-only models.")
    if positions_of(config.model_type, config) == "rotary":
        return said(
            "This model ({name}) rotates queries and keys by their positions (rotary), so two tokens have no score "
            "without the distance between them.",
            name=name,
        )
    return None

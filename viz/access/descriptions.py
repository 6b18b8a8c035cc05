"""What is known of a model without a text: its shape and vocabulary, and what its folder tells of its making.

A door from the pages to the model, as `viz.access.loader`. Knows nothing of widgets or figures.
"""

from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from model.config import PRESETS, PositionLayout, TransformerConfig
from model.nn.parameter_counts import ParameterCounts, count_parameters
from model.training_record import Metrics, Training, TrainingLog, read_card, read_log, read_metrics, read_training
from viz.access import loader
from viz.selection.selection import Selection

if TYPE_CHECKING:
    from model.description import Description

MAX_VOCABULARIES: Final = 8


def shapes(selection: Selection) -> list[tuple[str, TransformerConfig, ParameterCounts]]:
    """Name, configuration and parameters of the chosen checkpoint, then of the paper's two models."""
    loaded = loader.translator(selection)
    papers = [(f"{name} (paper)", PRESETS[name]) for name in ("base", "big")]
    return [
        (name, config, count_parameters(config))
        for name, config in [(loader.name_of(selection), loaded.config), *papers]
    ]


def vocabulary(selection: Selection) -> tuple[str, ...]:
    """Every piece of the vocabulary, in the order of their ids; none of a model of pictures."""
    loaded = loader.reader(selection)
    return _vocabulary(loaded.digest, loaded)


def special_ids(selection: Selection) -> frozenset[int]:
    """The ids of the tokens that stand for no text."""
    loaded: Any = loader.reader(selection)
    if loader.is_translator(selection):
        config = loaded.config
        return frozenset((config.pad_id, config.unk_id, config.bos_id, config.eos_id))
    return loaded.pieces.special_ids if loaded.abilities.kind != "image" else frozenset()


def description(selection: Selection) -> "Description":
    """What the chosen model is made of, in words and numbers, whichever model it is."""
    from model.description import describe

    return describe(loader.reader(selection))


def position_layout(selection: Selection) -> PositionLayout:
    """In which dimensions the chosen model's positional encodings have their sines and cosines."""
    return loader.translator(selection).config.position_layout


def training(selection: Selection) -> Training | None:
    """What the checkpoint says it was trained on; None where it says nothing. Raises a CheckpointError if malformed."""
    return read_training(loader.folder(selection))


def training_log(selection: Selection) -> TrainingLog | None:
    """The curves of the checkpoint's training run, as `training`."""
    return read_log(loader.folder(selection))


def metrics(selection: Selection) -> Metrics | None:
    """What was measured with the checkpoint, as `training`."""
    return read_metrics(loader.folder(selection))


def card(selection: Selection) -> str | None:
    """The checkpoint's card, as `training`; a text that may hold anything."""
    return read_card(loader.folder(selection))


@st.cache_resource(max_entries=MAX_VOCABULARIES, show_spinner=False)
def _vocabulary(digest: str, _reader: Any) -> tuple[str, ...]:
    if _reader.abilities.kind == "image":
        return ()
    pieces = getattr(_reader, "tokenizer", None) or _reader.pieces
    size = getattr(pieces, "vocab_size", None) or _reader.config.vocab_size
    # One by one: how a token is spelled may depend on the one before it.
    return tuple(token for number in range(size) for token in pieces.tokens([number]))

"""See what every attention head of a Transformer does: open a model, trace a text, read any weight of it.

import headlight

reader = headlight.open("en-de")  # or the folder of a model that transformers saved
trace = reader.trace("The animal didn't cross the street because it was too tired.")
trace.weights("decoder.cross", layer=3)  # [head, query, key], float32
"""

# mypy: implicit-reexport

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headlight import model as _model

if TYPE_CHECKING:
    from headlight.model import (
        AttentionInputs,
        BeamTree,
        Candidate,
        DecodingStep,
        Draws,
        MakeUniform,
        PointAt,
        Reader,
        Sampling,
        SwitchOff,
        Trace,
        Translator,
        attention_weights,
        load_trace,
        save_trace,
        watch,
    )

#: The checkpoints that come with the package.
CHECKPOINTS = Path(__file__).parent / "checkpoints"

__all__ = [
    "AttentionInputs",
    "BeamTree",
    "Candidate",
    "DecodingStep",
    "Draws",
    "MakeUniform",
    "PointAt",
    "Reader",
    "Sampling",
    "SwitchOff",
    "Trace",
    "Translator",
    "attention_weights",
    "load_trace",
    "open",
    "save_trace",
    "watch",
]


def open(model: str | Path, *, device: str | None = None, dtype: str = "float32") -> "Reader":
    """Open a model, whichever kind it is, as the richest object that Headlight has for it.

    Args:
        model: a checkpoint that comes with the package (“en-de”, “induction”), or any folder with a model in it.
        device: "cpu", "cuda" or "cuda:N"; by default CUDA if present, else the CPU.
        dtype: "float32", or "bfloat16" on CUDA.

    Raises:
        CheckpointError: there is no such folder, or it holds no model that can be opened; the message says what works.
        DeviceError: there is no such device, or it does not run this number type.
    """
    from headlight.model.opening import open_reader

    folder = Path(model)
    shipped = CHECKPOINTS / folder
    return open_reader(shipped if not folder.exists() and shipped.is_dir() else folder, device, dtype)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # Not at the top: it takes longer to import than all that a command needs to hear Ctrl-C.
        from importlib.metadata import version

        return version("headlight")
    if name in __all__:
        return getattr(_model, name)
    raise AttributeError(f"module 'headlight' has no attribute {name!r}")

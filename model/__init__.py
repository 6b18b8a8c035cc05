"""Headlight's model: run a Transformer, keep every attention weight, measure its heads; see README.md beside this.

Nothing here knows of Streamlit, pages or figures. Names are imported on first use, so that `model.errors` and
`model.config` need no torch.
"""

# Imported for whoever imports them from here.
# mypy: implicit-reexport
# ruff: noqa: F401

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model.abilities import Abilities
    from model.config import TransformerConfig
    from model.decoding.beam import BeamNode, BeamTree
    from model.decoding.cost import StepCost, decoder_sizes, step_cost
    from model.decoding.sampling import Draws, SampledTranslation, Sampling
    from model.decoding.session import DecodingSession
    from model.decoding.side_by_side import BatchMasks
    from model.nn.attention import AttentionInputs, attention_weights
    from model.nn.edits import MakeUniform, PointAt, SwitchOff
    from model.nn.transformer import Transformer
    from model.opening import open_reader
    from model.reader import Reader
    from model.trace.file import load_trace, save_trace
    from model.trace.steps import Candidate, DecodingStep
    from model.trace.trace import Trace
    from model.translator import Translator

_NAMES = {
    ".abilities": {"Abilities"},
    ".config": {"TransformerConfig"},
    ".decoding.beam": {"BeamNode", "BeamTree"},
    ".decoding.cost": {"StepCost", "decoder_sizes", "step_cost"},
    ".decoding.sampling": {"Draws", "SampledTranslation", "Sampling"},
    ".decoding.session": {"DecodingSession"},
    ".decoding.side_by_side": {"BatchMasks"},
    ".nn.attention": {"AttentionInputs", "attention_weights"},
    ".nn.edits": {"MakeUniform", "PointAt", "SwitchOff"},
    ".nn.transformer": {"Transformer"},
    ".opening": {"open_reader"},
    ".reader": {"Reader"},
    ".trace.file": {"load_trace", "save_trace"},
    ".trace.steps": {"Candidate", "DecodingStep"},
    ".trace.trace": {"Trace"},
    ".translator": {"Translator"},
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name], __name__), name)

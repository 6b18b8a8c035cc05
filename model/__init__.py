"""Headlight's model: everything that knows torch, nothing that knows Streamlit.

Names are loaded on first use, so that `model.errors` and `model.config` are there before torch is.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model.abilities import Abilities
    from model.attention import AttentionInputs, attention_weights
    from model.batch_masks import BatchMasks
    from model.beam_tree import BeamNode, BeamTree
    from model.config import TransformerConfig
    from model.cost import StepCost, step_cost
    from model.edits import MakeUniform, PointAt, SwitchOff
    from model.reader import Reader, open_reader
    from model.samples import SampledTranslation
    from model.sampling import Draws, Sampling
    from model.session import DecodingSession
    from model.steps import Candidate, DecodingStep, FilteredStep
    from model.trace import Trace
    from model.transformer import Transformer
    from model.translator import Translator

_HOMES = {
    "Abilities": "abilities",
    "AttentionInputs": "attention",
    "BatchMasks": "batch_masks",
    "BeamNode": "beam_tree",
    "BeamTree": "beam_tree",
    "Candidate": "steps",
    "DecodingSession": "session",
    "DecodingStep": "steps",
    "Draws": "sampling",
    "FilteredStep": "steps",
    "MakeUniform": "edits",
    "PointAt": "edits",
    "Reader": "reader",
    "SampledTranslation": "samples",
    "Sampling": "sampling",
    "StepCost": "cost",
    "SwitchOff": "edits",
    "Trace": "trace",
    "Transformer": "transformer",
    "TransformerConfig": "config",
    "Translator": "translator",
    "attention_weights": "attention",
    "open_reader": "reader",
    "step_cost": "cost",
}

__all__ = [
    "Abilities",
    "AttentionInputs",
    "BatchMasks",
    "BeamNode",
    "BeamTree",
    "Candidate",
    "DecodingSession",
    "DecodingStep",
    "Draws",
    "FilteredStep",
    "MakeUniform",
    "PointAt",
    "Reader",
    "SampledTranslation",
    "Sampling",
    "StepCost",
    "SwitchOff",
    "Trace",
    "Transformer",
    "TransformerConfig",
    "Translator",
    "attention_weights",
    "open_reader",
    "step_cost",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'model' has no attribute {name!r}")
    return getattr(import_module(f"model.{_HOMES[name]}"), name)

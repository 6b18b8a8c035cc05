"""Headlight's model: everything that knows torch, nothing that knows Streamlit.

Names are loaded on first use, so that `model.errors` and `model.config` are there before torch is.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model.abilities import Abilities
    from model.config import TransformerConfig
    from model.decoding.batch_masks import BatchMasks
    from model.decoding.beam_tree import BeamNode, BeamTree
    from model.decoding.cost import StepCost, step_cost
    from model.decoding.samples import SampledTranslation
    from model.decoding.sampling import Draws, Sampling
    from model.decoding.session import DecodingSession
    from model.nn.attention import AttentionInputs, attention_weights
    from model.nn.edits import MakeUniform, PointAt, SwitchOff
    from model.nn.transformer import Transformer
    from model.opening import open_reader
    from model.reader import Reader
    from model.trace.file import load_trace, save_trace
    from model.trace.steps import Candidate, DecodingStep
    from model.trace.trace import Trace
    from model.translator import Translator

_HOMES = {
    "Abilities": "abilities",
    "AttentionInputs": "nn.attention",
    "BatchMasks": "decoding.batch_masks",
    "BeamNode": "decoding.beam_tree",
    "BeamTree": "decoding.beam_tree",
    "Candidate": "trace.steps",
    "DecodingSession": "decoding.session",
    "DecodingStep": "trace.steps",
    "Draws": "decoding.sampling",
    "MakeUniform": "nn.edits",
    "PointAt": "nn.edits",
    "Reader": "reader",
    "SampledTranslation": "decoding.samples",
    "Sampling": "decoding.sampling",
    "StepCost": "decoding.cost",
    "SwitchOff": "nn.edits",
    "Trace": "trace.trace",
    "Transformer": "nn.transformer",
    "TransformerConfig": "config",
    "Translator": "translator",
    "attention_weights": "nn.attention",
    "load_trace": "trace.file",
    "open_reader": "opening",
    "save_trace": "trace.file",
    "step_cost": "decoding.cost",
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
    "load_trace",
    "open_reader",
    "save_trace",
    "step_cost",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'model' has no attribute {name!r}")
    return getattr(import_module(f"model.{_HOMES[name]}"), name)

"""Headlight's model: everything that knows torch, nothing that knows Streamlit.

Names are loaded on first use, so that `model.errors` and `model.config` are there before torch is.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model.attention import AttentionInputs, attention_weights
    from model.config import TransformerConfig
    from model.edits import MakeUniform, PointAt, SwitchOff
    from model.session import DecodingSession
    from model.steps import Candidate, DecodingStep
    from model.trace import Trace
    from model.transformer import Transformer
    from model.translator import BatchMasks, Translator

_HOMES = {
    "AttentionInputs": "attention",
    "BatchMasks": "translator",
    "Candidate": "steps",
    "DecodingSession": "session",
    "DecodingStep": "steps",
    "MakeUniform": "edits",
    "PointAt": "edits",
    "SwitchOff": "edits",
    "Trace": "trace",
    "Transformer": "transformer",
    "TransformerConfig": "config",
    "Translator": "translator",
    "attention_weights": "attention",
}

__all__ = [
    "AttentionInputs",
    "BatchMasks",
    "Candidate",
    "DecodingSession",
    "DecodingStep",
    "MakeUniform",
    "PointAt",
    "SwitchOff",
    "Trace",
    "Transformer",
    "TransformerConfig",
    "Translator",
    "attention_weights",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'model' has no attribute {name!r}")
    return getattr(import_module(f"model.{_HOMES[name]}"), name)

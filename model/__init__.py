"""Headlight's model: run a Transformer, keep every attention weight, measure its heads; see README.md beside this.

Nothing here knows of Streamlit, pages or figures. Names are imported on first use, so that `model.errors` and
`model.config` need no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model.abilities import Abilities as Abilities
    from model.config import TransformerConfig as TransformerConfig
    from model.decoding.batch_masks import BatchMasks as BatchMasks
    from model.decoding.beam_tree import BeamNode as BeamNode
    from model.decoding.beam_tree import BeamTree as BeamTree
    from model.decoding.cost import StepCost as StepCost
    from model.decoding.cost import step_cost as step_cost
    from model.decoding.samples import SampledTranslation as SampledTranslation
    from model.decoding.sampling import Draws as Draws
    from model.decoding.sampling import Sampling as Sampling
    from model.decoding.session import DecodingSession as DecodingSession
    from model.nn.attention import AttentionInputs as AttentionInputs
    from model.nn.attention import attention_weights as attention_weights
    from model.nn.edits import MakeUniform as MakeUniform
    from model.nn.edits import PointAt as PointAt
    from model.nn.edits import SwitchOff as SwitchOff
    from model.nn.transformer import Transformer as Transformer
    from model.opening import open_reader as open_reader
    from model.reader import Reader as Reader
    from model.trace.file import load_trace as load_trace
    from model.trace.file import save_trace as save_trace
    from model.trace.steps import Candidate as Candidate
    from model.trace.steps import DecodingStep as DecodingStep
    from model.trace.trace import Trace as Trace
    from model.translator import Translator as Translator

_MODULES = {
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


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'model' has no attribute {name!r}")
    return getattr(import_module(f"model.{_MODULES[name]}"), name)

"""Headlight's model: run a Transformer, keep every attention weight, measure its heads; see README.md beside this.

Nothing here knows of Streamlit, pages or figures. Names are imported on first use, so that `model.errors` and
`model.config` need no torch.
"""

# Imported for whoever imports them from here.
# mypy: implicit-reexport
# ruff: noqa: F401

from typing import TYPE_CHECKING

from model.later import imported_later

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
    from model.training.watch import watch
    from model.translator import Translator
else:
    __getattr__ = imported_later(__name__)

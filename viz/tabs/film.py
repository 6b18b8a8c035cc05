"""A translation as it was written, token by token, and what could have come. Knows nothing of how weights arise."""

from dataclasses import replace
from typing import TYPE_CHECKING

from viz import frame, state
from viz.components.decode_player import PlayerData, decode_player

if TYPE_CHECKING:
    from model import Trace


@frame.fragment
def show(trace: "Trace") -> None:
    """The film."""
    selection = state.current().within(trace.num_layers, trace.num_heads)
    if selection.step >= len(trace.steps):
        selection = replace(selection, step=0)
    reached = decode_player(PlayerData.from_trace(trace), step=selection.step, layer=selection.layer, key="player")
    if reached is not None:
        selection = replace(selection, step=reached.step, layer=reached.layer)
    state.put(selection)

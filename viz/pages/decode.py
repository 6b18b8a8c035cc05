"""The translation as it was written, token by token. Knows nothing of how a token is chosen."""

from dataclasses import replace

from viz import frame, state
from viz.components.decode_player import PlayerData, decode_player

frame.title(
    "Decode",
    "The decoder writes one token at a time, from left to right. Step with the buttons or the arrow keys; at each step "
    "you see the candidates it weighed, and where every head of the chosen layer looks: in the sentence read, and in "
    "what is already written.",
)
with frame.errors_shown():
    trace = frame.read_sentence(state.current().text)
    selection = state.current().within(trace.num_layers, trace.num_heads)
    if selection.step >= len(trace.steps):
        selection = replace(selection, step=0)
    reached = decode_player(PlayerData.from_trace(trace), step=selection.step, layer=selection.layer, key="player")
    if reached is not None:
        selection = replace(selection, step=reached.step, layer=reached.layer)
    state.put(selection)

"""Every head of one attention, where a weight comes from, and other views of it. Knows nothing of how weights arise."""

from viz import frame, state
from viz.tabs import all_heads, bertviz, origin, take_away

frame.title(
    "Attention",
    "One tile is one head: a row for each token that looks, a column for each token looked at; the lighter, the more "
    "weight. Layers run from top to bottom. Click a tile, or use the arrow keys and Enter, to open the head.",
)
with frame.errors_shown():
    trace = frame.read_sentence(state.current().text)
    state.put(state.current().within(trace.num_layers, trace.num_heads))
    contents = {
        "All heads": all_heads.show,
        "Where a weight comes from": origin.show,
        "bertviz": bertviz.show,
        "Take it with you": take_away.show,
    }
    frame.tabs("view", contents, trace)

"""The masks as the model used them, and the positional encodings as it added them. Knows nothing of their formulas."""

from viz import frame, state
from viz.tabs import masks, positions

frame.title(
    "Masks & positions",
    "What attention is allowed to see, and how it knows the order. In a mask, a bright cell is a key that the query in "
    "that row may attend to. An encoding is added to each token's embedding: equal tokens then differ by their place.",
)
with frame.errors_shown():
    trace = frame.read_sentence(state.current().text)
    frame.tabs("part", {"Masks": masks.show, "Positional encodings": positions.show}, trace)

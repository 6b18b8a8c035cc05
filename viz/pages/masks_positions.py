"""The masks as the model used them, and how it knows places. Knows nothing of formulas or of where masks come from."""

from viz import frame, loader, state
from viz.tabs import masks, model_masks, model_positions, positions

frame.title(
    "Masks & positions",
    "What attention is allowed to see, and how it knows the order. In a mask, a bright cell is a key that the query in "
    "that row may attend to. An encoding is added to each token's embedding: equal tokens then differ by their place.",
)
with frame.errors_shown():
    trace = frame.read_sentence(state.current().text)
    state.put(state.current().for_model(trace.shapes))
    has_all = loader.is_translator(state.current())
    shown = (masks.show, positions.show) if has_all else (model_masks.show, model_positions.show)
    frame.tabs("part", {"Masks": shown[0], "Positional encodings": shown[1]}, trace)

"""The masks as the model used them, and how it knows places."""

from viz.access import models
from viz.selection import state
from viz.selection.masks_positions import MasksTab
from viz.text.messages import _
from viz.ui import frame, sentence

head = frame.title(
    _("Masks & positions"),
    _(
        "What attention is allowed to see, and how it knows the order. In a mask, a bright cell is a key that the "
        "query in that row may attend to. An encoding is added to each token's embedding: equal tokens then differ by "
        "their place."
    ),
)
with frame.errors_shown():
    # After the title, which waits for no library.
    from viz.pages.masks_positions import masks, positions

    trace = sentence.read_and_show(state.current().common.text, head)
    state.put(state.current().for_model(trace.shapes))
    abilities = models.abilities(state.current().model)
    is_sinusoidal = abilities.is_headlight and abilities.positions == "sinusoidal"
    tabs: list[frame.Tab[MasksTab]] = [
        ("Masks", masks.show if abilities.is_headlight else masks.show_other),
        ("Positional encodings", positions.show if is_sinusoidal else positions.show_other),
    ]
    frame.tabs("masks_tab", tabs, trace)

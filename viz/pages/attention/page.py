"""Every head of one attention, where a weight comes from, and other views of it."""

from viz.pages.attention.all_heads import tab as all_heads
from viz.pages.attention.bertviz import tab as bertviz
from viz.pages.attention.origin import tab as origin
from viz.pages.attention.take_away import tab as take_away
from viz.selection import state
from viz.selection.attention import AttentionTab
from viz.ui import frame, sentence

frame.title(
    "Attention",
    "Where every head of every layer looks, while the model reads the sentence and writes its translation: all of them "
    "at a glance, any of them opened, and any weight followed back to the numbers that it comes from.",
)
with frame.errors_shown():
    trace = sentence.read_and_show(state.current().common.text)
    state.put(state.current().for_model(trace.shapes))
    tabs: list[frame.Tab[AttentionTab]] = [
        ("All heads", all_heads.show),
        ("Where a weight comes from", origin.show),
        ("bertviz", bertviz.show),
        ("Take it with you", take_away.show),
    ]
    frame.tabs("attention_tab", tabs, trace)

"""The claims of the paper, tested on this machine: why dot products are scaled, why attention, and what breaks."""

from viz.selection import state
from viz.selection.why_attention import WhyTab
from viz.text.messages import _
from viz.ui import finding, frame, sentence

head = frame.title(
    _("Why attention?"),
    _(
        "What “Attention Is All You Need” claims, beside what this program measures on this machine: each tab is a "
        "claim. What is drawn from random numbers is drawn from the same ones every time."
    ),
)
with frame.errors_shown():
    # After the title, which waits for no library.
    from viz.pages.why_attention import ablations, live_switches, pooling, table_one
    from viz.pages.why_attention.scores import tab as scores
    from viz.pages.why_attention.through_training import tab as through_training

    trace = sentence.read_and_show(state.current().common.text, head)
    finding.open_on_finding(trace)
    tabs: list[frame.Tab[WhyTab]] = [
        ("Scores", scores.show),
        ("Pooling", pooling.show),
        ("Table 1", table_one.show),
        ("Ablations", ablations.show),
        ("Through training", through_training.show),
        ("Live switches", live_switches.show),
    ]
    frame.tabs("why_tab", tabs, trace)

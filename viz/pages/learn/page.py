"""The paper, to be learned: lessons, the architecture, one token followed through it, and its training."""

from viz.selection import state
from viz.selection.learn import LearnTab
from viz.text.messages import _
from viz.ui import controls, frame

head = frame.title(
    _("Learn"),
    _(
        "“Attention Is All You Need”, step by step, in pictures of a model that runs on this machine. Every picture "
        "and every number is computed while you watch, and has a link to the page that shows all of it."
    ),
)
with frame.errors_shown():
    # After the title, which waits for no library.
    from viz.pages.learn.architecture import tab as architecture
    from viz.pages.learn.collection import tab as collection
    from viz.pages.learn.follow_token import tab as follow_token
    from viz.pages.learn.lessons import tab as lessons
    from viz.pages.learn.training import tab as training

    # Each tab says beside the title what it is about; those on the sentence of the sidebar read and show it there.
    learn = state.current().learn
    if learn.learn_tab == "The Transformer":
        with frame.in_line_of_tabs():
            labels = {"Whole model": _("Whole model"), "One token": _("One token")}
            controls.segmented("transformer_view", _("Part of the Transformer"), labels, has_label=False)
    the_transformer = {"Whole model": architecture.show, "One token": follow_token.show}[learn.transformer_view]
    every_tab: list[frame.Tab[LearnTab]] = [
        ("Lessons", lessons.show),
        ("The Transformer", the_transformer),
        ("Training", training.show),
        ("Collection", collection.show),
    ]
    frame.tabs("learn_tab", every_tab, head)

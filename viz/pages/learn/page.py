"""The paper, to be learned: lessons, the architecture, one token followed through it, and its training."""

from viz.selection.learn import LearnTab
from viz.text.messages import _
from viz.ui import frame

head = frame.title(
    _("Learn"),
    _(
        "“Attention Is All You Need”, step by step, in pictures of a model that runs on this machine. Every picture "
        "and every number is computed while you look, and leads to the page that shows all of it."
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
    every_tab: list[frame.Tab[LearnTab]] = [
        ("Lessons", lessons.show),
        ("The Transformer", architecture.show),
        ("Follow one token", follow_token.show),
        ("Training", training.show),
        ("Collection", collection.show),
    ]
    frame.tabs("learn_tab", every_tab, head)

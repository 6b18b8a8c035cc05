"""The paper, to be learned: lessons, the Transformer as one picture to zoom into."""

from viz.selection.choices import LearnTab
from viz.text.messages import _
from viz.ui import downloads, frame

head = frame.title(
    _("Learn"),
    _(
        "“Attention Is All You Need”, step by step, in pictures of a model that runs on this machine. Every picture "
        "and every number is computed while you watch, and has a link to the page with the full view."
    ),
)
with frame.errors_shown():
    # After the title, which waits for no library.
    from viz.pages.learn import python
    from viz.pages.learn.lessons import tab as lessons
    from viz.pages.learn.transformer import walk

    every_tab: list[frame.Tab[LearnTab]] = [("Lessons", lessons.show), ("The Transformer", walk.show)]
    frame.tabs("learn_tab", every_tab, head)
    downloads.python("learn_tab", python.VIEWS)
